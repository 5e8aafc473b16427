"""Appending a call's events, once however often the call is made, and telling what they did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engramlog.errors import Conflict, InputError, OwnerQuarantined, refused
from engramlog.events import Event, Said, made_id
from engramlog.reading import get, memory_path
from engramlog.results import Detail
from engramlog.wire import Plan, Scope, ask, got, path_of, posted

NEWEST = 50
"""Changes that are read at a time, to tell what a call did."""


def standing(scope: Scope, owner: str, memory_id: str, *, into: str | None = None) -> Plan[Detail]:
    """The memory, if events may still change it. Raises NotFound, or InputError where it was purged or merged away.

    `into`: a memory into which this very call may have merged it before.
    """
    memory = yield from get(scope, memory_id, owner=owner, trace=False)
    if memory.purged_at is not None:
        raise InputError(f"memory {memory_id} was purged: nothing can change it", owner=owner, memory_id=memory_id)
    if memory.merged_into not in (None, into):
        raise InputError(
            f"memory {memory_id} was merged into {memory.merged_into}, which stands for it: name that one, or unmerge it",
            owner=owner,
            memory_id=memory_id,
            merged_into=memory.merged_into,
        )
    return memory


def wrote(scope: Scope, told: Said, events: list[Event], *, about: Sequence[str]) -> Plan[dict[str, Any]]:
    """Append, wait for the fold, and tell what the events did to the memories `about`; without any, only the wait."""
    answer = yield from _appended(scope, told, events)
    position = answer["receipts"][-1]["position"]
    ids = [one["event_id"] for one in events]
    done: dict[str, Any] = {"owner": told.owner, "position": position, "event_ids": ids, "changes": []}
    changes: list[dict[str, Any]] = []
    try:
        if not about:
            yield from ask(scope, got(path_of(told.owner, "memories"), limit=1, after=position))
        for memory_id in about:
            changes += yield from _done_to(scope, told.owner, memory_id, answer["receipts"])
    except OwnerQuarantined as held:
        return done | {"quarantined": dict(held.context)}
    return done | {"changes": sorted(changes, key=lambda one: ids.index(one["event_id"]))}


def _done_to(
    scope: Scope, owner: str, memory_id: str, receipts: Sequence[dict[str, Any]]
) -> Plan[list[dict[str, Any]]]:
    """What these events did to one memory: its change log is read backwards, as far as the first of them."""
    ids = {one["event_id"] for one in receipts}
    positions = [one["position"] for one in receipts]
    first, after = min(map(_seq, positions)), positions[-1]
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        asked = {"after": after, "order": "newest", "limit": NEWEST, "cursor": cursor}
        log = yield from ask(scope, got(f"{memory_path(owner, memory_id)}/history", **asked))
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


def _appended(scope: Scope, told: Said, events: list[Event]) -> Plan[Any]:
    """Append; where the call's key is known, only if it is for these very events, at whatever time they were told first."""
    try:
        return (yield from ask(scope, posted("/v1/events", events)))
    except Conflict as conflict:
        receipts = conflict.context.get("receipts", [])
        first = {one["event_id"]: one.get("occurred_at") for one in receipts}
        times = {one["occurred_at"]: time for one in events if (time := first.get(one["event_id"])) is not None}
        if told.key is None or not times:
            raise
        again = [one | {"occurred_at": times.get(one["occurred_at"], one["occurred_at"])} for one in events]
    try:
        return (yield from ask(scope, posted("/v1/events", again)))
    except Conflict:
        raise refused("key", told.key, "a new key: something else was told under this one") from None
