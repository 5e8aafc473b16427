"""Receipts are kept: what this process was told is in the log must still be there after every reconnect.

A Redis can come back with another history: a torn append-only file that it cut, a replica that took over, a restored copy. For
each partition the highest seq with a receipt is kept, with its event's id. On a new connection it is asked for before anything
is sent there; and the append script refuses a head below it, also where the data changed under a connection that lived on. What
is gone or other is an alarm, and nothing is appended to that partition until an operator has acknowledged it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple
from uuid import UUID

from engramlog_server.events.alarms import Alarms
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import ReceiptLost, StoreUnavailable
from engramlog_server.events.partitions import ALARMS_KEY, LogKeys, position_text
from engramlog_server.events.redis.wire import Wire, as_store_error, server_run

RECEIPT_LOST = "receipt_lost"


class NewestReceipt(NamedTuple):
    """The highest event of a partition that has a receipt."""

    seq: int
    raw_id: bytes


class _Lost:
    """A partition whose receipt no longer holds, on a server; `told`: whether its alarm was seen in that server's store since."""

    def __init__(self, text: str, server: bytes | None) -> None:
        self.text = text
        self.server = server
        self.told = False


class KeptReceipts:
    """The receipts of one process, by partition. Safe for threads."""

    def __init__(self, keys: Sequence[LogKeys], alarms: Alarms | None = None) -> None:
        self._keys = keys
        self._alarms = alarms
        self._kept: dict[int, NewestReceipt] = {}
        self._lost: dict[int, _Lost] = {}
        self._asked: dict[Wire, tuple[int, set[int] | None]] = {}
        """Under which generation of a wire receipts were asked for: of which partitions, None for all."""
        self._lock = Lock()

    def floor(self, partition: int) -> int:
        """The seq that the head of a partition must have reached; 0 where no receipt was given."""
        kept = self._kept.get(partition)
        return kept.seq if kept else 0

    def remember(self, kept: Mapping[int, NewestReceipt]) -> None:
        """Take over receipts that processes before this one had; to be called before anything is appended."""
        with self._lock:
            for partition, one in kept.items():
                if partition < len(self._keys) and one.seq > self.floor(partition):
                    self._kept[partition] = one

    def all(self) -> dict[int, NewestReceipt]:
        """The highest event with a receipt, by partition."""
        with self._lock:
            return dict(self._kept)

    def let_go(self, partition: int) -> None:
        """An operator has seen that a partition's receipt no longer holds: append to the history that is there."""
        with self._lock:
            self._lost.pop(partition, None)
            self._kept.pop(partition, None)

    def keep(self, partition: int, events: Sequence[Prepared], answer: Any, *, proved: bool = True) -> None:
        """Take in the answer of the append script about these events of a partition.

        `proved`: whether that is acknowledged; else it is refused as written and not proved, and nobody was promised that it stays.
        """
        if isinstance(answer, Exception):
            return
        if answer[0] == b"rolled":
            self._lose(partition, f"its head is {answer[1]}", None)
            return
        highest = _highest(events, answer) if proved else None
        if highest is None:
            return
        with self._lock:
            if highest.seq > self.floor(partition):
                self._kept[partition] = highest

    def is_doubtful(self, partition: int, head: int) -> bool:
        """Whether a head that a reader got is below a receipt, and no alarm was raised for it yet."""
        return head < self.floor(partition) and partition not in self._lost

    def ask(self, wire: Wire, partitions: Collection[int] | None = None, *, again: bool = False) -> None:
        """On a connection that is new, look whether every kept receipt still holds; to be called before anything is sent on it.

        `partitions`: of these alone, where one node that does not answer must not keep what lies on others from being appended.
        `again`: also on a connection on which it was asked before, where the data may have changed under it.
        """
        wire.connect()
        generation, asked = (-1, None) if again else self._asked.get(wire, (-1, None))
        if generation != wire.generation:
            generation, asked = wire.generation, set()
        if asked is None or (partitions is not None and asked.issuperset(partitions)):
            return
        with self._lock:
            kept = sorted(self._kept.items())
        kept = [(p, one) for p, one in kept if p not in asked and (partitions is None or p in partitions)]
        commands = [["XRANGE", self._keys[p].stream, f"{one.seq}-0", f"{one.seq}-0"] for p, one in kept]
        for (partition, one), answer in zip(kept, wire.pipeline(commands) if commands else [], strict=True):
            if isinstance(answer, Exception):
                raise as_store_error(answer)
            if not answer:
                self._lose(partition, "it is not there", server_run(wire.at(self._keys[partition].meta)))
            elif answer[0][1][3] != one.raw_id:
                run = server_run(wire.at(self._keys[partition].meta))
                self._lose(partition, f"event {UUID(bytes=answer[0][1][3])} is there", run)
        self._asked[wire] = generation, None if partitions is None else asked | set(partitions)

    def _lose(self, partition: int, found: str, server: bytes | None) -> None:
        with self._lock:
            kept, known = self._kept.get(partition), self._lost.get(partition)
            if kept is None or (known is not None and known.server == server):
                return  # told of before; a server that was started again may have lost its alarm too
            lost = self._lost[partition] = _Lost(
                f"partition {partition}: event {UUID(bytes=kept.raw_id)} was acknowledged at {position_text(partition, kept.seq)},"
                f" and {found}: Redis came back with another history. This process appends nothing to the partition until an"
                f" operator has looked: `engramlog alarms`, then `engramlog alarms --clear {RECEIPT_LOST} {partition}`",
                server,
            )
        if self._alarms is not None:
            self._alarms.raised(RECEIPT_LOST, str(partition), lost.text)

    def refuse_lost(self, wire: Wire, partitions: Collection[int]) -> dict[int, ReceiptLost]:
        """Why nothing may be appended to some of these partitions; what an operator acknowledged meanwhile is let go.

        All that is lost is looked after, not only what is asked for: an operator may acknowledge before the next append there.
        """
        if not self._lost:
            return {}
        with self._lock:
            lost = sorted(self._lost.items())
        standing = {
            partition: ReceiptLost(one.text, partition=partition)
            for partition, one in lost
            if not self._is_acknowledged(wire, partition, one)
        }
        return {partition: standing[partition] for partition in partitions if partition in standing}

    def _is_acknowledged(self, wire: Wire, partition: int, lost: _Lost) -> bool:
        """Whether the alarm was seen in the store and is gone now; raised again where it never got there, and looked for at once:
        it may be acknowledged long before the next append."""
        try:
            stands = self._stands(wire, partition)
            if not stands and not lost.told and self._alarms is not None:
                self._alarms.raised(RECEIPT_LOST, str(partition), lost.text)
                stands = self._stands(wire, partition)
        except StoreUnavailable:
            if not wire.many:
                raise
            return False  # the alarms lie on a node that was lost: nobody is known to have acknowledged
        if stands or not lost.told:
            lost.told = lost.told or stands
            return False
        self.let_go(partition)
        return True

    @staticmethod
    def _stands(wire: Wire, partition: int) -> bool:
        """Whether the alarm of a partition is in the store."""
        return bool(wire.call("HEXISTS", ALARMS_KEY, f"{RECEIPT_LOST}|{partition}"))


def _highest(events: Sequence[Prepared], answer: Any) -> NewestReceipt | None:
    """The highest event that the script's answer gives a receipt for; None where it gives none."""
    outcome, head, told = answer[0], int(answer[1]), answer[2]
    if outcome == b"ok" and not told:
        return NewestReceipt(head + len(events), events[-1].raw_id)
    known = dict(zip(told[::2], told[1::2], strict=True))
    if outcome == b"ok" and len(known) < len(events):
        index = next(i for i in range(len(events), 0, -1) if i not in known)
        return NewestReceipt(head + len(events) - len(known), events[index - 1].raw_id)
    there = [NewestReceipt(int(mark[1:]), events[i - 1].raw_id) for i, mark in known.items() if mark[:1] == b"="]
    return max((one for one in there if one.seq <= head), default=None)
