"""`engramlog up --check`: each fault that it names is one for which `up` does not start, and where it names none `up` starts."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import enumerate as enumerate_threads
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.partitions import STORE_KEY
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.ops.doctor.findings import DoctorReport
from engramlog_server.ops.doctor.starting import would_start
from engramlog_server.ops.embedded.server import open_folder
from engramlog_server.ops.keys.master import keys_of, make_key_file
from engramlog_server.ops.processes.up import up
from engramlog_server.ops.settings import load_settings
from engramlog_server.projections.redis.create import open_store
from tests.acceptance.helpers.cli import Cli
from tests.integration.live import wait_until
from tests.servers import RedisServer, wheel_server

PROXY = {"ENGRAMLOG_TRUSTED_PROXIES": "127.0.0.1", "ENGRAMLOG_PUBLIC_NAMES": "memory.example.org"}


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    made = RedisServer(wheel_server())
    yield made
    made.stop()


class Place:
    """Where a start is tried: an environment, a data folder, and a Redis of one's own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: RedisServer, stack: ExitStack) -> None:
        self.server, self.stack, self.folder = server, stack, tmp_path / "data"
        self.key = tmp_path / "master-key"
        assert make_key_file(self.key)
        self._monkeypatch = monkeypatch
        for name in [one for one in os.environ if one.startswith("ENGRAMLOG_")]:
            monkeypatch.delenv(name)
        self.set(
            ENGRAMLOG_DATA=str(self.folder),
            ENGRAMLOG_PORT="0",
            ENGRAMLOG_JOB_WORKERS="0",
            ENGRAMLOG_EMBEDDER="none",
            ENGRAMLOG_PARTITIONS="2",
        )
        monkeypatch.setattr("engramlog_server.ops.processes.up.end_by_signal", lambda begin, **_more: begin(0))

    def set(self, **told: str) -> None:
        """In the environment."""
        for name, value in told.items():
            self._monkeypatch.setenv(name, value)

    def own_redis(self) -> Wire:
        """A Redis of one's own, empty, by the settings."""
        self.server.reset()
        self.set(ENGRAMLOG_REDIS_URL=self.server.url, ENGRAMLOG_SEALED_BY="none")
        client = self.stack.enter_context(self.server.client())
        wire = open_wire(client)
        self.stack.callback(wire.close)
        return wire

    def store(self, **fields: str) -> Wire:
        """A store on it, some of whose fields tell something else."""
        wire = self.own_redis()
        open_store(wire, store_id=str(uuid4()), partitions=2)
        for name, value in fields.items():
            wire.call("HSET", STORE_KEY, name, value)
        return wire

    def sealed(self, key: Path) -> None:
        """A store that is sealed under a key."""
        from engramlog_server.ops.keys.master import KeyFile

        wire = self.own_redis()
        self.set(ENGRAMLOG_KEYS=str(key.with_name("keys.db")))
        wire.seals.master, wire.seals.open_keys = KeyFile(key), keys_of(load_settings())
        open_store(wire, store_id=str(uuid4()), partitions=2)

    def private(self) -> Path:
        """A data folder that is there."""
        self.folder.mkdir(mode=0o700)
        return self.folder

    def listens(self) -> int:
        """A port that somebody has."""
        taken = self.stack.enter_context(socket.socket())
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        return int(taken.getsockname()[1])

    def told(self) -> DoctorReport:
        """What the check says."""
        return would_start(load_settings())

    def refusal(self) -> str | None:
        """Why `up` does not start; None where it starts, and then it is told to end."""
        try:
            up(load_settings(), lambda *_told, **_facts: None, lambda _what: None)
        except EngramlogError as error:
            return error.message
        return None


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: RedisServer) -> Iterator[Place]:
    with ExitStack() as stack:
        yield Place(monkeypatch, tmp_path, server, stack)


def _file(path: Path, text: str = "", mode: int = 0o600) -> None:
    path.write_text(text)
    path.chmod(mode)


def _another_key(place: Place) -> None:
    other = place.key.with_name("other-key")
    assert make_key_file(other)
    place.sealed(place.key)
    place.set(ENGRAMLOG_SEALED_BY=str(other))


def _without_its_key(place: Place) -> None:
    place.sealed(place.key)
    place.set(ENGRAMLOG_SEALED_BY=str(place.key.with_name("gone")))


def _replica(place: Place) -> None:
    wire = place.store()
    wire.call("REPLICAOF", "127.0.0.1", "1")
    place.stack.callback(wire.call, "REPLICAOF", "NO", "ONE")


def _one_node(place: Place, setting: str) -> None:
    node = RedisServer(wheel_server(), cluster_enabled="yes")
    place.stack.callback(node.stop)
    place.set(**{setting: node.url})


def _full(place: Place) -> None:
    wire = place.store()
    wire.call("CONFIG", "SET", "maxmemory", "1")
    place.stack.callback(wire.call, "CONFIG", "SET", "maxmemory", "0")


