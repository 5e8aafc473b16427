"""What an audit looks for once an owner was erased: pieces of its words, its key, and what is made of that; taken before.

Pieces are chosen by `ops.erasing.pieces`. Then those go that other owners' newest entries in the partition hold as well, or that
stand in the clear beside a body: what is found is this owner's, as far as 5,000 entries of others tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from consumers.verify.scan import pairs
from events.envelope import Stored
from events.errors import NotFound
from events.partitions import LogKeys, partition_of
from events.redis.log import entries
from events.redis.opening import opened_where_it_can_be
from events.redis.secrets import read_lines
from events.redis.wire import Wire
from events.sealing.cipher import BODY_MARK, NO_SALT, SALT_BYTES, ValueCipher
from ops.erasing.needles import Kind, Needles, forms_of_key
from ops.erasing.pieces import Evenly, distinct, forms_of_piece, pieces_of, spread, texts_of
from projections.embedding.vectors import VectorKeys

MOST_NEEDLES = 2_000
MOST_OF_KEYS = 200
"""Of these for the key and what is made of it."""
SALTS, DERIVED = 16, 32
"""How many salts, and names of vectors, are looked for."""
OTHERS = 5_000
"""Entries of other owners that no piece may stand in."""
PAGE = 500


class Probes(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for, of one owner and one erasure. As private as the owner's words are."""

    version: int = 1
    erasure_id: str
    store_id: str
    owner: str
    tag: str
    """Of its partition."""
    made_at: int
    """Microseconds since 1970."""
    events: int
    """Of the owner, when they were read."""
    texts: int
    """How many texts the pieces were chosen from."""
    shared: int
    """Pieces that were left out, since others have them too."""
    unopened: int
    """Entries that did not open though their salts were there: what they say is not looked for."""
    secret: bytes
    line: bytes
    """As it stood in `{tag}:keys`."""
    salts: list[bytes]
    derived: list[bytes]
    """Names of vectors, which are hashes keyed with the secret."""
    words: list[str]
    is_of_words: bool = False
    """Whether the owner stays, and what is told below is all that goes."""
    entries: list[int] = []
    """Seqs of the entries whose words go."""
    short: list[str] = []
    """Whole texts that are too short for pieces: looked for only as a whole, in what opens under the key of an owner who stays."""
    untold: int = 0
    """Texts of an owner who stays of which nothing is looked for: they are too short, or what stays has the same words."""

    def __repr__(self) -> str:
        """Without any of it: what is told of an error goes further than the store."""
        return f"Probes(erasure_id={self.erasure_id!r}, owner={self.owner!r}, words={len(self.words)})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """The same."""
        return [("erasure_id", self.erasure_id)]

    def needles(self) -> Needles:
        """What finds them, in every form in which they may stand."""
        told: list[tuple[Kind, bytes]] = [("word", form) for one in self.words for form in forms_of_piece(one)]
        if not self.is_of_words:
            told += [("secret", form) for form in forms_of_key(self.secret)]
            told += [("line", form) for form in forms_of_key(self.line)]
        told += [("salt", form) for one in self.salts for form in (one, one.hex().encode())]
        name: Kind = "vector" if self.is_of_words else "derived"
        told += [(name, form) for one in self.derived for form in (one, one.hex().encode())]
        return Needles(told)


def gather(
    wire: Wire, tags: Sequence[str], owner: str, *, erasure_id: str, made_at: int, most: int = MOST_NEEDLES
) -> Probes:
    """What is to be looked for once this owner was erased. Reads only: the owner's partition once, and its newest entries again.

    `most`: needles in all, from 300 on. Raises NotFound where the owner has no key, OwnerErased where that is destroyed already,
    KeyUnavailable where it cannot be had, and StoreError.
    """
    line = read_lines(wire, tags, [owner]).get(owner)
    if line is None:
        raise NotFound(f"owner {owner!r} has no key: nothing was ever said under its name", owner=owner)
    secret = wire.seals.secrets({owner: line})[owner]
    keys = LogKeys(tags[partition_of(owner, len(tags))])
    pieces, seqs, events, texts, shut, cipher = Evenly[str](most), Evenly[int](SALTS), 0, 0, 0, ValueCipher(secret)
    for page in pages_of(wire, keys):
        mine = opened_where_it_can_be(wire, keys, [one for one in page if one.owner == owner], {owner: cipher})
        shut += len(salts_at(wire, keys, [one.seq for one in mine if one.body[:1] == BODY_MARK]))
        for one in mine:
            events += 1
            seqs.add(one.seq)
            for text in words_in(one):
                texts += 1
                for piece in pieces_of(text):
                    pieces.add(piece)
    candidates = list(distinct(pieces.chosen, owner))
    own = not_in(candidates, of_others(wire, keys, owner))
    return Probes(
        erasure_id=erasure_id,
        store_id=wire.seals.store.decode(),
        owner=owner,
        tag=keys.tag,
        made_at=made_at,
        events=events,
        texts=texts,
        shared=len(candidates) - len(own),
        unopened=shut,
        secret=secret,
        line=line,
        salts=salts_at(wire, keys, seqs.chosen),
        derived=_derived(wire, keys.tag, owner),
        words=bounded(own, most - MOST_OF_KEYS),
    )


def pages_of(wire: Wire, keys: LogKeys) -> Iterator[list[Stored]]:
    """The log of a partition, a page at a time."""
    after = 0
    while page := entries(wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", PAGE), keys.tag):
        yield page
        after = page[-1].seq


def words_in(one: Stored) -> Iterator[str]:
    """The words of an entry whose body is open; none of a body that its erased salt keeps shut."""
    if one.body[:1] == b"{":
        yield from texts_of(msgspec.json.decode(one.body).get("data"))


def of_others(wire: Wire, keys: LogKeys, owner: str) -> Iterator[bytes]:
    """The newest entries of other owners, as far as they open, and what stands in the clear beside anybody's."""
    seen, before = 0, "+"
    while seen < OTHERS:
        page = entries(wire.call("XREVRANGE", keys.stream, before, "-", "COUNT", PAGE), keys.tag)
        if not page:
            return
        before = f"({page[-1].seq}-0"
        yield from (one.kind.encode() + b"\n" + b"\n".join(one.beside) for one in page)
        others = [one for one in page if one.owner != owner]
        seen += len(others)
        for one in opened_where_it_can_be(wire, keys, others, {}):
            yield one.owner.encode() + b"\n" + (one.body if one.body[:1] == b"{" else b"")


