"""A small Redis takes only what it can also fold, whoever appends and whether anybody folds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import StoreFull
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.redis.usage import FoldDebt
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer

MIB = 1 << 20
ROOM = 12 * MIB
"""Bytes above an empty server that the log and all that is folded of it may take to 100 %."""


@pytest.fixture
def small(redis_server: RedisServer) -> Iterator[Live]:
    """A store on a server with little room, whose producers know the debt."""
    with live_store(redis_server.url, partitions=4) as store:
        store.log = counting_log(store)
        store.client.config_set("maxmemory", int(store.client.info("memory")["used_memory"]) + ROOM)
        yield store


def counting_log(store: Live) -> RedisEventLog:
    return RedisEventLog(store.client, store.identity.tags, read_debt=FoldDebt(store.identity.tags))


def filled(store: Live, *logs: RedisEventLog, size: int, owners: int) -> int:
    """Append through these logs in turn, in requests of 500, until each is refused; how many events went in."""
    text, done, open_logs = "tea " * (size // 4), 0, list(logs)
    while open_logs:
        log = open_logs[done // 500 % len(open_logs)]
        request: list[Prepared] = [store.created(f"owner-{n % owners}", f"m{n}", text) for n in range(done, done + 500)]
        try:
            assert all(receipt.written for receipt in log.append(request))
            done += 500
        except StoreFull:
            open_logs.remove(log)
    return done


def folded_whole(store: Live) -> None:
    """One worker folds all that is in the log, and what it gives is what the log says."""
    store.start_worker("w1")
    wait_until(store.folded)
    for number, tag in enumerate(store.identity.tags):
        assert verify_partition(store.client, number, tag).differences == []


@pytest.mark.parametrize(("size", "owners"), [(20, 10), (400, 1), (100, 100_000)])
def test_what_a_producer_without_any_worker_may_append_can_be_folded_afterwards(
    small: Live, size: int, owners: int
) -> None:
    appended = filled(small, small.log, size=size, owners=owners)
    assert appended >= 1_000
    folded_whole(small)
    memory = small.client.info("memory")
    assert int(memory["used_memory"]) < 0.95 * int(memory["maxmemory"])


def test_several_producers_at_once_do_not_pass_what_can_be_folded(small: Live) -> None:
    logs = [counting_log(small) for _ in range(4)]
    assert filled(small, *logs, size=100, owners=20) >= 1_000
    folded_whole(small)
    for log in logs:
        log.close()


def test_a_refusal_for_what_waits_is_over_once_it_is_folded(small: Live) -> None:
    text = "tea " * 25
    number = filled(small, small.log, size=100, owners=1)
    with pytest.raises(StoreFull, match="events that wait will take about") as refusal:
        small.log.append([small.created("ada", f"n{n}", text) for n in range(500)])
    assert refusal.value.context["unfolded"] == number
    worker = FoldWorker(small.client, small.identity.tags, "w1")
    assert worker.drain({p: small.log.head(p) for p in range(4)}, 120)
    worker.hand_over()
    assert small.log.append([small.created("ada", f"n{n}", text) for n in range(50)])[0].written


def test_one_request_larger_than_the_room_is_refused_before_any_of_it_is_written(small: Live) -> None:
    with pytest.raises(StoreFull, match="this request would take about"):
        small.log.append([small.created("ada", f"m{n}", "tea " * 10_000) for n in range(400)])
    assert sum(small.log.head(p) for p in range(4)) == 0


def test_the_debt_is_what_the_log_holds_beyond_the_checkpoints(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=4) as store:
        debt, connection = FoldDebt(store.identity.tags), open_wire(store.client)
        events = [store.created(f"owner-{n}", f"m{n}") for n in range(40)]
        store.append(*events)
        told = debt(connection)
        assert (told.events, told.new_owners) == (40, 40)
        assert told.body_bytes == pytest.approx(sum(len(one.body) for one in events), rel=0.05)
        store.start_worker("w1")
        wait_until(store.folded)
        assert debt(connection) == (0, 0, 0)
        connection.close()
