"""Folding a backlog by one, two, three worker processes, against XADD of the same entries and one HSET of what is final."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from time import monotonic, sleep
from typing import Any

import orjson

from events.envelope import Prepared, Stored
from events.redis.log import RedisEventLog
from events.redis.wire import Wire
from ops.bench.costs.finals import Command, Finals, commits, send
from ops.bench.costs.meter import Cost, Costs, Meter, cost_of
from ops.bench.fold import GIVE_UP_SECONDS, fill
from ops.bench.raw import RawConnection
from ops.bench.rounds import quiet
from ops.bench.sample import EVENTS_AN_OWNER, prepared, sample
from ops.bench.server import BenchServer
from projections.fold.builds import FIRST_BUILD, BuildKeys
from projections.fold.partition import COMMIT_EVENTS
from projections.redis.retire import drop_build

LEAST, AIM = 0.5, 0.7
_LOOK_SECONDS = 0.01


def measure(
    server: BenchServer, beside: BenchServer, texts: str, events: int, workers: Sequence[int], rounds: int
) -> list[dict[str, Any]]:
    """A row a number of workers. `beside`: a server for the limit. The same log is folded from nothing again and again."""
    owners = max(events // EVENTS_AN_OWNER, 1)
    ready = prepared(sample(events, owners, texts=texts))
    tags, heads = fill(server, ready)
    least = _least(server, tags)
    found: dict[int, list[tuple[Cost, Cost]]] = {number: [] for number in workers}
    for _ in range(rounds):
        for number in workers:
            with quiet():
                ours = _fold(server, tags, heads, number)
            with quiet():
                found[number].append((ours, _limit(beside, least)))
    return [_row(texts, owners, number, ready, costs) for number, costs in found.items()]


def _row(
    texts: str, owners: int, workers: int, ready: Sequence[Prepared], costs: Sequence[tuple[Cost, Cost]]
) -> dict[str, Any]:
    what = {"texts": texts, "traffic": "backlog", "at_a_time": None, "owners": owners, "workers": workers}
    body = sum(len(one.body) for one in ready) / len(ready)
    ours, limit = zip(*costs, strict=True)
    return Costs(what, len(ready), body, ours, limit, LEAST if workers == 1 else None, AIM).as_dict()


def stored_in(log: RedisEventLog, partition: int, after: int = 0) -> list[Stored]:
    """Every entry of a partition behind a seq."""
    found = list[Stored]()
    while page := log.read(partition, after):
        found += page
        after = page[-1].seq
    return found


def _least(server: BenchServer, tags: Sequence[str]) -> list[list[Command]]:
    log = RedisEventLog(server.client, tags)
    found = list[list[Command]]()
    for partition in range(len(tags)):
        stored = stored_in(log, partition)
        secrets = log.secrets_of({one.owner for one in stored})
        found += commits(Finals(secrets).writes(stored), COMMIT_EVENTS, tags)
    log.close()
    return found


def _limit(beside: BenchServer, pipelines: Iterable[Iterable[Command]]) -> Cost:
    beside.client.flushall()
    with RawConnection(beside.socket) as connection:
        return cost_of(beside, lambda: send(connection, pipelines))


def _fold(server: BenchServer, tags: Sequence[str], heads: dict[int, int], workers: int) -> Cost:
    """From nothing folded to all folded. The client's CPU is that of the workers' processes."""
    wire = Wire(server.client)
    for tag in tags:
        drop_build(wire, BuildKeys(tag, FIRST_BUILD))
    wire.close()
    with ExitStack() as stack:
        processes = [stack.enter_context(_process(server, f"bench-{number}")) for number in range(workers)]
        for process in processes:
            assert _line(process) == b"ready\n", "a worker did not start"
        with Meter(server) as watch:
            for process in processes:
                _tell(process)
            _wait(server, tags, heads)
        for process in processes:
            _tell(process)
        told = [orjson.loads(_line(process)) for process in processes]
    assert sum(one["folded"] for one in told) == sum(heads.values()), "not every event was folded once"
    return watch.cost._replace(client=sum(one["cpu"] for one in told))


@contextmanager
def _process(server: BenchServer, name: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-P", "-m", "ops.bench.costs.fold_process", server.url, name]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def _tell(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


def _wait(server: BenchServer, tags: Sequence[str], heads: dict[int, int]) -> None:
    end = monotonic() + GIVE_UP_SECONDS
    asked = [(BuildKeys(tags[partition], FIRST_BUILD).checkpoint, seq) for partition, seq in heads.items()]
    while True:
        pipe: Any = server.client.pipeline(transaction=False)
        for key, _ in asked:
            pipe.hget(key, "seq")
        if all(int(at or 0) >= seq for at, (_, seq) in zip(pipe.execute(), asked, strict=True)):
            return
        assert monotonic() < end, "the fold did not finish"
        sleep(_LOOK_SECONDS)
