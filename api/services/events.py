"""The events of the log themselves, turns and tool results too: page by page, filtered on both time lines, and as they come.

A page reads a bounded number of events and returns how far it came. Cursors are positions, so a rebuild keeps them valid.
Filters and bounds are checked first; then the log is read in bounded runs, in one order. The store has an owner's applied events,
and those that wait behind a quarantine or were dropped. Events that are not folded yet are read from the log behind the
checkpoint, so no page of an owner reads other owners' older events. What may be told of their words is decided by what is known
today: the memories that they name, retracted turns, sources set aside. Leaves no trace.

The heads of a log's chains, and how the log meets those that somebody holds. Reads only; the chain is always recomputed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache, partial
from itertools import chain
from time import monotonic, sleep
from typing import Any, NamedTuple, TypedDict, Unpack, cast

import msgspec

from engramlog_server.api.checks import (
    WHOLE,
    LineTerms,
    TimeSpan,
    check_actor,
    check_id_of,
    check_limit,
    check_one_of,
    check_owner,
    cursor_of,
    cursor_parts,
    lines_answer,
    parse_place,
    question_name,
    recorded_positions,
    span_of,
)
from engramlog_server.api.choices import MOST_EVENTS, MOST_WAIT, PAUSE
from engramlog_server.api.services.histories import ORDERS
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.snapshots import PIECE, Pasts, placed
from engramlog_server.api.work import current_check, weigh
from engramlog_server.events.catalogue import EVENT_TYPES, EventDiscarded, MemoriesAccessed
from engramlog_server.events.envelope import (
    MOST_PRINCIPAL,
    AnyEvent,
    Stored,
    decode,
    from_micros,
    lateness,
    micros,
    utc_text,
)
from engramlog_server.events.errors import OwnerTooLarge, StoreUnavailable, refused
from engramlog_server.events.heads import FIRST, Head, HeadBook, HeadLine, copied_book, write_line
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import LogKeys, parse_position, partition_of, position_text
from engramlog_server.events.redis.log import recorded_of
from engramlog_server.events.redis.server import redis_micros
from engramlog_server.events.redis.wire import Wire, WirePool
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import Bounds, Check
from engramlog_server.projections.fold.changelog import DECISIONS
from engramlog_server.projections.fold.owner import OwnerState
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.memory.deletion import forgotten_turns
from engramlog_server.projections.memory.record import Asides, Memory
from engramlog_server.projections.memory.working_memory import Turn, set_aside_among
from engramlog_server.projections.redis.create import (
    HeadState,
    LiveHead,
    PartitionMet,
    StoreIdentity,
    Unmet,
    live_heads,
    meet,
    recompute,
)
from engramlog_server.projections.redis.said import all_said
from engramlog_server.projections.redis.view import PartitionStanding, RedisViews
from engramlog_server.projections.shapes import (
    ChainHead,
    ChainHeads,
    HeadKept,
    HeadsCompared,
    HeadsKeeping,
    HeadUnmet,
    LogAccepted,
    LogEvents,
    LoggedEvent,
    OwnerHead,
    PartitionCompared,
    Warned,
)
from engramlog_server.projections.views.event_words import OwnerToday, event_of, event_told
from engramlog_server.projections.views.view import OwnerView


class OwnersToday:
    """The same of each owner of a page, asked for once."""

    def __init__(self, views: RedisViews, reader: Reader, events: Iterable[Stored]) -> None:
        self._views, self._reader = views, reader
        self._named: defaultdict[str, set[str]] = defaultdict(set)
        for one in events:
            if (event := event_of(one)) is not None and not _is_silent(event):
                self._named[one.owner].update(names(event.data))
        self.of = cache(self._of)

    def _of(self, owner: str) -> OwnerToday:
        found = self._views.told_records(owner, self._named[owner])

        def get(memory_id: str) -> Memory | None:
            if memory_id not in self._named[owner]:  # what another was merged into
                self._named[owner].add(memory_id)
                found.update(self._views.told_records(owner, [memory_id]))
            return found.get(memory_id)

        asides = self._views.glance(owner)[0].state.asides
        forgotten, turns = (lambda: self._forgotten(owner)), (lambda: turns_set_aside(self._views, owner, asides))
        return OwnerToday(get, cache(forgotten), asides, cache(turns))

    def _forgotten(self, owner: str) -> frozenset[str] | None:
        try:
            with self._reader.snapshot(owner) as today:
                return forgotten_turns(today.view.columns)
        except OwnerTooLarge:
            return None


def _is_silent(event: AnyEvent) -> bool:
    """Whether it names memories, up to thousands, and holds no word of which they could decide."""
    data = event.data
    return isinstance(data, MemoriesAccessed) and not (data.query or any(one.query for one in data.accesses))


def turns_set_aside(views: RedisViews, owner: str, asides: Asides) -> frozenset[str]:
    """An owner's turns of sources that are set aside. Reads all that was said to the owner."""
    weigh(views.applied(partition_of(owner, views.partitions), [owner])[0])
    said = all_said(views, owner, current_check())
    return frozenset(one.turn_id for one in said if isinstance(one, Turn) and set_aside_among([one], asides))


