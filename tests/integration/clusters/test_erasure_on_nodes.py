"""Owners of whichever node are erased, and looked for on every node: memory, slow log, files, replicas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.keys import is_tombstone
from engramlog_server.events.partitions import LogKeys, spread_tags
from engramlog_server.ops.erasure.machine import ErasureCertificate, carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.node import ClusterNode
from tests.integration.clusters.on_nodes import PARTITIONS, owners_by_node
from tests.integration.erasure.erased import BRIEF_MS, Erasing, Killed
from tests.integration.live import wait_until


def made(cluster: GivenCluster, folder: Path) -> Erasing:
    """A sealed store with an owner on every node."""
    owners = list(owners_by_node(cluster, spread_tags(PARTITIONS)).values())
    found = Erasing(cluster, folder, partitions=PARTITIONS, owners=owners)
    found.settings = found.settings.model_copy(update={"redis_server": str(cluster.binary)})  # what loads its files
    return found


@pytest.fixture
def store(redis_cluster: GivenCluster, tmp_path: Path) -> Iterator[Erasing]:
    return made(redis_cluster, tmp_path)


def erased(store: Erasing, owner: str, killed_at: str | None = None) -> ErasureCertificate | None:
    """As `engramlog erase` does; None where it was killed."""

    def probe(at: str) -> None:
        if at == killed_at:
            raise Killed

    with store.opened() as opened:
        try:
            return carry_out(
                opened, store.settings, ErasurePlan(owner, (), "objection", "asked"), probe=probe, lease_ms=BRIEF_MS
            )
        except Killed:
            return None


def test_an_owner_of_each_node_is_erased_and_nothing_is_left_anywhere(
    redis_cluster: GivenCluster, tmp_path: Path
) -> None:
    store = made(redis_cluster, tmp_path)
    for node, owner in owners_by_node(redis_cluster, store.identity.tags).items():
        done = erased(store, owner)
        assert done is not None
        assert (done.verified, done.not_proven, done.aof) == (True, [], "rewritten"), node
        assert store.is_fenced(owner)
        residue = done.residue
        assert residue is not None
        assert (residue.exit_code, residue.findings, residue.not_reached) == (0, [], [])
        assert residue.probes > 10
        assert residue.keys >= sum(one.ask("DBSIZE") for one in redis_cluster.primaries()) // 2
        assert store.is_silent(owner)
    store.agree()
    assert store.differences() == []


def test_residue_in_memory_or_the_slow_log_is_found_on_whichever_node_it_lies(
    redis_cluster: GivenCluster, tmp_path: Path
) -> None:
    store = made(redis_cluster, tmp_path)
    owners = iter(owners_by_node(redis_cluster, store.identity.tags).values())
    for node, owner in zip(redis_cluster.primaries(), owners, strict=True):
        word = next(iter(store.events(owner))).body  # holds its words
        key = own_key(redis_cluster, node)
        node.ask("SET", key, word)
        done = erased(store, owner)
        assert done is not None
        assert done.residue is not None
        assert done.residue.exit_code == 1
        assert (f"redis {node.address}", key, "word") in {
            (one.where, one.place, one.what) for one in done.residue.findings
        }
        node.ask("DEL", key)


def own_key(cluster: GivenCluster, node: ClusterNode) -> str:
    """A key that lies on a node."""
    return next(key for number in range(1_000) if cluster.node_of(key := f"somebody:{number}") is node)


def test_a_replica_whose_files_cannot_be_searched_is_no_proof(own_cluster: GivenCluster, tmp_path: Path) -> None:
    store = made(own_cluster, tmp_path)
    node, owner = next(iter(owners_by_node(own_cluster, store.identity.tags).items()))
    (replica,) = own_cluster.replicas(node)
    own_cluster.kill(replica)
    wait_until(lambda: node.view()[replica.node_id].failed)
    done = erased(store, owner)
    assert done is not None
    (told,) = done.not_proven
    assert replica.address in told
    assert done.residue is not None
    assert done.residue.exit_code == 3
    assert [replica.address in one for one in done.residue.not_reached] == [True]
    own_cluster.start_again(replica)
    own_cluster.await_whole()
    again = erased(store, owner)
    assert again is not None
    assert again.not_proven == []


def test_a_node_that_is_lost_meanwhile_stops_the_erasure_and_the_next_run_goes_on(
    own_cluster: GivenCluster, tmp_path: Path
) -> None:
    store = made(own_cluster, tmp_path)
    owners = owners_by_node(own_cluster, store.identity.tags)
    node, owner = next(iter(owners.items()))
    other = next(one for one in owners if one is not node)

    def killed(at: str) -> None:
        if at == "before files are rewritten":
            own_cluster.kill(other)

    with store.opened() as opened, pytest.raises(StoreUnavailable, match=other.address):
        carry_out(opened, store.settings, ErasurePlan(owner, (), "objection"), probe=killed, lease_ms=BRIEF_MS)
    assert store.is_fenced(owner)
    own_cluster.await_failover(other)
    own_cluster.start_again(other)
    own_cluster.await_whole()
    assert store.alarm_stands
    done = erased(store, owner)
    assert done is not None
    assert (done.verified, done.not_proven) == (True, [])
    assert not store.alarm_stands


def test_what_came_back_with_an_older_copy_is_fenced_again_on_every_node(
    redis_cluster: GivenCluster, tmp_path: Path
) -> None:
    store = made(redis_cluster, tmp_path)
    owners = owners_by_node(redis_cluster, store.identity.tags)
    with store.wire() as wire:
        before = {one: wire.call("HGET", LogKeys(store.tag(one)).secrets, one) for one in owners.values()}
    for owner in owners.values():
        assert erased(store, owner) is not None
    for node, owner in owners.items():  # as an older copy has it
        node.ask("HSET", LogKeys(store.tag(owner)).secrets, owner, before[owner])
    with store.opened() as opened:
        assert {one.name for one in opened.alarms.standing()} == {"erased_came_back"}
    with store.wire() as wire:
        for owner in owners.values():
            assert is_tombstone(wire.call("HGET", LogKeys(store.tag(owner)).secrets, owner))
    for owner in owners.values():
        assert erased(store, owner) is not None
    with store.opened() as opened:
        opened.alarms.cleared("erased_came_back", "")
    with store.opened() as opened:  # and nothing is looked through twice
        assert opened.alarms.standing() == []
