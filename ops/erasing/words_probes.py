"""What an audit looks for once single memories and turns lost their words: pieces of these, and what opened or named them.

The owner stays, and so does its key. So what is looked for is only what nothing that stays has: no piece that another entry of the
owner says too, no name of a vector that another text has, and nothing of what folds take (`events.sealing.wordless`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from consumers.verify.scan import pairs
from events.envelope import Stored, decode, encode
from events.errors import NotFound, UndecodableEvent
from events.partitions import LogKeys, partition_of
from events.redis.log import entries
from events.redis.opening import opened_where_it_can_be
from events.redis.secrets import read_lines
from events.redis.wire import Wire
from events.sealing.cipher import BODY_MARK, ValueCipher
from events.sealing.wordless import without_words
from ops.erasing.needles import Needles
from ops.erasing.pieces import Evenly, distinct, pieces_of, spread
from ops.erasing.probes import (
    MOST_NEEDLES,
    MOST_OF_KEYS,
    Probes,
    bounded,
    not_in,
    of_others,
    pages_of,
    salts_at,
    words_in,
)
from ops.erasing.probes import SALTS as SALTS_OF_OWNER
from projections.embedding.meaning import content_key
from projections.embedding.vectors import VectorKeys
from projections.redis.store import slices

SALTS, NAMES, SHORT = 100, 100, 200
"""How many salts, names of vectors, and short texts are looked for at most."""
LEAST_SHORT, MOST_SHORT = 4, 200
"""Bytes of a text without pieces that is looked for as a whole."""
AT_ONCE = 200
_CONTENTS = ("content", "correction", "summary")
"""Fields that become what a memory says, of which vectors are made."""


def gather_words(
    wire: Wire,
    tags: Sequence[str],
    owner: str,
    seqs: Sequence[int],
    *,
    erasure_id: str,
    made_at: int,
    most: int = MOST_NEEDLES,
) -> Probes:
    """What is to be looked for once these entries of an owner lost their words. Reads only: these entries, then the partition once,
    and its newest entries again.

    `most`: needles in all, from 1,000 on. Raises as `gather`.
    """
    line = read_lines(wire, tags, [owner]).get(owner)
    if line is None:
        raise NotFound(f"owner {owner!r} has no key: nothing was ever said under its name", owner=owner)
    secret = wire.seals.secrets({owner: line})[owner]
    keys, cipher = LogKeys(tags[partition_of(owner, len(tags))]), ValueCipher(secret)
    going, gone = list(_going(wire, keys, owner, cipher, seqs)), frozenset(seqs)
    texts = list(dict.fromkeys(text for one in going for text in words_in(one)))
    pieces = {text: list(distinct(pieces_of(text), owner)) for text in texts}
    short = [text for text in texts if not pieces[text] and LEAST_SHORT <= len(text.encode()) <= MOST_SHORT]
    names = {content_key(secret, text) for one in going for text in _contents(one)}
    candidates = list(dict.fromkeys(piece for some in pieces.values() for piece in some))
    stays = _Staying(secret, candidates, short, names)
    stays.take(_left_of(going))
    for page in pages_of(wire, keys):
        mine = [one for one in page if one.owner == owner and one.seq not in gone]
        stays.take(opened_where_it_can_be(wire, keys, mine, {owner: cipher}))
    own = not_in(stays.pieces, of_others(wire, keys, owner))
    known, told = frozenset(own), frozenset(stays.short)
    salted = Evenly[int](SALTS)
    for one in going:
        salted.add(one.seq)
    salts, named = salts_at(wire, keys, salted.chosen), _names(wire, keys.tag, owner, stays.names)
    return Probes(
        erasure_id=erasure_id,
        store_id=wire.seals.store.decode(),
        owner=owner,
        tag=keys.tag,
        made_at=made_at,
        events=len(going),
        texts=len(texts),
        shared=len(candidates) - len(own),
        unopened=len(salts_at(wire, keys, [one.seq for one in going if one.body[:1] == BODY_MARK])),
        secret=secret,
        line=line,
        salts=salts,
        derived=named,
        words=bounded(own, most - 2 * (len(salts) + len(named))),
        is_of_words=True,
        entries=sorted(seqs),
        short=spread(stays.short, SHORT),
        untold=sum(text not in told and known.isdisjoint(pieces[text]) for text in texts),
    )


def joined(before: Probes, now: Probes, most: int = MOST_NEEDLES) -> Probes:
    """What is looked for of an erasure that was killed and is gone on with: what was noted before, and what is noted now.

    What lost its words meanwhile says nothing now, so what was noted before of it is all that is known.
    """
    salts = list(dict.fromkeys((*before.salts, *now.salts)))
    derived = list(dict.fromkeys((*before.derived, *now.derived)))
    words = list(dict.fromkeys((*before.words, *now.words)))
    return msgspec.structs.replace(
        now,
        made_at=before.made_at,
        events=len({*before.entries, *now.entries}),
        texts=max(before.texts, now.texts),
        shared=max(before.shared, now.shared),
        unopened=max(before.unopened, now.unopened),
        salts=spread(salts, SALTS),
        derived=spread(derived, NAMES),
        words=bounded(words, most - 2 * (min(len(salts), SALTS) + min(len(derived), NAMES))),
        entries=sorted({*before.entries, *now.entries}),
        short=spread(list(dict.fromkeys((*before.short, *now.short))), SHORT),
        untold=max(before.untold, now.untold),
    )


def with_words(of_owner: Probes, of_words: Sequence[Probes], most: int = MOST_NEEDLES) -> Probes:
    """What is looked for of an owner, and with it what was noted of erasures of its words: nothing else knows these any more."""
    words = dict.fromkeys((*of_owner.words, *(piece for one in of_words for piece in one.words)))
    salts = dict.fromkeys((*of_owner.salts, *(salt for one in of_words for salt in one.salts)))
    return msgspec.structs.replace(
        of_owner, words=bounded(list(words), most - MOST_OF_KEYS), salts=spread(list(salts), SALTS_OF_OWNER)
    )


class _Staying:
    """What is left of pieces, short texts and names, once what stays was taken from them."""

    def __init__(self, secret: bytes, pieces: list[str], short: list[str], names: set[bytes]) -> None:
        self._secret, self._pieces, self._short = secret, pieces, short
        self.names = names
        self._of_pieces = Needles([("word", one.encode()) for one in pieces])
        self._of_short = Needles([("word", one.casefold().encode()) for one in short])
        self._in_pieces, self._in_short = set[int](), set[int]()

    def take(self, some: Iterable[Stored]) -> None:
        """Entries that stay, open where they could be opened."""
        for one in some:
            self._in_pieces |= self._of_pieces.which(one.body)
            if self._short:  # what is derived of words is written small
                self._in_short |= self._of_short.which(one.body.decode("utf-8", "replace").casefold().encode())
            if self.names:
                self.names -= {content_key(self._secret, text) for text in _contents(one)}

    @property
    def pieces(self) -> list[str]:
        """Pieces of which nothing that stays has any."""
        return [one for number, one in enumerate(self._pieces) if number not in self._in_pieces]

    @property
    def short(self) -> list[str]:
        """The same of short texts."""
        return [one for number, one in enumerate(self._short) if number not in self._in_short]


def _going(wire: Wire, keys: LogKeys, owner: str, cipher: ValueCipher, seqs: Sequence[int]) -> Iterator[Stored]:
    """The entries that go, open where they can be opened."""
    for some in slices(sorted(seqs), AT_ONCE):
        answers = wire.answers([["XRANGE", keys.stream, f"{seq}-0", f"{seq}-0"] for seq in some])
        found = [one for answer in answers for one in entries(answer, keys.tag) if one.owner == owner]
        yield from opened_where_it_can_be(wire, keys, found, {owner: cipher})


def _left_of(going: Iterable[Stored]) -> Iterator[Stored]:
    """What is left of them: ids, types and the like may be the same letters as a word."""
    for one in going:
        try:
            yield one._replace(body=encode(without_words(decode(one.kind, one.body))))
        except UndecodableEvent:
            continue


def _contents(one: Stored) -> Iterator[str]:
    """What of an open entry may be a whole content."""
    if one.body[:1] == b"{":
        data = msgspec.json.decode(one.body).get("data")
        yield from (text for field in _CONTENTS if isinstance(text := data.get(field), str) and text)


def _names(wire: Wire, tag: str, owner: str, names: set[bytes]) -> list[bytes]:
    """Names of vectors of erased texts: those first under which a vector stands."""
    tables, stand = VectorKeys(tag), set[bytes]()
    for model, _ in pairs(wire, tables.models) if len(names) > NAMES else ():
        for some in slices(sorted(names), AT_ONCE):
            answer = wire.call("HMGET", tables.wholes(model.decode(), owner), *some)
            stand |= {name for name, one in zip(some, answer, strict=True) if one is not None}
    return [*sorted(stand), *sorted(names - stand)][:NAMES]
