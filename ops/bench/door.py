"""What a caller can do to others through the door: a huge body, many replays at once, more connections than may be open.

An `engramlog up` of its own, on an empty folder, is asked over loopback and watched from outside: how long others wait, how
much memory all of its processes take, how much they log.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from threading import Event as Flag
from threading import Thread
from time import monotonic, sleep
from typing import Any, Self

from events.envelope import derived_id
from events.errors import EngramlogError
from ops.embedded import launch as embedded_launch
from ops.embedded.private_folder import private_folder
from ops.processes.file_limit import raise_file_limit
from ops.token import make_token

MIB = 1024 * 1024
START_SECONDS = 60.0
ANSWER_SECONDS = 180.0
"""After so long without an answer a question counts as not answered."""
REPLAYS = 60
CONNECTIONS = 1_300
Goal = dict[str, Any]


class Service:
    """A running `engramlog up`: asked over HTTP, measured by its processes and its log."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, token: str) -> None:
        self.process = process
        self.log = log
        self.shown = {"authorization": f"Bearer {token}", "engramlog-request": "1"}
        self.port = self._ready()

    def _ready(self) -> int:
        end = monotonic() + START_SECONDS
        while monotonic() < end and self.process.poll() is None:
            for line in self.log.read_text(errors="replace").splitlines():
                if '"event":"ready"' in line.replace(" ", ""):
                    return int(str(json.loads(line)["url"]).rpartition(":")[2])
            sleep(0.05)
        raise EngramlogError(f"`engramlog up` did not start:\n{self.log.read_text(errors='replace')[-2_000:]}")

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """One request over a connection of its own; 0 where no answer came."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        headers = self.shown | ({"content-type": "application/json"} if body is not None else {})
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def memory(self) -> int:
        """Bytes that its processes have in memory, all of them together."""
        waiting, total = [self.process.pid], 0
        while waiting:
            pid = waiting.pop()
            try:
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                for task in Path(f"/proc/{pid}/task").iterdir():
                    waiting += [int(child) for child in (task / "children").read_text().split()]
            except (OSError, ValueError):  # it has ended meanwhile
                continue
        return total


class Watch:
    """What others see meanwhile: the time of each of their questions, and the most memory taken."""

    def __init__(self, service: Service, path: str) -> None:
        self._service = service
        self._path = path
        self._stop = Flag()
        self._before = service.memory()
        self._most = self._before
        self.seconds: list[float] = []
        self.unanswered = 0

    def __enter__(self) -> Self:
        self._threads = [Thread(target=one, daemon=True) for one in (self._ask, self._weigh)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(ANSWER_SECONDS)

    def _ask(self) -> None:
        while not self._stop.is_set():
            began = monotonic()
            status, _ = self._service.ask("GET", self._path)
            self.seconds.append(monotonic() - began)
            self.unanswered += status != http.client.OK
            self._stop.wait(0.01)

    def _weigh(self) -> None:
        while not self._stop.wait(0.02):
            self._most = max(self._most, self._service.memory())

    @property
    def added_mib(self) -> float:
        """MiB more than before, at the most."""
        return (self._most - self._before) / MIB

    def told(self) -> dict[str, Any]:
        """How many questions, and how many were not answered as they should be."""
        return {"others_asked": len(self.seconds), "others_unanswered": self.unanswered}


def measure(redis_server: str | None = None, *, quick: bool = False) -> list[Goal]:
    """All three scenes; each row tells what was found and what is allowed at most. About a minute; seconds where `quick`."""
    raise_file_limit()
    with _service(redis_server) as service:
        _append(service, "other", 20)
        return [
            *_a_huge_body(service, (4 if quick else 60) * MIB, 1 if quick else 3),
            *_many_replays(service, 200 if quick else 5_000, 6 if quick else REPLAYS),
            *_many_connections(service, 50 if quick else CONNECTIONS),
        ]


@contextmanager
def _service(redis_server: str | None) -> Iterator[Service]:
    with TemporaryDirectory(prefix="engramlog-bench-", ignore_cleanup_errors=True) as folder:
        data, log = Path(folder) / "data", Path(folder) / "log"
        private_folder(data)
        token = make_token(data)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAMLOG_")}
        told = {"ENGRAMLOG_DATA": str(data), "ENGRAMLOG_PORT": "0"}
        told |= {"ENGRAMLOG_REDIS_SERVER": redis_server} if redis_server else {}
        command = [sys.executable, "-I", "-S", embedded_launch.__file__, str(os.getpid())]
        with log.open("wb") as written:
            process = subprocess.Popen(
                [*command, sys.executable, "-P", "-m", "ops.main", "up"],
                env=kept | told,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
            )
        try:
            yield Service(process, log, token)
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _append(service: Service, owner: str, count: int) -> None:
    """Memories of an owner, folded when this returns."""
    position = ""
    for begin in range(0, count, 1_000):
        events = [_event(owner, number) for number in range(begin, min(begin + 1_000, count))]
        status, answer = service.ask("POST", "/v1/events", json.dumps(events).encode())
        if status != http.client.OK:
            raise EngramlogError(f"appending failed: {answer[:500].decode(errors='replace')}")
        position = json.loads(answer)["receipts"][-1]["position"]
    end = monotonic() + ANSWER_SECONDS
    while service.ask("GET", f"/v1/owners/{owner}/memories?limit=1&after={position}")[0] != http.client.OK:
        if monotonic() > end:
            raise EngramlogError(f"{owner} was not folded")


def _event(owner: str, number: int) -> dict[str, Any]:
    return {
        "event_id": derived_id("bench door", owner, str(number)),
        "type": "MemoryCreated",
        "owner": owner,
        "occurred_at": "2026-01-05T08:00:00Z",
        "actor": "user",
        "data": {
            "memory_id": f"m{number}",
            "content": f"I drink coffee number {number} in the morning",
            "category": "identity",
            "kind": "fact",
            "source": "user",
        },
    }


def _goal(scene: str, what: str, found: float, at_most: float, **beside: Any) -> Goal:
    return {
        "scene": scene,
        "what": what,
        "found": round(found, 3),
        "at_most": at_most,
        "holds": found <= at_most,
        **beside,
    }


def _a_huge_body(service: Service, size: int, times: int) -> Iterator[Goal]:
    """Integers alone: what costs a parser most for its bytes."""
    body = b"[" + b"1," * (size // 2) + b"1]"
    with Watch(service, "/v1/owners/other/memories?limit=5") as watch:
        statuses = [service.ask("POST", "/v1/events", body)[0] for _ in range(times)]
    beside = watch.told() | {"answers": statuses}
    scene = f"{size // MIB} MiB of integers, {times} times"
    yield _goal(scene, "others wait, seconds at most", max(watch.seconds), 0.5, **beside)
    yield _goal(scene, "memory added, MiB", watch.added_mib, 256)
    yield _goal(scene, "questions of others without an answer", watch.unanswered, 0)


def _many_replays(service: Service, events: int, count: int) -> Iterator[Goal]:
    """One owner's whole history folded anew, many times at once."""
    _append(service, "busy", events)
    body = json.dumps({"set": {"user_factor": 1.3}}).encode()
    with Watch(service, "/v1/owners/other/memories?limit=5") as watch, ThreadPoolExecutor(count) as pool:
        asked = [pool.submit(service.ask, "POST", "/v1/owners/busy/replay", body) for _ in range(count)]
        statuses = [one.result()[0] for one in asked]
    beside = watch.told() | {"answers": {str(status): statuses.count(status) for status in sorted(set(statuses))}}
    scene = f"{count} replays of {events:,} events at once"
    yield _goal(scene, "another owner's GET, seconds, p99", _p99(watch.seconds), 1.0, **beside)
    yield _goal(scene, "memory added, MiB", watch.added_mib, 500)
    yield _goal(scene, "questions of others without an answer", watch.unanswered, 0)


def _many_connections(service: Service, count: int) -> Iterator[Goal]:
    """Connections that say nothing; appends over new ones meanwhile."""
    before = service.log.stat().st_size
    with ExitStack() as opened:
        for _ in range(count):
            opened.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=ANSWER_SECONDS))
        seconds, failed = [], 0
        for number in range(20):
            body = json.dumps([_event("appended", number)]).encode()
            began = monotonic()
            failed += service.ask("POST", "/v1/events", body)[0] != http.client.OK
            seconds.append(monotonic() - began)
    logged = (service.log.stat().st_size - before) / MIB
    scene = f"{count:,} idle connections"
    yield _goal(scene, "appends that failed, of 20", failed, 0, slowest_seconds=round(max(seconds), 3))
    yield _goal(scene, "logged, MiB", logged, 1)


def _p99(seconds: list[float]) -> float:
    return quantiles(seconds, n=100)[98] if len(seconds) > 1 else max(seconds)
