"""Contradiction: negation, reaffirmation and possible conflicts (memory.md, section 4).

A memory is negated iff, among its negations and the mentions by actor `user`, the newest by `occurred_at` is a
negation; ties and mentions of the same turn go to the negation ("I don't like coffee any more" also mentions coffee).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from engramlog_server.events.catalogue import MemoryNegated
from engramlog_server.events.envelope import Event
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.vocabulary import DEFAULT_RESOLUTION
from engramlog_server.projections.fold.trust import waits
from engramlog_server.projections.fold.working_set import WorkingSet
from engramlog_server.projections.memory.record import (
    MAX_CONFLICTS,
    MAX_NEGATIONS,
    MAX_USER_MENTIONS,
    CorrectionEntry,
    Memory,
    UserMention,
)
from engramlog_server.projections.memory.sources import Author
from engramlog_server.projections.memory.twins import BEFORE_ANY

Told = TypeVar("Told", UserMention, CorrectionEntry)


def negate(working: WorkingSet, data: MemoryNegated, event: Event[Any]) -> None:
    """The only event that demotes. Time stamps of activity stay; C follows the curve of the resolution."""
    memory = working.live(data.memory_id)
    if memory is None or waits(working, memory, event):
        return
    replaced_by = data.replaced_by if data.replaced_by != memory.id else None
    entry = CorrectionEntry(
        working.at,
        data.resolution or DEFAULT_RESOLUTION[memory.category],
        data.reason,
        data.correction,
        replaced_by,
        data.turn_id,
        working.seq,
        working.author_unless(memory),
        working.trust == ASSERTED,
    )
    negations = _kept(sorted([*memory.negations, entry], key=_by_time), MAX_NEGATIONS)
    state = negation_state(negations, memory.user_mentions)
    if state["negated_at"] is not None:
        reason, conflicts = f"negated, {entry.resolution}", settled(working, memory)
    else:
        # It came late: the record is the one that the other order gives, where the mention reaffirmed.
        reason = "negated earlier than the user last said it"
        conflicts = contradicted(working, memory, replaced_by if negations[-1] is entry else None)
    working.change(memory, "negate", reason, negations=negations, conflicts=conflicts, **state)


def _by_time(entry: CorrectionEntry) -> tuple[int, int, int]:
    """Of negations at one instant the surest is the newest, whichever arrived first."""
    return entry.at, _SURENESS.index(entry.resolution), entry.position


_SURENESS = ("weight_balance", "version_keep", "latest_wins")


def negation_state(negations: tuple[CorrectionEntry, ...], said: tuple[UserMention, ...]) -> dict[str, Any]:
    """`negated_at`, `resolution` and `superseded_by` as the negations and the user's mentions have them.

    What a lower source says that the user said takes back no negation of his own. The successor is the one named last since the
    user last said it: a further negation that names none forgets none.
    """
    turns = {n.turn_id for n in negations if n.turn_id}
    counted = [m for m in said if m.turn_id not in turns]
    since = max((m.at for m in counted), default=BEFORE_ANY)
    since_own = max((m.at for m in counted if m.own), default=BEFORE_ANY)
    standing = [n for n in negations if n.at >= (since_own if n.own else since)]
    if not standing:
        return {"negated_at": None, "resolution": None, "superseded_by": None}
    newest, named = standing[-1], (n.replaced_by for n in reversed(standing) if n.replaced_by)
    return {"negated_at": newest.at, "resolution": newest.resolution, "superseded_by": next(named, None)}


def newest_said(said: Iterable[UserMention]) -> tuple[UserMention, ...]:
    """The newest mention of each turn, the newest 8 of these, ascending: mentions of one turn share their fate.

    Of those without a turn the newest of each author, for what one of them says may be set aside. The user's own word and what
    others say of him are kept apart: none of these drives out his own.
    """
    by_turn: dict[tuple[str | Author | None, bool], UserMention] = {}
    for one in said:
        name = one.turn_id or one.author, one.own
        known = by_turn.get(name)
        if known is None or one.at > known.at:
            by_turn[name] = one
    if len(by_turn) == 1:
        return tuple(by_turn.values())
    return _kept(sorted(by_turn.values(), key=_by_turn), MAX_USER_MENTIONS)


def _kept(told: Sequence[Told], most: int) -> tuple[Told, ...]:
    """The last of these, at most so many a person's own word and as many of others; a flood of these drives out none of his."""
    if len(told) <= most:
        return tuple(told)
    parts: dict[bool, list[int]] = {True: [], False: []}
    for number, one in enumerate(told):
        parts[one.own].append(number)
    return tuple(told[number] for number in sorted((*parts[True][-most:], *parts[False][-most:])))


def _by_turn(said: UserMention) -> tuple[int, str, str, str]:
    author = said.author
    return said.at, said.turn_id or "", "" if author is None else author.by, (author and author.session) or ""


def contradicted(working: WorkingSet, memory: Memory, successor: str | None) -> tuple[str, ...]:
    """`conflicts` of a memory that the user said again: it and what had replaced it may contradict each other.

    The other one (if merged, what stands for it) is flagged too; one that is gone or negated contradicts nothing.
    """
    other = working.get(successor) if successor else None
    while other is not None and other.merged_into is not None:
        other = working.get(other.merged_into)
    if other is None or other.id == memory.id or other.is_negated:
        return memory.conflicts
    if other.deleted_at is not None or other.purged_at is not None:
        return memory.conflicts
    working.adjust(other, conflicts=flagged(other.conflicts, memory.id))
    return flagged(memory.conflicts, other.id)


def flagged(conflicts: tuple[str, ...], other: str) -> tuple[str, ...]:
    """The flags with one more, the newest 16."""
    return (*(c for c in conflicts if c != other), other)[-MAX_CONFLICTS:]


def settled(working: WorkingSet, memory: Memory) -> tuple[str, ...]:
    """No flags: a memory that is negated, revised or deleted stands in conflict with no other; those are told."""
    for other_id in memory.conflicts:
        other = working.get(other_id)
        if other is not None and memory.id in other.conflicts:
            working.adjust(other, conflicts=tuple(c for c in other.conflicts if c != memory.id))
    return ()
