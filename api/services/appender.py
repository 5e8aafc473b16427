"""Appending to a store: what comes from outside, and what verbs make; waiting for its fold, and telling what it did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import orjson
from msgspec import structs

from engramlog_server.api.requests.checks import caller_in_hand, label_objection, parse_instant, speaker
from engramlog_server.api.requests.refusals import RefusedValues, refusal_of
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.shapes import Change
from engramlog_server.api.work.patience import current_check, has_told
from engramlog_server.events.envelope import AnyEvent, Prepared, from_micros
from engramlog_server.events.errors import AccessDenied, InvalidBatch, InvalidEvent
from engramlog_server.events.log import AppendReceipt, EventLog, marked, written_to
from engramlog_server.events.partitions import parse_position, partition_of
from engramlog_server.events.standing import Objection, Speaker
from engramlog_server.events.validation import judged, make_event, read_events, ready
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.access.caller import check_said
from engramlog_server.projections.fold.changelog import describe
from engramlog_server.projections.redis.view import RedisViews

NEWEST = 64
"""How many events beside its own a verb looks back over at first."""


class CatchUp(Protocol):
    """Waits for the fold, or folds where no worker does."""

    def __call__(self, until: Mapping[int, int]) -> None:
        """Returns once these positions (partition -> seq) are folded; raises NotYetFolded where nobody folds them."""

    def tend(self, partition: int) -> None:
        """Have what operators ask of a partition carried out, where no worker does."""


class Appender:
    """Appends events to one store. `catch_up` waits for the fold, or folds where no worker does."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader, catch_up: CatchUp) -> None:
        self._log = log
        self._views = views
        self._reader = reader
        self._catch_up = catch_up
        self.refused_values = RefusedValues(log, views)
        self.on_turns: Callable[[str], None] = lambda _owner: None
        """Called with the owner after turns from outside were appended."""
        self.on_texts: Callable[[str, int], None] = lambda _owner, _texts: None
        """Called with the owner and a number of texts after a verb wrote them; not for raw appends."""

    def append(
        self, raws: Sequence[bytes | str], *, expected_heads: Mapping[str, int] | None = None
    ) -> list[AppendReceipt]:
        """Validate a request of JSON envelopes from outside whole, then append it; one receipt per event.

        Nobody outside speaks as operator or system (`events.standing`): those use the command line at the store.
        """
        events = self._looked_through(self.read(raws))
        refused = self.refused_values.of(events)
        has_told()
        receipts = self._log.append(events, expected_heads=expected_heads)
        self._views.unjudged.note(events, receipts)
        written = (event for receipt, event in zip(receipts, events, strict=True) if receipt.written)
        for owner in dict.fromkeys(event.owner for event in written if event.kind.startswith("TurnRecorded.")):
            self.on_turns(owner)
        return [self.told(receipt, event, refused) for receipt, event in zip(receipts, events, strict=True)]

    def _looked_through(self, events: Sequence[Prepared]) -> list[Prepared]:
        """The events with what is found in their words, which is most of the work: here it can end, for nothing is written yet."""
        found, check = list[Prepared](), current_check()
        for done, event in enumerate(events):
            check(done, len(events))
            one, marks = marked(event, self._log.marker)
            found.append(one._replace(marks=marks))
        return found

    def read(self, raws: Sequence[bytes | str]) -> list[Prepared]:
        """A request of JSON envelopes from outside, validated whole."""
        by = Speaker("http", self._log.principal, raw=True, highest=self._log.highest)
        caller, denied, check = caller_in_hand(), list[AccessDenied](), current_check()

        def look(event: AnyEvent) -> Objection | None:
            check(0, len(raws))
            if (found := check_said(caller, event)) is not None:
                denied.append(found)
            return label_objection(event)

        try:
            events = read_events(raws, now=self._log.now(), by=by, look=look)
        except InvalidBatch as refused:
            raise judged(refused, self._log.behind()) from None
        if denied:
            raise denied[0]
        return events

    def told(self, receipt: AppendReceipt, event: Prepared, refused: Mapping[str, str]) -> AppendReceipt:
        """A receipt as its producer gets it: whether a person rejected what the event says, and of a conflict when it was."""
        if receipt.written and event.event_id in refused:
            return structs.replace(receipt, rejected=refused[event.event_id])
        return self._dated(receipt, event.owner)

    def _dated(self, receipt: AppendReceipt, owner: str) -> AppendReceipt:
        """A conflict with the time of what has the id, so that its owner can tell an earlier try of his own by it."""
        if receipt.status != "conflict" or receipt.position is None:
            return receipt
        partition, seq = parse_position(receipt.position)
        there = (stored for stored in self._log.read_at(partition, [seq]) if stored.owner == owner)
        times = (orjson.loads(stored.body).get("occurred_at") for stored in there)
        return structs.replace(receipt, occurred_at=next(times, None))

    def settle(self, receipts: Sequence[AppendReceipt]) -> None:
        """Wait until everything that was written is folded."""
        self.settle_positions(written_to(receipts))

    def settle_positions(self, until: Mapping[int, int]) -> None:
        """Wait until every partition named is folded up to its seq."""
        if until:
            self._catch_up(until)

    def nudge(self, owner: str) -> None:
        """Have the owner's partition tended once, where no worker does."""
        self._catch_up.tend(partition_of(owner, self._log.partitions))

    def when(self, occurred_at: str | None) -> int:
        """Microseconds since 1970 of what was said, or of now."""
        return self._log.now() if occurred_at is None else parse_instant(occurred_at, "occurred_at")

    @property
    def by(self) -> Speaker:
        """By which path the verb in hand came in, and who brings it."""
        return speaker(self._log)

    def event(
        self,
        data: Any,
        owner: str,
        when: int,
        actor: str,
        *,
        event_id: str | None = None,
        causation_id: str | None = None,
        session: str | None = None,
        correlation_id: str | None = None,
        trust: Trust | None = None,
    ) -> AnyEvent:
        """An event of these data, checked as in validation."""
        try:
            return make_event(
                data,
                owner=owner,
                occurred_at=from_micros(when),
                actor=actor,
                now=self._log.now(),
                event_id=event_id,
                session_id=session,
                causation_id=causation_id,
                correlation_id=correlation_id,
                trust=trust,
                by=self.by,
                look=label_objection,
            )
        except InvalidEvent as problem:
            raise problem.of_verb() from None

    def ready(self, events: Iterable[AnyEvent]) -> list[Prepared]:
        """Events ready to append, each with how far its word goes by the path of the verb in hand."""
        by = self.by
        return [ready(one, by) for one in events]

    def append_all(self, prepared: Sequence[Any]) -> list[AppendReceipt]:
        """Append prepared events and raise where any of them was not written."""
        has_told()
        receipts = self._log.append(prepared)
        for receipt in receipts:
            if not receipt.written:
                raise refusal_of(receipt)
        return receipts

    def effects_of(self, owner: str, receipts: Sequence[AppendReceipt]) -> list[Change]:
        """Change-log entries of what these receipts stand for."""
        places = [parse_position(receipt.position) for receipt in receipts if receipt.position]
        return self.effects(owner, places[0][0] if places else 0, [seq for _, seq in places])

    def effects(self, owner: str, partition: int, seqs: Iterable[int]) -> list[Change]:
        """Change-log entries of the events at these seqs: read from the newest back, no farther than it takes."""
        wanted = set(seqs)
        applied, reach = self._views.applied(partition, [owner])[0], len(wanted) + NEWEST
        while True:
            tail = self._views.tail(owner, max(applied - reach, 0))
            if reach >= applied or wanted <= set(tail.seqs):
                return [describe(entry, partition) for entry in tail.entries if entry.seq in wanted]
            reach *= 8
