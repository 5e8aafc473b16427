"""Which events of a partition were appended raw and are not judged yet: spans of seqs, without any content.

A span is noted before its append is acknowledged, and wakes those who wait for spans. A producer without an acknowledgement sends
the events again, and they are noted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import redis

from engramlog_server.events.envelope import Prepared
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import LogKeys, parse_position
from engramlog_server.events.redis.wire import WirePool, as_store_error
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS

MOST_SPANS = 10_000
"""Spans kept for a partition; the oldest are dropped, so that a store without job workers does not fill."""
_ANSWER_SECONDS = 5.0


class Span(NamedTuple):
    """Adjacent seqs."""

    first: int
    last: int

    @property
    def member(self) -> str:
        """As it is stored."""
        return f"{self.first}-{self.last}"


class RedisUnjudged:
    """The raw events of one store that a job has to judge. Safe for threads."""

    def __init__(self, wires: WirePool, tags: Sequence[str]) -> None:
        self._wires = wires
        self._keys = [LogKeys(tag) for tag in tags]

    def note(self, events: Iterable[Prepared], receipts: Iterable[AppendReceipt]) -> None:
        """Note the written events that create memories. Raises StoreError."""
        found: dict[int, list[Span]] = {}
        for event, receipt in zip(events, receipts, strict=True):
            if not receipt.written or receipt.position is None or not event.kind.startswith("MemoryCreated."):
                continue
            partition, seq = parse_position(receipt.position)
            spans = found.setdefault(partition, [])
            if spans and spans[-1].last + 1 == seq:
                spans[-1] = Span(spans[-1].first, seq)
            else:
                spans.append(Span(seq, seq))
        for partition, spans in found.items():
            keys, told = self._keys[partition], [part for one in spans for part in (one.first, one.member)]
            with self._wires.wire() as wire:
                wire.answers(
                    [
                        ["ZADD", keys.unjudged, *told],
                        ["ZREMRANGEBYRANK", keys.unjudged, 0, -1 - MOST_SPANS],
                        ["XADD", keys.noted, "MAXLEN", 1, "*", "noted", 1],
                    ]
                )

    def first(self, partition: int, most: int) -> list[Span]:
        """The first spans, at least one if there is any, with about `most` seqs together. Raises StoreError."""
        with self._wires.wire() as wire:
            members: list[bytes] = wire.call("ZRANGE", self._keys[partition].unjudged, 0, most - 1)
            spans = list(map(_span, members))
            if foreign := [one for one, span in zip(members, spans, strict=True) if span is None]:
                wire.call("ZREM", self._keys[partition].unjudged, *foreign)
        found, seqs = list[Span](), 0
        for one in spans:
            if one is not None and seqs < most:
                found.append(one)
                seqs += one.last - one.first + 1
        return found

    def remove(self, partition: int, spans: Sequence[Span]) -> None:
        """Forget spans that were judged. Raises StoreError."""
        if spans:
            with self._wires.wire() as wire:
                wire.call("ZREM", self._keys[partition].unjudged, *(one.member for one in spans))

    def postpone(self, partition: int, spans: Sequence[Span], head: int) -> None:
        """Put spans behind those noted until the partition's head. Raises StoreError."""
        if spans:
            with self._wires.wire() as wire:
                wire.call(
                    "ZADD", self._keys[partition].unjudged, *(part for one in spans for part in (head, one.member))
                )

    def waiting(self) -> list[int]:
        """Partitions with spans. Raises StoreError."""
        with self._wires.wire() as wire:
            answers = wire.answers([["EXISTS", keys.unjudged] for keys in self._keys])
        return [partition for partition, exists in enumerate(answers) if exists]

    def notes(self) -> list[bytes]:
        """The newest note of each partition, to wait for a later one. Raises StoreError."""
        with self._wires.wire() as wire:
            answers = wire.answers([["XREVRANGE", keys.noted, "+", "-", "COUNT", 1] for keys in self._keys])
        return [answer[0][0] if answer else b"0-0" for answer in answers]

    def wait(self, notes: Sequence[bytes], seconds: float) -> bool:
        """Wait until a span is noted after these notes, at most so many seconds; returns whether one is. Raises StoreError.

        Call `notes` before looking for spans: what is noted during the look ends the wait at once.
        """
        streams = [keys.noted for keys in self._keys]
        with self._wires.wire() as wire:
            wire.send("XREAD", "COUNT", 1, "BLOCK", max(int(seconds * 1_000), 1), "STREAMS", *streams, *notes)
            try:
                return bool(wire.receive(timeout=seconds + _ANSWER_SECONDS))
            except redis.ResponseError as error:
                raise as_store_error(error, reading=True) from error


def _span(member: bytes) -> Span | None:
    """A span in its stored form; None if no append wrote it."""
    first, _, last = member.partition(b"-")
    if not (first.isdigit() and last.isdigit()):
        return None
    span = Span(int(first), int(last))
    return span if 0 <= span.last - span.first < MAX_REQUEST_EVENTS and span.member.encode() == member else None
