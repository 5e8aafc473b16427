"""What questions left of an owner's past (index of the change log, times, kept moments) against its change log and its events.

Events are read from the log and folded again, as each moment says. Records of one owner are in memory, and one part at a time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from engramlog_server.consumers.verify.encryption import Opening
from engramlog_server.consumers.verify.findings import LIES_OPEN, Findings, shown
from engramlog_server.consumers.verify.oracle import ExpectedKeys
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, LogGap
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.fold.changelog import unpack
from engramlog_server.projections.fold.owner import OwnerState, encode_owner, fold_on
from engramlog_server.projections.fold.partition import WorkingOwner
from engramlog_server.projections.past.events import OwnerEvents, blocks_of, events_of
from engramlog_server.projections.past.folding import to_fold
from engramlog_server.projections.past.moments import (
    KeptMoment,
    KeptPart,
    MomentsHead,
    NotKept,
    Start,
    is_alone,
    made_part,
    read_part,
    started,
)
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.history import (
    ENTRIES,
    EVENTS,
    EntryHead,
    blocks,
    read_entry_head,
    read_head_of_events,
    read_moments_head,
    read_parts,
    read_stored_events,
    sum_of,
)
from engramlog_server.projections.redis.store import MOMENTS, read_entries, read_owner, slices

Pairs = set[tuple[int, int]]
"""Sums of memory ids with names of packs."""


class StoredIndex(NamedTuple):
    """An owner's index."""

    head: EntryHead
    pairs: Pairs


def read_index(wire: Wire, keys: BuildKeys, owner: str, verdict: Findings) -> StoredIndex | None:
    """The index as it is stored; None if it cannot be read, which is reported."""
    fields = {shown(name) for name in wire.call("HKEYS", keys.index(owner))}
    try:
        head = read_entry_head(wire, keys, owner)
        pairs = {pair for block in blocks(wire, keys, owner, head) for pair in block.pairs()}
        events = read_head_of_events(wire, keys, owner).events
    except DamagedState as error:
        verdict.differs("an index of a change log that cannot be read", owner=owner, problem=error.message)
        return None
    known = {ENTRIES, *(f"{ENTRIES}:{number + 1}" for number in range(head.blocks))} if head.blocks else set[str]()
    known |= {EVENTS, *(f"{EVENTS}:{number}" for number in range(blocks_of(events)))} if events else set()
    if unknown := sorted(fields - known):
        cure = "engramlog rebuild"
        verdict.differs("unexpected fields of an index", owner=owner, fields=unknown[:20], cure=cure)
    return StoredIndex(head, pairs)


def compare_index(owner: str, stored: StoredIndex, packs: Sequence[tuple[bytes, bytes]], verdict: Findings) -> None:
    """Report if the index does not match its change log. `packs`: read after the index, and readable."""
    if not stored.head.blocks:
        return
    told = {int(name): {sum_of(entry.memory_id) for entry in unpack(raw)[1]} for name, raw in packs}
    names = sorted(told)
    noted = {(one, names[at]) for one, name in stored.pairs if (at := bisect_left(names, name)) < len(names)}
    last = bisect_left(names, stored.head.last)
    # The last pack may have grown since.
    whole = {(one, name) for name in names[:last] for one in told[name]}
    there = whole | {(one, name) for name in names[last : last + 1] for one in told[name]}
    if not whole <= noted <= there or last == len(names):
        verdict.differs("an index that does not tell what its change log holds", owner=owner)


READ = 500


