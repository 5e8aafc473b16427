"""A Redis of somebody's own, before it is used: no Cluster, no Sentinel, and loaded."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest
import redis

from engramlog_server.events.errors import StoreMismatch, StoreUnavailable
from engramlog_server.events.redis.server import await_loaded, connect, refuse_kind
from engramlog_server.events.redis.wire import open_wire
from tests.integration.live import wait_until
from tests.patience import PATIENCE
from tests.servers import MISSING_NAMED, RedisServer, server_named

LOADING = b"-LOADING Redis is loading the dataset in memory\r\n"
PERSISTENCE = b"# Persistence\r\nloading:1\r\nloading_loaded_perc:41.50\r\nloading_eta_seconds:12\r\n"


def engramlog(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", *arguments],
        env={**os.environ, "COLUMNS": "200", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port(beside: int) -> int:
    """A port that nobody has, as nobody has the one so many above it."""
    for port in Random().sample(range(20_000, 55_000), 1_000):
        with suppress(OSError), socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", port))
            other.bind(("127.0.0.1", port + beside))
            return port
    raise AssertionError("no free port")


@pytest.fixture(params=["valkey", "redis-7"])
def cluster(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    """One node of a Cluster that has every slot, so that it would take any key."""
    binary = server_named(request.param)
    if binary is None:
        pytest.skip(MISSING_NAMED[request.param])
    port = free_port(beside=1)
    server = RedisServer(binary, cluster_enabled="yes", bind="127.0.0.1", port=str(port), cluster_port=str(port + 1))
    with server.client() as client:
        client.execute_command("CLUSTER", "ADDSLOTS", *range(16_384))
    yield server
    server.stop()


def test_a_cluster_given_as_a_plain_url_is_refused_by_name_and_nothing_is_written(
    cluster: RedisServer, tmp_path: Path
) -> None:
    turns = tmp_path / "turns.jsonl"
    turns.write_text('{"turn_id": "t1", "occurred_at": "2026-01-05T08:00:00Z", "text": "tea", "conversation": "c"}\n')
    for command in (["status"], ["up", "--port", "0"], ["import", "turns", str(turns)]):
        done = engramlog(*command, ENGRAMLOG_REDIS_URL=cluster.url)
        _, told = done.communicate(timeout=PATIENCE)
        assert (done.returncode, "leads to one node of a Redis Cluster" in told) == (1, True), told
        assert "ENGRAMLOG_REDIS_URL" in told
    with cluster.client() as client:
        assert client.dbsize() == 0


def test_a_cluster_as_the_queue_is_refused_by_name_and_nothing_is_written(
    cluster: RedisServer, redis_server: RedisServer, real_redis_client: object, tmp_path: Path
) -> None:
    urls = {"ENGRAMLOG_REDIS_URL": redis_server.url, "ENGRAMLOG_QUEUE_URL": cluster.url}
    environment = urls | {"ENGRAMLOG_DATA": str(tmp_path / "data")}
    _, told = (up := engramlog("up", "--port", "0", **environment)).communicate(timeout=PATIENCE)
    assert (up.returncode, "ENGRAMLOG_QUEUE_URL leads to one node of a Redis Cluster" in told) == (1, True), told
    assert "service started" not in told
    with cluster.client() as client:
        assert client.dbsize() == 0


def test_a_job_worker_whose_queue_is_a_cluster_says_so_writes_nothing_and_ends_when_it_is_told(
    cluster: RedisServer, redis_server: RedisServer, real_redis_client: object, tmp_path: Path
) -> None:
    environment = {"ENGRAMLOG_REDIS_URL": redis_server.url, "ENGRAMLOG_DATA": str(tmp_path / "data")}
    engramlog("status", **environment).communicate(timeout=PATIENCE)
    worker = subprocess.Popen(
        [sys.executable, "-P", "-m", "engramlog_server.ops.job_worker"],
        env={**os.environ, **environment, "ENGRAMLOG_QUEUE_URL": cluster.url},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert worker.stdout is not None
    told = next(line for line in worker.stdout if "queue refused" in line)
    worker.terminate()
    worker.communicate(timeout=PATIENCE)
    assert "ENGRAMLOG_QUEUE_URL leads to one node of a Redis Cluster" in told
    assert worker.returncode == 0
    with cluster.client() as client:
        assert client.dbsize() == 0


def listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as asks, suppress(OSError):
        asks.connect(str(path))
        return True
    return False


def test_a_service_that_a_client_started_leaves_its_socket_to_an_up_on_a_redis_of_ones_own_too(
    redis_server: RedisServer, real_redis_client: object, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    environment = {"ENGRAMLOG_REDIS_URL": redis_server.url, "ENGRAMLOG_DATA": str(data)}
    idle = engramlog("up", "--idle", "600", "--json", **environment)
    try:
        wait_until(lambda: listens(data / "api.sock"))
        up = engramlog("up", "--port", "0", "--json", **environment)
        try:
            _, told = idle.communicate(timeout=PATIENCE)
            assert (idle.returncode, "an `engramlog up` wants the store" in told) == (0, True), told
            wait_until(lambda: listens(data / "api.sock"))
            up.terminate()
            _, told = up.communicate(timeout=PATIENCE)
            assert (up.returncode, "no socket in the data folder" in told) == (0, False), told
        finally:
            up.kill()
            up.wait(PATIENCE)
    finally:
        idle.kill()
        idle.wait(PATIENCE)


class Loads:
    """Stands before a Redis and answers as one that loads, until it is told that all is loaded."""

    def __init__(self, folder: Path, server: RedisServer, *, silent: bool = False) -> None:
        self.path = folder / "loads"
        self.loaded, self.asked = Event(), Event()
        self._told = LOADING if silent else b"$%d\r\n%s\r\n" % (len(PERSISTENCE), PERSISTENCE)
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"unix://{self.path}"

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, socket.socket(socket.AF_UNIX) as behind, suppress(OSError):
            behind.connect(self._server.url.removeprefix("unix://"))
            while said := connection.recv(1 << 20):
                if self.loaded.is_set():
                    behind.sendall(said)
                    connection.sendall(behind.recv(1 << 20))
                    continue
                # As Redis does: INFO and CLIENT are answered meanwhile, nothing else is.
                named = b"+OK\r\n" * said.count(b"SETINFO")
                connection.sendall(named or (self._told if b"persistence" in said else LOADING))
                self.asked.set()


@pytest.fixture(params=[False, True], ids=["tells", "silent"])
def loads(request: pytest.FixtureRequest, tmp_path: Path, server: RedisServer) -> Iterator[Loads]:
    standing = Loads(tmp_path, server, silent=request.param)
    yield standing
    standing.close()


def test_a_command_waits_while_redis_loads_and_says_so(loads: Loads) -> None:
    command = engramlog("status", "--json", ENGRAMLOG_REDIS_URL=loads.url)
    assert command.stderr is not None
    line = command.stderr.readline()
    assert "Redis loads its data set" in line
    if b"loading_loaded_perc" in loads._told:
        assert "41.50 %, about 12 s left" in line
    loads.loaded.set()
    told, _ = command.communicate(timeout=PATIENCE)
    assert command.returncode == 0
    assert '"events": 0' in told


def test_a_redis_that_goes_on_loading_is_an_error_that_says_so(loads: Loads) -> None:
    wire = open_wire(connect(loads.url))
    told: list[str] = []
    with pytest.raises(StoreUnavailable, match=r"still loads its data set.* after 0 s of waiting"):
        await_loaded(wire, 0, told.append)
    assert told == []
    wire.close()


def test_a_redis_that_has_loaded_is_used_at_once(real_redis_client: object, redis_server: RedisServer) -> None:
    wire = open_wire(connect(redis_server.url))
    refuse_kind(wire, "ENGRAMLOG_REDIS_URL")
    await_loaded(wire, 0, None)
    wire.close()


@pytest.mark.parametrize(("policy", "taken"), [("allkeys-lru", False), ("volatile-lru", True), ("noeviction", True)])
def test_a_redis_that_deletes_any_key_to_make_room_is_refused(
    real_redis_client: redis.Redis, redis_server: RedisServer, policy: str, taken: bool
) -> None:
    real_redis_client.config_set("maxmemory-policy", policy)
    done = engramlog("status", ENGRAMLOG_REDIS_URL=redis_server.url)
    _, told = done.communicate(timeout=PATIENCE)
    assert done.returncode == int(not taken), told
    assert (f"maxmemory-policy is {policy}" in told, real_redis_client.dbsize() == 0) == (not taken, not taken)


class Tells:
    """A server's answer to HELLO and INFO, as a wire gives it."""

    many = False

    def __init__(self, hello: object, info: object) -> None:
        self._answers = {"HELLO": hello, "INFO": info}

    def pipeline(self, commands: list[tuple[str, ...]]) -> list[object]:
        return [self._answers[commands[0][0]]]


@pytest.mark.parametrize(
    ("hello", "info", "refused"),
    [
        ([b"server", b"redis", b"mode", b"cluster"], b"", "one node of a Redis Cluster"),
        ([b"server", b"redis", b"mode", b"sentinel"], b"", "a Redis Sentinel"),
        (ValueError(), b"# Cluster\r\ncluster_enabled:1\r\n", "one node of a Redis Cluster"),
        ([b"server", b"redis", b"mode", b"standalone"], b"", None),
        (ValueError(), b"# Cluster\r\ncluster_enabled:0\r\n", None),
        (ValueError(), ValueError(), None),
    ],
)
def test_the_kind_is_read_off_what_a_server_tells_of_itself(hello: object, info: object, refused: str | None) -> None:
    wire: object = Tells(hello, info)
    if refused is None:
        refuse_kind(wire, "SETTING")  # type: ignore[arg-type]
        return
    with pytest.raises(StoreMismatch, match=f"SETTING leads to {refused}"):
        refuse_kind(wire, "SETTING")  # type: ignore[arg-type]
