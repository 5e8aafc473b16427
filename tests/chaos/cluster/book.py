"""What producers were told, written down outside of Redis: every event, every receipt, and what each of them promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from threading import Lock
from time import monotonic

from engramlog_server.events.envelope import Prepared
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import parse_position


@dataclass(slots=True)
class Entry:
    """One event, and what was told of it."""

    producer: str
    partition: int
    event: Prepared
    position: tuple[int, int] | None = None
    """Where it is, by the last receipt; None while nobody told."""
    replicas: int = 0
    """The most that a receipt told to have it at that position."""
    fsynced: bool | None = None
    unproved: bool = False
    """Whether it was refused as written and not proved, and has no receipt."""

    @property
    def told(self) -> bool:
        """Whether there is a receipt of it."""
        return self.position is not None


@dataclass(slots=True)
class Book:
    """Every event that anybody sent. Safe for threads."""

    entries: list[Entry] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    """Receipts that cannot be true."""
    unproved: int = 0
    """How often a request was refused as written and not proved."""
    refused: dict[int, str] = field(default_factory=dict)
    """By partition why its part of a request was refused, of those that an operator has to look at."""
    times: dict[int, list[float]] = field(default_factory=dict)
    """By partition when something of it was acknowledged, by the monotonic clock."""
    _lock: Lock = field(default_factory=Lock)

    def enter(self, producer: str, partition: int, event: Prepared) -> Entry:
        """Write an event down before it is sent."""
        entry = Entry(producer, partition, event)
        with self._lock:
            self.entries.append(entry)
        return entry

    def answered(self, entries: Sequence[Entry], receipts: Sequence[AppendReceipt], least: int) -> None:
        """Note what receipts say. `least`: so many replicas have it, or there would be no receipt."""
        now = monotonic()
        with self._lock:
            for entry, receipt in zip(entries, receipts, strict=True):
                if not receipt.written:
                    if receipt.status != "failed":
                        self.complaints.append(f"{receipt.as_dict()} for an event sent unchanged")
                    continue
                assert receipt.position is not None
                if receipt.replicas < least:
                    self.complaints.append(f"{receipt.as_dict()} where {least} replicas are asked for")
                position = parse_position(receipt.position)
                if entry.position not in {None, position}:
                    self.complaints.append(f"{receipt.event_id}: told at {entry.position}, then at {position}")
                entry.position, entry.unproved = position, False
                entry.replicas = max(entry.replicas, receipt.replicas)
                entry.fsynced = entry.fsynced or receipt.fsynced
                self.times.setdefault(position[0], []).append(now)

    def not_proved(self, entries: Sequence[Entry], receipts: Sequence[AppendReceipt], least: int) -> None:
        """Note what was refused as written and not proved; what is proved of such a request counts as told."""
        self.unproved += 1
        proved = [(one, told) for one, told in zip(entries, receipts, strict=True) if told.replicas >= least]
        self.answered([one for one, _ in proved], [told for _, told in proved], least)
        for entry, receipt in zip(entries, receipts, strict=True):
            entry.unproved = entry.unproved or (receipt.written and not entry.told)

    def told_of(self, partition: int) -> int:
        """How many events of a partition have a receipt."""
        return len(self.times.get(partition, ()))

    def pause(self, partitions: Sequence[int], since: float) -> float:
        """The longest time, from `since` on, in which nothing of one of these partitions was acknowledged; seconds."""
        longest = 0.0
        for partition in partitions:
            after = [time for time in self.times.get(partition, ()) if time > since]
            before = [time for time in self.times.get(partition, ()) if time <= since]
            times = [before[-1] if before else since, *after]
            longest = max([longest, *(later - sooner for sooner, later in pairwise(times))])
        return longest
