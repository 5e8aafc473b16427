"""The verdict: what is in Redis against a pure in-memory fold of the ledger, event by event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import redis

from engramlog_server.events.envelope import UNMARKED, Marker, Stored
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.store import read_checkpoint
from tests.chaos.beside import judge_beside
from tests.chaos.build import Findings, judge_build
from tests.chaos.ledger import Ledger, Line, by_id

ALWAYS = ("lost", "duplicated", "out_of_order")
OF_THE_LIVE_BUILD = (*ALWAYS, "owners", "memories", "applied", "parked", "discarded")


@dataclass(slots=True)
class Verdict(Findings):
    """The findings of a whole run; those on the ledger count here too.

    `lost`: besides what a build passed over, what was acknowledged and is not at its position in the log. `duplicated`,
    `out_of_order`: also in the log itself. `owners`, `applied` and so on are of the live builds.
    """

    acknowledged: int = 0
    unknown_written: int = 0
    """Never acknowledged, found in the log: once, or it counts as duplicated."""
    unknown_absent: int = 0
    builds: int = 0
    """Builds compared with the pure fold: the live ones, and those that rebuilds replaced during the run."""

    @property
    def clean(self) -> bool:
        """Nothing lost, nothing twice, in order, and every byte as the pure fold has it."""
        return not (self.lost or self.duplicated or self.out_of_order or self.differences)


def judge(
    client: redis.Redis, tags: Sequence[str], ledger: Ledger, marker: Marker = UNMARKED, *, over_http: bool = False
) -> Verdict:
    """Compare every partition with the ledger. Call when every checkpoint has reached its head.

    `marker`: of the log through which all was appended. `over_http`: services wrote beside the events how far they trust them.
    """
    verdict = Verdict()
    lines = by_id(ledger.lines)
    log, wire = RedisEventLog(client, tags), open_wire(client)
    places: dict[bytes, tuple[int, int]] = {}
    for partition, tag in enumerate(tags):
        written = _read_log(log, partition, lines, places, verdict)
        _judge_partition(wire, tag, written, verdict)
        if not over_http:
            judge_beside(wire, tag, written, marker, verdict.differs)
    _judge_ledger(ledger, places, verdict)
    log.close()
    wire.close()
    return verdict


def _read_log(
    log: RedisEventLog, partition: int, lines: dict[bytes, Line], places: dict[bytes, tuple[int, int]], verdict: Verdict
) -> list[Stored]:
    """The partition as the ledger has it, in the order in which the log has it."""
    written: list[Stored] = []
    seen: Counter[bytes] = Counter()
    at = 0
    while batch := log.read(partition, at):
        for one in batch:
            if one.seq != at + 1:
                verdict.differs(f"{partition}: seq {one.seq} follows on {at}")
            at = one.seq
            line = lines.get(one.raw_id)
            if line is None:
                verdict.differs(f"{partition}:{one.seq}: an event that nobody sent")
                continue
            sent = line.event
            if (one.kind, one.owner, one.body) != (sent.kind, sent.owner, sent.body):
                verdict.differs(f"{partition}:{one.seq}: other bytes than were sent")
            seen[one.raw_id] += 1
            places.setdefault(one.raw_id, (partition, one.seq))
            written.append(one._replace(kind=sent.kind, raw_id=sent.raw_id, owner=sent.owner, body=sent.body))
    verdict.duplicated += sum(count - 1 for count in seen.values())
    if log.head(partition) != at:
        verdict.differs(f"{partition}: the head is {log.head(partition)}, the last entry {at}")
    return written


def _judge_ledger(ledger: Ledger, places: dict[bytes, tuple[int, int]], verdict: Verdict) -> None:
    last: dict[tuple[str, str], tuple[int, int]] = {}
    for line in sorted(ledger.lines, key=lambda line: (line.sender, line.event.owner, line.number)):
        place = places.get(line.event.raw_id)
        if not line.acknowledged:
            verdict.unknown_written += place is not None
            verdict.unknown_absent += place is None
            continue
        verdict.acknowledged += 1
        verdict.lost += place != line.position
        assert line.position is not None
        before = last.get((line.sender, line.event.owner), (line.position[0], 0))
        verdict.out_of_order += line.position <= before
        last[line.sender, line.event.owner] = line.position
    for complaint in ledger.complaints:
        verdict.differs(f"receipt: {complaint}")


def _judge_partition(wire: Wire, tag: str, written: Sequence[Stored], verdict: Verdict) -> None:
    """The live build, which must have come to the end, and every build that it replaced."""
    flat = wire.call("HGETALL", LogKeys(tag).meta)
    meta = {name.decode(): value.decode() for name, value in zip(flat[::2], flat[1::2], strict=True)}
    live = BuildKeys(tag, meta["live"])
    if read_checkpoint(wire, live).seq != len(written):
        verdict.differs(f"{live.checkpoint}: stands before the end of the log, {len(written)}")
    if left := wire.call("HGETALL", LogKeys(tag).control):
        verdict.differs(f"{LogKeys(tag).control}: requests that nobody carried out: {left}")
    replaced = [BuildKeys(tag, name.removeprefix("old:")) for name in meta if name.startswith("old:")]
    for keys in (live, *replaced):
        found = judge_build(wire, keys, written)
        verdict.builds += 1
        for name in OF_THE_LIVE_BUILD if keys == live else ALWAYS:
            setattr(verdict, name, getattr(verdict, name) + getattr(found, name))
        for what in found.differences:
            verdict.differs(what)
