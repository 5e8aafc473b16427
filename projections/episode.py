"""Episodes: what a session leaves behind once working memory overflows or the session ends (seed 003, layer 2). Pure.

An episode is an ordinary memory of tier `episode`: its text begins with the time of its first message, and it is decided once,
as an event with an id derived from what it is made of, so that deciding again does nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from events.catalogue import MemoryCreated
from events.door import make_event
from events.envelope import AnyEvent, derived_id, from_micros
from projections.extractive import chosen, joined, sentences
from projections.prompt_text import is_chinese, one_line
from projections.sensitivity import detect_sensitivity
from projections.sessions import ASKING, SPEAKING, WORKING_MESSAGES, Turn

MESSAGES = 10
"""Messages of one episode: the oldest of working memory go together, five rounds at a time."""
MOST_SENTENCES = 3
MOST_CHARACTERS = 160
"""Of one sentence."""
SENSITIVE = 2
"""Sensitivity from which a sentence is left out of a summary."""


class Planned(NamedTuple):
    """An episode that falls due, ready to be appended by a job with actor `system`."""

    event_id: str
    data: MemoryCreated
    session: str | None
    causation_id: str
    """The event of its last message."""
    at: int
    """When its last message was said, microseconds since 1970: its `occurred_at`."""


def event_of(planned: Planned, owner: str, now: int) -> AnyEvent:
    """The event that a job appends; `now` is the store's clock. The same bytes each time, so appending it again changes nothing."""
    return make_event(
        planned.data,
        owner=owner,
        occurred_at=from_micros(planned.at),
        actor="system",
        now=now,
        event_id=planned.event_id,
        session_id=planned.session,
        causation_id=planned.causation_id,
    )


def summary(turns: Sequence[Turn], zone: str = "UTC") -> str | None:
    """`[YYYY-MM-DD HH:MM]` of the first message in the zone, then up to three sentences that say most, with who said them.

    What people said goes before what an assistant did. Sentences that hold anything sensitive are left out; None where
    nothing is left that says something.
    """
    said = [(turn, one_line(one)) for turn in turns if turn.role in SPEAKING for one in sentences(turn.text)]
    said = [(turn, one) for turn, one in said if detect_sensitivity(one) < SENSITIVE]
    asking = [(turn, one) for turn, one in said if turn.role in ASKING]
    for among in (asking, said):
        if found := chosen([one for _, one in among], MOST_SENTENCES):
            told = _joined([among[at] for at in found])
            return f"[{local(turns[0].at, zone):%Y-%m-%d %H:%M}] {told}"
    return None


def _joined(said: Sequence[tuple[Turn, str]]) -> str:
    """Sentences one after the other; who speaks is told where that changes."""
    told, last = [], None
    for turn, sentence in said:
        text = sentence if len(sentence) <= MOST_CHARACTERS else sentence[: MOST_CHARACTERS - 1].rstrip() + "…"
        mark = "：" if is_chinese(text) else ": "
        told.append(text if turn.name == last else f"{one_line(turn.name)}{mark}{text}")
        last = turn.name
    return joined(told)


def local(at: int, zone: str) -> datetime:
    """The local time of an instant in microseconds since 1970."""
    return from_micros(at).astimezone(ZoneInfo(zone))


def due(turns: Sequence[Turn], summarised: Collection[str] = (), *, ended: bool = False) -> list[list[Turn]]:
    """Groups of ten messages that are to become episodes: those of which the first is out of working memory.

    `turns`: all of a session in log order, or those since its last episode. `summarised`: ids of turns that an episode has.
    `ended`: whether nothing more is said; then the rest becomes episodes too. Run earlier or later, the groups are the same.
    """
    messages = [turn for turn in turns if turn.role in SPEAKING]
    outside = {turn.seq for turn in messages[:-WORKING_MESSAGES]}
    fresh = [turn for turn in messages if turn.turn_id not in summarised]
    groups = [fresh[start : start + MESSAGES] for start in range(0, len(fresh), MESSAGES)]
    return [group for group in groups if ended or (group[0].seq in outside and len(group) == MESSAGES)]


def plan(
    owner: str,
    turns: Sequence[Turn],
    summarised: Collection[str] = (),
    *,
    ended: bool = False,
    zone: str = "UTC",
    forgotten: Collection[str] = (),
) -> list[Planned]:
    """The episodes that fall due in a session, oldest first, as `due` groups them; turns in `forgotten` say nothing.

    Each has an id derived from the owner, the session and its first and last turn: planned again, it is the same event.
    """
    found = []
    for group in due(turns, summarised, ended=ended):
        kept = [turn for turn in group if turn.turn_id not in forgotten]
        text = summary(kept, zone) if kept else None
        if text is None:
            continue
        first, last = group[0], group[-1]
        name = derived_id("episode", owner, first.session or "", first.turn_id, last.turn_id)
        data = MemoryCreated(
            memory_id=f"episode-{name}",
            content=text,
            category="temporary",
            kind="episode",
            tier="episode",
            source="system",
            source_turns=tuple(dict.fromkeys(turn.turn_id for turn in group)),
        )
        at = max(turn.at for turn in group)
        found.append(Planned(derived_id("episode event", owner, name), data, first.session, last.event_id, at))
    return found
