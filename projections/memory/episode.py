"""Episodes: what a session leaves behind once working memory overflows or the session ends (seed 003, layer 2). Pure.

An episode is an ordinary memory of tier `episode`: its text begins with the time of its first message, and it is decided once,
with an id derived from what it is made of, so that deciding again does nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.envelope import derived_id, from_micros
from engramlog_server.projections.choices import WORKING_MESSAGES
from engramlog_server.projections.language.prompt_text import MOST_READ, is_chinese, one_line
from engramlog_server.projections.language.sensitivity.text_level import detect_sensitivity
from engramlog_server.projections.language.sentences import chosen, joined, sentences
from engramlog_server.projections.memory.creating import episode
from engramlog_server.projections.memory.kind import is_summary
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.working_memory import ASKING, SPEAKING, Turn

PREFIX = "episode-"
"""What ids of episodes begin with."""
MESSAGES = 10
"""Messages of one episode: the oldest of working memory go together, five rounds at a time."""
MOST_SENTENCES = 3
MOST_CHARACTERS = 160
"""Of one sentence."""
SENSITIVE = 2
"""Sensitivity from which a sentence is left out of a summary."""


class PlannedEpisode(NamedTuple):
    """An episode that falls due, for a job to append with actor `system`."""

    data: MemoryCreated
    turns: tuple[Turn, ...]
    """What it tells of, in log order."""

    @property
    def last(self) -> Turn:
        """Its newest message by the log: what it follows from."""
        return self.turns[-1]

    @property
    def at(self) -> int:
        """When its last message was said, microseconds since 1970: its `occurred_at`."""
        return max(turn.at for turn in self.turns)


def is_episode(memory: Memory) -> bool:
    """Whether a memory is an episode: the summary of a stretch of a session that a job made."""
    return memory.id.startswith(PREFIX) and is_summary(memory)


def summary(turns: Sequence[Turn], zone: str = "UTC") -> str | None:
    """`[YYYY-MM-DD HH:MM]` of the first message in the zone, then up to three sentences that say most, with who said them.

    What people said goes before what an assistant did. Sentences that hold anything sensitive are left out; None where
    nothing is left that says something.
    """
    for roles in (ASKING, SPEAKING):
        said = [(turn, one) for turn in turns if turn.role in roles for one in tellable(turn.text[:MOST_READ])]
        if found := chosen([one for _, one in said], MOST_SENTENCES):
            told = _joined([said[at] for at in found])
            return stamped(turns, told, zone) if detect_sensitivity(told) < SENSITIVE else None
    return None


def tellable(text: str) -> list[str]:
    """The sentences of a message, one line each, without those that hold anything sensitive; none where that is in what is left."""
    kept = [one for each in sentences(text) if detect_sensitivity(one := one_line(each)) < SENSITIVE]
    return kept if detect_sensitivity(" ".join(kept)) < SENSITIVE else []


def stamped(turns: Sequence[Turn], told: str, zone: str) -> str:
    """A summary with the local time of its first message before it."""
    return f"[{local(turns[0].at, zone):%Y-%m-%d %H:%M}] {told}"


def _joined(said: Sequence[tuple[Turn, str]]) -> str:
    """Sentences one after the other; who speaks is told where that changes."""
    parts, last = [], None
    for turn, sentence in said:
        text = sentence if len(sentence) <= MOST_CHARACTERS else sentence[: MOST_CHARACTERS - 1].rstrip() + "…"
        mark = "：" if is_chinese(text) else ": "
        parts.append(text if turn.name == last else f"{one_line(turn.name)}{mark}{text}")
        last = turn.name
    return joined(parts)


def local(at: int, zone: str) -> datetime:
    """The local time of an instant in microseconds since 1970."""
    return from_micros(at).astimezone(ZoneInfo(zone))


def groups(
    turns: Sequence[Turn], told: Collection[str] = (), *, ended: bool = False
) -> Iterator[tuple[tuple[Turn, ...], bool]]:
    """A sitting's messages by tens, and whether each ten is to become an episode: once its first left working memory.

    `turns`: all of a sitting in log order, or those since its last episode. `told`: ids of turns that an episode has, or that
    say nothing any more. `ended`: whether nothing more is said; then all become episodes. Run earlier or later, the groups are
    the same.
    """
    messages = [turn for turn in turns if turn.role in SPEAKING]
    outside = {turn.seq for turn in messages[:-WORKING_MESSAGES]}
    fresh = tuple(turn for turn in messages if turn.turn_id not in told)
    for start in range(0, len(fresh), MESSAGES):
        group = fresh[start : start + MESSAGES]
        yield group, ended or (group[0].seq in outside and len(group) == MESSAGES)


def plan(
    owner: str,
    turns: Sequence[Turn],
    summarised: Collection[str] = (),
    *,
    ended: bool = False,
    zone: str = "UTC",
    forgotten: Collection[str] = (),
) -> list[PlannedEpisode]:
    """The episodes that fall due in a sitting, oldest first, as `groups` has them; turns in `forgotten` say nothing.

    Each has an id derived from the owner, the session and its turns: planned again, it is the same memory.
    """
    found = []
    for group, is_due in groups(turns, {*summarised, *forgotten}, ended=ended):
        text = summary(group, zone) if is_due else None
        if text is None:
            continue
        ids = tuple(dict.fromkeys(turn.turn_id for turn in group))
        name = PREFIX + derived_id("episode", owner, group[0].session or "", *ids)
        found.append(PlannedEpisode(episode(name, text, ids), group))
    return found
