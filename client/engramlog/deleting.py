"""Deleting everything of one owner, who has to be named."""

from __future__ import annotations

from datetime import datetime

from engramlog.edge import spelled
from engramlog.errors import InputError
from engramlog.reading import PAGE, get_all
from engramlog.results import Deleted, Skipped
from engramlog.wire import Plan, Scope, ask, path_of, posted

GONE = frozenset({"deleted", "purged", "merged"})
"""States in which there is nothing to delete; what was merged away goes with the memory that stands for it."""


def delete_all(
    scope: Scope, *, owner: str, reason: str = "", actor: str = "user", occurred_at: datetime | str | None = None
) -> Plan[Deleted]:
    """Soft delete all memories of an owner, negated and superseded ones too, and tell what was left alone and why.

    `owner` has no default, and under `.of(...)` must be the same one: no slip wipes somebody else's memories, or
    everybody's. Core and system memories stay; `delete` takes them one by one. Kept 30 days, `restore` brings each back.
    """
    whose = scope.whose(owner)
    listed = yield from get_all(scope, owner=whose, mode="debug")
    wanted = [one.id for one in listed.memories if one.status not in GONE]
    answer = Deleted(owner=whose, deleted=[], skipped=[], position=listed.position)
    reasons: dict[str, str] = {}
    told = {"actor": actor, "occurred_at": spelled(occurred_at)} | ({"reason": reason} if reason else {})
    for start in range(0, len(wanted), PAGE):
        part = wanted[start : start + PAGE]
        try:
            done = yield from ask(scope, posted(path_of(whose, "memories", "delete"), {"ids": part, **told}))
        except InputError as refusal:
            skipped = refusal.context.get("skipped")
            if not isinstance(skipped, list):
                raise
            reasons |= {one["id"]: one["reason"] for one in skipped}
            continue
        page = Deleted.model_validate(done)
        answer.deleted += page.deleted
        answer.waiting += page.waiting
        reasons |= {one.id: one.reason for one in page.skipped}
        answer.position, answer.restorable_until = page.position, page.restorable_until
    if reasons:
        yield from _settle(scope, answer, reasons, wanted)
    return answer


def _settle(scope: Scope, answer: Deleted, reasons: dict[str, str], wanted: list[str]) -> Plan[None]:
    """Tell apart what stays from what an earlier try deleted already, whose answer was lost."""
    listed = yield from get_all(
        scope, owner=answer.owner, mode="debug", after=None if answer.waiting else answer.position
    )
    gone = {one.id for one in listed.memories if one.status == "deleted"}
    done = {*answer.deleted, *(one for one in reasons if one in gone)}
    answer.deleted = [one for one in wanted if one in done]
    answer.skipped = [Skipped(id=one, reason=reason) for one, reason in reasons.items() if one not in gone]
