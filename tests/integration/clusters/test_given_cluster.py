"""The cluster that tests are given: it can be broken and mended, and each of its facts is one."""

from __future__ import annotations

import pytest
import redis

from tests.conftest import WITH_8
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.node import ClusterNode, slot_of
from tests.servers import BASELINE, MISSING_NAMED, server_named, wheel_server

KEY = "{a}1"


def given(name: str, **options: object) -> GivenCluster:
    """A cluster on a named server."""
    binary = server_named(name)
    if binary is None:
        pytest.skip(MISSING_NAMED[name])
    return GivenCluster(binary, **options)  # type: ignore[arg-type]


def with_key(cluster: GivenCluster) -> ClusterNode:
    """The node that has the key, and has told its replica."""
    node = cluster.node_of(KEY)
    node.ask("SET", KEY, "told")
    assert node.ask("WAIT", 1, 10_000) == 1
    return node


def test_a_shared_cluster_is_whole_empty_and_has_the_baseline_s_settings(any_redis_cluster: GivenCluster) -> None:
    assert len(any_redis_cluster.primaries()) == len(any_redis_cluster.replicas()) == 3
    assert any_redis_cluster.is_whole()
    for node in any_redis_cluster.nodes:
        assert node.ask("DBSIZE") == 0
        assert node.ask("CONFIG GET", "appendfsync") == {"appendfsync": "always"}
        assert node.ask("CONFIG GET", "maxmemory-policy") == {"maxmemory-policy": BASELINE["maxmemory-policy"]}


def test_a_shared_cluster_is_emptied_for_the_next_test(redis_cluster: GivenCluster) -> None:
    node = with_key(redis_cluster)
    node.ask("CONFIG SET", "maxmemory", "100mb")
    redis_cluster.reset()
    assert node.ask("EXISTS", KEY) == 0
    assert node.ask("CONFIG GET", "maxmemory") == {"maxmemory": "0"}


@pytest.mark.parametrize("name", WITH_8)
def test_a_killed_primary_is_replaced_by_its_replica_and_comes_back_as_one(name: str) -> None:
    with given(name) as cluster:
        killed = with_key(cluster)
        (replica,) = cluster.replicas(killed)
        cluster.kill(killed)
        assert cluster.await_failover(killed) is replica
        assert cluster.node_of(KEY) is replica
        assert replica.ask("GET", KEY) == b"told"
        cluster.start_again(killed)
        cluster.await_whole()
        assert cluster.replicas(replica) == [killed]


@pytest.mark.parametrize("name", WITH_8)
def test_a_slot_is_moved_step_by_step(name: str) -> None:
    with given(name, replicas=0) as cluster:
        source = cluster.node_of(KEY)
        to = next(node for node in cluster.primaries() if node is not source)
        for number in range(5):
            source.ask("SET", f"{{a}}{number}", "told")
        slot = slot_of(KEY)
        cluster.begin_move(slot, to)
        assert cluster.move_keys(slot, 2) == 2
        assert source.ask("DBSIZE") == 3
        assert to.ask("DBSIZE") == 2
        with pytest.raises(redis.exceptions.AskError, match=str(to.port)):
            source.ask("GET", "{a}of nobody")
        halves = redis.exceptions.TryAgainError if cluster.version >= (7, 0) else redis.exceptions.AskError
        with pytest.raises(halves):
            source.ask("MGET", *(f"{{a}}{number}" for number in range(5)))
        assert cluster.node_of(slot) is source
        assert cluster.move_keys(slot) == 3
        cluster.end_move(slot)
        assert cluster.node_of(slot) is to
        assert to.ask("MGET", *(f"{{a}}{number}" for number in range(5))) == [b"told"] * 5
        with pytest.raises(redis.exceptions.MovedError, match=str(to.port)):
            source.ask("GET", KEY)


def test_a_replica_that_is_cut_off_becomes_a_primary_without_what_it_missed(own_cluster: GivenCluster) -> None:
    primary = with_key(own_cluster)
    (replica,) = own_cluster.replicas(primary)
    own_cluster.cut_off(replica)
    primary.ask("SET", "{a}missed", "told")
    assert primary.ask("WAIT", 1, 50) == 0
    own_cluster.kill(primary)
    assert own_cluster.await_failover(primary) is replica
    assert replica.ask("MGET", KEY, "{a}missed") == [b"told", None]


def test_a_replica_that_was_cut_off_is_mended(own_cluster: GivenCluster) -> None:
    primary = own_cluster.node_of(KEY)
    (replica,) = own_cluster.replicas(primary)
    own_cluster.cut_off(replica)
    own_cluster.mend(replica)
    own_cluster.await_whole()
    assert primary.ask("WAIT", 1, 10_000) == 1


def test_a_stopped_primary_is_replaced_and_follows_once_it_goes_on(own_cluster: GivenCluster) -> None:
    stopped = with_key(own_cluster)
    own_cluster.pause(stopped)
    new = own_cluster.await_failover(stopped)
    own_cluster.resume(stopped)
    own_cluster.await_whole()
    assert own_cluster.replicas(new) == [stopped]


def test_a_node_is_added_and_gets_slots_and_a_replica(own_cluster: GivenCluster) -> None:
    with_key(own_cluster)
    added = own_cluster.add_node()
    follower = own_cluster.add_node(replica_of=added)
    assert len(own_cluster.primaries()) == 3
    assert own_cluster.move(slot_of(KEY), added) == 1
    assert added in own_cluster.primaries()
    assert own_cluster.replicas(added) == [follower]
    assert added.ask("GET", KEY) == b"told"


@pytest.mark.parametrize("appendfsync", ["everysec", "none"])
def test_less_than_every_write_is_on_disk_where_it_is_asked_for(appendfsync: str) -> None:
    with GivenCluster(wheel_server(), replicas=0, appendfsync=appendfsync) as cluster:
        told = {"appendonly": "no"} if appendfsync == "none" else {"appendonly": "yes"}
        assert all(node.ask("CONFIG GET", "appendonly") == told for node in cluster.nodes)


def test_with_a_password_and_tls_nobody_is_let_in_without_both() -> None:
    with given("redis-7", replicas=1, password="pass", tls=True) as cluster:
        node = with_key(cluster)
        to = next(one for one in cluster.primaries() if one is not node)
        assert cluster.move(slot_of(KEY), to) == 1
        assert cluster.url.startswith(f"rediss+cluster://:pass@{cluster.nodes[0].address},")
        with redis.Redis(to.host, to.port, protocol=2) as plain, pytest.raises(redis.ConnectionError):
            plain.ping()
        tls = {"ssl": True, "ssl_ca_certs": str(cluster.pair.chain)} if cluster.pair else {}
        with redis.Redis(to.host, to.port, protocol=2, **tls) as stranger:
            with pytest.raises(redis.AuthenticationError):
                stranger.ping()
