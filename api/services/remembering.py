"""Saying something to be remembered: a memory, a new version of one, or the turns of a conversation.

Whoever cannot be sure that an answer will arrive gives a key: saying the same again under it changes nothing. All ids derive
from the key, and what is in the log already under them is compared by what it says, whenever it was said.

Appending memories as they are told, many at once, each judged as `add` judges one: what an importer and `add_many` do.

Ids and times are the producer's, so a request sent again changes nothing: what is in the log is not judged anew. A memory whose
id somebody chose stays a memory of its own; one with a made-up id may be a mention of what says the same already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, TypedDict, Unpack, cast

from msgspec import structs

from engramlog_server.api.checks import caller_in_hand, check_memory_id, check_owner
from engramlog_server.api.services.writing import (
    TRIES,
    Given,
    Looked,
    Rehearsable,
    Writer,
    checked_key,
    refuse_rejected,
)
from engramlog_server.api.snapshots import Snapshot
from engramlog_server.api.work import current_check, has_appended, weigh
from engramlog_server.events.catalogue import EventData, Ground, MemoryCreated, MemoryMentioned, MemoryRevised
from engramlog_server.events.envelope import AnyEvent, Prepared, decode, derived_id, from_micros, micros, new_event_id
from engramlog_server.events.errors import refused
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.partitions import partition_of, position_text
from engramlog_server.events.standing import PERSONS, Speaker, reach
from engramlog_server.events.trust import ASSERTED, PROPOSED
from engramlog_server.events.validation import make_event, ready
from engramlog_server.projections.access.caller import telling_of
from engramlog_server.projections.choices import CATEGORY, KIND
from engramlog_server.projections.decide.commands import (
    DOES,
    EVENT,
    NOTHING,
    Consequence,
    Edit,
    Ids,
    NewTurn,
    RecordTurns,
    Remember,
    of_beside,
    says,
)
from engramlog_server.projections.lifecycle.judge.statements import NewMemory, WriteJudge
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import is_told_by_itself
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import refusing
from engramlog_server.projections.shapes import Edited, Effects, PossibleConflict, Remembered
from engramlog_server.projections.views.query import card

__all__ = ["MOST_TURNS", "NewTurn", "Rememberer"]

MOST_TURNS = 100
"""Most turns in one request: with their memories they are one request to one partition, so all are written or none."""
Grounds = Sequence[Mapping[str, str]]
"""What a memory rests on: {uri, digest} each."""


class MemoryDetails(TypedDict, total=False):
    """What may be told of a memory beside its text."""

    kind: str
    category: str
    source: str | None
    importance: float | None
    confidence: float | None
    summary: str | None
    speaker: str | None
    keywords: Sequence[str]
    tags: Sequence[str]
    emotion: float | None
    project: str | None
    task: str | None
    sensitivity: int | None
    source_turns: Sequence[str]
    corrects: str | None
    because: str | None
    grounds: Grounds
    metadata: Mapping[str, str | int | float | bool] | None


class MemoryTold(MemoryDetails, Given, total=False):
    """The same, with who says so, when, in which session and under which key."""


UNREAD = "[withheld from this key]"
_LISTS = ("keywords", "tags", "source_turns")
_NEVER_EMPTY = ("kind", "category")


class Rememberer:
    """Takes in what is said, on one store. Safe for threads."""

    def __init__(
        self,
        log: EventLog,
        writer: Writer,
        turns_written: Callable[[str], None] = lambda _owner: None,
        await_turns: Callable[[str], None] = lambda _owner: None,
    ) -> None:
        """`turns_written` is called with the owner after turns were written; `await_turns` waits a moment until they are read."""
        self._log = log
        self._writer = writer
        self._turns_written = turns_written
        self._await_turns = await_turns

    def add(
        self,
        owner: str,
        content: str,
        *,
        memory_id: str | None = None,
        confirm: bool = False,
        event_id: str | None = None,
        **told: Unpack[MemoryTold],
    ) -> Remembered:
        """One new memory, or a mention of the one that says it already: `mentioned`, and then `id`, is that one.

        `created` tells whether it is new: it is not where a proposal finds the inbox full, and `changes` says so. `ended`,
        `ended_by`, `conflicting` and `related` name the memories that it ended, that ended it because they were said later, that it
        may contradict, and with which it is linked.
        A text under an id of the caller's own is always a memory of its own.

        `confirm`: it holds, although a person rejected it: from now on it does again.

        Of kind and category `fact`, its source the user where the user says so, else who does. Raises InputError for what cannot
        be, KeyTaken where the key stands for something else.
        """
        check_owner(owner)
        given = _given(told)
        if given.get("actor", "user") not in PERSONS:
            self._await_turns(
                owner
            )  # what an agent reports may stand in a turn of the user that was written just before
        key = given.get("key")
        if event_id is None:
            event_id = new_event_id() if key is None else derived_id("remember", owner, checked_key(key))
        elif key is None:  # sent again under its event's id it changes nothing either
            given["key"] = event_id
        fields: dict[str, Any] = {"source": source_of(given.get("actor", "user"))}
        told_of_it = ((name, value) for name, value in told.items() if name not in given)
        fields |= {name: value for name, value in told_of_it if name in _NEVER_EMPTY or value not in (None, "", (), [])}
        fields |= {name: tuple(fields[name]) for name in _LISTS if name in fields}
        if "grounds" in fields:
            fields["grounds"] = _grounds(fields["grounds"])
        if memory_id is not None:
            check_memory_id(memory_id)

        values = (self._writer.value_of(owner, content).hex(),) if confirm else ()
        command = Remember(
            content,
            memory_id,
            fields,
            tuple(filter(None, values)),
            says=lambda told: self._says(owner, told, content),
        )

        def look(when: int) -> Looked:
            with self._writer.newest(owner) as (snapshot, head):
                value = self._writer.value_in(snapshot, content)
                if not confirm:
                    refuse_rejected(snapshot, value, when)
                if memory_id is not None and snapshot.view.get(memory_id) is not None:
                    allowed = "an id that none of the owner's memories has; `edit` says better what one says"
                    raise refused("memory_id", memory_id, allowed)
                seen_at = max(when, self._writer.when(given.get("occurred_at")))  # no earlier than what is seen
                judged = self._judged(snapshot, command, given.get("actor", "user"), seen_at, value)
            return Looked(replace(command, judged=judged), head)

        done = self._writer.carry_out(owner, command, ids=partial(_id_of, owner, event_id), look=look, **given)
        answer = cast("Remembered", done.answer)
        refused_by_fold = any(
            one["memory"] == answer["id"] and one["decision"] == "ignored" for one in answer["changes"]
        )
        created = not done.again and answer["mentioned"] is None and not refused_by_fold
        return cast("Remembered", {"created": created, **answer, **self._named(owner, answer)})

    def _judged(self, snapshot: Snapshot, command: Remember, actor: str, when: int, value: bytes) -> Consequence:
        """What follows from what is told; nothing where the owner's state stands still, or nothing is known of him."""
        if snapshot.quarantine is not None or not len(snapshot.view):
            return NOTHING
        # It reads two languages: whoever tells nothing, or tells of somebody new, does not pay for that.
        from engramlog_server.projections.lifecycle.judge.statements import NewMemory, WriteJudge  # noqa: PLC0415

        known = {"kind": KIND, "category": CATEGORY, **command.fields}
        apart = {name: known.pop(name) for name in ("kind", "category", "source")}
        reaches = reach(actor, self._writer.by)
        told = NewMemory(
            command.content,
            when,
            actor,
            reaches=reaches,
            value=value,
            memory_id=command.memory_id,
            beside=known,
            **apart,
        )
        return WriteJudge(snapshot.view, current_check(), self._writer.alike).judge(told)

    def _says(self, owner: str, memory_id: str, content: str) -> bool:
        """Whether a memory says this, or did."""
        with self._writer.newest(owner) as (snapshot, _):
            return says(snapshot.view.get(memory_id), content)

    def _named(self, owner: str, answer: Mapping[str, Any]) -> Mapping[str, list[PossibleConflict]]:
        """The memories that it ended, would end after review, was ended by, may contradict or is related to, with their texts."""
        held = {one["memory"] for one in answer["changes"] if one["decision"] == "wait"}
        found: dict[str, list[str]] = {
            "ended": [one for one in answer["ended"] if one not in held],
            "waiting": [one for one in answer["ended"] if one in held],
            "ended_by": answer["ended_by"],
            "conflicting": answer["conflicting"],
            "related": answer["related"],
        }
        if not any(found.values()):
            return {name: [] for name in found}
        if not _may_read(owner):
            return {name: [] for name in found}
        told = self._writer.told_records(owner, [one for ids in found.values() for one in ids])
        hidden = _unread(owner, told)
        return {name: list(_lines(told, ids, hidden)) for name, ids in found.items()}

    def append_judged(self, raws: Sequence[bytes | str]) -> tuple[list[AppendReceipt], list[JudgedLine]]:
        """Append a request of JSON envelopes of one owner as `Writer.append`, each memory in it judged as `add` judges one.

        Beside the receipts what followed of each event that was written now: a memory with a made-up id may be a mention.
        """
        # Most tell one thing at a time.

        events = self._writer.read(raws)
        judging = Judging(self._log, self._writer, self._writer.by, mentions=True)
        refused = self._writer.rejected_among(events)
        done = judging.append_judged(events)
        self._writer.on_texts(events[0].owner, sum(one.receipt.status == "appended" for one in done))
        receipts = [self._writer.told(one.receipt, event, refused) for one, event in zip(done, events, strict=True)]
        ids = {other.memory_id for one in done for other in one.judged.beside}
        texts: dict[str, PossibleConflict] = {}
        if ids and _may_read(events[0].owner):
            told = self._writer.told_records(events[0].owner, sorted(ids))
            texts = {line["id"]: line for line in _lines(told, sorted(ids), _unread(events[0].owner, told))}
        return receipts, [_judged_line(one.judged, texts) for one in done]

    def add_turns(
        self, owner: str, turns: Sequence[NewTurn], *, session: str | None = None, key: str | None = None
    ) -> TurnsRecorded:
        """Turns in the order in which they were said; each is recorded, and has a memory by which it can be found.

        Blocks of ours that an agent sent back within a turn are no part of it.
        """
        from engramlog_server.projections.prompt.block import without_blocks  # noqa: PLC0415 - `add` does without it

        check_owner(owner)
        if not 1 <= len(turns) <= MOST_TURNS:
            raise refused("turns", f"{len(turns)} of them", f"1 to {MOST_TURNS}: split longer conversations")
        base = new_event_id() if key is None else derived_id("remember turns", owner, checked_key(key))
        command = RecordTurns(tuple(turn._replace(text=without_blocks(turn.text)) for turn in turns))
        done = self._writer.carry_out(owner, command, ids=turn_ids(owner, base), session=session, key=key)
        self._turns_written(owner)
        return cast("TurnsRecorded", {"created": not done.again, **done.answer})

    def edit(
        self,
        owner: str,
        memory_id: str,
        content: str,
        *,
        summary: str | None = None,
        keywords: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        because: str | None = None,
        grounds: Grounds | None = None,
        metadata: Mapping[str, str | int | float | bool] | None = None,
        **given: Unpack[Rehearsable],
    ) -> Edited:
        """A new version of what a memory says; the older ones stay readable. Saying what it says already writes nothing.

        What is given replaces what there was; the rest stays.
        """
        data = MemoryRevised(
            memory_id=check_memory_id(memory_id),
            content=content,
            summary=summary,
            keywords=None if keywords is None else tuple(keywords),
            tags=None if tags is None else tuple(tags),
            because=because,
            grounds=None if grounds is None else _grounds(grounds),
            metadata=None if metadata is None else dict(metadata),
        )

        def look(when: int) -> Looked | None:
            self._writer.refuse_rejected(owner, content, when)
            return None

        done = self._writer.carry_out(owner, Edit(data), live=(memory_id,), look=look, **given)
        versions = [one["version"] for one in done.answer["changes"] if one["memory"] == memory_id]
        version = versions[-1] if versions else self._writer.standing(owner, memory_id).version
        return cast("Edited", {**done.answer, "version": version})


