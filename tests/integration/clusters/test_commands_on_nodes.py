"""What operators ask a store on a cluster, each command once: right of the whole, whatever lies on which node."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramlog_server.events.partitions import STORE_KEY, spread_tags
from engramlog_server.ops.keys.master import make_key_file
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.given.clusters.cluster import GivenCluster
from tests.integration.clusters.on_nodes import PARTITIONS, owners_by_node
from tests.integration.encryption.machine import AT
from tests.servers import Servers


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
    monkeypatch.setenv("ENGRAMLOG_REDIS_SERVER", str(redis_cluster.binary))
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    monkeypatch.setenv("ENGRAMLOG_QUEUE_URL", redis_servers.get("valkey").url)
    monkeypatch.setenv("ENGRAMLOG_KEYS_BACKUP", str(tmp_path / "keys"))
    return Cli(monkeypatch, capfd)


@pytest.fixture
def owners(cli: Cli, redis_cluster: GivenCluster) -> list[str]:
    """Of each node one, who were told three things."""
    found = list(owners_by_node(redis_cluster, spread_tags(PARTITIONS)).values())
    said = [event(100 * at + n, owner) for at, owner in enumerate(found) for n in range(3)]
    cli("append", "-", stdin=lines(said))
    return found


def test_counts_are_of_all_nodes(cli: Cli, owners: list[str], redis_cluster: GivenCluster) -> None:
    status = cli.json("status")
    assert (status["events"], status["memories"], status["lag"]) == (9, 9, 0)
    assert sorted(one["owner"] for one in cli.json("status", "--owners")["owners"]) == sorted(owners)
    assert cli.json("stats")["memories"] == 9
    told = cli.json("status", "--capacity")
    sizes = [node.info("persistence")["aof_current_size"] for node in redis_cluster.primaries()]
    assert told["events"] == 9
    assert max(sizes) < told["aof"]["bytes"]
    assert told["aof"]["enabled"]
    used = [node.info("memory")["used_memory"] for node in redis_cluster.primaries()]
    assert min(used) / 1.5 < told["memory"]["used_bytes"] < 1.5 * max(used), "of the fullest node"
    assert {one["node"] for one in told["nodes"]} == {node.address for node in redis_cluster.primaries()}
    node = redis_cluster.primaries()[2]
    node.ask("CONFIG SET", "appendonly", "no")
    assert not cli.json("status", "--capacity")["aof"]["enabled"], "where one node keeps no file"


def test_verify_heads_and_a_rebuild(cli: Cli, owners: list[str]) -> None:
    before = [listed(cli, owner) for owner in owners]
    heads = cli.json("verify", "--heads")
    assert cli.json("verify")["ok"]
    done = cli.json("rebuild")
    assert sorted(one["partition"] for one in done["switched"]) == list(range(PARTITIONS))
    assert cli.json("verify")["ok"]
    assert [listed(cli, owner) for owner in owners] == before
    assert [one["chain"] for one in cli.json("verify", "--heads")["heads"]] == [one["chain"] for one in heads["heads"]]


def listed(cli: Cli, owner: str) -> list[str]:
    """An owner's memories, by id, with what they say."""
    found = [f"{one['id']} {one['memory']}" for one in cli.json("list", owner, *AT)["memories"]]
    assert len(found) == 3
    return sorted(found)


@pytest.mark.usefixtures("owners")
def test_keys_of_owners_on_every_node_are_wrapped_anew(cli: Cli) -> None:
    old = cli.json("master-key", "--rotate")["before"]
    assert cli.json("master-key", "--rewrap")["unopened"] == 0
    assert cli.json("master-key")["droppable"] == [old]
    assert cli.json("verify")["ok"]


def test_keys_are_saved_and_brought_back_but_what_was_erased(
    cli: Cli, owners: list[str], redis_cluster: GivenCluster, tmp_path: Path
) -> None:
    made = tmp_path / "backup"
    cli.json("backup", "make", str(made))
    erased, word, kept = owners
    certificate = cli.json("erase", erased, "--yes")
    assert (certificate["not_proven"], certificate["residue"]["exit_code"]) == ([], 0)
    words = cli.json("erase", word, "m101", "--yes")
    assert words["residue"]["exit_code"] == 0, words["residue"]
    for node in redis_cluster.primaries():  # the machines are lost
        node.ask("FLUSHALL")
        node.hang_up()
    answer = cli.json("backup", "restore", str(made), "--yes", "--alone")["keys"]
    assert answer["newer_than_keys"] == 0
    cli.json("backup", "take-over", "--yes")
    assert cli.json("list", erased, code=1)["error"] == "OwnerErased"
    assert listed(cli, kept)
    for one in cli.json("erase", "--again", code=3)["certificates"]:  # what was noted of them was proven before
        assert one["verified"]
    assert cli.json("verify")["ok"]


def test_what_cannot_be_is_refused_by_name(cli: Cli, owners: list[str], redis_cluster: GivenCluster) -> None:
    node = redis_cluster.node_of(STORE_KEY)
    node.ask("HSET", STORE_KEY, "format", "1")
    assert cli.json("list", owners[0], code=1)["error"] == "OtherFormat"
