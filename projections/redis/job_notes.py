"""What jobs know of a partition beside its builds: since when each deletion is known, and which raw events are not judged yet.

**Deletions** go by the store's clock: a date that a producer told is no reason to destroy at once. One hash a partition, owner
-> {memory id: [deleted at, first seen]}, microseconds. Where it is lost, the days are counted anew.

**Raw events** are spans of seqs, without any content. A span is noted before its append is acknowledged, and wakes those who
wait for spans. A producer without an acknowledgement sends the events again, and they are noted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import redis

from engramlog_server.events.envelope import Prepared
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import LogKeys, parse_position, partition_of
from engramlog_server.events.redis.wire import WirePool, as_store_error
from engramlog_server.events.text import UNREADABLE
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS

Seen = dict[str, tuple[int, int]]
"""Memory id -> when it was deleted, as told, and when the sweep saw that first."""
_DECODE = msgspec.msgpack.Decoder(Seen)


class RedisDeletions:
    """What the sweep knows of an owner's deletions. Safe for threads."""

    def __init__(self, wires: WirePool, tags: Sequence[str]) -> None:
        self._wires = wires
        self._tags = tags

    def seen(self, owner: str, deleted: Mapping[str, int], now: int) -> dict[str, int]:
        """Memory id -> since when its deletion is known, at the latest `now`; those not known yet are left out.

        `deleted` has when each was deleted, as told. Raises StoreError.
        """
        return {
            memory_id: min(first, now)
            for memory_id, (at, first) in (self._read(owner) if deleted else {}).items()
            if deleted.get(memory_id) == at
        }

    def note(self, owner: str, deleted: Mapping[str, int], now: int) -> dict[str, int]:
        """The same; what was not known is from now on, and what is deleted no more is forgotten. Raises StoreError."""
        known = self._read(owner)
        noted = _noted(known, deleted, now)
        if noted != known:
            self._write(owner, noted)
        return {memory_id: first for memory_id, (_, first) in noted.items()}

    def add(self, owner: str, deleted: Mapping[str, int], now: int) -> None:
        """These were deleted just now, by ourselves: known from now on, beside what is known. Raises StoreError."""
        if deleted:
            known = self._read(owner)
            self._write(owner, known | _noted(known, deleted, now))

    def _write(self, owner: str, noted: Seen) -> None:
        with self._wires.wire() as wire:
            if noted:
                wire.call("HSET", self._key(owner), owner, msgspec.msgpack.encode(noted))
            else:
                wire.call("HDEL", self._key(owner), owner)

    def _key(self, owner: str) -> str:
        return LogKeys(self._tags[partition_of(owner, len(self._tags))]).deletions

    def _read(self, owner: str) -> Seen:
        with self._wires.wire() as wire:
            raw = wire.call("HGET", self._key(owner), owner)
        try:
            return _DECODE.decode(raw) if raw else {}
        except UNREADABLE:
            return {}


def _noted(known: Seen, deleted: Mapping[str, int], now: int) -> Seen:
    """What is known of these deletions with `now`: another date is another deletion, and a clock may have gone back."""
    noted: Seen = {}
    for memory_id, at in deleted.items():
        told, first = known.get(memory_id, (at, now))
        noted[memory_id] = (at, min(first, now) if told == at else now)
    return noted


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
