"""How an owner's memories live on: their health, what is fading, reinforcing, reviews, and the law that they live by.

Reading leaves no trace. What is written is appended by the `Writer`, and what it did is read once it is folded.

One owner in figures: what its memories are, how their weights are spread, what happened to them, and what was shown of them.

What happened is counted in the change log as it streams by, and what was shown in the log's own events: no more than a piece of
either is held, and a deadline is asked between pieces. Of a past time exactly what counted then is counted.

Count an owner's events on both time lines. Leaves no trace.

Every page of the console asks for them, so no record is loaded and no event is read twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Unpack, cast

import numpy as np

from engramlog_server.api.checks import (
    WHOLE,
    LineTerms,
    TimesAsked,
    TimeSpan,
    check_id_of,
    check_limit,
    check_owner,
    lines_answer,
    lines_of,
    span_of,
    times_answer,
    times_of,
)
from engramlog_server.api.choices import MOST_BUCKETS, UNKNOWN
from engramlog_server.api.services.answers import REPORTS, without_text
from engramlog_server.api.services.histories import SCANNED
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Given, Writer
from engramlog_server.api.snapshots import Snapshot, placed
from engramlog_server.api.work import current_check, weigh
from engramlog_server.events.catalogue import (
    MemoriesAccessed,
    MemoryReinforced,
    ParametersChanged,
    ProfileChosen,
    ReviewGraded,
    ReviewSettled,
)
from engramlog_server.events.envelope import Stored, decode, micros
from engramlog_server.events.errors import DamagedState, InputError, LogGap, StoreUnavailable, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.parameters import DEFAULTS, NAMES, ParameterValue
from engramlog_server.events.partitions import parse_position, position_text
from engramlog_server.events.text import NONE, UNREADABLE
from engramlog_server.projections.checks import Bounds, Check
from engramlog_server.projections.decide.commands import Tell
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.fold.life import ALIKE
from engramlog_server.projections.fold.trust import raw_id
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.memory.columns import STATES, Columns
from engramlog_server.projections.memory.record import CATEGORIES, LEVELS, SECRET
from engramlog_server.projections.memory.working_memory import Said, read_said
from engramlog_server.projections.past.folding import Flags, Integers, Lines, OwnerEvents
from engramlog_server.projections.redis.said import PIECE
from engramlog_server.projections.redis.store import slices
from engramlog_server.projections.redis.vectors import Meanings
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.reports.health import due_list, fading, health, held_now, next_reviews
from engramlog_server.projections.reports.statistics import LineParts, ends_of, in_parts, late_among
from engramlog_server.projections.reports.tally import (
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
from engramlog_server.projections.shapes import (
    Effects,
    Fading,
    Graded,
    GroupCounts,
    Held,
    HistoryFigures,
    LineBuckets,
    MemoryHealth,
    OwnerProfile,
    OwnerStats,
    OwnerTimes,
    Reinforced,
    ReviewsDue,
    ShownFigures,
    WeekFigures,
    WeightFigures,
)
from engramlog_server.projections.views.answered import Report, WeekOfAnswers, turns_answered, weeks_of_answers
from engramlog_server.projections.views.query import moment, seen_at
from engramlog_server.projections.views.view import OwnerView

MOST_LISTED = 1_000


class Happened(NamedTuple):
    """One event about a memory, and what it changed."""

    effects: Effects
    at: str
    """The instant of both readings."""
    before: Held
    after: Held | None
    """None if the event is parked."""
    again: bool
    """Whether that was done before, under the same key: the answer is as of then."""

    @property
    def told(self) -> dict[str, object]:
        """As answers have it."""
        return {**self.effects, "at": self.at, "before": self.before, "after": self.after}


class DatedReading(NamedTuple):
    """How a memory is held at an instant."""

    at: int
    """Microseconds since 1970."""
    reading: Held
    """By law."""


class Living:
    """Answers and verbs about how memories fade and are kept, on one store. Safe for threads."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    def health(self, owner: str, *, limit: int = 50, offset: int = 0, **times: Unpack[TimesAsked]) -> MemoryHealth:
        """Live memories by Ebbinghaus strength, strongest first, with counts by colour and the mean."""
        wanted = check_limit(limit, MOST_LISTED)
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = health(snapshot.view, snapshot.now, wanted, max(offset, 0))
        return {**answer, **times_answer(times), **snapshot.place}

    def fading(self, owner: str, *, limit: int = 50, offset: int = 0, **times: Unpack[TimesAsked]) -> Fading:
        """Live memories of a strength under 30, weakest first."""
        wanted = check_limit(limit, MOST_LISTED)
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = fading(snapshot.view, snapshot.now, wanted, max(offset, 0))
        return {**answer, **times_answer(times), **snapshot.place}

    def review(
        self,
        owner: str,
        *,
        min_importance: float = 0.5,
        limit: int = 10,
        kind: str | None = None,
        **times: Unpack[TimesAsked],
    ) -> ReviewsDue:
        """What is due for review, most pressing first; how much is due in all, and how much the least importance left out."""
        wanted = check_limit(limit)
        if not 0 <= min_importance <= 1:
            raise refused("min_importance", min_importance, "a number from 0 to 1")
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = due_list(snapshot.view, snapshot.now, least=min_importance, limit=wanted, kind=kind)
        return {**answer, **times_answer(times), **snapshot.place}

    def reinforce(
        self,
        owner: str,
        memory_id: str,
        *,
        outcome: str = "manual_review",
        from_memory: str | None = None,
        turn_id: str | None = None,
        **given: Unpack[Given],
    ) -> Reinforced:
        """It was put to use: what each law reads of it before and after, at the instant at which it happened.

        `turn_id`: the turn, or the reply, in which it was; `answers` tells the outcome beside it.
        Raises NotFound or InputError where no event can change the memory, or `from_memory`, any more.
        """
        check_owner(owner)
        remarks = []
        if from_memory is not None:
            if from_memory == memory_id:
                raise refused("from_memory", from_memory, "another memory than the one that is reinforced")
            if outcome not in ALIKE:
                remarks.append(f"an outcome of {outcome} strengthens no association")
        if turn_id is not None:
            check_id_of("turn_id", turn_id)
        data = MemoryReinforced(memory_id=memory_id, outcome=outcome, from_memory=from_memory, turn_id=turn_id)  # type: ignore[arg-type]
        happened = self._happened(owner, memory_id, data, given, beside=from_memory)
        for change in happened.effects["changes"]:
            if change["memory"] == memory_id:
                # After a semicolon the fold says why a use adds nothing to the importance.
                reason = change["reason"]
                remarks.append(reason if change["decision"] == "ignored" else reason.partition("; ")[2])
        told = {"outcome": outcome, "from_memory": from_memory, "turn_id": turn_id}
        return cast("Reinforced", {**told, **happened.told, "remarks": [*filter(None, remarks)]})

    def grade(self, owner: str, memory_id: str, grade: int, **given: Unpack[Given]) -> Graded:
        """It was reviewed and graded, 0 (forgotten) to 5 (at once): the next review by each scheduler, and which decides.

        Raises as `reinforce` does.
        """
        check_owner(owner)
        happened = self._happened(owner, memory_id, ReviewGraded(memory_id=memory_id, grade=grade), given)
        as_of = happened.effects["position"] if happened.again else None
        with self._reader.snapshot(owner, as_of=as_of) as snapshot:
            schedule = self._reader.memory(snapshot, owner, memory_id).schedule
            decides = snapshot.view.parameters.scheduler
        folded = schedule is not None and happened.after is not None
        reviews = next_reviews(schedule) if folded and schedule is not None else None
        return cast("Graded", {"grade": grade, **happened.told, "decides": decides, "schedulers": reviews})

    def _happened(self, owner: str, memory_id: str, data: Any, given: Given, *, beside: str | None = None) -> Happened:
        """Append one event about a memory; what that changes of it, before and after at one instant.

        The instant is the event's own, or the newest of the memory's if it comes late, as in the change log.
        """
        about = (memory_id,) if beside is None else (memory_id, beside)
        command = Tell((data,), about, {"id": memory_id})
        held: list[DatedReading] = []

        def look(when: int) -> None:
            held.append(self._held(owner, memory_id, when))

        done = self._writer.carry_out(owner, command, live=(memory_id,), look=look, **given)
        position = done.answer["position"]
        if done.again:
            partition, seq = parse_position(position)
            held = [self._held(owner, memory_id, done.at or 0, as_of=position_text(partition, seq - 1))]
        at = held[0].at
        parked = "quarantined" in done.answer
        after = None if parked else self._held(owner, memory_id, at, as_of=position if done.again else None).reading
        return Happened(done.answer, moment(at), held[0].reading, after, done.again)

    def _held(self, owner: str, memory_id: str, when: int, *, as_of: str | None = None) -> DatedReading:
        with self._reader.snapshot(owner, as_of=as_of) as snapshot:
            memory = self._reader.memory(snapshot, owner, memory_id)
            at = max(when, memory.stamp)
            return DatedReading(at, held_now(snapshot.view, memory, at))

    def profile(self, owner: str, **times: Unpack[LineTerms]) -> OwnerProfile:
        """The law that gates the owner's recall and lifecycle, its thresholds, and the parameters that are not the defaults."""
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = self._profile(snapshot.view)
        return cast("OwnerProfile", {**answer, **lines_answer(times), **snapshot.place})

    def choose(
        self,
        owner: str,
        *,
        profile: str | None = None,
        parameters: Mapping[str, ParameterValue] | None = None,
        **given: Unpack[Given],
    ) -> OwnerProfile:
        """From here on the owner's law, its parameters, or both, in one batch. Names and bounds are checked in validation."""
        check_owner(owner)
        told: list[Any] = []
        if profile is not None:
            told.append(ProfileChosen(profile=profile))  # type: ignore[arg-type]
        if parameters:
            told.append(ParametersChanged(parameters=dict(parameters)))
        if not told:
            raise InputError("profile: got nothing; allowed: a profile, parameters, or both", field="profile")
        given.setdefault("actor", "operator")
        done = self._writer.carry_out(owner, Tell(tuple(told)), **given)
        as_of = done.answer["position"] if done.again else None
        with self._reader.snapshot(owner, as_of=as_of) as snapshot:
            return cast("OwnerProfile", {**self._profile(snapshot.view), **lines_answer({}), **done.answer})

    def _profile(self, view: OwnerView) -> Mapping[str, object]:
        """The owner's law with its thresholds, and the parameters that differ from the defaults."""
        answer = _profile(view)
        if warning := self._reader.unused_embedder(view.parameters.embedder):
            answer["warning"] = warning
        return answer


