"""One owner in figures: what its memories are, how their weights are spread, what happened to them, and what was shown of them.

What happened is counted in the change log as it streams by, and what was shown in the log's own events: no more than a piece of
either is held, and a deadline is asked between pieces. Of a past time exactly what counted then is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Unpack, cast

import numpy as np

from engramlog_server.api.requests.checks import TimesAsked, check_owner, told_times
from engramlog_server.api.requests.snapshots import Snapshot
from engramlog_server.api.services.answers import REPORTS, without_text
from engramlog_server.api.services.histories import SCANNED
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.work.patience import current_check, weigh
from engramlog_server.events.catalogue import MemoriesAccessed, MemoryReinforced, ReviewSettled
from engramlog_server.events.envelope import Stored, decode
from engramlog_server.events.errors import DamagedState, LogGap
from engramlog_server.events.text import NONE, UNREADABLE
from engramlog_server.projections.checks import Check
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.fold.trust import raw_id
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.memory.columns import STATES, Columns
from engramlog_server.projections.memory.record import CATEGORIES, LEVELS, SECRET
from engramlog_server.projections.memory.working_memory import Said, read_said
from engramlog_server.projections.redis.said import PIECE
from engramlog_server.projections.redis.store import slices
from engramlog_server.projections.redis.vectors import Meanings
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.reports.statistics import (
    ACTIVATIONS,
    COMPRESSIONS,
    CONFLICTS,
    FAILURES,
    FREQUENT,
    MERGES,
    NEGATIONS,
    SUCCESSES,
    TAKEN_BACK,
    UNMERGES,
    Passed,
    Tally,
)
from engramlog_server.projections.shapes import HistoryFigures, OwnerStats, ShownFigures, WeekFigures, WeightFigures
from engramlog_server.projections.views.answered import Report, WeekOfAnswers, turns_answered, weeks_of_answers
from engramlog_server.projections.views.query import seen_at

BUCKETS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0)
"""Upper bounds of the weights' buckets, each itself inside; what is heavier has a bucket of its own."""
MOST_SUMMED_OWNERS, MOST_SUMMED_EVENTS = 1_000, 200_000
"""Owners, and folded events of theirs, whose figures are summed for a whole store: about a second of CPU for each."""
READ_AT_ONCE = 4
"""Events that are read and passed over in about the time in which one is folded."""
_ACCESSED = MemoriesAccessed.__name__


class _Piece(NamedTuple):
    """Some of an owner's events that count: seqs of those that changed no memory, and the entries of the others."""

    silent: Sequence[int]
    entries: Sequence[Entry]


