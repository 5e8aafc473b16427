"""Sittings: a session as it was held, without long silences (seed 003, layer 1: when a session ends). Pure.

A session is a name that an agent gives; somebody may come back to it a month later. What ends, and leaves an episode, is a
sitting: messages of one session, each soon after the one before. Where it ends follows from the messages alone, so it is the
same whenever one looks: of two neighbours in a session the later begins a new sitting if

- it was said `session_idle_hours` or more after the earlier, or
- an hour or more after it, and somebody had gone on in another session of the owner in between.

The newest sitting of a session has ended once the store's clock says that any further message would begin a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.projections.memory.record import HOUR
from engramlog_server.projections.memory.working_memory import SPEAKING, Said, Turn


class Sitting(NamedTuple):
    """Messages of one session without a long silence between them, in log order."""

    session: str | None
    turns: list[Turn]
    ends_at: int
    """From when on nothing that is said belongs to it, microseconds since 1970."""
    ended: bool
    """Whether that has come, or a later sitting of the session has begun."""


def sittings(spoken: Sequence[Said], idle: int, now: int) -> list[Sitting]:
    """The sittings in what was said to an owner, in log order; `idle` and `now` in microseconds.

    `told` may begin anywhere: what is cut off changes nothing about where the later sittings begin.
    """
    messages = [each for each in spoken if isinstance(each, Turn) and each.role in SPEAKING]
    newest, newest_after = 0, [0] * len(messages)
    for place in range(len(messages) - 1, -1, -1):
        newest_after[place] = newest
        newest = max(newest, messages[place].at)
    found: list[Sitting] = []
    last: dict[str | None, tuple[int, int]] = {}
    for place, message in enumerate(messages):
        before = last.get(message.session)
        if before is not None and not _apart(messages, before[0], place, idle):
            found[before[1]].turns.append(message)
            last[message.session] = (place, before[1])
            continue
        if before is not None:
            found[before[1]] = found[before[1]]._replace(ended=True)
        last[message.session] = (place, len(found))
        found.append(Sitting(message.session, [message], 0, ended=False))
    for place, number in last.values():
        at = messages[place].at
        ends_at = at + (min(HOUR, idle) if newest_after[place] > at else idle)
        found[number] = found[number]._replace(ends_at=ends_at, ended=now >= ends_at)
    return found


def _apart(messages: Sequence[Turn], one: int, other: int, idle: int) -> bool:
    """Whether of two neighbours in a session the later begins a new sitting."""
    said, gap = messages[one].at, messages[other].at - messages[one].at
    if gap >= idle or gap < HOUR:
        return gap >= idle
    return any(messages[place].at > said for place in range(one + 1, other))
