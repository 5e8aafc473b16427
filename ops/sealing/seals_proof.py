"""Reading a partition's log with the seals of a file and its own: what opens, what does not, and whether it is the same history.

Reads only. The salts that count are made by the way; the tables that count are `seals_merge`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from engramlog_server.events.envelope import Stored, decode
from engramlog_server.events.errors import DamagedState, KeyUnavailable, OwnerErased, StoreMismatch, UndecodableEvent
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.gap import refuse_gap, refuse_holes
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.opening import left_of, open_entry
from engramlog_server.events.redis.scan import elements, pairs
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.cipher import BODY_MARK, NO_SALT, SALT_BYTES, ValueCipher
from engramlog_server.ops.sealing.seals_format import PartitionSeals, SealsHeader
from engramlog_server.ops.sealing.seals_merge import CopySeals, Merged, merged, readmitted_past, salt_in
from engramlog_server.projections.fold.changelog import FIRST_LINK, event_link, id_text

READ_COUNT = 500
Progress = Callable[[int], None]
"""Hears of how many entries were read, as they are."""


class SealsOpening(NamedTuple):
    """How a partition's entries open once the seals are back."""

    opens: int = 0
    erased: int = 0
    """Of owners who were erased after them."""
    wordless: int = 0
    """Of which what is left opens."""
    lies_open: int = 0
    not_openable: int = 0
    """Of which nobody has a salt, or a line of the owner: they are newer than the file."""
    locked: int = 0
    """Of owners whose line the master key does not open."""
    damaged: int = 0
    """That do not open by their own salt, though later ones do."""

    def __add__(self, other: tuple[int, ...]) -> SealsOpening:  # type: ignore[override]
        """Both together."""
        return SealsOpening(*(one + more for one, more in zip(self, other, strict=True)))


class Proved(NamedTuple):
    """A partition as it is to be."""

    seals: Merged
    salts: bytes
    """16 bytes a seq, from 0 to the log's head."""
    opening: SealsOpening
    wiped: frozenset[bytes]
    """Owners of whom words of single memories were erased."""


def prove(
    wire: Wire, header: SealsHeader, number: int, file: PartitionSeals, on_progress: Progress = lambda _read: None
) -> Proved:
    """Read the log of a partition, and open it. The wire's seals are on.

    Raises StoreMismatch where it is not the history that the file is of, LogGap, KeyUnavailable where the master key cannot be had
    now, StoreError.
    """
    keys = LogKeys(file.tag)
    refuse_gap(wire, file.tag)
    head = int(wire.call("HGET", keys.meta, "head") or 0)
    own = wire.call("GET", keys.salts) or b""
    copy = _copy(wire, keys)
    if (owner := readmitted_past(file, copy)) is not None:
        named = repr(owner.decode("utf-8", "replace"))
        raise _other_history(
            number, f"{named}, whom they tell as erased, was readmitted here after an erasure that they do not know"
        )
    seals = merged(file, copy, head)
    reading, after, chain = _Reading(wire, keys, number, seals, file.salts, (copy.lines, own)), 0, FIRST_LINK
    while after < head:
        batch = entries(wire.call("XRANGE", keys.stream, f"{after + 1}-0", f"{head}-0", "COUNT", READ_COUNT), file.tag)
        if not batch:
            break
        refuse_holes(batch, after, file.tag)
        reading.take(batch)
        for one in batch:
            chain = event_link(chain, one)
            if one.seq == file.folded and chain != file.chain:
                raise _other_history(
                    number, f"the chain at {number}:{one.seq} is another than when the seals were saved"
                )
            if one.seq == file.head and one.raw_id.hex() != header.events[number]:
                raise _other_history(
                    number, f"at {number}:{one.seq} stands another event than when the seals were saved"
                )
        after = batch[-1].seq
        on_progress(len(batch))
    found = reading.ended()
    return Proved(seals, bytes(reading.salts), found, frozenset(reading.wiped))


