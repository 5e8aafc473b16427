"""What an act that undoes reaches, before it is written: its events, what they move, what they leave, and a digest of it all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple

from api.services.auditing.folding import Sides, view_beside
from api.services.writing import Writer
from api.shapes import NotUndoneTold, SomeMemories, StandsOtherwise, UndoEvent
from api.work.patience import current_check
from events.catalogue import MemoryDeleted, MemoryRevised, SourceSetAside
from events.envelope import AnyEvent, canonical, derived_id
from events.errors import InputError, refused
from events.partitions import position_text
from events.vocabulary import MAX_REQUEST_EVENTS
from projections.decide.command import EVENT, Ids
from projections.fold.owner import OwnerState
from projections.fold.reasons import reason_told
from projections.memory.record import Memory
from projections.memory.sources import NamedSource, known
from projections.reports.sides import Difference, Side
from projections.reports.undoing import ACT, NotUndone, Undoing, UndoStep
from projections.reports.undone import MemoriesMoved, after, as_folded, moved_by, remaining

MOST_TOLD = 100
"""Ids told of each thing that an act does to memories."""


class Spoken(NamedTuple):
    """Who says so, when (microseconds since 1970), and why."""

    actor: str
    when: int
    reason: str


class Act(NamedTuple):
    """The events of an act, and what they come to."""

    steps: tuple[UndoStep, ...]
    not_undone: tuple[NotUndone, ...]
    done: Side
    """The owner after it."""
    moves: MemoriesMoved
    remains: tuple[Difference, ...]
    """What it leaves otherwise than a replay has it."""
    reach: str
    """32 hexadecimal digits."""


def act_of(
    sides: Sides, undoing: Undoing, owner: str, spoken: Spoken, writer: Writer, asked: Mapping[str, Any], secret: bytes
) -> Act:
    """What undoes what is struck. Raises InputError where that is more than one request holds. The snapshot is held."""
    snapshot, history, check = sides.snapshot, sides.replay.history, current_check()
    state, memories = snapshot.view.state, as_folded(snapshot.view)
    steps, refusals = list[UndoStep](), list[NotUndone]()
    for step in undoing.steps((state, memories), (history.owner, history.memories), spoken.reason):
        try:
            writer.event(step.data, owner, spoken.when, spoken.actor)
        except InputError as problem:
            refusals.append(NotUndone(type(step.data).__name__, problem.message, 1, ()))
        else:
            steps.append(step)
    if len(steps) > MAX_REQUEST_EVENTS:
        allowed = (
            f"at most {MAX_REQUEST_EVENTS:,}, so that all are written or none: name less at a time, or a session or a principal,"
            " which one event sets aside"
        )
        raise refused("without", f"what takes {len(steps):,} events to undo", allowed)
    events = events_of(steps, owner, spoken, writer, lambda name: derived_id("reach", owner, name), None)
    then = after(owner, state, memories, events, state.seq, secret)
    done = Side(view_beside(snapshot, then), snapshot.now)
    moves, remains = moved_by(sides.before, done, check), tuple(remaining(done, sides.after, check))
    not_undone = (*undoing.not_undone, *refusals)
    told = [
        owner,
        asked,
        sorted(sides.replay.closure.struck),
        [(type(one.data).__name__, one.memory, one.cause) for one in steps],
        [_since(one, state, memories) for one in steps],
        moves.ids,
        [(one.kind, one.why, one.events) for one in not_undone],
        [one.id for one in remains],
    ]
    reach = blake2b(canonical(_plain(told)), digest_size=16).hexdigest()
    return Act(tuple(steps), not_undone, done, moves, remains, reach)


def _since(step: UndoStep, state: OwnerState, memories: Mapping[str, Memory]) -> int | None:
    """What tells an act from an equal one that was carried out before and was itself undone since."""
    if isinstance(step.data, SourceSetAside):
        one = known(state.asides, NamedSource(step.data.session, step.data.principal, step.data.actor))
        return None if one is None else one.brought_at
    memory = memories.get(step.memory or "")
    if memory is None:
        return None
    return memory.version if isinstance(step.data, MemoryRevised) else memory.restored_at


def events_of(
    steps: Sequence[UndoStep], owner: str, spoken: Spoken, writer: Writer, ids: Ids, call: str | None
) -> list[AnyEvent]:
    """The events of an act, all of one correlation.

    The first is the cause of the others; but what went with a turn has that as its cause, and other deletions have none:
    restoring a memory brings back what its own deletion took along, and no more.
    """
    names = name_of_events(len(steps))
    going = {one.memory: name for one, name in zip(steps, names, strict=True) if isinstance(one.data, MemoryDeleted)}
    found = []
    for number, (step, name) in enumerate(zip(steps, names, strict=True)):
        alone = not number or (step.cause == ACT and isinstance(step.data, MemoryDeleted))
        cause = None if alone else ids(names[0] if step.cause == ACT else going[step.cause])
        found.append(
            writer.event(
                step.data,
                owner,
                spoken.when,
                spoken.actor,
                event_id=ids(name),
                causation_id=cause,
                correlation_id=call,
            )
        )
    return found


def name_of_events(many: int) -> list[str]:
    """What the events of an act are to it; the first is known by the key alone, as that of any call is."""
    return [EVENT if not number else f"{EVENT} {number}" for number in range(many)]


def reach_told(act: Act, partition: int, offset: int, most: int) -> dict[str, object]:
    """What an act reaches, as answers tell it."""
    return {
        "reach": act.reach,
        "undoes": [undo_told(one) for one in act.steps[offset : offset + most]],
        "undoes_total": len(act.steps),
        "goes": _some(act.moves.go),
        "comes_back": _some(act.moves.come_back),
        "changed": _some(act.moves.change),
        "changed_fields": dict(act.moves.otherwise),
        "not_undone": [_not_told(one, partition) for one in act.not_undone],
        "remains": [_remains_told(one) for one in islice(act.remains, offset, offset + most)],
        "remains_total": len(act.remains),
    }


def undo_told(step: UndoStep) -> UndoEvent:
    """One event of an act: no words."""
    return {"event": type(step.data).__name__, "memory": step.memory}


def _not_told(one: NotUndone, partition: int) -> NotUndoneTold:
    first = [position_text(partition, seq) for seq in one.first if seq]
    why = f"cannot be undone by an event: {one.why}"
    return {"kind": one.kind, "why": why, "why_code": reason_told(why).code, "events": one.events, "first": first}


def _remains_told(one: Difference) -> StandsOtherwise:
    """What stands otherwise after the act than in a replay: the names of it, and both sides."""
    fields = [*(one.otherwise if one.after is not None else ["shown"]), *one.fields]
    return {"id": one.id, "fields": fields, "retracted": one.before, "replayed": one.after}


def _some(ids: Sequence[str]) -> SomeMemories:
    return {"total": len(ids), "ids": list(ids[:MOST_TOLD])}


def _plain(value: Any) -> Any:
    """The same in lists."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, Mapping) else value
