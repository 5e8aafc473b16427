"""Embedding right after a write: what a producer adds can be found by meaning without waiting for the job.

The write is acknowledged first. Batches and raw appends wait for the job, as does anything that fails here or finds the queue full.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from engramlog_server.events.errors import EngramlogError

if TYPE_CHECKING:
    from engramlog_server.projections.redis.meanings import Meanings
    from engramlog_server.projections.views.view import OwnerView

Tell = Callable[..., None]
MOST_TEXTS = 50
"""Texts of one write; a larger batch is left to the job."""
MOST_OWNERS = 1_000
"""Owners that wait; the texts of further ones are left to the job."""
PAUSE_SECONDS = 0.05
"""Time without a write before texts are embedded: a burst of writes costs one pass and is not slowed."""
LONGEST_PAUSE_SECONDS = 1.0
CLOSE_SECONDS = 5.0


class EmbeddingQueue:
    """Embeds what was just written, in one thread that starts with the first write. Safe for threads."""

    def __init__(
        self,
        meanings: Meanings,
        view: Callable[[str], AbstractContextManager[OwnerView]],
        tell: Tell,
        *,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        """`view` gives an owner's view, held for the length of the block."""
        self._meanings = meanings
        self._view = view
        self._tell = tell
        self._pause_seconds = pause_seconds
        self._owners: dict[str, None] = {}
        self._in_hand = False
        self._written_at = self._waits_since = 0.0
        self._changed = Condition()
        self._closing = self._full = self._fails = False
        self._thread: Thread | None = None

    def put(self, owner: str, texts: int) -> None:
        """So many texts of an owner were written. Returns at once."""
        if not 0 < texts <= MOST_TEXTS:
            return
        with self._changed:
            if self._closing:
                return
            if len(self._owners) >= MOST_OWNERS and owner not in self._owners:
                self._report_full()
                return
            self._written_at = monotonic()
            if not self._owners:
                self._waits_since = self._written_at
            self._owners[owner] = None
            if self._thread is None:
                self._thread = Thread(target=self._run, name="embedding", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to embed; whether that came within so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._owners and not self._in_hand, seconds)

    def close(self) -> None:
        """End the thread after the texts in hand; the job embeds the rest. Idempotent."""
        with self._changed:
            self._closing = True
            self._owners.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _report_full(self) -> None:
        if not self._full:
            self._full = True
            self._tell("embedding queue full", owners=MOST_OWNERS, then="the job embeds the rest", alarm=True)

    def _run(self) -> None:
        while (owners := self._next()) is not None:
            for owner in owners:
                if self._closing:
                    break
                self._embed(owner)
            with self._changed:
                self._in_hand = False
                self._changed.notify_all()

    def _next(self) -> list[str] | None:
        """The owners to embed, after the pause; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._owners) or self._closing)
            while not self._closing and (left := self._due() - monotonic()) > 0:
                self._changed.wait(left)
            if self._closing:
                return None
            owners, self._owners = list(self._owners), {}
            self._in_hand, self._full = True, False
            return owners

    def _due(self) -> float:
        return min(self._written_at + self._pause_seconds, self._waits_since + LONGEST_PAUSE_SECONDS)

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
