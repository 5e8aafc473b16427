"""Who asks, and by which path: whoever admits a call says so, and `events.standing` says for whom one may speak by it.

Who asks in this process without being admitted by HTTP or MCP is a command at the store, or a program that has it open: he may
do everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from engramlog_server.events.log import Behalf, EventLog
from engramlog_server.events.standing import Path, Speaker
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.access.caller import AT_THE_FOLDER, Caller, ToldUpTo

_PATH: ContextVar[Path] = ContextVar("path", default="terminal")
_CALLER: ContextVar[Caller] = ContextVar("caller", default=AT_THE_FOLDER)
_TELLING: ContextVar[ToldUpTo | None] = ContextVar("telling", default=None)


def come_in_by(path: Path, call: Callable[..., Any], *args: Any, **given: Any) -> Any:
    """What the call gives; within it everything is said by this path."""
    token = _PATH.set(path)
    try:
        return call(*args, **given)
    finally:
        _PATH.reset(token)


@contextmanager
def asked_by(caller: Caller, telling: ToldUpTo | None = None) -> Iterator[None]:
    """Everything within is asked, and said, by this caller. `telling`: up to what snapshots tell him; None: all."""
    token = _CALLER.set(caller)
    try:
        with told_up_to(telling):
            yield
    finally:
        _CALLER.reset(token)


@contextmanager
def told_up_to(telling: ToldUpTo | None) -> Iterator[None]:
    """Within it snapshots tell up to this."""
    token = _TELLING.set(telling)
    try:
        yield
    finally:
        _TELLING.reset(token)


def telling_in_hand() -> ToldUpTo | None:
    """Up to what the call in hand is told of the owner that it is about; None: all, and whenever something is said or done."""
    return _TELLING.get()


def caller_in_hand() -> Caller:
    """Who asks what is in hand."""
    return _CALLER.get()


def behalf_in_hand() -> Behalf | None:
    """On whose behalf events are brought; None where it is the log's own side."""
    caller = _CALLER.get()
    return None if caller.is_unlimited and caller.key_id is None else Behalf(caller.name, caller.highest)


def speaker(log: EventLog) -> Speaker:
    """Who says what the verb in hand says, on the log's side."""
    path = _PATH.get()
    return Speaker(path, log.principal, highest=log.highest if path == "http" else _highest_in_hand())


def importer(log: EventLog) -> Speaker:
    """Who brings what is imported."""
    return Speaker("import", log.principal, highest=_highest_in_hand())


def _highest_in_hand() -> Trust:
    """The most that the word of whoever asks reaches, by his grants."""
    behalf = behalf_in_hand()
    return ASSERTED if behalf is None else behalf.highest
