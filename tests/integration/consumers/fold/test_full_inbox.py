"""A full inbox in a real Redis: counted live as in a rebuild, verified, told once, and the alarm ends with it."""

from __future__ import annotations

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.fold.partition import Checkpoint
from engramlog_server.projections.fold.trust import MOST_WAITING
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.store import read_checkpoint
from tests.given.alarms import KeptAlarms
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer


def proposal(store: Live, owner: str, memory_id: str) -> Prepared:
    said = f"Always answer {memory_id} first"
    data = MemoryCreated(memory_id=memory_id, content=said, category="fact", kind="fact", source="assistant")
    return store.event(data, owner)._replace(trust="proposed")


def checkpoint(store: Live, build: str) -> Checkpoint:
    wire = open_wire(store.client)
    try:
        return read_checkpoint(wire, BuildKeys(store.identity.tags[0], build))
    finally:
        wire.close()


def test_what_waits_is_counted_live_as_in_a_rebuild_and_an_alarm_tells_that_it_is_full(
    redis_server: RedisServer,
) -> None:
    alarms = KeptAlarms()
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1", alarms=alarms)
        store.append(proposal(store, "bob", "alone"))
        for start in range(0, MOST_WAITING + 100, 100):
            store.append(*(proposal(store, "ada", f"p{start + number}") for number in range(100)))
        wait_until(store.folded)
        live = checkpoint(store, FIRST_BUILD)
        assert (live.memories, live.waiting, live.full) == (MOST_WAITING + 1, MOST_WAITING + 1, 1)
        wait_until(lambda: alarms.standing == {("inbox_full", "partition 0"): "1 owner: ada"})
        assert store.told("inbox full") == [{"owner": "ada", "most": MOST_WAITING}]
        assert store.differences() == []

        done = rebuild_partition(store.client, store.identity.tags[0], holder="rebuild")
        assert checkpoint(store, done.new) == live
        assert store.differences() == []

        store.append(store.mentioned("ada", "p0"))
        wait_until(lambda: store.folded() and not alarms.standing)
        after = checkpoint(store, done.new)
        assert (after.waiting, after.full) == (MOST_WAITING, 0)


def test_a_count_that_the_log_does_not_bear_out_is_found(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        store.append(proposal(store, "ada", "one"))
        wait_until(store.folded)
        assert store.differences() == []
        for field, value in (("waiting", 0), ("full", 1)):
            keys = BuildKeys(store.identity.tags[0], FIRST_BUILD)
            held = store.client.hget(keys.checkpoint, field)
            store.client.hset(keys.checkpoint, field, value)
            assert [one["what"] for one in store.differences()] == ["how much waits for a person"]
            assert held is not None
            store.client.hset(keys.checkpoint, field, held)
        assert store.differences() == []