class _Reading:
    def __init__(
        self,
        wire: Wire,
        keys: LogKeys,
        number: int,
        seals: Merged,
        file: bytes,
        own: tuple[Mapping[bytes, bytes], bytes],
    ) -> None:
        self._wire, self._keys, self._number, self._seals, self._file = wire, keys, number, seals, file
        self._own_lines, self._own = own
        self.salts, self.wiped = bytearray(SALT_BYTES), set[bytes]()
        self._found = SealsOpening()
        self._failed = list[int]()
        self._opened_last = 0

    def take(self, batch: list[Stored]) -> None:
        """Entries that follow on those before."""
        ciphers = self._ciphers(batch)
        for one in batch:
            salt, counted = self._of(one, ciphers)
            self.salts += salt
            self._found += counted

    def ended(self) -> SealsOpening:
        """What was found of all. Raises StoreMismatch where the newest of them do not open, though they should."""
        strange = [seq for seq in self._failed if seq > self._opened_last]
        if strange:
            at = f"{self._number}:{strange[0]}"
            raise _other_history(
                self._number, f"from {at} on no entry opens by its salt, so what was said there is something else"
            )
        return self._found + SealsOpening(damaged=len(self._failed))

    def _ciphers(self, batch: list[Stored]) -> Mapping[str, ValueCipher | KeyUnavailable]:
        lines = dict[str, bytes]()
        for owner in {one.owner for one in batch}:
            if (line := self._seals.lines.get(owner.encode())) is not None:
                lines[owner] = line
        found = self._wire.seals.ciphers(lines)
        for one in found.values():
            if isinstance(one, KeyUnavailable) and one.passes and not isinstance(one, OwnerErased):
                raise one
        return found

    def _of(self, one: Stored, ciphers: Mapping[str, ValueCipher | KeyUnavailable]) -> tuple[bytes, SealsOpening]:
        """The salt of an entry, and how it opens."""
        owner = one.owner.encode()
        if one.body[:1] != BODY_MARK:
            return NO_SALT, SealsOpening(lies_open=1)
        if self._seals.is_shut(owner, one.seq):
            self._seals.wordless.pop(one.seq, None)
            return NO_SALT, SealsOpening(erased=1)
        cipher, left = ciphers.get(one.owner), self._seals.wordless.get(one.seq)
        if left is not None:
            self.wiped.add(owner)
            return NO_SALT, self._left(one, cipher, left)
        salts = [salt for salt in (salt_in(self._own, one.seq), salt_in(self._file, one.seq)) if salt != NO_SALT]
        if not salts or not isinstance(cipher, ValueCipher):
            self._refuse_loss(one)
            nothing = not salts or cipher is None
            return (salts or [NO_SALT])[0], SealsOpening(not_openable=1) if nothing else SealsOpening(locked=1)
        return self._tried(one, cipher, salts)

    def _tried(self, one: Stored, cipher: ValueCipher, salts: list[bytes]) -> tuple[bytes, SealsOpening]:
        """The salt by which an entry opens."""
        for salt in salts:
            try:
                open_entry(self._wire, self._keys, one, cipher, salt)
            except DamagedState:
                continue
            self._opened_last = one.seq
            return salt, SealsOpening(opens=1)
        self._refuse_loss(one)
        self._failed.append(one.seq)
        return salts[0], SealsOpening()

    def _left(self, one: Stored, cipher: ValueCipher | KeyUnavailable | None, left: bytes) -> SealsOpening:
        if not isinstance(cipher, ValueCipher):
            self._refuse_loss(one)
            return SealsOpening(locked=1)
        told = left_of(one, cipher, left)
        if told is None:
            self._refuse_loss(one)
            self._failed.append(one.seq)
            return SealsOpening()
        with suppress(UndecodableEvent):
            if decode(told.kind, told.body).event_id != id_text(one.raw_id):
                raise _other_history(
                    self._number,
                    f"what an erasure left at {self._number}:{one.seq} is of another event than the one that stands there",
                )
        self._opened_last = one.seq
        return SealsOpening(wordless=1)

    def _refuse_loss(self, one: Stored) -> None:
        """Raise StoreMismatch where an entry that nothing of these seals opens opens by what the copy has itself: that would be
        written over, and no erasure asks for it."""
        line, salt = self._own_lines.get(one.owner.encode()), salt_in(self._own, one.seq)
        if line is None or salt == NO_SALT:
            return
        cipher = self._wire.seals.ciphers({one.owner: line})[one.owner]
        if not isinstance(cipher, ValueCipher):
            return
        with suppress(DamagedState):
            open_entry(self._wire, self._keys, one, cipher, salt)
            raise _other_history(
                self._number,
                f"the entry at {self._number}:{one.seq} opens by the seals that lie here, and would not by these",
            )


def _copy(wire: Wire, keys: LogKeys) -> CopySeals:
    wordless = {int(seq): left for seq, left in pairs(wire, keys.wordless) if seq.isdigit()}
    lines, readmitted = dict(pairs(wire, keys.secrets)), dict(pairs(wire, keys.readmitted))
    return CopySeals(lines, readmitted, wordless, frozenset(elements(wire, keys.gone)))


def _other_history(number: int, what: str) -> StoreMismatch:
    return StoreMismatch(
        f"these seals are of another history of this store than what lies here: {what}. Nothing was changed: take the copy, or the"
        " file, that belong together",
        partition=number,
    )
