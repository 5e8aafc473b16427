"""Saying something to be remembered: a memory, a new version of one, or the turns of a conversation.

Whoever cannot be sure that an answer will arrive gives a key: saying the same again under it changes nothing. All ids derive
from the key, and what is in the log already under them is compared by what it says, whenever it was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

from api.requests.checks import check_owner
from api.requests.secrets import label_objection
from api.requests.speaking import speaker
from api.services.reading import Reader
from api.services.writing import Writer, refusal_of
from events.catalogue import MemoryCreated, MemoryRevised, TurnRecorded
from events.envelope import AnyEvent, decode, derived_id, from_micros, new_event_id, prepare
from events.errors import InputError, refused
from events.log import EventLog, Receipt, positions_by_partition
from events.partitions import parse_position
from events.validation import make_event

MOST_TURNS = 100
"""Most turns in one request: with their memories they are one request to one partition, so all are written or none."""
MOST_KEY = 200


class Said(TypedDict, total=False):
    """What may be told of a memory beside its text."""

    kind: str
    category: str
    summary: str | None
    keywords: Sequence[str]
    tags: Sequence[str]
    project: str | None
    speaker: str | None


class Turn(NamedTuple):
    """One message of a conversation. `occurred_at`: RFC 3339, now if not given."""

    role: str
    text: str
    speaker: str | None = None
    occurred_at: str | None = None


class Rememberer:
    """Takes in what is said, on one store. Safe for threads."""

    def __init__(self, log: EventLog, reader: Reader, writer: Writer) -> None:
        self._log = log
        self._reader = reader
        self._writer = writer

    def add(
        self,
        owner: str,
        content: str,
        *,
        said_by: str = "user",
        session: str | None = None,
        occurred_at: str | None = None,
        key: str | None = None,
        **said: Unpack[Said],
    ) -> dict[str, Any]:
        """One new memory; `created` tells whether it is new or was there under the key.

        Raises InputError where the key stands for another memory.
        """
        check_owner(owner)
        event_id = new_event_id() if key is None else derived_id("remember", owner, _checked(key))
        memory_id = f"m-{event_id}"
        fields: dict[str, Any] = {"kind": "note", "category": "fact"} | {n: v for n, v in said.items() if v}
        fields |= {name: tuple(fields[name]) for name in ("keywords", "tags") if name in fields}
        data = MemoryCreated(memory_id=memory_id, content=content, source=said_by, **fields)  # type: ignore[arg-type]
        event = self._event(data, owner, said_by, session, occurred_at, event_id)
        told, created = self._once(owner, [event], key)
        return {"id": memory_id, "created": created} | told

    def add_turns(
        self, owner: str, turns: Sequence[Turn], *, session: str | None = None, key: str | None = None
    ) -> dict[str, Any]:
        """Turns in the order in which they were said; each is recorded and is a memory of kind `episode` that can be found."""
        check_owner(owner)
        if not 1 <= len(turns) <= MOST_TURNS:
            raise refused("turns", f"{len(turns)} of them", f"1 to {MOST_TURNS}: split longer conversations")
        base = new_event_id() if key is None else derived_id("remember turns", owner, _checked(key))
        ids = [f"t-{base}-{number}" for number in range(1, len(turns) + 1)]
        events: list[AnyEvent] = []
        for turn_id, turn in zip(ids, turns, strict=True):
            try:
                events += self._said(owner, turn_id, turn, session)
            except InputError as problem:
                number = len(events) // 2 + 1
                raise InputError(f"turn {number}: {problem.message}", turn=number, **problem.context) from None
        told, created = self._once(owner, events, key)
        return {"turns": ids, "created": created} | told

    def _said(self, owner: str, turn_id: str, turn: Turn, session: str | None) -> list[AnyEvent]:
        by = turn.role if turn.role in ("user", "assistant") else "system"
        recorded: Any = TurnRecorded(turn_id=turn_id, role=turn.role, speaker=turn.speaker, text=turn.text)  # type: ignore[arg-type]
        memory: Any = MemoryCreated(
            memory_id=turn_id,
            content=turn.text,
            category="fact",
            kind="episode",
            tier="fact",
            source=by,  # type: ignore[arg-type]
            speaker=turn.speaker or turn.role,
            source_turns=(turn_id,),
        )
        said_id = derived_id("remember turn", owner, turn_id)
        made_id = derived_id("remember turn memory", owner, turn_id)
        return [
            self._event(recorded, owner, by, session, turn.occurred_at, said_id),
            self._event(memory, owner, by, session, turn.occurred_at, made_id, causation_id=said_id),
        ]

    def revise(
        self,
        owner: str,
        memory_id: str,
        content: str,
        *,
        summary: str | None = None,
        keywords: Sequence[str] | None = None,
        said_by: str = "user",
        occurred_at: str | None = None,
    ) -> dict[str, Any]:
        """A new version of what a memory says; the older ones stay readable. Saying what it says already writes nothing."""
        check_owner(owner)
        memory = self._writer.standing(owner, memory_id)
        if memory.deleted_at is not None:
            raise InputError(
                f"memory {memory_id} is deleted: bring it back first (`engramlog restore {owner} {memory_id}`)",
                owner=owner,
                memory_id=memory_id,
            )
        told = tuple(keywords) if keywords is not None else None
        if memory.content == content and summary in (None, memory.summary) and told in (None, tuple(memory.keywords)):
            return {"id": memory_id, "revised": False, "version": memory.version, "changes": []}
        data = MemoryRevised(memory_id=memory_id, content=content, summary=summary, keywords=told)
        event = self._writer.event(data, owner, self._writer.when(occurred_at), said_by)
        answer = self._writer.done(owner, [event], {"id": memory_id, "revised": True})
        with self._reader.scene(owner) as scene:
            return answer | {"version": self._reader.memory(scene, owner, memory_id).version}

    def _event(
        self,
        data: Any,
        owner: str,
        by: str,
        session: str | None,
        occurred_at: str | None,
        event_id: str,
        causation_id: str | None = None,
    ) -> AnyEvent:
        return make_event(
            data,
            owner=owner,
            occurred_at=from_micros(self._writer.when(occurred_at)),
            actor=by,
            now=self._log.now(),
            event_id=event_id,
            session_id=session,
            causation_id=causation_id,
            by=speaker(self._log),
            look=label_objection,
        )

    def _once(self, owner: str, events: Sequence[AnyEvent], key: str | None) -> tuple[dict[str, Any], bool]:
        """Append all of it unless it is there, and wait for the fold; what is told of it, and whether it is new."""
        receipts = self._log.append([prepare(event) for event in events])
        if any(receipt.status == "conflict" for receipt in receipts):
            if not all(map(self._is_there, receipts, events)):
                raise refused("key", str(key), "a new key: something else was said under this one")
        else:
            for receipt in receipts:
                if not receipt.written:
                    raise refusal_of(receipt)
        positions = [receipt.position for receipt in receipts if receipt.position]
        self._writer.settle_positions(positions_by_partition(positions))
        with self._reader.scene(owner) as scene:
            told = {"owner": owner, "position": positions[-1]} | scene.told
        return told, any(receipt.status == "appended" for receipt in receipts)

    def _is_there(self, receipt: Receipt, event: AnyEvent) -> bool:
        """Whether the log has this event with these data, said at whatever time."""
        if receipt.status != "conflict":
            return receipt.written
        partition, seq = parse_position(receipt.position or "0:0")
        return any(
            stored.owner == event.owner and decode(stored.kind, stored.body).data == event.data
            for stored in self._log.read_at(partition, [seq])
        )


def _checked(key: str) -> str:
    if not key.strip() or len(key) > MOST_KEY:
        raise refused("key", key[:80], f"some text of at most {MOST_KEY} characters")
    return key
