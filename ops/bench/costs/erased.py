"""What erased memories cost those who append and read afterwards: the same work where nothing was erased, in turn, by CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

from msgspec.structs import replace

from consumers.erasing.words import fence_names, wipe_entries
from consumers.fold.worker import FoldWorker
from events.envelope import AnyEvent, Prepared, new_event_id, prepare
from events.partitions import LogKeys, parse_position, partition_of
from events.redis.log import RedisEventLog
from events.redis.secrets import read_cipher, read_secrets
from events.redis.wire import Wire
from events.sealing.key_ring import KEY_BYTES, KeyRing
from ops.bench.costs.meter import Cost, cost_of
from ops.bench.fold import GIVE_UP_SECONDS
from ops.bench.rounds import quiet
from ops.bench.server import PARTITIONS, BenchServer
from projections.language.marks import MARKER
from projections.redis.debt import FoldDebt

IDS = 1_000
"""Erased ids of each partition."""
SIZES = (1, 100)
"""Events of one request of an append."""
SINGLE = 1_000
"""Events of a round that are appended one by one."""
SHARES = (10, 2)
"""One entry of so many has no words any more."""
OTHERS = [f"other-{number}" for number in range(200)]
"""Owners of whom nothing is appended while it is measured."""
WHOSE = ("nobody", "others", "the same owners")
"""Whose ids were erased, beside whom is appended."""
BATCH = 500
_MASTER = bytes(range(KEY_BYTES))
_ERASURE = "00000000-0000-4000-8000-000000000000"


def appends(server: BenchServer, texts: str, told: Sequence[AnyEvent], rounds: int) -> list[dict[str, Any]]:
    """Appending where each partition has erased ids, of others or of the owners who append, beside a store that has none."""
    found = list[dict[str, Any]]()
    for size in SIZES:
        some, costs = told[: SINGLE if size == 1 else len(told)], dict[str, list[Cost]]()
        for _ in range(rounds):
            for whose in WHOSE:
                costs.setdefault(whose, []).append(_append(server, some, size, whose))
        for whose in WHOSE[1:]:
            more = {
                "what": f"append, {size} at a time",
                "against": "nothing erased",
                "texts": texts,
                "erased_of": whose,
            }
            found.append(row(more, costs[whose], costs[WHOSE[0]], "us", len(some)))
    return found


def _append(server: BenchServer, told: Sequence[AnyEvent], size: int, whose: str) -> Cost:
    log, owners = _log(server), sorted({one.owner for one in told})
    ready = [prepare(one) for one in told]  # as the door hands on what a producer sent
    of = {"nobody": [], "others": OTHERS, "the same owners": owners}[whose]
    _greet(log, told[0], [*owners, *OTHERS])
    _fence(server, of)
    _greet(log, told[0], owners)  # whoever appends first after it looks what was erased

    def run() -> None:
        for at in range(0, len(ready), size):
            assert all(one.written for one in log.append(ready[at : at + size]))

    cost = quiet_cost(server, run)
    log.close()
    return cost


def _greet(log: RedisEventLog, like: AnyEvent, owners: Sequence[str]) -> None:
    """Append an event of each of these owners."""
    for at in range(0, len(owners), BATCH):
        some = [replace(like, owner=owner, event_id=new_event_id()) for owner in owners[at : at + BATCH]]
        assert all(one.written for one in log.append(some))


def _fence(server: BenchServer, owners: Sequence[str]) -> None:
    """Erase so many ids of each partition, of these owners in equal parts."""
    of, wire = dict[int, list[str]](), Wire(server.client)
    for owner in owners:
        of.setdefault(partition_of(owner, PARTITIONS), []).append(owner)
    for partition, some in of.items():
        for owner, secret in read_secrets(wire, server.tags, some).items():
            ids = [f"{owner}-gone-{number}" for number in range(IDS // len(some))]
            fence_names(wire, server.tags[partition], secret, ids, ())
    wire.close()


def _log(server: BenchServer) -> RedisEventLog:
    identity = server.new_store(master=KeyRing([_MASTER]))
    return RedisEventLog(server.client, identity.tags, read_debt=FoldDebt(identity.tags), marker=MARKER)


def readings(server: BenchServer, texts: str, told: Sequence[AnyEvent], rounds: int) -> list[dict[str, Any]]:
    """Reading and folding a log of which a share has no words any more, beside the same log with all of them."""
    ready, found = [prepare(event) for event in told], list[dict[str, Any]]()
    works = (("reading the log", _read), ("folding it", _fold))
    costs: dict[int, list[list[Cost]]] = {share: [[] for _ in works] for share in (0, *SHARES)}
    for _ in range(rounds):
        for share, lists in costs.items():
            log = _wiped(server, ready, share)
            for (_, run), some in zip(works, lists, strict=True):
                some.append(quiet_cost(server, partial(run, server, log, len(ready))))
            log.close()
    for at, (name, _) in enumerate(works):
        for share in SHARES:
            more = {"what": name, "against": "no entry without words", "texts": texts, "wordless": f"1 of {share}"}
            found.append(row(more, costs[share][at], costs[0][at], "us", len(ready)))
    return found


def _wiped(server: BenchServer, ready: Sequence[Prepared], share: int) -> RedisEventLog:
    """A new sealed store with these events, nothing folded, of which one of `share` lost its words; 0: none."""
    log, wire, places = _log(server), Wire(server.client), dict[tuple[int, str], list[int]]()
    for at in range(0, len(ready), BATCH):
        some = ready[at : at + BATCH]
        for number, (one, receipt) in enumerate(zip(some, log.append(some), strict=True), at):
            assert receipt.position is not None, receipt
            partition, seq = parse_position(receipt.position)
            if share and number % share == 0:
                places.setdefault((partition, one.owner), []).append(seq)
    for (partition, owner), seqs in places.items():
        tag = server.tags[partition]
        cipher = read_cipher(wire, LogKeys(tag), owner)
        assert cipher is not None
        assert wipe_entries(wire, tag, owner, cipher, seqs, _ERASURE) == len(seqs)
    wire.close()
    return log


def _read(_server: BenchServer, log: RedisEventLog, events: int) -> None:
    found = 0
    for partition in range(log.partitions):
        for after in range(0, log.head(partition), BATCH):
            found += len(log.read(partition, after))
    assert found == events


def _fold(server: BenchServer, log: RedisEventLog, events: int) -> None:
    worker = FoldWorker(server.client, server.tags, "bench")
    heads = {partition: seq for partition in range(log.partitions) if (seq := log.head(partition))}
    assert worker.drain(heads, GIVE_UP_SECONDS)
    assert worker.folded == events, f"{worker.folded} of {events} events were folded"
    worker.hand_over()


def quiet_cost(server: BenchServer, work: Callable[[], object]) -> Cost:
    """What a call costs, whose collector of garbage does not look through the bench's own data."""
    with quiet():
        return cost_of(server, work)


def row(
    what: dict[str, Any], ours: Sequence[Cost], limit: Sequence[Cost], unit: str, events: int | None = None
) -> dict[str, Any]:
    """JSON-ready: medians of the rounds, and how many times the CPU of the limit ours took, with the least and the most.

    `events`: of how many the costs are, told in microseconds each; None: they are told whole, in milliseconds.
    """
    times, each = [mine.cpu / other.cpu for mine, other in zip(ours, limit, strict=True)], events or 1_000

    def told(costs: Sequence[Cost], field: str) -> float:
        return round(float(median(getattr(one, field) for one in costs)) / each * 1e6, 2)

    return {
        **what,
        "rounds": len(ours),
        **({} if events is None else {"count": events}),
        f"cpu_{unit}": told(ours, "cpu"),
        f"redis_{unit}": told(ours, "server"),
        f"clock_{unit}": told(ours, "wall"),
        f"against_cpu_{unit}": told(limit, "cpu"),
        f"against_clock_{unit}": told(limit, "wall"),
        "times": figure(median(times)),
        "times_min": figure(min(times)),
        "times_max": figure(max(times)),
    }


def figure(ratio: float) -> float:
    """Three significant digits."""
    return float(f"{ratio:.3g}")