def _profile(view: OwnerView) -> dict[str, object]:
    law, parameters = view.law, view.parameters
    return {
        "owner": view.owner,
        "profile": law.name,
        "formula": law.formula,
        "source": law.source,
        "thresholds": {"normal": law.normal_threshold(parameters), "review": law.review_threshold(parameters)},
        "parameters": {
            name: {"value": getattr(parameters, name), "default": getattr(DEFAULTS, name)}
            for name in NAMES
            if getattr(parameters, name) != getattr(DEFAULTS, name)
        },
    }


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
            "satisfaction_note": _unmeasured(weeks),
            "chain": snapshot.chain.hex(),
            **snapshot.told,
        }
        return cast("OwnerStats", {"owner": owner, **times_answer(times), **told, **beside})

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
    session, at = event.session_id, micros(event.occurred_at)
    return Report(data.turn_id, event.causation_id, data.outcome, data.memory_id, session, stored.seq, at)


def _week(one: WeekOfAnswers) -> WeekFigures:
    reported = one.task_success + one.task_failure
    return {
        "week": one.monday.isoformat(),
        "answers": one.answers,
        "task_success": one.task_success,
        "task_failure": one.task_failure,
        "other_success": one.other_success,
        "other_failure": one.other_failure,
        "reported_share": round(reported / one.answers, 4) if one.answers else None,
        "success_share": round(one.task_success / reported, 4) if reported else None,
    }


