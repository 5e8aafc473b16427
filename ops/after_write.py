"""What is done right after a write, in a thread beside the request: new texts are embedded, and new turns are extracted.

The write is acknowledged first. Batches and raw appends, turns whose writer may not read, and what another process appended wait
for the jobs, as does anything that fails here or finds the queue full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from math import inf
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from engramlog_server.api.choices import MODEL
from engramlog_server.api.requests.checks import asked_by, caller_in_hand
from engramlog_server.events.errors import EngramlogError
from engramlog_server.projections.access.book import LEAST_TOLD
from engramlog_server.projections.access.caller import Caller

if TYPE_CHECKING:
    from engramlog_server.api.application import Application
    from engramlog_server.projections.redis.meanings import Meanings
    from engramlog_server.projections.views.view import OwnerView

Tell = Callable[..., None]
OFF = "off"
MOST_TEXTS = 50
"""Texts of one write; a larger batch is left to the job."""
MOST_OWNERS = 1_000
"""Owners that wait for their vectors; the texts of further ones are left to the job."""
PAUSE_SECONDS = 0.05
"""Time without a write before texts are embedded: a burst of writes costs one pass and is not slowed."""
LONGEST_PAUSE_SECONDS = 1.0
MODEL_PAUSE_SECONDS = 3.0
"""Time without a write before a model is asked: it reads a conversation better than single turns."""
EMBEDDING_ENDS_SECONDS, READING_ENDS_SECONDS = 5.0, 20.0
MOST_WAITED_SECONDS = 0.5
"""How long a question waits for turns of its owner that rules are about to read."""
V = TypeVar("V")


class _OwnerQueue(Generic[V]):
    """Owners that wait for something, and the thread that does it, which starts with the first write. Safe for threads."""

    def __init__(self, name: str, pause_seconds: float, longest_seconds: float = inf) -> None:
        """The work begins so long after the last write, and at most so long after the first."""
        self._name, self._pause_seconds, self._longest_seconds = name, pause_seconds, longest_seconds
        self._owners: dict[str, V] = {}
        self._in_hand: set[str] = set()
        self._written_at = self._waits_since = 0.0
        self._changed = Condition()
        self._closing = False
        self._thread: Thread | None = None

    def _put(self, owner: str, what: V) -> None:
        """Under the lock."""
        self._written_at = monotonic()
        if not self._owners:
            self._waits_since = self._written_at
        self._owners[owner] = what
        if self._thread is None and not self._closing:
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _close(self, seconds: float, *, drop: bool) -> None:
        """End the thread after what is in hand, and what waits unless that is to `drop`. Idempotent."""
        with self._changed:
            self._closing = True
            if drop:
                self._owners.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        while (owners := self._next()) is not None:
            self._work(owners)
            self._done(*owners)

    def _next(self) -> dict[str, V] | None:
        """The owners whose turn it is, after the pause; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._owners) or self._closing)
            while not self._closing and (left := self._due() - monotonic()) > 0:
                self._changed.wait(left)
            owners, self._owners = self._owners, {}
            self._in_hand = set(owners)
            return owners or None if self._closing else owners

    def _due(self) -> float:
        return min(self._written_at + self._pause_seconds, self._waits_since + self._longest_seconds)

    def _done(self, *owners: str) -> None:
        with self._changed:
            self._in_hand.difference_update(owners)
            self._changed.notify_all()

    def _work(self, owners: Mapping[str, V]) -> None:
        raise NotImplementedError


