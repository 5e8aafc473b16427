"""Gathering what a block may hold: of the owner's memories, of the conversation, of what searches found. Pure.

A block is gathered once when it is handed out, and again from what its injection tells when somebody asks how it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from projections.memory.deletion_view import erased_turns, forgotten_turns
from projections.memory.record import Memory
from projections.memory.working_memory import Conversation
from projections.prompt.block import Line, Material
from projections.prompt.instructions import standing_instructions
from projections.prompt.keeping import kept_first
from projections.prompt.lines import (
    Rules,
    StandingLines,
    holding_line,
    is_earlier,
    keeping_order,
    memory_line,
    message_lines,
    never_stood,
    said_already,
    sensitivity_allowed,
    standing_memories,
    time_line,
    tool_lines,
    why_not,
    withdrawn,
)
from projections.shapes import Result
from projections.views.corrected import corrections_in, seen_at
from projections.views.query import card
from projections.views.view import OwnerView


class Wanted(NamedTuple):
    """How a block is wanted, checked."""

    budget: int
    messages: int
    sensitive: bool
    language: str
    threshold: float
    trust: int
    """How far a memory must be trusted, as records have it."""
    stable: int | None = None
    """Tokens that the stable one of two parts may take; None: everything in one block."""
    stable_language: str | None = None
    """Of its titles; None: that of its lines."""
    whole: bool | None = None
    """Whether a turn that asks is answered as a whole: whatever the threshold, never, or (None) where something passes it."""


class Valued(NamedTuple):
    """What one search found, best first, each with how close it is to the turn."""

    results: list[Result]
    closeness: list[float]


class Close(NamedTuple):
    """A memory that is close enough to the turn to be brought up unasked."""

    memory_id: str
    level: str
    """How much of it the search showed."""
    closeness: float | None
    long_ago: bool


class AskedTurn(NamedTuple):
    """The turn that a block is for."""

    text: str
    talk: Conversation
    """What it stands in."""


class Always(NamedTuple):
    """What stands in a block whatever is asked, and why other memories do not."""

    standing: StandingLines
    instructions: list[Memory]
    told: frozenset[str] = frozenset()
    """Ids of what the stable one of two parts tells."""

    @property
    def ids(self) -> set[str]:
        """Of these memories, which are not brought up a second time."""
        return {one.id for one in (*self.standing.core, *self.standing.episodes, *self.instructions)} | self.told

    @property
    def left_out(self) -> Counter[str]:
        """How many may not stand there, by reason."""
        return self.standing.left_out


def rules_of(view: OwnerView, wanted: Wanted, today: OwnerView | None = None) -> Rules:
    """What its lines go by; of a block about the past also what is known `today` of what may be told."""
    columns, most = view.columns, sensitivity_allowed(wanted.sensitive)
    forgotten, since = forgotten_turns(columns), dict[str, str]()
    if today is not None:
        forgotten |= forgotten_turns(today.columns)
        since = withdrawn(today.columns, most)
    zone = view.parameters.time_zone
    erased = erased_turns(columns if today is None else today.columns)
    return Rules(zone, wanted.language, most, forgotten, partial(corrections_in, view), since, wanted.trust, erased)


def always(view: OwnerView, now: int, talk: Conversation, rules: Rules) -> Always:
    """What always holds, the session's episodes, and what the user asked for from then on."""
    seen = seen_at(view, now, "normal")
    standing, asked = standing_memories(view.columns, seen, talk, rules), standing_instructions(view.columns, rules)
    standing.left_out.update(asked.left_out)
    if not view.is_narrowed:
        return Always(standing, asked.shown)
    told = standing._replace(core=[one for one in standing.core if not view.hides(one.id)])
    return Always(told, [one for one in asked.shown if not view.hides(one.id)])


def closest(
    view: OwnerView, found: Sequence[Valued], asked: AskedTurn, threshold: float, rules: Rules, holds: Always, most: int
) -> tuple[list[Close], list[int]]:
    """The closest of what the searches found, at most so many, closest first, and how many of each were close enough.

    What is long ago stands below what is fresh.
    """
    close: dict[str, tuple[float, Result]] = {}
    counts = []
    elsewhere = holds.ids
    for search in found:
        passed = 0
        for result, value in zip(search.results, search.closeness, strict=True):
            memory = view.get(result["id"])
            if value < threshold or memory is None or said_already(memory, asked.talk, asked.text):
                continue
            if (reason := why_not(memory, rules)) is not None:
                holds.left_out[reason] += 1
                continue
            passed += 1
            if memory.id not in elsewhere and value > (close[memory.id][0] if memory.id in close else 0.0):
                close[memory.id] = (value, result)
        counts.append(passed)
    best = sorted(close.items(), key=lambda one: (-one[1][0], one[0]))[:most]
    chosen = [
        Close(memory_id, shown["level"], round(value, 6), bool(shown.get("long_ago", False)))
        for memory_id, (value, shown) in best
    ]
    return sorted(chosen, key=lambda one: one.long_ago), counts


def material(
    view: OwnerView,
    now: int,
    partition: int,
    asked: AskedTurn,
    messages: int,
    rules: Rules,
    holds: Always,
    close: Sequence[Close],
) -> Material:
    """What the block could hold, of these memories and so many messages; `left_out` of `holds` counts what may not."""
    talk, standing = asked.talk, holds.standing
    episodes = [
        memory_line(one, one.content, rules) for one in standing.episodes if not said_already(one, talk, asked.text)
    ]
    told = message_lines(talk.messages[-messages:] if messages else (), rules, now)
    tools, hidden = tool_lines(talk, asked.text, partition, rules)
    if hidden:
        holds.left_out["tool result"] += hidden
    retrieved = _retrieved(view, close, rules)
    return Material(
        time_line(now, rules.zone, rules.language),
        [holding_line(one, rules) for one in standing.core],
        [*episodes, *told],
        retrieved,
        tools,
        {"remembered": keeping_order(len(episodes), len(told)), **kept_first(view, retrieved)},
        is_earlier(talk, standing.episodes, now),
        [holding_line(one, rules) for one in holds.instructions],
    )


def _retrieved(view: OwnerView, close: Sequence[Close], rules: Rules) -> list[Line]:
    """The lines of what was brought up, but for what cannot stand in a block: deleted, say, between the search and now."""
    lines = []
    for memory_id, level, closeness, long_ago in {one.memory_id: one for one in close}.values():
        memory = view.get(memory_id)
        if memory is not None and never_stood(memory) is None and why_not(memory, rules) is None:
            lines.append(memory_line(memory, card(memory, level)["memory"], rules, closeness, long_ago=long_ago))
    return lines
