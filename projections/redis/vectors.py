"""Vectors in Redis, by owner, model and content; a content is named by a hash under its owner's secret.

Derived: whatever is lost here is computed again, and nothing else. Reading forgives: bytes that cannot be unpacked count as
missing, so that a search answers with the words it has, and the next run of the job computes them anew. In a sealed store each
lies sealed under its owner's secret, for a vector tells much of the words that it was made of.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from threading import Lock
from typing import Any, TypeVar

from engramlog_server.events.encryption.cipher import NotOpened, ValueCipher
from engramlog_server.events.errors import KeyUnavailable, StoreFull, StoreMismatch
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.admission import ACCESS_FULL, memory_share
from engramlog_server.events.redis.secrets import read_cipher, usable_secret
from engramlog_server.events.redis.wire import Argument, Wire, WirePool, as_store_error
from engramlog_server.projections.embedding.meaning import NO_SECRET, Embedded, JoinedPieces, Vectors
from engramlog_server.projections.embedding.vectors import (
    VectorKeys,
    dimensions_of,
    is_whole,
    pack,
    unpack_all_pieces,
    unpack_whole,
)
from engramlog_server.projections.redis.sealed import PIECES, VECTOR, vector_place

PAGE = 500
"""Vectors named in one command."""
PIECES_PAGE = 10
"""The same of pieces, which may take 98 KB each at 384 dimensions."""
DROPPED_PAGE = 50
AT_ONCE_BYTES = 1 << 20
"""About how much is written at once: a millisecond of Redis's time."""
PIECES_BYTES = 64 << 20
"""How many bytes of packed pieces a process keeps; the least recently asked leave first."""
_T = TypeVar("_T")