class EmbeddingQueue(_OwnerQueue[None]):
    """Embeds what was just written: it can be found by meaning without waiting for the job."""

    def __init__(
        self, meanings: Meanings, view: Callable[[str], AbstractContextManager[OwnerView]], tell: Tell
    ) -> None:
        """`view` gives an owner's view, held for the length of the block."""
        super().__init__("embedding", PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
        self._meanings = meanings
        self._view = view
        self._tell = tell
        self._full = self._fails = False

    def put(self, owner: str, texts: int) -> None:
        """So many texts of an owner were written. Returns at once."""
        if not 0 < texts <= MOST_TEXTS:
            return
        with self._changed:
            if self._closing:
                return
            if len(self._owners) < MOST_OWNERS or owner in self._owners:
                self._put(owner, None)
            elif not self._full:
                self._full = True
                self._tell("embedding queue full", owners=MOST_OWNERS, then="the job embeds the rest", alarm=True)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to embed; whether that came within so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._owners and not self._in_hand, seconds)

    def close(self) -> None:
        """End the thread after the texts in hand; the job embeds the rest. Idempotent."""
        self._close(EMBEDDING_ENDS_SECONDS, drop=True)

    def _work(self, owners: Mapping[str, None]) -> None:
        self._full = False
        for owner in owners:
            if not self._closing:
                self._embed(owner)

    def _embed(self, owner: str) -> None:
        try:
            self._meanings.embed_newest(owner, lambda: self._view(owner), MOST_TEXTS)
        except EngramlogError as error:
            self._report_failed(owner, error.message)
        except Exception as error:  # noqa: BLE001 - nobody else would hear of it; a foreign message may quote a text
            self._report_failed(owner, type(error).__name__)
        else:
            self._fails = False

    def _report_failed(self, owner: str, reason: str) -> None:
        """Report the first failure, not each of many writes while an embedder is down."""
        facts: dict[str, Any] = {"owner": owner, "reason": reason, "then": "the job embeds them"}
        if not self._fails:
            self._fails = True
            self._tell("texts not embedded", **facts, alarm=True)


class TurnReading(_OwnerQueue[Caller]):
    """Extracts the new turns of owners: they become statements without being asked for, in the name of who wrote the turns."""

    def __init__(self, application: Application, by: str, tell: Tell) -> None:
        """`by`: rules or model. A model is asked after a pause, and only if no job worker does it."""
        super().__init__("turn reading", MODEL_PAUSE_SECONDS if by == MODEL else 0.0)
        self._application = application
        self._by = by
        self._tell = tell

    def written(self, owner: str) -> None:
        """Turns of this owner were written by the caller of this request."""
        caller = caller_in_hand()
        if not _may_extract(caller, owner):
            return
        with self._changed:
            before = self._owners.get(owner)
            narrower = before is not None and not caller.is_unlimited and before.is_unlimited
            self._put(owner, before if narrower and before is not None else caller)

    def wait(self, owner: str) -> None:
        """Wait until rules have read what was written of this owner, at most `MOST_WAITED_SECONDS`; a model is not waited for."""
        if self._by != MODEL:
            with self._changed:
                if self._thread is not None and self._thread.is_alive():
                    self._changed.wait_for(
                        lambda: owner not in self._owners and owner not in self._in_hand, MOST_WAITED_SECONDS
                    )

    def close(self) -> None:
        """Extract what rules can still read, then end the thread. Turns left for a model wait for the next run. Idempotent."""
        self._close(READING_ENDS_SECONDS, drop=self._by == MODEL)

    def _work(self, owners: Mapping[str, Caller]) -> None:
        try:
            if self._by == MODEL and self._application.operator.status()["lifecycle"]["leader"] is not None:
                return
        except EngramlogError as error:
            self._tell("turns not extracted", reason=error.message, alarm=True)
            return
        for owner, caller in sorted(owners.items(), key=lambda item: item[0]):
            try:
                self._extract(owner, caller)
            except EngramlogError as error:
                self._tell("turns not extracted", owner=owner, reason=error.message, alarm=True)
            finally:
                self._done(owner)

    def _extract(self, owner: str, written_by: Caller) -> None:
        """In the writer's name, with the grants that the writer has now."""
        application = self._application
        from engramlog_server.projections.access.keys import as_of_now  # noqa: PLC0415 - loads pyjwt, which no question needs

        caller = as_of_now(application.access_follower.admitting, written_by, application.log.now())
        if caller is not None and _may_extract(caller, owner):
            with asked_by(caller):
                read = application.for_(caller).extractor.extract(owner, self._by)
            application.texts_written(owner, read["read"])


def _may_extract(caller: Caller, owner: str) -> bool:
    """Whether statements may be drawn from an owner's turns in a caller's name."""
    return caller.may("produce", owner) and caller.may("read", owner, sensitivity=LEAST_TOLD)
