"""Classes of work; how long a question may take, and whether anybody still waits for its answer: one `Patience` a question.

Folds and comparisons are pure and know no clock. They take a `Check`, and call it between steps with how far they came; it
raises where the question is to end. The one of the question in hand is `current_check()`, set by whoever admitted it; the
command line admits everything, and its check never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from time import monotonic
from typing import Any, TypeVar

from engramlog_server.events.errors import (
    DeadlineExceeded,
    EngramlogError,
)
from engramlog_server.projections.checks import Check, unchecked

_F = TypeVar("_F", bound=Callable[..., Any])


class Work(Enum):
    """What a question takes, and so which lane it runs in.

    Heavy is what folds or reads all of an owner, however little of it is answered. What is light by its class and long by its
    owner (a history of 50,000 events, an `as_of`) moves to the heavy lane by itself: see `weigh`.
    """

    LIGHT = "light"
    """A moment, whatever the owner's size."""
    APPEND = "append"
    """Reads and writes events as they were sent: a moment for a few, seconds for many long ones. Ends if its client leaves."""
    HEAVY = "heavy"
    """Folds, reads or writes all of an owner, or of the store."""
    STREAM = "stream"
    """Heavy, and answered piece by piece: it also has a place among those that are being sent."""
    WATCH = "watch"
    """What supervisors ask: it waits in no lane, and has threads of its own, so that it is answered when nothing else is."""
    FREE = "free"
    """Answered where requests are received: asks no store, waits without a thread, or takes a lane for each look by itself."""


def takes(work: Work) -> Callable[[_F], _F]:
    """Mark an endpoint or a tool that is no operation with its class of work."""

    def marked(function: _F) -> _F:
        function.work = work  # type: ignore[attr-defined]
        return function

    return marked


LIGHT_STEPS = 2_000
"""Events folded, or as much work, that a light question may take: about 60 ms. What takes more moves to the heavy lane."""

LESS = "ask about less (name less, a narrower span, fewer queries, a shorter page)"


class NeedsHeavyLane(Exception):
    """A light question turned out to be long before it did anything; what was told is never asked again (`has_appended`)."""


class Patience:
    """The bounds of one question. Safe for threads: given up by the event loop, asked by a worker thread."""

    def __init__(self, *, light: bool = False, less: str = LESS) -> None:
        """`light`: it may take `LIGHT_STEPS`, no more. It has no end until `begin`. `less`: what to do where it took too long."""
        self._seconds = 0.0
        self._end: float | None = None
        self._light, self._less = light, less
        self._over: EngramlogError | None = None

    @property
    def begun(self) -> bool:
        """Whether it runs, and waits in no line any more."""
        return self._end is not None

    def begin(self, seconds: float) -> None:
        """It may take so long from now on."""
        self._seconds, self._end = seconds, monotonic() + seconds

    def give_up(self, why: EngramlogError) -> None:
        """Nobody waits for the answer any more: the next check raises `why`."""
        self._over = why

    def check(self, done: int, total: int) -> None:
        """Go on? `done` of `total` steps are taken. Raises what it was given up for, or DeadlineExceeded."""
        if self._over is not None:
            raise self._over
        if self._end is not None and monotonic() > self._end:
            raise DeadlineExceeded(
                f"the question was stopped after {self._seconds:g} s: {_told(done, total)} steps were done; {self._less}",
                done=done,
                total=total,
                seconds=self._seconds,
            )

    def stay(self) -> None:
        """It left a trace: it is carried out where it is, however long it turns out to be."""
        self._light = False

    def weigh(self, steps: int) -> None:
        """Say how long the question will be, once that is known. Raises NeedsHeavyLane where it is too long for its lane."""
        if self._light and steps > LIGHT_STEPS:
            raise NeedsHeavyLane


def _told(done: int, total: int) -> str:
    return f"{done:,} of {total:,}" if total else f"{done:,}"


_CURRENT: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def with_patience(patience: Patience) -> Iterator[None]:
    """Everything asked within has these bounds."""
    token = _CURRENT.set(patience)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_check() -> Check:
    """The check of the question in hand."""
    patience = _CURRENT.get()
    return unchecked if patience is None else patience.check


def weigh(steps: int) -> None:
    """Say how many events the question in hand will fold, or as much work; before it does anything that leaves a trace.

    Raises NeedsHeavyLane where it was admitted as light and is not: it is asked again among the heavy ones.
    """
    patience = _CURRENT.get()
    if patience is not None:
        patience.weigh(steps)


def has_appended() -> None:
    """The question in hand appends: from here on it is carried out where it is. Asked again, it would tell it twice."""
    patience = _CURRENT.get()
    if patience is not None:
        patience.stay()


def both(check: Check, on_progress: Callable[[int, int], None] | None) -> Check:
    """A check that also tells somebody how far it came."""
    if on_progress is None:
        return check

    def told(done: int, total: int) -> None:
        check(done, total)
        on_progress(done, total)

    return told
