"""A private redis-server for one benchmark, and what benchmarks do with it: append, fold, open a store for questions.

It listens on a unix socket in a temporary folder, with the append-only file on and without rewrites.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

import redis

from engramlog_server.api.services.accesses import AccessRecorder
from engramlog_server.api.services.context import Contexts
from engramlog_server.api.services.reading import Reader
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.events.keys import Seals
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.embedded import launch as embedded_launch
from engramlog_server.ops.embedded.process import RedisBinary, find_redis_server
from engramlog_server.projections.language.orders import MARKER
from engramlog_server.projections.redis.create import StoreIdentity, open_store
from engramlog_server.projections.redis.usage import FoldDebt
from engramlog_server.projections.redis.view import RedisViews

Fsync = Literal["everysec", "always"]
PARTITIONS = 16
_START_SECONDS = 20.0


class BenchServer:
    """A running server, empty at first; `new_store` empties it again."""

    def __init__(self, socket: Path, binary: RedisBinary, fsync: Fsync) -> None:
        self.folder = socket.parent
        self.socket = socket
        self.url = f"unix://{socket}"
        self.release = binary.release
        self.fsync = fsync
        self.client = connect(self.url, timeout=120.0)
        """As the product makes it: no retries."""

    def new_store(self, partitions: int = PARTITIONS) -> StoreIdentity:
        """An empty store, not sealed, in place of whatever there was."""
        self.client.flushall()
        self.client.seals = Seals(None)
        wire = open_wire(self.client)
        identity = open_store(wire, store_id="bench", partitions=partitions)
        wire.close()
        return identity

    def new_log(self, partitions: int = PARTITIONS) -> tuple[StoreIdentity, RedisEventLog]:
        """An empty store and its log."""
        identity = self.new_store(partitions)
        return identity, RedisEventLog(self.client, identity.tags, read_debt=FoldDebt(identity.tags), marker=MARKER)


@contextmanager
def bench_server(
    fsync: Fsync = "everysec", binary: RedisBinary | None = None, files: Path | None = None
) -> Iterator[BenchServer]:
    """A server for the length of the block, the bundled one by default; its folder goes with it.

    `files`: the folder of another server, with a copy of whose append-only files it starts.
    """
    binary = binary or find_redis_server(None)
    with TemporaryDirectory(prefix="engramlog-bench-", ignore_cleanup_errors=True) as folder:
        if files is not None:
            shutil.copytree(files, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("s", "log"))
        socket = Path(folder) / "s"
        options = {
            "port": "0",
            "unixsocket": str(socket),
            "dir": folder,
            "save": "",
            "appendonly": "yes",
            "appendfsync": fsync,
            "auto-aof-rewrite-percentage": "0",
            "logfile": str(Path(folder) / "log"),
        }
        words = [part for name, value in options.items() for part in (f"--{name}", value)]
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", embedded_launch.__file__, str(os.getpid()), str(binary.path), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            server = BenchServer(socket, binary, fsync)
            _wait_until_ready(server, process)
            yield server
            server.client.close()
        finally:
            process.kill()
            process.wait()


def _wait_until_ready(server: BenchServer, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while True:
        try:
            server.client.ping()
        except (redis.ConnectionError, redis.BusyLoadingError):
            if process.poll() is not None or time.monotonic() > end:
                raise EmbeddedRedisError("the benchmark's redis-server did not start; try it by hand") from None
            time.sleep(0.01)
        else:
            return


BATCH = 1_000
GIVE_UP_SECONDS = 600.0


def append_all(log: RedisEventLog, events: Sequence[Prepared], batch: int = BATCH) -> None:
    """Append in batches; every event must be new."""
    for start in range(0, len(events), batch):
        for receipt in log.append(events[start : start + batch]):
            assert receipt.status == "appended", receipt


def fill(server: BenchServer, events: Sequence[Prepared]) -> tuple[tuple[str, ...], dict[int, int]]:
    """A new store with these events, not folded; its tags, and the head of each partition that has events."""
    identity, log = server.new_log()
    append_all(log, events)
    heads = {partition: seq for partition in range(PARTITIONS) if (seq := log.head(partition))}
    log.close()
    return identity.tags, heads


def fold(server: BenchServer, tags: Sequence[str], heads: dict[int, int]) -> int:
    """Fold up to the heads by one worker in this process; gives the number of events."""
    worker = FoldWorker(server.client, tags, "bench")
    assert worker.drain(heads, GIVE_UP_SECONDS), "the fold did not finish"
    worker.hand_over()
    return worker.folded


class Services(NamedTuple):
    """What answers questions about a store."""

    reader: Reader
    contexts: Contexts
    views: RedisViews


@contextmanager
def services(server: BenchServer, tags: Sequence[str]) -> Iterator[Services]:
    """Services of a store that have loaded no owner yet."""
    log, views = RedisEventLog(server.client, tags), RedisViews(server.client, tags)
    reader = Reader(log, views)
    yield Services(reader, Contexts(log, views, reader, AccessRecorder(log)), views)
    views.close()
    log.close()
