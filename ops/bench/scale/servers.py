"""Redis servers for one benchmark, on ports of loopback: one, or the primaries of a cluster, with replicas or without.

Each asks for a password that nobody else knows, dies with us, and can be killed and started again on its folder.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, NamedTuple

import redis

from events.errors import EmbeddedRedisError
from events.partitions import SLOTS
from events.redis.wire import StoreClient, Wire, connect
from events.sealing.seals import MasterKey
from ops.embedded import launch as embedded_launch
from ops.embedded.binary import RedisBinary, find_redis_server
from projections.redis.create import open_store, read_identity

HOST = "127.0.0.1"
_LOWEST, _HIGHEST, _BUS_ABOVE = 12_000, 21_999, 10_000
"""Below the ports that a system gives away by itself; the bus of a cluster's node listens so far above its port."""
_TRIES = 5
_READY_SECONDS = 900.0
_LOOK_SECONDS, _MOST_LOOK_SECONDS = 0.005, 0.1
"""Between two looks at first and at most: looking costs the servers that are measured something."""


class ServerLayout(NamedTuple):
    """How many primaries, and replicas of each."""

    name: str
    primaries: int = 1
    replicas: int = 0


ONE = ServerLayout("one Redis")
THREE = ServerLayout("three primaries", 3)
WITH_REPLICAS = ServerLayout("three primaries, a replica each", 3, 1)


