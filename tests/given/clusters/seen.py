"""A cluster as its nodes see it: who owns what, who follows whom, and whether all of them agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import redis

from tests.chaos.cast import wait_until
from tests.given.clusters.node import ClusterNode, answered, slot_of
from tests.given.clusters.view import Known

if TYPE_CHECKING:
    from tests.given.access.certificates import Pair


class SeenCluster:
    """Nodes, each of which may be gone or stopped."""

    def __init__(self, password: str, pair: Pair | None) -> None:
        self.password = password
        self.pair = pair
        self.nodes: list[ClusterNode] = []

    @property
    def url(self) -> str:
        """What the product takes: every node, one after the other."""
        return self.url_of(self.nodes)

    def url_of(self, nodes: Sequence[ClusterNode]) -> str:
        """What the product takes, of these nodes alone: it asks them for the rest."""
        where = ",".join(node.address for node in nodes)
        let_in = f":{self.password}@" if self.password else ""
        if self.pair is None:
            return f"redis+cluster://{let_in}{where}"
        return f"rediss+cluster://{let_in}{where}?ssl_ca_certs={self.pair.chain}"

    def view(self) -> dict[str, Known]:
        """Id -> node, as the first node has it that answers."""
        return self.answering()[0].view()

    def answering(self) -> list[ClusterNode]:
        """The nodes that live and are not stopped."""
        return [node for node in self.nodes if node.answers]

    def primaries(self) -> list[ClusterNode]:
        """The nodes that own slots, by the first of them; also one that is gone, until another took its place."""
        view = self.view()
        owning = [node for node in self.nodes if node.node_id in view and view[node.node_id].ranges]
        return sorted(owning, key=lambda node: view[node.node_id].ranges)

    def replicas(self, of: ClusterNode | None = None) -> list[ClusterNode]:
        """The nodes that follow another one, or this one."""
        view = self.view()
        followed = {node: view[node.node_id].primary_id for node in self.nodes if node.node_id in view}
        return [node for node, primary in followed.items() if (primary == of.node_id if of is not None else primary)]

    def node_of(self, slot_or_key: int | str | bytes) -> ClusterNode:
        """The primary of a slot, or of the slot in which a key lies."""
        slot = slot_of(slot_or_key)
        return next(node for node in self.primaries() if self.view()[node.node_id].has(slot))

    def primary_of(self, replica: ClusterNode) -> ClusterNode:
        """Whom a replica follows, as it has it."""
        primary_id = replica.view()[replica.node_id].primary_id
        return next(node for node in self.nodes if node.node_id == primary_id)

    def await_whole(self) -> None:
        """Wait until every node that answers is fine with every other one, and every replica is linked but those cut off."""
        wait_until(answered(self.is_whole), lambda: f"the cluster is whole; {self.told()}")

    def is_whole(self) -> bool:
        """Whether it is so now. Raises redis.RedisError."""
        answering = self.answering()
        here = {node.node_id for node in answering}
        views = [node.view() for node in answering]
        for node, view in zip(answering, views, strict=True):
            known = {one for one, told in view.items() if not told.flags & {"fail", "fail?", "handshake", "noaddr"}}
            if not node.is_fine() or not here <= known:
                return False
        slots = [{one: told.ranges for one, told in view.items() if told.ranges} for view in views]
        roles = [{one: told.primary_id for one, told in view.items() if one in here} for view in views]
        if any(one != slots[0] for one in slots) or any(one != roles[0] for one in roles):
            return False
        return all(self._is_linked(node) for node in answering if roles[0][node.node_id] and not node.cut_off)

    def _is_linked(self, replica: ClusterNode) -> bool:
        if replica.info("replication").get("master_link_status") != "up":
            return False
        primary = self.primary_of(replica)
        return not primary.answers or replica.port in primary.linked()

    def told(self) -> str:
        """How each node sees it: for a test that waited in vain."""
        lines = []
        for node in self.nodes:
            try:
                told = node.ask("CLUSTER", "NODES").decode() if node.answers else "does not answer"
            except redis.RedisError as error:
                told = error
            lines.append(f"{node} {node.node_id}: {told}")
        return "\n".join(lines)
