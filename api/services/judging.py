"""Appending memories as they are told, many at once, each judged as `add` judges one: what an importer and `add_many` do.

Ids and times are the producer's, so a request sent again changes nothing: what is in the log is not judged anew. A memory whose
id somebody chose stays a memory of its own; one with a made-up id may be a mention of what says the same already.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec import structs

from engramlog_server.api.requests.snapshots import Snapshot
from engramlog_server.api.services.writing import TRIES, Writer
from engramlog_server.api.work.patience import current_check, has_told, weigh
from engramlog_server.events.catalogue import EventData, MemoryCreated, MemoryMentioned
from engramlog_server.events.envelope import AnyEvent, Prepared, decode, derived_id, from_micros, micros
from engramlog_server.events.errors import refused
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.partitions import partition_of, position_text
from engramlog_server.events.standing import Speaker, reach
from engramlog_server.events.trust import ASSERTED, PROPOSED
from engramlog_server.events.validation import make_event, ready
from engramlog_server.projections.decide.remembering import NOTHING, Consequence, of_beside, says
from engramlog_server.projections.lifecycle.judge.statements import NewMemory, WriteJudge
from engramlog_server.projections.memory.kind import is_told_by_itself
from engramlog_server.projections.memory.rejection import refusing

PIECE = 100
"""Memories judged and appended at once: with all that may follow from them they are one request."""
STEPS = 40
"""What judging a memory weighs, in events folded."""
_MADE_UP = re.compile(r"m-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class JudgedReceipt(NamedTuple):
    """What became of one event, and what followed from what it tells."""

    receipt: AppendReceipt
    judged: Consequence = NOTHING


class Judging:
    """Appends events of one owner, judging the memories that they make. For one request."""

    def __init__(self, log: EventLog, writer: Writer, by: Speaker, *, mentions: bool) -> None:
        """`mentions`: whether a memory with a made-up id may be a mention; else each is made, and only flagged beside others,
        whoever says it: an import ends nothing."""
        self._log = log
        self._writer = writer
        self._by = by
        self._mentions = mentions
        self.judged: list[tuple[str, Consequence]] = []
        """What followed from each memory that was written now, by its id."""

    def append(self, events: Sequence[Prepared]) -> list[AppendReceipt]:
        """As the log's, in pieces: where one is refused, nothing after it is written."""
        return [one.receipt for one in self.append_judged(events)]

    def append_judged(self, events: Sequence[Prepared]) -> list[JudgedReceipt]:
        """The same, each with what followed. Raises InputError for events of several owners."""
        if len({one.owner for one in events}) > 1:
            raise refused("events", "several owners", "events of one owner, if they are judged")
        weigh(len(events) * STEPS)
        done, check = list[JudgedReceipt](), current_check()
        for start in range(0, len(events), PIECE):
            check(start, len(events))
            piece = events[start : start + PIECE]
            if all(one.receipt.written for one in done):
                done += self._piece(piece)
            else:
                done += [JudgedReceipt(AppendReceipt(one.event_id, "not_written")) for one in piece]
        return done

    def _piece(self, events: Sequence[Prepared]) -> list[JudgedReceipt]:
        owner = events[0].owner
        there = self._log.seqs_of(owner, [one.event_id for one in events])
        done = self._mentioned_before(events, there)
        self._log.prove(owner, {one: there[one] for one in done})
        for left in reversed(range(TRIES)):
            with self._writer.newest(owner) as (snapshot, head):
                judged = self._judge(snapshot, events, there.keys())
            sent = [self._sent(one, judged.get(one.event_id, NOTHING)) for one in events if one.event_id not in done]
            more = [one for event in events for one in self._beside(event, judged.get(event.event_id, NOTHING))]
            heads = None if head is None or not left else {owner: head}
            has_told()
            receipts = self._log.append([*sent, *more], expected_heads=heads)
            if not any(one.status == "head_mismatch" for one in receipts):
                break
        found = {one.event_id: one for one in receipts}
        told = ((_id_of(one), judged[one.event_id]) for one in events if one.event_id in judged)
        self.judged += [pair for pair in told if all(one.written for one in receipts)]
        for one in events:
            if one.event_id not in done:
                done[one.event_id] = JudgedReceipt(found[one.event_id], judged.get(one.event_id, NOTHING))
        return [done[one.event_id] for one in events]

    def _judge(self, snapshot: Snapshot, events: Sequence[Prepared], there: Collection[str]) -> dict[str, Consequence]:
        """What follows from each statement that is not in the log yet, by the id of its event."""
        if snapshot.quarantine is not None:
            return {}
        door, found = WriteJudge(snapshot.view, alike=self._writer.alike), dict[str, Consequence]()
        for one in events:
            if one.event_id in there:
                continue
            event = decode(one.kind, one.body)
            data = event.data
            if (
                isinstance(data, MemoryCreated)
                and is_told_by_itself(data)
                and snapshot.view.get(data.memory_id) is None
            ):
                value = self._writer.value_in(snapshot, data.content)
                if value and refusing(snapshot.view.state.rejections, (value,), micros(event.occurred_at)):
                    continue  # it becomes no memory, and ends none
                told = self._told(event, data, value)
                judged = found[one.event_id] = door.judge(told)
                if judged.again is None:
                    door.put(told, data.memory_id, judged)
        return found

    def _told(self, event: AnyEvent, data: MemoryCreated, value: bytes) -> NewMemory:
        own = not self._mentions or _MADE_UP.fullmatch(data.memory_id) is None
        return NewMemory.of_creation(
            data,
            micros(event.occurred_at),
            event.actor if self._mentions else "system",
            reach(event.actor, self._by) if self._mentions else ASSERTED,  # an import only flags
            value=value,
            memory_id=data.memory_id if own else None,
        )

    def _sent(self, event: Prepared, judged: Consequence) -> Prepared:
        if judged.again is None:
            old = next((one.memory_id for one in judged.beside if one.does == "waits"), None)
            return event if old is None else self._waiting(event, old)
        data = MemoryMentioned(memory_id=judged.again, similarity=1.0, turn_id=judged.turn_id)
        return self._like(decode(event.kind, event.body), data, event.event_id)

    def _waiting(self, event: Prepared, old: str) -> Prepared:
        """A memory that would end another one: it names that memory, and waits as its change does."""
        told = decode(event.kind, event.body)
        if isinstance(told.data, MemoryCreated) and told.data.corrects is None:
            event = self._like(told, structs.replace(told.data, corrects=old), event.event_id)
        return event._replace(trust=PROPOSED)

    def _beside(self, event: Prepared, judged: Consequence) -> Iterator[Prepared]:
        """What follows for others, under ids made of the event's."""
        if not judged.beside:
            return
        told = decode(event.kind, event.body)
        assert isinstance(told.data, MemoryCreated), "nothing else is judged"
        for number, one in enumerate(judged.beside):
            data = of_beside(one, told.data.memory_id, told.data.content)
            event_id = derived_id("judged", event.owner, event.event_id, str(number))
            at = told.occurred_at if one.at is None else from_micros(one.at)
            yield self._like(told, data, event_id, causation_id=event.event_id, at=at)

    def _like(
        self,
        told: AnyEvent,
        data: EventData,
        event_id: str,
        causation_id: str | None = None,
        at: datetime | None = None,
    ) -> Prepared:
        """An event by the same, at the same time and in the same session."""
        return ready(
            make_event(
                data,
                owner=told.owner,
                occurred_at=at or told.occurred_at,
                actor=told.actor,
                now=self._log.now(),
                event_id=event_id,
                session_id=told.session_id,
                causation_id=causation_id or told.causation_id,
                correlation_id=told.correlation_id,
                by=self._by,
            ),
            self._by,
        )

    def _mentioned_before(self, events: Sequence[Prepared], there: Mapping[str, int]) -> dict[str, JudgedReceipt]:
        """Of these events those that were appended before as mentions of what they say, with what was answered then."""
        owner, found = events[0].owner, dict[str, JudgedReceipt]()
        partition = partition_of(owner, self._log.partitions)
        stored = {one.seq: one for one in self._log.read_at(partition, sorted(there.values()))} if there else {}
        for one in events:
            was = stored.get(there.get(one.event_id, 0))
            if was is None or not was.kind.startswith("MemoryMentioned."):
                continue
            data, told = decode(was.kind, was.body).data, decode(one.kind, one.body).data
            if isinstance(data, MemoryMentioned) and isinstance(told, MemoryCreated):
                with self._writer.newest(owner) as (snapshot, _):
                    same = says(snapshot.view.get(data.memory_id), told.content)
                if same:
                    receipt = AppendReceipt(one.event_id, "already_appended", position_text(partition, was.seq))
                    found[one.event_id] = JudgedReceipt(receipt, Consequence(data.memory_id, data.turn_id))
        return found


def _id_of(event: Prepared) -> str:
    data = decode(event.kind, event.body).data
    assert isinstance(data, MemoryCreated), "nothing else is judged"
    return data.memory_id
