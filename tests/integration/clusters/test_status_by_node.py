"""What `status`, `/ready`, `/metrics` and `capacity` tell of a Cluster, node by node, also while one of them is away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.cli.show import generic
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.partitions import ALARMS_KEY, WORKERS_KEY, LogKeys
from tests.chaos.cast import wait_until
from tests.given.clusters.cluster import SLOTS, GivenCluster
from tests.given.http import HttpStore, created, http_store
from tests.servers import RedisServer, Servers

PARTITIONS = 12
OWNERS = [f"owner-{number}" for number in range(40)]
MAXMEMORY = 200_000_000


@pytest.fixture
def queue(redis_servers: Servers) -> RedisServer:
    """The Redis for jobs beside a Cluster."""
    return redis_servers.get("valkey")


def opened(cluster: GivenCluster, queue: RedisServer, folder: Path) -> Any:
    return http_store(folder, redis_url=cluster.url, queue_url=queue.url, partitions=PARTITIONS, redis_timeout=2.0)


@pytest.fixture
def store(redis_cluster: GivenCluster, queue: RedisServer, tmp_path: Path) -> Iterator[HttpStore]:
    """On a cluster that stays whole."""
    with opened(redis_cluster, queue, tmp_path) as found:
        found.append(*(created("tea", owner=owner) for owner in OWNERS))
        wait_until(lambda: not status(found)["lag"], "all is folded")
        yield found


def status(store: HttpStore) -> dict[str, Any]:
    answer = store.client.get("/v1/status")
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def names(cluster: GivenCluster) -> set[str]:
    return {node.address for node in cluster.primaries()}


def test_each_node_tells_what_it_holds_its_memory_its_replicas_and_its_promise(
    store: HttpStore, redis_cluster: GivenCluster
) -> None:
    for node in redis_cluster.primaries():
        node.ask("CONFIG SET", "maxmemory", MAXMEMORY)
    told = status(store)
    nodes = {one["name"]: one for one in told["nodes"]}
    assert nodes.keys() == names(redis_cluster)
    assert sum(one["slots"] for one in nodes.values()) == SLOTS
    assert sorted(number for one in nodes.values() for number in one["partitions"]) == list(range(PARTITIONS))
    for number, tag in enumerate(store.store.identity.tags):
        holder = redis_cluster.node_of(LogKeys(tag).meta)
        assert number in nodes[holder.address]["partitions"]
    for node in redis_cluster.primaries():
        one = nodes[node.address]
        assert (one["role"], one["reachable"], one["problem"], one["fsynced"]) == ("primary", True, None, False)
        assert one["max_bytes"] == MAXMEMORY
        assert one["used_share"] == pytest.approx(one["used_bytes"] / MAXMEMORY, abs=1e-3)
        (replica,) = redis_cluster.replicas(node)
        assert [(told["name"], told["state"]) for told in one["replicas"]] == [(replica.address, "online")]
    assert (told["unreachable"], told["unread"], told["events"]) == ([], [], len(OWNERS))
    fullest = max(nodes.values(), key=lambda one: one["used_share"])
    assert told["memory"]["node"] in nodes
    assert told["memory"]["used_share"] == pytest.approx(fullest["used_share"], abs=1e-2)


def test_the_promise_of_a_node_is_what_its_own_settings_say(store: HttpStore, redis_cluster: GivenCluster) -> None:
    first, *others = redis_cluster.primaries()
    first.ask("CONFIG SET", "aof-load-truncated", "no")
    told = {one["name"]: one["fsynced"] for one in status(store)["nodes"]}
    assert told == {first.address: True} | {node.address: False for node in others}


def test_figures_are_told_by_node(store: HttpStore, redis_cluster: GivenCluster) -> None:
    for node in redis_cluster.primaries():
        node.ask("CONFIG SET", "maxmemory", MAXMEMORY)
    metrics = store.client.get("/metrics").text
    for name in names(redis_cluster):
        assert f'engramlog_node_up{{node="{name}"}} 1.0' in metrics
        assert f'engramlog_node_replicas{{node="{name}"}} 1.0' in metrics
        assert f'engramlog_node_used_share{{node="{name}"}} 0.' in metrics
    assert "engramlog_partitions_unreachable 0.0" in metrics
    assert f"engramlog_events_total {len(OWNERS)}.0" in metrics
    assert "engramlog_aof_enabled 1.0" in metrics


def test_capacity_is_told_by_node_and_the_fullest_decides(store: HttpStore, redis_cluster: GivenCluster) -> None:
    primaries = redis_cluster.primaries()
    for node, limit in zip(primaries, (MAXMEMORY, MAXMEMORY // 10, MAXMEMORY), strict=True):
        node.ask("CONFIG SET", "maxmemory", limit)
    told = store.client.get("/v1/capacity").json()
    assert [one["node"] for one in told["nodes"]] == sorted(names(redis_cluster))
    assert told["memory"]["node"] == primaries[1].address
    assert told["memory"]["max_bytes"] == MAXMEMORY // 10
    of_node = next(one for one in told["nodes"] if one["node"] == primaries[1].address)
    assert told["memory"]["events_until_full"] > of_node["events_until_full"] > 0


def test_a_node_that_is_away_is_told_with_its_partitions_and_the_others_as_ever(
    queue: RedisServer, own_cluster: GivenCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(own_cluster, queue, tmp_path) as store:
        store.append(*(created("tea", owner=owner) for owner in OWNERS))
        wait_until(lambda: not status(store)["lag"], "all is folded")
        before = status(store)
        alarms = own_cluster.node_of(ALARMS_KEY)
        gone = next(node for node in own_cluster.primaries() if node is not alarms)
        for replica in own_cluster.replicas(gone):
            own_cluster.kill(replica)
        own_cluster.kill(gone)
        told = status(store)
        node = next(one for one in told["nodes"] if one["name"] == gone.address)
        assert (node["reachable"], node["used_bytes"]) == (False, None)
        assert gone.address in node["problem"]
        (away,) = told["unreachable"]
        assert (away["node"], away["partitions"]) == (gone.address, node["partitions"])
        assert {one["partition"] for one in told["partitions"]} == set(range(PARTITIONS)) - set(away["partitions"])
        there = [one for one in before["partitions"] if one["partition"] not in away["partitions"]]
        assert told["events"] == sum(one["head"] for one in there)
        assert told["unread"] == (["workers"] if own_cluster.node_of(WORKERS_KEY) is gone else [])

        ready = store.client.get("/ready")
        assert (ready.status_code, ready.json()["unreachable"]) == (503, away["partitions"])
        metrics = store.client.get("/metrics").text
        assert f'engramlog_node_up{{node="{gone.address}"}} 0.0' in metrics
        assert f"engramlog_partitions_unreachable {len(away['partitions'])}.0" in metrics
        assert "engramlog_events_total" not in metrics
        assert "engramlog_up 1.0" in metrics

        generic.answer(store.application.operator.status())
        assert gone.address in "".join(capsys.readouterr().out.split())
        refused = store.client.get("/v1/capacity")
        assert (refused.status_code, refused.json()["node"]) == (503, gone.address)
        with pytest.raises(StoreUnavailable, match=gone.address):
            store.application.capacities.capacity()


def test_a_node_that_hangs_keeps_nothing_of_the_others_from_being_told(
    queue: RedisServer, own_cluster: GivenCluster, tmp_path: Path
) -> None:
    with opened(own_cluster, queue, tmp_path) as store:
        hung = next(node for node in own_cluster.primaries() if node is not own_cluster.node_of(ALARMS_KEY))
        own_cluster.kill(*own_cluster.replicas(hung))
        own_cluster.pause(hung)
        told = status(store)
        node = next(one for one in told["nodes"] if one["name"] == hung.address)
        assert not node["reachable"]
        assert "did not answer in time" in node["problem"]
        assert [one["partitions"] for one in told["unreachable"]] == [node["partitions"]]
        assert {one["reachable"] for one in told["nodes"] if one is not node} == {True}


def test_what_lies_on_a_node_that_is_away_is_told_as_not_read(
    queue: RedisServer, own_cluster: GivenCluster, tmp_path: Path
) -> None:
    with opened(own_cluster, queue, tmp_path) as store:
        alarms = own_cluster.node_of(ALARMS_KEY)
        own_cluster.kill(*own_cluster.replicas(alarms), alarms)
        told = status(store)
        assert "alarms" in told["unread"]
        assert told["alarms"] == []
        assert store.client.get("/ready").status_code == 503
