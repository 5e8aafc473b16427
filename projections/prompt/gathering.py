"""Gathering what a block may hold: the owner's memories, the conversation, the results of the search. Pure.

A block is gathered once when it is handed out, and again from its recorded injection if somebody asks how it was made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple, TypedDict

import numpy as np

from engramlog_server.projections.index.said_index import SaidNames
from engramlog_server.projections.language.keywords import asked_words, content_words, says_something
from engramlog_server.projections.language.orders import gives_orders, sounds_like_an_order
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.questions import asks
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.deletion import erased_turns, forgotten_turns
from engramlog_server.projections.memory.kind import (
    always_holds,
    is_asked_again,
    is_of_pattern,
    is_statement,
    is_turn,
    suggested_by,
)
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.working_memory import Conversation, local
from engramlog_server.projections.prompt.block import CLOSE, TITLES, Block, Line, Material
from engramlog_server.projections.prompt.lines import (
    Rules,
    allowed,
    holding_line,
    if_it_held,
    is_earlier,
    keeping_order,
    memory_line,
    message_lines,
    repeats_talk,
    sensitivity_allowed,
    sums_up_the_newest,
    time_line,
    tool_lines,
    why_not,
    withdrawn,
)
from engramlog_server.projections.prompt.message import MessageRead, Related
from engramlog_server.projections.prompt.profile import standing_instructions
from engramlog_server.projections.views.query import corrections_in, seen_at
from engramlog_server.projections.views.view import OwnerView


class Match(TypedDict):
    """What is read of a search result."""

    id: str
    level: str
    score: float


MOST_CORE = 100
MOST_EPISODES = 3
NO_GROUND = "without ground"
"""Why a memory of tier core or system is not among what always holds."""
STOP = (0.15, 0.35)
"""Shares of the best line's score, and of the score of the line before, below which no further line is related if the message asks
for one thing."""
UNSURE = 3
"""Lines at most for a message of which only nearness says that it needs memory."""
MOST_LINES = 60
"""Related lines at most."""
COVERED = 0.7
"""Share of a turn's words from which a statement drawn from it says all that matters in it."""
EARLIER = 2
"""Last messages of an earlier conversation that are shown with its summary."""

_CLAUSES = regex(r"(?<=[。！？；，!?;,])|(?<=[.])\s|\n")


class Wanted(NamedTuple):
    """How a block is wanted, checked."""

    budget: int
    messages: int
    sensitive: bool
    language: str
    threshold: float
    """Least closeness of a related memory, 0 to 1; 0 by default."""
    trust: int
    """The least trust of a memory, as records number it."""
    stable: int
    """Tokens that the stable part may take; 0: none of it."""
    stable_language: str | None = None
    """Of its titles; None: the language of its lines."""
    related: Related = "auto"
    project: str | None = None
    """Where the message is said, as if it named this project."""


class Close(NamedTuple):
    """A memory that is related to the turn."""

    memory_id: str
    level: str
    """How much of it the search showed."""
    closeness: float | None


class AskedTurn(NamedTuple):
    """The turn that a block is for."""

    text: str
    talk: Conversation
    """The conversation that it belongs to."""
    message: MessageRead
    wanted: Wanted


class Always(NamedTuple):
    """What a block holds whatever is asked, and why other memories are not in it."""

    core: list[Memory]
    """Of tiers system and core with a ground (`projections.memory.kind`): system first, then by importance, then the newest."""
    episodes: list[Memory]
    """The session's newest, oldest first."""
    left_out: Counter[str]
    instructions: list[Memory]
    """The newest first; with a stable part those that it does not show whole."""
    stable: frozenset[str] = frozenset()
    """Ids of what the stable part shows."""
    shortened: frozenset[str] = frozenset()
    """Ids of what the stable part shows only the beginning of: the turn part may show all of it."""
    rest: Sequence[Memory] = ()
    """The lines of the profile that the stable part does not show whole."""

    @property
    def ids(self) -> set[str]:
        """Ids of memories that are not shown a second time."""
        return {memory.id for memory in self.episodes} | (self.stable - self.shortened)

    def with_stable(self, block: Block, profile: Sequence[Memory]) -> Always:
        """The same with a stable part, made of these lines of the profile."""
        whole = frozenset(block.memories) - block.shortened
        instructions = [memory for memory in self.instructions if memory.id not in whole]
        rest = [memory for memory in profile if memory.id not in whole]
        return self._replace(
            instructions=instructions, stable=frozenset(block.memories), shortened=block.shortened, rest=rest
        )


def named_in(view: OwnerView) -> frozenset[str]:
    """Names that the user's memories hold, and the names of those who spoke; lower case."""
    return view.index(SaidNames).names | frozenset(name.casefold() for name in view.conversation.speakers())


