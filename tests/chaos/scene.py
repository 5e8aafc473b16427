"""What a scene of the fault test is, and the two grounds on which one is played: a Redis beside workers, or `up` with its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.redis.create import open_store
from tests.chaos.cast import LAUNCHER, ROOT, Actor, Server, wait_until
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict
from tests.patience import PATIENCE

STORE_ID = "c3a1d5f2-2f0b-4a7e-8d7e-6b1f0e9d4c55"
PARTITIONS = 4
LEASE_MS = 1_000


@dataclass(frozen=True, slots=True)
class Scene:
    """One fault, struck in the middle of traffic. `play` asserts what is told and what holds; its verdict is clean."""

    name: str
    struck: str
    told: str
    holds: str
    play: Callable[[Path, int], Verdict]
    """In an empty folder, with a seed."""


class Ground:
    """A Redis of its own, which outlives workers."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder = folder
        self.server = server
        self._cast: list[Actor] = []

    def worker(self) -> Actor:
        """One more fold worker, a process."""
        return self.actor("engramlog_server.ops.worker", "--url", self.server.url, "--lease-ms", str(LEASE_MS))

    def actor(self, module: str, *arguments: str, environment: dict[str, str] | None = None) -> Actor:
        """A process of the product."""
        actor = Actor(module, *arguments, log=self.folder / f"actor{len(self._cast)}.log", environment=environment)
        self._cast.append(actor)
        return actor

    def command(self, *arguments: str, environment: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        """An `engramlog` command on this store: its exit code, and its JSON."""
        store = {"ENGRAMLOG_REDIS_URL": self.server.url, "ENGRAMLOG_DATA": str(self.folder / "data")}
        return command(store | (environment or {}), arguments)

    def beside(self, *words: str, url: str) -> Actor:
        """An `engramlog` command that goes on beside the scene, by another way to the store."""
        environment = {"ENGRAMLOG_REDIS_URL": url, "ENGRAMLOG_DATA": str(self.folder / "data")}
        actor = Actor(
            "engramlog_server.ops.main",
            *words,
            log=self.folder / f"actor{len(self._cast)}.log",
            environment=environment,
        )
        self._cast.append(actor)
        return actor

    def close(self) -> None:
        """End whom it started."""
        for actor in self._cast:
            actor.kill()


@contextmanager
def on_a_redis(folder: Path, seed: int) -> Iterator[tuple[Ground, Traffic]]:
    """A store on a Redis of its own, with nobody at work yet."""
    with ExitStack() as stack:
        server = Server(folder)
        stack.callback(server.close)
        server.start()
        client = server.client()
        wire = open_wire(client)
        open_store(wire, store_id=STORE_ID, partitions=PARTITIONS)
        wire.close()
        traffic = Traffic(client, seed)
        stack.callback(traffic.close)
        ground = Ground(folder, server)
        stack.callback(ground.close)
        yield ground, traffic
        verified(ground.command)


class Up(Actor):
    """`engramlog up` on a data folder, with its worker, and with a private Redis unless told of another."""

    def __init__(self, data: Path, log: Path, redis_url: str = "", **more: str) -> None:
        """`more`: of its environment."""
        self.data = data
        # No jobs: they tell events of their own, which are in nobody's ledger.
        self._environment = {
            "ENGRAMLOG_DATA": str(data),
            "ENGRAMLOG_REDIS_URL": redis_url,
            "ENGRAMLOG_JOB_WORKERS": "0",
            "ENGRAMLOG_SEALED_BY": "none",  # traffic and judge speak to its Redis by themselves
            **more,
        }
        self.log = log
        self.fate, self.killed = "", False
        self._start = log.stat().st_size if log.exists() else 0
        words = [
            sys.executable,
            "-P",
            "-m",
            "engramlog_server.ops.main",
            "up",
            "--port",
            "0",
            "--workers",
            "1",
            "--json",
        ]
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), *words],
                cwd=ROOT,
                env=os.environ | self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    def facts(self, name: str) -> list[dict[str, Any]]:
        """The log lines that tell this fact."""
        lines = []
        for line in self.told().splitlines():
            with suppress(json.JSONDecodeError):
                lines.append(json.loads(line))
        return [line for line in lines if isinstance(line, dict) and line.get("event") == name]

    def serves(self) -> None:
        """Wait until it is ready."""

        def ready() -> bool:
            assert self.code is None, self.told()
            return bool(self.facts("service started"))

        wait_until(ready, "up is ready")

    @property
    def redis_pid(self) -> int:
        """Its private Redis."""
        return int(self.facts("redis started")[0]["pid"])

    @property
    def redis_url(self) -> str:
        """Where its private Redis listens."""
        return f"unix://{json.loads((self.data / 'server.json').read_text())['socket']}"

    def command(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """An `engramlog` command on its folder: its exit code, and its JSON."""
        return command(self._environment, arguments)


@contextmanager
def on_up(folder: Path, seed: int) -> Iterator[tuple[Up, Traffic, Callable[[], Up]]]:
    """`up` on a folder of its own, traffic on its private Redis, and a way to start it anew once it has ended."""
    with ExitStack() as stack:

        def start() -> Up:
            up = Up(folder / "data", folder / "up.log")
            stack.callback(up.end)
            up.serves()
            return up

        up = start()
        traffic = Traffic(connect(up.redis_url), seed)
        stack.callback(traffic.close)
        traffic.ledger.may_start = True
        yield up, traffic, start
        verified(up.command)


def verified(command: Callable[..., tuple[int, dict[str, Any]]]) -> None:
    """After a scene `engramlog verify` finds nothing, whatever else was looked at."""
    code, answer = command("verify")
    assert (code, answer.get("ok")) == (0, True), f"verify ends with {code}: {answer.get('differences', answer)}"


def command(environment: dict[str, str], arguments: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
    """What an `engramlog` command answers in JSON, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", *arguments, "--json"],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise AssertionError(f"{arguments}: {done.stdout}{done.stderr}") from error


def no_room_beyond(pid: int, size: int) -> None:
    """From now on the file system refuses a process's writes beyond `size` bytes of a file: a disk that is full.

    A limit instead of a file system of its own, which not everybody may make: root and a plain user alike, and it can strike
    while the process runs. redis-server is started by a Python that ignores SIGXFSZ, and inherits that: it gets an error, as
    from a disk.
    """
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, most))


def grown_file(data: Path) -> Path:
    """The append-only file of a data folder that grows."""
    grown = sorted(data.glob("appendonlydir/*.incr.aof"))
    return grown[-1] if grown else data / "appendonly.aof"
