"""Reading ahead: who is behind is read by turns and much of it, the others beside it, and nothing is waited for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis

from engramlog_server.consumers.fold.worker import READ_BEHIND, READ_BYTES, READ_COUNT, Prefetch
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import ServerWire

TAGS = ("p0", "p1", "p2")
BLOCK_MS = 1


class Listening(ServerWire):
    """A wire that keeps what was sent."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client)
        self.sent: list[tuple[Any, ...]] = []

    def send(self, *arguments: Any) -> None:
        """Keep it and send it."""
        self.sent.append(arguments)
        super().send(*arguments)


@pytest.fixture
def wire(bundled_redis: redis.Redis) -> Iterator[Listening]:
    wire = Listening(bundled_redis)
    yield wire
    wire.close()


def fill(client: redis.Redis, partition: int, entries: int, size: int = 10) -> None:
    with client.pipeline(transaction=False) as pipeline:
        for seq in range(1, entries + 1):
            pipeline.xadd(LogKeys(TAGS[partition]).stream, {"body": b"x" * size}, id=f"{seq}-0")
        pipeline.execute()


def read_on(prefetch: Prefetch, at: dict[int, int]) -> dict[int, int]:
    """One read; how many entries came of each partition. `at` is brought forward."""
    assert prefetch.ask(at, BLOCK_MS)
    came = {partition: len(found) for partition, found in prefetch.receive()}
    for partition, number in came.items():
        at[partition] += number
    return came


def test_partitions_that_are_behind_are_read_by_turns_and_the_others_each_time(
    bundled_redis: redis.Redis, wire: Listening
) -> None:
    fill(bundled_redis, 0, 5_000)
    fill(bundled_redis, 1, 3_000)
    fill(bundled_redis, 2, 7)
    prefetch, at = Prefetch(wire, TAGS), dict.fromkeys(range(3), 0)
    came = [read_on(prefetch, at)]
    bundled_redis.xadd(LogKeys(TAGS[2]).stream, {"body": b"x"}, id="8-0")
    while read := read_on(prefetch, at):
        came.append(read)
    assert came == [
        {0: READ_COUNT, 1: READ_COUNT, 2: 7},
        {0: READ_BEHIND, 2: 1},
        {1: READ_BEHIND},
        {0: READ_BEHIND},
        {1: 3_000 - READ_COUNT - READ_BEHIND},
        {0: 5_000 - READ_COUNT - 2 * READ_BEHIND},
    ]
    assert at == {0: 5_000, 1: 3_000, 2: 8}


def test_nothing_is_waited_for_while_a_partition_is_behind(bundled_redis: redis.Redis, wire: Listening) -> None:
    fill(bundled_redis, 0, READ_COUNT)
    prefetch, at = Prefetch(wire, TAGS), dict.fromkeys(range(3), 0)
    while read_on(prefetch, at):
        pass
    reads = [("BLOCK" in sent, len(sent[sent.index("STREAMS") + 1 :]) // 2) for sent in wire.sent if sent[0] == "XREAD"]
    assert reads == [(True, 3), (False, 1), (False, 2)]  # the one behind and the two others, of which none had more


def test_long_entries_are_asked_for_in_answers_of_about_two_mebibytes(
    bundled_redis: redis.Redis, wire: Listening
) -> None:
    fill(bundled_redis, 0, 600, size=8_192)
    prefetch, at = Prefetch(wire, TAGS), dict.fromkeys(range(3), 0)
    came = [read_on(prefetch, at)[0], read_on(prefetch, at)[0]]
    assert came[0] == READ_COUNT
    assert READ_COUNT < came[1] <= READ_BYTES // 8_192


def test_the_longest_entries_are_read_as_many_at_a_time_as_ever(bundled_redis: redis.Redis, wire: Listening) -> None:
    fill(bundled_redis, 0, 2 * READ_COUNT, size=65_536)
    prefetch, at = Prefetch(wire, TAGS), dict.fromkeys(range(3), 0)
    assert [read_on(prefetch, at)[0], read_on(prefetch, at)[0]] == [READ_COUNT, READ_COUNT]


def test_a_partition_that_is_held_no_longer_is_not_asked_for(bundled_redis: redis.Redis, wire: Listening) -> None:
    fill(bundled_redis, 0, 1_000)
    fill(bundled_redis, 1, 3)
    prefetch, at = Prefetch(wire, TAGS), dict.fromkeys(range(3), 0)
    read_on(prefetch, at)
    assert read_on(prefetch, {1: 0, 2: 0}) == {1: 3}


def test_after_a_stop_everything_is_asked_for_anew(bundled_redis: redis.Redis, wire: Listening) -> None:
    fill(bundled_redis, 0, 1_000)
    prefetch, at = Prefetch(wire, TAGS), dict.fromkeys(range(3), 0)
    read_on(prefetch, at)
    assert prefetch.ask(at, BLOCK_MS)
    assert prefetch.stop()
    assert not prefetch.is_in_flight
    assert read_on(prefetch, at) == {0: READ_COUNT}
