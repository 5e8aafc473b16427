"""What is rejected with a memory, and taken up again: the values by which others say the same. Pure.

Beside it stands what is left to judge of the statements drawn from a turn that was made more sensitive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

import numpy as np

from engramlog_server.events.catalogue import ValueReadmitted, ValueRejected
from engramlog_server.events.errors import InputError
from engramlog_server.events.vocabulary import MAX_SOURCES, MOST_STATEMENTS
from engramlog_server.projections.language.statements import STATEMENT_RULES
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.kind import is_statement, is_turn
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import Rejections, known, turn_hash, values_of
from engramlog_server.projections.shapes import StatementsLeft


def values_said(memory: Memory, get: Callable[[str], Memory | None] = lambda _: None) -> tuple[str, ...]:
    """What a memory says and what was merged into it said, as events name it: at most 32; none where nobody knows a digest."""
    found: dict[bytes, None] = {}
    waiting, seen = [memory], set[str]()
    while waiting and len(found) < MOST_STATEMENTS:
        one = waiting.pop(0)
        if one.id not in seen:
            seen.add(one.id)
            found.update(dict.fromkeys(values_of(one)))
            waiting += [source for source in map(get, one.merged_from) if source and source.merged_into == one.id]
    return tuple(value.hex() for value in found)[:MOST_STATEMENTS]


def rejection(memory_id: str, values: tuple[str, ...], reason: str, turns: Iterable[str] = ()) -> ValueRejected:
    """That what a memory and these turns say is not so. Raises InputError where nobody knows by what to tell it again."""
    if not values:
        raise InputError(
            f"never: what memory {memory_id} says has no digest to be known by; `engramlog verify` tells why",
            field="never",
        )
    marks = tuple(dict.fromkeys(turn_hash(one).hex() for one in turns))[:MOST_STATEMENTS]
    return ValueRejected(values=values, rules=STATEMENT_RULES, memory_id=memory_id, reason=reason, turns=marks)


def readmission(memory_id: str | None, values: Iterable[str], reason: str = "") -> ValueReadmitted:
    """That these values hold after all."""
    return ValueReadmitted(values=tuple(values), rules=STATEMENT_RULES, memory_id=memory_id, reason=reason)


def rejected_values(rejections: Rejections, memory: Memory, get: Callable[[str], Memory | None]) -> tuple[str, ...]:
    """What a memory says, as far as it is rejected now: who brings it back means all of it.

    Its text, every triple that it backs, and of a turn what was read in it.
    """
    said = (bytes.fromhex(one) for one in values_said(memory, get))
    found = [known(rejections, value) for value in (*said, *(one.stated for one in memory.facts if one.stated))]
    turn = turn_hash(memory.id)
    found += [one for one in rejections if turn in one.turn_hashes]
    standing = dict.fromkeys(one.digest.hex() for one in found if one is not None and one.stands)
    return tuple(standing)[:MOST_STATEMENTS]


def is_double(columns: Columns, memory: Memory, going: Iterable[str]) -> bool:
    """Whether another memory that stands, and is none of those that go, says the same: deleting one of two rejects nothing."""
    leaving, values = {memory.id, *going}, set(values_of(memory))
    standing = columns.standing()
    return any(
        standing[row] == Columns.LIVE
        and one.id not in leaving
        and not one.is_negated
        and not values.isdisjoint(values_of(one))
        for row, one in enumerate(columns.memories)
    )


def also_proposed(columns: Columns, memory: Memory) -> list[str]:
    """Other proposals that say the same, as many as fit in one answer: once that is rejected, nobody is asked about them."""
    values = set(values_of(memory))
    rows = (columns.memories[row] for row in np.flatnonzero(columns.standing() == Columns.PROPOSED).tolist())
    found = (one.id for one in rows if one.id != memory.id and not values.isdisjoint(values_of(one)))
    return list(islice(found, MAX_SOURCES - 1))


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
