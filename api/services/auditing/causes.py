"""The events that are part of one of two sides alone: which memories they touched, and how each is told as a cause."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from api.requests.snapshots import Snapshot
from api.services.reading import Reader
from api.shapes import ByWhom, Change, EventCause
from api.work.patience import current_check, weigh
from events.catalogue import MemoriesAccessed
from events.envelope import Stored, decode, micros
from events.partitions import position_text
from events.text.unreadable import UNREADABLE
from projections.fold.changelog import DECISIONS, Entry, describe, id_text
from projections.redis.view import RedisViews
from projections.reports.changed import Touches
from projections.views.query import moment
from projections.views.telling import telling

MOST_CAUSES = 5
"""Events that are told of one memory, or of the owner: the newest."""
MOST_PRINCIPALS = 100
AFTER, BEFORE = SIDES = ("after", "before")
_IGNORED, _NAMED = DECISIONS.index("ignored"), DECISIONS.index("named")
_ENDING = (DECISIONS.index("delete"), DECISIONS.index("purge"), DECISIONS.index("erase"))
_LOOKING = "inspection"
"""Somebody only looked: no law hears of it."""


class CauseFound(NamedTuple):
    """One event that is told as a cause: of the change log, or one that the change log does not tell of."""

    side: str
    entry: Entry | None
    shown: Stored | None = None
    memory: str = ""


class Accessed:
    """Which memories were shown by events of one side alone, how often, and by which events last."""

    def __init__(self) -> None:
        self.times = Counter[str]()
        self.newest: dict[str, list[tuple[str, int]]] = {}

    def add(self, memory_id: str, side: str, seq: int) -> None:
        """Events come the oldest first."""
        self.times[memory_id] += 1
        last = self.newest.setdefault(memory_id, [])
        last.append((side, seq))
        del last[:-MOST_CAUSES]


class Causes:
    """Finds what happened between two snapshots of one owner; asked while both are held."""

    def __init__(self, reader: Reader, views: RedisViews, owner: str, first: Snapshot, second: Snapshot) -> None:
        self._reader, self._views, self._owner = reader, views, owner
        self._snapshots = {BEFORE: first, AFTER: second}
        seqs = {side: _array(reader.seqs(owner, one)) for side, one in self._snapshots.items()}
        self.counts = {side: len(found) for side, found in seqs.items()}
        self._seqs = seqs
        self.alone = {
            AFTER: np.setdiff1d(seqs[AFTER], seqs[BEFORE], assume_unique=True),
            BEFORE: np.setdiff1d(seqs[BEFORE], seqs[AFTER], assume_unique=True),
        }
        """Ascending seqs of what is part of one side and not of the other."""
        weigh(sum(map(len, self.alone.values())))
        self._told = set[int]()
        self._of, self._about = array("q"), list[str]()
        self.events, self.owner_events = Counter[str](), 0

    @cached_property
    def touches_found(self) -> Touches:
        """Everything that these events were about; reads their part of the change log once, and keeps none of it."""
        naming, ended = set[str](), set[str]()
        for side in SIDES:
            for entry in self._entries(side, None):
                self._told.add(entry.seq)
                if entry.decision in (_IGNORED, _NAMED):
                    if entry.decision == _NAMED:
                        naming.add(entry.memory_id)
                    continue
                self._of.append(entry.seq)
                self._about.append(entry.memory_id)
                if not entry.memory_id:
                    self.owner_events += 1
                    continue
                self.events[entry.memory_id] += 1
                if entry.decision in _ENDING and side == AFTER:
                    ended.add(entry.memory_id)
        some = any(map(len, self.alone.values()))
        return Touches(self.events, naming, self._shown_ids, ended, of_owner=self.owner_events > 0, any=some)

    def _shown_ids(self) -> Collection[str]:
        return self.accessed.times.keys()

    @cached_property
    def accessed(self) -> Accessed:
        """Of the events of which no change log tells, what they showed; read where a record differs and nothing else says why."""
        found = Accessed()
        for side in SIDES:
            silent = [seq for seq in self.alone[side].tolist() if seq not in self._told]
            weigh(len(silent))
            check = current_check()
            for number, stored in enumerate(self._reader.stored(self._owner, silent)):
                if not number % 256:
                    check(number, len(silent))
                for memory_id in _shown(stored):
                    found.add(memory_id, side, stored.seq)
        return found

    def of(self, ids: Collection[str]) -> dict[str, list[CauseFound]]:
        """The newest causes of each of these memories, the newest first; of the owner under no name."""
        wanted = {one: min(self.events[one] if one else self.owner_events, MOST_CAUSES) for one in ids}
        found: dict[str, list[CauseFound]] = {one: [] for one in ids}
        left = sum(wanted.values())
        for side in SIDES:
            if not left:
                break
            for entry in self._entries(side, [one for one, many in wanted.items() if many]):
                told = found[entry.memory_id]
                if entry.decision in (_IGNORED, _NAMED) or len(told) == wanted[entry.memory_id]:
                    continue
                told.append(CauseFound(side, entry))
                left -= 1
                if not left:
                    break
        return found

    def naming(self, memory_id: str) -> list[CauseFound]:
        """Of a memory that no event was about, those that named it."""
        found = [CauseFound(side, one) for side in SIDES for one in self._entries(side, [memory_id])]
        return [one for one in found if one.entry is not None and one.entry.decision == _NAMED][:MOST_CAUSES]

    def shown(self, ids: Iterable[str]) -> dict[str, list[CauseFound]]:
        """Of memories that were only shown: by which events last."""
        last = {one: self.accessed.newest.get(one, [])[::-1] for one in ids}
        seqs = sorted({seq for told in last.values() for _, seq in told})
        stored = {one.seq: one for one in self._reader.stored(self._owner, seqs)}
        return {name: [CauseFound(side, None, stored[seq], name) for side, seq in told] for name, told in last.items()}

    def by_principal(self, ids: Collection[str]) -> list[ByWhom]:
        """Who brought the events about these memories and about the owner."""
        seqs = sorted({seq for seq, one in zip(self._of, self._about, strict=True) if not one or one in ids})
        counts = Counter[tuple[str | None, str | None]]()
        check = current_check()
        for number, stored in enumerate(self._reader.stored(self._owner, seqs)):
            if not number % 256:
                check(number, len(seqs))
            told = telling(stored)
            counts[told.principal, told.actor] += 1
        order = sorted(counts.items(), key=lambda one: (-one[1], one[0][0] or "", one[0][1] or ""))
        return [
            {"principal": principal, "actor": actor, "events": many}
            for (principal, actor), many in order[:MOST_PRINCIPALS]
        ]

    def _entries(self, side: str, of: Sequence[str] | None) -> Iterator[Entry]:
        """Entries of what is part of this side alone, the newest first."""
        alone, snapshot = self.alone[side], self._snapshots[side]
        if not len(alone):
            return
        least, wanted = int(alone[0]), frozenset(alone.tolist())
        for entry in self._newest(side, snapshot, of):
            if entry.seq < least:
                return
            if entry.seq in wanted and (of is None or entry.memory_id in of):
                yield entry

    def _newest(self, side: str, snapshot: Snapshot, of: Sequence[str] | None) -> Iterator[Entry]:
        """A side's change log from its end. Where its events are the owner's first ones, the stored log is it."""
        if snapshot.past is not None and not self._is_first(side):
            yield from reversed(snapshot.past.entries)
            return
        found = self._views.changelogs.entries(self._owner, of, newest=True, check=current_check())
        yield from (entry for _, entry in found)

    def _is_first(self, side: str) -> bool:
        every = self._every
        mine = self._seqs[side]
        return len(mine) <= len(every) and bool(np.array_equal(mine, every[: len(mine)]))

    @cached_property
    def _every(self) -> np.ndarray:
        return _array(self._views.changelogs.seqs(self._owner, current_check()))


def causes_told(reader: Reader, owner: str, found: Sequence[CauseFound]) -> list[EventCause]:
    """Causes as answers tell them; asked when nothing is held any more, for words are told by the memories of today."""
    partition = reader.partition_of(owner)
    changes = [_change(one, partition) for one in found]
    reader.tell_beside(owner, changes, None)
    return [_cause(one.side, change) for one, change in zip(found, changes, strict=True)]


def _change(found: CauseFound, partition: int) -> Change:
    if found.entry is not None:
        return describe(found.entry, partition)
    assert found.shown is not None
    event = decode(found.shown.kind, found.shown.body)
    assert isinstance(event.data, MemoriesAccessed)
    told = {
        "position": position_text(partition, found.shown.seq),
        "event_id": id_text(found.shown.raw_id),
        "time": moment(micros(event.occurred_at)),
        "event": event.type,
        "memory": found.memory,
        "decision": "access",
        "reason": f"shown via {event.data.via}",
    }
    return cast("Change", told)


def _cause(side: str, change: Change) -> EventCause:
    names = ("position", "event_id", "event", "memory", "time", "recorded_at", "late_by", "decision", "reason", "actor")
    more = ("principal", "correlation_id", "said_reason", "because")
    told = {name: change.get(name) for name in (*names, *more)}
    return cast("EventCause", {**told, "side": side})


def _shown(stored: Stored) -> Iterable[str]:
    """Memories that an event showed, to somebody of whom laws hear; each once."""
    if stored.kind.partition(".")[0] != MemoriesAccessed.__name__:  # the rest is its version
        return ()
    try:
        data = decode(stored.kind, stored.body).data
    except UNREADABLE:
        return ()
    if not isinstance(data, MemoriesAccessed) or data.via == _LOOKING:
        return ()
    named = [hit.memory_id for hit in data.hits] + [one for access in data.accesses for one in access.shown]
    return dict.fromkeys(named)


def _array(seqs: Sequence[int]) -> np.ndarray:
    return np.array(seqs, dtype=np.int64)
