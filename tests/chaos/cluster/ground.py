"""The ground of the scenes: a cluster with a store, producers with a book, fold workers, and an operator who looks at alarms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

from engramlog_server.events.alarms import Alarm
from engramlog_server.events.errors import StoreError
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.durability import RECEIPT_LOST
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import WirePool, open_wire
from engramlog_server.projections.redis.create import open_store
from engramlog_server.projections.redis.store import read_checkpoint
from tests.chaos.attendants import live_keys
from tests.chaos.cast import Actor, wait_until
from tests.chaos.cluster.book import Book
from tests.chaos.cluster.producers import ClusterProducer
from tests.chaos.scene import STORE_ID, Up, command
from tests.chaos.story import OwnerStory
from tests.given.clusters.beside import queue_beside
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.node import ClusterNode

PARTITIONS = 8
PRODUCERS = 3
OWNERS_EACH = 2
"""Owners of each partition that a producer has."""
ENOUGH = 12
"""Receipts of each partition before anything breaks."""
LEASE_MS = 1_000
ALARM_SECONDS = 20.0
"""How long an alarm may stand after all was mended."""


@dataclass(frozen=True, slots=True)
class Safety:
    """What is asked for, so that what was acknowledged outlives a fault."""

    appendfsync: str
    replicas: int
    """ENGRAMLOG_MIN_REPLICAS."""


class ClusterGround:
    """A store on a cluster, and all who are at work on it."""

    def __init__(self, cluster: GivenCluster, queue_url: str, folder: Path, safety: Safety, seed: int) -> None:
        self.cluster, self.safety, self.folder, self.book = cluster, safety, folder, Book()
        self.client = connect(cluster.url)
        self.wire = open_wire(self.client)
        self.tags = open_store(self.wire, store_id=STORE_ID, partitions=PARTITIONS).tags
        self._queue_url = queue_url
        self._operator = RedisAlarms(WirePool(self.client), "operator", lambda _fact, **_told: None)
        self.alarmed: set[int] = set()
        """Partitions of which the store told that a receipt was lost."""
        self._cast: list[Actor] = []
        owners = [self._owner_of(p, n) for n in range(PRODUCERS * OWNERS_EACH) for p in range(PARTITIONS)]
        stories = [OwnerStory(seed, owner) for owner in owners]
        size = len(stories) // PRODUCERS
        self.producers = [
            ClusterProducer(
                f"producer{n}",
                cluster.url,
                self.tags,
                stories[n * size : (n + 1) * size],
                self.book,
                replicas=safety.replicas,
            )
            for n in range(PRODUCERS)
        ]
        self.struck_at = 0.0
        self.struck: Sequence[int] = ()
        """The partitions that were hit."""

    def _owner_of(self, partition: int, number: int) -> str:
        fitting = (name for n in count() if partition_of(name := f"owner{n}", PARTITIONS) == partition)
        return next(name for n, name in enumerate(fitting) if n == number)

    def environment(self) -> dict[str, str]:
        """By which a process of the product finds the store."""
        return {
            "ENGRAMLOG_REDIS_URL": self.cluster.url,
            "ENGRAMLOG_QUEUE_URL": self._queue_url,
            "ENGRAMLOG_DATA": str(self.folder / "data"),
            "ENGRAMLOG_MIN_REPLICAS": str(self.safety.replicas),
        }

    def worker(self) -> Actor:
        """One more fold worker, a process."""
        log = self.folder / f"worker{len(self._cast)}.log"
        actor = Actor(
            "engramlog_server.ops.worker", "--lease-ms", str(LEASE_MS), log=log, environment=self.environment()
        )
        self._cast.append(actor)
        return actor

    def up(self) -> Up:
        """`engramlog up`, with a worker of its own, ready."""
        more = self.environment()
        log = self.folder / f"up{len(self._cast)}.log"
        actor = Up(self.folder / "data", log, self.cluster.url, **more)
        self._cast.append(actor)
        actor.serves()
        return actor

    def command(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """An `engramlog` command on this store: its exit code, and its JSON."""
        return command(self.environment(), arguments)

    def alarms_told(self) -> set[str]:
        """Names of the alarms that `engramlog status` tells; it looks for some itself."""
        return {one["name"] for one in self.command("status")[1].get("alarms", [])}

    def tag(self, partition: int) -> str:
        """A key in a partition's slot."""
        return f"{{{self.tags[partition]}}}"

    def node(self, partition: int) -> ClusterNode:
        """Who has a partition."""
        return self.cluster.node_of(self.tag(partition))

    def partitions_of(self, node: ClusterNode) -> list[int]:
        """The partitions that lie on a node."""
        return [partition for partition in range(PARTITIONS) if self.node(partition) is node]

    def flows(self) -> None:
        """Begin, and wait until every partition has had some and folded it."""
        for producer in self.producers:
            producer.start()
        self._await(
            lambda: all(self.book.told_of(p) >= ENOUGH and self.checkpoint(p) >= ENOUGH for p in range(PARTITIONS)),
            "events flow and are folded",
        )

    def strikes(self, partitions: Sequence[int]) -> None:
        """A fault strikes these partitions now."""
        self.struck_at, self.struck = monotonic(), partitions

    def goes_on(self) -> None:
        """Wait until what is acknowledged from now on is folded, of every partition."""
        before = {p: self.book.told_of(p) for p in range(PARTITIONS)}
        self._await(lambda: all(self.book.told_of(p) > before[p] + 1 for p in before), "all partitions are appended to")
        heads = {p: self.head(p) for p in before}
        self._await(lambda: all(self.checkpoint(p) >= heads[p] for p in before), "all partitions are folded")

    def settled(self) -> None:
        """No more events, everything answered, and all of it folded."""
        for producer in self.producers:
            producer.finish()
        self._await(lambda: all(producer.is_done for producer in self.producers), "everything is answered")
        self._await(lambda: all(self._is_folded(p) for p in range(PARTITIONS)), "everything is folded")

    def _await(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for a fact, with an operator who acknowledges that receipts were lost, once he has seen it in the store."""

        def looked() -> bool:
            for producer in self.producers:
                if producer.failure is not None:
                    raise producer.failure
            self._look()
            return holds()

        wait_until(looked, lambda: f"{what}; {self.told()}", seconds=120.0)

    def _look(self) -> None:
        if not any(producer.lost() for producer in self.producers):
            return
        with suppress(StoreError):
            for alarm in self._operator.standing():
                if alarm.name == RECEIPT_LOST:
                    self.alarmed.add(int(alarm.subject))
                    self._operator.acknowledged(alarm.name, alarm.subject, "scene")

    def standing(self) -> list[Alarm]:
        """The alarms that do not end now that all is mended."""
        with suppress(AssertionError):
            wait_until(lambda: not self._asked(self._operator.standing, [None]), "no alarm stands", ALARM_SECONDS)
        return self._operator.standing()

    def told(self) -> str:
        """How far everything is: for a scene that waits in vain."""
        counts = {p: (self.book.told_of(p), self.checkpoint(p), self.head(p)) for p in range(PARTITIONS)}
        logs = "\n".join(f"{actor.log}: {actor.told()[-1500:]}" for actor in self._cast)
        facts = {producer.name: producer.facts[-5:] for producer in self.producers}
        alarms = self._asked(self._operator.standing, [])
        return (
            f"by partition told, folded, head: {counts}; refused: {self.book.refused}; {facts}; alarms: {alarms};"
            f" unproved {self.book.unproved}\n{self.cluster.told()}\n{logs}"
        )

    def checkpoint(self, partition: int) -> int:
        """How far a partition is folded; -1 while nobody tells."""
        return int(self._asked(lambda: read_checkpoint(self.wire, live_keys(self.wire, self.tags[partition])).seq, -1))

    def head(self, partition: int) -> int:
        """Its newest seq; -2 while nobody tells."""
        return int(
            self._asked(lambda: int(self.wire.call("HGET", LogKeys(self.tags[partition]).meta, "head") or 0), -2)
        )

    def _is_folded(self, partition: int) -> bool:
        return self.checkpoint(partition) == self.head(partition)

    def _asked(self, ask: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return ask()
        except StoreError:
            self.wire.close()
            return otherwise

    @property
    def workers(self) -> list[Actor]:
        """Who folds."""
        return [actor for actor in self._cast if actor.code is None]

    def end_workers(self) -> None:
        """SIGKILL of every fold worker."""
        for actor in self._cast:
            actor.kill()

    def close(self) -> None:
        """End everybody."""
        self.end_workers()
        for producer in self.producers:
            producer.finish()
        self.wire.close()
        self.client.close()


@contextmanager
def on_a_cluster(binary: Path, folder: Path, safety: Safety, seed: int) -> Iterator[ClusterGround]:
    """A store on a cluster of its own, with nobody at work yet."""
    with ExitStack() as stack:
        cluster = stack.enter_context(GivenCluster(binary, appendfsync=safety.appendfsync))
        queue = stack.enter_context(queue_beside(cluster))
        ground = ClusterGround(cluster, f"redis://{queue.address}", folder, safety, seed)
        stack.callback(ground.close)
        yield ground
