"""Fold workers on a cluster: partitions are shared, a node that is lost keeps no other's partitions waiting, all is folded once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engramlog_server.events.redis.server import connect
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.redis.view import RedisViews
from tests.acceptance.helpers.store import Store
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.node import ClusterNode
from tests.given.events import created, mentioned
from tests.given.samples import owner_in
from tests.integration.clusters.on_cluster import PARTITIONS, OnCluster, on_cluster
from tests.integration.live import wait_until
from tests.servers import Servers


@pytest.fixture
def store(own_cluster: GivenCluster) -> Iterator[OnCluster]:
    """A store on a cluster of its own."""
    with on_cluster(own_cluster, patience=30.0) as given:
        yield given


def held(store: OnCluster) -> dict[str, list[int]]:
    """What each worker holds."""
    return {worker.worker_id: worker.held for _, _, worker in store._running}


def flow(store: OnCluster, count: int, nth: int, partitions: list[int] | None = None) -> None:
    """So many events of one more owner of each partition."""
    for partition in range(PARTITIONS) if partitions is None else partitions:
        store.append(*store.told_of(partition, count, nth=nth))


def judged(store: OnCluster, servers: Servers) -> None:
    """All is folded once: as by one worker on one Redis, and by `verify`."""
    wait_until(store.folded)
    assert store.state() == store.state_elsewhere(servers.get("valkey").url)
    assert store.differences() == []


def test_three_workers_share_the_partitions_and_those_of_one_that_is_gone_are_folded_by_the_others(
    store: OnCluster, redis_servers: Servers
) -> None:
    for name in ("a", "b", "c"):
        store.start_worker(name, client=connect(store.cluster.url))
    wait_until(lambda: sorted(map(len, held(store).values())) == [2, 2, 2])
    flow(store, 20, 0)
    wait_until(store.folded)
    store.stop_worker("b")
    flow(store, 20, 1)
    wait_until(lambda: sorted(len(some) for name, some in held(store).items() if name != "b") == [3, 3])
    judged(store, redis_servers)


def test_while_a_primary_is_gone_what_lies_on_others_is_folded_and_all_is_folded_once_afterwards(
    store: OnCluster, redis_servers: Servers
) -> None:
    for name in ("a", "b"):
        store.start_worker(name, client=connect(store.cluster.url))
    wait_until(lambda: sorted(map(len, held(store).values())) == [3, 3])
    flow(store, 20, 0)
    victim = store.node(0)
    lost = store.lying_on(victim)
    others = [partition for partition in range(PARTITIONS) if partition not in lost]
    for replica in store.cluster.replicas(victim):
        store.cluster.kill(replica)  # nobody takes over: it is gone for as long as this test likes
    store.cluster.kill(victim)
    for nth in range(1, 6):
        flow(store, 10, nth, others)
        wait_until(lambda: all(store.folded_of(partition) for partition in others))
    raised = lambda: {(one["name"], one["subject"]) for one in store.told("alarm raised")}  # noqa: E731
    wait_until(lambda: ("cluster_waits", f"partition {lost[0]}") in raised())
    store.cluster.start_again(victim)
    flow(store, 10, 6)
    judged(store, redis_servers)
    wait_until(lambda: not store.standing())
    assert not store.told("fold stopped")


def test_a_failover_while_events_flow_loses_no_fold(store: OnCluster, redis_servers: Servers) -> None:
    for name in ("a", "b"):
        store.start_worker(name, client=connect(store.cluster.url))
    flow(store, 20, 0)
    victim = store.node(0)
    assert victim.ask("WAIT", 1, 10_000) == 1
    store.cluster.kill(victim)
    flow(store, 20, 1)
    store.cluster.await_failover(victim)
    store.cluster.start_again(victim)
    flow(store, 20, 2)
    judged(store, redis_servers)


def test_while_a_slot_is_moved_key_by_key_the_other_partitions_are_folded(
    store: OnCluster, redis_servers: Servers
) -> None:
    store.start_worker("a", client=connect(store.cluster.url))
    flow(store, 20, 0)
    wait_until(store.folded)
    others = [partition for partition in range(PARTITIONS) if partition != 0]
    slot = store.slot(0)
    store.cluster.begin_move(slot, next(node for node in store.cluster.primaries() if node is not store.node(0)))
    assert store.cluster.move_keys(slot, 3) == 3
    drops = len(store.told("worker reconnected"))
    for nth in range(1, 6):
        flow(store, 10, nth, others)
        wait_until(lambda: all(store.folded_of(partition) for partition in others))
    assert len(store.told("worker reconnected")) - drops <= 2  # what is folded elsewhere is not dropped at each try
    store.cluster.move_keys(slot)
    store.cluster.end_move(slot)
    flow(store, 10, 6)
    judged(store, redis_servers)


def test_commands_without_workers_fold_by_themselves_and_go_on_after_a_failover(own_cluster: GivenCluster) -> None:
    with open_application(Settings(redis_url=own_cluster.url, partitions=PARTITIONS)) as application:
        told = Store(application)
        owners = [owner_in(partition, PARTITIONS) for partition in range(PARTITIONS)]
        for owner in owners:
            told.tell(owner, created("coffee", "a"))
        assert [told.reader.get(owner, "a", trace=False)["memory"] for owner in owners] == ["coffee"] * PARTITIONS
        victim = own_cluster.primaries()[0]
        assert victim.ask("WAIT", 1, 10_000) == 1
        own_cluster.kill(victim)
        own_cluster.await_failover(victim)
        for owner in owners:
            told.tell(owner, mentioned("a", 1))
        assert [told.reader.get(owner, "a", trace=False)["mention_count"] for owner in owners] == [2] * PARTITIONS


def test_what_is_asked_right_after_a_failover_is_answered_from_the_new_history(store: OnCluster) -> None:
    owner, views = owner_in(0, PARTITIONS), RedisViews(store.client, store.identity.tags)

    def memories() -> list[str]:
        with views.view(owner) as (view, _):
            return sorted(one.id for one in view.columns.memories if one is not None)

    store.start_worker("a", client=connect(store.cluster.url))
    store.append(store.created(owner, "m0"), store.created(owner, "m1"))
    wait_until(store.folded)
    assert memories() == ["m0", "m1"]
    victim = store.node(0)
    (replica,) = store.cluster.replicas(victim)
    wait_until(lambda: synced(victim, replica))
    store.cluster.cut_off(replica)
    store.append(store.created(owner, "lost"))
    wait_until(store.folded)
    assert memories() == ["lost", "m0", "m1"]
    store.stop_worker("a")
    store.cluster.kill(victim)
    assert store.cluster.await_failover(victim) is replica
    assert memories() == ["m0", "m1"]
    store.be_patient(30.0)  # as another process, which had no receipt of what was lost
    store.append(store.created(owner, "m2"))
    store.start_worker("b", client=connect(store.cluster.url))
    wait_until(store.folded)
    assert memories() == ["m0", "m1", "m2"]
    views.close()


def synced(primary: ClusterNode, replica: ClusterNode) -> bool:
    """Whether a replica has all that its primary has."""
    offset: int = primary.info("replication")["master_repl_offset"]
    return bool(replica.info("replication")["slave_repl_offset"] == offset)


def test_a_primary_that_hangs_keeps_nothing_on_others_from_being_folded(
    store: OnCluster, redis_servers: Servers
) -> None:
    store.start_worker("a", client=connect(store.cluster.url))
    flow(store, 20, 0)
    wait_until(store.folded)
    victim = store.node(0)
    others = [partition for partition in range(PARTITIONS) if partition not in store.lying_on(victim)]
    for replica in store.cluster.replicas(victim):
        store.cluster.kill(replica)
    store.cluster.pause(victim)
    for nth in range(1, 6):
        flow(store, 10, nth, others)
        wait_until(lambda: all(store.folded_of(partition) for partition in others))
    store.cluster.resume(victim)
    flow(store, 10, 6)
    judged(store, redis_servers)


def test_a_worker_that_ends_while_a_node_is_gone_hands_over_what_lies_on_the_others(store: OnCluster) -> None:
    store.start_worker("a", client=connect(store.cluster.url), lease_ms=600_000)
    flow(store, 5, 0)
    wait_until(store.folded)
    victim = store.node(0)
    others = [partition for partition in range(PARTITIONS) if partition not in store.lying_on(victim)]
    for replica in store.cluster.replicas(victim):
        store.cluster.kill(replica)
    store.cluster.kill(victim)
    wait_until(lambda: held(store)["a"] == others)  # it let go of the rest, and took these anew
    store.stop_worker("a")
    store.start_worker("b", client=connect(store.cluster.url), lease_ms=600_000)
    wait_until(lambda: set(others) <= set(held(store)["b"]))
