"""How long the whole conversation with an owner is, in tokens as estimated; kept level with a view. Pure."""

from __future__ import annotations

from engramlog_server.projections.language.prompt_text import estimated_tokens
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import is_turn
from engramlog_server.projections.memory.record import Memory

_SAID = frozenset({Columns.LIVE, Columns.MERGED, Columns.RETIRED, Columns.PROPOSED})
"""States of turns that stand, by themselves or in a merge."""
_BYTES_A_TURN = 60


class TalkTokens:
    """Tokens of all turns that are memories, but for those that are deleted, rejected or set aside."""

    def __init__(self) -> None:
        self._of: dict[int, int] = {}
        self.total = 0

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        said = is_turn(memory) and state_of(memory) in _SAID
        tokens = estimated_tokens(memory.content) if said else 0
        self.total += tokens - self._of.get(row, 0)
        if tokens:
            self._of[row] = tokens
        else:
            self._of.pop(row, None)

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_TURN * len(self._of)
