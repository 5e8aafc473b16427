"""One run: a store, producers with a ledger, faults by the seed, a settled end, and the verdict as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import redis

from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.errors import StoreError
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.projections.language.orders import MARKER
from engramlog_server.projections.redis.create import open_store
from engramlog_server.projections.redis.store import read_checkpoint
from tests.chaos.attendants import Operator, Stopwatch, live_keys, quarantined
from tests.chaos.cast import Server, wait_until
from tests.chaos.director import Director, Plan
from tests.chaos.ledger import Ledger
from tests.chaos.producer import Producer
from tests.chaos.story import NEWER, PLAIN, POISONED, OwnerStory
from tests.chaos.verdict import Verdict, judge

STORE_ID = "0b6f3a52-7c1e-4a8e-9a55-0d8f3f5f7c11"
FLAVOURS = (PLAIN, POISONED, PLAIN, NEWER)


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found."""

    plan: Plan
    verdict: Verdict
    struck: Counter[str]
    recovery: dict[str, float | int]
    sendings: int
    told: Counter[str]
    redis: str
    """Version of the server."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "kind_of_fault": "process crash",
            "redis": self.redis,
            "plan": asdict(self.plan),
            **asdict(self.verdict),
            "clean": self.verdict.clean,
            "sendings": self.sendings,
            "faults": dict(sorted(self.struck.items())),
            "time_to_recover": self.recovery,
            "told_by_workers": dict(sorted(self.told.items())),
        }


def run(plan: Plan, folder: Path) -> Report:
    """Run a plan in an empty folder. Raises AssertionError where it does not settle."""
    with ExitStack() as stack:
        server = Server(folder)
        stack.callback(server.close)
        server.start()
        client = server.client()
        wire = open_wire(client)
        tags = open_store(wire, store_id=STORE_ID, partitions=plan.partitions).tags
        log, ledger = RedisEventLog(client, tags, marker=MARKER), Ledger()
        stack.callback(log.close)
        stack.callback(wire.close)
        stories = [OwnerStory(plan.seed, f"owner{n}", FLAVOURS[n % len(FLAVOURS)]) for n in range(plan.owners)]
        left = [story.owner for story in stories if story.flavour == POISONED][:1]
        planned = [story.owner for story in stories if story.flavour != PLAIN]
        watch = Stopwatch(client, tags, ledger)
        operator = Operator(client, tags, log, ledger, left, Random(f"{plan.seed}:operator"))
        producers = [
            Producer(f"producer{n}", log, ledger, stories[n :: plan.producers], plan.seed)
            for n in range(plan.producers)
        ]
        director = Director(plan, server, watch, ledger, folder)
        stack.callback(director.close)
        for thread in (watch, operator, *producers):
            thread.start()
        director.act(monotonic() + plan.seconds)
        director.settle()
        for producer in producers:
            producer.end()
        operator.finishing = True
        wait_until(lambda: _settled(wire, tags, left), "everything folded and freed")
        operator.end()
        watch.end()
        verdict = judge(client, tags, ledger, MARKER)
        _verify(client, tags, verdict)
        sendings = sum(line.sent for line in ledger.lines)
        return Report(
            plan,
            verdict,
            director.struck,
            watch.figures(),
            sendings,
            _told(director.logs(), planned),
            str(server.release),
        )


def _verify(client: redis.Redis, tags: Sequence[str], verdict: Verdict) -> None:
    """What `engramlog verify` tells, but for builds of rebuilds that were killed: the next one drops them."""
    for partition, tag in enumerate(tags):
        for one in verify_partition(client, partition, tag).differences:
            if one["what"] != "a build that is neither live nor being made":
                verdict.differs(f"verify: {one}")


def _settled(wire: Wire, tags: Sequence[str], left: Sequence[str]) -> bool:
    """Whether all is folded, no request is open, and nobody is quarantined but who was to be left so."""
    try:
        for tag in tags:
            if wire.call("EXISTS", LogKeys(tag).control) or set(quarantined(wire, tag)) - set(left):
                return False
            head = int(wire.call("HGET", LogKeys(tag).meta, "head") or 0)
            if read_checkpoint(wire, live_keys(wire, tag)).seq != head:
                return False
    except StoreError:
        wire.close()
        return False
    return True


def _told(logs: Sequence[Path], planned: Sequence[str]) -> Counter[str]:
    """Count what the workers logged. Each quarantine counts as an alarm, except of owners in `planned`."""
    phrases = {
        "stale commits refused by the epoch": b"this batch was under",
        "leases found lost": b'"lease lost"',
        "alarms": b'"level": "warning"',
        "owners quarantined": b'"owner quarantined"',
        "events discarded": b'"event discarded"',
        "retries carried out": b'"owner retried"',
        "builds switched": b'"build switched"',
        "tracebacks": b"Traceback",
    }
    text = b"".join(log.read_bytes() for log in logs)
    told = Counter({name: text.count(phrase) for name, phrase in phrases.items()})
    warnings = [line for line in text.splitlines() if phrases["alarms"] in line]
    left = sum(b'"rebuild_left"' in line for line in warnings)
    raised = sum(b'"owner_quarantined"' in line for line in warnings)
    stuck = [line for line in text.splitlines() if phrases["owners quarantined"] in line]
    unplanned = sum(not any(f'"owner": "{owner}"'.encode() in line for owner in planned) for line in stuck)
    told.update({"alarms": unplanned - left - raised, "rebuilds told as left": left})
    return told
