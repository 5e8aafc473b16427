"""The event log on Redis Streams: the only one that appends (events.redis_append is its script).

One script per partition and request: dedupe, expected head, gapless `seq + 1`, XADD with the explicit id `<seq>-0`. Every
check comes before the first write, and the first write is the one that may be refused, so a part is written whole or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from time import monotonic
from typing import Any, NamedTuple

import msgspec
import redis

from events.admission import append_bytes
from events.alarms import Alarm, Alarms
from events.catalogue import LATEST_VERSION
from events.envelope import Prepared, Stored
from events.errors import LogGap, ReceiptLost, StoreFull
from events.log import Appendable, Receipt, check_request_size, is_access, ready
from events.partitions import ALARMS_KEY, LogKeys, partition_of
from events.redis_admission import Admission, ReadDebt, no_debt
from events.redis_append import APPEND, append_arguments, append_receipts
from events.redis_clock import StoreClock
from events.redis_durability import read_durability
from events.redis_gap import MENDING
from events.redis_receipts import Kept, KeptReceipts
from events.redis_wire import Argument, Wire, WirePool, as_store_error, refusal_code


class _Durability(NamedTuple):
    """What one connection's server was found to promise, and until when that is believed."""

    generation: int
    until: float
    fsynced: bool | None


class RedisEventLog:
    """An `EventLog` in Redis. Safe for threads: each call borrows a connection of its own."""

    def __init__(
        self,
        client: redis.Redis,
        tags: Sequence[str],
        *,
        replicas: int = 0,
        replica_timeout_ms: int = 1_000,
        own_clock: Callable[[], int] | None = None,
        alarms: Alarms | None = None,
        read_debt: ReadDebt = no_debt,
    ) -> None:
        self._wires = WirePool(client)
        self._keys = [LogKeys(tag) for tag in tags]
        self._replicas = replicas
        self._replica_timeout_ms = replica_timeout_ms
        self._durability: dict[Wire, _Durability] = {}
        self._clock = StoreClock(self._redis_time, own_clock, alarms)
        self._admission = Admission(read_debt)
        self._kept = KeptReceipts(self._keys, alarms)

    @property
    def partitions(self) -> int:
        """How many partitions the store has."""
        return len(self._keys)

    def close(self) -> None:
        """Close idle connections."""
        self._wires.close()

    def append(self, events: Sequence[Appendable], *, expected_heads: Mapping[str, int] | None = None) -> list[Receipt]:
        """See `EventLog.append`. Raises StoreFull, StoreUnavailable or ReceiptLost where nothing can be said of any partition.

        Redis works on one partition's part while the next is made ready, and while receipts are written.
        """
        check_request_size(len(events))
        if not events:
            return []
        parts: dict[int, list[int]] = {}
        for index, event in enumerate(events):
            parts.setdefault(partition_of(event.owner, len(self._keys)), []).append(index)
        receipts: list[Receipt | None] = [None] * len(events)
        with self._wires.wire() as wire:
            only_accesses = all(is_access(event) for event in events)
            self._admission.admit(wire, _bytes_of(events), only_accesses=only_accesses)
            self._kept.ask(wire)
            lost = self._kept.refuse_lost(wire, parts)
            _refuse(parts, lost, events, receipts)
            fsynced, calls, sent = None, list[list[Argument]](), list[list[Prepared]]()
            for partition, indexes in parts.items():
                sent.append([ready(events[i]) for i in indexes])
                arguments = append_arguments(
                    self._keys[partition], sent[-1], expected_heads or {}, self._kept.floor(partition)
                )
                calls.append(wire.evalsha(APPEND, *arguments))
                if len(calls) == 1:
                    fsynced = self._fsynced(wire)  # of the connection that `evalsha` may have made anew
                wire.send(*calls[-1])
            answers = self._answers(wire, calls) if calls else ()
            for (partition, indexes), mine, (answer, replicas) in zip(parts.items(), sent, answers, strict=True):
                self._kept.keep(partition, mine, answer)
                told = append_receipts(partition, mine, answer, fsynced, replicas)
                for i, receipt in zip(indexes, told, strict=True):
                    receipts[i] = receipt
            if any(one and one.error and "NOREPLICAS" in one.error for one in receipts):
                self._refuse_for_the_disk(wire, receipts)
        if lost and not parts:
            raise next(iter(lost.values()))
        return [receipt for receipt in receipts if receipt]

    def _answers(self, wire: Wire, calls: list[list[Argument]]) -> Iterable[tuple[Any, int]]:
        """Each script's answer, as soon as it is there, and how many replicas have it, all down one connection."""
        first = _answer(wire)
        forgotten = isinstance(first, redis.ResponseError) and refusal_code(first) == "NOSCRIPT"
        if not self._replicas and not forgotten:
            yield first, 0
            for _ in calls[1:]:
                yield _answer(wire), 0
            return
        found = [first, *(_answer(wire) for _ in calls[1:])]
        if forgotten:
            wire.call("SCRIPT", "LOAD", APPEND.body)
            found = wire.pipeline(calls)
        replicas = wire.call("WAIT", self._replicas, self._replica_timeout_ms) if self._replicas else 0
        for answer in found:
            yield answer, replicas

    def _refuse_for_the_disk(self, wire: Wire, receipts: Sequence[Receipt | None]) -> None:
        """Where Redis takes no writes since its disk is full (`ops.embedded_disk`), raises StoreFull with that disk's name."""
        told = wire.call("HGET", ALARMS_KEY, "disk_full|")
        if told and not any(one and one.written for one in receipts):
            text = msgspec.json.decode(told, type=Alarm).text
            raise StoreFull(f"{text}; make room, then send the same request again", retry_after=30)

    def _fsynced(self, wire: Wire) -> bool | None:
        known = self._durability.get(wire)
        if known is None or known.generation != wire.generation or known.until < monotonic():
            known = _Durability(wire.generation, monotonic() + 60.0, read_durability(wire))
            self._durability[wire] = known
        return known.fsynced

    def remember(self, kept: Mapping[int, Kept]) -> None:
        """Take over the receipts of processes before this one, as if they were its own (`events.redis_receipts`)."""
        self._kept.remember(kept)

    def kept_receipts(self) -> dict[int, Kept]:
        """The highest event of each partition that has a receipt."""
        return self._kept.all()

    def ask_receipts(self) -> None:
        """Look now whether each of them holds, and raise the alarm where not; else the first append does. Raises StoreError."""
        with self._wires.wire() as wire:
            self._kept.ask(wire)
            self._kept.refuse_lost(wire, range(len(self._keys)))

    def let_go(self, partition: int) -> None:
        """Forget a partition's receipt, which an operator has seen lost."""
        self._kept.let_go(partition)

    def read(self, partition: int, after: int, limit: int = 500) -> list[Stored]:
        """See `EventLog.read`."""
        with self._wires.wire() as wire:
            return entries(wire.call("XRANGE", self._keys[partition].stream, f"{after + 1}-0", "+", "COUNT", limit))

    def read_at(self, partition: int, seqs: Sequence[int]) -> list[Stored]:
        """See `EventLog.read_at`. Runs of adjacent seqs are read as ranges."""
        stream = self._keys[partition].stream
        commands = [["XRANGE", stream, f"{start}-0", f"{end}-0"] for start, end in runs(seqs)]
        found: list[Stored] = []
        with self._wires.wire() as wire:
            for at in range(0, len(commands), 500):
                for answer in wire.pipeline(commands[at : at + 500]):
                    if isinstance(answer, redis.ResponseError):
                        raise as_store_error(answer)
                    found.extend(entries(answer))
        return found

    def head(self, partition: int) -> int:
        """See `EventLog.head`."""
        with self._wires.wire() as wire:
            return int(wire.call("HGET", self._keys[partition].meta, "seq") or 0)

    def owner_head(self, owner: str) -> int:
        """See `EventLog.owner_head`."""
        with self._wires.wire() as wire:
            return int(wire.call("HGET", self._keys[partition_of(owner, self.partitions)].heads, owner) or 0)

    def now(self) -> int:
        """See `EventLog.now`: Redis's clock, which never goes back within a process."""
        return self._clock.now()

    def behind(self) -> int:
        """See `EventLog.behind`."""
        return self._clock.behind()

    def _redis_time(self) -> int:
        with self._wires.wire() as wire:
            seconds, micros = wire.call("TIME")
        return int(seconds) * 1_000_000 + int(micros)


