"""`engramlog up` as people run it: started, used, interrupted, killed; never an orphan, never an empty store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.integration.live import wait_until
from tests.patience import PATIENCE

EVENT = {
    "event_id": "01890000-0000-7000-8000-000000000001",
    "type": "MemoryCreated",
    "schema_version": 1,
    "owner": "alice",
    "occurred_at": "2024-01-01T00:00:00Z",
    "actor": "user",
    "data": {
        "memory_id": "m1",
        "content": "早上喝咖啡 coffee",
        "category": "fact",
        "kind": "fact",
        "source": "user",
        "modality": "text",
    },
}


class Up:
    """A running `engramlog up`, its log lines, and every process it started."""

    def __init__(self, folder: Path, *arguments: str, redis_url: str = "") -> None:
        self.log = folder.parent / f"{folder.name}.log"
        self.environment = {**os.environ, "ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_REDIS_URL": redis_url}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "engramlog_server.ops.main", "up", "--port", "0", "--json", *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def facts(self, name: str) -> list[dict[str, Any]]:
        """The log lines that tell this fact."""
        lines = []
        for line in self.log.read_text().splitlines():
            with suppress(json.JSONDecodeError):
                lines.append(json.loads(line))
        return [line for line in lines if line.get("event") == name]

    def ready(self) -> str:
        """Its URL, once it is ready and a worker holds every partition."""
        url = str(wait_until(lambda: self.facts("service started") or self._ended())[0]["url"])
        wait_until(lambda: set(self.taken()) == set(range(16)))
        return url

    def taken(self) -> Iterator[int]:
        """The partitions that its workers took so far."""
        for fact in self.facts("partitions taken"):
            for span in fact["partitions"].split(", "):
                first, _, last = span.partition("-")
                yield from range(int(first), int(last or first) + 1)

    def shown(self) -> dict[str, str]:
        """The header that shows its token."""
        return {"authorization": f"Bearer {self.run('token')['token']}"}

    def _ended(self) -> None:
        assert self.process.poll() is None, self.log.read_text()

    def pids(self) -> list[int]:
        """Its redis-server and workers."""
        return [
            fact["pid"]
            for name in ("redis started", "worker process started")
            for fact in self.facts(name)
            if "pid" in fact
        ]

    def run(self, *arguments: str, expect: int = 0) -> Any:
        """A command beside it, on the same folder."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "engramlog_server.ops.main", *arguments, "--json"],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return json.loads(done.stdout)

    def gone(self) -> bool:
        """Whether nothing that it started lives any more."""
        return not any(_lives(pid) for pid in self.pids())


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def running(folder: Path, *arguments: str, redis_url: str = "") -> Iterator[Up]:
    up = Up(folder, *arguments, redis_url=redis_url)
    try:
        yield up
    finally:
        if up.process.poll() is None:
            up.process.kill()
        up.process.wait(PATIENCE)
        for pid in up.pids():
            with suppress(ProcessLookupError):
                if _lives(pid):
                    os.kill(pid, signal.SIGKILL)


def post(up: Up, body: Any) -> Any:
    asked = {"content-type": "application/json", **up.shown()}
    with urlopen(Request(f"{up.ready()}/v1/events", json.dumps(body).encode(), asked), timeout=PATIENCE) as answer:
        return json.load(answer)


def get(up: Up, path: str) -> Any:
    with urlopen(Request(f"{up.ready()}{path}", headers=up.shown()), timeout=PATIENCE) as answer:
        return json.load(answer)


def test_what_http_appends_a_command_finds_and_an_interrupt_stops_everything_in_order(tmp_path: Path) -> None:
    with running(tmp_path / "store", "--workers", "2") as up:
        up.ready()
        receipt = post(up, [EVENT])["receipts"][0]
        assert (receipt["status"], receipt["fsynced"]) == ("appended", True)
        found = get(up, f"/v1/owners/alice/search?query=coffee&mode=review&after={receipt['position']}")
        assert [one["id"] for one in found["results"]] == ["m1"]
        answer = up.run("search", "alice", "咖啡", "--mode", "review")
        assert [one["id"] for one in answer["results"]] == ["m1"]
        status = wait_until(lambda: _spread(up.run("status")))
        assert sorted(status.values()) == [8, 8]
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(PATIENCE) == 0
        order = ["stop requested", "api stopped", "service drained", "workers stopped", "service stopped"]
        told = [json.loads(line)["event"] for line in up.log.read_text().splitlines() if line.startswith("{")]
        assert [name for name in told if name in order] == order
        assert up.gone()
        assert up.run("verify")["ok"]


