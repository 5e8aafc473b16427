"""Working memory: what was said in a session, read off an owner's events that change no memory (seed 003, layer 1). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.events.accesses import profile_in, shown_in
from engramlog_server.events.catalogue import BlockMade, MemoriesAccessed, ToolResultRecorded, TurnRecorded
from engramlog_server.events.envelope import Stored, decode, micros
from engramlog_server.events.trust import ASSERTED, lowest
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.choices import WORKING_MESSAGES
from engramlog_server.projections.language.sensitivity.event_level import level_now
from engramlog_server.projections.memory.sources import Asides, Author, aside_of, by_of

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
