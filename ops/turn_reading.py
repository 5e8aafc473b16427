"""Extraction right after a write: the turns that a producer adds become statements without being asked for.

The write is acknowledged first. Turns whose writer may not read, and those that another process appended, wait for the job.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING

from engramlog_server.api.choices import MODEL
from engramlog_server.api.requests.checks import asked_by, caller_in_hand
from engramlog_server.events.errors import EngramlogError
from engramlog_server.projections.access.caller import Caller
from engramlog_server.projections.access.grants import LEAST_TOLD

if TYPE_CHECKING:
    from engramlog_server.api.application import Application

Tell = Callable[..., None]
OFF = "off"
PAUSE_SECONDS = 3.0
"""Time without a write before a model is asked: it reads a conversation better than single turns."""
CLOSE_SECONDS = 20.0
MOST_WAITED_SECONDS = 0.5
"""How long a question waits for turns of its owner that rules are about to read."""


class TurnReading:
    """Extracts the new turns of owners in one thread, which starts with the first write. Safe for threads."""

    def __init__(self, application: Application, by: str, tell: Tell, pause_seconds: float = PAUSE_SECONDS) -> None:
        """`by`: rules or model. A model is asked after a pause, and only if no job worker does it."""
        self._application = application
        self._by = by
        self._tell = tell
        self._pause_seconds = pause_seconds if by == MODEL else 0.0
        self._callers: dict[str, Caller] = {}
        """Owner -> who wrote turns of this owner: the statements are appended in that caller's name."""
        self._reading: set[str] = set()
        """Owners whose turns are being read."""
        self._written_at = 0.0
        self._changed = Condition()
        self._closing = False
        self._thread: Thread | None = None

    def written(self, owner: str) -> None:
        """Turns of this owner were written by the caller of this request."""
        caller = caller_in_hand()
        if not _may_extract(caller, owner):
            return
        with self._changed:
            before = self._callers.get(owner)
            if before is None or caller.is_unlimited or not before.is_unlimited:
                self._callers[owner] = caller
            self._written_at = monotonic()
            if self._thread is None and not self._closing:
                self._thread = Thread(target=self._run, name="turn reading", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, owner: str) -> None:
        """Wait until rules have read what was written of this owner, at most `MOST_WAITED_SECONDS`; a model is not waited for."""
        if self._by != MODEL:
            with self._changed:
                if self._thread is not None and self._thread.is_alive():
                    self._changed.wait_for(
                        lambda: owner not in self._callers and owner not in self._reading, MOST_WAITED_SECONDS
                    )

    def close(self) -> None:
        """Extract what rules can still read, then end the thread. Turns left for a model wait for the next run. Idempotent."""
        with self._changed:
            self._closing = True
            if self._by == MODEL:
                self._callers.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        while (callers := self._next()) is not None:
            try:
                if self._by == MODEL and self._application.operator.status()["lifecycle"]["leader"] is not None:
                    continue
            except EngramlogError as error:
                self._tell("turns not extracted", reason=error.message, alarm=True)
                continue
            for owner, caller in sorted(callers.items(), key=lambda item: item[0]):
                try:
                    self._extract(owner, caller)
                except EngramlogError as error:
                    self._tell("turns not extracted", owner=owner, reason=error.message, alarm=True)
                finally:
                    with self._changed:
                        self._reading.discard(owner)
                        self._changed.notify_all()

    def _next(self) -> dict[str, Caller] | None:
        """The owners to read, after the pause; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._callers) or self._closing)
            while not self._closing and (left := self._written_at + self._pause_seconds - monotonic()) > 0:
                self._changed.wait(left)
            callers, self._callers = self._callers, {}
            self._reading = set(callers)
            return callers or None if self._closing else callers

    def _extract(self, owner: str, written_by: Caller) -> None:
        """In the writer's name, with the grants that the writer has now."""
        application = self._application
        from engramlog_server.projections.access.recognising import as_of_now  # noqa: PLC0415 - loads pyjwt, which no question needs

        caller = as_of_now(application.access_follower.admitting, written_by, application.log.now())
        if caller is not None and _may_extract(caller, owner):
            with asked_by(caller):
                read = application.for_(caller).extractor.extract(owner, self._by)
            application.texts_written(owner, read["read"])


def _may_extract(caller: Caller, owner: str) -> bool:
    """Whether statements may be drawn from an owner's turns in a caller's name."""
    return caller.may("produce", owner) and caller.may("read", owner, sensitivity=LEAST_TOLD)
