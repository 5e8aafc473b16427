"""Deleting everything of one owner, who has to be named."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from engramlog.answers import Deleted, Skipped
from engramlog.edge import spelled
from engramlog.errors import InputError, refused
from engramlog.events import Said, made_id, said
from engramlog.reading import PAGE, get, get_all
from engramlog.wire import Plan, Request, Scope, ask, path_of, posted

GONE = frozenset({"deleted", "purged", "merged"})
"""States in which there is nothing to delete; what was merged away goes with the memory that stands for it."""
KEPT = frozenset({"core", "system"})


def delete_all(
    scope: Scope,
    *,
    owner: str,
    reason: str = "",
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Deleted]:
    """Soft delete all memories of an owner, negated and superseded ones too, and tell what was left alone and why.

    `owner` has no default, and under `.of(...)` must be the same one: no slip wipes somebody else's memories, or
    everybody's. Core and system memories stay; `delete` takes them one by one. Kept 30 days, `restore` brings each back.
    Called again under its `key` it goes on with what there was at the first call, and answers as that did; what was told since
    stays. Where others wrote just while the first call looked, the second is refused (field `key`), and deletes nothing.
    """
    told = said(scope, owner, actor, occurred_at, key=key)
    whose = told.owner
    body: dict[str, Any] = {"actor": actor, "occurred_at": spelled(occurred_at)} | (
        {"reason": reason} if reason else {}
    )
    before = None if key is None else (yield from _before_first_call(scope, told, body))
    listed = yield from get_all(scope, owner=whose, mode="debug", as_of=before)
    wanted = [one.id for one in listed.memories if one.status not in GONE]
    if key is not None:
        wanted = yield from _known_by_its_first(scope, whose, sorted(wanted), before)
    answer = Deleted(owner=whose, deleted=[], skipped=[], position=listed.position)
    reasons: dict[str, str] = {}
    for number, start in enumerate(range(0, len(wanted), PAGE)):
        part = wanted[start : start + PAGE]
        try:
            done = yield from ask(scope, _page(scope, told, part, number, body))
        except InputError as refusal:
            skipped = refusal.context.get("skipped")
            if not isinstance(skipped, list):
                raise
            reasons |= {one["id"]: one["reason"] for one in skipped}
            continue
        page = Deleted.decode(done)
        reasons |= {one.id: one.reason for one in page.skipped}
        answer = _joined(answer, page)
    if reasons:
        yield from _settle(scope, answer, reasons, wanted)
    return answer


def _joined(before: Deleted, page: Deleted) -> Deleted:
    """What two requests of one call did; of what is not told of each memory, the newest."""
    lists = ("deleted", "waiting", "also", "left_alone", "still_said_in", "hidden_with")
    both = {name: [*getattr(before, name), *getattr(page, name)] for name in lists}
    both |= {name: list(dict.fromkeys(both[name])) for name in ("still_said_in", "hidden_with")}
    kept: dict[str, Any] = {
        "quarantined": page.quarantined or before.quarantined,
        "error": page.error or before.error,
        "skipped": [],
    }
    return page.replace(**both | kept)


def _page(scope: Scope, told: Said, ids: list[str], number: int, body: dict[str, Any]) -> Request:
    key = {} if told.key is None else {"key": made_id(scope, told, f"page {number}")}
    return posted(path_of(told.owner, "memories", "delete"), {"ids": ids} | body | key)


def _before_first_call(scope: Scope, told: Said, body: dict[str, Any]) -> Plan[str | None]:
    """The position just before what an earlier call under this key did; None where there was none. Deletes nothing."""
    nobody = scope.edge.new_id()  # no memory has it: asked for under the key, it tells whether that was used
    try:
        yield from ask(scope, _page(scope, told, [nobody], 0, body))
    except InputError as refusal:
        position = refusal.context.get("position")
        if refusal.error == "KeyTaken" and isinstance(position, str):
            partition, _, seq = position.partition(":")
            return f"{partition}:{int(seq) - 1}"
    return None


def _known_by_its_first(scope: Scope, owner: str, wanted: list[str], as_of: str | None) -> Plan[list[str]]:
    """The same with one in front that will be deleted: a key is known by the first, and core memories stay.

    It is looked for among the first 1,000. Raises InputError (field `key`) where all of those stay, and more follow.
    """
    for memory_id in wanted[:PAGE]:
        detail = yield from get(scope, memory_id, owner=owner, as_of=as_of, trace=False)
        if detail.tier not in KEPT:
            return [memory_id, *(one for one in wanted if one != memory_id)]
    if len(wanted) > PAGE:
        raise refused("key", "a key", f"none: of the owner's first {PAGE:,} memories all are core or system, and stay")
    return wanted


def _settle(scope: Scope, answer: Deleted, reasons: dict[str, str], wanted: list[str]) -> Plan[None]:
    """Tell apart what stays from what an earlier try deleted already, whose answer was lost."""
    listed = yield from get_all(
        scope, owner=answer.owner, mode="debug", after=None if answer.waiting else answer.position
    )
    gone = {one.id for one in listed.memories if one.status == "deleted"}
    done = {*answer.deleted, *(one for one in reasons if one in gone)}
    answer.deleted = [one for one in wanted if one in done]
    answer.skipped = [Skipped(id=one, reason=reason) for one, reason in reasons.items() if one not in gone]
