"""A memory in use: shown, put to use, graded, promoted, kept (memory.md, sections 2 and 9).

What an event does here is what each law reads later: stability and its clock (seed 004), boosts of the importance and the
crossings that call for a reviewer (seed 003), the schedule of reviews (seeds 000 and 004). All of it is folded whatever the
owner's profile, so that any law can read any history.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import msgspec

from engramlog_server.events.catalogue import (
    MemoriesAccessed,
    MemoryKept,
    MemoryPromoted,
    MemoryReinforced,
    ReviewGraded,
)
from engramlog_server.events.envelope import Event, micros
from engramlog_server.events.parameters import Parameters
from engramlog_server.events.standing import FIRM, LOOKING, REVIEWERS
from engramlog_server.projections.fold.links import all_boosted, boosted
from engramlog_server.projections.fold.working_set import WorkingSet, trouble_with
from engramlog_server.projections.laws.published import effective_importance, review_threshold_of
from engramlog_server.projections.laws.spaced import OUTCOME_GRADES, graded
from engramlog_server.projections.memory.kind import WITNESSES, of_promotion
from engramlog_server.projections.memory.record import DAY, HOUR, MAX_BOOSTS, Boost, Memory, Upkeep, with_changes

FIRST_HITS = 3
"""How many of the memories shown together are associated by it."""
NO_HITS = frozenset({"association", "injection"})
"""Ways of showing by which an access makes no co-hits."""
NEVER = -(1 << 63)
"""Before every instant, in microseconds."""
ALIKE = ("used", "manual_review")
"""Outcomes that strengthen the association to the memory that led there."""


def access(working: WorkingSet, data: MemoriesAccessed, _event: Event[Any]) -> None:
    """Counts what was shown, no later than the event itself, and reinforces it once. Moves no time stamp of activity, writes
    no entry. What a person only looked at moves nothing."""
    if data.via in LOOKING:
        return
    parameters = working.parameters
    factor = parameters.reinforce_association if data.via == "association" else parameters.reinforce_recall
    for memory_id, (count, last_at) in _sums(data).items():
        memory = working.get(memory_id)
        if memory is None or memory.deleted_at is not None or trouble_with(memory):
            continue
        last = min(last_at, working.at)
        after = with_changes(
            memory,
            access_count=memory.access_count + count,
            last_accessed_at=last if memory.last_accessed_at is None else max(memory.last_accessed_at, last),
            reinforce_count=memory.reinforce_count + 1,
            stability=_steadied(working, memory, factor),
            last_reinforced_at=max(memory.last_reinforced_at, last),
            changed_seq=working.seq,
        )
        working.changed[memory_id] = risen(memory, after, working)
    pairs = (pair for group in (*data.together, *_first_hits(data)) for pair in combinations(_few(group), 2))
    all_boosted(working, pairs, parameters.co_hit_boost)


def _sums(data: MemoriesAccessed) -> dict[str, tuple[int, int]]:
    """How often each memory was shown, and when last in microseconds since 1970; as an event of version 1 says it."""
    sums: dict[str, tuple[int, int]] = {}
    for hit in data.hits:
        count, last = sums.get(hit.memory_id, (0, NEVER))
        sums[hit.memory_id] = (count + hit.count, max(last, micros(hit.last_at)))
    for one in data.accesses:
        at = micros(one.at)
        for memory_id in one.shown:
            count, last = sums.get(memory_id, (0, NEVER))
            sums[memory_id] = (count + 1, max(last, at))
    return sums


def _few(group: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(group))[:FIRST_HITS]


def _first_hits(data: MemoriesAccessed) -> list[tuple[str, ...]]:
    """What stood side by side at the top of each answer. What is only brought to mind was not hit, a further page holds no first
    hits, and what stands in a prompt was not found together: of that `together` tells."""
    if data.via in NO_HITS:
        return []
    return [one.shown[:FIRST_HITS] for one in data.accesses if one.first == 1 and len(one.shown) > 1]


def _steadied(working: WorkingSet, memory: Memory, factor: float) -> float:
    """S after a reinforcement, hours."""
    return min(max(memory.stability * factor, working.parameters.min_stability), working.parameters.max_stability)


def reinforce(working: WorkingSet, data: MemoryReinforced, _event: Event[Any]) -> None:
    """It was put to use: stability and clock, the boost of a use, the grade of a task, the way that led there."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    parameters, outcome = working.parameters, data.outcome
    failed = outcome == "task_failure"
    fields: dict[str, Any] = {
        "stability": _steadied(working, memory, getattr(parameters, f"reinforce_{outcome}")),
        "reinforce_count": memory.reinforce_count + (not failed or parameters.failure_restarts_clock),
    }
    if not failed or parameters.failure_restarts_clock:
        fields["last_reinforced_at"] = max(memory.last_reinforced_at, working.at)
    if outcome in OUTCOME_GRADES:
        fields["schedule"] = graded(memory.schedule, OUTCOME_GRADES[outcome], working.at)
    if not failed:
        fields["used_at"] = max(memory.used_at or working.at, working.at)
    reason = f"outcome {outcome}"
    if outcome == "used":
        gain, refusal = _boost(working, memory)
        if refusal is None:
            fields |= gain
        else:
            reason = f"{reason}; {refusal}"
    after = risen(memory, with_changes(memory, **fields), working)
    told = {name: getattr(after, name) for name in (*fields, "upkeep")}
    working.change(memory, "reinforce", reason, **told)
    if data.from_memory is not None and outcome in ALIKE:
        boosted(working, data.from_memory, memory.id, parameters.used_edge_boost)


