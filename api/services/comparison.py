"""What changed between two moments of an owner on either time line: which memories, by whom and why. Writes nothing.

The causes are the events that only one side has: which memories they touched.

Comparing the laws on one history, and two memories under a question's ranking. Writes nothing and leaves no trace.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Unpack, cast

import numpy as np

from engramlog_server.api.checks import (
    KNOWN,
    PRESENT,
    LineTerms,
    Progress,
    TimesAsked,
    TwoMoments,
    check_limit,
    check_mode,
    check_query,
    lines_answer,
    masked,
    moments_of,
    other_line,
    parse_as_of,
    parse_instant,
    times_answer,
)
from engramlog_server.api.choices import MOST_QUESTIONS, UNKNOWN
from engramlog_server.api.pictures.text import cut
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.replaying import Questions
from engramlog_server.api.snapshots import Snapshot
from engramlog_server.api.work import both, current_check, weigh
from engramlog_server.events.catalogue import MemoriesAccessed
from engramlog_server.events.envelope import Stored, decode, micros
from engramlog_server.events.errors import DeadlineExceeded, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import position_text
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.fold.changelog import DECISIONS, Entry, describe, id_text
from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.past.life import life_of
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.reports.comparison import (
    ACCESS,
    EVENTS,
    OTHERS,
    Beside,
    Changed,
    Side,
    Sorted,
    Sorting,
    Touches,
    compare_laws,
    curves,
    moved,
    owner_differs,
    sorted_out,
    text_of,
)
from engramlog_server.projections.shapes import (
    ByWhom,
    Change,
    Compared,
    Curves,
    Diff,
    DiffCounts,
    EventCause,
    MemoryDiffers,
    QuestionMoved,
    RankOf,
    SideTold,
)
from engramlog_server.projections.views.event_words import telling
from engramlog_server.projections.views.query import card, corrections_in, moment

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


def causes_answer(reader: Reader, owner: str, found: Sequence[CauseFound]) -> list[EventCause]:
    """Causes as answers tell them; asked when nothing is held any more, for words are told by the memories of today."""
    partition = reader.partition_of(owner)
    changes = [_change(one, partition) for one in found]
    reader.add_log_facts(owner, changes, None)
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


MOST_MEMORIES = 1_000
MOST_OTHERS = 3
"""Other memories of which the events are told as causes of one."""
_MEMORIES_A_STEP = 20
"""Memories that are compared in about the time in which one event is folded."""
HINT = "memories that were made, gone or changed: {there} on the line {other} (--line {other}, line={other}), {here} on this one"


class _Held(NamedTuple):
    """Two snapshots beside each other while they are held, and what was found out of them."""

    first: Snapshot
    second: Snapshot
    sides: Beside
    sorting: Sorting
    causes: Causes
    questions: list[QuestionMoved]
    mode: Mode


class _Told(NamedTuple):
    """A memory of the page, of which the causes are still to be told in words."""

    memory: MemoryDiffers
    found: list[CauseFound]


class Differ:
    """Two moments of one store's owners beside each other. Safe for threads."""

    def __init__(self, log: EventLog, reader: Reader, views: RedisViews) -> None:
        self._log, self._reader, self._views = log, reader, views

    def diff(
        self,
        owner: str,
        *,
        since: str,
        until: str | None = None,
        line: str = KNOWN,
        as_of: str | None = None,
        known: str | None = None,
        queries: Sequence[str] = (),
        mode: str = "normal",
        results: int = 10,
        everything: bool = False,
        limit: int = 50,
        offset: int = 0,
        on_progress: Progress | None = None,  # noqa: ARG002 - both sides are folded from the nearest kept moment
    ) -> Diff:
        """What changed from one moment to another, a page of it, with the events that are the causes.

        `line`: `known`, what was recorded by either, as answers were given then; or `happened`, what had happened by either, as
        known now. `as_of` on the first and `known` on the other hold the line that does not move. `queries`: at most 20, whose
        first `results` are ranked on both sides, as `search` ranks them. `everything`: also what moved in its weight alone.
        Raises InputError, which names the moment, for one that cannot be asked about, and where `since` is after `until`.
        """
        checked, wanted = check_mode(mode), check_limit(limit, MOST_MEMORIES)
        ranks = check_limit(results, field="results")
        _check_queries(queries)
        span = moments_of(line, since, until, as_of, known, self._log.now)
        asked = Questions(self._reader, owner, queries)
        with self._reader.beside(owner, span.first, span.second) as (first, second):
            zone = second.present.parameters.time_zone
            span.check_order(owner, self._log.partitions, zone, self._log.now())
            held = self._held(owner, first, second, checked, asked, ranks)
            self._check_mixed(span, held, owner)
            touches = held.causes.touches_found
            check = current_check()
            found = sorted_out(held.sides, held.sorting, touches, every=everything, check=check)
            page = self._page(held, found.page(max(offset, 0), wanted))
            owner_found = held.causes.of([""])[""]
            differ = _by_events(found)
            by_principal = held.causes.by_principal(differ)
            changes = owner_differs(Side(first.view, first.now), Side(second.view, second.now))
            more = held.causes.owner_events - len(owner_found)
        told = self._in_words(owner, page)
        there = None if as_of or known else self._on_other_line(owner, line, since, until, checked)
        answer: Diff = {
            "owner": owner,
            "line": line,
            "mode": checked,
            "before": _side_answer(since, first, held.causes.counts[BEFORE]),
            "after": _side_answer(until, second, held.causes.counts[AFTER]),
            "counts": _counts(found),
            "memories": told,
            "total": found.total(),
            "offset": max(offset, 0),
            "owner_changes": {
                **changes,
                "causes": causes_answer(self._reader, owner, owner_found),
                "more_causes": more,
            },
            "by_principal": by_principal,
            "questions": [{**one, "query": masked(one["query"])} for one in held.questions],
            "on_other_line": None if there is None else len(there),
            "hint": self._hint(owner, line, differ, there, second),
            **lines_answer({"as_of": as_of, "known": known}),
            **second.place,
        }
        return answer

    def _held(self, owner: str, first: Snapshot, second: Snapshot, mode: Mode, asked: Questions, results: int) -> _Held:
        before, after = Side(first.view, first.now), Side(second.view, second.now)
        weigh((len(first.view) + len(second.view)) // _MEMORIES_A_STEP)
        causes = Causes(self._reader, self._views, owner, first, second)
        questions = list(moved(before, after, asked.texts, mode, results, current_check(), rank=asked.rank))
        other_ranks = {rank["id"] for one in questions for rank in one["moved"]}
        sorting = Sorting(before, after, mode, causes.touches_found, other_ranks)
        return _Held(first, second, Beside(before, after, mode), sorting, causes, questions, mode)

    def _check_mixed(self, span: TwoMoments, held: _Held, owner: str) -> None:
        """Of a position and a time no words tell which is later: on the line of what was known, what each knew does."""
        if span.until is None:
            return
        begins, ends = (parse_as_of(one, owner, self._log.partitions) for one in (span.since, span.until))
        if (begins.seq is None) == (ends.seq is None) or PRESENT in (begins, ends):
            return
        alone = held.causes.alone
        later = len(alone[BEFORE]) and not len(alone[AFTER])
        if later or (span.line != KNOWN and held.first.now > held.second.now):
            raise span.reversed()

    def _page(self, held: _Held, ids: Sequence[str]) -> list[_Told]:
        """The memories of a page, with the events that are their causes."""
        changed = [held.sorting.of(held.sides.of(one) or held.sides.standing(one)) for one in ids]
        others = {one.difference.id: _others(held, one) for one in changed if one.cause == OTHERS}
        about = {one.difference.id for one in changed if one.cause == EVENTS}
        about |= {other for named in others.values() for other in named}
        events = held.causes.of(about)
        shown = held.causes.shown([one.difference.id for one in changed if one.cause == ACCESS])
        ranks = _ranks(held.questions)
        told: list[_Told] = []
        for one in changed:
            name = one.difference.id
            found, total = events.get(name, []), held.causes.events[name]
            if one.cause == EVENTS and not found:
                found = held.causes.naming(name)
                total = len(found)
            elif one.cause == ACCESS:
                found, total = shown[name], held.causes.accessed.times[name]
            elif one.cause == OTHERS:
                found = [each for other in others[name] for each in events[other]]
                total = sum(held.causes.events[other] for other in others[name])
            told.append(_Told(_told(held, one, ranks.get(name, []), total - len(found)), found))
        return told

    def _in_words(self, owner: str, page: Sequence[_Told]) -> list[MemoryDiffers]:
        """The page with its causes in words: told when nothing is held any more."""
        causes = iter(causes_answer(self._reader, owner, [one for told in page for one in told.found]))
        for told in page:
            told.memory["causes"] = [next(causes) for _ in told.found]
        return [told.memory for told in page]

    def _on_other_line(self, owner: str, line: str, since: str, until: str | None, mode: Mode) -> set[str] | None:
        """Memories that changed on the other time line between the same moments; None for positions, or if it takes too long."""
        moments = (parse_as_of(one, owner, self._log.partitions) for one in (since, until) if one is not None)
        if any(one.seq is not None for one in moments):
            return None
        span = moments_of(other_line(line), since, until, None, None, self._log.now)
        try:
            with self._reader.beside(owner, span.first, span.second) as (first, second):
                held = self._held(owner, first, second, mode, Questions(self._reader, owner, ()), 1)
                touches, check = held.causes.touches_found, current_check()
                return _by_events(sorted_out(held.sides, held.sorting, touches, every=False, check=check))
        except DeadlineExceeded:
            return None

    def _hint(self, owner: str, line: str, here: set[str], there: set[str] | None, then: Snapshot) -> str | None:
        """That nothing is known of the owner, or how much differs on each line, where that is not the same."""
        if not len(self._reader.seqs(owner, then._replace(view=then.present, past=None))):
            return UNKNOWN.format(owner=owner)
        if there is None or there == here:
            return None
        return HINT.format(there=f"{len(there):,}", other=other_line(line), here=f"{len(here):,}")


def _check_queries(queries: Sequence[str]) -> None:
    if len(queries) > MOST_QUESTIONS:
        raise refused("queries", f"{len(queries)} questions", f"at most {MOST_QUESTIONS}")
    for one in queries:
        check_query(one, "queries")


def _side_answer(asked: str | None, snapshot: Snapshot, events: int) -> SideTold:
    return {"asked": asked, "instant": moment(snapshot.now), "position": snapshot.position, "events": events}


def _by_events(found: Sorted) -> set[str]:
    """The memories that events made, ended or changed."""
    return {one for kind in ("made", "gone", "changed") for one in found.ids[kind]}


def _counts(found: Sorted) -> DiffCounts:
    kinds = {kind: len(found.ids[kind]) for kind in ("made", "gone", "changed", "crossed")}
    weights = {f"by_{name}": found.weights[name] for name in ("time", "access", "owner", "others")}
    return kinds | weights  # type: ignore[return-value]


def _ranks(questions: Sequence[QuestionMoved]) -> dict[str, list[RankOf]]:
    """Memory -> where it moved among the results of which question."""
    found: dict[str, list[RankOf]] = {}
    for number, one in enumerate(questions):
        for rank in one["moved"]:
            told: RankOf = {"question": number, "before": rank["before"], "after": rank["after"]}
            found.setdefault(rank["id"], []).append(told)
    return found


def _others(held: _Held, changed: Changed) -> list[str]:
    """The memories that a memory is corrected by, or no longer is: what happened to them is the cause."""
    found = dict[str, None]()
    for view in (held.second.view, held.first.view):
        if view.get(changed.difference.id) is not None:
            for one in corrections_in(view, changed.difference.id):
                found |= dict.fromkeys([one.old.id] if one.now is None else [one.old.id, one.now.id])
    return [one for one in found if held.causes.events[one]][:MOST_OTHERS]


def _told(held: _Held, changed: Changed, ranks: list[RankOf], more: int) -> MemoryDiffers:
    """A memory of the page but for its causes."""
    found = changed.difference
    one, other = held.first.view.get(found.id), held.second.view.get(found.id)
    text, was = text_of(other or one), text_of(one)
    if held.mode != "debug" and all(side is None or side.deleted_at is not None for side in (one, other)):
        text = was = None
    lost = held.second if other is not None else held.first
    return {
        **found.told(),
        "kind": changed.kind,
        "memory": text,
        "was": was if one is not None and other is not None and was != text else None,
        "deleted_since": lost.has_lost(found.id),
        "cause": changed.cause,
        "causes": [],
        "more_causes": more,
        "ranks": ranks,
    }


MOST_POINTS = 2_000
TITLE_EMS = 42.0
"""How much of a memory's text stands in the title of its curves: some sixty letters, or forty Chinese characters."""


class Comparer:
    """Reads an owner's history under every law."""

    def __init__(self, reader: Reader, views: RedisViews) -> None:
        self._reader = reader
        self._views = views

    def compare(self, owner: str, *, limit: int = 20, offset: int = 0, **times: Unpack[TimesAsked]) -> Compared:
        """Every law's weights of the owner's memories, what each shows in normal mode, and where they disagree most."""
        wanted = check_limit(limit, MOST_MEMORIES)
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = compare_laws(snapshot.view, snapshot.now, wanted, max(offset, 0), current_check())
            told = {"owner": owner, "instant": moment(snapshot.now)} | times_answer(times)
            return cast("Compared", answer | told | snapshot.place)

    def curves(
        self,
        owner: str,
        memory_id: str,
        *,
        since: str | None = None,
        until: str | None = None,
        points: int = 200,
        **times: Unpack[LineTerms],
    ) -> Curves:
        """One memory's weights under every law over time, each on the record as it was then, with what touched it.

        From its creation until now, or until the past that is asked about, unless told.
        Raises NotFound where the owner has no such memory, and InputError for a
        window that ends before it begins.
        """
        if not 2 <= points <= MOST_POINTS:
            raise refused("points", points, f"a whole number from 2 to {MOST_POINTS}")
        start = None if since is None else parse_instant(since, "since")
        end = None if until is None else parse_instant(until, "until")
        with self._reader.snapshot(owner, **times) as snapshot:
            memory = self._reader.memory(snapshot, owner, memory_id)
            text = card(memory, "full")["memory"]
            seqs, now = self._reader.seqs(owner, snapshot), snapshot.now
            partition, place = snapshot.partition, {"position": snapshot.position} | snapshot.told
        check = current_check()
        life = life_of(self._reader.stored(owner, seqs, both(check, times.get("on_progress"))), memory_id, check=check)
        if start is None:
            start = next((one.at for one in life if one.after.memory is not None), memory.created_at)
        if end is None:
            end = max(now, start)
        if end < start:
            raise refused("until", moment(end), f"an instant not before {moment(start)}, where the curves begin")
        title = f"{memory_id}: {cut(text, TITLE_EMS, 1.0)}" if text else memory_id
        told = {"owner": owner, "id": memory_id, "title": title, "window": {"from": moment(start), "to": moment(end)}}
        return cast("Curves", told | curves(life, start, end, points, partition, check) | lines_answer(times) | place)
