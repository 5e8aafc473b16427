"""Working memory: what was said in a session, read off an owner's events that change no memory, and its episodes (seed 003). Pure.

An episode is what a session leaves behind once working memory overflows or the session ends: an ordinary memory of tier `episode`.
Its text begins with the time of its first message, and it is decided once, with an id derived from what it is made of, so that
deciding again does nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.events.catalogue import (
    BlockMade,
    MemoriesAccessed,
    MemoryCreated,
    ToolResultRecorded,
    TurnRecorded,
)
from engramlog_server.events.envelope import Stored, decode, derived_id, from_micros, micros
from engramlog_server.events.standing import profile_in, shown_in
from engramlog_server.events.trust import ASSERTED, lowest
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.choices import WORKING_MESSAGES
from engramlog_server.projections.language.keywords import chosen, joined, sentences
from engramlog_server.projections.language.prompt_text import MOST_READ, is_chinese, one_line
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity, level_now
from engramlog_server.projections.memory.kind import episode, is_summary
from engramlog_server.projections.memory.record import Asides, Author, Memory, aside_of, by_of

ASKING = frozenset({"user", "other"})
"""Roles whose turns an agent answers."""
SPEAKING = ASKING | {"assistant"}
"""Roles whose turns are messages: what tools and systems say is none."""
_KINDS = ("TurnRecorded.", "ToolResultRecorded.", "MemoriesAccessed.")


class Turn(NamedTuple):
    """Somebody said something."""

    seq: int
    event_id: str
    turn_id: str
    role: str
    speaker: str | None
    text: str
    reply_to: str | None
    session: str | None
    at: int
    """Microseconds since 1970."""
    level: int | None = None
    """How sensitive its words are, text and speaker, where its entry says so by today's rules; else None."""
    by: str = ""
    """Who brought it, as `Author.by`."""
    trust: Trust = ASSERTED
    """How far its word goes."""

    @property
    def name(self) -> str:
        """Who said it."""
        return self.speaker or self.role

    @property
    def is_erased(self) -> bool:
        """Whether its words were erased for good: none comes in without any."""
        return not self.text


class ToolResult(NamedTuple):
    """A tool answered."""

    seq: int
    tool: str
    text: str
    turn_id: str | None
    session: str | None
    at: int
    by: str = ""
    """Who brought it, as `Author.by`."""


class Injection(NamedTuple):
    """Memories were put into a prompt."""

    seq: int
    ids: tuple[str, ...]
    """Who the user is first, where the block told it."""
    turn_id: str | None
    session: str | None
    at: int
    block: BlockMade | None = None
    """How the block was made; None where the log does not say."""
    read_at: str | None = None
    """The position that it was read at."""
    principal: str | None = None
    """Who asked for it."""


Said = Turn | ToolResult | Injection


def read_said(stored: Stored) -> Said | None:
    """The turn, tool result or injection that an entry holds; None for any other event."""
    if not stored.kind.startswith(_KINDS):
        return None
    event = decode(stored.kind, stored.body)
    data, session, at = event.data, event.session_id, micros(event.occurred_at)
    if isinstance(data, TurnRecorded):
        said = (data.turn_id, data.role, data.speaker, data.text, data.reply_to)
        trust = lowest(stored.trust, event.trust)
        return Turn(
            stored.seq, event.event_id, *said, session, at, level_now(stored), by_of(stored, event.actor), trust
        )
    if isinstance(data, ToolResultRecorded):
        return ToolResult(stored.seq, data.tool, data.text, data.turn_id, session, at, by_of(stored, event.actor))
    if isinstance(data, MemoriesAccessed) and data.via == "injection":
        read_at = next((one.position for one in data.accesses), None)
        ids = tuple(dict.fromkeys((*profile_in(data), *shown_in(data))))
        return Injection(stored.seq, ids, data.turn_id, session, at, data.block, read_at, stored.principal)
    return None


