"""An owner at many instants: how many events on both time lines, and what some memories weigh and where they rank. No trace.

The time lines are asked wherever a page opens, so no record is loaded and no event is read twice. Of weights the request is checked
first: which instants, and what counts from each of them on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Unpack, cast

import numpy as np

from engramlog_server.api.choices import MOST_BUCKETS
from engramlog_server.api.pictures.text import short
from engramlog_server.api.requests.checks import (
    HAPPENED,
    KNOWN,
    LINE_NAMES,
    WHOLE,
    LineTerms,
    Progress,
    TimesAsked,
    TimeSpan,
    check_id_of,
    check_limit,
    check_mode,
    check_one_of,
    check_owner,
    check_query,
    lines_of,
    masked,
    parse_as_of,
    parse_instant,
    span_of,
    times_of,
    told_lines,
)
from engramlog_server.api.requests.snapshots import Snapshot, placed
from engramlog_server.api.services.histories import check_law
from engramlog_server.api.services.reading import Reader, check_terms, request_of
from engramlog_server.api.shapes import GroupCounts, InstantsMark, InstantsRow, InstantsTold, LineBuckets, OwnerTimes
from engramlog_server.api.showing import UNKNOWN
from engramlog_server.api.work.patience import both, current_check, weigh
from engramlog_server.events.catalogue import MemoriesAccessed
from engramlog_server.events.errors import StoreUnavailable, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.checks import Bounds
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.laws.modes import REASONS, Mode
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.timelines import Lines
from engramlog_server.projections.past.events import Flags, Integers, OwnerEvents
from engramlog_server.projections.past.life import EventKin, KinEvent
from engramlog_server.projections.ranking.question import MeantQuestion
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.reports.instants import (
    ACTIVATED,
    ORDERS,
    SCORE,
    HeldScores,
    InstantStep,
    Moving,
    RowsAsked,
    Sheet,
    held_scores,
    sheet_of,
)
from engramlog_server.projections.reports.time_lines import LineParts, ends_of, in_parts, late_among
from engramlog_server.projections.views.query import ViewQuery, card, moment
from engramlog_server.projections.views.quoting import hidden_ids

COUNTED_FOR_A_FOLDED = 250
"""Events that are counted on both lines in the time in which one is folded."""
_TRIES = 5


class _Looked(NamedTuple):
    """What an owner's events are at a place."""

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
        looked = self._looked(check_owner(owner), lines, *spans)
        events, zoomed = looked.events, looked.zoomed
        happened, recorded = ends_of(events.happened), ends_of(events.recorded)
        ahead = happened.last if happened.last is not None and happened.last > looked.place.now else None
        return {
            "owner": owner,
            "happened": {"first": _told_at(happened.first), "last": _told_at(happened.last), "ahead": _told_at(ahead)},
            "recorded": {"first": _told_at(recorded.first), "last": _told_at(recorded.last)},
            "events": len(events),
            "late": late_among(events),
            "buckets": {
                "count": buckets,
                "happened": _told(in_parts(zoomed.happened, zoomed.types, *looked.happened, buckets, by_group=groups)),
                "recorded": _told(in_parts(zoomed.recorded, zoomed.types, *looked.recorded, buckets, by_group=groups)),
            },
            "since": since,
            "until": until,
            "recorded_since": recorded_since,
            "recorded_until": recorded_until,
            "hint": None if looked.known else UNKNOWN.format(owner=owner),
            **told_lines(lines),
            **looked.place.place,
        }

    def _looked(
        self,
        owner: str,
        lines: LineTerms,
        happened: tuple[str | None, str | None],
        recorded: tuple[str | None, str | None],
    ) -> _Looked:
        told = TimesAsked(as_of=lines.get("as_of"), known=lines.get("known"), after=lines.get("after"))
        asked = times_of(told, owner, self._log.partitions)
        bounds = Bounds(current_check(), weigh)
        for _ in range(_TRIES):
            view, standing = self._views.glance(owner, after=asked.waits)
            zone = view.parameters.time_zone
            spans = span_of(*happened, zone), span_of(*recorded, zone, "recorded_")
            upto = lines_of(asked, zone)
            weigh(view.state.applied // COUNTED_FOR_A_FOLDED)
            found = self._views.moments.columns(
                owner,
                standing.build,
                view.state,
                self._reader.log_of(owner, lines.get("on_progress")),
                bounds,
            )
            if found is not None:
                place = self._placed(owner, placed(view, self._log.now(), standing), upto, found)
                return _Looked(place, view.state.applied > 0, found.of(found.on_lines(upto)), *spans)
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


def _told(parts: LineParts) -> LineBuckets:
    return {
        "since": _told_at(parts.since),
        "until": _told_at(parts.until),
        "seconds": parts.seconds,
        "events": parts.events,
        "counts": parts.counts,
        "groups": None if parts.groups is None else cast("GroupCounts", parts.groups),
    }


def _told_at(instant: int | None) -> str | None:
    return None if instant is None else moment(instant)


MOST_ROWS, MOST_POINTS, MOST_CELLS = 200, 240, 24_000
"""Ids that may be told, instants, and rows times instants."""


class InstantsAsked(NamedTuple):
    """What is asked, checked."""

    query: str | None
    ids: tuple[str, ...]
    results: int
    mode: Mode
    law: str | None
    order: str
    points: int
    line: str
    since: int | None
    until: int | None
    terms: Mapping[str, Any]

    @property
    def moves(self) -> bool:
        """Whether the instants are on the line of what was known."""
        return self.line == KNOWN


class EventsTimes(NamedTuple):
    """When each of the events that count happened and was recorded, in their order."""

    happened: list[int]
    recorded: list[int]


class WeightsHeld(NamedTuple):
    """When weights are computed, where that is not at each instant: `as_of` holds it on the line of what was known."""

    at: int | None = None
    newest: bool = False
    """At the newest event that counts by then: `as_of` is a position."""


def checked(told: Mapping[str, Any], terms: Mapping[str, Any]) -> InstantsAsked:
    """What was told, by the names of the call. Raises InputError naming the field."""
    query, law, since, until = (told[name] for name in ("query", "law", "since", "until"))
    return InstantsAsked(
        query=None if query is None else check_query(query),
        results=check_limit(told["results"], field="results"),
        mode=check_mode(told["mode"]),
        law=None if law is None else check_law(law),
        order=check_one_of("order", told["order"], ORDERS),
        points=_checked_points(told["points"]),
        ids=_checked_ids(told["ids"], query),
        line=check_one_of("line", told["line"], LINE_NAMES),
        since=None if since is None else parse_instant(since, "since"),
        until=None if until is None else parse_instant(until, "until"),
        terms=terms,
    )


def _checked_ids(ids: Sequence[str], query: str | None) -> tuple[str, ...]:
    if query is None and not ids:
        raise refused("ids", "none", f"a query, or ids of memories, at most {MOST_ROWS}")
    if len(ids) > MOST_ROWS:
        raise refused("ids", f"{len(ids):,} ids", f"at most {MOST_ROWS}")
    return tuple(dict.fromkeys(check_id_of("ids", one) for one in ids))


def _checked_points(points: int) -> int:
    if not 2 <= points <= MOST_POINTS:
        raise refused("points", points, f"a whole number from 2 to {MOST_POINTS}")
    return points


def times_beside(
    asked: InstantsAsked, as_of: str | None, known: str | None, after: str | None, on_progress: Progress | None
) -> TimesAsked:
    """The times of the place. Raises InputError for one on the line that the instants are on."""
    field, told = ("known", known) if asked.moves else ("as_of", as_of)
    if told is not None:
        other = "as_of" if asked.moves else "known"
        raise refused(
            field, told, f"nothing on the line `{asked.line}`, which the instants are on; {other} holds the other"
        )
    return TimesAsked(as_of=as_of, known=known, after=after, on_progress=on_progress)


def instants_of(asked: InstantsAsked, at: EventsTimes, now: int) -> list[int]:
    """Evenly spaced, from the first event on that line to now unless told. Raises InputError for a span that ends before."""
    those = at.recorded if asked.moves else at.happened
    since = min(those, default=now) if asked.since is None else asked.since
    if asked.since is None and asked.until is not None:
        since = min(since, asked.until)
    until = max(now, since) if asked.until is None else asked.until
    if until < since:
        raise refused("until", moment(until), f"an instant not before {moment(since)}, where it begins")
    last = asked.points - 1
    return [since + (until - since) * number // last for number in range(asked.points)]


def steps_of(
    asked: InstantsAsked, held: WeightsHeld, events: Sequence[KinEvent], at: EventsTimes, instants: Sequence[int]
) -> list[InstantStep]:
    """Which events count from each instant on, and when its weights are computed."""
    times = [time_of(asked, one) for one in events]
    order = sorted(range(len(events)), key=times.__getitem__)
    times.sort()
    newest = list(accumulate(at.happened, max)) if held.newest else []
    done, steps = 0, list[InstantStep]()
    for instant in instants:
        upto, now = bisect_right(times, instant), instant if held.at is None else held.at
        if held.newest:
            counted = bisect_right(at.recorded, instant)
            now = newest[counted - 1] if counted else 0
        steps.append(InstantStep(order[done:upto], now))
        done = upto
    return steps


def time_of(asked: InstantsAsked, one: KinEvent) -> int:
    """When an event happened, or was recorded: whichever line the instants are on."""
    return one.stored.recorded if asked.moves else one.told.at


MOST_MARKS = 100
TEXT_COLUMNS, MOST_TEXT = 60, 200
"""Of a text the columns that are told, and the characters that are looked at for them."""
EVENTS_A_STEP, CELLS_A_STEP = 4, 2
"""Events that are looked at, and weights computed, in about the time in which one event is folded."""


class _Place(NamedTuple):
    """What was read while the owner's view was held."""

    ids: tuple[str, ...]
    texts: Mapping[str, str | None]
    held: HeldScores | None
    hidden: Mapping[str, Memory]
    """Today's records of what no past may show."""
    there: frozenset[str]
    """Those that are there."""
    seqs: Sequence[int]
    snapshot: Snapshot


class Instants:
    """Many instants of one store's owners. Safe for threads."""

    def __init__(self, log: EventLog, reader: Reader, views: RedisViews) -> None:
        self._log, self._reader, self._views = log, reader, views

    def instants(
        self,
        owner: str,
        *,
        query: str | None = None,
        ids: Sequence[str] = (),
        results: int = 20,
        mode: str = "normal",
        law: str | None = None,
        order: str = ACTIVATED,
        since: str | None = None,
        until: str | None = None,
        points: int = 120,
        line: str = HAPPENED,
        as_of: str | None = None,
        known: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
        **terms: Any,
    ) -> InstantsTold:
        """Weights and ranks of the `results` best of a question and of `ids`, at so many instants from `since` to `until`.

        On the line `happened` each instant is what `as_of` tells, on the line `known` what `known` tells; the other line may be
        held. Weights, and what is shown, are exact; of scores the part of words and meaning is that of the place asked at. From the
        owner's first event to now unless told; `until` may lie ahead. Raises InputError naming the field.
        """
        check_terms(terms, with_meaning=self._reader.compares_meaning)
        told = {"query": query, "ids": ids, "results": results, "mode": mode, "law": law, "order": order}
        asked = checked(told | {"since": since, "until": until, "points": points, "line": line}, terms)
        times = times_beside(asked, as_of, known, after, on_progress)
        place_asked = parse_as_of(as_of, owner, self._log.partitions)
        question = (
            None
            if query is None
            else self._reader.question_of(owner, query, terms, as_of=as_of, known=known, after=after)
        )
        with self._reader.snapshot(owner, **times) as snapshot:
            place = self._place(owner, snapshot, asked, question)
            instant = place_asked.by_the_clocks_of(snapshot.present.parameters.time_zone).instant
        if len(place.ids) * points > MOST_CELLS:
            most = MOST_CELLS // len(place.ids)
            raise refused("points", points, f"at most {most} for {len(place.ids)} memories: fewer of either")
        held = WeightsHeld(instant, place_asked.seq is not None)
        failed = None if question is None or question.told is None else question.told.get("failed")
        return self._told(owner, asked, place, held, times, failed)

    def _place(self, owner: str, snapshot: Snapshot, asked: InstantsAsked, question: MeantQuestion | None) -> _Place:
        reader, view = self._reader, snapshot.view
        held, ids = None, asked.ids
        if asked.query is not None:
            zone = view.parameters.time_zone
            request = request_of(asked.terms, snapshot.now, zone, with_meaning=reader.compares_meaning, reasons=False)
            query = ViewQuery(view, snapshot.now, asked.mode)
            sense = None if question is None else reader.sense_of(view, owner, question)
            held = held_scores(query, asked.query, request, sense, asked.results, ids)
            ids = tuple(dict.fromkeys([*held.best, *ids]))
        today = snapshot.present
        hidden = {name: memory for name in hidden_ids(today.columns) if (memory := today.get(name)) is not None}
        texts = {name: _text(snapshot, name, asked.mode) for name in ids}
        there = frozenset(name for name in ids if view.get(name) is not None)
        return _Place(ids, texts, held, hidden, there, reader.seqs(owner, snapshot), snapshot)

    def _told(
        self,
        owner: str,
        asked: InstantsAsked,
        place: _Place,
        weights: WeightsHeld,
        times: TimesAsked,
        failed: str | None,
    ) -> InstantsTold:
        check, seqs, snapshot = current_check(), place.seqs, place.snapshot
        weigh(len(seqs) // EVENTS_A_STEP + len(place.ids) * asked.points // CELLS_A_STEP)
        kin, at = EventKin(), EventsTimes([], [])
        stored = self._reader.stored(owner, seqs, both(check, times.get("on_progress")))
        for one, happened in kin.look(stored, check, len(seqs)):
            at.happened.append(happened)
            at.recorded.append(one.recorded)
        instants = instants_of(asked, at, self._log.now())
        events = kin.of(place.ids)
        told = [one.told for one in events]
        moving = Moving(owner, told, place.hidden, asked.law, check, len(events) + len(instants))
        steps = steps_of(asked, weights, events, at, instants)
        sheet = sheet_of(moving, steps, RowsAsked(place.ids, asked.mode, asked.order, place.held), check)
        marks, left = _marked(asked, events, instants)
        laws = list(dict.fromkeys(sheet.laws))
        known = {*place.there, *(name for name, track in sheet.tracks.items() if any(map(_is, track.weights)))}
        return {
            "owner": owner,
            "line": asked.line,
            "mode": asked.mode,
            "law": asked.law,
            "laws": laws,
            "law_at": [laws.index(one) for one in sheet.laws],
            "query": None if asked.query is None else masked(asked.query),
            "ranked_by": asked.order if place.held is None else SCORE,
            "instants": [moment(one) for one in instants],
            "reasons": list(REASONS),
            "rows": [_row(name, place, sheet) for name in place.ids if name in known],
            "unknown": [name for name in place.ids if name not in known],
            "marks": [_mark(one, snapshot.partition) for one in marks],
            "marks_left_out": left,
            "exact_at": snapshot.position,
            "exact_now": moment(snapshot.now),
            "meaning": failed,
            **told_lines(times),
            **snapshot.place,
        }


def _text(snapshot: Snapshot, memory_id: str, mode: Mode) -> str | None:
    memory, today = snapshot.view.get(memory_id), snapshot.present.get(memory_id)
    memory = memory or today
    if memory is None or today is None or today.purged_at is not None or memory.purged_at is not None:
        return None
    if mode != "debug" and state_of(today) >= Columns.REJECTED:
        return None
    return short(card(memory, "full")["memory"][:MOST_TEXT], TEXT_COLUMNS)


def _marked(asked: InstantsAsked, events: Sequence[KinEvent], instants: Sequence[int]) -> tuple[list[KinEvent], int]:
    """Events of the span that name a row, in the order of its line, and how many are left out: what was only shown first."""

    def place(one: KinEvent) -> tuple[int, int]:
        return time_of(asked, one), one.told.seq

    found = [one for one in events if one.named and instants[0] <= time_of(asked, one) <= instants[-1]]
    found.sort(key=lambda one: (isinstance(one.told.event.data, MemoriesAccessed), *place(one)))
    return sorted(found[:MOST_MARKS], key=place), max(len(found) - MOST_MARKS, 0)


def _is(weight: float | None) -> bool:
    return weight is not None


def _row(memory_id: str, place: _Place, sheet: Sheet) -> InstantsRow:
    track = sheet.tracks[memory_id]
    return {
        "id": memory_id,
        "text": place.texts[memory_id],
        "weights": track.weights,
        "ranks": track.ranks,
        "withheld": track.withheld,
        "scores": None if place.held is None else track.scores,
    }


def _mark(one: KinEvent, partition: int) -> InstantsMark:
    return {
        "position": position_text(partition, one.stored.seq),
        "event_id": id_text(one.stored.raw_id),
        "event": one.told.event.type,
        "time": moment(one.told.at),
        "recorded_at": moment(one.stored.recorded),
        "ids": list(one.named),
    }
