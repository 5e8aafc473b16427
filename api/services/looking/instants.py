"""What some memories weigh, and where they stand, at many instants. Writes nothing and leaves no trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from api.pictures.text import short
from api.requests.checks import parse_as_of
from api.requests.searching import check_terms, request_of
from api.requests.secrets import masked
from api.requests.snapshots import Snapshot
from api.requests.timelines import HAPPENED, Progress, TimesAsked, told_lines
from api.services.looking.instants_asked import (
    MOST_CELLS,
    EventsTimes,
    InstantsAsked,
    WeightsHeld,
    checked,
    instants_of,
    steps_of,
    time_of,
    times_of,
)
from api.services.reading import Reader
from api.shapes import InstantsMark, InstantsRow, InstantsTold
from api.work.patience import both, current_check, weigh
from events.catalogue import MemoriesAccessed
from events.errors import refused
from events.log import EventLog
from events.partitions import position_text
from projections.fold.changelog import id_text
from projections.laws.modes import REASONS, Mode
from projections.memory.columns import Columns, state_of
from projections.memory.record import Memory
from projections.past.kin import EventKin, KinEvent
from projections.ranking.senses import MeantQuestion
from projections.redis.view import RedisViews
from projections.reports.held_scores import HeldScores, held_scores
from projections.reports.instants import ACTIVATED, SCORE, RowsAsked, Sheet, sheet_of
from projections.reports.moving import Moving
from projections.views.hidden import hidden_ids
from projections.views.query import ViewQuery, card, moment

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
        times = times_of(asked, as_of, known, after, on_progress)
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