def test_up_keeps_the_heads_of_what_was_folded_and_writes_down_the_last_ones_when_it_stops(tmp_path: Path) -> None:
    kept = tmp_path / "store" / "heads.jsonl"
    today = datetime.now(UTC).isoformat()  # what is years old falls due: the job of each minute may record that
    with running(tmp_path / "store") as up:
        receipt = post(up, [EVENT | {"occurred_at": today}])["receipts"][0]
        up.process.send_signal(signal.SIGTERM)
        assert up.process.wait(PATIENCE) == 0
        partition, seq = map(int, receipt["position"].split(":"))
        heads = [head for line in kept.read_text().splitlines() for head in json.loads(line)["heads"]]
        shown = up.run("verify", "--heads")
        assert heads[-1] == [partition, seq, shown["heads"][0]["chain"]]
        assert (shown["file"], shown["lines"]) == (str(kept), len(kept.read_text().splitlines()))
        assert up.run("verify")["heads"]["compared"] == 1


def _spread(status: dict[str, Any]) -> dict[str, int] | None:
    held: dict[str, int] = {}
    for partition in status["partitions"]:
        held[partition["holder"]] = held.get(partition["holder"], 0) + 1
    return held if len(held) == 2 and None not in held and max(held.values()) == 8 else None


def test_up_tells_the_partitions_that_a_worker_takes_in_one_line(tmp_path: Path) -> None:
    with running(tmp_path / "store") as up:
        up.ready()
        (taken,) = up.facts("partitions taken")
        assert taken["partitions"] == "0-15"


def test_a_killed_up_leaves_no_process_and_no_event_behind(tmp_path: Path) -> None:
    with running(tmp_path / "store") as up:
        up.ready()
        assert post(up, [EVENT])["receipts"][0]["status"] == "appended"
        up.process.kill()
        up.process.wait(PATIENCE)
        wait_until(up.gone)
        answer = up.run("search", "alice", "coffee", "--mode", "review")
        assert [one["id"] for one in answer["results"]] == ["m1"]


def test_when_its_redis_dies_up_says_why_and_ends(tmp_path: Path) -> None:
    with running(tmp_path / "store") as up:
        up.ready()
        os.kill(up.facts("redis started")[0]["pid"], signal.SIGKILL)
        assert up.process.wait(PATIENCE) == 1
        assert "the private Redis died" in up.log.read_text()
        wait_until(up.gone)


def test_a_worker_that_dies_is_started_again_and_folds_on(tmp_path: Path) -> None:
    with running(tmp_path / "store") as up:
        up.ready()
        os.kill(up.facts("worker process started")[0]["pid"], signal.SIGKILL)
        wait_until(lambda: len(up.facts("worker process started")) == 2)
        receipt = post(up, [EVENT])["receipts"][0]
        wait_until(lambda: get(up, "/v1/status")["lag"] == 0)
        assert get(up, f"/v1/owners/alice/memories/m1?after={receipt['position']}")["id"] == "m1"


def test_a_second_up_on_the_same_folder_is_refused_and_names_the_first(tmp_path: Path) -> None:
    with running(tmp_path / "store") as up:
        up.ready()
        with running(tmp_path / "store") as second:
            assert second.process.wait(PATIENCE) == 1
            assert str(up.process.pid) in second.log.read_text()
        assert up.process.poll() is None
        assert up.run("status")["lag"] == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "::"])
def test_any_address_but_loopback_is_refused_until_access_keys_exist(tmp_path: Path, host: str) -> None:
    with running(tmp_path / "store", "--host", host) as up:
        assert up.process.wait(PATIENCE) == 2
        assert "allowed: 127.0.0.1, ::1 or localhost" in up.log.read_text()
        assert not (tmp_path / "store").exists()
