"""Extraction as a plan: the owner's turns that nobody has read yet become typed memories (seed 003).

Turns are read off their own memories, which stay: typed memories lie on top. How far they were read is an event,
`TurnsExtracted`, appended with what was decided. What is read again all the same, after a run that was killed, changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from events.catalogue import MemoryCreated, TurnsExtracted
from projections import sessions
from projections.columns import Columns
from projections.extraction import Turn, extract, questions
from projections.lifecycle.decision import Decision
from projections.lifecycle.judging import JOB, Heard, Verdict, judge
from projections.memory import SECRET, Memory
from projections.view import OwnerView

TURN_KIND = "episode"
RULES = "rules"


def extractions(view: OwnerView, now: int) -> list[Decision]:
    """The events that the unread turns lead to, in the order in which they were said, and the mark that they are read."""
    heard = turns_heard(view)
    unread = [one for one in heard if one.unread]
    if not unread:
        return []
    decided = [decision for verdict in judge(heard, view, now) for decision in verdict.decisions]
    return [*decided, mark(unread, RULES, now)]


def verdicts(view: OwnerView, now: int, *, again: bool = False) -> list[Verdict]:
    """What is made of every statement of the unread turns, with why; with `again` of all turns."""
    return judge(turns_heard(view, again=again), view, now)


def turns_heard(view: OwnerView, *, again: bool = False, stated: bool = True) -> list[Heard]:
    """All turns of users and other people in the order of the log; those to be read are `unread`, with what they state.

    `stated`: whether rules are to read what they state and ask.
    """
    first = 0 if again else first_unread(view)
    zone = ZoneInfo(view.parameters.time_zone)
    return [_heard(memory, zone, memory.created_seq >= first, stated) for memory in _turns(view)]


def mark(unread: Sequence[Heard], by: str, now: int, **told: object) -> Decision:
    """That these turns were read; `told` are further fields of the event."""
    last = unread[-1]
    data = TurnsExtracted(up_to=last.turn.turn_id, turns=len(unread), by=by, **told)  # type: ignore[arg-type]
    return Decision(JOB, "read", (last.turn.turn_id,), now, last.seq, f"read by {by}", data)


def unkept(view: OwnerView, said: Sequence[sessions.Said]) -> list[Decision]:
    """Memories for turns of people that were recorded and have none: every turn stays retrievable, as after an import."""
    kept = {turn_id for memory in view.columns.memories if is_turn(memory) for turn_id in memory.source_turns}
    found: dict[str, Decision] = {}
    for one in said:
        if not isinstance(one, sessions.Turn) or one.role not in sessions.ASKING or one.turn_id in kept | found.keys():
            continue
        if view.get(one.turn_id) is not None or not one.text.strip():
            continue
        data = MemoryCreated(memory_id=one.turn_id, content=one.text, category="fact", kind=TURN_KIND, tier="fact",
                             source="user", speaker=one.name, source_turns=(one.turn_id,))  # fmt: skip
        found[one.turn_id] = Decision(
            JOB, "keep_turn", (one.turn_id,), one.at, one.seq, "a turn is a memory", data, one.at, "user", one.session
        )
    return list(found.values())


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


def first_unread(view: OwnerView) -> int:
    """Position from which turns are to be read; 0 where none was read, or the last one that was is not known here."""
    marked = view.state.read.up_to
    if not marked:
        return 0
    return next(
        (one.created_seq + 1 for one in view.columns.memories if is_turn(one) and one.source_turns[0] == marked), 0
    )


def _heard(memory: Memory, zone: ZoneInfo, unread: bool, stated: bool) -> Heard:
    day = datetime.fromtimestamp(memory.created_at // 1_000_000, zone).date().isoformat()
    turn = Turn(memory.source_turns[0], memory.content, "user", memory.speaker, day)
    statements = tuple(extract(turn)) if unread and stated else ()
    asked = tuple(questions(turn)) if stated else ()
    return Heard(turn, memory.created_seq, memory.created_at, memory.session, statements, asked, unread)
