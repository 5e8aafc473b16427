"""Recording what was shown: searches are answered first, accesses are appended afterwards, pooled.

At most one `MemoriesAccessed` per owner, via and flush (a second or 500 hits), however many searches. What waits here is lost
if the process dies before the flush: accesses are a hint, not a fact anybody stated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event as Flag
from threading import Lock, Thread
from typing import Any, Literal

from api.secrets import is_secret
from events.catalogue import Hit, MemoriesAccessed
from events.door import make_event
from events.envelope import derived_id, from_micros, prepare
from events.errors import EngramlogError
from events.log import EventLog, Receipt

FLUSH_SECONDS = 1.0
FLUSH_HITS = 500
MAX_GROUPS = 500
Via = Literal["recall", "association", "detail", "injection"]


@dataclass(slots=True)
class _Pool:
    """What one owner was shown one way since the last flush."""

    hits: dict[str, list[int]] = field(default_factory=dict)
    """Memory id -> [count, best rank, last at]."""
    groups: list[tuple[str, ...]] = field(default_factory=list)
    queries: set[str | None] = field(default_factory=set)


class AccessRecorder:
    """Pools accesses and appends them. `start` flushes in the background; a command flushes once at its end."""

    def __init__(self, log: EventLog, tell: Callable[..., None] = lambda *_args, **_facts: None) -> None:
        self._log = log
        self._tell = tell
        self._pools: dict[tuple[str, Via], _Pool] = {}
        self._injected: list[Receipt] = []
        self._lock = Lock()
        self._stop = Flag()
        self._thread: Thread | None = None

    def record(self, owner: str, memory_ids: Sequence[str], *, via: Via, query: str | None, first: int = 1) -> None:
        """These memories were shown together, in this order of rank, of which the first is `first`."""
        if not memory_ids:
            return
        now = self._log.now()
        with self._lock:
            pool = self._pools.setdefault((owner, via), _Pool())
            for rank, memory_id in enumerate(memory_ids, first):
                hit = pool.hits.setdefault(memory_id, [0, rank, now])
                hit[:] = [hit[0] + 1, min(hit[1], rank), now]
            # What is only brought to mind was not hit, and a further page holds no first hits: neither makes a co-hit.
            if via != "association" and first == 1 and len(memory_ids) > 1 and len(pool.groups) < MAX_GROUPS:
                pool.groups.append(tuple(memory_ids[:3]))
            pool.queries.add(None if query is None or is_secret(query) else query)
            full = len(pool.hits) >= FLUSH_HITS
        if full:
            self.flush()

    def inject(
        self,
        owner: str,
        memory_ids: Sequence[str],
        *,
        key: Sequence[str],
        together: Sequence[str] = (),
        turn_id: str | None = None,
        session_id: str | None = None,
    ) -> Receipt | None:
        """These memories were put into a prompt, in this order: one event, appended at once (memory.md, section 2).

        Its id derives from `key` and the ids, so telling it again does nothing: the receipt then says `conflict` and where
        it stands. `together`: those of them that one search found. None where the append failed, which is told and dropped.
        """
        now = from_micros(self._log.now())
        data: Any = MemoriesAccessed(
            hits=tuple(Hit(memory_id=one, count=1, best_rank=n, last_at=now) for n, one in enumerate(memory_ids, 1)),
            via="injection",
            turn_id=turn_id,
            together=(tuple(together[:3]),) if len(together) > 1 else (),
        )
        event = make_event(
            data,
            owner=owner,
            occurred_at=now,
            actor="system",
            now=self._log.now(),
            event_id=derived_id("injection", owner, *key, *memory_ids),
            session_id=session_id,
        )
        try:
            (receipt,) = self._log.append([prepare(event)])
        except EngramlogError as error:
            self._tell("accesses lost", owner=owner, via="injection", hits=len(memory_ids), reason=error.message)
            return None
        if receipt.written:
            with self._lock:
                self._injected.append(receipt)
        return receipt

    def flush(self) -> list[Receipt]:
        """Append what is pooled. An append that fails is told and dropped: the searches were answered.

        Among the receipts are those of what was injected since the last flush.
        """
        with self._lock:
            pools, self._pools = self._pools, {}
            receipts, self._injected = self._injected, []
        for (owner, via), pool in pools.items():
            try:
                receipts += self._append(owner, via, pool)
            except EngramlogError as error:
                self._tell("accesses lost", owner=owner, via=via, hits=len(pool.hits), reason=error.message)
        return receipts

    def _append(self, owner: str, via: Via, pool: _Pool) -> list[Receipt]:
        now = self._log.now()
        query = next(iter(pool.queries)) if len(pool.queries) == 1 else None
        ids = list(pool.hits)
        prepared = []
        for start in range(0, len(ids), FLUSH_HITS):
            part = ids[start : start + FLUSH_HITS]
            hits = tuple(
                Hit(memory_id=i, count=pool.hits[i][0], best_rank=pool.hits[i][1], last_at=from_micros(pool.hits[i][2]))
                for i in part
            )
            data: Any = MemoriesAccessed(
                hits=hits,
                via=via,
                query=(query or "")[:2_000] or None,
                together=tuple(pool.groups) if start == 0 else (),
            )
            prepared.append(
                prepare(make_event(data, owner=owner, occurred_at=from_micros(now), actor="system", now=now))
            )
        return self._log.append(prepared)

    def start(self) -> None:
        """Flush every second from now on, until `stop`."""
        self._thread = Thread(target=self._run, name="accesses", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(FLUSH_SECONDS):
            self.flush()

    def stop(self) -> None:
        """Flush what is left and end the background thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        self.flush()