def _may_read(owner: str) -> bool:
    """Whether who tells something is told what else is known: to produce is not to read."""
    return caller_in_hand().may("read", owner)


def _unread(owner: str, told: Mapping[str, Memory]) -> frozenset[str]:
    """Those of these memories that the caller in hand may not read, or not so sensitive ones: he may bring what he may not read.

    His modes matter not: all of them stood until he spoke.
    """
    telling = telling_of(caller_in_hand(), "read", owner)
    return (
        frozenset() if telling is None else frozenset(one.id for one in told.values() if one.sensitivity > telling.most)
    )


def _lines(told: Mapping[str, Memory], ids: Sequence[str], hidden: Collection[str] = ()) -> Iterator[PossibleConflict]:
    """Each memory that is not gone since, with its text where that is not hidden from the caller."""
    for one in map(told.get, ids):
        if one is not None and state_of(one) == Columns.LIVE:
            yield {"id": one.id, "memory": UNREAD if one.id in hidden else card(one, "full")["memory"]}


class TurnsRecorded(Effects):
    """What recording turns did: the ids of their memories, in order."""

    created: bool
    turns: list[str]


class JudgedLine(TypedDict):
    """What followed from one memory of several."""

    mentioned: str | None
    ended: list[PossibleConflict]
    waiting: list[PossibleConflict]
    ended_by: list[PossibleConflict]
    conflicting: list[PossibleConflict]
    related: list[PossibleConflict]


