"""Servers of the Redis protocol in turns: cost, room and start, and what is left after cut files, kills and a full disk."""

from __future__ import annotations

import os
import resource
import shutil
import signal
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any

import redis

from benchmarks.events import prepared, sample
from benchmarks.measure import Row, cost_of
from benchmarks.server import BenchServer, append_all, bench_server, fill, fold
from engramlog_server.events.envelope import Prepared
from engramlog_server.ops.embedded.process import RedisBinary, connect, inspect_server
from engramlog_server.ops.embedded.server import open_folder

SINGLE = 1_000
"""Events that are appended one in a request."""
SCRIPTS = 200
SCRIPT = "redis.call('SET', KEYS[1], ARGV[1]) redis.call('RPUSH', KEYS[2], ARGV[1]) return 1"
"""Two writes: all of it or nothing comes back."""


def compare(paths: Sequence[Path], events: int, rounds: int, tries: int) -> dict[str, list[Row]]:
    """Medians of rounds in which the servers take turns, and for supported servers how many of `tries` faults lost nothing.

    Raises ValueError for a path that is no server.
    """
    binaries = [_server(path) for path in paths]
    ready = prepared(sample(events))
    found = [defaultdict[str, list[float]](list) for _ in binaries]
    for _ in range(rounds):
        for binary, figures in zip(binaries, found, strict=True):
            for name, value in _round(binary, ready).items():
                figures[name].append(value)
    cost = [
        {"server": str(binary.release)} | {name: round(median(values), 1) for name, values in figures.items()}
        for binary, figures in zip(binaries, found, strict=True)
    ]
    faults = [
        {"server": str(binary.release), "of": tries} | _faults(binary, tries)
        for binary in binaries
        if binary.release.is_supported
    ]
    return {"microseconds of CPU and bytes, an event": cost, "nothing acknowledged lost after": faults}


def _server(path: Path) -> RedisBinary:
    found = inspect_server(path)
    if found is None:
        raise ValueError(f"servers: got {path}; allowed: paths of redis-server or valkey-server")
    return found


def _round(binary: RedisBinary, ready: Sequence[Prepared]) -> dict[str, float]:
    count, single = len(ready), min(SINGLE, len(ready))
    with bench_server("always", binary) as server:
        _, log = server.new_log()
        one = cost_of(server, lambda: append_all(log, ready[:single], batch=1))
        log.close()
        _, log = server.new_log()
        many = cost_of(server, lambda: append_all(log, ready))
        log.close()
        server.new_store()
        empty = _used(server)
        tags, heads = fill(server, ready)
        logged = _used(server) - empty
        folding = cost_of(server, lambda: fold(server, tags, heads))
        folded = _used(server) - empty
        with bench_server("always", binary, server.folder) as again:
            info: Any = again.client.info()
            start = info["used_cpu_user"] + info["used_cpu_sys"]
    return {
        "append, 1": one.server / single * 1e6,
        "append, 1,000": many.server / count * 1e6,
        "fold": folding.server / count * 1e6,
        "bytes in the log": logged / count,
        "bytes folded": folded / count,
        "start, ms of CPU": start * 1e3,
    }


def _used(server: BenchServer) -> int:
    info: Any = server.client.info("memory")
    return int(info["used_memory"])


def _faults(binary: RedisBinary, tries: int) -> Row:
    chance = Random(20261129)
    with TemporaryDirectory(prefix="engramlog-servers-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        whole = _filled(folder / "whole", binary)
        cuts = chance.sample(range(5_000), tries)
        torn = sum(_survives_cut(whole, folder / f"cut-{cut}", binary, cut) for cut in cuts)
        killed = sum(_survives_kill(folder / "killed", binary, chance.uniform(0.02, 0.3)) for _ in range(tries))
        full = sum(
            _survives_full_disk(folder / f"full-{at}", binary, chance.randint(5_000, 50_000)) for at in range(tries)
        )
    return {"cut file": torn, "SIGKILL": killed, "full disk": full}


def _filled(folder: Path, binary: RedisBinary) -> Path:
    with open_folder(folder, "command", binary=binary) as opened, connect(opened.socket_path) as client:
        for number in range(SCRIPTS):
            client.eval(SCRIPT, 2, f"first:{number}", "seconds", number)
    return folder


def _survives_cut(whole: Path, folder: Path, binary: RedisBinary, lost: int) -> bool:
    """Whether whole scripts are left, and what is written afterwards is there at the next start."""
    shutil.copytree(whole, folder)
    tail = _tail(folder)
    os.truncate(tail, tail.stat().st_size - lost)
    with open_folder(folder, "command", binary=binary) as opened, connect(opened.socket_path) as client:
        left = len(client.keys("first:*"))
        same = client.lrange("seconds", 0, -1) == [str(number) for number in range(left)]
        client.eval(SCRIPT, 2, "later", "seconds", "later")
    with open_folder(folder, "command", binary=binary) as opened, connect(opened.socket_path) as client:
        return same and (client.get("later"), client.llen("seconds")) == ("later", left + 1)


def _survives_kill(folder: Path, binary: RedisBinary, seconds: float) -> bool:
    """Whether every acknowledged write is there after a SIGKILL during writes, one not acknowledged at most besides."""
    with open_folder(folder, "command", binary=binary) as opened, connect(opened.socket_path) as client:
        first = int(client.llen("seconds"))
        timer = Timer(seconds, os.kill, (opened.pid, signal.SIGKILL))
        timer.start()
        acknowledged = _written(client, first)
        timer.join()
    return _kept(folder, binary) in (acknowledged, acknowledged + 1)


def _survives_full_disk(folder: Path, binary: RedisBinary, room: int) -> bool:
    """Whether every acknowledged write is there after the file system took only `room` more bytes."""
    with open_folder(folder, "command", binary=binary) as opened, connect(opened.socket_path) as client:
        _, most = resource.prlimit(opened.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(opened.pid, resource.RLIMIT_FSIZE, (_tail(folder).stat().st_size + room, most))
        acknowledged = _written(client, 0)
    return _kept(folder, binary) in (acknowledged, acknowledged + 1)


def _written(client: redis.Redis, acknowledged: int) -> int:
    """Write until it is refused; how many writes are acknowledged, with those of before."""
    with suppress(redis.RedisError):
        while True:
            client.eval(SCRIPT, 2, f"first:{acknowledged}", "seconds", acknowledged)
            acknowledged += 1
    return acknowledged


def _kept(folder: Path, binary: RedisBinary) -> int:
    with open_folder(folder, "command", binary=binary) as opened, connect(opened.socket_path) as client:
        return int(client.llen("seconds"))


def _tail(folder: Path) -> Path:
    return max(folder.glob("appendonlydir/*.incr.aof"))
