"""The scene in which a Redis comes back with the end of its log gone, and another history is appended to it."""

from __future__ import annotations

from pathlib import Path

from engramlog_server.events.heads import read_book
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.projections.language.orders import MARKER
from tests.chaos.cast import wait_until
from tests.chaos.ledger import Line
from tests.chaos.scene import STORE_ID, Up, on_a_redis
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict

INTO_A_COMMAND = 7
"""Bytes that are left of the first command that is lost: Redis cuts such a tail off by itself (`aof-load-truncated`)."""


def a_torn_tail(folder: Path, seed: int) -> Verdict:
    """A Redis of one's own under `up`; its file is cut behind what was acknowledged, as a disk that lied would have it."""
    with on_a_redis(folder, seed) as (ground, traffic):
        up = Up(folder / "data", folder / "up.log", redis_url=ground.server.url)
        try:
            up.serves()
            traffic.flows()
            size = ground.server.size()
            traffic.goes_on(traffic.partitions)
            traffic.end()
            newest = traffic.ledger.highest()
            wait_until(lambda: _kept(up, newest), "the newest heads are kept")
            ground.server.come_back_shorter(size + INTO_A_COMMAND)
            wait_until(lambda: bool(traffic.head(0)), "producers reach Redis again")
            lost = _lost(traffic)
            struck = sorted({line.position[0] for line in lost if line.position})
            assert struck == list(traffic.partitions)
            assert not traffic.ledger.deliver(traffic.log, lost[:1]), "whose receipts are lost appends nothing"
            _another_history(traffic, newest)
            for partition in struck:
                assert traffic.alarmed("log_changed", f"partition {partition}").severity == "stopped"
                assert traffic.alarmed("receipt_lost", str(partition)).severity == "stopped"
            code, told = ground.command("rebuild")
            assert (code, told["error"]) == (1, "LogChanged")
            assert {(one.name, one.subject) for one in traffic.alarms()} == {
                stands
                for partition in struck
                for stands in (("log_changed", f"partition {partition}"), ("receipt_lost", str(partition)))
            }
            code, told = ground.command(
                "rebuild", "--accept-changed-log", "the disk lost its end; producers send again"
            )
            assert (code, sorted(one["partition"] for one in told["accepted"])) == (0, struck)
            for partition in struck:
                code, told = ground.command("alarms", "--clear", "receipt_lost", str(partition))
                assert (code, told["cleared"]) == (0, True), told
            for line in lost:
                line.position = None
                traffic.delivered([line])
            return traffic.settled()
        finally:
            up.end()


def _kept(up: Up, newest: dict[int, int]) -> bool:
    """Whether `up` has written down heads as new as these."""
    file = up.data / f"heads-{STORE_ID}.jsonl"
    book = read_book(file.read_bytes() if file.exists() else b"")
    heads = {partition: book.newest(partition) for partition in newest}
    return all(head is not None and head.seq >= newest[partition] for partition, head in heads.items())


def _lost(traffic: Traffic) -> list[Line]:
    """Acknowledged, and not where it was acknowledged to be: in the order in which it was sent."""
    there, log = set(), RedisEventLog(traffic.client, traffic.tags, marker=MARKER)
    for partition in traffic.partitions:
        at = 0
        while batch := log.read(partition, at):
            there |= {(partition, one.seq, one.raw_id) for one in batch}
            at = batch[-1].seq
    log.close()
    return [one for one in traffic.ledger.lines if one.position and (*one.position, one.event.raw_id) not in there]


def _another_history(traffic: Traffic, newest: dict[int, int]) -> None:
    """A process without receipts appends until the log is longer than it was: its length no longer tells, the alarms stand."""
    log = RedisEventLog(traffic.client, traffic.tags, marker=MARKER)
    for partition, beyond in newest.items():
        traffic.tells(traffic.owner_of(partition, 2), max(beyond - traffic.head(partition), 0) + 1, log)
    log.close()
