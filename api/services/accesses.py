"""Recording what was shown: searches are answered first, accesses are appended afterwards, pooled.

One `MemoriesAccessed` per owner, principal, way of showing and flush (a second, or sooner where an event is full), which holds
each access by itself. What waits here is lost if the process dies before the flush: accesses are a hint, not a fact anybody
stated. What is lost while it lives is counted and told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event as Flag
from threading import Lock, Thread
from time import monotonic
from typing import Any, NamedTuple

import msgspec

from engramlog_server.api.checks import is_secret, is_sensitive
from engramlog_server.events.catalogue import Access, BlockMade, MemoriesAccessed
from engramlog_server.events.envelope import Naming, Prepared, derived_id, from_micros
from engramlog_server.events.errors import EngramlogError, UnderReplicated
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.standing import MOST_ACCESSES, MOST_BYTES, MOST_MEMORIES, Speaker
from engramlog_server.events.validation import make_event, ready
from engramlog_server.events.vocabulary import MOST_SHOWN, Reading, Via

FLUSH_SECONDS = 1.0
STOP_SECONDS = 2.0
MOST_HELD = 16 * 1024 * 1024
"""Bytes of accesses that wait over all owners, about as the log has them; what comes on top is dropped, and counted."""
A_POOL = 512
"""Bytes that count for each owner and way of showing that something waits of."""
AN_EVENT = 4 * 1024
"""Bytes of an event that are kept for what stands around its accesses."""
TELL_SECONDS = 60.0
"""How often losses are told in the log at most; the next line has all since the one before."""
MOST_QUERY = 2_000
"""Characters of a query that are recorded."""
TOO_MANY = "more accesses waited than are held"
NOT_APPENDED = "accesses could not be appended"
Lost = Callable[[int, str], None]


class Read(NamedTuple):
    """How an answer was read that showed memories."""

    position: str | None = None
    mode: Reading = "normal"
    read_at: int | None = None
    """The instant it was computed for, microseconds since 1970, where that was not the present."""


PRESENT = Read()


class BlockRequest(NamedTuple):
    """What a block was built for, where no turn names it."""

    words: str
    seq: int
    """Of the newest event of the talk."""


class _Key(NamedTuple):
    owner: str
    principal: str | None
    via: Via


@dataclass(slots=True)
class _Pool:
    """The accesses of one event."""

    accesses: list[Access] = field(default_factory=list)
    memories: set[str] = field(default_factory=set)
    size: int = 0

    def takes(self, one: Access, size: int) -> bool:
        """Whether one more, of so many bytes, still fits in the event."""
        return (
            len(self.accesses) < MOST_ACCESSES
            and self.size + size <= MOST_BYTES - AN_EVENT
            and len(self.memories) + sum(i not in self.memories for i in one.shown) <= MOST_MEMORIES
        )

    def add(self, one: Access, size: int) -> None:
        """One more."""
        self.accesses.append(one)
        self.memories.update(one.shown)
        self.size += size


class AccessRecorder:
    """Pools accesses and appends them. `start` flushes in the background; a command flushes once at its end. Safe for threads.

    `lost` is told how many accesses were dropped, and why, in words that stay the same.
    """

    def __init__(
        self,
        log: EventLog,
        tell: Callable[..., None] = lambda *_args, **_facts: None,
        lost: Lost = lambda _count, _reason: None,
        *,
        most_held: int = MOST_HELD,
    ) -> None:
        self._log = log
        self._tell = tell
        self._lost = lost
        self._most_held = most_held
        self._pools: dict[_Key, _Pool] = {}
        self._full: list[tuple[_Key, _Pool]] = []
        self._held = 0
        self._recorded = self._blocks = 0
        self._dropped = 0
        self._untold: dict[str, tuple[int, str]] = {}
        """Reason -> accesses lost by it that were not told yet, and the newest in words."""
        self._tell_at = 0.0
        self._injected: list[AppendReceipt] = []
        self._lock = Lock()
        self._wake = Flag()
        self._stopping = False
        self._thread: Thread | None = None

    def record(
        self,
        owner: str,
        memory_ids: Sequence[str],
        *,
        via: Via,
        query: str | None,
        first: int = 1,
        read: Read = PRESENT,
        principal: str | None = None,
    ) -> None:
        """These memories were shown together, in this order of rank, of which the first is `first`. Waits for nothing.

        `principal`: to whom, where that is not whom the log itself names.
        """
        if not memory_ids:
            return
        key = _Key(owner, principal or self._log.principal, via)
        query = None if query is None or is_sensitive(query) else query[:MOST_QUERY] or None
        with_sizes = [(one, _size(one)) for one in _accesses(memory_ids, self._log.now(), first, read, query)]
        with self._lock:
            for one, size in with_sizes:
                self._take(key, one, size)
            full = bool(self._full)
        if full and self._thread is not None and self._thread.is_alive():
            self._wake.set()
        elif full:
            self._append_full()

    def _take(self, key: _Key, one: Access, size: int) -> None:
        pool = self._pools.get(key)
        held = size if pool is not None else size + A_POOL
        if self._held + held > self._most_held:
            self._drop(1, TOO_MANY, TOO_MANY)
            return
        if pool is not None and not pool.takes(one, size):
            self._full.append((key, self._pools.pop(key)))
            pool, held = None, size + A_POOL
        if pool is None:
            pool = self._pools[key] = _Pool()
        pool.add(one, size)
        self._held += held

    def inject(
        self,
        owner: str,
        memory_ids: Sequence[str],
        *,
        key: Sequence[str],
        beside: Sequence[str] = (),
        asked: BlockRequest | None = None,
        together: Sequence[str] = (),
        turn_id: str | None = None,
        session_id: str | None = None,
        read: Read = PRESENT,
        principal: str | None = None,
        made: Callable[[bytes], BlockMade] | None = None,
    ) -> AppendReceipt | None:
        """These memories were put into a prompt, in this order: one event, appended at once (memory.md, section 2).

        `beside`: what stood there too and is no access, as how the block was made tells: who the user is. No law hears of it.
        Its id derives from `key` and all the ids, so telling it again does nothing: the receipt then says `conflict` and where
        it stands. `asked`: what tells it from others beside the key, where words do. `together`: those of them that one search
        found. `made`: how the block was made, given the owner's secret. None where the append failed, which is told and
        dropped. More memories than an event may name stand in several; the receipt is the first one's.
        """
        now, principal = self._log.now(), principal or self._log.principal
        pools = [_Pool()]
        for one in _accesses(memory_ids, now, 1, read, None):
            size = _size(one)
            if not pools[-1].takes(one, size):
                pools.append(_Pool())
            pools[-1].add(one, size)
        groups = (tuple(together[:3]),) if len(together) > 1 else ()
        told = [*memory_ids, *beside]
        try:
            naming = self._log.naming(owner) if asked is not None or made is not None else None
            if asked is not None and naming is not None:
                key = self._keyed(naming, key, asked)
            block = None if made is None or naming is None else made(naming.secret)
            prepared = []
            for number, pool in enumerate(pools):
                data: Any = MemoriesAccessed(
                    accesses=tuple(pool.accesses),
                    via="injection",
                    turn_id=turn_id,
                    together=() if number else groups,
                    block=None if number else block,
                )
                event_id = injection_id(owner, key, told, number)
                prepared.append(self._prepared(data, owner, principal, now, event_id, session_id))
            receipts = self._written(prepared, principal)
            failure = _failure(one for one in receipts if one.status != "conflict")  # a conflict: it was told before
        except EngramlogError as error:
            receipts, failure = [], error.message
        with self._lock:
            self._injected += [receipt for receipt in receipts if receipt.written]
            if failure is not None:
                self._drop(1, NOT_APPENDED, failure)
            elif receipts[0].status == "appended":
                self._recorded += 1
                self._blocks += 1
        if failure is not None:
            self._report_losses()
        return receipts[0] if failure is None else None

    @staticmethod
    def _keyed(naming: Naming, key: Sequence[str], asked: BlockRequest) -> Sequence[str]:
        """The key with the words beside it, keyed with the owner's secret."""
        words = (
            "" if is_secret(asked.words) else asked.words
        )  # whoever reads a copy of the store reads the owner's secret too
        return [*key, naming.made("injection", words)]

    def flush(self) -> list[AppendReceipt]:
        """Append what is pooled. An append that fails is told and dropped: the searches were answered.

        Among the receipts are those of what was injected since the last flush.
        """
        with self._lock:
            pools, self._pools = self._pools, {}
            pending, self._full = [*self._full, *pools.items()], []
        written = self._append_all(pending)
        with self._lock:
            receipts, self._injected = self._injected, []
        return receipts + written

    def _append_full(self) -> None:
        """Append only what is full: what others were shown stays one event a second."""
        with self._lock:
            pending, self._full = self._full, []
        written = self._append_all(pending)
        with self._lock:
            self._injected += written  # whoever flushes next waits for these to be folded

    def _append_all(self, pending: Sequence[tuple[_Key, _Pool]]) -> list[AppendReceipt]:
        receipts: list[AppendReceipt] = []
        for key, pool in pending:
            try:
                told = self._append(key, pool)
                receipts += [one for one in told if one.written]
                failure = _failure(told)
            except EngramlogError as error:
                failure = error.message
            with self._lock:
                self._held -= pool.size + A_POOL
                if failure is None:
                    self._recorded += len(pool.accesses)
                else:
                    self._drop(len(pool.accesses), NOT_APPENDED, failure)
        self._report_losses()
        return receipts

    def _append(self, key: _Key, pool: _Pool) -> list[AppendReceipt]:
        now = self._log.now()
        data: Any = MemoriesAccessed(accesses=tuple(pool.accesses), via=key.via)
        return self._written([self._prepared(data, key.owner, key.principal, now)], key.principal)

    def _written(self, prepared: Sequence[Prepared], principal: str | None) -> list[AppendReceipt]:
        """Append. What too few replicas have is recorded nonetheless: nobody was promised anything of it."""
        try:
            return self._log.append(prepared, principal=principal)
        except UnderReplicated as error:
            return [msgspec.convert(one, AppendReceipt) for one in error.context["receipts"]]

    def _prepared(
        self,
        data: Any,
        owner: str,
        principal: str | None,
        now: int,
        event_id: str | None = None,
        session_id: str | None = None,
    ) -> Prepared:
        """The event: what was shown the store records itself, whoever it was shown to."""
        by, at = Speaker("job", self._log.principal if principal is None else principal), from_micros(now)
        event = make_event(
            data, owner=owner, occurred_at=at, actor="system", now=now, event_id=event_id, session_id=session_id, by=by
        )
        return ready(event, by)

    def _drop(self, accesses: int, reason: str, words: str) -> None:
        """Count what is lost; called with the lock held."""
        self._dropped += accesses
        self._untold[reason] = (self._untold.get(reason, (0, ""))[0] + accesses, words)

    def _report_losses(self, *, at_once: bool = False) -> None:
        """Say in one line a reason, at most once a minute, what was lost since it was last said."""
        with self._lock:
            now = monotonic()
            if not self._untold or (now < self._tell_at and not at_once):
                return
            untold, self._untold = self._untold, {}
            self._tell_at = now + TELL_SECONDS
        for reason, (accesses, words) in untold.items():
            self._tell("accesses lost", accesses=accesses, reason=words)
            self._lost(accesses, reason)

    def figures(self) -> dict[str, int]:
        """How many accesses this process appended, blocks for prompts among them, holds, and lost since it began."""
        with self._lock:
            waiting = sum(len(pool.accesses) for pool in (*self._pools.values(), *(pool for _, pool in self._full)))
            return {"recorded": self._recorded, "blocks": self._blocks, "waiting": waiting, "dropped": self._dropped}

    def start(self) -> None:
        """Flush every second from now on, and sooner what is full, until `stop`."""
        self._thread = Thread(target=self._run, name="accesses", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        due = monotonic() + FLUSH_SECONDS
        while not self._stopping:
            self._wake.wait(max(due - monotonic(), 0.0))
            self._wake.clear()
            if monotonic() < due:
                self._append_full()
            else:
                self.flush()
                due = monotonic() + FLUSH_SECONDS

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Flush what is left, tell what was lost, and end the background thread, for which is waited so long at most."""
        self._stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=seconds)
        self.flush()
        self._report_losses(at_once=True)


def _accesses(memory_ids: Sequence[str], now: int, first: int, read: Read, query: str | None) -> Iterator[Access]:
    """One access, or as many as so many memories need; the query stands in the first."""
    at = from_micros(now)
    read_at = None if read.read_at is None else from_micros(read.read_at)
    ids = tuple(dict.fromkeys(memory_ids))
    for start in range(0, len(ids), MOST_SHOWN):
        yield Access(
            at=at,
            shown=ids[start : start + MOST_SHOWN],
            first=first + start,
            position=read.position,
            mode=read.mode,
            query=None if start else query,
            read_at=read_at,
        )


def injection_id(owner: str, key: Sequence[str], memory_ids: Sequence[str], number: int = 0) -> str:
    """The id of an injection, or of a further part of it; `key` tells for what it was, and holds no words in clear."""
    return derived_id("injection", owner, *key, *memory_ids, *([f"part {number}"] if number else ()))


def _failure(receipts: Iterable[AppendReceipt]) -> str | None:
    """Why one of these is not in the log; None where all are."""
    return next((one.error or one.status for one in receipts if not one.written), None)


_WRITE = msgspec.json.Encoder().encode


def _size(one: Access) -> int:
    """Bytes that an access takes in an event, with its comma."""
    return len(_WRITE(one)) + 1