_RULE = "what `next` or `follow` said on a page before, with nothing else changed in the question"


class EventTerms(TypedDict, total=False):
    """Which events, as they are asked for; nothing asked of a line says nothing of it."""

    types: Sequence[str]
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    session: str | None
    principal: str | None
    actor: str | None
    late: bool
    turn: str | None
    memory: str | None
    correlation: str | None
    as_of: str | None
    known: str | None


class EventsAsked(EventTerms, total=False):
    """The same, and which page of them."""

    limit: int
    cursor: str | None
    """What `next` or `follow` said."""
    order: str
    wait: float
    """Seconds, 0 to 20, that an empty page may wait for an event, oldest first."""


class _Head(msgspec.Struct, frozen=True):
    """What filters ask of an envelope."""

    actor: str
    occurred_at: datetime
    session_id: str | None = None
    correlation_id: str | None = None


_HEAD = msgspec.json.Decoder(_Head)


class EventsWanted(NamedTuple):
    """The same, checked. What cannot be read is asked for by type, position, principal and recorded time alone."""

    types: frozenset[str] = frozenset()
    session: str | None = None
    principal: str | None = None
    actor: str | None = None
    late: bool = False
    turn: str | None = None
    memory: str | None = None
    correlation: str | None = None
    happened: TimeSpan = WHOLE

    def holds(self, stored: Stored) -> bool:
        """Whether an event is asked for."""
        if self.types and stored.kind.rpartition(".")[0] not in self.types:
            return False
        if self.principal is not None and _principal(stored) != self.principal:
            return False
        return self._holds_envelope(stored) and self._holds_data(stored)

    def _holds_envelope(self, stored: Stored) -> bool:
        if self.happened == WHOLE and not self.late and self.actor is self.session is self.correlation is None:
            return True
        try:
            head = _HEAD.decode(stored.body)
            recorded = stored.recorded
        except (*UNREADABLE, ValueError, IndexError):
            return False
        happened = micros(head.occurred_at)
        return (
            self.happened.holds(happened)
            and self.actor in (None, head.actor)
            and self.session in (None, head.session_id)
            and self.correlation in (None, head.correlation_id)
            and not (self.late and lateness(happened, recorded) is None)
        )

    def _holds_data(self, stored: Stored) -> bool:
        if self.memory is None and self.turn is None:
            return True
        event = event_of(stored)
        if event is None:
            return False
        named = self.memory is None or self.memory in names(event.data)
        return named and (self.turn is None or self.turn in _turns(event))


def _principal(stored: Stored) -> str | None:
    try:
        return stored.principal
    except (ValueError, IndexError):
        return None


def _turns(event: AnyEvent) -> set[Any]:
    """Turns that an event is about or names."""
    data = event.data
    alone = {getattr(data, name, None) for name in ("turn_id", "reply_to", "up_to")}
    return alone.union(*(getattr(data, name, ()) for name in ("source_turns", "by_rules")))


