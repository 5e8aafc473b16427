"""What waits for a person: changes of his own word by lower sources, and what others propose. Accept, edit, reject."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Unpack
from uuid import UUID

import numpy as np

from engramlog_server.api.checks import LineTerms, check_limit, check_owner, lines_answer
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Given, Writer, taken
from engramlog_server.api.snapshots import Snapshot
from engramlog_server.events.catalogue import EventData, MemoryDeleted, MemoryMentioned
from engramlog_server.events.envelope import Stored, decode, digest, utc_text
from engramlog_server.events.errors import NotFound, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of, position_text
from engramlog_server.events.standing import is_persons_word
from engramlog_server.events.vocabulary import MAX_SOURCES
from engramlog_server.projections.decide.answers import (
    CHANGES,
    PROPOSAL,
    accepted,
    accepted_again,
    done_by,
    edited,
    effective,
    is_rejection,
    rejected,
    would_say,
)
from engramlog_server.projections.decide.commands import EVENT, Tell, also_proposed, is_double, rejection, values_said
from engramlog_server.projections.decide.merge import done_as_suggested, merge_suggested, suggestion_of
from engramlog_server.projections.fold.changelog import NOBODYS, reason_told
from engramlog_server.projections.fold.trust import MOST_WAITING
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.statements import statement
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import suggested_kind
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.memory.rejection import refusing
from engramlog_server.projections.shapes import Answered, InboxItem, InboxPage
from engramlog_server.projections.views.query import card
from engramlog_server.projections.views.view import WITHHELD, OwnerView

MOST_ITEMS = 100
"""Of a page."""


class InboxPlace(NamedTuple):
    """One thing that waits: the event that says it, and the memories on which it waits; none for a proposal."""

    seq: int
    item: str
    """The event's id, or a proposal's memory."""
    memory_id: str
    on: tuple[str, ...] = ()
    values: tuple[bytes, ...] = ()
    """What it says, where that was rejected before: no memory says it now."""
    again: bool = False
    """Whether it says what the user negated, and would have it hold again."""

    @property
    def about(self) -> tuple[str, ...]:
        """The memories that an answer is about."""
        return () if self.values else (self.on or (self.memory_id,))


class Inbox:
    """What waits for a person in one store. Safe for threads."""

    def __init__(self, log: EventLog, reader: Reader, writer: Writer) -> None:
        self._log = log
        self._reader = reader
        self._writer = writer

    def page(self, owner: str, *, limit: int = 20, offset: int = 0, **times: Unpack[LineTerms]) -> InboxPage:
        """A page of what waits, the newest first; looking leaves no trace."""
        wanted = check_limit(limit, MOST_ITEMS)
        with self._reader.snapshot(owner, **times) as snapshot:
            found = self._waiting(owner, snapshot.view)
            page = found[max(offset, 0) : max(offset, 0) + wanted]
            items = self._told(owner, snapshot, page)
            return {
                "owner": owner,
                "items": items,
                "total": len(found),
                "offset": max(offset, 0),
                "taken": snapshot.view.state.waiting,
                "most": MOST_WAITING,
                **lines_answer(times),
                **snapshot.place,
            }

    def count(self, owner: str, view: OwnerView) -> int:
        """How many things wait on an owner's view, which is held; `page` has them."""
        return len(self._waiting(owner, view))

    def accept(self, owner: str, item: str, *, reason: str = "", **given: Unpack[Given]) -> Answered:
        """A person says it himself: what was proposed counts, what was to be changed is."""

        def said(found: InboxPlace) -> tuple[EventData, ...]:
            if not found.on:
                with self._reader.snapshot(owner) as snapshot:
                    done = done_as_suggested(snapshot.view.get, found.memory_id, reason)
                return done or (MemoryMentioned(memory_id=found.memory_id),)
            data = self._event(owner, found.seq).data
            if found.values:
                made = self._free_id(owner, data.memory_id, found.item)
                return accepted_again(data, found.item, found.values, reason, memory_id=made)
            with self._reader.snapshot(owner) as snapshot:
                brings = snapshot.view.get(getattr(data, "replaced_by", None) or "")
            return accepted(data, found.item, found.on, brings, reason)

        return self._answered(owner, item, "accepted", said, given)

    def edit(self, owner: str, item: str, content: str, *, reason: str = "", **given: Unpack[Given]) -> Answered:
        """A person says it in his own words: the memory says this from here on."""

        def said(found: InboxPlace) -> tuple[EventData, ...]:
            if found.values:
                data = self._event(owner, found.seq).data
                made = self._free_id(owner, data.memory_id, found.item)
                return accepted_again(data, found.item, found.values, reason, memory_id=made, content=content)
            with self._reader.snapshot(owner) as snapshot:
                if done := done_as_suggested(snapshot.view.get, found.memory_id, reason, content):
                    return done
                memory = self._reader.memory(snapshot, owner, found.memory_id)
            return edited(memory, content, found.item, found.on, reason)

        return self._answered(owner, item, "edited", said, given)

    def reject(self, owner: str, item: str, *, reason: str = "", **given: Unpack[Given]) -> Answered:
        """A person will not have it: a change stays undone; a proposal is deleted, and what it says becomes no memory again.

        Others that propose the same go with it. Where another memory that stands says the same, it is only a double of that, and
        nothing is rejected.
        """

        def said(found: InboxPlace) -> tuple[EventData, ...]:
            if found.on:
                return rejected(found.item, found.on, reason)
            if found.again:
                return (MemoryDeleted(memory_id=found.memory_id, reason=reason),)
            with self._reader.snapshot(owner) as snapshot:
                memory = self._reader.memory(snapshot, owner, found.memory_id)
                if suggestion_of(snapshot.view.get, found.memory_id) is not None:
                    return (MemoryDeleted(memory_id=found.memory_id, reason=reason),)
                is_only_a_double = is_double(snapshot.view.columns, memory, ())
                values = () if is_only_a_double else values_said(memory, snapshot.view.get)
                others = also_proposed(snapshot.view.columns, memory) if values else ()
            gone = tuple(MemoryDeleted(memory_id=one, reason=reason) for one in (found.memory_id, *others))
            return (*gone, rejection(found.memory_id, values, reason)) if values else gone

        return self._answered(owner, item, "rejected", said, given)

    def _answered(
        self, owner: str, item: str, verdict: str, said: Callable[[InboxPlace], tuple[EventData, ...]], given: Given
    ) -> Answered:
        """What a person said is appended in one request, with what answers the item."""
        check_owner(owner)
        actor = given.get("actor", "user")
        if not is_persons_word(actor, self._writer.by):
            raise refused("actor", actor, "user or operator: what waits for a person, a person answers")
        found, key = self._found(owner, item), given.get("key")
        known = None if key is None else self._known(owner, item, key, verdict)
        if known is None:
            if found is None:
                missing = f"the inbox of owner {owner} has no item {item[:128]!r}"
                raise NotFound(f"{missing}; see `engramlog inbox {owner}`", owner=owner)
            self._check_word(owner, found, given)
            known = Tell(said(found), found.about, {"id": found.memory_id})
        carried = self._writer.carry_out(owner, known, **given)
        partition = partition_of(owner, self._log.partitions)
        positions = [position_text(partition, seq) for seq in carried.seqs]
        done = done_by(effective(known.data, positions, carried.answer["changes"]), verdict)
        whole: Any = {"item": item, "verdict": verdict, "done": done.said, "done_code": done.name, **carried.answer}
        answered: Answered = whole
        return answered

    def _check_word(self, owner: str, found: InboxPlace, given: Given) -> None:
        """What the user said again only he says himself, and now: by another, or as of before, it would be answered in vain."""
        again = found.again or (bool(found.on) and isinstance(self._event(owner, found.seq).data, MemoryMentioned))
        if again and given.get("actor", "user") != "user":
            raise refused("actor", given.get("actor"), "user: only the user confirms that they said it again")
        if (again or found.values) and given.get("occurred_at") is not None:
            raise refused("occurred_at", given.get("occurred_at"), "none: what waits is answered now")

    def _free_id(self, owner: str, memory_id: str, item: str) -> str:
        """The id that was refused, unless another memory has it by now."""
        with self._reader.snapshot(owner) as snapshot:
            return memory_id if snapshot.view.get(memory_id) is None else f"m-{item}"

    def _known(self, owner: str, item: str, key: str, verdict: str) -> Tell | None:
        """What was told of this item under the key before; None where nothing was. Raises KeyTaken for another verdict."""
        ids = self._writer.ids_of(owner, key)
        names = [EVENT, *(f"{EVENT} {number}" for number in range(1, MAX_SOURCES + 2))]
        seqs = self._log.seqs_of(owner, [ids(name) for name in names])
        stored = self._stored(owner, seqs.values())
        told = [decode(stored[seq].kind, stored[seq].body).data for seq in sorted(stored)]
        # What is settled comes first; of a proposal there is one event, or its deletion.
        about: Any = told[0] if told else None
        if about is None or item not in (getattr(about, "memory_id", None), getattr(about, "waiting", None)):
            return None
        if is_rejection(about) != (verdict == "rejected"):
            raise taken(key, position_text(partition_of(owner, self._log.partitions), min(stored)))
        return Tell(tuple(told), (), {"id": about.memory_id})

    def _found(self, owner: str, item: str) -> InboxPlace | None:
        self._writer.nudge(owner)
        with self._reader.snapshot(owner) as snapshot:
            waiting = self._waiting(owner, snapshot.view)
        return next((one for one in waiting if one.item in (item, item.lower())), None)

    def _waiting(self, owner: str, view: OwnerView) -> list[InboxPlace]:
        """All that waits, the newest first."""
        columns = view.columns
        found = [
            InboxPlace(one.created_seq, one.id, one.id)
            for one in (
                columns.memories[row] for row in np.flatnonzero(columns.standing() == Columns.PROPOSED).tolist()
            )
        ]
        said_again = (
            one for one in map(view.get, view.said_again) if one is not None and state_of(one) == Columns.LIVE
        )
        by_value = {one.stated or one.id: one for one in sorted(said_again, key=attrgetter("created_seq"))}
        found += [InboxPlace(one.created_seq, one.id, one.id, again=True) for one in by_value.values()]
        on: dict[str, list[str]] = {}
        for row in np.flatnonzero(columns.waiting != 0).tolist():
            memory = columns.memories[row]
            if columns.state[row] < Columns.DELETED and columns.state[row] != Columns.MERGED:
                for raw_id in memory.waiting:
                    on.setdefault(str(UUID(bytes=raw_id)), []).append(memory.id)
        again = {str(UUID(bytes=one.again)): one.digest for one in view.state.rejections if one.again and one.stands}
        seqs = self._log.seqs_of(owner, [*on, *again]) if on or again else {}
        found += [
            InboxPlace(seqs[one], one, memories[0], tuple(memories)) for one, memories in on.items() if one in seqs
        ]
        stored = self._stored(owner, (seqs[one] for one in again if one in seqs))
        for one, value in again.items():
            if one in seqs and seqs[one] in stored:
                told: Any = decode(stored[seqs[one]].kind, stored[seqs[one]].body).data
                found.append(InboxPlace(seqs[one], one, told.memory_id, (told.memory_id,), (value,)))
        return sorted(found, reverse=True)

    def _told(self, owner: str, snapshot: Snapshot, page: Sequence[InboxPlace]) -> list[InboxItem]:
        stored = self._stored(owner, (one.seq for one in page))
        return [self._item(snapshot, one, stored[one.seq]) for one in page if one.seq in stored]

    def _item(self, snapshot: Snapshot, one: InboxPlace, stored: Stored) -> InboxItem:
        event = decode(stored.kind, stored.body)
        memory = None if one.values else snapshot.view.get(one.memory_id)
        suggestion = suggestion_of(snapshot.view.get, one.memory_id)
        says = self._would_say(snapshot.view, one, event.data)
        reason = getattr(event.data, "reason", "")
        ours = NOBODYS if event.actor in ("user", "assistant") else reason_told(reason)
        return {
            "item": one.item,
            "kind": _kind(one, event.data),
            "memory_id": one.memory_id,
            "about": [] if suggestion is None else list(suggestion.summarises),
            "memory": None if memory is None else card(memory, "full")["memory"],
            "would_say": None if says is None else _shown(says),
            "reason": _shown(reason) if reason else None,
            "reason_code": ours.code,
            "reason_values": ours.told(),
            "actor": event.actor,
            "principal": stored.principal,
            "at": utc_text(event.occurred_at),
            "position": position_text(snapshot.partition, one.seq),
        }

    def _would_say(self, view: OwnerView, one: InboxPlace, data: EventData) -> str | None:
        """What would be said then, unless that was deleted or rejected since; nothing of a proposal."""
        if not one.on:
            return merge_suggested(view.get, one.memory_id)
        says, brings = would_say(data), view.get(getattr(data, "replaced_by", None) or "")
        if one.values or says is None:
            return says
        if brings is not None and state_of(brings) >= Columns.REJECTED:
            return None
        secret, at = self._log.secrets_of([view.owner]).get(view.owner, b""), self._log.now()
        known = secret and refusing(view.state.rejections, (digest(secret, statement(says)),), at)
        return None if known else says

    def _event(self, owner: str, seq: int) -> Any:
        stored = self._stored(owner, [seq])[seq]
        return decode(stored.kind, stored.body)

    def _stored(self, owner: str, seqs: Iterable[int]) -> dict[int, Stored]:
        wanted = sorted(set(seqs))
        return {one.seq: one for one in self._log.read_at(partition_of(owner, self._log.partitions), wanted)}


def _kind(one: InboxPlace, data: EventData) -> str:
    if one.again:
        return CHANGES[MemoryMentioned]
    return CHANGES.get(type(data), PROPOSAL) if one.on else suggested_kind(one.memory_id) or PROPOSAL


def _shown(text: str) -> str:
    return WITHHELD if detect_sensitivity(text) >= SECRET else text
