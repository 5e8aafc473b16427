"""Appending a call's events, once however often the call is made, and telling what they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engramlog.answers import Detail
from engramlog.errors import Conflict, InputError, OwnerQuarantined, refused
from engramlog.events import Event, Said, made_id
from engramlog.reading import get, memory_path
from engramlog.wire import Plan, Scope, ask, got, path_of, posted

WRITTEN = frozenset({"appended", "already_appended"})
NEWEST, MOST_CHANGES = 50, 1_000
"""Changes that are read at a time, to tell what a call did; more where it did more."""


def standing(scope: Scope, owner: str, memory_id: str) -> Plan[Detail]:
    """The memory, if events may still change it. Raises NotFound, or InputError where it was purged or merged away."""
    memory = yield from get(scope, memory_id, owner=owner, trace=False)
    if memory.purged_at is not None:
        raise InputError(f"memory {memory_id} was purged: nothing can change it", owner=owner, memory_id=memory_id)
    if memory.merged_into is not None:
        raise InputError(
            f"memory {memory_id} was merged into {memory.merged_into}, which stands for it: name that one, or unmerge it",
            owner=owner,
            memory_id=memory_id,
            merged_into=memory.merged_into,
        )
    return memory


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
        raise refused("key", told.key, "a new key: something else was told under this one") from None
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
        raise refused("key", told.key, "a new key: something else was told under this one")
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
