"""What a store of some size takes to be read again: a start after a kill, a rewrite of its file, a rebuild, a proof."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import NamedTuple

from consumers.fold.rebuild import rebuild_partition
from consumers.verify.store_and_log import verify_partition
from events.partitions import LogKeys
from ops.bench.rounds import quiet
from ops.bench.scale.fold_process import MASTER
from ops.bench.scale.servers import BenchNode, Nodes
from ops.bench.scale.workers import heads_of
from projections.fold.builds import BuildKeys
from projections.redis.retire import drop_build

_PROVED = 2
"""Partitions that are folded anew and proved: those whose number of events is nearest to the mean."""


class Restarted(NamedTuple):
    """A server that was killed, from its start to ready."""

    seconds: float
    cpu: float
    """Of its main thread."""
    file: int
    """Bytes of its append-only file."""


class FileRewritten(NamedTuple):
    """A rewrite of an append-only file."""

    before: int
    after: int
    fork_us: int
    copied: int
    """Bytes that had to be copied although nobody wrote meanwhile."""


class ProvedAgain(NamedTuple):
    """Microseconds of CPU an event, the client's and Redis's together."""

    rebuild_us: float
    verify_us: float


def restart(node: BenchNode) -> Restarted:
    """Kill it as the system would, and start it again."""
    file = int(node.info("persistence")["aof_current_size"])
    node.kill()
    began = perf_counter()
    node.start()
    seconds = perf_counter() - began
    told = node.info("cpu")
    return Restarted(seconds, float(told["used_cpu_user_main_thread"]) + float(told["used_cpu_sys_main_thread"]), file)


def rewrite(node: BenchNode) -> FileRewritten:
    """Have it write its file anew, and wait until it is done."""
    before = int(node.info("persistence")["aof_current_size"])
    node.rewrite()
    told = node.info("persistence")
    fork = int(node.info("stats")["latest_fork_usec"])
    return FileRewritten(before, int(told["aof_current_size"]), fork, int(told["aof_last_cow_size"]))


def prove(nodes: Nodes, *, sealed: bool = False) -> ProvedAgain:
    """Rebuild some partitions, then verify them. What is replaced goes before that."""
    rebuild = verify = 0.0
    with nodes.store(MASTER if sealed else None) as (client, wire):
        heads = heads_of(wire, nodes.tags)
        filled = [number for number, head in enumerate(heads) if head]
        chosen = sorted(filled, key=lambda number: abs(heads[number] - sum(heads) / len(heads)))[:_PROVED]
        events = sum(heads[number] for number in chosen)
        for number in chosen:
            tag = nodes.tags[number]
            with quiet():
                cpu = _cpu(nodes)
                switched = rebuild_partition(client, tag, holder="bench")
                rebuild += _cpu(nodes) - cpu
            drop_build(wire, BuildKeys(tag, switched.old))
            wire.call("HDEL", LogKeys(tag).meta, f"old:{switched.old}")
            with quiet():
                cpu = _cpu(nodes)
                verdict = verify_partition(client, number, tag)
                verify += _cpu(nodes) - cpu
            assert not verdict.differences, "what the benchmark folded differs from its log"
    return ProvedAgain(rebuild / events * 1e6, verify / events * 1e6)


def _cpu(nodes: Nodes) -> float:
    return nodes.used().cpu + process_time()
