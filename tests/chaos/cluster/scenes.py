"""The scenes on a cluster: each strikes in the middle of events that flow, is mended, and judged by the book."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.cast import wait_until
from tests.chaos.cluster.ground import ClusterGround, Safety, on_a_cluster
from tests.chaos.cluster.verdict import ClusterVerdict, judge_cluster
from tests.given.clusters.node import ClusterNode, slot_of

BACKLOG = 400
"""Events of a partition that nobody folded yet, when its slot is opened."""
MISSED = 20
"""Events, or refusals, that a replica misses before its primary is gone."""


@dataclass(frozen=True, slots=True)
class ClusterScene:
    """One fault. `strike`: in the middle of events that flow; it ends with all that was broken mended."""

    name: str
    strike: Callable[[ClusterGround], None]
    failover: bool
    """Whether a replica becomes a primary."""


def play(
    scene: ClusterScene, binary: Path, folder: Path, safety: Safety, seed: int, *, under_up: bool = False
) -> ClusterVerdict:
    """Play a scene in an empty folder, on a cluster of its own. Raises AssertionError where it does not settle.

    `under_up`: `engramlog up` folds, which keeps heads outside of Redis and looks whether they still hold; else a lone worker.
    """
    with on_a_cluster(binary, folder, safety, seed) as ground:
        if under_up:
            ground.up()
        else:
            ground.worker()
        ground.flows()
        scene.strike(ground)
        ground.goes_on()
        ground.settled()
        standing = ground.standing()
        verdict = judge_cluster(ground, failover=scene.failover)
        verdict.wrong += [f"the alarm {alarm.name} of {alarm.subject} does not end: {alarm.text}" for alarm in standing]
        code, answer = ground.command("verify")
        if (code, answer["ok"]) != (0, True):
            verdict.wrong.append(f"verify ends with {code}: {answer.get('differences', answer)}")
        return verdict


def _victim(ground: ClusterGround) -> ClusterNode:
    """A primary with most partitions on it."""
    return max(ground.cluster.primaries(), key=lambda node: len(ground.partitions_of(node)))


def _replaced(ground: ClusterGround, victim: ClusterNode) -> None:
    """Wait until a replica took over, and start what was killed: it follows now."""
    new = ground.cluster.await_failover(victim)
    if new.cut_off:
        ground.cluster.mend(new)
    ground.cluster.start_again(victim)
    ground.cluster.await_whole()


def a_primary_killed(ground: ClusterGround) -> None:
    """SIGKILL of a primary whose replica is linked."""
    victim = _victim(ground)
    ground.strikes(ground.partitions_of(victim))
    ground.cluster.kill(victim)
    _replaced(ground, victim)


def a_replica_cut_off(ground: ClusterGround) -> None:
    """A replica gets nothing any more, producers go on, and then its primary is killed: what it missed is gone."""
    victim, book = _victim(ground), ground.book
    (replica,) = ground.cluster.replicas(victim)
    partitions = ground.partitions_of(victim)
    ground.cluster.cut_off(replica)
    before = sum(map(book.told_of, partitions)) if not ground.safety.replicas else book.unproved
    missed = MISSED if not ground.safety.replicas else MISSED // 4

    def has_missed() -> bool:
        now = sum(map(book.told_of, partitions)) if not ground.safety.replicas else book.unproved
        return now >= before + missed

    wait_until(has_missed, "a replica missed something")
    ground.strikes(partitions)
    ground.cluster.kill(victim)
    _replaced(ground, victim)


def slots_moved(ground: ClusterGround) -> None:
    """The slots of two partitions go to another primary, key by key, while both are appended to and folded."""
    source = _victim(ground)
    to = next(node for node in ground.cluster.primaries() if node is not source)
    moving = ground.partitions_of(source)[:2]
    ground.strikes(moving)
    for partition in moving:
        _move_key_by_key(ground, partition, to)


def a_node_added(ground: ClusterGround) -> None:
    """A primary with a replica joins, and gets the slots of two partitions."""
    added = ground.cluster.add_node()
    ground.cluster.add_node(replica_of=added)
    moving = ground.partitions_of(_victim(ground))[:2]
    ground.strikes(moving)
    for partition in moving:
        _move_key_by_key(ground, partition, added)


def a_backlog_folded_on_the_move(ground: ClusterGround) -> None:
    """The worker sleeps while much is appended to two partitions, and wakes once their slots are on their way: what it commits then
    meets keys that are made anew in the middle of a script, which a slot on its way refuses."""
    (worker,) = ground.workers
    source = _victim(ground)
    to = next(node for node in ground.cluster.primaries() if node is not source)
    moving = ground.partitions_of(source)[:2]
    worker.stop()
    before = {p: ground.head(p) for p in moving}
    wait_until(lambda: all(ground.head(p) >= before[p] + BACKLOG for p in moving), "a backlog grows")
    ground.strikes(moving)
    slots = [slot_of(ground.tag(p)) for p in moving]
    for slot in slots:
        ground.cluster.begin_move(slot, to)
    worker.wake()
    others = [p for p in range(len(ground.tags)) if p not in moving]
    heads = {p: ground.head(p) for p in others}
    wait_until(lambda: all(ground.checkpoint(p) >= heads[p] for p in others), "others are folded")
    for slot in slots:
        ground.cluster.move_keys(slot)
        ground.cluster.end_move(slot)


def _move_key_by_key(ground: ClusterGround, partition: int, to: ClusterNode) -> None:
    slot = slot_of(ground.tag(partition))
    others = [p for p in range(len(ground.tags)) if p != partition]
    ground.cluster.begin_move(slot, to)
    moved = ground.cluster.move_keys(slot, 3)
    assert moved == 3, "a slot has several keys"
    before = sum(map(ground.book.told_of, others))
    wait_until(
        lambda: sum(map(ground.book.told_of, others)) > before, "others go on while a slot lies half here, half there"
    )
    while ground.cluster.move_keys(slot, 1):
        """Key by key."""
    ground.cluster.end_move(slot)


def a_primary_and_a_worker_killed(ground: ClusterGround) -> None:
    """SIGKILL of a primary and of the one fold worker, at once; another worker begins."""
    victim = _victim(ground)
    ground.strikes(ground.partitions_of(victim))
    ground.cluster.kill(victim)
    ground.end_workers()
    ground.worker()
    _replaced(ground, victim)


def a_node_left_dead(ground: ClusterGround) -> None:
    """SIGKILL of a primary that nobody starts again for a while: who took over has no replica, and an alarm says so where appends
    wait for one; all others go on."""
    victim = _victim(ground)
    struck = ground.partitions_of(victim)
    others = [partition for partition in range(len(ground.tags)) if partition not in struck]
    ground.strikes(struck)
    ground.cluster.kill(victim)
    ground.cluster.await_failover(victim)
    before = sum(map(ground.book.told_of, others))
    wait_until(lambda: sum(map(ground.book.told_of, others)) > before + MISSED, "others go on beside a dead node")
    if ground.safety.replicas:
        wait_until(lambda: "replicas_lacking" in ground.alarms_told(), "it is told that a replica is lacking")
        unproved = ground.book.unproved
        wait_until(lambda: ground.book.unproved > unproved, "what is written there is not proved")
    ground.cluster.start_again(victim)
    ground.cluster.await_whole()
    wait_until(lambda: not ground.alarms_told(), "nothing is lacking any more")


CLUSTER_SCENES = (
    ClusterScene("a primary killed", a_primary_killed, failover=True),
    ClusterScene("a replica cut off, then its primary killed", a_replica_cut_off, failover=True),
    ClusterScene("slots moved", slots_moved, failover=False),
    ClusterScene("a backlog folded on the move", a_backlog_folded_on_the_move, failover=False),
    ClusterScene("a node added", a_node_added, failover=False),
    ClusterScene("a primary and a worker killed", a_primary_and_a_worker_killed, failover=True),
    ClusterScene("a node left dead", a_node_left_dead, failover=True),
)
SAFETIES = tuple(Safety(appendfsync, replicas) for appendfsync in ("always", "everysec") for replicas in (0, 1))
