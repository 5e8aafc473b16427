"""Which of an owner's memories say what no longer holds; kept level with a view, whatever its size. Pure.

A negated memory says it, and with it the turns that it was made of, and accounts of these: summaries, merges. What another
memory corrects by a link alone says it too, until its owner says it again. Only what is negated or corrected is looked at, so an
owner of whom nothing is pays for the look alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.language.keywords import Drawn, drawn
from engramlog_server.projections.memory.columns import (
    BELOW,
    GONE,
    TOLD,
    Columns,
    Correction,
    conflict_of,
    following,
    holding_now,
    line_of,
    state_of,
)
from engramlog_server.projections.memory.deletion import turns_behind
from engramlog_server.projections.memory.kind import is_pattern, is_statement, is_turn
from engramlog_server.projections.memory.record import Memory

MOST_DRAWN = 50_000
"""Texts whose drawn parts are kept; all are forgotten beyond."""
_BYTES_A_LINK = 200
Strengths = npt.NDArray[np.int8]
Filed = TypeVar("Filed")


class _Negated(NamedTuple):
    """What a negated memory says is said in: itself, and the turns that a statement was made of."""

    places: tuple[str, ...]
    strength: int


class _Link(NamedTuple):
    """Something corrected, and what corrects it: None where its own successors tell."""

    old: int
    by: int | None


class _Corrector(NamedTuple):
    """A memory that corrects another by a link, and whether it stands."""

    old: str
    stands: bool


class _Bearing(NamedTuple):
    """What of a memory decides whether another may leave."""

    text: str
    summary: str | None
    state: int
    sensitivity: int
    negated_at: int | None
    negations: int
    following: str | None
    turns: tuple[str, ...]


class CorrectionIndex:
    """Of each row what it says that no longer holds. Rows are those of the columns that are asked about."""

    def __init__(self) -> None:
        self._negated: dict[int, _Negated] = {}
        self._made_of: dict[int, tuple[str, ...]] = {}
        """Accounts -> ids of the turns and memories that they were made of."""
        self.patterns: dict[int, tuple[str, ...]] = {}
        """Patterns -> ids of their evidence."""
        self._corrects: dict[int, _Corrector] = {}
        self._corrected: set[str] = set()
        self._links: dict[str, list[_Link]] = {}
        """Id of a turn or memory -> what was said in it and no longer holds."""
        self._strengths: Strengths = np.zeros(0, dtype=np.int8)
        self._drawn: dict[tuple[int, tuple[str, ...]], tuple[str, Drawn]] = {}
        self._leaving: dict[int, Drawn | None] = {}
        """Row -> the parts of what may leave normal mode, None of what may not; as long as nothing that was looked at changes."""
        self._known: dict[int, tuple[Correction, ...]] = {}
        self._looked_at: dict[str, _Bearing | None] = {}
        """What these were decided by, None for what was not there."""
        self._is_level = False

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        if memory.id in self._looked_at and self._looked_at[memory.id] != _bearing(memory):
            self._forget()
        negated = _negated(memory)
        if negated != self._negated.get(row):
            self._is_level = False
            _file(self._negated, row, negated)
        made = _made_of(memory)
        if made != self._made_of.get(row, ()):
            self._is_level = False
            _file(self._made_of, row, made or None)
            _file(self.patterns, row, memory.summarises if is_pattern(memory) else None)
        if memory.corrects is not None:
            self._put_corrector(row, _Corrector(memory.corrects, _stands(memory)))
        if memory.id in self._corrected or (row >= self._strengths.size and memory.id in self._links):
            self._is_level = False

    def _put_corrector(self, row: int, told: _Corrector) -> None:
        if told != self._corrects.get(row):
            self._is_level = False
            self._corrects[row] = told
            self._corrected.add(told.old)

    @property
    def bearing_rows(self) -> list[int]:
        """Rows that decide what is corrected, ascending: an index that these alone are put into knows as much."""
        return sorted({*self._negated, *self._made_of, *self._corrects})

    def patterns_of(self, memory_id: str) -> list[int]:
        """Rows of the patterns of which a memory is evidence, ascending."""
        return sorted(row for row, evidence in self.patterns.items() if memory_id in evidence)

    def bytes_used(self) -> int:
        """About how much it takes."""
        links = len(self._negated) + len(self._made_of) + len(self._corrects) + len(self._links)
        return _BYTES_A_LINK * links + self._strengths.nbytes + 2_000 * len(self._drawn)

    def strengths(self, columns: Columns) -> Strengths:
        """How strongly each row may be corrected, 0 where it is not; `of` tells by what, and leaves out what was no correction."""
        if not self._is_level:
            self._level(columns)
        if self._strengths.size < len(columns):
            more = np.zeros(len(columns) - self._strengths.size, dtype=np.int8)
            self._strengths = np.concatenate([self._strengths, more])
        return self._strengths

    def of(self, columns: Columns, row: int) -> Sequence[Correction]:
        """What a row says that no longer holds, the last negated first; kept until something that decides it changes."""
        if not self.strengths(columns)[row]:
            return ()
        if row not in self._known:
            links = {link for place in self._places(columns, row) for link in self._links.get(place, ())}
            found = (self._correction(columns, row, link) for link in links)
            told = sorted((one for one in found if one is not None), key=lambda one: (-one.at, one.old.id))
            self._known[row] = tuple(told)
            self._looked_at[columns.memories[row].id] = _bearing(columns.memories[row])
            for link in links:
                for known, memory in line_of(columns, link.old):
                    self._looked_at[known] = None if memory is None else _bearing(memory)
        return self._known[row]

    def said_in(self, columns: Columns, place: str) -> Sequence[Correction]:
        """The same of a memory by its id, or of a turn, whether or not there is a memory of it."""
        row = columns.row(place)
        if row is not None:
            return self.of(columns, row)
        self.strengths(columns)
        found = [self._told(columns, link, (place,)) for link in self._links.get(place, ())]
        return sorted((one for one in found if not one.beside), key=lambda one: (-one.at, one.old.id))

    def drawn(self, columns: Columns, row: int, corrections: Sequence[Correction]) -> Drawn:
        """The part of a row's text that these were drawn from, and the rest."""
        memory, statements = columns.memories[row], tuple(one.old.content for one in corrections)
        text = f"{memory.content}\n{memory.summary}" if memory.summary else memory.content
        known = self._drawn.get((row, statements))
        if known is not None and known[0] == text:
            return known[1]
        if len(self._drawn) >= MOST_DRAWN:
            self._drawn.clear()
        self._drawn[row, statements] = text, drawn(text, statements)
        return self._drawn[row, statements][1]

    def leaving(self, columns: Columns, row: int) -> Drawn | None:
        """The parts of a row that may leave normal mode for what was corrected in it; None where it may not.

        What is negated itself is the mode's own matter, and what also tells what holds now stays.
        """
        if not self._is_level:
            self._level(columns)
        if row not in self._leaving:
            found = [one for one in self.of(columns, row) if one.strength == GONE]
            memory = columns.memories[row]
            if is_pattern(memory) and found and not memory.is_negated:
                # What several memories had in common holds no longer once one of them does not.
                self._leaving[row] = Drawn(self.drawn(columns, row, found).inside, frozenset())
                return self._leaving[row]
            stays = not found or any(one.beside for one in found) or memory.is_negated
            self._leaving[row] = None if stays else self.drawn(columns, row, found)
        return self._leaving[row]

    def _places(self, columns: Columns, row: int) -> tuple[str, ...]:
        return (columns.memories[row].id, *self._made_of.get(row, ()))

    def _correction(self, columns: Columns, row: int, link: _Link) -> Correction | None:
        """A link as it bears on a row; None where the row itself is what holds now."""
        if link.old == row:
            return self._told(columns, link, ())
        if is_statement(columns.memories[row]):
            return None
        told = self._told(columns, link, self._places(columns, row))
        if told.now is columns.memories[row] or (told.beside and is_turn(columns.memories[row])):
            return None
        return told

    def _told(self, columns: Columns, link: _Link, places: tuple[str, ...]) -> Correction:
        old = columns.memories[link.old]
        if link.by is not None:
            now: Memory | None = columns.memories[link.by]
            at, strength, said_in = columns.memories[link.by].created_at, BELOW, set[str]()
        else:
            now, at = holding_now(columns, link.old), old.negated_at or 0
            strength = self._negated[link.old].strength
            said_in = {one.turn_id for one in old.negations[-1:] if one.turn_id is not None}
        if now is not None:
            said_in |= {now.id, *now.source_turns}
        return Correction(old, now, at, strength, beside=not said_in.isdisjoint(places))

    def _level(self, columns: Columns) -> None:
        """Find every link again, and the rows that they bear on."""
        links: defaultdict[str, list[_Link]] = defaultdict(list)
        strengths = np.zeros(len(columns), dtype=np.int8)
        accounts: defaultdict[str, list[int]] = defaultdict(list)
        for row, made in self._made_of.items():
            for place in made:
                accounts[place].append(row)
        for link, places, strength in self._all(columns):
            for place in places:
                links[place].append(link)
                own = columns.row(place)
                for row in (*(() if own is None else (own,)), *accounts.get(place, ())):
                    strengths[row] = max(strengths[row], strength)
        self._links, self._strengths, self._is_level = dict(links), strengths, True
        self._forget()

    def _forget(self) -> None:
        self._known.clear()
        self._leaving.clear()
        self._looked_at.clear()

    def _all(self, columns: Columns) -> Iterator[tuple[_Link, tuple[str, ...], int]]:
        for row, negated in self._negated.items():
            yield _Link(row, None), negated.places, negated.strength
        for by, corrector in self._corrects.items():
            old = columns.row(corrector.old) if corrector.stands else None
            if old is not None and _is_outdated(columns.memories[old], columns.memories[by]):
                yield _Link(old, by), _said_in(columns.memories[old]), BELOW


