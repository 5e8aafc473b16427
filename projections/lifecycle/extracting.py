"""Extraction as a plan: the owner's turns that nobody has read yet become typed memories (issue of the agent's side; seed 003).

Turns are read off their own memories, which stay: typed memories lie on top. The mark up to which turns were read is derived,
not kept: the newest turn that something extracted came from. Turns after it that stated nothing are read again, to no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from projections.columns import Columns
from projections.extraction import Turn, extract, questions
from projections.lifecycle.decision import Decision
from projections.lifecycle.judging import Heard, Verdict, judge
from projections.memory import SECRET, Memory
from projections.view import OwnerView

TURN_KIND = "episode"
JUDGED = "judge"
"""Source of the memories that extraction makes."""


def extractions(view: OwnerView, now: int) -> list[Decision]:
    """The events that the unread turns lead to, in the order in which they were said."""
    return [decision for verdict in verdicts(view, now) for decision in verdict.decisions]


def verdicts(view: OwnerView, now: int, *, again: bool = False) -> list[Verdict]:
    """What is made of every statement of the unread turns, with why; with `again` of all turns."""
    turns = [memory for memory in _turns(view) if memory.created_at <= now]
    mark = 0 if again else _mark(view, turns)
    zone = ZoneInfo(view.parameters.time_zone)
    heard = [_heard(memory, zone, memory.created_seq >= mark) for memory in turns]
    return judge(heard, view, now)


def _turns(view: OwnerView) -> list[Memory]:
    """Memories that are turns by users or other people, in the order of the log."""
    states = view.columns.state.tolist()
    found = [
        memory
        for memory, state in zip(view.columns.memories, states, strict=True)
        if state == Columns.LIVE and is_turn(memory) and memory.source == "user" and memory.sensitivity < SECRET
    ]
    return sorted(found, key=lambda memory: memory.created_seq)


def is_turn(memory: Memory) -> bool:
    """Whether a memory is a turn as it was said."""
    return memory.kind == TURN_KIND and len(memory.source_turns) == 1 and not memory.merged_from


def _mark(view: OwnerView, turns: list[Memory]) -> int:
    """Position of the newest turn that something extracted came from; 0 before the first."""
    positions = {memory.source_turns[0]: memory.created_seq for memory in turns}
    return max((positions.get(turn_id, 0) for turn_id in _read(view)), default=0)


def _read(view: OwnerView) -> Iterator[str]:
    for memory in view.columns.memories:
        if memory.source == JUDGED and not is_turn(memory):
            yield from memory.source_turns
            yield from (mention.turn_id for mention in memory.user_mentions if mention.turn_id is not None)


def _heard(memory: Memory, zone: ZoneInfo, unread: bool) -> Heard:
    day = datetime.fromtimestamp(memory.created_at // 1_000_000, zone).date().isoformat()
    turn = Turn(memory.source_turns[0], memory.content, "user", memory.speaker, day)
    statements = tuple(extract(turn)) if unread else ()
    return Heard(
        turn, memory.created_seq, memory.created_at, memory.session, statements, tuple(questions(turn)), unread
    )