def rules_of(view: OwnerView, wanted: Wanted, today: OwnerView | None = None) -> Rules:
    """The rules for its lines; for a block about the past also what is withheld `today`."""
    columns, most = view.columns, sensitivity_allowed(wanted.sensitive)
    forgotten, since = forgotten_turns(columns), dict[str, str]()
    if today is not None:
        forgotten |= forgotten_turns(today.columns)
        since = withdrawn(today.columns, most)
    erased = erased_turns(columns if today is None else today.columns)
    corrected, zone = partial(corrections_in, view), view.parameters.time_zone
    return Rules(zone, wanted.language, most, forgotten, corrected, since, wanted.trust, erased)


def always(view: OwnerView, now: int, talk: Conversation, rules: Rules) -> Always:
    """What always holds and standing instructions, whatever their weight, and the session's episodes that normal mode shows.

    Without episodes that sum up only the newest messages: the block has the messages.
    """
    columns, stable = view.columns, stable_rules(view, rules)
    instructions, left_out = standing_instructions(view, stable)
    rows = np.flatnonzero((columns.standing() == Columns.LIVE) & (columns.tier <= Columns.CORE)).tolist()
    firm = (columns.memories[row] for row in rows)
    core = list(allowed(firm, lambda one: why_not(one, stable) if always_holds(one) else NO_GROUND, left_out))
    core.sort(key=lambda one: (one.tier != "system", -one.importance, -one.created_at, one.id))
    shown = np.flatnonzero(seen_at(view, now, "normal").shown & (columns.tier == Columns.EPISODE)).tolist()
    summaries = (columns.memories[row] for row in shown if talk.session is not None)
    own = allowed((one for one in summaries if one.session == talk.session), lambda one: why_not(one, rules), left_out)
    episodes = [memory for memory in own if not sums_up_the_newest(memory, talk)]
    episodes.sort(key=lambda one: (one.created_at, one.id))
    core = [memory for memory in core[:MOST_CORE] if not view.hides(memory.id)]
    instructions = [memory for memory in instructions if not view.hides(memory.id)]
    return Always(core, episodes[-MOST_EPISODES:], left_out, instructions)


def stable_rules(view: OwnerView, rules: Rules) -> Rules:
    """The rules for lines of the stable part: without sensitive texts if the owner's parameter says so."""
    return rules if view.parameters.stable_sensitive else rules._replace(most_sensitive=sensitivity_allowed(False))


def related(
    view: OwnerView,
    now: int,
    results: Sequence[Match],
    closeness: Sequence[float],
    asked: AskedTurn,
    rules: Rules,
    holds: Always,
) -> list[Close]:
    """What the search found for the turn, in its order, until the score falls; for an order also the rest of the profile.

    Standing instructions without room in the stable part are among them, in their order. If the message asks for the past, the
    versions that a memory replaced follow it.
    """
    found: list[Close] = []
    shown: list[Memory] = []
    best = last = 0.0
    elsewhere = holds.ids
    # A conversation of another day is not in the block: what was said in it may be related.
    talk = asked.talk._replace(messages=()) if is_earlier(asked.talk, holds.episodes, now) else asked.talk
    others = view.index(SaidNames).projects
    before = asked.talk.messages[-2:] if asked.message.continues else ()
    topic = "\n".join([*(turn.text for turn in before), asked.text, asked.wanted.project or ""]).casefold()
    others -= {project for project in others if len(others) == 1 or project in topic}
    versions = earlier_versions(view) if asked.message.past else {}
    most = UNSURE if asked.message.need == "unsure" and asked.wanted.related == "auto" else MOST_LINES
    for result, close in zip(results, closeness, strict=True):
        memory = view.get(result["id"])
        if memory is None or close < asked.wanted.threshold or len(found) == most:
            continue
        # The turns before are searched for too, and may score better.
        share, fall = (STOP[0], 0) if asked.message.continues else STOP
        if not asked.message.several and result["score"] < max(share * best, fall * last):
            break
        if repeats_talk(memory, talk, asked.text) or never_related(memory):
            continue
        reason = "another project" if (memory.project or "").casefold() in others else why_not(memory, rules)
        if reason is not None:
            holds.left_out[reason] += 1
            continue
        if memory.trust:  # what is only proposed is no measure of the rest
            best, last = max(best, result["score"]), result["score"]
        if memory.id not in elsewhere and not any(_says_the_same(memory, other) for other in shown):
            shown += [memory] if memory.trust else []
            found.append(Close(memory.id, result["level"], round(close, 6)))
        found += [Close(old, "full", None) for old in versions.get(memory.id, ())]
    if asked.message.orders and asked.message.need == "yes" and not asked.wanted.threshold:
        rest = [one for one in holds.rest if (one.project or "").casefold() not in others]
        found += [Close(one.id, "full", None) for one in rest if not any(_says_the_same(one, other) for other in shown)]
    return found


def never_related(memory: Memory) -> bool:
    """Whether a memory only asks, greets, repeats one of our own blocks, or suggests a change or a pattern to a person."""
    if suggested_by(memory) is not None or is_asked_again(memory) or (not memory.trust and is_of_pattern(memory.id)):
        return True
    if any(title["frame"] in memory.content for title in TITLES.values()) or CLOSE in memory.content:
        return True
    if not is_turn(memory) or len(memory.content) > 400:
        return False
    return all(asks(clause) or not says_something(clause) for clause in _CLAUSES.split(memory.content))


