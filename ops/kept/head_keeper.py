"""Keeps the heads of a running store: looks every few seconds, writes down those that moved, and says where the log changed.

The chain is recomputed from the head that was kept, or met, last, over the entries since: a changed log that is folded again gives
the checkpoint another chain, and later events would hide that.
"""

from __future__ import annotations

from events.alarms import LOG_CHANGED, Alarms
from events.envelope import utc_text
from events.errors import EngramlogError, LogGap
from events.heads import Head, HeadBook
from events.partitions import LogKeys
from events.redis.wire import Wire
from ops.clock import now
from ops.every import Every
from ops.kept.head_file import HeadFile, heads_path
from ops.kept.head_sinks import HeadSinks
from ops.settings import Settings
from ops.store import OpenStore
from projections.redis.heads import LiveHead, chain_on, live_heads
from projections.redis.restored import still_stands

STOP_SECONDS = 1.0
WAIT_MS = 1_000
"""How long replicas are waited for before a head is kept; those that are late have it at the next look."""
SECONDS = 10.0
"""How often heads that moved are written down."""


class HeadKeeper:
    """Keeps the heads of a store, from a thread of its own until it is stopped."""

    def __init__(self, store: OpenStore, settings: Settings, *, sinks: bool = True) -> None:
        self._identity = store.identity
        self._wire: Wire = store.wire()
        self._alarms: Alarms = store.alarms
        self.file = HeadFile(heads_path(settings, store.identity.store_id))
        self._told = settings.head_sinks if sinks else ()
        restored = store.identity.restored
        self._is_copy = restored is not None and restored.stands
        """Whether it is nobody's yet: its heads go to nobody who holds those of the original, which goes on perhaps."""
        self._sinks = HeadSinks(() if self._is_copy else self._told, self.file, store.alarms)
        self._replicas = settings.min_replicas
        self._met: dict[int, Head] = {}
        """By partition the farthest head that carries on from the one kept last: replicas may be late, and then it is not kept."""
        self._unsure = set(range(store.identity.partitions))
        """Partitions whose alarm may be active."""
        self._changed: list[str] = []
        self._every = Every(SECONDS, self.look_quietly, "heads", at_end=self._end)

    def start(self) -> None:
        """Look at once, and then every few seconds."""
        self._every.start()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Write down what moved since the last look, and end, for which is waited so long at most."""
        self._every.stop(seconds)

    def close(self) -> None:
        """Close its connection, where it never was started."""
        self._wire.close()

    def _end(self) -> None:
        self.look_quietly()
        self._wire.close()

    def look_quietly(self) -> None:
        """The same as `look`, with an alarm where heads cannot be kept; a store that cannot be asked is asked the next time."""
        try:
            self.look()
            self._alarms.cleared("head_sink_failed", str(self.file.path))
        except EngramlogError as error:
            self._met.clear()
            if "file" in error.context:
                self._alarms.raised("head_sink_failed", str(self.file.path), error.message)
            self._wire.close()

    def look(self) -> list[str]:
        """Compare every head with the one kept last, and write down those that moved; gives what the log does not meet.

        Raises StoreError.
        """
        self._changed = []
        if self._is_copy and not still_stands(self._wire):
            self._is_copy, self._sinks = False, HeadSinks(self._told, self.file, self._alarms)
        book = self.file.read()
        if book.stores - {self._identity.store_id}:
            text = f"{self.file.path} is about another store: put it away, or look for the store that it is about"
            self._change("kept heads", text)
            return self._changed
        if book.problems:
            self._change("kept heads", f"{self.file.path}: {book.problems[0]}")
        else:
            self._alarms.cleared(LOG_CHANGED, "kept heads")
        live = live_heads(self._wire, self._identity.tags)
        moved = []
        for partition, now_at in enumerate(live):
            if self._is_met(partition, now_at, book):
                head = self._met[partition] = Head(partition, now_at.seq, now_at.chain)
                newest = book.newest(partition)
                if head.seq > (newest.seq if newest else 0):
                    moved.append(head)
        if moved := self._proved(moved):
            self.file.append(utc_text(now()), self._identity.store_id, moved)
        self._sinks.flush()
        return self._changed

    def _proved(self, moved: list[Head]) -> list[Head]:
        """Of these heads those that as many replicas have as are asked for: what a failover may lose without a broken promise is
        kept once it cannot any more. Raises StoreError."""
        if not self._replicas or not moved:
            return moved
        keys, generation = [LogKeys(self._identity.tags[head.partition]).meta for head in moved], self._wire.generation
        # A small write each, which the wait covers, and with it all that was written there before.
        written = self._wire.pipeline(
            [["HSET", key, "proved", head.seq] for key, head in zip(keys, moved, strict=True)]
        )
        told = self._wire.about(keys, [["WAIT", self._replicas, WAIT_MS]])
        if self._wire.generation != generation:
            return []
        return [
            head
            for head, put, (*replicas,) in zip(moved, written, told, strict=True)
            if not isinstance(put, Exception) and replicas and _count(replicas[0]) >= self._replicas
        ]

    def _change(self, subject: str, text: str) -> None:
        self._changed.append(text)
        self._alarms.raised(LOG_CHANGED, subject, text)

    def _is_met(self, partition: int, live: LiveHead, book: HeadBook) -> bool:
        """Whether the log as it is carries on from the head kept last; an alarm where it does not."""
        kept, subject, met = book.newest(partition), f"partition {partition}", self._met.pop(partition, None)
        problem = None
        if kept is not None and live.appended < kept.seq:
            problem = f"a kept head reaches {partition}:{kept.seq}, the log ends at {live.appended}"
        elif kept is not None and live.seq < kept.seq:
            return False  # it is folded anew: what it is will be seen when that is done
        elif kept is not None:
            problem = self._unmet(partition, live, met if met is not None and kept.seq <= met.seq <= live.seq else kept)
        if problem is not None:
            self._unsure.add(partition)
            self._change(subject, problem)
        elif partition in self._unsure:
            self._unsure.discard(partition)
            self._alarms.cleared(LOG_CHANGED, subject)
        return problem is None

    def _unmet(self, partition: int, live: LiveHead, kept: Head) -> str | None:
        try:
            found = chain_on(self._wire, self._identity.tags[partition], kept, live.seq)
        except LogGap:
            found = None
        if found == live.chain:
            return None
        return (
            f"the log's chain at {partition}:{live.seq} does not carry on from the head kept at {partition}:{kept.seq}"
        )


def _count(answer: object) -> int:
    """How many replicas WAIT tells; none where it was refused."""
    return answer if isinstance(answer, int) else 0