class RedisVectors:
    """The vectors of a store. Safe for threads."""

    def __init__(self, wires: WirePool, tags: Sequence[str], *, most_bytes: int = PIECES_BYTES) -> None:
        self.wires = wires
        self.tags = list(tags)
        self._most = most_bytes
        self._kept: OrderedDict[tuple[str, str, bytes], bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = Lock()

    def close(self) -> None:
        """Close idle connections."""
        self.wires.close()

    def keys_of(self, owner: str) -> VectorKeys:
        """The keys of an owner's partition."""
        return VectorKeys(self.tags[partition_of(owner, len(self.tags))])

    def changes(self, owner: str, model: str) -> int:
        """How often the owner's vectors were changed: the same number means the same vectors. One round trip."""
        with self.wires.wire() as wire:
            return int(wire.call("HGET", self.keys_of(owner).changes(model), owner) or 0)

    def had(self, owner: str, models: Sequence[str]) -> list[bool]:
        """Of each model, whether the owner has, or had, vectors under it. One round trip."""
        keys = self.keys_of(owner)
        with self.wires.wire() as wire:
            return [
                bool(there)
                for there in _checked(wire.pipeline([["HEXISTS", keys.changes(one), owner] for one in models]))
            ]

    def secret(self, owner: str) -> bytes:
        """The secret that names the owner's vectors; `NO_SECRET` where the store has none, or what stands there is none."""
        with self.wires.wire() as wire:
            try:
                return usable_secret(wire, LogKeys(self.keys_of(owner).tag), owner) or NO_SECRET
            except KeyUnavailable:
                return NO_SECRET

    def _cipher(self, wire: Wire, owner: str) -> ValueCipher | None:
        """What seals and opens the owner's vectors; None where the store lies open, or what stands in place of a secret is none.

        One round trip in a sealed store, and none in an open one. Raises KeyUnavailable.
        """
        try:
            return read_cipher(wire, LogKeys(self.keys_of(owner).tag), owner)
        except StoreMismatch:
            return None

    def wholes(
        self, owner: str, model: str, keys: Sequence[bytes], dimensions: int | None = None
    ) -> dict[bytes, Vectors]:
        """Whole vectors by content key, those that there are, of so many dimensions where told."""
        name, found = self.keys_of(owner).wholes(model, owner), dict[bytes, Vectors]()
        with self.wires.wire() as wire:
            cipher = self._cipher(wire, owner) if keys else None
            for page in _slices(keys, PAGE):
                for key, stored in zip(page, wire.call("HMGET", name, *page), strict=True):
                    raw = _opened(cipher, vector_place(VECTOR, owner, model, key), stored)
                    if is_whole(raw, dimensions):
                        found[key] = unpack_whole(raw)
        return found

    def pieces(self, owner: str, model: str, keys: Sequence[bytes], dimensions: int) -> JoinedPieces:
        """Pieces of so many dimensions in the order of content keys, none of an empty key; the latest asked for are kept."""
        raws = self._packed_pieces(owner, model, [key for key in keys if key]) | {b"": b""}
        return unpack_all_pieces([raws[key] for key in keys], dimensions)

    def _packed_pieces(self, owner: str, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Packed, by content key; empty where there are none, or none that opens."""
        raws, wanted = dict[bytes, bytes](), list[bytes]()
        with self._lock:
            for key in dict.fromkeys(keys):
                kept = self._kept.get((owner, model, key))
                if kept is None:
                    wanted.append(key)
                else:
                    self._kept.move_to_end((owner, model, key))
                    raws[key] = kept
        if wanted:
            name = self.keys_of(owner).pieces(model, owner)
            with self.wires.wire() as wire:
                cipher = self._cipher(wire, owner)
                for some in _slices(_slices(wanted, PIECES_PAGE), PIECES_PAGE):  # as many pages down the line at once
                    for page, answer in zip(
                        some, _checked(wire.pipeline([["HMGET", name, *p] for p in some])), strict=True
                    ):
                        for key, stored in zip(page, answer, strict=True):
                            raws[key] = _opened(cipher, vector_place(PIECES, owner, model, key), stored)
            self._keep(owner, model, {key: raws[key] for key in wanted})
        return raws

    def _keep(self, owner: str, model: str, raws: Mapping[bytes, bytes]) -> None:
        with self._lock:
            for key, raw in raws.items():
                if raw:  # none yet, perhaps: to be asked for again
                    self._forget((owner, model, key))
                    self._kept[owner, model, key] = raw
                    self._kept_bytes += len(raw)
            while self._kept_bytes > self._most:
                self._forget(next(iter(self._kept)))

    def _forget(self, name: tuple[str, str, bytes]) -> None:
        self._kept_bytes -= len(self._kept.pop(name, b""))

    def put(self, owner: str, model: str, embedded: Mapping[bytes, Embedded]) -> None:
        """Store vectors, whole ones and their pieces at once, some at a time.

        Raises StoreFull from 75 % of maxmemory on: the rest belongs to events, folds and operators. Raises KeyUnavailable where the
        store is sealed and the owner's key cannot be had: none is written open there.
        """
        keys, packed = self.keys_of(owner), [(key, *pack(one)) for key, one in embedded.items()]
        with self.wires.wire() as wire:
            _refuse_when_full(wire)
            cipher = self._cipher(wire, owner)
            if cipher is not None:
                packed = [_sealed(cipher, owner, model, *one) for one in packed]
            elif wire.seals.is_on:
                raise KeyUnavailable(
                    f"owner {owner} has no secret under which its vectors could be sealed", passes=False
                )
            for some in _bounded(packed):
                pieces = [part for key, _, raw in some if raw for part in (key, raw)]
                commands: list[list[Argument]] = [
                    ["HSET", keys.wholes(model, owner), *(part for key, raw, _ in some for part in (key, raw))],
                    ["HINCRBY", keys.changes(model), owner, 1],
                    ["HSETNX", keys.models, model, 0],
                ]
                if pieces:
                    commands.append(["HSET", keys.pieces(model, owner), *pieces])
                _together(wire, *commands)

    def drop(self, owner: str, model: str, gone: Iterable[bytes]) -> int:
        """Take vectors away, with what this process keeps of them; how many whole ones there were."""
        keys, dropped = self.keys_of(owner), 0
        with self.wires.wire() as wire:
            for page in _slices(gone, DROPPED_PAGE):
                answers = _together(
                    wire,
                    ["HDEL", keys.wholes(model, owner), *page],
                    ["HDEL", keys.pieces(model, owner), *page],
                    ["HINCRBY", keys.changes(model), owner, 1],
                )
                dropped += int(answers[0])
                with self._lock:
                    for key in page:
                        self._forget((owner, model, key))
        return dropped

    def stored(self, owner: str, model: str) -> dict[bytes, int]:
        """Every content key that has a whole vector, or bytes in its place: its dimensions, 0 where it cannot be unpacked."""
        name = self.keys_of(owner).wholes(model, owner)
        with self.wires.wire() as wire:
            cipher = self._cipher(wire, owner)
            return {
                key: dimensions_of(_opened(cipher, vector_place(VECTOR, owner, model, key), raw))
                for key, raw in _scanned(wire, name)
            }

    def has(self, owner: str, model: str, keys: Sequence[bytes]) -> set[bytes]:
        """Which of these content keys have a whole vector; none is read."""
        name, found = self.keys_of(owner).wholes(model, owner), set[bytes]()
        with self.wires.wire() as wire:
            for page in _slices(keys, PAGE):
                answers = _checked(wire.pipeline([["HEXISTS", name, key] for key in page]))
                found.update(key for key, there in zip(page, answers, strict=True) if there)
        return found

    def count(self, owner: str, model: str) -> int:
        """How many contents of an owner have a vector."""
        with self.wires.wire() as wire:
            return int(wire.call("HLEN", self.keys_of(owner).wholes(model, owner)))

    def models(self) -> list[str]:
        """Every model that has, or had, vectors in this store."""
        found: set[str] = set()
        with self.wires.wire() as wire:
            for tag in self.tags:
                found.update(name.decode() for name in wire.call("HKEYS", VectorKeys(tag).models))
        return sorted(found - {""})

    def models_of(self, owner: str) -> list[str]:
        """The models under which this owner has, or had, vectors."""
        keys = self.keys_of(owner)
        with self.wires.wire() as wire:
            names = sorted(name.decode() for name in wire.call("HKEYS", keys.models) if name)
            commands: list[list[Argument]] = [["HEXISTS", keys.changes(name), owner] for name in names]
            answers = _checked(wire.pipeline(commands)) if names else []
        return [name for name, there in zip(names, answers, strict=True) if there]


def _sealed(
    cipher: ValueCipher, owner: str, model: str, key: bytes, whole: bytes, pieces: bytes
) -> tuple[bytes, bytes, bytes]:
    sealed = cipher.seal(vector_place(VECTOR, owner, model, key), whole)
    return key, sealed, cipher.seal(vector_place(PIECES, owner, model, key), pieces) if pieces else b""


def _opened(cipher: ValueCipher | None, where: bytes, stored: bytes | None) -> bytes:
    """Packed bytes; empty where there are none, or none that opens: they count as missing."""
    if not stored or cipher is None:
        return stored or b""
    try:
        return cipher.open(where, stored)
    except NotOpened:
        return b""


def _refuse_when_full(wire: Wire) -> None:
    share = memory_share(wire)
    if share is not None and share >= ACCESS_FULL:
        raise StoreFull(
            f"Redis uses {share:.0%} of its maxmemory; vectors are stored up to {ACCESS_FULL:.0%}, so that events and folds go"
            " on: raise maxmemory or free memory, then embed again; what was embedded stays",
            retry_after=5,
        )


def _together(wire: Wire, *commands: list[Argument]) -> list[Any]:
    """All of these commands or none, and their answers."""
    answers = _checked(wire.pipeline([["MULTI"], *commands, ["EXEC"]]))
    return _checked(answers[-1])


def _checked(answers: list[Any]) -> list[Any]:
    for answer in answers:
        if isinstance(answer, Exception):
            raise as_store_error(answer)
    return answers


def _scanned(wire: Wire, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Fields and values of a hash, in pages; one that is there all the while comes at least once."""
    cursor = b"0"
    while True:
        cursor, page = wire.call("HSCAN", name, cursor, "COUNT", PAGE)
        yield from zip(page[::2], page[1::2], strict=True)
        if cursor == b"0":
            return


def _bounded(packed: Iterable[tuple[bytes, bytes, bytes]]) -> Iterator[list[tuple[bytes, bytes, bytes]]]:
    """In parts that may be written at once."""
    part: list[tuple[bytes, bytes, bytes]] = []
    size = 0
    for key, whole, pieces in packed:
        if part and (size + len(whole) + len(pieces) > AT_ONCE_BYTES or len(part) == PAGE):
            yield part
            part, size = [], 0
        part.append((key, whole, pieces))
        size += len(whole) + len(pieces)
    if part:
        yield part


def _slices(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    waiting = iter(items)
    while page := list(islice(waiting, size)):
        yield page
