"""`engramlog seal` of a store that lies open on a cluster: no node keeps a word, in memory, in its files or in its slow log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog_server.events.errors import StoreFull
from engramlog_server.events.partitions import spread_tags
from engramlog_server.ops.encryption import seal_plan
from engramlog_server.ops.store_replacement import InUse
from tests.given.clusters.cluster import GivenCluster
from tests.integration.clusters.on_nodes import PARTITIONS, of_node, open_in_files, open_in_memory, owners_by_node
from tests.integration.live import wait_until
from tests.integration.unsealed import WORD, Unsealed
from tests.servers import wheel_server


def made(cluster: GivenCluster, folder: Path) -> Unsealed:
    """A store that lies open, with an owner on every node."""
    owners = list(owners_by_node(cluster, spread_tags(PARTITIONS)).values())
    return Unsealed(cluster, folder, partitions=PARTITIONS, owners=owners)


@pytest.fixture
def store(redis_cluster: GivenCluster, tmp_path: Path) -> Iterator[Unsealed]:
    found = made(redis_cluster, tmp_path)
    yield found
    found.client.close()


def test_no_node_keeps_a_word_and_all_is_told_as_before(redis_cluster: GivenCluster, store: Unsealed) -> None:
    before = store.told()
    with_words = {one.split()[0] for one in open_in_memory(redis_cluster, WORD)}
    assert with_words == {node.address for node in redis_cluster.primaries()}
    assert {Path(one).parts[0] for one in open_in_files(redis_cluster, WORD)} >= {
        node.address for node in redis_cluster.nodes
    }
    answer = store.seal()
    assert open_in_memory(redis_cluster, WORD) == []
    assert open_in_files(redis_cluster, WORD) == []
    assert (answer["done"], answer["aof"], answer["not_proven"]) == (True, "rewritten", [])
    assert sorted(one.split()[0] for one in answer["replicas"]) == sorted(
        node.address for node in redis_cluster.replicas()
    )
    assert store.told() == before


def test_the_slow_log_of_every_node_is_emptied(redis_cluster: GivenCluster, tmp_path: Path) -> None:
    store = made(redis_cluster, tmp_path)
    for node in redis_cluster.nodes:
        node.ask("CONFIG SET", "slowlog-log-slower-than", 0)
        node.ask("ECHO", WORD)
        node.ask("CONFIG SET", "slowlog-log-slower-than", -1)
        assert WORD in str(node.ask("SLOWLOG GET", 10))
    store.seal()
    store.client.close()
    assert [WORD in str(node.ask("SLOWLOG GET", 10)) for node in redis_cluster.nodes] == [False] * 6


def test_a_dump_of_before_goes_on_whichever_node_it_lies(redis_cluster: GivenCluster, tmp_path: Path) -> None:
    store = made(redis_cluster, tmp_path)
    node = redis_cluster.primaries()[1]
    node.ask("CONFIG SET", "rdbcompression", "no")
    node.ask("SAVE")
    assert [one for one in open_in_files(redis_cluster, WORD) if one.endswith("dump.rdb")]
    answer = store.seal()
    store.client.close()
    assert open_in_files(redis_cluster, WORD) == []
    assert "written" in answer["dump"]
    assert answer["not_proven"] == []


def test_a_node_without_room_is_found_though_the_others_have_some(redis_cluster: GivenCluster, tmp_path: Path) -> None:
    store = made(redis_cluster, tmp_path)
    for node in redis_cluster.primaries():
        used = node.info("memory")["used_memory"]
        before = {one.address: one.ask("DBSIZE") for one in redis_cluster.primaries()}
        node.ask("CONFIG SET", "maxmemory", int(used * 1.2))
        with pytest.raises(StoreFull, match="Nothing was changed"):
            store.seal()
        node.ask("CONFIG SET", "maxmemory", 0)
        assert {one.address: one.ask("DBSIZE") for one in redis_cluster.primaries()} == before
    assert seal_plan(store.store)["found"] == "open"
    store.client.close()


def test_a_connection_to_whichever_node_is_told_and_none_of_its_own(own_cluster: GivenCluster, tmp_path: Path) -> None:
    store = made(own_cluster, tmp_path)
    store.client.close()
    for node in own_cluster.nodes:
        node.hang_up()
    for node in own_cluster.primaries():
        node.hang_up()
        with of_node(node) as other:
            other.client_setname("somebody")
            with pytest.raises(InUse, match="connection") as raised:
                store.seal(alone=False, seconds=1.0)
            (named,) = [one for one in raised.value.context["others"] if one["what"] == "connection"]
            assert "somebody" in named["told"]
    for node in own_cluster.nodes:
        node.hang_up()
    assert store.seal(alone=False, seconds=60.0)["done"]


def test_a_node_that_cannot_be_reached_is_not_proven() -> None:
    with GivenCluster(wheel_server()) as cluster:
        folder = cluster.folder / "store"
        folder.mkdir()
        store = made(cluster, folder)
        replica = cluster.replicas()[0]
        cluster.kill(replica)
        wait_until(lambda: cluster.primaries()[0].view()[replica.node_id].failed)
        answer = store.seal()
        store.client.close()
        (told,) = [one for one in answer["not_proven"] if replica.address in one]
        assert "a node that is gone" in told
        assert {Path(one).parts[0] for one in open_in_files(cluster, WORD)} == {replica.address}
