"""By which path the verb in hand came in: whoever admits it says so, and `events.standing` says for whom one may speak by it.

Who asks in this process without being admitted by HTTP or MCP is a command at the store, or a program that has it open.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from events.log import EventLog
from events.standing import Path, Speaker

_PATH: ContextVar[Path] = ContextVar("path", default="terminal")


def come_in_by(path: Path, call: Callable[..., Any], *args: Any, **given: Any) -> Any:
    """What the call gives; within it everything is said by this path."""
    token = _PATH.set(path)
    try:
        return call(*args, **given)
    finally:
        _PATH.reset(token)


def speaker(log: EventLog) -> Speaker:
    """Who says what the verb in hand says, on the log's side."""
    return Speaker(_PATH.get(), log.principal, highest=log.highest)