def set_aside_among(told: Sequence[Said], asides: Asides) -> list[Turn | ToolResult]:
    """What of it comes from a source that is set aside, what tools answered in such a turn among it."""
    gone: list[Turn | ToolResult] = []
    turns: set[str] = set()
    for one in told if any(aside.stands for aside in asides) else ():
        if isinstance(one, Injection):
            continue
        if aside_of(asides, Author(one.by, one.session)) is not None or one.turn_id in turns:
            gone.append(one)
            turns |= {one.turn_id} if isinstance(one, Turn) else set()
    return gone


class Conversation(NamedTuple):
    """A session as it stood when a turn came."""

    session: str | None
    turn_id: str | None
    """The turn that is to be answered; None where it is not known by an id."""
    current: Turn | None
    """The same as it was recorded, if it was."""
    messages: tuple[Turn, ...]
    """What was said before it, oldest first, at most `WORKING_MESSAGES`."""
    tools: tuple[ToolResult, ...]
    """What tools answered since the turn before it was asked: context for this turn and no other."""
    injected: frozenset[str]
    """Memories recorded already as injected for this turn."""
    last_seq: int
    """Seq of the last message before it, 0 for none: names the place of a turn without an id."""


def conversation(
    told: Sequence[Said], text: str, session: str | None = None, turn_id: str | None = None
) -> Conversation:
    """The session that a turn stands in, from the newest of an owner's turns, tool results and injections, in log order.

    Without `turn_id` the newest message is the turn itself if it says `text` and is one to be answered. Without `session` it
    is the turn's, or else that of the newest message. A turn that was recorded is seen from its own place in the log, so
    asking again later, after the reply, gives the same.
    """
    messages = [one for one in told if isinstance(one, Turn) and one.role in SPEAKING]
    here = [one for one in messages if session in (None, one.session)]
    current = _current(here, text, turn_id)
    newest = current or max(here, key=lambda turn: (turn.at, turn.seq), default=None)
    if session is None and newest is not None:
        session = newest.session
    end = current.seq if current is not None else None
    before = [one for one in messages if one.session == session and (end is None or one.seq < end)]
    known = turn_id or (current.turn_id if current is not None else None)
    since = max(
        next((one.seq for one in reversed(before) if one.role in ASKING), 0), _answered(told, session, known, end)
    )
    return Conversation(
        session,
        known,
        current,
        tuple(before[-WORKING_MESSAGES:]),
        tuple(one for one in _homed(told) if one.session == session and since < one.seq < (end or one.seq + 1)),
        _injected(told, known),
        before[-1].seq if before else 0,
    )


def _current(messages: Sequence[Turn], text: str, turn_id: str | None) -> Turn | None:
    if turn_id is not None:
        return next((one for one in reversed(messages) if one.turn_id == turn_id), None)
    last = messages[-1] if messages else None
    return last if last is not None and last.role in ASKING and last.text.strip() == text.strip() else None


def _homed(told: Sequence[Said]) -> list[ToolResult]:
    """Tool results with their sessions: their own, their turn's, or that of the turn before them."""
    sessions: dict[str, str | None] = {}
    latest: str | None = None
    found = []
    for one in told:
        if isinstance(one, Turn):
            latest = sessions[one.turn_id] = one.session
        elif isinstance(one, ToolResult):
            home = one.session or (sessions.get(one.turn_id, latest) if one.turn_id else latest)
            found.append(one._replace(session=home))
    return found


def _answered(told: Sequence[Said], session: str | None, turn_id: str | None, end: int | None) -> int:
    """Seq of the newest block for another turn of the session, 0 for none: agents may name turns that they do not record."""
    return max(
        (
            one.seq
            for one in told
            if isinstance(one, Injection)
            and one.session == session
            and one.turn_id not in (None, turn_id)
            and (end is None or one.seq < end)
        ),
        default=0,
    )


def _injected(told: Sequence[Said], turn_id: str | None) -> frozenset[str]:
    if turn_id is None:
        return frozenset()
    return frozenset(i for one in told if isinstance(one, Injection) and one.turn_id == turn_id for i in one.ids)


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