def _file(kept: dict[int, Filed], row: int, told: Filed | None) -> None:
    if told is None:
        kept.pop(row, None)
    else:
        kept[row] = told


def _said_in(memory: Memory) -> tuple[str, ...]:
    return (memory.id, *turns_behind(memory)) if is_statement(memory) else (memory.id,)


def _negated(memory: Memory) -> _Negated | None:
    if memory.negated_at is None:
        return None
    return _Negated(_said_in(memory), GONE if conflict_of(memory) >= Columns.KEEP else TOLD)


def _made_of(memory: Memory) -> tuple[str, ...]:
    """What an account was made of; nothing for a statement, and for a turn under its own id."""
    if memory.source_turns == (memory.id,) or not (memory.source_turns or memory.summarises or memory.merged_from):
        return ()
    if is_statement(memory):
        return ()
    return tuple(dict.fromkeys((*memory.source_turns, *memory.summarises, *memory.merged_from)))


def _bearing(memory: Memory) -> _Bearing:
    times = (memory.negated_at, len(memory.negations), following(memory))
    text = (memory.content, memory.summary, state_of(memory), memory.sensitivity)
    return _Bearing(*text, *times, memory.source_turns)


def _stands(memory: Memory) -> bool:
    return not memory.is_negated and state_of(memory) == Columns.LIVE


def _is_outdated(old: Memory, by: Memory) -> bool:
    """Whether a link alone corrects: the owner has not said since what it corrects."""
    if old.is_negated or old.id == by.id or any(one.replaced_by == by.id for one in old.negations):
        return False
    return all(one.at < by.created_at for one in old.user_mentions)
