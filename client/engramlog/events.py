"""Events as a producer sends them: envelopes, how messages become turns, and appending a call's events with what they did.

A call is done once however often it is made: its ids are made of its key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from engramlog.errors import Conflict, OwnerQuarantined, refused
from engramlog.reading import memory_path
from engramlog.wire import Plan, Scope, ask, derived_id, got, instant, path_of, posted, spelled

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


WRITTEN = frozenset({"appended", "already_appended"})
NEWEST, MOST_CHANGES = 50, 1_000
"""Changes that are read at a time, to tell what a call did; more where it did more."""


def wrote(
    scope: Scope, told: Said, events: list[Event], *, about: Sequence[str], wait: bool = True
) -> Plan[dict[str, Any]]:
    """Append, wait for the fold, and tell what the events did to the memories `about`; without any, only the wait."""
    answer = yield from appended(scope, told, events)
    return (yield from settled(scope, told.owner, answer["receipts"], about=about, wait=wait))


def settled(
    scope: Scope, owner: str, receipts: Sequence[dict[str, Any]], *, about: Sequence[str | None], wait: bool
) -> Plan[dict[str, Any]]:
    """Wait until what was written is folded, and tell what it did to the memories `about`; None stands for all of the owner."""
    position = receipts[-1]["position"]
    ids = [one["event_id"] for one in receipts]
    done: dict[str, Any] = {"owner": owner, "position": position, "event_ids": ids, "changes": []}
    if not wait:
        return done
    changes: list[dict[str, Any]] = []
    try:
        if not about:
            yield from ask(scope, got(path_of(owner, "memories"), limit=1, after=position))
        for memory_id in about:
            changes += yield from _done_to(scope, owner, memory_id, receipts)
    except OwnerQuarantined as held:
        return done | {"quarantined": dict(held.context)}
    order = {event_id: number for number, event_id in enumerate(ids)}
    return done | {"changes": sorted(changes, key=lambda one: order[one["event_id"]])}


def _done_to(
    scope: Scope, owner: str, memory_id: str | None, receipts: Sequence[dict[str, Any]]
) -> Plan[list[dict[str, Any]]]:
    """What these events did to one memory: its change log is read backwards, as far as the first of them."""
    ids = {one["event_id"] for one in receipts}
    positions = [one["position"] for one in receipts]
    first, after = min(map(_seq, positions)), positions[-1]
    path = path_of(owner) if memory_id is None else memory_path(owner, memory_id)
    most = min(max(NEWEST, len(ids)), MOST_CHANGES)
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        asked = {"after": after, "order": "newest", "limit": most, "cursor": cursor}
        log = yield from ask(scope, got(f"{path}/history", **asked))
        found += [one for one in log["changes"] if one["event_id"] in ids]
        cursor = log["next"]
        if cursor is None or _seq(log["changes"][-1]["position"]) < first:
            return found[::-1]


def _seq(position: str) -> int:
    return int(position.partition(":")[2])


def told_to(scope: Scope, told: Said, memory_id: str, verb: str, asked: dict[str, Any]) -> Plan[dict[str, Any]]:
    """What the service does by itself about one memory, once however often it is told under one event id."""
    body = {"actor": told.actor, "occurred_at": told.occurred_at, "event_id": made_id(scope, told, "event 0"), **asked}
    try:
        done = yield from ask(scope, posted(f"{memory_path(told.owner, memory_id)}/{verb}", body))
    except Conflict:
        if told.key is None:
            raise
        raise refused("key", told.key, "a new key: this one was used for another request") from None
    ids = dict.fromkeys(one["event_id"] for one in done["changes"])
    return {**done, "event_ids": list(ids) or [body["event_id"]]}


def carried_out(scope: Scope, told: Said, path: str, asked: Mapping[str, Any]) -> Plan[dict[str, Any]]:
    """What the service does by itself, once however often it is told under one key: the call's, or one of its own."""
    body = {"actor": told.actor, "occurred_at": told.occurred_at, "session": told.session} | dict(asked)
    if told.key is not None or not asked.get("dry_run"):
        body["key"] = scope.edge.new_id() if told.key is None else told.key
    done = yield from ask(scope, posted(path, {name: value for name, value in body.items() if value is not None}))
    made = [] if done.get("dry_run") else done["changes"]
    return {**done, "event_ids": list(dict.fromkeys(one["event_id"] for one in made))}


def done_to(scope: Scope, told: Said, memory_id: str, verb: str, asked: Mapping[str, Any]) -> Plan[dict[str, Any]]:
    """What a verb about one memory did, with the changes of this memory and its successor only."""
    done = yield from carried_out(scope, told, f"{memory_path(told.owner, memory_id)}/{verb}", asked)
    about = (memory_id, done.get("replaced_by"))
    return done | {"id": memory_id, "changes": [one for one in done["changes"] if one["memory"] in about]}


def appended(scope: Scope, told: Said, events: list[Event], *, judge: bool = False) -> Plan[Any]:
    """Append; where the call's key is known, only if it is for these very events, at whatever time they were told first.

    `judge`: whether the service judges what memories tell beside what is known.
    """
    path = "/v1/events?judge=true" if judge else "/v1/events"
    answer, conflict = yield from _tried(scope, path, events)
    if conflict is None:
        return answer
    first = {one["event_id"]: one.get("occurred_at") for one in answer.get("receipts", [])}
    times = {one["occurred_at"]: time for one in events if (time := first.get(one["event_id"])) is not None}
    if told.key is None or not times:
        raise conflict
    again = [one | {"occurred_at": times.get(one["occurred_at"], one["occurred_at"])} for one in events]
    answer, conflict = yield from _tried(scope, path, again)
    if conflict is not None:
        raise refused("key", told.key, "a new key: this one was used for another request")
    return answer


def _tried(scope: Scope, path: str, events: list[Event]) -> Plan[tuple[Mapping[str, Any], Conflict | None]]:
    """What became of the events, and why one of them stays out where another has its id."""
    try:
        answer = yield from ask(scope, posted(path, events))
    except Conflict as conflict:
        return conflict.context, conflict
    stays_out = next((one for one in answer["receipts"] if one["status"] not in WRITTEN), None)
    if stays_out is None:
        return answer, None
    message = f"event {stays_out['event_id']} was not written ({stays_out['status']}); others of the call were"
    return answer, Conflict(message, status=207, error="ConcurrencyError", receipts=answer["receipts"])