def wanted_of(terms: EventTerms) -> EventsWanted:
    """Filters as they were asked for, but for instants. Raises InputError naming the field."""
    types = tuple(terms.get("types", ()))
    for one in types:
        check_one_of("types", one, EVENT_TYPES)
    ids = {name: terms.get(name) for name in ("session", "turn", "memory", "correlation")}
    for name, value in ids.items():
        if value is not None:
            check_id_of(name, str(value))
    principal, actor = terms.get("principal"), terms.get("actor")
    if principal is not None and not (1 <= len(principal) <= 2 * MOST_PRINCIPAL and principal.isprintable()):
        raise refused("principal", principal[:80], f"1 to {2 * MOST_PRINCIPAL} printable characters")
    named = None if actor is None else check_actor(actor)
    late, about = bool(terms.get("late", False)), (terms.get("turn"), terms.get("memory"), terms.get("correlation"))
    return EventsWanted(frozenset(types), terms.get("session"), principal, named, late, *about)


class EventCursor(NamedTuple):
    """Where a page ended: all up to a position was looked at, or, newest first, all down to it."""

    seq: int
    newest: bool


def question_of(whose: str | int, terms: EventTerms) -> str:
    """What a cursor must have been made for."""
    told = [whose, *([name, value] for name, value in sorted(terms.items()) if value)]
    return question_name(told)


def cursor_text(cursor: EventCursor, question: str) -> str:
    """A cursor as callers hold it: URL-safe, opaque."""
    return cursor_of(cursor.seq, int(cursor.newest), question)


def read_cursor(text: str, question: str, *, newest: bool) -> EventCursor:
    """The cursor. Raises InputError for one of another question, or of another order."""
    seq, order, asked = cursor_parts(text, (int, int, str), _RULE)
    whole = 0 <= seq < 1 << 53 and order in (0, 1)
    if not whole or asked != question or bool(order) is not newest:
        raise refused("cursor", text[:80], _RULE)
    return EventCursor(seq, newest)


_TRIES = 5
_DISCARD = DECISIONS.index("discard")


class Run(NamedTuple):
    """Events in order, and the last seq that was looked at for them."""

    events: list[Stored]
    reached: int
    looked: int
    """How many entries were looked at: of others too, where a log is read through."""


class OwnerPlaces(NamedTuple):
    """Where an owner's events lie, as of one moment."""

    view: OwnerView
    """Without memories."""
    standing: PartitionStanding
    seqs: Sequence[int]
    """Of those up to the checkpoint, ascending."""
    folded: Sequence[int]
    """Those of them that are applied, ascending."""

    def is_folded(self, seq: int) -> bool:
        """Whether an event is applied."""
        return _in(self.folded, seq)


