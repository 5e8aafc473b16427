"""The events of the log themselves, turns and tool results too: page by page, filtered on both time lines, and as they come.

A page looks at so many events at the most, and tells how far it came. Cursors go by positions: a rebuild leaves them as they are.
Leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from time import monotonic, sleep
from typing import NamedTuple, Unpack

from api.choices import MOST_EVENTS, MOST_WAIT, PAUSE
from api.requests.checks import check_limit, check_owner, parse_place
from api.requests.snapshots import placed
from api.requests.timelines import TimeSpan, recorded_positions, span_of
from api.services.auditing.event_runs import EventRuns, OwnerPlaces, Run
from api.services.auditing.events_wanted import (
    EventCursor,
    EventsWanted,
    EventTerms,
    cursor_text,
    question_of,
    read_cursor,
    wanted_of,
)
from api.services.auditing.owners_today import OwnersToday
from api.services.histories import ORDERS
from api.services.reading import Reader
from api.shapes import LogEvents, LoggedEvent, Warned
from api.work.patience import current_check
from events.envelope import Stored
from events.errors import refused
from events.log import EventLog
from events.partitions import partition_of, position_text
from projections.redis.view import RedisViews
from projections.views.event_told import event_told

MOST_LOOKED = 4_000
"""Events that are looked at for one page."""
MOST_BYTES = 1024 * 1024
"""Bytes of bodies after which a page ends."""
_BLOCK = 1.0


class _Asked(NamedTuple):
    """A question about events, checked."""

    partition: int
    owner: str | None
    wanted: EventsWanted
    positions: range
    limit: int
    newest: bool
    question: str
    head: int
    places: OwnerPlaces | None


class _Page(NamedTuple):
    events: list[Stored]
    reached: int | None
    looked: int
    ended: bool
    """Whether there is nothing further to look at."""


class Events:
    """Answers what stands in one store's log. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader) -> None:
        self._log, self._views, self._reader = log, views, reader
        self._runs = EventRuns(log, views, reader.pasts)

    def events(
        self,
        owner: str,
        *,
        limit: int = 100,
        cursor: str | None = None,
        order: str = ORDERS[0],
        wait: float = 0,
        **terms: Unpack[EventTerms],
    ) -> LogEvents:
        """A page of an owner's events, those that are not folded too.

        `cursor`: what `next` or `follow` said. `wait`: seconds, 0 to 20, that an empty page may wait for an event, oldest first.
        Raises InputError for what cannot be asked.
        """
        return self._waited(check_owner(owner), cursor, limit, order, wait, terms)

    def partition_events(
        self,
        partition: int,
        *,
        limit: int = 100,
        cursor: str | None = None,
        order: str = ORDERS[0],
        wait: float = 0,
        **terms: Unpack[EventTerms],
    ) -> LogEvents:
        """The same of all owners of a partition, for operators."""
        if not 0 <= partition < self._log.partitions:
            raise refused("partition", partition, f"a whole number from 0 to {self._log.partitions - 1}")
        return self._waited(partition, cursor, limit, order, wait, terms)

    def partition_of(self, whose: str | int) -> int:
        """The partition in which an owner's events lie; a partition's own number."""
        return partition_of(whose, self._log.partitions) if isinstance(whose, str) else whose

    def _waited(
        self, whose: str | int, cursor: str | None, limit: int, order: str, wait: float, terms: EventTerms
    ) -> LogEvents:
        check_wait(wait, order)
        end = monotonic() + wait
        while True:
            looked = monotonic()
            answer = self._page(whose, cursor, limit, order, terms)
            left = end - monotonic()
            if answer["events"] or answer["next"] is not None or left <= 0:
                return answer
            cursor, head = answer["follow"], int(answer["head"].partition(":")[2])
            self._wait(self.partition_of(whose), whose if isinstance(whose, str) else None, head, end)
            sleep(max(min(pause_after(looked), end - monotonic()), 0))

    def _wait(self, partition: int, owner: str | None, head: int, end: float) -> None:
        """Until something of the owner, or of anybody, is appended, or the end; whoever waits may be told to stop meanwhile."""
        check = current_check()
        while (left := end - monotonic()) > 0:
            check(0, 0)
            if not self._log.wait_beyond({partition: head}, min(left, _BLOCK)):
                continue
            on = beyond(self._log.read(partition, head), owner, head)
            if on is None:
                return
            head = on
            sleep(max(min(PAUSE, end - monotonic()), 0))

    def _page(self, whose: str | int, cursor: str | None, limit: int, order: str, terms: EventTerms) -> LogEvents:
        if order not in ORDERS:
            raise refused("order", order, " or ".join(ORDERS))
        newest, question = order == ORDERS[1], question_of(whose, terms)
        start = None if cursor is None else read_cursor(cursor, question, newest=newest)
        wanted, most = wanted_of(terms), check_limit(limit, MOST_EVENTS)
        partition = self.partition_of(whose)
        head = self._log.head(partition)
        places = self._runs.places(whose) if isinstance(whose, str) else None
        happened, positions = self._bounds(partition, head, terms, places)
        if start is not None:
            if start.seq > head:
                raise refused(
                    "cursor",
                    str(cursor)[:80],
                    f"one of this log, whose head is {head}: it was rolled back; begin again",
                )
            positions = _from(positions, start)
        owner = whose if isinstance(whose, str) else None
        asked = _Asked(
            partition,
            owner,
            wanted._replace(happened=happened),
            positions,
            most,
            newest,
            question,
            head,
            places,
        )
        return self._answer(asked, self._look(asked, self._read(asked)), order, terms)

    def _answer(self, asked: _Asked, page: _Page, order: str, terms: EventTerms) -> LogEvents:
        following = asked.head if page.ended or asked.newest or page.reached is None else page.reached
        at_end = page.ended or page.reached is None
        warning: Warned = {}
        if asked.places is not None:
            warning = placed(asked.places.view, 0, asked.places.standing).warning
        return {
            "owner": asked.owner,
            "partition": asked.partition,
            "events": self._told(asked, page.events),
            "next": None
            if at_end or page.reached is None
            else cursor_text(EventCursor(page.reached, asked.newest), asked.question),
            "follow": cursor_text(EventCursor(following, False), asked.question),
            "order": order,
            "looked": page.looked,
            "looked_to": None if page.reached is None else position_text(asked.partition, page.reached),
            "head": position_text(asked.partition, asked.head),
            "as_of": terms.get("as_of"),
            "known": terms.get("known"),
            **warning,
        }

    def _read(self, asked: _Asked) -> Iterator[Run]:
        if asked.owner is not None and asked.places is not None:
            return self._runs.of_owner(asked.owner, asked.places, asked.positions, newest=asked.newest)
        return self._runs.of_partition(asked.partition, asked.positions, newest=asked.newest)

    def _look(self, asked: _Asked, runs: Iterator[Run]) -> _Page:
        """Events until the page is full, or has looked at as many as it may."""
        found, looked, size, reached, check = list[Stored](), 0, 0, None, current_check()
        for run in runs:
            check(looked, 0)
            if looked >= MOST_LOOKED:
                return _Page(found, reached, looked, False)
            for number, one in enumerate(run.events, 1):
                if not asked.wanted.holds(one):
                    continue
                found.append(one)
                size += len(one.body)
                if len(found) == asked.limit or size >= MOST_BYTES:
                    return _Page(found, one.seq, looked + number, False)
            looked, reached = looked + run.looked, run.reached
        return _Page(found, reached, looked, True)

    # --- from when to when

    def _bounds(
        self, partition: int, head: int, terms: EventTerms, places: OwnerPlaces | None
    ) -> tuple[TimeSpan, range]:
        """When what is asked for happened, and at which positions it lies."""
        zone = "UTC" if places is None else places.view.parameters.time_zone
        owner = None if places is None else places.view.owner
        whose = "partition" if owner is None else f"owner {owner}, whose partition is"
        as_of = parse_place(terms.get("as_of"), "as_of", partition, whose).by_the_clocks_of(zone)
        known = parse_place(terms.get("known"), "known", partition, whose).by_the_clocks_of(zone)
        happened = span_of(terms.get("since"), terms.get("until"), zone)
        if as_of.instant is not None:
            until = min(as_of.instant, as_of.instant if happened.until is None else happened.until)
            happened = happened._replace(until=until)
        recorded = span_of(terms.get("recorded_since"), terms.get("recorded_until"), zone, "recorded_")
        read = cache(lambda seq: self._log.read_at(partition, [seq])[0])
        positions = recorded_positions(recorded, head, read)
        stops = [positions.stop, *(one.seq + 1 for one in (as_of, known) if one.seq is not None)]
        if known.instant is not None:
            stops.append(recorded_positions(TimeSpan(known.instant + 1), head, read).start)
        return happened, range(positions.start, max(min(stops), positions.start))

    # --- words

    def _told(self, asked: _Asked, events: list[Stored]) -> list[LoggedEvent]:
        today = OwnersToday(self._views, self._reader, events)
        check, places = current_check(), asked.places
        found = list[LoggedEvent]()
        for number, one in enumerate(events):
            check(number, len(events))
            folded = None if places is None else places.is_folded(one.seq)
            found.append(event_told(one, asked.partition, partial(today.of, one.owner), folded=folded))
        return found


def pause_after(looked: float) -> float:
    """Seconds until one may look again who looked at this monotonic time: also where what comes is never what is asked for."""
    return max(PAUSE - (monotonic() - looked), 0)


def beyond(entries: Sequence[Stored], owner: str | None, head: int) -> int | None:
    """Where to look on from among new entries; None where one is the owner's, or anybody's will do."""
    if not entries:
        return head
    return None if owner is None or any(one.owner == owner for one in entries) else entries[-1].seq


def _from(positions: range, cursor: EventCursor) -> range:
    """What of these positions lies behind a cursor."""
    if cursor.newest:
        return range(positions.start, max(min(positions.stop, cursor.seq), positions.start))
    return range(min(max(positions.start, cursor.seq + 1), positions.stop), positions.stop)


def check_wait(wait: float, order: str) -> None:
    """Raises InputError where nobody may wait so long, or for what comes before."""
    if not 0 <= wait <= MOST_WAIT:
        raise refused("wait", wait, f"seconds from 0 to {MOST_WAIT}")
    if wait and order != ORDERS[0]:
        raise refused("wait", wait, f"no wait with order {order}: what comes is the newest")
