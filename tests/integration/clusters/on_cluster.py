"""A store on a real cluster for a test that breaks it: owners by partition, partitions by node, and a fold elsewhere to compare."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.alarms import Alarms
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.cluster import ClusterClient
from engramlog_server.events.redis.durability import UNPROVED, Proof
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import Wire, WirePool, open_wire
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.store import read_checkpoint
from engramlog_server.projections.redis.usage import FoldDebt
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.node import ClusterNode, slot_of
from tests.given.samples import owner_in
from tests.integration.live import Live

PARTITIONS = 6


class OnCluster(Live):
    """See `Live`. `patience`: how long an append waits for what cannot be carried out yet."""

    def __init__(self, cluster: GivenCluster, *, patience: float = 5.0) -> None:
        super().__init__(cluster.url, PARTITIONS)
        self.cluster = cluster
        self.alarms = RedisAlarms(WirePool(self.client), "tester", self._told)
        self.be_patient(patience)

    def another_log(self, proof: Proof = UNPROVED) -> RedisEventLog:
        """A log with alarms, as another process has."""
        alarms: Alarms = self.alarms
        debt = FoldDebt(self.identity.tags)
        return RedisEventLog(self.client, self.identity.tags, alarms=alarms, proof=proof, read_debt=debt)

    def be_patient(self, seconds: float) -> None:
        """Have appends wait so long from here on."""
        assert isinstance(self.client, ClusterClient)
        self.client.patience = seconds
        self.log.close()
        self.log = self.another_log()

    def slot(self, partition: int) -> int:
        """Where a partition lies."""
        return slot_of(LogKeys(self.identity.tags[partition]).meta)

    def node(self, partition: int) -> ClusterNode:
        """Who has a partition now."""
        return self.cluster.node_of(self.slot(partition))

    def lying_on(self, node: ClusterNode) -> list[int]:
        """The partitions of a node."""
        return [partition for partition in range(PARTITIONS) if self.node(partition) is node]

    def told_of(self, partition: int, count: int, *, nth: int = 0) -> list[Prepared]:
        """Events of one owner of a partition."""
        owner = owner_in(partition, PARTITIONS, nth=nth)
        return [self.created(owner, f"m{number}") for number in range(count)]

    def standing(self) -> list[tuple[str, str]]:
        """Names and subjects of the alarms that stand."""
        return [(alarm.name, alarm.subject) for alarm in self.alarms.standing()]

    def state(self) -> list[tuple[int, bytes, int]]:
        """Of each partition how far it is folded, the chain over its events, and the digest of all that came of them."""
        return state_of(open_wire(self.client), self.identity.tags)

    def state_elsewhere(self, url: str) -> list[tuple[int, bytes, int]]:
        """The same of the log as it stands, folded by one worker on one Redis."""
        with Live(url, PARTITIONS).client as client:
            copy, wire = open_wire(client), open_wire(self.client)
            for tag in self.identity.tags:
                copied(wire, copy, tag)
            worker = FoldWorker(client, self.identity.tags, "elsewhere")
            heads = {partition: self.log.head(partition) for partition in range(PARTITIONS)}
            assert worker.drain(heads, 60.0)
            worker.hand_over()
            return state_of(copy, self.identity.tags)

    def close(self) -> None:
        """See `Live.close`."""
        self.alarms.close()
        super().close()


def copied(wire: Wire, copy: Wire, tag: str) -> None:
    """Bring a partition's log to where another one of the same tags is."""
    keys = LogKeys(tag)
    for entry_id, fields in wire.call("XRANGE", keys.stream, "-", "+"):
        copy.call("XADD", keys.stream, entry_id, *fields)
    for name in (keys.meta, keys.heads, keys.secrets):
        held = wire.call("HGETALL", name)
        if held:
            copy.call("HSET", name, *held)


def state_of(wire: Wire, tags: list[str]) -> list[tuple[int, bytes, int]]:
    """See `OnCluster.state`."""
    found = [read_checkpoint(wire, BuildKeys(tag, FIRST_BUILD)) for tag in tags]
    return [(one.seq, one.head, one.digest) for one in found]


def written(receipts: list[AppendReceipt]) -> list[str]:
    """The statuses, each once, in order of their names."""
    return sorted({receipt.status for receipt in receipts})


@contextmanager
def on_cluster(cluster: GivenCluster, *, patience: float = 5.0) -> Iterator[OnCluster]:
    """A store for the length of a test."""
    store = OnCluster(cluster, patience=patience)
    try:
        yield store
    finally:
        store.close()
