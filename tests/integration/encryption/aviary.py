"""A store as `engramlog up` runs it, to which canaries were told by every way, and all places where they could lie."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import AF_UNIX, socket
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen
from uuid import uuid4

import redis

from engramlog_server.events.envelope import prepare
from engramlog_server.events.keys import KeyStore
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.events.validation import make_event
from engramlog_server.ops.keys.master import KeyFile, make_key_file
from engramlog_server.ops.keys.store import FileKeyStore
from engramlog_server.projections.redis.create import known_identity
from tests.integration.encryption.canaries import Canaries, Search
from tests.integration.live import wait_until
from tests.patience import PATIENCE

OWNER, OTHERS = "ada", ("otto", "petra", "vera")
FAULTY = Path(__file__).with_name("faulty")
FAULTS = ("CANARY_IN_WORKER", "CANARY_IN_JOB", "CANARY_IN_API")
NOW = datetime.now(UTC).replace(microsecond=0)


class Aviary:
    """The store, its processes and what was told to it."""

    def __init__(self, folder: Path, *, sealed: bool, faulty: bool = False) -> None:
        """`faulty`: whether its processes have the faults of `faulty/sitecustomize.py`."""
        self.folder, self.data, self.sealed = folder, folder / "data", sealed
        folder.mkdir(parents=True)
        self.key = folder / "master.key"
        self.log = folder / "log"
        self.canaries = Canaries()
        self.answers: list[str] = []
        self.environment = {
            **os.environ,
            "ENGRAMLOG_DATA": str(self.data),
            "ENGRAMLOG_REDIS_URL": "",
            "ENGRAMLOG_PARTITIONS": "2",
            "ENGRAMLOG_LOG_LEVEL": "debug",
            "ENGRAMLOG_SUMMARIES": "extractive",
            "PYTHONFAULTHANDLER": "1",
        }
        if sealed:
            make_key_file(self.key)
        self.environment["ENGRAMLOG_SEALED_BY"] = str(self.key) if sealed else "none"
        if faulty:
            self.environment["PYTHONPATH"] = f"{FAULTY}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
            self.environment["CANARY_ONCE"] = str(folder / "worker-ended")
            for name in FAULTS:
                self.environment[name] = self.canaries.word(f"fault {name}")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "engramlog_server.ops.main", "up", "--port", "0", "--json"],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.url = str(wait_until(lambda: self.facts("service started") or self._lives())[0]["url"])
        self.socket = str(json.loads((self.data / "server.json").read_text())["socket"])
        with (
            self.client() as client
        ):  # all that is asked of Redis from here on is looked at, and nothing of it is packed
            for name, value in (("slowlog-log-slower-than", 0), ("slowlog-max-len", 100_000), ("rdbcompression", "no")):
                client.config_set(name, value)
        self.token = (self.data / "token").read_text().strip()

    def facts(self, name: str) -> list[dict[str, Any]]:
        """The lines of its log that tell a fact."""
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if line.startswith("{")]
        return [told for line in lines if (told := json.loads(line)).get("event") == name]

    def _lives(self) -> None:
        assert self.process.poll() is None, self.log.read_text()

    def client(self) -> redis.Redis:
        """A client of its Redis."""
        return redis.Redis(unix_socket_path=self.socket)

    def ask(self, path: str, body: Any = None, *, allowed: tuple[int, ...] = ()) -> Any:
        """GET, or POST where there is a body."""
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        request = Request(self.url + path, None if body is None else json.dumps(body).encode(), headers)
        try:
            with urlopen(request, timeout=PATIENCE) as answer:
                raw = answer.read().decode()
        except HTTPError as error:
            told = error.read().decode()
            assert error.code in allowed, f"{path}: {error.code} {told}"
            return json.loads(told)
        try:
            return json.loads(raw)
        except json.JSONDecodeError:
            return raw

    def post(self, path: str, body: Any, **asked: Any) -> Any:
        """POST about the owner."""
        return self.ask(f"/v1/owners/{OWNER}{path}", body, **asked)

    def get(self, path: str, **query: str) -> Any:
        """GET about the owner."""
        asked = "&".join(f"{name}={quote(value)}" for name, value in query.items())
        return self.ask(f"/v1/owners/{OWNER}{path}" + (f"?{asked}" if asked else ""))

    def append(self, *events: tuple[str, dict[str, Any]], owner: str = OWNER, days: float = 1, **fields: Any) -> None:
        """Append events as they come over HTTP, and wait for the fold."""
        made = [
            {
                "event_id": str(uuid4()),
                "type": kind,
                "owner": owner,
                "occurred_at": (NOW - timedelta(days=days)).isoformat().replace("+00:00", "Z"),
                "actor": "user",
                "session_id": "s1",
                "data": data,
                **fields,
            }
            for kind, data in events
        ]
        told = self.ask("/v1/events", made)
        assert told["appended"] == len(made), told
        self.folded()

    def folded(self) -> None:
        """Wait until nothing is behind."""
        wait_until(lambda: all(one["lag"] == 0 for one in self.ask("/v1/status")["partitions"]))

    def command(self, *arguments: str) -> str:
        """A command on the same folder; what it prints on both streams."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "engramlog_server.ops.main", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.stdout + done.stderr

    def put(self, data: Any, owner: str, *, actor: str = "user", days: float = 0, kind: str | None = None) -> None:
        """Append an event at the store itself; `kind`: as if it were of this type and version."""
        client = connect(f"unix://{self.socket}", master=KeyFile(self.key) if self.sealed else None, keys=self._keys)
        identity = known_identity(open_wire(client))
        assert identity is not None
        log = RedisEventLog(client, identity.tags)
        when, now = NOW - timedelta(days=days), int(NOW.timestamp() * 1_000_000)
        event = prepare(make_event(data, owner=owner, occurred_at=when, actor=actor, now=now))
        receipts = log.append([event if kind is None else event._replace(kind=kind)])
        assert receipts[0].status == "appended"
        log.close()
        client.close()

    def _keys(self, _store_id: str, _make: bool) -> KeyStore:
        return FileKeyStore(self.data / "keys.db", make=False)

    def secrets(self) -> list[bytes]:
        """The secrets of owners, as they are when opened, also in hexadecimal digits."""
        client = connect(f"unix://{self.socket}", master=KeyFile(self.key) if self.sealed else None, keys=self._keys)
        identity = known_identity(open_wire(client))
        assert identity is not None
        log = RedisEventLog(client, identity.tags)
        found = log.secrets_of([OWNER, *OTHERS]).values()
        log.close()
        client.close()
        return [form for one in found for form in (one, one.hex().encode())]

    def pids(self) -> list[int]:
        """The `up` and its workers."""
        return [self.process.pid, *(int(fact["pid"]) for fact in self.facts("worker process started"))]

    def files(self) -> list[Path]:
        """Everything that lies in its folder, but the key and what its processes print."""
        return [one for one in self.data.rglob("*") if one.is_file()]

    def saved(self) -> bytes:
        """What Redis saves."""
        with self.client() as client:
            assert client.save()
            told = client.config_get("dir")["dir"], client.config_get("dbfilename")["dbfilename"]
        return Path(*told).read_bytes()

    def replicated(self) -> bytes:
        """What a replica is sent at first: an RDB of its own, by the replication protocol itself."""
        with socket(AF_UNIX) as line:
            line.settimeout(PATIENCE)
            line.connect(self.socket)
            line.sendall(b"SYNC\r\n")
            with line.makefile("rb") as file:
                while not (head := file.readline()).startswith(b"$"):
                    assert head in (b"\n", b"\r\n"), head
                if not head.startswith(b"$EOF:"):
                    return file.read(int(head[1:]))
                end, told = head.strip()[5:], b""
                while not told.endswith(end):
                    told += file.read1()
                return told

    def asked_of_redis(self) -> bytes:
        """All commands that Redis noted as slow, which here are all, as far as it notes their arguments."""
        with self.client() as client:
            return b"\n".join(bytes(one["command"]) for one in client.slowlog_get(100_000))

    def search(self) -> Search:
        """What looks for the canaries."""
        return self.canaries.search()

    def stop(self) -> None:
        """End it in order, by its id."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait(PATIENCE)


@contextmanager
def aviary(folder: Path, *, sealed: bool, tell: Callable[[Aviary], None], faulty: bool = False) -> Iterator[Aviary]:
    """A store that runs, with a story told."""
    made = Aviary(folder, sealed=sealed, faulty=faulty)
    try:
        tell(made)
        yield made
    finally:
        made.stop()
