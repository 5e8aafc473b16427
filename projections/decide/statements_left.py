"""Statements drawn from a turn, which stand by themselves: what is left to judge where the turn was made more sensitive. Pure."""

from __future__ import annotations

from typing import Final, TypedDict

import numpy as np

from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.kind import is_statement, is_turn
from engramlog_server.projections.memory.record import Memory


class StatementsLeft(TypedDict):
    """Statements that were drawn from a turn and are told at a lower level than it is: judge them too where they say the same."""

    count: int
    ids: list[str]


MOST_LEFT: Final = 20
"""Of which the ids are told."""


def statements_left(columns: Columns, turn: Memory, level: int) -> StatementsLeft | None:
    """How many statements were drawn from a turn and are told at a lower level, with the first ids; None where it is no turn."""
    if not is_turn(turn):
        return None
    said, found = turn.source_turns[0], list[str]()
    below = (columns.sensitivity < level) & (columns.standing() < Columns.DELETED)
    for memory in (columns.memories[row] for row in np.flatnonzero(below).tolist()):
        if said in memory.source_turns and memory.id != turn.id and is_statement(memory):
            found.append(memory.id)
    return {"count": len(found), "ids": found[:MOST_LEFT]}
