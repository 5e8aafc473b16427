"""One fact once in what a block brings up: a turn, what was read in it, and an account of it say the same. Pure.

The turn is told, as it was said and as evidence is counted. What was read in it is told beside it only where it says a word
more, such as a name for `she`; an account of several only where it has a word of what is asked that none of these has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from projections.language.patterns import regex
from projections.language.scripts import HAN
from projections.language.text import tokens
from projections.memory.kind import is_statement, is_summary, is_turn
from projections.memory.record import Memory
from projections.prompt.gathering import Close

Get = Callable[[str], Memory | None]
_LETTER = regex(f"[{HAN}]")
_SUBJECT = frozenset({"user", *"用户的"})
"""What stands for `I` where a turn was read."""


class Once:
    """Reads what was chosen for one turn, best first."""

    def __init__(self, get: Get, asked: str) -> None:
        self._get = get
        self._asked = _words(asked)
        self._words = cache(lambda memory_id: _words(memory.content) if (memory := get(memory_id)) else frozenset())
        self.repeated: dict[str, str] = {}
        """What is not told -> what tells it."""

    def of(self, chosen: Iterable[Close], most: int) -> list[Close]:
        """The first of these, at most so many, without what others among them tell."""
        kept: list[Close] = []
        self.repeated = {}
        for one in chosen:
            kept = self._without_repeated([*kept, one])
            if len(kept) >= most:
                break
        return kept

    def _without_repeated(self, chosen: Sequence[Close]) -> list[Close]:
        ids = [one.memory_id for one in chosen]
        told = {name: by for name in ids if (by := self._turn_of(name, ids)) is not None}
        left = [name for name in ids if name not in told]
        told |= {name: by for name in left if (by := self._pieces_of(name, left)) is not None}
        self.repeated |= told
        return [one for one in chosen if one.memory_id not in told]

    def _turn_of(self, name: str, among: Sequence[str]) -> str | None:
        """The turn that says all that a statement does, which was read in it."""
        memory = self._get(name)
        if memory is None or not is_statement(memory) or memory.revised_by is not None:
            return None
        for one in among:
            turn = self._get(one) if one in memory.source_turns else None
            if turn is not None and is_turn(turn) and self._words(name) <= self._words(one) | _of_speaker(turn):
                return one
        return None

    def _pieces_of(self, name: str, among: Sequence[str]) -> str | None:
        """The first of what an account is of, where together they have all of what is asked that it has."""
        memory = self._get(name)
        if memory is None or not is_summary(memory):
            return None
        of = {*memory.summarises, *memory.source_turns}
        pieces = [one for one in among if one != name and self._is_of(one, of)]
        said = frozenset[str]().union(*map(self._words, pieces))
        return pieces[0] if pieces and self._words(name) & self._asked <= said else None

    def _is_of(self, name: str, of: set[str]) -> bool:
        memory = self._get(name)
        return name in of or (memory is not None and not is_summary(memory) and bool(of & set(memory.source_turns)))


def _words(text: str) -> frozenset[str]:
    """Words in Latin letters by their stems, and Han characters; without what stands for `I`."""
    latin = (one for one in tokens(text) if _LETTER.search(one) is None)
    return frozenset((*latin, *_LETTER.findall(text))) - _SUBJECT


def _of_speaker(turn: Memory) -> frozenset[str]:
    return _words(turn.speaker) if turn.speaker else frozenset()