class EventRuns:
    """Reads the events of one store. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, pasts: Pasts) -> None:
        self._log, self._views, self._pasts = log, views, pasts

    def places(self, owner: str) -> OwnerPlaces:
        """Where an owner's events lie. Raises StoreUnavailable where its quarantine changes meanwhile."""
        for _ in range(_TRIES):
            view, standing = self._views.glance(owner)
            folded, discards = self._applied(owner, standing, view.state)
            waiting = self._views.parked(owner, standing.build) if standing.quarantine is not None else []
            if self._views.glance(owner)[1].quarantine == standing.quarantine:
                beside = {seq for seq in (*waiting, *self._dropped(owner, discards)) if seq <= standing.checkpoint}
                return OwnerPlaces(view, standing, sorted(beside.union(folded)) if beside else folded, folded)
        raise StoreUnavailable(f"the quarantine of {owner} changes too fast to be read; come again", retry_after=1)

    def _applied(self, owner: str, standing: PartitionStanding, state: OwnerState) -> tuple[list[int], list[int]]:
        """Seqs of what is applied, and of those of them that dropped something."""
        bounds, source = Bounds(current_check(), weigh), self._pasts.source(owner)
        events = self._views.moments.events(owner, standing.build, state, source, bounds)
        if events is not None:
            return events.seqs.tolist(), events.seqs[events.dropping].tolist()
        entries = self._views.changelogs.entries(owner, check=current_check())
        discards = [entry.seq for _, entry in entries if entry.decision == _DISCARD]
        return self._views.changelogs.seqs(owner, current_check())[: state.applied], discards

    def _dropped(self, owner: str, discards: Sequence[int]) -> Iterator[int]:
        """Seqs of events that waited once and were dropped for good."""
        for one in self._pasts.stored(owner, discards):
            data = decode(one.kind, one.body).data
            if isinstance(data, EventDiscarded):
                yield parse_position(data.position)[1]

    def of_owner(self, owner: str, places: OwnerPlaces, positions: range, *, newest: bool) -> Iterator[Run]:
        """An owner's events at these positions."""
        standing = places.standing
        first, last = bisect_left(places.seqs, positions.start), bisect_left(places.seqs, positions.stop)
        known = self._known(owner, places.seqs[first:last], newest=newest)
        behind = range(max(positions.start, standing.checkpoint + 1), positions.stop)
        rest = self.of_partition(standing.partition, behind, newest=newest, owner=owner)
        return chain(rest, known) if newest else chain(known, rest)

    def _known(self, owner: str, seqs: Sequence[int], *, newest: bool) -> Iterator[Run]:
        ordered = seqs[::-1] if newest else seqs
        for start in range(0, len(ordered), PIECE):
            some = ordered[start : start + PIECE]
            events = self._views.stored(owner, sorted(some), whole=False)
            yield Run(events[::-1] if newest else events, some[-1], len(some))

    def of_partition(
        self, partition: int, positions: range, *, newest: bool, owner: str | None = None
    ) -> Iterator[Run]:
        """A partition's events at these positions; `owner`: only one's."""
        for some in _pieces(positions, newest=newest):
            events = self._log.read(partition, some.start - 1, len(some))
            mine = [one for one in events if owner is None or one.owner == owner]
            yield Run(mine[::-1] if newest else mine, some.start if newest else some.stop - 1, len(some))


def _pieces(positions: range, *, newest: bool) -> Iterator[range]:
    """Positions in pieces, those with the lowest or the highest first."""
    if newest:
        for stop in range(positions.stop, positions.start, -PIECE):
            yield range(max(stop - PIECE, positions.start), stop)
    else:
        for start in range(positions.start, positions.stop, PIECE):
            yield range(start, min(start + PIECE, positions.stop))


def _in(ascending: Sequence[int], seq: int) -> bool:
    place = bisect_left(ascending, seq)
    return place < len(ascending) and ascending[place] == seq


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

    def events(self, owner: str, **asked: Unpack[EventsAsked]) -> LogEvents:
        """A page of an owner's events, those that are not folded too. Raises InputError for what cannot be asked."""
        return self._waited(check_owner(owner), asked)

    def partition_events(self, partition: int, **asked: Unpack[EventsAsked]) -> LogEvents:
        """The same of all owners of a partition, for operators."""
        if not 0 <= partition < self._log.partitions:
            raise refused("partition", partition, f"a whole number from 0 to {self._log.partitions - 1}")
        return self._waited(partition, asked)

    def partition_of(self, whose: str | int) -> int:
        """The partition in which an owner's events lie; a partition's own number."""
        return partition_of(whose, self._log.partitions) if isinstance(whose, str) else whose

    def _waited(self, whose: str | int, asked: EventsAsked) -> LogEvents:
        cursor, limit = asked.pop("cursor", None), asked.pop("limit", 100)
        order, wait = asked.pop("order", ORDERS[0]), asked.pop("wait", 0.0)
        terms = cast("EventTerms", asked)
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
        check_one_of("order", order, ORDERS)
        newest, question = order == ORDERS[1], question_of(whose, terms)
        start = None if cursor is None else read_cursor(cursor, question, newest=newest)
        wanted, most = wanted_of(terms), check_limit(limit, MOST_EVENTS)
        partition = self.partition_of(whose)
        head = self._log.head(partition)
        places = self._runs.places(whose) if isinstance(whose, str) else None
        happened, positions = self._bounds(partition, head, terms, places)
        if start is not None:
            if start.seq > head:
                allowed = f"one of this log, whose head is {head}: it was rolled back; begin again"
                raise refused("cursor", str(cursor)[:80], allowed)
            positions = _from(positions, start)
        owner = whose if isinstance(whose, str) else None
        wanted = wanted._replace(happened=happened)
        asked = _Asked(partition, owner, wanted, positions, most, newest, question, head, places)
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


