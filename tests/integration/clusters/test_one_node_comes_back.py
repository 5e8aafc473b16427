"""One node of a cluster comes back with an older copy, while the log of erasures lies on another and is whole: nothing that was
erased is answered all the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from engramlog_server.events.partitions import ERASURES, FENCED_META, LogKeys, partition_of, spread_tags
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.ops.clock import silent
from engramlog_server.ops.keys.master import make_key_file
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.node import ClusterNode
from tests.integration.clusters.on_nodes import PARTITIONS, owners_by_node
from tests.integration.encryption.machine import AT
from tests.integration.erasure.words.test_words_copy_back import Patient
from tests.servers import Servers

TAGS = spread_tags(PARTITIONS)


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    redis_servers: Servers,
    redis_cluster: GivenCluster,
) -> Cli:
    key = tmp_path / "master-key"
    assert make_key_file(key)
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_cluster.url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    monkeypatch.setenv("ENGRAMLOG_QUEUE_URL", redis_servers.get("redis-7").url)
    return Patient(monkeypatch, capfd)


@pytest.fixture
def told(cli: Cli, redis_cluster: GivenCluster) -> tuple[ClusterNode, str]:
    """A node on which no erasure is written down, and an owner who lies there and was told three things."""
    of_erasures = redis_cluster.node_of(LogKeys(TAGS[partition_of(ERASURES, PARTITIONS)]).meta)
    owners = owners_by_node(redis_cluster, TAGS)
    node = next(one for one in owners if one is not of_erasures)
    cli("append", "-", stdin=lines([event(number, owners[node]) for number in range(3)]))
    return node, owners[node]


def copied(node: ClusterNode) -> Mapping[bytes, bytes]:
    """All that it has."""
    return {key: node.ask("DUMP", key) for key in node.ask("KEYS", "*")}


def brought_back(node: ClusterNode, copy: Mapping[bytes, bytes]) -> None:
    """It has that, and nothing else."""
    node.ask("FLUSHALL")
    for key, raw in copy.items():
        node.ask("RESTORE", key, 0, raw)


def came_back(cli: Cli, cluster: GivenCluster) -> bool:
    """Whether it stands that something erased came back, once whoever saw that a history is another has said so."""
    cli("alarms", "--clear", "receipt_lost")
    client = connect(cluster.url)
    found = RedisAlarms(WirePool(client), "test", silent)
    try:
        return "erased_came_back" in {one.name for one in found.standing()}
    finally:
        found.close()
        client.close()


def test_an_owner_is_fenced_again_before_anything_is_answered(
    cli: Cli, told: tuple[ClusterNode, str], redis_cluster: GivenCluster
) -> None:
    node, owner = told
    copy = copied(node)
    assert cli.json("erase", owner, "--yes")["verified"]
    assert not came_back(cli, redis_cluster)
    brought_back(node, copy)
    assert cli.json("list", owner, *AT, code=1)["error"] == "OwnerErased"
    assert came_back(cli, redis_cluster)
    (done,) = cli.json("erase", "--again", code=3)["certificates"]
    assert (done["verified"], done["events"]) == (True, 3)
    assert not came_back(cli, redis_cluster)


def test_words_are_wiped_again_before_anything_is_answered(
    cli: Cli, told: tuple[ClusterNode, str], redis_cluster: GivenCluster
) -> None:
    node, owner = told
    copy = copied(node)
    assert cli.json("erase", owner, "m1", "--yes")["verified"]
    kept = cli.json("list", owner, *AT)["memories"]
    assert sorted(one["id"] for one in kept) == ["m0", "m2"]
    assert not came_back(cli, redis_cluster)
    brought_back(node, copy)
    assert [one["id"] for one in cli.json("list", owner, *AT)["memories"]] == [one["id"] for one in kept]
    assert "note 1" not in cli("events", owner).out
    assert came_back(cli, redis_cluster)
    (done,) = cli.json("erase", "--again", code=3)["certificates"]
    assert done["verified"]
    assert not came_back(cli, redis_cluster)


def test_what_did_not_come_back_is_looked_for_once_and_stays_as_it_is(
    cli: Cli, told: tuple[ClusterNode, str], redis_cluster: GivenCluster
) -> None:
    _, owner = told
    assert cli.json("erase", owner, "m1", "--yes")["verified"]
    cli("list", owner, *AT)
    before = noted(redis_cluster)
    assert all(before), "each partition was looked through"
    cli("list", owner, *AT)
    assert noted(redis_cluster) == before
    assert not came_back(cli, redis_cluster)


def noted(cluster: GivenCluster) -> list[dict[bytes, bytes]]:
    """What each partition tells of having been looked through."""
    found = []
    for tag in TAGS:
        meta = cluster.node_of(LogKeys(tag).meta).ask("HGETALL", LogKeys(tag).meta)
        found.append({name: value for name, value in meta.items() if name.startswith(FENCED_META.encode())})
    return found
