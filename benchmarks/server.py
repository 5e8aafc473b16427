"""A private redis-server for one benchmark: a unix socket in a temporary folder, append-only file on, no rewrites."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import redis

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
