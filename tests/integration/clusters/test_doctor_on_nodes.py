"""`engramlog doctor` of a cluster: each node is looked at, the worst is told with its name; and what holds them together."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramlog_server.ops.keys.master import make_key_file
from tests.acceptance.helpers.cli import Cli
from tests.given.clusters.cluster import GivenCluster
from tests.integration.live import wait_until
from tests.integration.ops.doctor.test_doctor_folder import found
from tests.servers import Servers, wheel_server


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, redis_servers: Servers
) -> Cli:
    key = tmp_path / "master-key"
    assert make_key_file(key)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    monkeypatch.setenv("ENGRAMLOG_QUEUE_URL", redis_servers.get("valkey").url)
    return Cli(monkeypatch, capfd)


@pytest.fixture
def on(cli: Cli, redis_cluster: GivenCluster, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A store on a cluster that keeps what it is told."""
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_cluster.url)
    for node in redis_cluster.nodes:
        node.ask("CONFIG SET", "aof-load-truncated", "no")
    cli("add", "ada", "Ada likes coffee")
    return cli


def test_a_sound_cluster_has_nothing_wrong(on: Cli, redis_cluster: GivenCluster) -> None:
    told = found(on)
    for check in ("version", "durability", "last writes", "memory", "replicas"):
        assert told["redis", check]["result"] == "ok", told["redis", check]
    assert told["redis", "durability"]["found"].endswith(", on each of 3 nodes")
    for check in ("nodes", "slots", "failover", "coverage"):
        assert told["cluster", check]["result"] == "ok", told["cluster", check]
    assert told["clock", "redis clock"]["found"].endswith(", on each of 3 nodes")


def test_one_node_of_three_that_keeps_less_is_told_by_name(on: Cli, redis_cluster: GivenCluster) -> None:
    for node in redis_cluster.primaries():
        node.ask("CONFIG SET", "appendfsync", "everysec")
        told = found(on)["redis", "appendfsync"]
        assert (told["result"], told["found"].startswith(f"{node.address}: ")) == ("advice", True)
        node.ask("CONFIG SET", "appendfsync", "always")
        used = node.info("memory")["used_memory"]
        node.ask("CONFIG SET", "maxmemory", int(used * 1.25))
        told = found(on)["redis", "memory"]
        assert (told["result"], told["found"].startswith(f"{node.address}: ")) == ("advice", True)
        node.ask("CONFIG SET", "maxmemory", 0)


def test_what_makes_all_stop_for_one_is_advised_about(on: Cli, redis_cluster: GivenCluster) -> None:
    node = redis_cluster.primaries()[1]
    node.ask("CONFIG SET", "cluster-require-full-coverage", "yes")
    told = found(on)["cluster", "coverage"]
    node.ask("CONFIG SET", "cluster-require-full-coverage", "no")
    assert told["result"] == "advice"
    assert node.address in told["found"]


def test_a_slot_on_its_way_is_told(on: Cli, redis_cluster: GivenCluster) -> None:
    source, to, *_ = redis_cluster.primaries()
    slot = next(number for number in range(16_384) if redis_cluster.node_of(number) is source)
    redis_cluster.begin_move(slot, to)
    told = found(on)["cluster", "slots"]
    for node in (source, to):
        node.ask("CLUSTER", "SETSLOT", slot, "STABLE")
    assert (told["result"], told["found"][:2]) == ("advice", "1 ")


def test_a_node_without_a_replica_and_one_that_is_gone_are_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with GivenCluster(wheel_server()) as cluster:
        monkeypatch.setenv("ENGRAMLOG_REDIS_URL", cluster.url)
        cli("add", "ada", "Ada likes coffee")
        node = cluster.primaries()[0]
        (replica,) = cluster.replicas(node)
        cluster.kill(replica)
        wait_until(lambda: all(one.view()[replica.node_id].failed for one in cluster.answering()))
        told = found(cli, code=1)
        assert (told["cluster", "nodes"]["result"], replica.address in told["cluster", "nodes"]["found"]) == (
            "wrong",
            True,
        )
        assert (told["cluster", "failover"]["result"], node.address in told["cluster", "failover"]["found"]) == (
            *("advice", True),
        )
        cluster.kill(node)
        wait_until(lambda: all(one.view()[node.node_id].failed for one in cluster.answering()))
        told = found(cli, code=1)
        assert told["cluster", "slots"]["result"] == "wrong"
        assert (told["redis", "answers"]["result"], node.address in told["redis", "answers"]["found"]) == (
            "wrong",
            True,
        )
        assert told["redis", "version"]["result"] == "ok"


def test_a_password_that_a_node_does_not_ask_for_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with GivenCluster(wheel_server(), password="fjord-otter-42") as cluster:
        monkeypatch.setenv("ENGRAMLOG_REDIS_URL", cluster.url.replace("://:", "://default:"))
        cli("add", "ada", "Ada likes coffee")
        assert found(cli)["redis", "password"]["result"] == "ok"
        node = cluster.primaries()[2]
        node.ask("ACL", "SETUSER", "default", "nopass")
        told = found(cli)["redis", "password"]
        assert (told["result"], told["found"].startswith(f"{node.address}: ")) == ("advice", True)
