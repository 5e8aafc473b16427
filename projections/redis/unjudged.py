"""Which events of a partition were appended raw and are not judged yet: spans of seqs, without any content.

A span is noted before its append is acknowledged. A producer without an acknowledgement sends the events again, and they are noted
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engramlog_server.events.envelope import Prepared
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import LogKeys, parse_position
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS

MOST_SPANS = 10_000
"""Spans kept for a partition; the oldest are dropped, so that a store without job workers does not fill."""


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
        self._tags = tags

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
            key, told = self._key(partition), [part for one in spans for part in (one.first, one.member)]
            with self._wires.wire() as wire:
                wire.answers([["ZADD", key, *told], ["ZREMRANGEBYRANK", key, 0, -1 - MOST_SPANS]])

    def first(self, partition: int, most: int) -> list[Span]:
        """The first spans, at least one if there is any, with about `most` seqs together. Raises StoreError."""
        with self._wires.wire() as wire:
            members: list[bytes] = wire.call("ZRANGE", self._key(partition), 0, most - 1)
            spans = list(map(_span, members))
            if foreign := [one for one, span in zip(members, spans, strict=True) if span is None]:
                wire.call("ZREM", self._key(partition), *foreign)
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
                wire.call("ZREM", self._key(partition), *(one.member for one in spans))

    def postpone(self, partition: int, spans: Sequence[Span], head: int) -> None:
        """Put spans behind those noted until the partition's head. Raises StoreError."""
        if spans:
            with self._wires.wire() as wire:
                wire.call("ZADD", self._key(partition), *(part for one in spans for part in (head, one.member)))

    def _key(self, partition: int) -> str:
        return LogKeys(self._tags[partition]).unjudged


def _span(member: bytes) -> Span | None:
    """A span in its stored form; None if no append wrote it."""
    first, _, last = member.partition(b"-")
    if not (first.isdigit() and last.isdigit()):
        return None
    span = Span(int(first), int(last))
    return span if 0 <= span.last - span.first < MAX_REQUEST_EVENTS and span.member.encode() == member else None
