"""Turns, tool results and injections, as they are read off the log and as tests tell them to a store."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.catalogue import Access, MemoriesAccessed, ToolResultRecorded, TurnRecorded
from engramlog_server.projections.memory.working_memory import Injection, ToolResult, Turn
from tests.given.events import Told, at, moment

MINUTE = 60_000_000


def turn(
    seq: int,
    text: str = "hello",
    role: str = "user",
    session: str | None = "s1",
    reply_to: str | None = None,
    **fields: Any,
) -> Turn:
    """The turn `t<seq>`, so many minutes after the start of every story."""
    told = {"turn_id": f"t{seq}", "speaker": None, "event_id": f"e{seq}"} | fields
    return Turn(seq=seq, role=role, text=text, reply_to=reply_to, session=session, at=at(0) + seq * MINUTE, **told)


def reply(seq: int, text: str = "well", session: str | None = "s1", reply_to: str | None = None) -> Turn:
    return turn(seq, text, "assistant", session, reply_to)


def result(
    seq: int, text: str = "It rains in Berlin today.", session: str | None = "s1", turn_id: str | None = None
) -> ToolResult:
    return ToolResult(seq, "weather", text, turn_id, session, at(0) + seq * MINUTE)


def injection(seq: int, *ids: str, turn_id: str | None = None, session: str | None = "s1") -> Injection:
    return Injection(seq, ids, turn_id, session, at(0) + seq * MINUTE)


def said(turn_id: str, text: str, role: str = "user", day: float = 0, session: str | None = "s1", **data: Any) -> Told:
    """A turn, told to a store."""
    actor = "assistant" if role == "assistant" else "user"
    data = {"turn_id": turn_id, "text": text, "role": role} | data
    return Told(TurnRecorded(**data), day, actor, {"session_id": session} if session else {})


def found(text: str, tool: str = "weather", day: float = 0, session: str | None = "s1", **data: Any) -> Told:
    """A tool's answer, told to a store."""
    return Told(
        ToolResultRecorded(tool=tool, text=text, **data), day, "assistant", {"session_id": session} if session else {}
    )


def injected(*ids: str, turn_id: str | None = None, day: float = 0, session: str | None = "s1") -> Told:
    accesses = (Access(at=moment(day), shown=ids),)
    data = MemoriesAccessed(accesses=accesses, via="injection", turn_id=turn_id)
    return Told(data, day, "system", {"session_id": session} if session else {})
