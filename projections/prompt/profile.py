"""What the user said for every prompt: the profile, and standing instructions. Pure.

Only what the user said or confirmed is in them, whatever its weight: what the user wrote, or what the rules of extraction read in
an unchanged turn of theirs. A memory that somebody else writes, revises or merges does not have this ground, and neither does what
an assistant or a tool says.

The order of the profile: name and form of address; household and health that others must know; home; work; lasting preferences;
plans; the rest. Within a class the memory confirmed most often is first, then the newest. A line leaves when its memory is
negated, replaced, merged or deleted, or when the day of its plan is over. Without a day a state leaves after seven days, an
intention after half a year, and what rules read in talk after a month where its form does not last (`language.about_user`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

import numpy as np

from engramlog_server.events.trust import ASSERTED, ORDER
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.language.about_user import CLASSES, Drawn, about_user, parts_of_others, passing_days
from engramlog_server.projections.language.extraction.instructions import INSTRUCTION
from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.language.orders import overrides_rules
from engramlog_server.projections.language.times.bounds import bounded, plan_over
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.deletion import turns_behind
from engramlog_server.projections.memory.kind import is_statement, is_turn
from engramlog_server.projections.memory.record import DAY, Memory
from engramlog_server.projections.memory.working_memory import local
from engramlog_server.projections.prompt.lines import Chosen, Rules, allowed, why_not
from engramlog_server.projections.views.view import OwnerView

NOT_THE_USERS = "not the user's words"
"""Why a memory is not in the stable part."""
AN_ORDER, OUTDATED, A_PART = "an order", "may be outdated", "part of another line"
"""Why a memory is not in the profile: it orders its reader, a newer one may contradict it, or a line says it and more."""
MOST_LINES = 60
"""Lines of a profile at most."""
MOST_LOOKED_AT = 400
"""Statements that are looked at, the newest."""
MOST_INSTRUCTIONS = 10
MOST_INSTRUCTIONS_READ = 100
"""The newest instructions that are looked at."""
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


def standing_instructions(view: OwnerView, rules: Rules) -> Chosen:
    """The newest standing instructions that a turn of the user asks for in these words, and how many others there are by reason."""
    columns, own = view.columns, view.index(OwnWords)
    standing = columns.standing()
    live = np.flatnonzero((standing == Columns.LIVE) & (columns.kind == columns.kind_number(INSTRUCTION))).tolist()
    found = (columns.memories[row] for row in live)
    newest = sorted(found, key=lambda one: (-one.created_at, -one.created_seq, one.id))

    def reason(memory: Memory) -> str | None:
        if (why := why_not(memory, rules)) is not None:
            return why
        return None if INSTRUCTION in own.kinds(memory, columns, standing, rules) else NOT_THE_USERS

    left_out: Counter[str] = Counter()
    shown = allowed(newest[:MOST_INSTRUCTIONS_READ], reason, left_out)
    return Chosen(list(islice(shown, MOST_INSTRUCTIONS)), left_out)


def profile_of(view: OwnerView, now: int, rules: Rules, elsewhere: frozenset[str], check: Check = unchecked) -> Chosen:
    """The profile of an owner without the memories that are in every prompt anyway (`elsewhere`, by id).

    `now` counts by the day. `check` is called before each memory, of which up to twenty turns are read, and may raise.
    """
    columns, own = view.columns, view.index(OwnWords)
    standing = columns.standing()
    said = {columns.memories[row].content for one in elsewhere if (row := columns.row(one)) is not None}
    classes: list[list[Memory]] = [[] for _ in CLASSES]
    left_out: Counter[str] = Counter()
    for at, memory in enumerate(_newest(columns, standing)):
        check(at, MOST_LOOKED_AT)
        place = about_user(memory.content)
        if place is None or memory.id in elsewhere or memory.content in said:
            continue
        reason = _why_not(memory, now, rules)
        beside = (row for other in memory.conflicts if (row := columns.row(other)) is not None)
        newer = any(standing[row] == Columns.LIVE and columns.created_at[row] > memory.created_at for row in beside)
        reason = reason or (OUTDATED if newer else None)
        reason = reason or (None if own.holds(memory, columns, standing, rules) else NOT_THE_USERS)
        reason = reason or (AN_ORDER if overrides_rules(memory.content) else None)
        if reason is None:
            classes[place].append(memory)
            said.add(memory.content)
        else:
            left_out[reason] += 1
    for memories in classes:
        memories.sort(key=lambda one: (-one.mention_count, -one.created_at, -one.created_seq, one.id))
    lines = [memory for memories in classes for memory in memories][:MOST_LINES]
    parts = parts_of_others([memory.content for memory in lines])
    left_out.update([A_PART] * len(parts))
    return Chosen([one for at, one in enumerate(lines) if at not in parts], left_out)


def _newest(columns: Columns, standing: np.ndarray) -> Iterator[Memory]:
    """The newest statements that hold, the newest first."""
    rows = np.flatnonzero(standing == Columns.LIVE)
    order = np.lexsort((columns.created_seq[rows], columns.created_at[rows]))[::-1]
    newest = (columns.memories[row] for row in rows[order].tolist())
    return islice((one for one in newest if one.kind != INSTRUCTION and is_statement(one)), MOST_LOOKED_AT)


def _why_not(memory: Memory, now: int, rules: Rules) -> str | None:
    """Why it may not be in the profile."""
    if (reason := why_not(memory, rules)) is not None:
        return reason
    if memory.grounds_changed:
        return "grounds changed"
    if rules.corrected(memory.id):
        return "corrected"
    bound = bounded(memory.content, memory.worded_at, rules.zone)
    until = plan_over(memory.content, memory.worded_at, rules.zone) if bound is None else bound.until
    if until is not None:
        return "over" if until <= now - now % DAY else None
    drawn = Drawn(memory.category, memory.kind, memory.speaker) if memory.source == "judge" else None
    days = passing_days(memory.content, drawn)
    return "over" if days is not None and memory.last_activated_at + days * DAY < now - now % DAY else None