class PastComparison:
    """Compares what questions left of one owner's past. The owner was folded up to where it was read, or further."""

    def __init__(
        self,
        wire: Wire,
        keys: BuildKeys,
        owner: str,
        mine: WorkingOwner,
        kept: ExpectedKeys,
        verdict: Findings,
        opening: Opening,
    ) -> None:
        self._opening = opening
        self._wire, self._keys, self._owner, self._mine, self._verdict = wire, keys, owner, mine, verdict
        self._applied = list(kept.applied)
        self._now = 0
        """How many events are applied by now: readers may have made something of those that came meanwhile."""

    def compare(self) -> None:
        """Events first: moments say by their numbers which of them they have."""
        wire, keys, owner = self._wire, self._keys, self._owner
        before = wire.call("HGET", keys.moments(owner), MOMENTS)
        try:
            head = read_moments_head(wire, keys, owner)
            events_head = read_head_of_events(wire, keys, owner)
            stored = read_stored_events(wire, keys, owner, events_head)
            raw = wire.call("HGET", keys.owners, owner)
            now = read_owner(keys, owner, raw) if raw else self._mine.state
        except DamagedState as error:
            self._verdict.differs("what was made of a past that cannot be read", owner=owner, problem=error.message)
            return
        self._now = now.applied
        if not events_head.events and head is None:
            return
        if head is not None and head.since > now.seq:
            self._verdict.differs("kept moments of more events than there are", owner=owner)
        try:
            true = events_of(self._read(self._applied), self._held)
        except ValueError:
            self._verdict.differs("an entry whose recorded time is no number", owner=self._owner)
            return
        self._compare_events(stored, true)
        if head is not None and head.since <= self._mine.state.seq:  # else perhaps a purge came that is not folded here
            found = list(self._differences(head, true))
            if wire.call("HGET", keys.moments(owner), MOMENTS) == before:  # else they were made or taken away meanwhile
                for what in found:
                    self._verdict.differs(what, owner=owner)

    def _compare_events(self, stored: OwnerEvents, true: OwnerEvents) -> None:
        many = min(len(stored), len(true))
        same = len(stored) <= self._now and all(
            (getattr(stored, name)[:many] == getattr(true, name)[:many]).all()
            for name in ("seqs", "happened", "recorded", "marks")
        )
        if not same:
            self._verdict.differs("an index of events that does not match the log", owner=self._owner)

    def _differences(self, head: MomentsHead, events: OwnerEvents) -> Iterator[str]:
        fields = set(self._wire.call("HKEYS", self._keys.moments(self._owner)))
        if fields != {MOMENTS.encode(), *(b"%d" % one.number for one in head.kept)}:
            yield "kept moments that no head tells of, or that are gone"
            return
        told, numbers = set[int](), [one.number for one in head.kept]
        if numbers != sorted(set(numbers)) or head.made < max(numbers, default=0):
            yield "kept moments that do not follow on each other"
        followed = {one.before for one in head.kept}
        try:
            for last in (one for one in head.kept if one.number not in followed):
                path = head.path(last.number)
                if path[-1].upto > self._now:
                    yield "kept moments of more events than there are"
                if path := [one for one in path if one.upto <= len(events)]:
                    yield from self._along(path, events, told)
        except (*UNREADABLE, ValueError, DamagedState) as error:
            yield f"kept moments that cannot be read: {error}"

    def _along(self, path: Sequence[KeptMoment], events: OwnerEvents, told: set[int]) -> Iterator[str]:
        """Fold once along a path; each moment is compared at its place; moments of earlier paths are skipped."""
        last = path[-1]
        fits = all(
            one.first == last.first and events.parting(one.happened, last.happened, one.upto, one.first) == one.upto
            for one in path
        )
        if not fits or any(one.upto >= two.upto for one, two in pairwise(path)):
            yield "kept moments that are not beginnings of each other"
            return
        try:
            yield from self._folded(path, events, told, self._start(path, told))
        except NotKept:  # what follows is about what is purged today
            yield from self._folded(path, events, told, started(None, ()))

    def _start(self, path: Sequence[KeptMoment], told: set[int]) -> Start:
        """Behind what another path was compared by: paths have long beginnings in common."""
        known = [one for one in path if one.number in told]
        raw = read_parts(self._wire, self._keys, self._owner, [one.number for one in known])
        return started(known[-1] if known else None, map(read_part, raw))

    def _folded(self, path: Sequence[KeptMoment], events: OwnerEvents, told: set[int], start: Start) -> Iterator[str]:
        last, state, memories, alone = path[-1], start.owner, start.memories, start.alone
        counting, at = to_fold(start, events, last.happened, last.upto, last.first), 0
        dropping = set(events.seqs[counting[events.dropping[counting]]].tolist())
        changed = dict[str, None]()
        purged = {one.id for one in self._mine.memories.values() if one.purged_at is not None}
        steps = fold_on(
            state,
            memories,
            self._read(events.seqs[counting].tolist()),
            lambda one, _event: one.seq in dropping,
            secret=self._mine.secret,
        )
        for moment in path:
            if moment.upto <= start.upto:
                continue
            while at < len(counting) and counting[at] < moment.upto:
                _, step = next(steps)
                state, at = step.owner, at + 1
                changed.update(dict.fromkeys(step.changed))
                alone = alone and is_alone(state)
            if moment.number not in told:
                told.add(moment.number)
                (raw,) = read_parts(self._wire, self._keys, self._owner, [moment.number])
                part = read_part(raw)
                if raw and self._opening.is_on and raw == self._stored(moment.number):
                    yield f"a kept moment that {LIES_OPEN}"
                if part != made_part(state, memories, changed, purged, alone) or len(raw or b"") != moment.size:
                    yield f"a kept moment that is not what the log folds into: {_told(part, state)}"
            changed = {}

    def _stored(self, number: int) -> bytes | None:
        """A moment's part as it is stored."""
        stored: bytes | None = self._wire.call("HGET", self._keys.moments(self._owner), number)
        return stored

    def _read(self, seqs: Sequence[int]) -> Iterator[Stored]:
        for some in slices(seqs, READ):
            yield from self._opening.read(self._keys, some)

    def _held(self, position: str) -> bool:
        partition, seq = parse_position(position)
        try:
            return partition == self._verdict.partition and (
                read_entries(self._wire, self._keys, [seq], sealed=True)[0].owner == self._owner
            )
        except LogGap:
            return False


def _told(part: KeptPart, state: OwnerState) -> str:
    """Which part of it differs."""
    return "its records" if part.owner == encode_owner(state) else "its owner's state"
