"""What memories that were appended raw mean for what was known before each of them, decided as `add` decides it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.envelope import AnyEvent, Stored, decode, micros
from engramlog_server.events.trust import PROPOSED, TRUSTS
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.decide.remembering import Does, of_beside
from engramlog_server.projections.language.contradiction.change import Alike, no_model
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.judge.telling import NewMemory, WriteJudge
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import is_told_by_itself
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.views.view import OwnerView

JOB = "judge"
_ACTIONS = {"ends": "negate", "ended by": "negate", "waits": "negate", "flags": "flag", "joins": "link"}


def judgements(
    view: OwnerView, entries: Sequence[Stored], check: Check = unchecked, alike: Alike = no_model
) -> list[Decision]:
    """The decisions on memories that these entries created, in ascending order of seq.

    Each is compared with what was created before it: what came later was judged, or will be, against this one. Memories that were
    changed since, that wait for a person, and those of imports are left out.
    """
    door, found = WriteJudge(view, check, alike), list[Decision]()
    for number, one in enumerate(entries):
        check(number, len(entries))
        event = decode(one.kind, one.body)
        data = event.data
        memory = view.get(data.memory_id) if isinstance(data, MemoryCreated) else None
        if memory is not None and memory.created_seq == one.seq and _is_to_be_judged(event, memory):
            found += _judged(view, door, event, memory)
    return found


def _is_to_be_judged(event: AnyEvent, memory: Memory) -> bool:
    data = event.data
    assert isinstance(data, MemoryCreated)
    stands = state_of(memory) == Columns.LIVE and not memory.is_negated and memory.merged_into is None
    own = is_told_by_itself(data) and not data.imported and memory.content == data.content
    return stands and own and TRUSTS[memory.trust] != PROPOSED


def _judged(view: OwnerView, door: WriteJudge, event: AnyEvent, memory: Memory) -> Iterator[Decision]:
    assert isinstance(event.data, MemoryCreated)
    at, trust = micros(event.occurred_at), TRUSTS[memory.trust]
    told = NewMemory.of_creation(event.data, at, event.actor, trust, memory_id=memory.id)
    for one in door.judge_recorded(told, memory.created_seq).beside:
        known = view.get(one.memory_id)
        if known is None or _is_decided(memory, known, one.does):
            continue
        ids = (memory.id,) if one.does == "ended by" else (one.memory_id, memory.id)
        when = at if one.at is None else one.at
        yield Decision(
            JOB,
            _ACTIONS[one.does],
            ids,
            when,
            memory.created_seq,
            one.reason,
            of_beside(one, memory.id, memory.content),
            when,
            "judge",
            once=(JOB, event.event_id, one.memory_id),
            trust=trust,
        )


def _is_decided(memory: Memory, known: Memory, does: Does) -> bool:
    """Whether something was decided about this pair, whatever a person made of it since. Of a contradiction no link decides."""
    joined = does == "joins" and any(edge.to == known.id for edge in memory.edges)
    ended = any(one.replaced_by == memory.id for one in known.negations)
    return (
        joined or known.id in memory.conflicts or ended or any(one.replaced_by == known.id for one in memory.negations)
    )