def not_in(candidates: Sequence[str], others: Iterable[bytes]) -> list[str]:
    """The pieces that stand in nothing of these."""
    needles, seen = Needles([("word", one.encode()) for one in candidates]), set[int]()
    for raw in others:
        seen |= needles.which(raw)
    return [one for number, one in enumerate(candidates) if number not in seen]


def bounded(pieces: list[str], most: int) -> list[str]:
    """As many as have so many forms together at most, spread evenly."""
    forms = sum(len(forms_of_piece(one)) for one in pieces)
    return pieces if forms <= most else spread(pieces, len(pieces) * most // forms)


def salts_at(wire: Wire, keys: LogKeys, seqs: Sequence[int]) -> list[bytes]:
    """The salts at these seqs that are there."""
    answers = wire.answers(
        [["GETRANGE", keys.salts, SALT_BYTES * seq, SALT_BYTES * (seq + 1) - 1] for seq in seqs]
    )  # fmt: skip
    return [one for one in answers if len(one) == SALT_BYTES and one != NO_SALT]


def _derived(wire: Wire, tag: str, owner: str) -> list[bytes]:
    """Some names of the owner's vectors."""
    names, found = VectorKeys(tag), Evenly[bytes](DERIVED)
    for model, _ in pairs(wire, names.models):
        for name, _ in pairs(wire, names.wholes(model.decode(), owner)) if model else ():
            found.add(name)
    return found.chosen