def _bytes_of(events: Sequence[Appendable]) -> int:
    """What a request takes, of the events that are encoded already: those of a producer. What we make ourselves is small."""
    try:
        return append_bytes(len(events), sum(map(len, map(_BODY, events))))
    except AttributeError:
        return append_bytes(len(events), 0)


_BODY: Callable[[Appendable], bytes] = attrgetter("body")


def _refuse(
    parts: dict[int, list[int]],
    lost: Mapping[int, ReceiptLost],
    events: Sequence[Appendable],
    receipts: list[Receipt | None],
) -> None:
    """Take the parts that must not be appended out of a request, with receipts that say why."""
    for partition, error in lost.items():
        for i in parts.pop(partition):
            receipts[i] = Receipt(ready(events[i]).event_id, "failed", error=error.message)


def _answer(wire: Wire) -> Any:
    """The next answer; a refusal as its error."""
    try:
        return wire.receive()
    except redis.ResponseError as error:
        return error


def entries(answer: list[Any] | None, tag: str = "") -> list[Stored]:
    """Stream entries as Redis sends them, decoded. Raises LogGap at one that no append wrote; `tag`: of the partition."""
    try:
        return [
            # As Stored(...), in half the time. An id that is not `<seq>-0` is no number.
            _STORED(
                Stored,
                (
                    int(key.removesuffix(b"-0")),
                    _KINDS.get(held[1]) or held[1].decode(),
                    held[3],
                    held[5].decode(),
                    held[7],
                ),
            )
            for key, held in answer or ()
        ]
    except (ValueError, IndexError) as error:
        raise LogGap(
            f"partition {{{tag}}}: its log has an entry that no append wrote ({error}); {MENDING}", partition=tag
        ) from error


_STORED = tuple.__new__
_KINDS = {f"{name}.{version}".encode(): f"{name}.{version}" for name, version in LATEST_VERSION.items()}


def runs(seqs: Sequence[int]) -> list[tuple[int, int]]:
    """Adjacent increasing seqs as (first, last), at most 500 a run, in the order given."""
    found: list[tuple[int, int]] = []
    for seq in seqs:
        if found and found[-1][1] + 1 == seq and seq - found[-1][0] < 500:
            found[-1] = (found[-1][0], seq)
        else:
            found.append((seq, seq))
    return found
