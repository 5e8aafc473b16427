"""Reading turns again that were read before: what would come to be of them by the rules of today, and what would not. Pure.

Nothing is carried out of it. What today's rules make is judged against what is known, as a first reading is: what somebody deleted
or rejected is not made again, and what was known from a turn is known.
"""

from __future__ import annotations

from typing import NamedTuple

from projections.checks import Check, counted, unchecked
from projections.lifecycle.extracting import turns_heard
from projections.lifecycle.judge.correcting import judge
from projections.lifecycle.judge.judging import Verdict
from projections.lifecycle.judge.known import says_again
from projections.memory.columns import Columns
from projections.memory.kind import is_drawn, is_statement
from projections.views.view import OwnerView


class ReadAgain(NamedTuple):
    """What a reading of all turns comes to."""

    turns: int
    """That were read again."""
    verdicts: list[Verdict]
    """On each statement of today's rules; what has no decision is known, or not kept."""
    gone: list[str]
    """Ids of live memories that were drawn from these turns, and that today's rules would not draw."""


def read_again(view: OwnerView, now: int, check: Check = unchecked) -> ReadAgain:
    """Read all turns of an owner once more, whoever read them first."""
    heard = turns_heard(view, again=True, check=check)
    verdicts = judge(heard, view, now, check)
    read = {one.turn.turn_id for one in heard if one.unread}
    told = {name for one in verdicts for name in (one.memory_id, one.other) if name is not None}
    said = dict[str, list[Verdict]]()
    for one in verdicts:
        said.setdefault(one.turn_id, []).append(one)
    gone = list[str]()
    columns = view.columns
    live = (columns.standing() == Columns.LIVE).nonzero()[0].tolist()
    for row in counted(live, check, len(live)):
        memory = columns.memories[row]
        if not (is_drawn(memory) and is_statement(memory)) or memory.id in told:
            continue
        turns = set(memory.source_turns)
        again = (one.statement for turn in turns for one in said.get(turn, ()))
        if turns <= read and not any(says_again(one, memory.content) for one in again):
            gone.append(memory.id)
    return ReadAgain(len(read), verdicts, gone)