def _judged_line(judged: Consequence, texts: Mapping[str, PossibleConflict]) -> JudgedLine:
    told = [(one.does, texts[one.memory_id]) for one in judged.beside if one.memory_id in texts]
    found = {does: [text for done, text in told if done == does] for does in DOES}
    return {
        "mentioned": judged.again,
        "ended": found["ends"],
        "waiting": found["waits"],
        "ended_by": found["ended by"],
        "conflicting": found["flags"],
        "related": found["joins"],
    }


def _id_of(owner: str, event_id: str, name: str) -> str:
    """The ids of what is told: the event's own, as release 0.2 made it, and what follows from that."""
    return event_id if name == EVENT else derived_id("remember", owner, event_id, name)


def turn_ids(owner: str, base: str) -> Ids:
    """By what the ids of turns and of their events are made: as release 0.2 made them."""

    def made(name: str) -> str:
        number, _, event = name.removeprefix("turn ").partition(" ")
        turn_id = f"t-{base}-{number}"
        return derived_id(_TURN_EVENTS[event], owner, turn_id) if event else turn_id

    return made


_TURN_EVENTS = {"recorded": "remember turn", "kept": "remember turn memory"}


def source_of(actor: str) -> str:
    """Who a memory is from, where nobody says another source."""
    return actor if actor in ("user", "assistant", "judge") else "system"


def _given(told: Mapping[str, Any]) -> Given:
    """What of it is told of the call, and not of the memory."""
    given: Any = {name: told[name] for name in Given.__annotations__ if name in told}
    return cast("Given", given)


def _grounds(told: Grounds) -> tuple[Ground, ...]:
    for number, one in enumerate(told):
        if set(one) != {"uri", "digest"}:
            raise refused(f"grounds[{number}]", dict(one), "{uri, digest}")
    return tuple(Ground(uri=one["uri"], digest=one["digest"]) for one in told)


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
            has_appended()
            receipts = self._log.append([*sent, *more], expected_heads=heads)
            if not any(one.status == "head_mismatch" for one in receipts):
                break
        found = {one.event_id: one for one in receipts}
        told = ((_memory_id_of(one), judged[one.event_id]) for one in events if one.event_id in judged)
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


def _memory_id_of(event: Prepared) -> str:
    data = decode(event.kind, event.body).data
    assert isinstance(data, MemoryCreated), "nothing else is judged"
    return data.memory_id
