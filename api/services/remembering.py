"""Saying something to be remembered: a memory, a new version of one, or the turns of a conversation.

Whoever cannot be sure that an answer will arrive gives a key: saying the same again under it changes nothing. All ids derive
from the key, and what is in the log already under them is compared by what it says, whenever it was said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypedDict, Unpack, cast

from api.requests.checks import check_memory_id, check_owner
from api.services.carrying import Given, checked_key
from api.services.writing import Writer
from events.catalogue import Ground, MemoryRevised
from events.envelope import derived_id, new_event_id
from events.errors import refused
from projections.decide.command import EVENT, Ids
from projections.decide.commands import Edit
from projections.decide.remembering import NewTurn, RecordTurns, Remember

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


class MemoryTold(MemoryDetails, total=False):
    """The same, with who says so, when, in which session and under which key."""

    actor: str
    occurred_at: str | None
    session: str | None
    key: str | None


_LISTS = ("keywords", "tags", "source_turns")


class Rememberer:
    """Takes in what is said, on one store. Safe for threads."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def add(
        self,
        owner: str,
        content: str,
        *,
        memory_id: str | None = None,
        confirm: bool = False,
        **told: Unpack[MemoryTold],
    ) -> dict[str, Any]:
        """One new memory; `created` tells whether it is new or was there under the key.

        `confirm`: it holds, although a person rejected it: from now on it does again.

        Of kind and category `fact`, its source the user where the user says so, else who does. Raises InputError for what cannot
        be, KeyTaken where the key stands for something else.
        """
        check_owner(owner)
        given = _given(told)
        key = given.get("key")
        event_id = new_event_id() if key is None else derived_id("remember", owner, checked_key(key))
        fields: dict[str, Any] = {"source": source_of(given.get("actor", "user"))}
        fields |= {name: value for name, value in told.items() if name not in given and value not in (None, "", (), [])}
        fields |= {name: tuple(fields[name]) for name in _LISTS if name in fields}
        if "grounds" in fields:
            fields["grounds"] = _grounds(fields["grounds"])
        if memory_id is not None:
            check_memory_id(memory_id)

        def look(when: int) -> None:
            if not confirm:
                self._writer.refuse_rejected(owner, content, when)
            if memory_id is not None and self._writer.is_there(owner, memory_id):
                allowed = "an id that none of the owner's memories has; `edit` says better what one says"
                raise refused("memory_id", memory_id, allowed)

        values = (self._writer.value_of(owner, content).hex(),) if confirm else ()
        command = Remember(content, memory_id, fields, tuple(filter(None, values)))
        done = self._writer.carry_out(owner, command, ids=partial(_id_of, owner, event_id), look=look, **given)
        return {"created": not done.again} | done.answer

    def add_turns(
        self, owner: str, turns: Sequence[NewTurn], *, session: str | None = None, key: str | None = None
    ) -> dict[str, Any]:
        """Turns in the order in which they were said; each is recorded, and has a memory by which it can be found."""
        check_owner(owner)
        if not 1 <= len(turns) <= MOST_TURNS:
            raise refused("turns", f"{len(turns)} of them", f"1 to {MOST_TURNS}: split longer conversations")
        base = new_event_id() if key is None else derived_id("remember turns", owner, checked_key(key))
        command = RecordTurns(tuple(turns))
        done = self._writer.carry_out(owner, command, ids=turn_ids(owner, base), session=session, key=key)
        return {"created": not done.again} | done.answer

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
        **given: Unpack[Given],
    ) -> dict[str, Any]:
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

        def look(when: int) -> None:
            self._writer.refuse_rejected(owner, content, when)

        done = self._writer.carry_out(owner, Edit(data), live=(memory_id,), look=look, **given)
        versions = [one["version"] for one in done.answer["changes"] if one["memory"] == memory_id]
        version = versions[-1] if versions else self._writer.standing(owner, memory_id).version
        return done.answer | {"version": version}


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
