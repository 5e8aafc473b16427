"""Whether a memory is what the user said: written by the user, or read by the rules of extraction in an unchanged turn of theirs.

Every line of the stable part needs this ground. A memory that somebody else writes, revises or merges does not have it, and
neither does what an assistant or a tool says.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from engramlog_server.events.trust import ASSERTED, ORDER
from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.deletion import turns_behind
from engramlog_server.projections.memory.kind import is_turn
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.working_memory import local
from engramlog_server.projections.prompt.lines import Rules

NOT_THE_USERS = "not the user's words"
"""Why a memory is not in the stable part."""
MOST_KEPT = 10_000
"""Turns whose statements are kept; beyond it all are dropped."""
MOST_TURNS = 20
"""Turns behind a memory that are read for it, the first."""
_BYTES_A_TURN = 300


class OwnWords:
    """The statements of turns, kept with a view: each turn is read once until it changes."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, dict[str, str]]] = {}
        """Turn -> time zone -> content of each statement that it asserts, with its kind."""
        self._characters = 0

    def put(self, _row: int, memory: Memory) -> None:
        """Drop the statements of a row that is new or has changed."""
        self._characters -= sum(map(len, (text for kinds in self._kept.pop(memory.id, {}).values() for text in kinds)))

    def holds(self, memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> bool:
        """Whether the user wrote the memory, or a turn of theirs states it."""
        return _is_written_by_user(memory, columns) or any(self.kinds(memory, columns, standing, rules))

    def kinds(self, memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> Iterator[str]:
        """The kinds of the statements that turns of the user make in just the words of the memory."""
        for turn in islice(_turns(memory, columns, standing, rules), MOST_TURNS):
            if (kind := self._statements(turn, rules.zone).get(memory.content)) is not None:
                yield kind

    def _statements(self, turn: Memory, zone: str) -> dict[str, str]:
        statements = self._kept.get(turn.id, {}).get(zone)
        if statements is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
                self._characters = 0
            day = local(turn.created_at, zone).date().isoformat()
            read = extract(TurnText(turn.id, turn.content, "user", turn.speaker, day))
            statements = {statement.content: statement.kind for statement in read if statement.asserted}
            self._kept.setdefault(turn.id, {})[zone] = statements
            self._characters += sum(map(len, statements))
        return statements

    def bytes_used(self) -> int:
        """About how many bytes it takes."""
        return _BYTES_A_TURN * len(self._kept) + 2 * self._characters


def _turns(memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> Iterator[Memory]:
    """The user's unchanged turns behind a memory."""
    for turn_id in turns_behind(memory):
        row = None if turn_id in rules.forgotten else columns.row(turn_id)
        if row is not None and standing[row] in (Columns.LIVE, Columns.MERGED):
            turn = columns.memories[row]
            if is_turn(turn) and turn.source == "user" and not turn.versions and turn.speaker == memory.speaker:
                yield turn


def _is_written_by_user(memory: Memory, columns: Columns) -> bool:
    """Whether the user wrote its words; of a merge, whether it has the words of one that the user wrote."""
    rows = (columns.row(part) for part in memory.merged_from)
    parts = [columns.memories[row] for row in rows if row is not None] if memory.merged_from else [memory]
    return any(
        part.content == memory.content
        and part.source == "user"
        and part.trust == ORDER[ASSERTED]
        and part.revised_by is None
        and not (memory.merged_from and part.merged_from)
        for part in parts
    )
