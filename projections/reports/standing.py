"""Where memories stand at an instant under a law: what a replay compares. All at once, so that it costs little a memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from events.parameters import Parameters
from projections.checks import EVERY, Check, unchecked
from projections.laws import Law
from projections.laws.modes import effective_levels
from projections.memory.columns import Columns
from projections.memory.record import LEVELS
from projections.views.query import status


class LawStanding(NamedTuple):
    """One memory's."""

    weight: float
    """Unclipped, to six decimals."""
    level: str
    status: str
    is_negated: bool
    mention_count: int


def standings(columns: Columns, law: Law, now: int, parameters: Parameters) -> dict[str, LawStanding]:
    """Memory -> where it stands at `now` (microseconds since 1970)."""
    weights = law.weights(columns, now, parameters)
    levels = effective_levels(columns, law, weights, now, parameters).tolist()
    return {
        memory.id: LawStanding(round(weight, 6), LEVELS[level], status(memory), memory.is_negated, memory.mention_count)
        for memory, weight, level in zip(columns, weights.tolist(), levels, strict=True)
    }


def differences(
    today: Mapping[str, LawStanding], replayed: Mapping[str, LawStanding], check: Check = unchecked
) -> list[dict[str, Any]]:
    """The memories that stand otherwise, or on one side alone; those of today first."""
    ids = dict.fromkeys([*today, *replayed])
    found = []
    for number, memory_id in enumerate(ids):
        if not number % EVERY:
            check(number, len(ids))
        before, after = today.get(memory_id), replayed.get(memory_id)
        if before != after:
            found.append({"id": memory_id, "today": _told(before), "replayed": _told(after)})
    return found


def _told(standing: LawStanding | None) -> dict[str, Any] | None:
    return None if standing is None else standing._asdict()
