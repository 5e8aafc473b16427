"""What is asked of many instants, checked; which instants these are, and what counts from each on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from api.requests.checks import check_id_of, check_limit, check_mode, check_query, parse_instant
from api.requests.timelines import KNOWN, LINE_NAMES, Progress, TimesAsked
from api.services.auditing.by_law import check_law
from events.errors import refused
from projections.laws.modes import Mode
from projections.past.kin import KinEvent
from projections.reports.instants import ORDERS, InstantStep
from projections.views.query import moment

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
        order=_one_of("order", told["order"], ORDERS),
        points=_checked_points(told["points"]),
        ids=_checked_ids(told["ids"], query),
        line=_one_of("line", told["line"], LINE_NAMES),
        since=None if since is None else parse_instant(since, "from"),
        until=None if until is None else parse_instant(until, "to"),
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


def _one_of(field: str, got: str, allowed: Sequence[str]) -> str:
    if got not in allowed:
        raise refused(field, got, " or ".join(allowed))
    return got


def times_of(
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
        raise refused("to", moment(until), f"an instant not before {moment(since)}, where it begins")
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
