"""A Redis password is in no list of processes, no log line, no refusal and no answer."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog_server.events.redis.server import connect
from engramlog_server.ops.commands.processes import client_config
from engramlog_server.ops.settings import Settings
from tests.integration.live import wait_until
from tests.integration.ops.test_up import get, running
from tests.patience import PATIENCE
from tests.rows import each_row
from tests.servers import RedisServer, wheel_server

MARK = "s3cret-MARK"


@pytest.fixture
def guarded() -> Iterator[tuple[RedisServer, str]]:
    """A Redis that asks for a password, and the URL that has it."""
    server = RedisServer(wheel_server())
    with server.client() as client:
        client.config_set("requirepass", MARK)
    try:
        yield server, f"{server.url}?password={MARK}"
    finally:
        server.stop()


def descendants(pid: int) -> list[int]:
    """A process and all that it started."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [one for child in task.read_text().split() for one in descendants(int(child))]
    return found


def test_a_password_is_in_no_command_line_no_log_and_no_answer_of_a_running_service(
    tmp_path: Path, guarded: tuple[RedisServer, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, url = guarded
    queue = f"unix://:{MARK}@{server.url.removeprefix('unix://')}"
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", url)
    monkeypatch.setenv("ENGRAMLOG_QUEUE_URL", queue)
    with running(tmp_path / "store", redis_url=url) as up:
        wait_until(lambda: get(up, "/v1/status")["lifecycle"]["leader"])
        pids = descendants(up.process.pid)
        assert len(pids) == 3
        commands = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids]
        assert [command for command in commands if MARK.encode() in command] == []
        assert all(b"ops." in command for command in commands)
        told = [up.run("status"), get(up, "/v1/status"), get(up, "/ready")]
        with connect(url) as client:  # and what is told once Redis lets nobody in
            client.config_set("requirepass", "another")
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        wait_until(lambda: "does not let us in" in up.log.read_text())
        told.append(up.run("status", expect=1))
        up.process.send_signal(signal.SIGINT)
        up.process.wait(PATIENCE)
        assert "unix:" in up.log.read_text()
        assert MARK not in up.log.read_text()
        assert MARK not in json.dumps(told)


REFUSED = {
    "ENGRAMLOG_REDIS_URL": [
        f"http://:{MARK}@host",
        f"redis://:{MARK}@host:port",
        f"redis://:{MARK}/x@host:6379",
        f"redis:/:{MARK}@host",
        f":{MARK}@host",
        f"redis://:a b{MARK}@[::1",
        f"redis://host/zero?db=none&password={MARK}",
    ],
    "ENGRAMLOG_QUEUE_URL": [f"http://:{MARK}@host"],
    "ENGRAMLOG_EMBEDDER_URL": [f"ftp://{MARK}@host/v1"],
    "ENGRAMLOG_MODEL_URL": [f"//{MARK}@host/v1", f"models.example/v1?key={MARK}"],
}


@each_row(("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values])
def test_a_refused_setting_is_named_and_its_password_is_not(name: str, value: str) -> None:
    done = engramlog("status", "--json", **{name: value})
    assert done.returncode == 2
    assert name in done.stdout
    assert MARK not in done.stdout + done.stderr


def engramlog(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@each_row("url", [f"redis://:{MARK}@127.0.0.1:1", f"unix:///none/at-all?password={MARK}"])
def test_a_store_that_is_not_reached_is_told_of_without_its_password(url: str) -> None:
    done = engramlog("status", ENGRAMLOG_REDIS_URL=url)
    assert (done.returncode, "no connection" in done.stderr) == (1, True)
    assert MARK not in done.stdout + done.stderr


@each_row("module", ["engramlog_server.ops.worker", "engramlog_server.ops.job_worker"])
def test_a_worker_takes_no_password_from_its_arguments(module: str) -> None:
    command = [sys.executable, "-P", "-m", module, "--url", f"redis://:{MARK}@127.0.0.1:1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, "say it in the environment" in done.stderr) == (2, True)
    assert MARK not in done.stdout + done.stderr


def test_a_traceback_that_nobody_caught_hides_it() -> None:
    code = (
        "from engramlog_server.ops.logs import start_logging; start_logging()\n"
        "from threading import Thread\n"
        f"def fail(): raise RuntimeError('redis://:{MARK}@host')\n"
        "thread = Thread(target=fail); thread.start(); thread.join(); fail()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stderr.count("RuntimeError: redis://***@host") == 2
    # Python quotes no source of `-c`, so that a mark could only stand in what was printed of the error.
    assert MARK not in done.stderr


def test_what_registers_with_a_client_leaves_out_every_setting_with_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ENGRAMLOG_")]:
        monkeypatch.delenv(name)
    secret = {
        "ENGRAMLOG_REDIS_URL": f"redis://{MARK}@host",
        "ENGRAMLOG_QUEUE_URL": f"unix:///s?password={MARK}",
        "ENGRAMLOG_TOKEN": 4 * MARK,
        "ENGRAMLOG_MODEL_KEY": MARK,
    }
    for name, value in (secret | {"ENGRAMLOG_PORT": "8800"}).items():
        monkeypatch.setenv(name, value)
    entry = client_config(Settings(), "ada", toolset="agent", port=8733)
    assert entry["left_out"] == sorted(secret)
    assert entry["mcpServers"]["memory"]["env"] == {"ENGRAMLOG_PORT": "8800"}
    assert not re.search(MARK, json.dumps(entry))


def test_settings_print_without_their_addresses() -> None:
    settings = Settings(redis_url=f"redis://:{MARK}@host", queue_url=f"redis://:{MARK}@host")
    assert MARK not in repr(settings)