class OwnerStatistics:
    """Counts of one store's owners. Safe for threads."""

    def __init__(self, views: RedisViews, reader: Reader, meanings: Meanings | None = None) -> None:
        self._views = views
        self._reader = reader
        self._meanings = meanings

    def stats(self, owner: str, **times: Unpack[TimesAsked]) -> OwnerStats:
        """Everything of one owner, as of one place. Raises DeadlineExceeded where its history takes longer than a question may."""
        with self._reader.snapshot(check_owner(owner), **times) as snapshot:
            state = snapshot.view.state
            weigh(state.entries // SCANNED + state.applied // READ_AT_ONCE)
            told = self._standing(owner, snapshot)
        figures, shown, weeks = self._counted(owner, snapshot)
        beside = {
            "figures": figures,
            "shown": shown,
            "satisfaction": weeks,
            "chain": snapshot.chain.hex(),
            **snapshot.told,
        }
        return cast("OwnerStats", {"owner": owner, **told_times(times), **told, **beside})

    def summed(self, owners: Iterable[tuple[str, int]]) -> tuple[HistoryFigures, int]:
        """What happened to these owners, each with its partition, in sum; and how many of them that is.

        Who has more events than are left of `MOST_SUMMED_EVENTS`, or cannot be read, is not among them: an owner counts as a whole.
        """
        check, tally, refused, summed, left = current_check(), Tally(), 0, 0, MOST_SUMMED_EVENTS
        for owner, partition in islice(owners, MOST_SUMMED_OWNERS):
            check(summed, 0)
            try:
                (events,) = self._views.applied(partition, [owner])
                if events > left:
                    continue
                left -= events
                own, refusals = Tally(), _Refusals()
                for _, entries in self._views.changelogs.newest(owner, check):
                    refusals.add(passed := own.add(entries), self._read(owner, passed.settled, check))
            except (DamagedState, LogGap, *UNREADABLE):
                continue
            tally.include(own)
            refused += refusals.refused
            summed += 1
        return _figures(tally, refused), summed

    def _standing(self, owner: str, snapshot: Snapshot) -> Mapping[str, object]:
        """What the memories are; asked while the snapshot is held."""
        view, columns = snapshot.view, snapshot.view.columns
        normal = seen_at(view, snapshot.now, "normal")
        found = None if self._meanings is None else self._meanings.coverage(view, owner)
        vectors = {} if found is None or found["chosen"] == NONE else {"embedding": found}
        standing = columns.standing()
        live = normal.weights[standing == STATES.index("live")] if len(columns) else normal.weights
        return {
            "position": snapshot.position,
            "events": view.state.applied,
            "change_log_entries": view.state.entries,
            "moments": self._reader.moments(owner),
            "profile": view.state.profile,
            "parameters": dict(view.state.parameters),
            "memories": len(columns),
            "shown_in_normal_mode": int(normal.shown.sum()),
            "by_category": _counts(columns.category, CATEGORIES),
            "by_level": _counts(normal.levels, LEVELS),
            "by_state": _counts(standing, STATES),
            "negated": int((columns.conflict != Columns.HELD).sum()),
            "secret": int((columns.sensitivity >= SECRET).sum()),
            "mean_weight": round(float(normal.weights.mean()), 6) if len(columns) else None,
            "weights": weight_figures(view.law.name, live),
            **vectors,
        }

    def _counted(
        self, owner: str, snapshot: Snapshot
    ) -> tuple[HistoryFigures, dict[str, ShownFigures], list[WeekFigures]]:
        check, tally, refusals, shown = current_check(), Tally(), _Refusals(), dict[str, ShownFigures]()
        said, reported = list[Said](), list[Report]()  # the newest first
        done, total = 0, max(snapshot.view.state.entries, 1)
        for piece in self._pieces(owner, snapshot, check):
            passed = tally.add(piece.entries)
            refusals.add(passed, self._read(owner, passed.settled, check))
            silent = list(self._read(owner, piece.silent, check))
            count_shown(silent, shown)
            said += [one for each in reversed(silent) if (one := _without_text(each)) is not None]
            reports = {entry.seq for entry in piece.entries if entry.type == REPORTS}
            reported += map(_report, reversed(list(self._read(owner, sorted(reports), check))))
            done += len(piece.entries)
            check(done, total)
        weeks = weeks_of_answers(turns_answered(said[::-1]), reported[::-1])
        return _figures(tally, refusals.refused), shown, [_week(one) for one in weeks]

    def _pieces(self, owner: str, snapshot: Snapshot, check: Check) -> Iterator[_Piece]:
        """The owner's events that count, the newest packs first; of a past what was folded for it."""
        if snapshot.past is not None:
            yield _Piece(snapshot.past.silent(), snapshot.past.entries)
            return
        upto = snapshot.view.state.seq  # what was folded since is not counted beside this moment's position
        for seqs, entries in self._views.changelogs.newest(owner, check):
            told = {entry.seq for entry in entries}
            silent = [seq for seq in seqs if seq <= upto and seq not in told]
            yield _Piece(silent, [entry for entry in entries if entry.seq <= upto])

    def _read(self, owner: str, seqs: Sequence[int], check: Check) -> Iterator[Stored]:
        """The owner's events at these seqs, read in pieces."""
        for some in slices(sorted(seqs), PIECE):
            check(0, 0)
            yield from self._views.stored(owner, some)


class _Refusals:
    """Negations that waited for a person, who rejected them. The log is read backwards: the answer comes before the question."""

    def __init__(self) -> None:
        self._rejected = set[bytes]()
        """What was rejected and was not met yet, no more than ever waited at once."""
        self.refused = 0

    def add(self, passed: Passed, settled: Iterable[Stored]) -> None:
        """What a piece before all that came so far passed."""
        for stored in settled:
            data = decode(stored.kind, stored.body).data
            if isinstance(data, ReviewSettled):
                self._rejected.add(raw_id(data.waiting))
        self.refused += len(self._rejected & passed.negations)
        self._rejected -= passed.waited


def weight_figures(law: str, weights: Floats) -> WeightFigures:
    """How these weights are spread, by `BUCKETS`."""
    found = np.searchsorted(np.array(BUCKETS), weights, side="left")
    counts = np.bincount(found, minlength=len(BUCKETS) + 1).tolist()
    mean = lowest = median = highest = None
    if weights.size:
        mean, lowest, median, highest = (
            round(float(one), 6) for one in (weights.mean(), weights.min(), np.median(weights), weights.max())
        )
    return {
        "law": law,
        "memories": int(weights.size),
        "mean": mean,
        "lowest": lowest,
        "median": median,
        "highest": highest,
        "buckets": [{"up_to": up_to, "memories": count} for up_to, count in zip((*BUCKETS, None), counts, strict=True)],
    }


def count_shown(read: Iterable[Stored], shown: dict[str, ShownFigures]) -> None:
    """Add what these events say was shown, by way of showing; other events say nothing of it."""
    for stored in read:
        if not stored.kind.startswith(_ACCESSED):
            continue
        data = decode(stored.kind, stored.body).data
        if isinstance(data, MemoriesAccessed):
            of = shown.setdefault(data.via, {"answers": 0, "memories": 0})
            of["answers"] += len(data.accesses) or sum(hit.count for hit in data.hits)
            of["memories"] += sum(len(one.shown) for one in data.accesses) or sum(hit.count for hit in data.hits)


def _without_text(stored: Stored) -> Said | None:
    said = read_said(stored)
    return None if said is None else without_text(said)


def _report(stored: Stored) -> Report:
    event = decode(stored.kind, stored.body)
    data = event.data
    assert isinstance(data, MemoryReinforced)
    return Report(data.turn_id, event.causation_id, data.outcome)


def _week(one: WeekOfAnswers) -> WeekFigures:
    reported = one.task_success + one.task_failure
    return {
        "week": one.monday.isoformat(),
        "answers": one.answers,
        "task_success": one.task_success,
        "task_failure": one.task_failure,
        "reported_share": round(reported / one.answers, 4),
        "success_share": round(one.task_success / reported, 4) if reported else None,
    }


def _figures(tally: Tally, refused: int) -> HistoryFigures:
    counts = tally.counts
    return {
        "activations": counts[ACTIVATIONS],
        "frequent_mentions": counts[FREQUENT],
        "negations": counts[NEGATIONS],
        "merges": counts[MERGES],
        "merges_undone": counts[UNMERGES],
        "compressions": counts[COMPRESSIONS],
        "possible_conflicts": counts[CONFLICTS],
        "task_successes": counts[SUCCESSES],
        "task_failures": counts[FAILURES],
        "conflict_errors": {
            "taken_back": counts[TAKEN_BACK],
            "refused": refused,
            "total": counts[TAKEN_BACK] + refused,
        },
    }


def _counts(values: Any, names: Sequence[str]) -> dict[str, int]:
    return {name: int((values == number).sum()) for number, name in enumerate(names)}
