"""A Redis that is full, read-only, gone or slow: no receipt for what is not there, and workers that recover by themselves."""

from __future__ import annotations

import pytest

from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.errors import StoreFull, StoreUnavailable
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer


def settled(store: Live) -> None:
    """Everything is folded, and what is stored is what the log says."""
    wait_until(store.folded)
    for number, tag in enumerate(store.identity.tags):
        verdict = verify_partition(store.client, number, tag)
        assert verdict.differences == []


def test_a_worker_waits_out_a_full_redis_and_then_goes_on(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=2) as store:
        store.start_worker("w1")
        store.append(*(store.created("alice", f"m{n}") for n in range(20)))
        wait_until(store.folded)
        receipts = store.append(*(store.mentioned("alice", f"m{n}") for n in range(20)))
        assert len(receipts) == 20
        store.client.config_set("maxmemory", "1")
        with pytest.raises(StoreFull, match="then send the same request again") as refusal:
            wait_until(lambda: store.log.append([store.created("alice", "late")]) and None)
        assert refusal.value.context["retry_after"] > 0
        head = store.log.head(0) + store.log.head(1)
        store.client.config_set("maxmemory", "0")
        settled(store)
        assert store.log.head(0) + store.log.head(1) == head


def test_a_commit_that_redis_has_no_room_for_is_told_and_made_later(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.append(*(store.created("alice", f"m{n}") for n in range(10)))
        store.client.config_set("maxmemory", "1")
        store.start_worker("w1")
        wait_until(lambda: any("maxmemory" in fact["reason"] for fact in store.told("store refused")))
        assert not store.folded()
        store.client.config_set("maxmemory", "0")
        settled(store)


def test_a_read_only_redis_refuses_with_advice_and_the_fold_goes_on_when_it_may_write(
    redis_server: RedisServer,
) -> None:
    with live_store(redis_server.url, partitions=2) as store:
        store.start_worker("w1")
        store.append(store.created("alice", "m1"))
        wait_until(store.folded)
        store.client.execute_command("REPLICAOF", "127.0.0.1", "1")
        receipts = store.log.append([store.created("alice", "m2")])
        assert [receipt.status for receipt in receipts] == ["failed"]
        assert receipts[0].position is None
        assert "primary" in (receipts[0].error or "")
        wait_until(lambda: store.told("store refused"))
        store.client.execute_command("REPLICAOF", "NO", "ONE")
        store.append(store.created("alice", "m2"))
        settled(store)


def test_a_slow_redis_gives_no_receipt_and_sending_again_leaves_one_event(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=2, timeout=3.0) as store:
        event = store.created("alice", "m1")
        store.log.head(0)
        store.client.execute_command("CLIENT", "PAUSE", "6000", "ALL")
        with pytest.raises(StoreUnavailable, match="can be sent again safely"):
            store.log.append([event])
        store.append(event)
        assert sum(store.log.head(p) for p in range(2)) == 1
        store.start_worker("w1")
        settled(store)


def test_workers_come_back_after_every_connection_was_cut(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=4) as store:
        store.start_worker("w1")
        for round_number in range(5):
            store.append(*(store.created(f"owner-{n}", f"m{round_number}") for n in range(20)))
            store.client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        settled(store)
        assert store.told("store refused")


def test_a_redis_without_free_connections_refuses_clearly(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.log.head(0)
        most = store.client.config_get("maxclients")["maxclients"]
        store.log.close()
        store.client.config_set("maxclients", "1")
        try:
            with pytest.raises(StoreUnavailable, match="can be sent again safely"):
                store.log.append([store.created("alice", "m1")])
        finally:
            store.client.config_set("maxclients", most)
        store.append(store.created("alice", "m1"))