def _unmeasured(weeks: Sequence[WeekFigures]) -> str | None:
    """Why no share of successful answers is known; None if one is."""
    if any(week["success_share"] is not None for week in weeks):
        return None
    if not any(week["answers"] for week in weeks):
        return "no prompt with memories is recorded (`context` with `trace`), so reports belong to no answer"
    if any(week["other_success"] or week["other_failure"] for week in weeks):
        return "no report names an answer: report with `turn_id`, or in the session of the prompt"
    return "no task was reported: report task_success or task_failure with `reinforce`"


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


COUNTED_FOR_A_FOLDED = 250
"""Events that are counted on both lines in the time in which one is folded."""
_TRIES = 5


class _EventTimes(NamedTuple):
    """An owner's events at a place, and the spans that are counted."""

    place: Snapshot
    known: bool
    """Whether anything of the owner is recorded."""
    events: OwnerEvents
    happened: TimeSpan
    recorded: TimeSpan

    @property
    def zoomed(self) -> OwnerEvents:
        """Those that lie in every span."""
        events = self.events
        found = _within(events.happened, self.happened)
        if self.recorded != WHOLE:
            found &= _within(events.recorded, self.recorded)
        return events.of(found)


class TimeLines:
    """Counts one store's events on both lines. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader) -> None:
        self._log, self._views, self._reader = log, views, reader

    def times(
        self,
        owner: str,
        *,
        buckets: int = 120,
        groups: bool = False,
        since: str | None = None,
        until: str | None = None,
        recorded_since: str | None = None,
        recorded_until: str | None = None,
        **lines: Unpack[LineTerms],
    ) -> OwnerTimes:
        """Ends of both lines, of all that counts, and each in `buckets` equal parts, 1 to 500, of what lies in the spans.

        `groups`: count them by what events of a type do, too. A part's ends are those of its line's span; one that is not told is
        the first, or the last, of the events that lie in the spans. Raises InputError naming the field.
        """
        check_limit(buckets, MOST_BUCKETS, "buckets")
        spans = (since, until), (recorded_since, recorded_until)
        times = self._event_times(check_owner(owner), lines, *spans)
        events, zoomed = times.events, times.zoomed
        happened, recorded = ends_of(events.happened), ends_of(events.recorded)
        ahead = happened.last if happened.last is not None and happened.last > times.place.now else None
        return {
            "owner": owner,
            "happened": {
                "first": moment(happened.first),
                "last": moment(happened.last),
                "ahead": moment(ahead),
            },
            "recorded": {"first": moment(recorded.first), "last": moment(recorded.last)},
            "events": len(events),
            "late": late_among(events),
            "buckets": {
                "count": buckets,
                "happened": _buckets(
                    in_parts(zoomed.happened, zoomed.types, *times.happened, buckets, by_group=groups)
                ),
                "recorded": _buckets(
                    in_parts(zoomed.recorded, zoomed.types, *times.recorded, buckets, by_group=groups)
                ),
            },
            "since": since,
            "until": until,
            "recorded_since": recorded_since,
            "recorded_until": recorded_until,
            "hint": None if times.known else UNKNOWN.format(owner=owner),
            **lines_answer(lines),
            **times.place.place,
        }

    def _event_times(
        self,
        owner: str,
        lines: LineTerms,
        happened: tuple[str | None, str | None],
        recorded: tuple[str | None, str | None],
    ) -> _EventTimes:
        times = TimesAsked(as_of=lines.get("as_of"), known=lines.get("known"), after=lines.get("after"))
        asked = times_of(times, owner, self._log.partitions)
        bounds = Bounds(current_check(), weigh)
        for _ in range(_TRIES):
            view, standing = self._views.glance(owner, after=asked.waits)
            zone = view.parameters.time_zone
            spans = span_of(*happened, zone), span_of(*recorded, zone, "recorded_")
            upto = lines_of(asked, zone)
            weigh(view.state.applied // COUNTED_FOR_A_FOLDED)
            events = self._views.moments.columns(
                owner,
                standing.build,
                view.state,
                self._reader.log_of(owner, lines.get("on_progress")),
                bounds,
            )
            if events is not None:
                place = self._placed(owner, placed(view, self._log.now(), standing), upto, events)
                return _EventTimes(place, view.state.applied > 0, events.of(events.on_lines(upto)), *spans)
        raise StoreUnavailable(f"the projection of {owner} is replaced too fast to be read; come again", retry_after=1)

    def _placed(self, owner: str, today: Snapshot, upto: Lines, events: OwnerEvents) -> Snapshot:
        """Where in the past it is asked about, as `Snapshots.snapshot` tells it, and from when on what happened lay ahead."""
        if upto.seq is None and upto.recorded is None:
            return today
        known = events.of(events.known_by(upto))
        now = upto.recorded if upto.recorded is not None else int(known.recorded.max(initial=0)) or today.now
        behind, position = 0, today.position if upto.seq is None else position_text(today.partition, upto.seq)
        if upto.recorded is not None:
            if upto.seq is None and today.behind:
                folded = int(today.position.partition(":")[2])
                behind = today.behind if self._reader.in_time(owner, folded + 1, upto) else 0
            position = position if behind else position_text(today.partition, int(known.seqs.max(initial=0)))
        return today._replace(now=now, position=position, behind=behind)


def _within(instants: Integers, span: TimeSpan) -> Flags:
    found = np.ones(len(instants), np.bool_)
    if span.since is not None:
        found &= instants >= span.since
    if span.until is not None:
        found &= instants <= span.until
    return found


def _buckets(parts: LineParts) -> LineBuckets:
    return {
        "since": moment(parts.since),
        "until": moment(parts.until),
        "seconds": parts.seconds,
        "events": parts.events,
        "counts": parts.counts,
        "groups": None if parts.groups is None else cast("GroupCounts", parts.groups),
    }
