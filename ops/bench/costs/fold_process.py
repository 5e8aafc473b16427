"""A fold worker that is measured, as a process of its own: `python -P -m ops.bench.costs.fold_process URL NAME`.

It says `ready`, folds when it reads a line, until it reads another one, and then tells what that took as one line of JSON.
"""

from __future__ import annotations

import sys
from threading import Event as Flag
from threading import Thread
from time import process_time

import orjson

from consumers.fold.presence import LEASE_MS, Presence
from consumers.fold.worker import FoldWorker
from events.redis.clock import redis_ms
from events.redis.wire import Wire, connect
from ops.garbage import look_seldom
from projections.redis.create import read_identity


def main(url: str, name: str) -> None:
    """Be there before the start, so that all take their share of the partitions at once."""
    look_seldom()  # as a worker does
    client, stop = connect(url, timeout=120.0), Flag()
    wire = Wire(client)
    identity = read_identity(wire)
    assert identity is not None, "there is no store"
    Presence(wire, name, LEASE_MS, {}).beat(redis_ms(wire), [], 0)
    worker = FoldWorker(client, identity.tags, name)
    _say(b"ready")
    sys.stdin.readline()
    Thread(target=_stop_at_a_line, args=(stop,), daemon=True).start()
    before = process_time()
    worker.run(stop)
    _say(orjson.dumps({"cpu": process_time() - before, "folded": worker.folded}))


def _stop_at_a_line(stop: Flag) -> None:
    sys.stdin.readline()
    stop.set()


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
