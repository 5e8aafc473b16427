"""Owners of whichever node are erased, and looked for on every node: memory, slow log, files, replicas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from events.errors import StoreUnavailable
from events.partitions import LogKeys, spread_tags
from events.sealing.seals import is_tombstone
from ops.erasing.owner import ErasureCertificate, ErasurePlan, carry_out
from ops.erasing.proof import note, prove
from ops.erasing.report import Audit
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.node import ClusterNode
from tests.integration.clusters.on_nodes import PARTITIONS, owners_by_node
from tests.integration.erasing.erased import BRIEF_MS, Erasing, Killed
from tests.integration.live import wait_until


def made(cluster: GivenCluster, folder: Path) -> Erasing:
    """A sealed store with an owner on every node."""
    owners = list(owners_by_node(cluster, spread_tags(PARTITIONS)).values())
    found = Erasing(cluster, folder, partitions=PARTITIONS, owners=owners)
    found.settings = found.settings.model_copy(update={"redis_server": str(cluster.binary)})  # what loads its files
    return found


@pytest.fixture
def store(any_redis_cluster: GivenCluster, tmp_path: Path) -> Iterator[Erasing]:
    return made(any_redis_cluster, tmp_path)


def erased(store: Erasing, owner: str, killed_at: str | None = None) -> ErasureCertificate | None:
    """As `engramlog erase` does, with what is to be looked for noted before; None where it was killed."""

    def probe(at: str) -> None:
        if at == killed_at:
            raise Killed

    with store.opened() as opened:
        try:
            return carry_out(
                opened,
                store.settings,
                ErasurePlan(owner, "objection", "asked"),
                gather=lambda erasure: _noted(note(opened, store.settings, owner, erasure)),
                probe=probe,
                lease_ms=BRIEF_MS,
            )
        except Killed:
            return None


def _noted(why: str | None) -> None:
    assert why is None, why


def audited(store: Erasing, erasure: str, backups: tuple[Path, ...] = ()) -> Audit:
    """As `engramlog erase --audit` does."""
    with store.opened() as opened:
        return prove(opened, store.settings, erasure, backups)


def test_an_owner_of_each_node_is_erased_and_nothing_is_left_anywhere(
    any_redis_cluster: GivenCluster, tmp_path: Path
) -> None:
    store = made(any_redis_cluster, tmp_path)
    for node, owner in owners_by_node(any_redis_cluster, store.identity.tags).items():
        done = erased(store, owner)
        assert done is not None
        assert (done.verified, done.not_proven, done.aof) == (True, [], "rewritten"), node
        assert store.is_fenced(owner)
        told = audited(store, done.erasure)
        assert (told.exit_code, told.findings, told.unreached) == (0, [], []), told.lines
        looked = {one.where for one in told.looked}
        assert {f"redis {one.address}" for one in any_redis_cluster.primaries()} <= looked
        for one in any_redis_cluster.nodes:
            assert any(str(one.folder) in where for where in looked), one
        assert store.is_silent(owner)
    store.agree()
    assert store.differences() == []


def test_until_files_are_rewritten_the_audit_finds_the_owner_on_its_node_and_on_the_replica(
    any_redis_cluster: GivenCluster, tmp_path: Path
) -> None:
    store = made(any_redis_cluster, tmp_path)
    node, owner = list(owners_by_node(any_redis_cluster, store.identity.tags).items())[1]
    (replica,) = any_redis_cluster.replicas(node)
    assert erased(store, owner, killed_at="before files are rewritten") is None
    (erasure,) = {one.erasure for one in store.listed()}
    told = audited(store, erasure)
    assert told.exit_code == 1
    where = {one.where for one in told.findings}
    assert any(str(node.folder) in one for one in where)
    assert any(str(replica.folder) in one for one in where)
    assert not any(one.startswith("redis ") for one in where), "in memory nothing is left"
    done = erased(store, owner)
    assert done is not None
    assert done.erasure == erasure
    assert audited(store, erasure).exit_code == 0


def test_residue_in_memory_or_the_slow_log_is_found_on_whichever_node_it_lies(
    redis_cluster: GivenCluster, tmp_path: Path
) -> None:
    store = made(redis_cluster, tmp_path)
    owner = next(iter(owners_by_node(redis_cluster, store.identity.tags).values()))
    word = next(iter(store.events(owner))).body  # holds its words
    done = erased(store, owner)
    assert done is not None
    for node in redis_cluster.primaries():
        key = own_key(redis_cluster, node)
        node.ask("SET", key, word)
        (hit,) = [one for one in audited(store, done.erasure).findings if one.where == f"redis {node.address}"]
        assert hit.what == "word"
        node.ask("DEL", key)
    for node in redis_cluster.nodes:
        node.ask("CONFIG SET", "slowlog-log-slower-than", 0)
        node.ask("ECHO", word)
        node.ask("CONFIG SET", "slowlog-log-slower-than", -1)
        found = [one for one in audited(store, done.erasure).findings if one.where == f"redis {node.address}"]
        assert {(one.place, one.what) for one in found} == {("SLOWLOG", "word")}, node
        node.ask("SLOWLOG RESET")


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
    found = audited(store, done.erasure)
    assert found.exit_code == 3
    assert [one.where for one in found.unreached] == [f"redis {replica.address}"]
    backup = audited(store, done.erasure, (replica.folder,))
    assert backup.exit_code == 1, "its files hold what they held"
    own_cluster.start_again(replica)
    own_cluster.await_whole()
    again = erased(store, owner)
    assert again is not None
    assert again.not_proven == []
    assert audited(store, done.erasure).exit_code == 0


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
        carry_out(
            opened,
            store.settings,
            ErasurePlan(owner, "objection"),
            gather=lambda erasure: _noted(note(opened, store.settings, owner, erasure)),
            probe=killed,
            lease_ms=BRIEF_MS,
        )
    assert store.is_fenced(owner)
    own_cluster.await_failover(other)
    own_cluster.start_again(other)
    own_cluster.await_whole()
    assert store.alarm_stands
    done = erased(store, owner)
    assert done is not None
    assert (done.verified, done.not_proven) == (True, [])
    assert audited(store, done.erasure).exit_code == 0
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
