"""A worker of many partitions: few writes keep its leases, and taking outlasts none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Event as Flag
from threading import Thread
from time import sleep
from typing import Any

import pytest

from engramlog_server.consumers.fold import worker as held_module
from engramlog_server.consumers.fold import worker as worker_module
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.errors import LogGap
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.durability import look, refuse_gap, refuse_gap_seen
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import _AT_ONCE, Script, Wire, open_wire, run_many
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.create import open_store
from engramlog_server.projections.redis.store import release_leases, renew_leases, take_lease
from tests.integration.live import live_store, wait_until
from tests.patience import PATIENCE
from tests.servers import RedisServer

NOW, TTL = 1_800_000_000_000, 3_000


@pytest.fixture
def wire(redis_server: RedisServer) -> Iterator[Wire]:
    found = open_wire(connect(redis_server.url))
    yield found
    found.close()


def stored(wire: Wire, partitions: int) -> list[BuildKeys]:
    tags = open_store(wire, store_id="test", partitions=partitions).tags
    return [BuildKeys(tag, wire.call("HGET", LogKeys(tag).meta, "live").decode()) for tag in tags]


def test_of_many_leases_each_is_told_and_a_server_that_forgot_the_script_is_given_it_again(wire: Wire) -> None:
    keys = stored(wire, 3)
    leases = [take_lease(wire, one, "me", now_ms=NOW, ttl_ms=TTL) for one in keys]
    mine = [one for one in leases if one is not None]
    assert len(mine) == 3
    wire.call("HSET", keys[1].checkpoint, "holder", "another")
    wire.call("SCRIPT", "FLUSH")
    assert renew_leases(wire, mine, now_ms=[NOW + 5, NOW + 5, NOW + 9], ttl_ms=TTL) == [True, False, True]
    assert [int(wire.call("HGET", one.checkpoint, "until")) - NOW for one in keys] == [TTL + 5, TTL, TTL + 9]
    release_leases(wire, mine)
    assert [wire.call("HGET", one.checkpoint, "holder") for one in keys] == [None, b"another", None]
    assert renew_leases(wire, [], now_ms=[], ttl_ms=TTL) == []


def test_answers_stay_in_their_order_over_several_writes(wire: Wire) -> None:
    script = Script("same", "return {KEYS[1], ARGV[1]}")
    asked = [((f"{{e0}}:{n}",), (n,)) for n in range(2 * _AT_ONCE + 3)]
    assert run_many(wire, script, asked) == [[b"{e0}:%d" % n, b"%d" % n] for n in range(2 * _AT_ONCE + 3)]


def test_of_many_logs_the_one_that_is_not_whole_is_told(wire: Wire) -> None:
    tags = [keys.tag for keys in stored(wire, 3)]
    wire.call("HSET", LogKeys(tags[1]).meta, "head", 7)
    seen = look(wire, tags)
    for tag, one in zip(tags, seen, strict=True):
        if tag != tags[1]:
            refuse_gap_seen(one, tag)
    with pytest.raises(LogGap) as alone:
        refuse_gap(wire, tags[1])
    with pytest.raises(LogGap, match=tags[1]) as together:
        refuse_gap_seen(seen[1], tags[1])
    assert together.value.message == alone.value.message


class Told:
    """What workers tell."""

    def __init__(self) -> None:
        self.facts: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, fact: str, **context: Any) -> None:
        self.facts.append((fact, context))

    def many(self, fact: str) -> int:
        return sum(name == fact for name, _ in self.facts)


def test_workers_that_take_longer_to_take_than_a_lease_lasts_lose_none(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that syncs slowly: 64 leases of 0.03 s each take twice as long as one of them lasts."""
    lease_ms, told, stop = 1_000, Told(), Flag()
    take = held_module.take_lease

    def slowly(*given: Any, **more: Any) -> Any:
        sleep(0.03)
        return take(*given, **more)

    monkeypatch.setattr(held_module, "take_lease", slowly)
    client = connect(redis_server.url)
    tags = open_store(open_wire(client), store_id="test", partitions=64).tags
    workers = [
        FoldWorker(connect(redis_server.url), tags, name, tell=told, lease_ms=lease_ms) for name in ("one", "two")
    ]
    threads = [Thread(target=worker.run, args=(stop,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: [len(worker.held) for worker in workers] == [32, 32])
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
    assert told.many("lease lost") == 0
    assert sum(context["partitions"] != "" for fact, context in told.facts if fact == "partitions taken") > 2


def test_a_worker_keeps_no_more_of_all_its_partitions_than_it_may_and_folds_what_it_let_go_of(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "CACHED_BY_A_WORKER", 10)
    with live_store(redis_server.url, partitions=4) as live:
        worker = live.start_worker("folder")
        owners = [f"owner-{number}" for number in range(12)]
        for number in range(6):
            live.append(*(live.created(owner, f"m{number}", f"said {number}") for owner in owners))
        wait_until(live.folded)
        kept = worker._partitions.folders.values()
        wait_until(lambda: sum(folder.cached for folder in kept) <= 10)
        live.append(*(live.mentioned(owner, f"m{number}") for owner in owners for number in (0, 5)))
        wait_until(live.folded)
        assert live.differences() == []
        wait_until(lambda: sum(folder.cached for folder in kept) <= 10)


def test_an_idle_worker_renews_each_lease_once_and_reads_each_checkpoint_once_a_tick(redis_server: RedisServer) -> None:
    """By renewal and by tick, not by second: how busy the machine is does not matter."""
    partitions, client = 32, connect(redis_server.url)
    tags = open_store(open_wire(client), store_id="test", partitions=partitions).tags
    worker = FoldWorker(client, tags, "one")
    worker.drain(dict.fromkeys(range(partitions), 1), give_up_after=0.3)
    assert len(worker.held) == partitions
    before = calls_by_command(client)
    worker.drain({0: 1}, give_up_after=2.5)
    after = calls_by_command(client)
    worker.hand_over()
    calls = {command: count - before.get(command, 0) for command, count in after.items()}
    renewals, rest = divmod(calls["evalsha"], 2 * partitions)
    assert renewals >= 1
    assert rest == 0
    ticks = calls["hset"] - renewals * partitions  # each renewal writes one, each sign of life one
    assert ticks >= renewals
    assert calls["hgetall"] == ticks * (partitions + 1)


def calls_by_command(client: Any) -> dict[str, int]:
    """Calls that the server counted, those of scripts among them."""
    return {name.removeprefix("cmdstat_"): int(row["calls"]) for name, row in client.info("commandstats").items()}
