"""Appends while a slot is moved, a node is lost, replicas lack what was written, and after a failover that lost events."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest

from engramlog_server.events.errors import ReceiptLost, StoreFull, UnderReplicated
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.durability import RECEIPT_LOST, Proof
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from tests.given.clusters.cluster import GivenCluster
from tests.integration.clusters.on_cluster import PARTITIONS, OnCluster, on_cluster, written
from tests.integration.live import wait_until
from tests.patience import PATIENCE
from tests.servers import MISSING_NAMED, server_named


@pytest.fixture
def store(own_cluster: GivenCluster) -> Iterator[OnCluster]:
    """A store on a cluster of its own."""
    with on_cluster(own_cluster) as given:
        yield given


def apart(store: OnCluster) -> tuple[int, int]:
    """Two partitions on two nodes."""
    there = next(partition for partition in range(PARTITIONS) if store.node(partition) is not store.node(0))
    return 0, there


def seqs(store: OnCluster, partition: int) -> list[int]:
    """Of all events of a partition."""
    return [stored.seq for stored in store.log.read(partition, 0)]


def test_while_a_slot_is_moved_key_by_key_its_partition_waits_and_the_others_are_written(store: OnCluster) -> None:
    moved, other = apart(store)
    store.append(*store.told_of(moved, 3), *store.told_of(other, 3))
    store.be_patient(0.3)
    slot = store.slot(moved)
    store.cluster.begin_move(slot, store.node(other))
    assert store.cluster.move_keys(slot, 2) == 2
    request = [*store.told_of(moved, 2), *store.told_of(other, 2)]
    told = store.log.append(request)
    assert written(told[:2]) == ["failed"]
    assert written(told[2:]) == ["appended"]
    assert all("safely" in (one.error or "") for one in told[:2])
    again = store.log.append(request)
    assert (written(again[:2]), written(again[2:])) == (["failed"], ["already_appended"])
    store.cluster.move_keys(slot)
    store.cluster.end_move(slot)
    assert (seqs(store, moved), seqs(store, other)) == (
        [1, 2, 3],
        [1, 2, 3, 4, 5],
    )  # what failed was surely not written
    last = store.log.append(request)
    assert (written(last[:2]), written(last[2:])) == (["appended"], ["already_appended"])
    assert [one.position for one in last] == [f"{moved}:4", f"{moved}:5", f"{other}:4", f"{other}:5"]
    assert seqs(store, moved) == [1, 2, 3, 4, 5]
    assert store.standing() == []


def test_while_a_slot_is_moved_what_left_and_what_stayed_is_read_at_once(store: OnCluster) -> None:
    moved, other = apart(store)
    store.append(*store.told_of(moved, 3))
    store.be_patient(0.0)
    slot = store.slot(moved)
    keys = LogKeys(store.identity.tags[moved])
    count = int(store.node(moved).ask("CLUSTER COUNTKEYSINSLOT", slot))
    store.cluster.begin_move(slot, store.node(other))
    wire = open_wire(store.client)
    for _ in range(count):
        assert store.cluster.move_keys(slot, 1) == 1
        assert seqs(store, moved) == [1, 2, 3]
        assert store.log.head(moved) == 3
        found = wire.pipeline([["HGET", keys.meta, "head"], ["XLEN", keys.stream]])
        assert found == [b"3", 3]
    store.cluster.end_move(slot)
    assert seqs(store, moved) == [1, 2, 3]
    wire.close()


def test_what_waits_longer_is_told_by_an_alarm_which_ends_with_it(store: OnCluster) -> None:
    moved, other = apart(store)
    store.append(*store.told_of(moved, 3))
    slot = store.slot(moved)
    store.cluster.begin_move(slot, store.node(other))
    assert store.cluster.move_keys(slot, 1) == 1
    store.be_patient(60.0)
    receipts = list[AppendReceipt]()
    request = store.told_of(moved, 1)
    sending = Thread(target=lambda: receipts.extend(store.log.append(request)))
    sending.start()
    wait_until(lambda: store.standing() == [("cluster_waits", f"partition {moved}")])
    store.cluster.move_keys(slot)
    store.cluster.end_move(slot)
    sending.join(PATIENCE)
    assert [one.position for one in receipts] == [f"{moved}:4"]
    assert store.standing() == []


def test_while_a_primary_is_gone_the_parts_of_others_are_written_and_its_own_once_a_replica_took_over(
    store: OnCluster,
) -> None:
    lost, other = apart(store)
    store.append(*store.told_of(lost, 2), *store.told_of(other, 2))
    victim = store.node(lost)
    store.be_patient(0.0)
    store.cluster.kill(victim)
    request = [*store.told_of(lost, 2), *store.told_of(other, 2)]
    told = store.log.append(request)
    assert (written(told[:2]), written(told[2:])) == (["failed"], ["appended"])
    store.be_patient(60.0)
    again = store.log.append(request)
    assert (written(again[:2]), written(again[2:])) == (["appended"], ["already_appended"])
    assert store.cluster.await_failover(victim) is store.node(lost)
    assert seqs(store, lost) == [1, 2, 3, 4]


def test_where_memory_is_bounded_a_lost_node_keeps_the_others_from_nothing(store: OnCluster) -> None:
    lost, other = apart(store)
    store.append(*store.told_of(lost, 2), *store.told_of(other, 2))
    for node in store.cluster.nodes:
        node.ask("CONFIG", "SET", "maxmemory", str(200 << 20))
    store.be_patient(0.0)
    assert written(store.log.append(store.told_of(other, 1))) == ["appended"]
    store.cluster.kill(store.node(lost))
    store.be_patient(0.0)  # which looks anew how much room there is
    assert written(store.log.append(store.told_of(other, 1))) == ["appended"]


def test_a_node_that_is_full_refuses_its_own_part_and_keeps_the_others_from_nothing(store: OnCluster) -> None:
    full, other = apart(store)
    store.append(*store.told_of(full, 2), *store.told_of(other, 2))
    store.node(full).ask("CONFIG", "SET", "maxmemory", "1")
    store.node(other).ask("CONFIG", "SET", "maxmemory", str(200 << 20))
    store.be_patient(5.0)  # which looks anew how much room there is
    request = [*store.told_of(full, 2), *store.told_of(other, 1)]
    told = store.log.append(request)
    assert (written(told[:2]), written(told[2:])) == (["failed"], ["appended"])
    assert all("maxmemory" in (one.error or "") for one in told[:2])
    with pytest.raises(StoreFull):
        store.log.append(request[:2])
    assert (seqs(store, full), seqs(store, other)) == ([1, 2], [1, 2, 3])
    store.node(full).ask("CONFIG", "SET", "maxmemory", "0")
    store.be_patient(5.0)
    again = store.log.append(request)
    assert (written(again[:2]), written(again[2:])) == (["appended"], ["already_appended"])
    assert seqs(store, full) == [1, 2, 3, 4]


def test_what_a_stopped_replica_lacks_is_not_proved_and_is_once_it_goes_on(store: OnCluster) -> None:
    partition, _ = apart(store)
    log = store.another_log(Proof(replicas=1, timeout_ms=200))
    assert [one.replicas for one in log.append(store.told_of(partition, 1))] == [1]
    (replica,) = store.cluster.replicas(store.node(partition))
    store.cluster.pause(replica)
    request = store.told_of(partition, 2)
    for _ in range(2):  # said again, also of what is known by now
        with pytest.raises(UnderReplicated) as refused:
            log.append(request)
        assert [one["replicas"] for one in refused.value.context["receipts"]] == [0, 0]
    store.cluster.resume(replica)
    proved: list[AppendReceipt] = []

    def is_proved() -> bool:
        try:
            proved[:] = log.append(request)
        except UnderReplicated:
            return False
        return True

    wait_until(is_proved)
    assert [(one.status, one.replicas) for one in proved] == [("already_appended", 1)] * 2
    assert seqs(store, partition) == [1, 2, 3]
    log.close()


def test_what_a_part_elsewhere_suffers_takes_no_proof_from_another(store: OnCluster) -> None:
    moved, other = apart(store)
    store.be_patient(0.0)
    log = store.another_log(Proof(replicas=1, timeout_ms=1_000))
    log.append([*store.told_of(moved, 1), *store.told_of(other, 1)])
    slot = store.slot(moved)
    store.cluster.begin_move(slot, store.node(other))
    assert store.cluster.move_keys(slot, 1) == 1
    told = log.append([*store.told_of(moved, 1), *store.told_of(other, 1)])
    assert [(one.status, one.replicas) for one in told] == [("failed", 0), ("appended", 1)]
    log.close()


def test_a_proof_is_not_told_where_the_write_that_it_would_cover_is_refused(store: OnCluster) -> None:
    partition, _ = apart(store)
    request = store.told_of(partition, 1)
    (known,) = store.log.append(request)
    assert known.replicas == 0
    (replica,) = store.cluster.replicas(store.node(partition))
    store.cluster.pause(replica)
    node = store.node(partition)
    node.ask("CONFIG SET", "maxmemory", 1)
    log = store.another_log(Proof(replicas=1, timeout_ms=100))
    with pytest.raises(UnderReplicated) as refused:
        _sent_past_admission(log, request)
    assert [one["replicas"] for one in refused.value.context["receipts"]] == [0]
    node.ask("CONFIG SET", "maxmemory", 0)
    store.cluster.resume(replica)
    log.close()


def _sent_past_admission(log: Any, request: Any) -> None:
    """Admission would refuse before."""
    log._admission.refused = lambda *_, **__: {}
    log.append(request)


def test_after_a_failover_that_lost_what_was_acknowledged_nothing_is_appended_there_until_an_operator_has_looked(
    store: OnCluster,
) -> None:
    lost, other = apart(store)
    store.append(*store.told_of(lost, 2), *store.told_of(other, 1))
    victim = store.node(lost)
    assert victim.ask("WAIT", 1, 10_000) == 1
    (replica,) = store.cluster.replicas(victim)
    wait_until(
        lambda: replica.info("replication")["slave_repl_offset"] == victim.info("replication")["master_repl_offset"]
    )
    store.cluster.cut_off(replica)
    store.append(*store.told_of(lost, 2))
    store.cluster.kill(victim)
    assert store.cluster.await_failover(victim) is replica
    request = [*store.told_of(lost, 1), *store.told_of(other, 1)]
    told = wait_until(lambda: store.try_append(*request))
    assert (written(told[:1]), written(told[1:])) == (["failed"], ["appended"])
    assert "came back with another history" in (told[0].error or "")
    assert (RECEIPT_LOST, str(lost)) in store.standing()
    assert seqs(store, lost) == [1, 2]
    with pytest.raises(ReceiptLost):
        store.log.append(request[:1])
    store.alarms.acknowledged(RECEIPT_LOST, str(lost), "test")
    (last,) = store.log.append(request[:1])
    assert last.position == f"{lost}:3"


def test_who_waits_for_what_follows_hears_of_the_nodes_that_are_there(store: OnCluster) -> None:
    lost, other = apart(store)
    store.append(*store.told_of(lost, 1), *store.told_of(other, 1))
    heads = {lost: 1, other: 1}
    assert store.log.wait_beyond(heads, 0.05) == []
    heard: list[int] = []
    waiting = Thread(target=lambda: heard.extend(store.another_log().wait_beyond(heads, 60.0)))
    waiting.start()
    store.append(*store.told_of(other, 1))
    waiting.join(PATIENCE)
    assert heard == [other]
    store.cluster.kill(store.node(lost))
    assert store.log.wait_beyond(heads, 5.0) == [other]


def test_a_cluster_that_asks_for_a_password_and_speaks_tls_alone_takes_appends_and_folds() -> None:
    binary = server_named("redis-7")
    if binary is None:
        pytest.skip(MISSING_NAMED["redis-7"])
    with GivenCluster(binary, password="of-the-test", tls=True) as cluster, on_cluster(cluster) as store:
        store.start_worker("a", client=connect(cluster.url))
        for partition in range(PARTITIONS):
            store.append(*store.told_of(partition, 3))
        wait_until(store.folded)
        victim = store.node(0)
        assert victim.ask("WAIT", 1, 10_000) == 1
        cluster.kill(victim)
        cluster.await_failover(victim)
        store.append(*store.told_of(0, 3))
        wait_until(store.folded)
