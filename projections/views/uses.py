"""Which answers used a memory: where it was put into a prompt, for which turn, and what was replied. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.projections.memory.working_memory import ASKING, SPEAKING, Injection, Said, Turn


class MemoryUse(NamedTuple):
    """One turn for which a memory was injected."""

    injection: Injection
    """The first that was recorded of it."""
    turn: Turn | None
    """The turn that was answered; None where it is not recorded."""
    replies: tuple[Turn, ...]
    linked: bool
    """Whether the replies say so themselves (`reply_to`); else they are what the assistant said next in the session."""


def uses_of(memory_id: str, told: Sequence[Said]) -> list[MemoryUse]:
    """Every use of a memory in these turns and injections, which are in log order; the newest first, each turn once."""
    turns: dict[str, Turn] = {}
    replies: dict[str, list[Turn]] = defaultdict(list)
    for one in told:
        if isinstance(one, Turn):
            turns[one.turn_id] = one
            if one.reply_to is not None:
                replies[one.reply_to].append(one)
    found: dict[str | int, MemoryUse] = {}
    for at, one in enumerate(told):
        if not isinstance(one, Injection) or memory_id not in one.ids:
            continue
        key = one.turn_id or one.seq
        if key in found:
            continue
        turn = turns.get(one.turn_id) if one.turn_id else None
        linked = tuple(replies.get(one.turn_id, ())) if one.turn_id else ()
        found[key] = MemoryUse(one, turn, linked or _next(told, at, one, turn), bool(linked))
    return sorted(found.values(), key=lambda use: -use.injection.seq)


def _next(told: Sequence[Said], at: int, injection: Injection, turn: Turn | None) -> tuple[Turn, ...]:
    """What the assistant said next in the session, before anybody else said something further."""
    session = injection.session if turn is None else turn.session
    following = (
        one
        for one in told[at + 1 :]
        if isinstance(one, Turn) and one.session == session and one.role in SPEAKING and one is not turn
    )
    answer = next(following, None)
    return () if answer is None or answer.role in ASKING else (answer,)
