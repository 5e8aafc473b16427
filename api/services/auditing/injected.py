"""One memory that was put into a prompt: as it was then, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator

from api.requests.snapshots import Snapshot
from api.shapes import InjectedMemory
from projections.memory.columns import Columns, state_of
from projections.memory.record import Memory
from projections.memory.trust import trust_told
from projections.memory.working_memory import Injection
from projections.prompt.block import Block
from projections.prompt.lines import Rules, never_stood, why_not
from projections.views.corrected import corrections_in
from projections.views.query import card, moment, status

_HIDING = frozenset({"secret", "sensitive", "deleted"})
"""Reasons for which words are told to nobody who asks about a block."""


def reason_withheld(snapshot: Snapshot, memory_id: str, rules: Rules) -> str | None:
    """Why the words of a memory are not told today, or cannot have stood in a block of then; None where they may be told."""
    then, today = snapshot.view.get(memory_id), snapshot.present.get(memory_id)
    if then is None or (today is not None and state_of(today) == Columns.PURGED):
        return "unknown" if then is None else "purged"
    reason = why_not(then, rules)
    return reason if reason in _HIDING else never_stood(then)


def injected_memory(
    snapshot: Snapshot, memory_id: str, injection: Injection, block: Block, rules: Rules
) -> InjectedMemory:
    """What is told of a memory: its words of then where they may be told, its place in the block, and how it stands today."""
    then, today = snapshot.view.get(memory_id), snapshot.present.get(memory_id)
    reason = reason_withheld(snapshot, memory_id, rules)
    part = next((name for name, lines in block.parts.items() if any(one.id == memory_id for one in lines)), None)
    brought = next(
        (one for one in (injection.block.retrieved if injection.block else ()) if one.memory_id == memory_id), None
    )
    told: InjectedMemory = {
        "id": memory_id,
        "part": part,
        "rank": block.memories.index(memory_id) + 1 if part is not None else None,
        "closeness": None if brought is None else brought.closeness,
        "long_ago": brought is not None and brought.long_ago,
        "memory": None,
        "withheld": reason,
        "weight": None,
        "trust": None,
        "created_at": None,
        "status": "unknown" if today is None else status(today),
        "trust_today": None if today is None else trust_told(today),
        "since": [],
    }
    if then is None:
        return told
    view, now = snapshot.view, snapshot.now
    if reason is None:
        told["memory"] = card(then, "full" if brought is None else brought.level)["memory"]
    told["weight"] = round(view.law.read(then, now, view.parameters).weight, 6)
    told["trust"], told["created_at"] = trust_told(then), moment(then.created_at)
    if today is not None:
        told["since"] = list(dict.fromkeys(_since(snapshot, then, today)))
    return told


def _since(snapshot: Snapshot, then: Memory, today: Memory) -> Iterator[str]:
    """What became of it, in the words of its status where it has one."""
    before, after = status(then), status(today)
    if today.is_negated and not then.is_negated:
        yield "negated"
    if today.version > then.version:
        yield "revised"
    if today.sensitivity > then.sensitivity:
        yield "more sensitive"
    if after != before and after not in ("live", "fading", "kept_version", "superseded"):
        yield after
    if corrections_in(snapshot.present, then.id) and not corrections_in(snapshot.view, then.id):
        yield "corrected"
