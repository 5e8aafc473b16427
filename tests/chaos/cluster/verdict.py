"""The verdict of a scene: the log as it is, against the book of what was told."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from engramlog_server.events.redis.log import RedisEventLog
from tests.chaos.cluster.book import Entry
from tests.chaos.cluster.ground import ClusterGround


@dataclass(slots=True)
class ClusterVerdict:
    """What became of what was told."""

    told: int = 0
    """Events with a receipt."""
    without_replica: int = 0
    """Of them those whose receipts all told `replicas: 0`."""
    lost: int = 0
    """Of those that promised to outlive this fault: not where the receipt says, or nowhere."""
    lost_unpromised: int = 0
    duplicates: int = 0
    unproved: int = 0
    """Requests that were refused as written and not proved."""
    pause: float = 0.0
    """Seconds in which nothing of a partition that was struck was acknowledged."""
    receipts_lost: list[int] = field(default_factory=list)
    """Partitions of which somebody told that a receipt no longer holds."""
    wrong: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Nothing lost that was promised, nothing twice, nothing lost in silence."""
        return not (self.lost or self.duplicates or self.wrong)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self) | {"clean": self.clean}


def judge_cluster(ground: ClusterGround, *, failover: bool) -> ClusterVerdict:
    """Compare every partition with the book, once all is answered and folded. `failover`: whether a primary was replaced, which a
    receipt without a replica does not promise to outlive."""
    book, verdict = ground.book, ClusterVerdict()
    places = _read(ground, verdict)
    losing = set[int]()
    for entry in book.entries:
        if entry.position is None:
            verdict.wrong.append(f"{entry.event.event_id}: never answered")
            continue
        verdict.told += 1
        verdict.without_replica += entry.replicas == 0
        if places.get(entry.event.raw_id) == entry.position:
            continue
        losing.add(entry.partition)
        if _promised(entry, failover=failover):
            verdict.lost += 1
            verdict.wrong.append(
                f"{entry.event.event_id}: told at {entry.position}, found at {places.get(entry.event.raw_id)}"
            )
        else:
            verdict.lost_unpromised += 1
    told = {partition for producer in ground.producers for partition in producer.lost()}
    verdict.receipts_lost = sorted(told)
    if losing - told:
        verdict.wrong.append(f"lost in silence, of partitions {sorted(losing - told)}")
    if told - losing:
        verdict.wrong.append(f"told as lost, and nothing was, of partitions {sorted(told - losing)}")
    if told - ground.alarmed:
        verdict.wrong.append(f"told as lost, and no alarm stood in the store, of {sorted(told - ground.alarmed)}")
    verdict.unproved = book.unproved
    verdict.pause = round(book.pause(ground.struck, ground.struck_at), 1)
    verdict.wrong += book.complaints
    return verdict


def _promised(entry: Entry, *, failover: bool) -> bool:
    """Whether what was told of an event promises that it outlives what happened."""
    return entry.replicas > 0 or (not failover and entry.fsynced is not False)


def _read(ground: ClusterGround, verdict: ClusterVerdict) -> dict[bytes, tuple[int, int]]:
    """Where each event lies, in the log as anybody reads it."""
    sent = {entry.event.raw_id: entry.event for entry in ground.book.entries}
    places, seen = dict[bytes, tuple[int, int]](), Counter[bytes]()
    log = RedisEventLog(ground.client, ground.tags)
    try:
        for partition in range(log.partitions):
            at = 0
            while batch := log.read(partition, at):
                for one in batch:
                    if one.seq != at + 1:
                        verdict.wrong.append(f"{partition}: seq {one.seq} follows on {at}")
                    at = one.seq
                    event = sent.get(one.raw_id)
                    if event is None or (event.owner, event.body) != (one.owner, one.body):
                        verdict.wrong.append(f"{partition}:{one.seq}: not what anybody sent")
                    seen[one.raw_id] += 1
                    places.setdefault(one.raw_id, (partition, one.seq))
            if log.head(partition) != at:
                verdict.wrong.append(f"{partition}: the head is {log.head(partition)}, the last entry {at}")
    finally:
        log.close()
    verdict.duplicates = sum(number - 1 for number in seen.values())
    return places
