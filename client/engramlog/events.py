"""Events as a producer sends them: envelopes, and how messages of a conversation become turns. Pure, but for the scope's edge."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from engramlog.edge import derived_id, instant, spelled
from engramlog.errors import refused
from engramlog.wire import Scope

Message = Mapping[str, Any]
"""`{"role": ..., "content": ...}` as chat endpoints take it; `name`, `id` and `created_at` are kept where given."""
Event = dict[str, Any]
MOST_KEY = 200
TURN_KIND = "episode"
"""What is written on the memory of a turn, as an import does; that it is that turn, its id says."""
ROLES = ("user", "assistant", "tool", "system")


class Said(NamedTuple):
    """By whom, when and in which session something happened: the same for all events of a call."""

    owner: str
    actor: str
    occurred_at: str
    session: str | None = None
    key: str | None = None
    """What the call is known by: its ids are made of it, so that the same call made again is the same events."""


def said(
    scope: Scope,
    owner: str | None,
    actor: str,
    occurred_at: datetime | str | None,
    session: str | None = None,
    key: str | None = None,
) -> Said:
    """Who says so, and when; now where nothing is told. Raises OwnerMissing where the owner is not known."""
    whose = scope.whose(owner)
    if key is not None and (not isinstance(key, str) or not key.strip() or len(key) > MOST_KEY):
        raise refused("key", str(key)[:80], f"some text of at most {MOST_KEY} characters")
    return Said(whose, actor, spelled(occurred_at) or instant(scope.edge.now()), session, key)


def made_id(scope: Scope, told: Said, what: str) -> str:
    """An id for something of a call: fresh, or made of the call's key."""
    return scope.edge.new_id() if told.key is None else derived_id(told.owner, told.key, what)


def event(scope: Scope, told: Said, event_type: str, *, nth: int = 0, **data: Any) -> Event:
    """The `nth` envelope of a call, with an id of its own; data that are None or empty are left out."""
    envelope: Event = {
        "event_id": made_id(scope, told, f"event {nth}"),
        "type": event_type,
        "owner": told.owner,
        "occurred_at": told.occurred_at,
        "actor": told.actor,
        "data": {name: _plain(value) for name, value in data.items() if value is not None and value != ()},
    }
    if told.session is not None:
        envelope["session_id"] = told.session
    return envelope


def created(scope: Scope, told: Said, memory_id: str, content: str, *, nth: int = 0, **fields: Any) -> Event:
    """The envelope by which a memory begins: of kind and category `fact`, from the user, unless the fields say otherwise."""
    data = {"category": "fact", "kind": "fact", "source": "user"} | fields
    return event(scope, told, "MemoryCreated", nth=nth, memory_id=memory_id, content=content, **data)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | set | frozenset) else value


class Spoken(NamedTuple):
    """What messages become."""

    events: list[Event]
    turns: list[str]
    memories: list[str]


def spoken(scope: Scope, told: Said, messages: Sequence[Message], remember: Collection[str]) -> Spoken:
    """A `TurnRecorded` for each message with text, and a `MemoryCreated` for those of the roles in `remember`.

    Ids of turns are the messages' own, else made up; a turn's memory has the turn's id, as after `engramlog import turns`.
    """
    made = Spoken([], [], [])
    for message, role, text in _read(messages):
        turn_id = str(message.get("id") or f"t-{made_id(scope, told, f'turn {len(made.turns)}')}")
        when = spelled(message.get("created_at")) or told.occurred_at
        at = told._replace(actor="assistant" if role == "assistant" else told.actor, occurred_at=when)
        speaker = message.get("name")
        turn = event(
            scope, at, "TurnRecorded", nth=len(made.events), turn_id=turn_id, role=role, text=text, speaker=speaker
        )
        made.events.append(turn)
        made.turns.append(turn_id)
        if role in remember:
            source = role if role in ("user", "assistant") else "system"
            fields = {"kind": TURN_KIND, "tier": "fact", "source": source, "speaker": speaker or role}
            kept = created(scope, at, turn_id, text, nth=len(made.events), source_turns=[turn_id], **fields)
            made.events.append(kept | {"causation_id": turn["event_id"]})
            made.memories.append(turn_id)
    return made


def _read(messages: Sequence[Message]) -> Iterator[tuple[Message, str, str]]:
    """The messages that say something, with role and text. Raises InputError, which names the message, for what is none."""
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise refused(f"messages[{index}]", message, '{"role": ..., "content": ...}')
        role = message.get("role")
        if role not in ROLES:
            raise refused(f"messages[{index}].role", role, ", ".join(ROLES))
        text = _text(message.get("content"), index)
        if text.strip():
            yield message, role, text


def _text(content: object, index: int) -> str:
    """The text of a message: a text, parts of which those with text count, or nothing beside a tool call."""
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    if content is None or isinstance(content, str):
        return content or ""
    raise refused(f"messages[{index}].content", content, "a text, or a list of parts with text")