def _others_can_enter(place: Place) -> None:
    _file(place.private() / "holiday.jpg")
    place.folder.chmod(0o755)


def _another_up(place: Place) -> None:
    place.stack.enter_context(open_folder(place.private(), "up"))


FAULTS: dict[str, tuple[Callable[[Place], object], tuple[str, str]]] = {
    "port taken": (lambda place: place.set(ENGRAMLOG_PORT=str(place.listens())), ("machine", "port")),
    "operating port taken": (
        lambda place: place.set(ENGRAMLOG_OPERATE=str(place.listens()), **PROXY),
        ("machine", "operating port"),
    ),
    "metrics port taken": (
        lambda place: place.set(ENGRAMLOG_METRICS=str(place.listens())),
        ("machine", "metrics ports"),
    ),
    "open to others without TLS": (lambda place: place.set(ENGRAMLOG_HOST="0.0.0.0"), ("access", "listening")),
    "certificate that is not there": (
        lambda place: place.set(ENGRAMLOG_TLS_CERT_FILE="/nowhere/c.pem", ENGRAMLOG_TLS_KEY_FILE="/nowhere/k.pem"),
        ("access", "listening"),
    ),
    "certificate without its key": (
        lambda place: place.set(ENGRAMLOG_TLS_CERT_FILE="/nowhere/c.pem"),
        ("access", "listening"),
    ),
    "open to others without a key": (lambda place: (place.store(), place.set(**PROXY)), ("access", "first key")),
    "a new store open to others without a key": (
        lambda place: (place.own_redis(), place.set(**PROXY)),
        ("access", "first key"),
    ),
    "a new folder open to others without a key": (lambda place: place.set(**PROXY), ("access", "first key")),
    "folder is a file": (lambda place: _file(place.folder), ("permissions", "data folder")),
    "folder below a file": (
        lambda place: (_file(place.folder), place.set(ENGRAMLOG_DATA=str(place.folder / "data"))),
        ("permissions", "data folder"),
    ),
    "folder of others' things": (_others_can_enter, ("permissions", "data folder")),
    "token that others could read": (
        lambda place: _file(place.private() / "token", "egt1_" + "x" * 43, 0o644),
        ("permissions", "token"),
    ),
    "no such redis-server": (
        lambda place: place.set(ENGRAMLOG_REDIS_SERVER="/nowhere/redis-server"),
        ("redis", "redis-server"),
    ),
    "store.json that cannot be read": (lambda place: _file(place.private() / "store.json", "{"), ("store", "folder")),
    "append-only file gone": (
        lambda place: _file(
            place.private() / "store.json",
            json.dumps({"store_id": "x", "partitions": 1, "tags": ["e0"], "newest_server_version": "7.0.0"}),
        ),
        ("store", "folder"),
    ),
    "written by a newer redis-server": (
        lambda place: _file(
            place.private() / "store.json",
            json.dumps({"store_id": "x", "partitions": 1, "tags": ["e0"], "newest_server_version": "99.0.0"}),
        ),
        ("store", "folder"),
    ),
    "another up": (_another_up, ("store", "folder")),
    "no master key where one is named": (
        lambda place: place.set(ENGRAMLOG_SEALED_BY=str(place.key.with_name("gone"))),
        ("sealing", "master key"),
    ),
    "Redis that nobody reaches": (
        lambda place: place.set(ENGRAMLOG_REDIS_URL="redis://127.0.0.1:1/0"),
        ("redis", "answers"),
    ),
    "log of format 1": (lambda place: place.store(format="1"), ("store", "opens")),
    "log of a newer format": (lambda place: place.store(format="3"), ("store", "opens")),
    "sealing that did not end": (lambda place: place.store(format="2>sealed"), ("store", "opens")),
    "other parameters": (lambda place: place.store(parameter_set="2031-01"), ("store", "opens")),
    "somebody else's Redis": (lambda place: place.store(partitions="many"), ("store", "opens")),
    "another master key": (_another_key, ("store", "opens")),
    "master key of the store gone": (_without_its_key, ("sealing", "master key")),
    "a replica": (_replica, ("redis", "primary")),
    "one node of a cluster": (lambda place: _one_node(place, "ENGRAMLOG_REDIS_URL"), ("redis", "answers")),
    "queue on a node of a cluster": (lambda place: _one_node(place, "ENGRAMLOG_QUEUE_URL"), ("redis", "queue")),
}


def _names(told: DoctorReport) -> list[tuple[str, str]]:
    return [(one["group"], one["check"]) for one in told["checks"] if one["result"] == "wrong"]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_a_start_fails_for_it(place: Place, name: str) -> None:
    make, named = FAULTS[name]
    make(place)
    before = _lying_in(place)
    told = place.told()
    assert _names(told)[0] == named, told
    assert not [one for one in told["checks"] if one["failed"]], told
    assert _lying_in(place) == before
    wrong = next(one for one in told["checks"] if (one["group"], one["check"]) == named)
    refusal = place.refusal()
    assert refusal is not None, f"{name}: up starts, though the check says {wrong}"
    assert named[1] == "answers" or wrong["found"] in refusal


