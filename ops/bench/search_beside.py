"""A fold worker, and a producer that appends about one owner at a steady pace, each a process of its own.

The producer is this module: `python -P -m ops.bench.search_beside URL SECONDS`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from events.envelope import prepare
from events.redis.log import RedisEventLog
from events.redis.wire import Wire, connect
from ops.bench.sample import SEED, sample
from projections.redis.create import read_identity

RATE = 1_000
"""Events a second."""
BATCH = 10
WRITTEN_TO = "owner-00000"
"""As the sample names its one owner."""
_STOP_SECONDS = 20.0


@contextmanager
def fold_worker(url: str) -> Iterator[None]:
    """A fold worker as `up` starts one, for the length of the block."""
    with _process("ops.worker", "--url", url, "--log-level", "critical", "--parent", str(os.getpid())):
        yield


@contextmanager
def producer(url: str, seconds: float) -> Iterator[None]:
    """A producer of `RATE` events a second about `WRITTEN_TO`, for the block but not for longer than `seconds`."""
    with _process("ops.bench.search_beside", url, str(seconds)) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it has made its events and begins
        yield


@contextmanager
def _process(module: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-P", "-m", module, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(_STOP_SECONDS)
        if process.stdout is not None:
            process.stdout.close()


def produce(url: str, seconds: float) -> None:
    """Append creations, mentions, negations, accesses, revisions and merges as the sample mixes them, in step with the clock."""
    client = connect(url)
    identity = read_identity(Wire(client))
    assert identity is not None, "there is no store"
    log = RedisEventLog(client, identity.tags)
    events = [prepare(event) for event in sample(int(RATE * seconds), 1, seed=SEED + 1)]
    print("begins", flush=True)
    start = monotonic()
    for at in range(0, len(events), BATCH):
        log.append(events[at : at + BATCH])
        sleep(max(0.0, start + (at + BATCH) / RATE - monotonic()))


if __name__ == "__main__":
    produce(sys.argv[1], float(sys.argv[2]))
