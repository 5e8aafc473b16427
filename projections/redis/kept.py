"""Views kept outside of Redis: a process that never saw an owner finds it in one block, and asks Redis for what changed since.

A block is proven before it is looked into, by an HMAC under a key made of the owner's secret, which only the store knows. It
tells of which store, owner and build it is, by which code it was made, and at which token. That the log still has the history of
that token is known by its last event: an entry carries random bytes, so one that stands again at its place is the same entry,
and what stood before it too. Where anything is not so the block is passed over, and the owner is loaded as ever.

In a sealed store a block is encrypted under such a key instead, which proves the same. Without the key none is written or read.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from hashlib import blake2b
from time import monotonic
from typing import Any, Protocol

import msgspec

from events.errors import EngramlogError, KeyUnavailable
from events.parameters import Parameters
from events.partitions import partition_of
from events.redis.secrets import read_secret
from events.redis.wire import Wire, WirePool
from events.sealing.blocks import SealedBlock, open_block
from events.sealing.cipher import NotOpened
from events.text.unreadable import UNREADABLE
from projections.checks import unchecked
from projections.fold.builds import BuildKeys
from projections.fold.owner import OwnerState
from projections.memory.columns import Columns, state_of
from projections.memory.record import SECRET, Memory
from projections.redis.sealed import cipher_of
from projections.redis.store import MOST_VALUES, read_owner, read_record, slices
from projections.views.kept_view import kept_view, packed_view
from projections.views.kept_views import CachedView
from projections.views.packed import Packed, packed, unpacked
from projections.views.view import OwnerView

MANY_CHANGED = 400
"""Memories that changed since a view was kept: from here on it is kept anew, as one that never was. Above 998 Redis tells them no
more one by one."""
REST_SECONDS, REST_SHARE = 60.0, 50.0
"""Between two keepings of an owner: so long at least, and so many times what the last one took."""
BYTES_A_STEP = 8_000
"""So much of a block is taken in the time in which one memory is loaded."""
_MAGIC, _SEALED = b"ENGVIEW1", b"ENGVIEW2"
"""What a block begins with that lies open, and one that is sealed."""
_HEAD = len(_MAGIC) + 32
_PURPOSE, _TO_SEAL = b"engramlog kept view 1\0", b"engramlog sealed view 1\0"
"""What the key is for."""


class ViewFiles(Protocol):
    """Where blocks lie, one an owner. Nothing here raises: what cannot be kept is not, and somebody is told why."""

    least: int
    """An owner of fewer memories is loaded as quickly without."""

    @property
    def code(self) -> str:
        """Names the code that reads texts: a block of another is of no use."""

    def read(self, owner: str) -> bytearray | None:
        """The block of an owner; None where there is none, or none that this user alone could have put there."""

    def began(self) -> int:
        """A mark of now, for `write`."""

    def write(self, owner: str, block: Sequence[bytes | memoryview] | SealedBlock, began: int) -> bool:
        """Keep a block that was begun then; False where it could not be, or something was erased of the owner meanwhile."""

    def erase(self, owner: str) -> None:
        """Drop the block of an owner, and whatever was begun before."""

    def drop(self, owner: str) -> None:
        """Drop the block of an owner; one that was begun before may come."""

    def later(self, work: Callable[[], None]) -> bool:
        """Do something in a thread of its own; False where too much waits."""

    def not_kept(self, owner: str, why: str) -> None:
        """Tell that a view could not be kept."""

    def passed_over(self, owner: str, why: str) -> None:
        """Tell that a block was of no use, and drop it."""


Level = Callable[[Wire, str, CachedView], bool]


class KeptFiles:
    """Keeps and finds the views of one store. Safe for threads, as long as each view is held by one."""

    def __init__(self, files: ViewFiles, store_id: str, tags: Sequence[str], wires: WirePool, level: Level) -> None:
        """`level` brings a held view forward, under its lock; it gives whether everything is folded that the owner's log holds."""
        self._files = files
        self._tags = tags
        self._store_id = store_id
        self._wires = wires
        self._level = level

    def find(
        self, wire: Wire, keys: BuildKeys, owner: str, base: Parameters, weigh: Callable[[int], None]
    ) -> tuple[OwnerView, bytes] | None:
        """A view with its token, to be brought forward; None where no block is of use. Raises StoreError, and what `weigh` does."""
        block = self._files.read(owner)
        if block is None:
            return None
        weigh(len(block) // BYTES_A_STEP)
        body = self._proven(wire, keys, owner, block)
        if body is None:
            return None
        try:
            told = unpacked(body)
            if told.facts["made"] != self._made(keys, owner):
                self._files.drop(owner)  # nobody of this code would learn what must leave it
                return None
            token: bytes = told.facts["token"]
            state = read_owner(keys, owner, token, cipher_of(wire, keys, owner))
            if told.facts["last"] != _last(wire, keys, state):
                self._files.passed_over(owner, "the log has another history than it was made of")
                return None
            kept = kept_view(told)
            hidden = _records(wire, keys, owner, [kept.ids[row] for row in kept.hidden])
            return OwnerView.of_kept(owner, state, kept, hidden, base), token
        except (*UNREADABLE, ValueError, LookupError, TypeError, AttributeError) as error:
            self._files.passed_over(owner, f"it cannot be read: {error}")
            return None

    def tend(self, owner: str, held: CachedView, *, at_once: bool = False) -> None:
        """After a question: keep the view, in a thread of its own, where loading it took long or much has changed since.

        `at_once`: though it was kept a moment ago. Where an owner's contents are sealed, this is where it must not go on.
        """
        view = held.view
        if view is None or held.waits or len(view) < self._files.least or held.unkept < MANY_CHANGED:
            return
        if at_once or monotonic() >= held.rests_until:
            held.waits = self._files.later(lambda: self._keep(owner, held))

    def follow(self, owner: str, held: CachedView, changed: Sequence[Memory]) -> None:
        """What is to be taken into a view: where something of it may not be kept any longer, what is kept of the owner goes."""
        held.unkept += len(changed)
        hidden = [one.id for one in changed if _is_hidden(one)] if held.view is not None else []
        if any(
            (old := held.view.get(one)) is not None and not _is_hidden(old) for one in hidden if held.view is not None
        ):
            self._files.erase(owner)
            held.unkept += MANY_CHANGED

    def erase(self, owner: str) -> None:
        """Nothing of this owner is to be kept."""
        self._files.erase(owner)

    def loads(self, owner: str, held: CachedView) -> None:
        """Before a held view is loaded anew: what changed is not told one by one, so what is kept goes."""
        if held.view is not None:
            self._files.erase(owner)

    def _keep(self, owner: str, held: CachedView) -> None:
        start = monotonic()
        try:
            if not self._kept(owner, held):
                held.unkept = MANY_CHANGED
        except EngramlogError as error:  # a store that does not answer is told by whoever asks it something
            held.unkept = MANY_CHANGED
            self._files.not_kept(owner, error.message)
        finally:
            held.rests_until = monotonic() + max(REST_SECONDS, REST_SHARE * (monotonic() - start))
            held.waits = False

    def _kept(self, owner: str, held: CachedView) -> bool:
        with held.alone(unchecked), self._wires.wire() as wire:
            if not self._level(wire, owner, held):  # what is not folded yet may hide something
                return False
            if held.view is None or not held.token:
                return False
            keys = BuildKeys(self._tags[partition_of(owner, len(self._tags))], held.build)
            began, token, state = self._files.began(), held.token, held.view.state
            key, last, taken = self._key(wire, keys, owner), _last(wire, keys, state), held.view.taken()
            held.unkept, sealed = 0, wire.seals.is_on
        if key is None or last is None:
            return False
        facts, arrays = packed_view(taken)
        about = {"made": self._made(keys, owner), "token": token, "last": last}
        pieces = packed(Packed({**facts, **about}, arrays))
        if sealed:
            return self._files.write(owner, SealedBlock(_SEALED, key, _about(self._store_id, owner), pieces), began)
        proof = hmac.new(key, digestmod="sha256")
        for piece in pieces:
            proof.update(piece)
        return self._files.write(owner, [_MAGIC + proof.digest(), *pieces], began)

    def _made(self, keys: BuildKeys, owner: str) -> list[str]:
        return [self._files.code, self._store_id, owner, keys.tag, keys.build]

    def _proven(self, wire: Wire, keys: BuildKeys, owner: str, block: bytearray) -> memoryview | None:
        """What a block holds, opened where it lies; None where it is of no use. Raises StoreError."""
        try:
            key = self._key(wire, keys, owner)
        except KeyUnavailable:  # it may be had again, and the block be of use then
            return None
        body = None if key is None else _proven(key, _about(self._store_id, owner), block, sealed=wire.seals.is_on)
        if body is None:
            self._files.passed_over(owner, "it was not made by this store for this owner, or was changed")
        return body

    def _key(self, wire: Wire, keys: BuildKeys, owner: str) -> bytes | None:
        """None where the owner has no secret: nothing is kept of it. Raises KeyUnavailable."""
        secret, purpose = read_secret(wire, keys.log, owner), _TO_SEAL if wire.seals.is_on else _PURPOSE
        return _key_of(secret, purpose, self._store_id) if secret else None


def open_kept(secret: bytes, store_id: str, owner: str, block: bytearray) -> memoryview | None:
    """What a sealed block of an owner holds, opened where it lies, as anybody can who has the owner's secret: to look for words in
    it. None where it does not open, after which its bytes tell nothing."""
    return _proven(_key_of(secret, _TO_SEAL, store_id), _about(store_id, owner), block, sealed=True)


def sealed_block(secret: bytes, store_id: str, owner: str, pieces: Sequence[bytes | memoryview]) -> SealedBlock:
    """What an owner's view is kept as in a sealed store: what `open_kept` opens."""
    return SealedBlock(_SEALED, _key_of(secret, _TO_SEAL, store_id), _about(store_id, owner), pieces)


def _key_of(secret: bytes, purpose: bytes, store_id: str) -> bytes:
    return hmac.digest(secret, purpose + store_id.encode(), "sha256")


def _about(store_id: str, owner: str) -> bytes:
    return store_id.encode() + b"\0" + owner.encode()


def _proven(key: bytes, about: bytes, block: bytearray, *, sealed: bool) -> memoryview | None:
    """What a block holds, opened where it lies; None where it was not made under this key. One that lies open is none in a sealed
    store, and the other way round."""
    if sealed:
        try:
            return open_block(_SEALED, key, about, block)
        except NotOpened:
            return None
    body = memoryview(block)[_HEAD:]
    proof = hmac.digest(key, body, "sha256")
    whole = block[: len(_MAGIC)] == _MAGIC and hmac.compare_digest(proof, bytes(block[len(_MAGIC) : _HEAD]))
    return body if whole else None


def _last(wire: Wire, keys: BuildKeys, state: OwnerState) -> bytes | None:
    """A digest of the last event that is folded into an owner, as it stands in the log; None where it does not."""
    found = wire.call("XRANGE", keys.log.stream, f"{state.seq}-0", f"{state.seq}-0")
    return blake2b(msgspec.msgpack.encode(found), digest_size=16).digest() if found else None


def _records(wire: Wire, keys: BuildKeys, owner: str, ids: Sequence[str]) -> list[Memory]:
    """Records by id. Raises ValueError where one is not there."""
    found, cipher = list[Memory](), cipher_of(wire, keys, owner)
    for some in slices(ids, MOST_VALUES):
        raw: list[Any] = wire.call("HMGET", keys.records(owner), *some)
        if None in raw:
            raise ValueError("the store has no record of a memory that is in it")
        found += [read_record(keys, owner, name, one, cipher) for name, one in zip(some, raw, strict=True)]
    return found


def _is_hidden(memory: Memory) -> bool:
    return memory.sensitivity >= SECRET or state_of(memory) >= Columns.DELETED