def _lying_in(place: Place) -> list[tuple[str, int, int]]:
    if not place.folder.is_dir():
        return [(str(place.folder), place.folder.exists(), 0)]
    found = sorted(place.folder.rglob("*"))
    return [(str(one), one.lstat().st_mode, one.lstat().st_mtime_ns) for one in (place.folder, *found)]


def _all_of(wire: Wire) -> list[Any]:
    keys = sorted(wire.call("KEYS", "*"))
    return [(key, wire.call("DUMP", key)) for key in keys]


SOUND: dict[str, Callable[[Place], object]] = {
    "nothing set": lambda _place: None,
    "a folder that others can enter and that is empty": lambda place: place.private().chmod(0o755),
    "a Redis of one's own": lambda place: place.own_redis(),
    "a store there, and a queue that does not answer": lambda place: (
        place.store(),
        place.set(ENGRAMLOG_QUEUE_URL="redis://127.0.0.1:1/0"),
    ),
    "a Redis that is full": _full,
    "a sealed store and its key": lambda place: (
        place.sealed(place.key),
        place.set(ENGRAMLOG_SEALED_BY=str(place.key)),
    ),
    "an identity provider that nobody reaches": lambda place: place.set(
        ENGRAMLOG_IDENTITY_ISSUER="http://127.0.0.1:1", ENGRAMLOG_IDENTITY_AUDIENCE="memory"
    ),
    "a model that nobody reaches": lambda place: place.set(
        ENGRAMLOG_MODEL="some", ENGRAMLOG_MODEL_URL="http://127.0.0.1:1/v1"
    ),
}
ADVISED = {
    "a Redis that is full": "memory",
    "a Redis of one's own": "appendonly",
    "a folder that others can enter and that is empty": "data folder",
    "a store there, and a queue that does not answer": "queue",
    "an identity provider that nobody reaches": "identity provider",
    "a model that nobody reaches": "model",
}


@pytest.mark.parametrize("name", SOUND)
def test_where_nothing_is_wrong_it_starts(place: Place, name: str) -> None:
    SOUND[name](place)
    before = _lying_in(place)
    told = place.told()
    assert not _names(told), told
    assert not [one for one in told["checks"] if one["failed"]], told
    if name in ADVISED:
        assert ADVISED[name] in [one["check"] for one in told["checks"] if one["result"] == "advice"]
    assert _lying_in(place) == before
    assert place.refusal() is None


def test_a_store_that_is_looked_at_is_not_changed_and_nobody_stays_connected(place: Place) -> None:
    wire = place.store()
    place.told()
    before, connected = _all_of(wire), len(wire.call("CLIENT", "LIST").splitlines())
    told = place.told()
    assert told["store_id"] is not None
    assert _all_of(wire) == before
    assert len(wire.call("CLIENT", "LIST").splitlines()) == connected


def test_every_setting_that_cannot_be_right_is_told_at_once(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    place.set(ENGRAMLOG_PORT="seven", ENGRAMLOG_WORKER="3", ENGRAMLOG_MODEL_KEY="s3cret", ENGRAMLOG_WORKERS="0")
    told = Cli(monkeypatch, capfd).json("up", "--check", code=2)
    assert {one["check"] for one in told["checks"]} == {"ENGRAMLOG_PORT", "ENGRAMLOG_WORKER", "ENGRAMLOG_WORKERS"}
    assert {one["result"] for one in told["checks"]} == {"wrong"}
    assert "s3cret" not in json.dumps(told)
    assert not place.folder.exists()


def test_a_redis_that_says_nothing_is_told_within_the_bounds(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.ops.doctor.servers.SECONDS", 0.2)
    place.set(ENGRAMLOG_REDIS_URL=f"redis://127.0.0.1:{place.listens()}/0", ENGRAMLOG_SEALED_BY="none")
    assert _names(place.told()) == [("redis", "answers")]


HANGS = "doctor identity provider"
"""Its thread."""


def test_a_check_that_hangs_hides_no_other(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = SimpleNamespace(told=socket.socketpair())
    monkeypatch.setattr(
        "engramlog_server.ops.doctor.starting.look_at_provider", lambda _settings: ended.told[0].recv(1) and []
    )

    def others_looked() -> float:
        wait_until(lambda: {one.name for one in enumerate_threads() if one.name.startswith("doctor ")} <= {HANGS})
        return 0.0

    monkeypatch.setattr("engramlog_server.ops.doctor.findings.monotonic", others_looked)
    told = would_start(load_settings(), seconds=0.01)
    ended.told[1].send(b"x")
    hung = [one for one in told["checks"] if one["failed"]]
    assert [one["check"] for one in hung] == ["identity provider"]
    assert ("permissions", "data folder") in [(one["group"], one["check"]) for one in told["checks"]]
    for one in ended.told:
        one.close()
