"""Slots that go from one node of a cluster to another, step by step, so that a test can stand in the middle of it."""

from __future__ import annotations

from tests.chaos.cast import wait_until
from tests.given.clusters.node import ClusterNode, answered
from tests.given.clusters.seen import SeenCluster

MIGRATE_MS = 60_000
BATCH = 100
"""Keys of one MIGRATE."""


class MovableCluster(SeenCluster):
    """A cluster whose slots can be moved."""

    def begin_move(self, slot: int, to: ClusterNode) -> None:
        """Open a slot on both sides: from here on who names a key of it that is not there is sent on, or asked to try again."""
        source = self.node_of(slot)
        assert source is not to, f"slot {slot} is {to}'s already"
        to.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source.node_id)
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", to.node_id)

    def move_keys(self, slot: int, count: int | None = None) -> int:
        """Carry at most `count` keys of a slot that is on its way, or all of them; how many it were."""
        source, to = self._sides(slot)
        let_in = ["AUTH", self.password] if self.password else []
        moved = 0
        while count is None or moved < count:
            asked = BATCH if count is None else min(BATCH, count - moved)
            keys = source.ask("CLUSTER", "GETKEYSINSLOT", slot, asked)
            if not keys:
                break
            source.ask("MIGRATE", to.host, to.port, "", 0, MIGRATE_MS, *let_in, "KEYS", *keys)
            moved += len(keys)
        return moved

    def end_move(self, slot: int) -> None:
        """Give a slot, all of whose keys were carried, to its new node; returns once every node that answers agrees."""
        source, to = self._sides(slot)
        others = [node for node in self.primaries() if node not in {source, to}]
        for node in (to, source, *others):
            if node.answers:
                node.ask("CLUSTER", "SETSLOT", slot, "NODE", to.node_id)
        wait_until(
            answered(lambda: all(node.view()[to.node_id].has(slot) for node in self.answering())),
            lambda: f"slot {slot} is {to}'s to all; {self.told()}",
        )

    def move(self, slot: int, to: ClusterNode) -> int:
        """Move a slot with all that lies in it; how many keys it were."""
        self.begin_move(slot, to)
        moved = self.move_keys(slot)
        self.end_move(slot)
        return moved

    def _sides(self, slot: int) -> tuple[ClusterNode, ClusterNode]:
        """Whence and whither a slot is on its way."""
        source = self.node_of(slot)
        by_id = {node.node_id: node for node in self.nodes}
        lines = source.ask("CLUSTER", "NODES").decode().splitlines()
        mine = next(line for line in lines if "myself" in line.split()[2])
        marks = [word for word in mine.split()[8:] if word.startswith(f"[{slot}->-")]
        assert marks, f"slot {slot} is not on its way: {mine}"
        return source, by_id[marks[0].rstrip("]").partition("->-")[2]]