def _boost(working: WorkingSet, memory: Memory) -> tuple[dict[str, Any], str | None]:
    """The importance after a use (seed 003, boost limits), or why this use does not count.

    The decayed value is taken first. One that comes late, before the last counted boost, falls within its cool-down.
    """
    parameters, at = working.parameters, working.at
    upkeep = memory.upkeep or Upkeep()
    if upkeep.boosts and at - upkeep.boosts[-1].at < int(parameters.boost_cooldown_hours * HOUR):
        return {}, "no boost: within the cool-down of the last"
    recent = tuple(boost for boost in upkeep.boosts if boost.at > at - DAY)
    room = round(parameters.boost_daily_limit - sum(boost.amount for boost in recent), 6)
    amount = min(parameters.use_boost, room)
    if amount <= 0:
        return {}, "no boost: the limit of a day is reached"
    importance = round(effective_importance(memory, at, parameters) + amount, 6)
    kept = upkeep.kept and importance < parameters.decay_review_importance
    boosts = limited((*recent, Boost(at, amount)))
    fields: dict[str, Any] = {
        "importance": importance,
        "upkeep": Upkeep(
            boosts,
            max(at, upkeep.set_at or at),
            upkeep.promotion_at,
            kept,
            round(upkeep.earned + amount, 6),
            round(upkeep.witnessed + amount, 6) if working.actor in WITNESSES else upkeep.witnessed,
        ),
    }
    fields["tier"] = tier_of(memory.tier, importance, parameters)
    return fields, None


def tier_of(tier: str, importance: float, parameters: Parameters) -> str:
    """The tier at an importance: from 3.0 on a memory is core for good."""
    return "core" if importance >= parameters.core_importance and tier in ("fact", "episode") else tier


def limited(boosts: tuple[Boost, ...]) -> tuple[Boost, ...]:
    """The newest 16, the oldest of them with what those before it added: the limit of a day counts them all."""
    if len(boosts) <= MAX_BOOSTS:
        return boosts
    older, newest = boosts[: -MAX_BOOSTS + 1], boosts[-MAX_BOOSTS + 1 :]
    return (Boost(older[-1].at, round(sum(boost.amount for boost in older), 6)), *newest)


def risen(before: Memory | None, after: Memory, working: WorkingSet) -> Memory:
    """`after`, asking for a reviewer where its effective importance rose to the promotion threshold just now."""
    threshold = working.parameters.promotion_importance
    if after.importance < threshold or after.tier not in ("fact", "episode"):
        return after
    if before is not None and effective_importance(before, working.at, working.parameters) >= threshold:
        return after
    if effective_importance(after, working.at, working.parameters) < threshold:
        return after
    upkeep = after.upkeep or Upkeep()
    return with_changes(after, upkeep=msgspec.structs.replace(upkeep, promotion_at=working.at))


def grade(working: WorkingSet, data: ReviewGraded, _event: Event[Any]) -> None:
    """A review: the schedule moves, and it counts as an access."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    last = working.at if memory.last_accessed_at is None else max(memory.last_accessed_at, working.at)
    fields: dict[str, Any] = {
        "access_count": memory.access_count + 1,
        "last_accessed_at": last,
        "schedule": graded(memory.schedule, data.grade, working.at),
    }
    after = risen(memory, with_changes(memory, **fields), working)
    working.change(memory, "review", f"graded {data.grade}", **fields, upkeep=after.upkeep)


def promote(working: WorkingSet, data: MemoryPromoted, _event: Event[Any]) -> None:
    """A reviewer's decision: another tier."""
    if memory := working.live(data.memory_id):
        ground, reason = of_promotion(memory, data.to, working.actor), f"tier {data.to}"
        if data.to in FIRM and ground is None:
            reason += "; without a ground to stand in every prompt"
        working.change(memory, "promote", reason, tier=data.to, upkeep=_answered(memory), ground=ground)


def _answered(memory: Memory) -> Upkeep | None:
    upkeep = memory.upkeep
    return None if upkeep is None else msgspec.structs.replace(upkeep, promotion_at=None)


def _who(working: WorkingSet) -> str:
    """Who keeps it: anybody may, and only some are reviewers."""
    return "a reviewer" if working.actor in REVIEWERS else f"the {working.actor}"


def keep(working: WorkingSet, data: MemoryKept, _event: Event[Any]) -> None:
    """A reviewer's decision: it stays. Asked whether to promote, nothing else changes; asked because it had decayed, it
    starts again from the review threshold, when the reviewer says so: a late answer leaves it as long as a prompt one."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    due = working.at if data.due_at is None else min(micros(data.due_at), working.at)
    upkeep = memory.upkeep or Upkeep()
    if upkeep.promotion_at is not None and data.due_at is not None and upkeep.promotion_at == due:
        working.change(memory, "keep", f"{_who(working)} kept its tier", upkeep=_answered(memory))
        return
    if effective_importance(memory, due, working.parameters) >= review_threshold_of(memory, working.parameters):
        working.change(memory, "keep", f"{_who(working)} kept it")
        return
    working.change(
        memory,
        "keep",
        f"{_who(working)} kept it: importance back to the review threshold",
        importance=working.parameters.decay_review_importance,
        upkeep=msgspec.structs.replace(upkeep, set_at=max(working.at, upkeep.set_at or working.at), kept=True),
    )
