"""Count an owner's events on both time lines. Leaves no trace.

Every page of the console asks for them, so no record is loaded and no event is read twice.
"""

from __future__ import annotations

from typing import NamedTuple, Unpack, cast

import numpy as np

from engramlog_server.api.choices import MOST_BUCKETS, UNKNOWN
from engramlog_server.api.requests.checks import (
    WHOLE,
    LineTerms,
    TimesAsked,
    TimeSpan,
    check_limit,
    check_owner,
    lines_of,
    span_of,
    times_of,
    told_lines,
)
from engramlog_server.api.requests.snapshots import Snapshot, placed
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.work.patience import current_check, weigh
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.checks import Bounds
from engramlog_server.projections.past.events import Flags, Integers, Lines, OwnerEvents
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.reports.statistics import LineParts, ends_of, in_parts, late_among
from engramlog_server.projections.shapes import GroupCounts, LineBuckets, OwnerTimes
from engramlog_server.projections.views.query import moment

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
                "first": _instant_text(happened.first),
                "last": _instant_text(happened.last),
                "ahead": _instant_text(ahead),
            },
            "recorded": {"first": _instant_text(recorded.first), "last": _instant_text(recorded.last)},
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
            **told_lines(lines),
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
        "since": _instant_text(parts.since),
        "until": _instant_text(parts.until),
        "seconds": parts.seconds,
        "events": parts.events,
        "counts": parts.counts,
        "groups": None if parts.groups is None else cast("GroupCounts", parts.groups),
    }


def _instant_text(instant: int | None) -> str | None:
    return None if instant is None else moment(instant)
