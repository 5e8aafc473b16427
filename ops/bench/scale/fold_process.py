"""A fold worker that is asked while it folds, as a process of its own: `python -P -m ops.bench.scale.fold_process NAME`.

The first line it reads is the store's URL and whether it is sealed; it says `ready`, and begins at the next line. From then on each
line `tell` is answered by a line of JSON, and any other, or the end of what it can read, ends it as SIGTERM ends a worker.
"""

from __future__ import annotations

import resource
import sys
from threading import Event as Flag
from threading import Thread
from time import process_time

import orjson

from consumers.fold.presence import LEASE_MS, Presence
from consumers.fold.worker import FoldWorker
from events.redis.clock import redis_ms
from events.redis.wire import Wire, connect
from events.sealing.key_ring import KEY_BYTES, KeyRing
from ops.garbage import look_seldom
from projections.redis.create import read_identity

MASTER = KeyRing([bytes(range(KEY_BYTES))])
"""Of every sealed store of the benchmark."""
_KILO = 1 if sys.platform == "darwin" else 1_024


def main(name: str) -> None:
    """Be there before the start, so that all take their share of the partitions at once."""
    look_seldom()  # as a worker does
    url, sealed = sys.stdin.readline().split()
    client, stop = connect(url, timeout=300.0, master=MASTER if sealed == "sealed" else None), Flag()
    wire = Wire(client)
    identity = read_identity(wire)
    assert identity is not None, "there is no store"
    client.seals.begin(identity.store_id, identity.sealed)
    Presence(wire, name, LEASE_MS, {}).beat(redis_ms(wire), [], 0)
    worker = FoldWorker(client, identity.tags, name)
    _say(b"ready")
    sys.stdin.readline()
    began = process_time()
    Thread(target=_answer, args=(worker, began, stop), daemon=True).start()
    worker.run(stop)
    _say(_told(worker, began))


def _answer(worker: FoldWorker, began: float, stop: Flag) -> None:
    while sys.stdin.readline() == "tell\n":
        _say(_told(worker, began))
    stop.set()


def _told(worker: FoldWorker, began: float) -> bytes:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILO
    return orjson.dumps(
        {"cpu": process_time() - began, "folded": worker.folded, "held": worker.held, "most_bytes": most}
    )


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
