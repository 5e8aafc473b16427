"""Whether a memory says what the user himself said: a turn of his that stands unchanged, in which the rules of extraction read it.

What stands in every prompt needs this ground: no memory that somebody else writes, revises or merges has it, and neither does
what an assistant or a tool says.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from events.trust import ASSERTED, ORDER
from projections.language.extraction.rules import TurnText, extract
from projections.language.extraction.shape import ExtractedStatement
from projections.memory.columns import Columns
from projections.memory.deletion_view import turns_behind
from projections.memory.episode import local
from projections.memory.kind import is_turn
from projections.memory.record import Memory
from projections.prompt.lines import Rules

NOT_THE_USERS = "not the user's words"
"""Why a memory does not stand in every prompt."""
MOST_KEPT = 10_000
"""Turns whose readings are kept; all are forgotten beyond."""
MOST_TURNS = 20
"""Turns behind a memory that are read for it, the first."""
_BYTES_A_READING = 300


def own_words(memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> Iterator[ExtractedStatement]:
    """What the rules read in the user's own turns that says just this memory, and is asserted."""
    for turn in _turns(memory, columns, standing, rules):
        yield from (one for one in _read(turn, rules.zone) if one.content == memory.content)


def _turns(memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> Iterator[Memory]:
    """Turns behind it that the user said, and that stand unchanged."""
    for turn_id in turns_behind(memory):
        row = None if turn_id in rules.forgotten else columns.row(turn_id)
        if row is None or standing[row] not in (Columns.LIVE, Columns.MERGED):
            continue
        turn = columns.memories[row]
        if is_turn(turn) and turn.source == "user" and not turn.versions and turn.speaker == memory.speaker:
            yield turn


def _read(turn: Memory, zone: str) -> list[ExtractedStatement]:
    """What a turn asserts."""
    day = local(turn.created_at, zone).date().isoformat()
    told = extract(TurnText(turn.id, turn.content, "user", turn.speaker, day))
    return [one for one in told if one.asserted]


def _told_by_itself(memory: Memory, columns: Columns) -> bool:
    """Whether the user wrote it, and the words are his; a merge has them where it keeps those of one that it joins."""
    if memory.merged_from:
        rows = (columns.row(one) for one in memory.merged_from)
        joined = [columns.memories[row] for row in rows if row is not None]
        return any(one.content == memory.content and not one.merged_from and _is_his(one) for one in joined)
    return _is_his(memory)


def _is_his(memory: Memory) -> bool:
    return memory.source == "user" and memory.trust == ORDER[ASSERTED] and memory.revised_by is None


class OwnWords:
    """What turns say, kept level with a view: a turn is read once, whatever is asked of it, until it changes."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, frozenset[str]]] = {}
        """By turn and time zone."""
        self._letters = 0

    def put(self, _row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        self._letters -= sum(len(one) for said in self._kept.pop(memory.id, {}).values() for one in said)

    def holds(self, memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> bool:
        """Whether the user told it: by itself and in nobody else's words since, or in a turn that says just this."""
        if _told_by_itself(memory, columns):
            return True
        turns = islice(_turns(memory, columns, standing, rules), MOST_TURNS)
        return any(memory.content in self._said(turn, rules.zone) for turn in turns)

    def _said(self, turn: Memory, zone: str) -> frozenset[str]:
        said = self._kept.get(turn.id, {}).get(zone)
        if said is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
                self._letters = 0
            said = frozenset(one.content for one in _read(turn, zone))
            self._kept.setdefault(turn.id, {})[zone] = said
            self._letters += sum(map(len, said))
        return said

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_READING * len(self._kept) + 2 * self._letters