def _says_the_same(memory: Memory, shown: Memory) -> bool:
    """Whether a statement and its turn say the same: then the one that ranks higher is enough, unless the turn says more."""
    if is_statement(memory) == is_statement(shown):
        return memory.content == shown.content
    turn, statement = (shown, memory) if is_statement(memory) else (memory, shown)
    if turn.id not in statement.source_turns:
        return False
    said = content_words(turn.content)
    return memory is statement or len(said & content_words(statement.content)) >= COVERED * len(said)


def material(
    view: OwnerView, now: int, partition: int, asked: AskedTurn, rules: Rules, holds: Always, close: Sequence[Close]
) -> Material:
    """What the turn part could hold; `left_out` of `holds` counts what it may not.

    Instructions that the search found are first, in its order.
    """
    talk, messages = asked.talk, asked.wanted.messages
    episodes = [memory_line(memory, rules) for memory in holds.episodes if not repeats_talk(memory, talk, asked.text)]
    said = message_lines(talk.messages[-messages:] if messages else (), rules, now)
    tools, hidden = tool_lines(talk, asked.text, partition, rules)
    holds.left_out.update({"tool result": hidden} if hidden else {})
    rank = {one.memory_id: at for at, one in enumerate(close)}
    instructions = sorted(holds.instructions, key=lambda memory: rank.get(memory.id, len(rank)))
    known = () if asked.message.need == "no" else holds.stable
    wishes = {memory.id for memory in instructions}
    lines, unconfirmed = _lines(view, [one for one in close if one.memory_id not in wishes], rules, known)
    ordering = [one for one in tools if gives_orders(one.text)]
    tools = [one for one in tools if one not in ordering]
    parts, keep = {"retrieved": lines, "tools": tools, "unconfirmed": [*unconfirmed, *ordering]}, {}
    parts["instructions"] = [holding_line(memory, rules) for memory in instructions]
    if not is_earlier(talk, holds.episodes, now):
        parts["remembered"], keep = [*episodes, *said], {"remembered": keeping_order(len(episodes), len(said))}
    else:
        topic = asked_words(asked.message.ask)
        named = topic & content_words(" ".join(line.text for line in (*episodes, *said)))
        if asked.message.refers_back or len(named) >= min(2, len(topic)) > 0:
            parts["earlier"] = [*episodes[-1:], *said[-EARLIER:]]
    return Material(time_line(now, rules.zone, rules.language), parts, keep)


def _lines(
    view: OwnerView, close: Sequence[Close], rules: Rules, elsewhere: Collection[str]
) -> tuple[list[Line], list[Line]]:
    """The related lines, and apart those that are unconfirmed; none that was deleted since the search.

    An update that waits for a person stands above the memory that it would end, if that memory is related or among those that
    are in every prompt (`elsewhere`, by id).
    """
    updates = waiting_updates(view)
    nearness: dict[str, float | None] = {}
    for one in close:
        nearness |= dict.fromkeys((update.id for update in updates.get(one.memory_id, ())), one.closeness)
        nearness[one.memory_id] = one.closeness
    for update in (update for known, found in updates.items() if known in elsewhere for update in found):
        nearness.setdefault(update.id, None)
    stored = [memory for memory in map(view.get, nearness) if memory is not None]
    days = [local(memory.created_at, rules.zone).date() for memory in stored]
    lines: tuple[list[Line], list[Line]] = ([], [])
    for memory, day in zip(stored, days, strict=True):
        # The note of an earlier version says what holds now.
        if state_of(memory) not in (Columns.LIVE, Columns.PROPOSED) or why_not(if_it_held(memory), rules) is not None:
            continue
        line = memory_line(memory, rules, nearness[memory.id], with_hour=days.count(day) > 1)
        lines[memory.id in updates or is_unconfirmed(memory)].append(line)
    return lines


def earlier_versions(view: OwnerView) -> dict[str, list[str]]:
    """Ids of superseded memories by the id of the memory that replaced them, the newest first."""
    versions: dict[str, list[str]] = {}
    for memory in reversed(view.columns.memories):
        if memory.is_superseded and memory.superseded_by is not None and not view.hides(memory.id):
            versions.setdefault(memory.superseded_by, []).append(memory.id)
    return versions


def waiting_updates(view: OwnerView) -> dict[str, list[Memory]]:
    """The updates that wait in the inbox, by the id of the memory that each would end, the newest first."""
    columns = view.columns
    updates: dict[str, list[Memory]] = {}
    for row in reversed(np.flatnonzero(columns.standing() == Columns.PROPOSED).tolist()):
        if (known := columns.memories[row].corrects) is not None:
            updates.setdefault(known, []).append(columns.memories[row])
    return updates


def is_unconfirmed(memory: Memory) -> bool:
    """Whether a memory waits in the inbox, or gives an order that did not come from the user; rules read only a user's words."""
    if not memory.trust:
        return True
    if memory.source == "user":
        return False
    return sounds_like_an_order(memory.content) if memory.source == "judge" else gives_orders(memory.content)
