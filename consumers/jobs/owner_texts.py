"""The texts of an owner that need vectors: every content of its records, by the key of its vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

from msgspec.msgpack import encode

from engramlog_server.events.cipher import ValueCipher
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.secrets import usable_secret
from engramlog_server.events.redis.wire import Wire, pairs
from engramlog_server.events.text import many
from engramlog_server.projections.embedding.choosing import is_of_other_letters, owner_of_other_letters
from engramlog_server.projections.embedding.meaning import content_key, embedded_text
from engramlog_server.projections.fold.owner import OwnerState, parameters_of
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import Rejections
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys, cipher_of, version_of
from engramlog_server.projections.redis.store import read_owner, read_record, slices
from engramlog_server.projections.views.quoting import all_as_told

PAGE = 500


class Text(NamedTuple):
    """A content, and a memory that has it."""

    memory_id: str
    text: str


class OwnerTexts(NamedTuple):
    """An owner's contents at one state."""

    token: bytes | None
    version: str
    texts: dict[bytes, Text]
    """By the key of their vectors. Empty if the owner has no secret, which makes the keys."""
    nameless: int
    """How many memories have text without a key."""
    embedder: str
    """The owner's parameter of that name."""
    records: int
    """The number of memories, with or without text."""
    withheld: int
    """How many have text but are not embedded, because it quotes hidden memories."""
    rejections: str
    """A digest of the owner's rejections; empty if there are none."""
    of_other_letters: bool
    """Whether the owner writes in letters other than Latin, as `projections.embedding.choosing` counts."""

    def refuse_nameless(self, owner: str) -> None:
        """Raises DamagedState if texts have no key."""
        if self.nameless:
            raise DamagedState(
                f"owner {owner} has {many(self.nameless, 'memory', 'memories')} with text and no secret to name their vectors"
                " with, because it was lost. No vectors are computed, and earlier ones are removed. Restore the backup that has"
                " the secret, and see `engramlog verify`"
            )


def read_texts(wire: Wire, tag: str, owner: str) -> OwnerTexts:
    """Every content of an owner, read in pages from the live build; starts again if another build replaces it."""
    while True:
        keys = live_build(wire, tag)
        token, secret = wire.call("HGET", keys.owners, owner), usable_secret(wire, keys.log, owner)
        cipher = cipher_of(wire, keys, owner)
        texts, nameless, cursor, letters = dict[bytes, Text](), 0, b"0", dict[bytes, bool | None]()
        withheld = set[str]()
        rejections = read_owner(keys, owner, token).rejections if token else ()
        while True:
            cursor, page = wire.call("HSCAN", keys.records(owner), cursor, "COUNT", PAGE)
            found = _records(keys, owner, page[::2], page[1::2], cipher)
            for memory in all_as_told(
                found, partial(_fetched, wire, keys, owner, cipher), partial(tuple, rejections)
            ).values():
                memory_id = memory.id.encode()
                text = embedded_text(memory)
                if not text and embedded_text(found[memory.id]):
                    withheld.add(memory.id)
                letters[memory_id] = (
                    is_of_other_letters(text) if text else None
                )  # one that is scanned twice counts once
                if not text:
                    continue
                if secret:
                    texts[content_key(secret, text)] = Text(memory.id, text)
                else:
                    nameless += 1
            if cursor == b"0":
                break
        if live_build(wire, tag) == keys:
            state = read_owner(keys, owner, token) if token else OwnerState()
            counted = Counter(letters.values())
            others = owner_of_other_letters(counted[True], counted[True] + counted[False])
            embedder = parameters_of(state.settings).embedder
            version, hidden = version_text(keys, state), (len(withheld), rejections_text(state.rejections))
            return OwnerTexts(token, version, texts, nameless, embedder, len(letters), *hidden, others)


def _records(
    keys: BuildKeys, owner: str, ids: Sequence[bytes], raws: Sequence[bytes | None], cipher: ValueCipher | None
) -> dict[str, Memory]:
    told = ((one.decode(), raw) for one, raw in zip(ids, raws, strict=True))
    return {name: read_record(keys, owner, name, raw, cipher) for name, raw in told if raw is not None}


def _fetched(
    wire: Wire, keys: BuildKeys, owner: str, cipher: ValueCipher | None, ids: Sequence[str]
) -> dict[str, Memory]:
    """What an account on a page has words of."""
    found = dict[str, Memory]()
    for some in slices(ids, PAGE):
        raws = wire.call("HMGET", keys.records(owner), *some)
        found |= _records(keys, owner, [one.encode() for one in some], raws, cipher)
    return found


def version_text(keys: BuildKeys, state: OwnerState) -> str:
    """An owner's version in marks: that of the projection, and the number of applied events."""
    return f"{version_of(keys.build)}/{state.applied}"


def rejections_text(rejections: Rejections) -> str:
    """A digest of rejections for marks; empty if there are none."""
    return blake2b(encode(rejections), digest_size=8).hexdigest() if rejections else ""


def live_build(wire: Wire, tag: str) -> BuildKeys:
    """The keys of a partition's live build."""
    return BuildKeys(tag, (wire.call("HGET", LogKeys(tag).meta, "live") or FIRST_BUILD.encode()).decode())


def owners_since(wire: Wire, keys: BuildKeys, since: int) -> list[str]:
    """The owners of a partition with events after a seq, by name. Raises StoreError, DamagedState."""
    owners = ((name.decode(), raw) for name, raw in pairs(wire, keys.owners))
    return sorted({owner for owner, raw in owners if read_owner(keys, owner, raw).seq > since})


def folded_to(wire: Wire, tag: str) -> int:
    """The seq up to which a partition is folded."""
    return int(wire.call("HGET", live_build(wire, tag).checkpoint, "seq") or 0)