class BenchNode:
    """One redis-server on a port; its settings stand in a file of its folder, so that no list of processes shows the password."""

    def __init__(self, binary: RedisBinary, folder: Path, port: int, password: str, *, clustered: bool) -> None:
        self.port = port
        self._binary, self._file, self._log = binary, folder / "redis.conf", folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self.client = redis.Redis(HOST, port, password=password, socket_timeout=300.0)
        folder.mkdir(mode=0o700)
        settings = {
            "bind": HOST, "port": str(port), "dir": str(folder), "save": '""', "requirepass": password, "masterauth": password,
            "appendonly": "yes", "appendfsync": "everysec", "auto-aof-rewrite-percentage": "0", "logfile": str(self._log),
            "repl-diskless-sync": "yes", "repl-diskless-sync-delay": "0", "client-output-buffer-limit": "replica 0 0 0",
        }  # fmt: skip
        if clustered:
            settings |= {"cluster-enabled": "yes", "cluster-config-file": "nodes.conf", "cluster-node-timeout": "60000"}
        self._file.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
        self._file.chmod(0o600)

    def start(self) -> None:
        """Start it, and wait until it has loaded what it keeps. Raises EmbeddedRedisError."""
        command = [sys.executable, "-I", "-S", embedded_launch.__file__, str(os.getpid()), str(self._binary.path)]
        self._process = subprocess.Popen(
            [*command, str(self._file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._is_ready, "a redis-server of the benchmark is ready", _READY_SECONDS)

    def _is_ready(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            told = self._log.read_text(errors="replace")[-500:] if self._log.exists() else ""
            raise EmbeddedRedisError(f"a redis-server of the benchmark did not start: {told}")
        with suppress(redis.ConnectionError):  # BusyLoadingError is one
            return bool(self.client.ping())
        return False

    def kill(self) -> None:
        """SIGKILL; idempotent."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self.client.connection_pool.disconnect()

    def rewrite(self) -> None:
        """Have it write its append-only file anew, and wait until that is done. Raises EmbeddedRedisError."""
        self.client.bgrewriteaof()

        def is_done() -> bool:
            told = self.info("persistence")
            return not told["aof_rewrite_in_progress"] and not told["aof_rewrite_scheduled"]

        wait_until(is_done, "an append-only file is written anew", _READY_SECONDS)

    def info(self, section: str) -> dict[str, Any]:
        """What it tells of itself."""
        found: dict[str, Any] = self.client.info(section)
        return found

    def ask(self, *command: Any) -> Any:
        """One command."""
        return self.client.execute_command(*command)  # type: ignore[no-untyped-call]


class ServersUsed(NamedTuple):
    """What servers took so far: seconds of CPU of their main threads, those of the replicas, bytes of their append-only files,
    bytes of memory, commands."""

    cpu: float
    replicas: float
    aof: int
    memory: int
    commands: int


class Nodes:
    """The servers of a layout, and the store on them."""

    def __init__(self, layout: ServerLayout, binary: RedisBinary, folder: Path) -> None:
        self.layout = layout
        self.version = binary.version
        self._password = secrets.token_hex(16)
        self._form(binary, folder)
        self.primaries = self.all[: layout.primaries]
        self.replicas = self.all[layout.primaries :]
        ports = ",".join(f"{HOST}:{node.port}" for node in self.primaries)
        kind = "redis" if layout.primaries == 1 else "redis+cluster"
        self.url = f"{kind}://:{self._password}@{ports}"
        self.tags: tuple[str, ...] = ()

    def _form(self, binary: RedisBinary, folder: Path) -> None:
        clustered = self.layout.primaries > 1
        count = self.layout.primaries * (1 + self.layout.replicas)
        for last in reversed(range(_TRIES)):
            made = [
                BenchNode(binary, folder / str(port), port, self._password, clustered=clustered)
                for port in _free(count)
            ]
            self.all = made
            try:
                for node in made:
                    node.start()
                break
            except EmbeddedRedisError as error:  # another process may have taken a port meanwhile
                self.close()
                if not last or "in use" not in error.message:
                    raise
        if clustered:
            _meet(self.all, self.layout.primaries)

    @contextmanager
    def store(self, master: MasterKey | None = None) -> Iterator[tuple[StoreClient, Wire]]:
        """A client of the store and a wire, for the length of the block. `master`: what opens it, where it is sealed."""
        client = connect(self.url, timeout=300.0, master=master)
        wire = Wire(client)
        try:
            if (identity := read_identity(wire)) is not None:
                client.seals.begin(identity.store_id, identity.sealed)
            yield client, wire
        finally:
            wire.close()
            client.close()

    def new_store(self, partitions: int, master: MasterKey | None = None) -> None:
        """An empty store in place of whatever there was; sealed where there is a master key."""
        for node in self.primaries:
            node.client.flushall()
            node.rewrite()
        with self.store(master) as (_, wire):
            self.tags = open_store(wire, store_id="bench", partitions=partitions).tags

    def used(self) -> ServersUsed:
        """Of all servers together."""
        cpu, replicas = (sum(map(_cpu, nodes)) for nodes in (self.primaries, self.replicas))
        files = [node.info("persistence") for node in self.primaries]
        aof = sum(int(one["aof_current_size"]) + int(one["aof_buffer_length"]) for one in files)
        memory = sum(int(node.info("memory")["used_memory_dataset"]) for node in self.primaries)
        commands = sum(int(node.info("stats")["total_commands_processed"]) for node in self.primaries)
        return ServersUsed(cpu, replicas, aof, memory, commands)

    def close(self) -> None:
        """End them all."""
        for node in self.all:
            node.kill()


@contextmanager
def servers(layout: ServerLayout, redis_server: str | None) -> Iterator[Nodes]:
    """Servers for the length of the block; what they kept goes with them. Raises EmbeddedRedisError."""
    binary = find_redis_server(redis_server)
    with TemporaryDirectory(prefix="engramlog-bench-", ignore_cleanup_errors=True) as folder:
        nodes = Nodes(layout, binary, Path(folder))
        try:
            yield nodes
        finally:
            nodes.close()


def wait_until(fact: Callable[[], bool], what: str, seconds: float = 60.0) -> float:
    """Wait for it; the seconds that it took. Raises EmbeddedRedisError where it does not come."""
    began, pause = monotonic(), _LOOK_SECONDS
    while not fact():
        if monotonic() > began + seconds:
            raise EmbeddedRedisError(f"{what}: not after {seconds:,.0f} s")
        sleep(pause)
        pause = min(1.2 * pause, _MOST_LOOK_SECONDS)
    return monotonic() - began


def _cpu(node: BenchNode) -> float:
    told = node.info("cpu")
    return float(told["used_cpu_user_main_thread"]) + float(told["used_cpu_sys_main_thread"])


def _free(count: int) -> list[int]:
    drawn = SystemRandom().sample(range(_LOWEST, _HIGHEST), _HIGHEST - _LOWEST)
    free = (port for port in drawn if _is_free(port) and _is_free(port + _BUS_ABOVE))
    return [port for _, port in zip(range(count), free, strict=False)]


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as redis-server does
        try:
            tried.bind((HOST, port))
        except OSError:
            return False
        return True


def _meet(nodes: Sequence[BenchNode], primaries: int) -> None:
    """Make a cluster of servers that know nothing of each other: slots shared out evenly, the rest replicas in turn."""
    names = [node.ask("CLUSTER MYID").decode() for node in nodes]
    for number, node in enumerate(nodes):
        node.ask("CLUSTER SET-CONFIG-EPOCH", number + 1)
    for number, node in enumerate(nodes[:primaries]):
        node.ask("CLUSTER ADDSLOTS", *range(SLOTS * number // primaries, SLOTS * (number + 1) // primaries))
    for node in nodes[1:]:
        node.ask("CLUSTER MEET", HOST, nodes[0].port)

    def all_know_all() -> bool:
        return all(_known(node) >= set(names) for node in nodes)

    wait_until(all_know_all, "the nodes of the benchmark's cluster know each other")
    for number, node in enumerate(nodes[primaries:]):
        node.ask("CLUSTER REPLICATE", names[number % primaries])

    def is_whole() -> bool:
        return all(_is_fine(node) for node in nodes) and all(
            node.info("replication")["master_link_status"] == "up" for node in nodes[primaries:]
        )

    wait_until(is_whole, "the benchmark's cluster is whole")


def _known(node: BenchNode) -> set[str]:
    told = node.ask("CLUSTER NODES")
    if isinstance(told, dict):  # as redis-py reads it
        return {str(one["node_id"]) for one in told.values()}
    return {line.split()[0] for line in told.decode().splitlines()}


def _is_fine(node: BenchNode) -> bool:
    told = node.ask("CLUSTER INFO")
    return bool(told["cluster_state"] == "ok") if isinstance(told, dict) else b"cluster_state:ok" in told