MOST_TEXT = 8 * 1024 * 1024
"""Characters of a text that is compared: as much as a file of kept heads holds before the next begins."""
_MOST_READ, _MOST_READ_ALLOWED = 200_000, 1_000_000
MOST_UNMET = 100
MOST_PROBLEMS = 10
MOST_ACCEPTED = 100
_CHAIN = re.compile(r"[0-9a-fA-F]{64}")


class Heads:
    """Tells and compares heads. Safe for threads. `kept` reads the file kept here, if any."""

    def __init__(self, wires: WirePool, identity: StoreIdentity, kept: Callable[[], HeadBook] | None = None) -> None:
        self._wires, self._identity, self._kept = wires, identity, kept

    def heads(self) -> ChainHeads:
        """Every head with its time, beside the farthest that is kept; and all as a line to keep. Raises StoreError."""
        with self._wires.wire() as wire:
            at = utc_text(from_micros(redis_micros(wire)))
            live = {number: one for number, one in enumerate(live_heads(wire, self._identity.tags)) if one.seq}
            recorded = self._recorded(wire, live)
        check = current_check()
        check(0, 1 + len(live))
        book = None if self._kept is None else self._kept()
        check(1, 1 + len(live))
        heads = tuple(Head(number, one.seq, one.chain) for number, one in live.items())
        line = HeadLine(1, at, self._identity.store_id, heads, FIRST)
        told: list[ChainHead] = [
            {
                "partition": number,
                "seq": one.seq,
                "chain": one.chain,
                "at": recorded[number],
                "appended": one.appended,
                "kept": None if book is None else _kept(book, number),
            }
            for number, one in live.items()
        ]
        return {
            "store_id": self._identity.store_id,
            "at": at,
            "partitions": self._identity.partitions,
            "heads": told,
            "line": write_line(line).decode().rstrip("\n"),
            "keeping": None if book is None else _keeping(book),
        }

    def _recorded(self, wire: Wire, live: dict[int, LiveHead]) -> dict[int, str | None]:
        """When the log took in the event at each head."""
        places = [(LogKeys(self._identity.tags[number]).stream, one.seq) for number, one in live.items()]
        return {
            number: None if at is None else utc_text(from_micros(at))
            for number, at in zip(live, recorded_of(wire, places), strict=True)
        }

    def check(self, text: str, *, most: int = _MOST_READ) -> HeadsCompared:
        """Compare the log with heads that somebody holds: a `text` of lines, or what `heads --json` told.

        The chain of each partition that is named is recomputed from its first event, up to the farthest head; at most so many
        events are read in all, and what was not reached is told. Raises InputError, which names the line.
        """
        if not 1 <= most <= _MOST_READ_ALLOWED:
            raise refused("most", most, f"a whole number from 1 to {_MOST_READ_ALLOWED:,}")
        if len(text) > MOST_TEXT:
            raise refused("text", f"{len(text):,} characters", f"at most {MOST_TEXT:,} characters")
        return self.compare(copied_book(text.encode(errors="replace"), "text"), most)

    def compare(self, book: HeadBook, most: int = _MOST_READ) -> HeadsCompared:
        """The same of heads that were read already."""
        known = range(self._identity.partitions)
        beyond = [number for number in book.expected if number not in known]
        with self._wires.wire() as wire:
            live = live_heads(wire, self._identity.tags)
            met, events = self._met(wire, book, live, most)
        uncovered = [number for number, one in enumerate(live) if one.appended and not book.expected.get(number)]
        problems = [f"partition {number} is none of this store's {len(known)}" for number in sorted(beyond)]
        return _told(self._identity.store_id, book, met, problems, uncovered, events, most)

    def _met(self, wire: Wire, book: HeadBook, live: Sequence[LiveHead], most: int) -> tuple[list[PartitionMet], int]:
        """Each partition's heads against its log, and how many events were read."""
        wanted = {
            number: min(max(seqs), live[number].appended)
            for number, seqs in sorted(book.expected.items())
            if seqs and number < len(live)
        }
        met, events, total, check = list[PartitionMet](), 0, min(sum(wanted.values()), most), current_check()
        for number, to in wanted.items():
            progress = partial(_checked, check, events, total)
            tag, expected = self._identity.tags[number], book.expected[number]
            read = recompute(wire, tag, expected, to, most=most - events, check=progress)
            events += read.read_to
            met.append(meet(number, expected, live[number].appended, read))
        return met, events


class OwnerHeads:
    """Heads of owners' chains. Safe for threads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def heads(self, owner: str, *, chain: str | None = None, **times: Unpack[LineTerms]) -> OwnerHead:
        """The head of an owner's chain, now or in the past, and whether it is the `chain` that was told. Leaves no trace.

        Raises InputError for an owner, a chain or a place in time that cannot be.
        """
        if chain is not None and not _CHAIN.fullmatch(chain):
            raise refused("chain", chain[:80], "64 hexadecimal digits")
        with self._reader.snapshot(check_owner(owner), **times) as snapshot:
            found, place = snapshot.chain.hex(), snapshot.place
        return {
            "owner": owner,
            "chain": found,
            "asked": chain,
            "agrees": None if chain is None else chain.lower() == found,
            **lines_answer(times),
            **place,
        }


def _checked(check: Check, before: int, total: int, done: int, _of: int) -> None:
    check(before + done, total)


def _kept(book: HeadBook, number: int) -> HeadKept | None:
    newest = book.newest(number)
    if newest is None:
        return None
    line = book.expected[number][newest.seq]
    return {"seq": newest.seq, "chain": newest.chain, "at": line.at, "line": line.line}


def _keeping(book: HeadBook) -> HeadsKeeping:
    return {
        "lines": book.lines,
        "last": None if book.last is None else book.last.at,
        "problems": book.problems[:MOST_PROBLEMS],
        "accepted": _accepted(book),
    }


def _accepted(book: HeadBook) -> list[LogAccepted]:
    told: list[LogAccepted] = [
        {"partition": head.partition, "seq": head.seq, "at": line.at, "reason": line.reason}
        for line in book.accepted[-MOST_ACCEPTED:]
        for head in line.heads
    ]
    return told[-MOST_ACCEPTED:]


def _told(
    store_id: str,
    book: HeadBook,
    met: Sequence[PartitionMet],
    problems: list[str],
    uncovered: list[int],
    events: int,
    most: int,
) -> HeadsCompared:
    partitions = [_partition(one) for one in met]
    unmet = [_unmet(one, state) for each in met for one, state in each.unmet]
    others = sorted(book.stores - {store_id})
    problems = [*book.problems, *problems]
    unread = sum(one["unread"] for one in partitions)
    return {
        "store_id": store_id,
        "agrees": not (unmet or problems or others),
        "complete": not unread,
        "lines": book.lines,
        "heads": sum(one["heads"] for one in partitions),
        "agreed": sum(one["agreed"] for one in partitions),
        "differing": sum(one["differing"] for one in partitions),
        "missing": sum(one["missing"] for one in partitions),
        "unread": unread,
        "partitions": partitions,
        "unmet": unmet[:MOST_UNMET],
        "problems": problems[:MOST_PROBLEMS],
        "other_stores": others[:MOST_PROBLEMS],
        "accepted": _accepted(book),
        "uncovered": uncovered,
        "events_read": events,
        "most": most,
    }


def _partition(one: PartitionMet) -> PartitionCompared:
    counts, told = one.counts, one._asdict()
    del told["unmet"]
    told |= {"agreed": counts["agrees"], "differing": counts["differs"]}
    told |= {"missing": counts["missing"], "unread": counts["unread"]}
    return cast("PartitionCompared", {"state": one.state, **told})


def _unmet(one: Unmet, state: HeadState) -> HeadUnmet:
    told: Any = {"position": position_text(one.partition, one.seq), "state": state, **one._asdict()}
    return cast("HeadUnmet", told)
