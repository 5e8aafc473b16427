"""Whatever a process is in the middle of, it ends when it is told to; what would hold it for ever is cut off."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from tests.integration.live import wait_until
from tests.integration.ops.test_up import EVENT, post, running
from tests.patience import PATIENCE

COMPUTES = """
import sys
from pathlib import Path
from engramlog_server.api.services.replaying import Replayer
from engramlog_server.ops.main import main

def computes(self, owner, **asked):
    Path(sys.argv[1]).touch()
    while True:
        pass

Replayer.replay = computes
sys.exit(main(sys.argv[2:]))
"""
"""The program with a question that never looks aside."""
TOKEN = "ends-when-told-" + "0123456789" * 3
NEVER = "600"
"""Seconds a process would wait for a Redis that does not answer: far longer than any test."""


@contextmanager
def process(*command: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(
        [sys.executable, "-P", *command],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


@contextmanager
def silent_redis() -> Iterator[tuple[str, socket.socket]]:
    """An address that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}", listener


@pytest.mark.parametrize("module", ["engramlog_server.ops.worker", "engramlog_server.ops.job_worker"])
def test_a_worker_whose_redis_does_not_answer_ends(module: str) -> None:
    with silent_redis() as (url, listener), process("-m", module, "--url", url, "--timeout", NEVER) as worker:
        asks, _ = listener.accept()
        worker.send_signal(signal.SIGTERM)
        _, told = worker.communicate(timeout=PATIENCE)
        asks.close()
    assert worker.returncode == 0, told
    assert json.loads(told.splitlines()[-1])["in_the_middle"] is True


def test_an_up_whose_redis_stands_still_ends_and_leaves_no_process_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_TIMEOUT", NEVER)
    with running(tmp_path / "store") as up:
        up.ready()
        (server,) = (fact["pid"] for fact in up.facts("redis started"))
        os.kill(server, signal.SIGSTOP)
        try:
            up.process.send_signal(signal.SIGTERM)
            assert up.process.wait(PATIENCE) == 1
            assert up.facts("service interrupted")
            wait_until(up.gone)
        finally:
            up.process.kill()


def test_an_up_that_still_waits_for_its_redis_ends(tmp_path: Path) -> None:
    with silent_redis() as (url, listener):
        environment = {
            "ENGRAMLOG_DATA": str(tmp_path / "store"),
            "ENGRAMLOG_REDIS_URL": url,
            "ENGRAMLOG_REDIS_TIMEOUT": NEVER,
        }
        with process("-m", "engramlog_server.ops.main", "up", "--port", "0", "--json", **environment) as up:
            asks, _ = listener.accept()
            up.send_signal(signal.SIGTERM)
            _, told = up.communicate(timeout=PATIENCE)
            asks.close()
    assert up.returncode == 1, told
    assert json.loads(told.splitlines()[-1])["event"] == "service interrupted"


def test_an_up_with_a_feed_open_and_idle_ends_in_order_and_the_feed_with_it(tmp_path: Path) -> None:
    with running(tmp_path / "store") as up:
        url = up.ready()
        post(up, [EVENT])
        asked = Request(f"{url}/v1/owners/alice/feed", headers=up.shown())
        with urlopen(asked, timeout=PATIENCE) as feed:
            assert feed.readline()
            up.process.send_signal(signal.SIGTERM)
            assert b"event: " in feed.read()  # to its end, which the server made
        assert up.process.wait(PATIENCE) == 0
        assert up.facts("service stopped")
        assert not up.facts("service interrupted")
        assert not up.facts("http server not stopped")


def test_an_up_with_a_question_that_computes_for_ever_ends_and_does_not_wait_for_it(tmp_path: Path) -> None:
    begun, told = tmp_path / "begun", tmp_path / "told"
    environment = {"ENGRAMLOG_DATA": str(tmp_path / "store"), "ENGRAMLOG_TOKEN": TOKEN}
    up_arguments = ("up", "--port", "0", "--json")
    with told.open("wb") as log:
        up = subprocess.Popen(
            [sys.executable, "-P", "-c", COMPUTES, str(begun), *up_arguments],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stderr=log,
        )

    def facts(name: str) -> list[dict[str, str]]:
        found = (json.loads(line) for line in told.read_text().splitlines() if line.startswith("{"))
        return [fact for fact in found if fact.get("event") == name]

    try:
        wait_until(lambda: facts("service started") or up.poll() is not None)
        assert up.poll() is None, told.read_text()
        url = facts("service started")[0]["url"]
        asked = Request(
            f"{url}/v1/owners/alice/replay",
            b"{}",
            {"content-type": "application/json", "authorization": f"Bearer {environment['ENGRAMLOG_TOKEN']}"},
        )

        def ask() -> None:
            with pytest.raises((URLError, ConnectionError)):
                urlopen(asked, timeout=PATIENCE)

        asking = Thread(target=ask, daemon=True)
        asking.start()
        wait_until(begun.exists)
        up.send_signal(signal.SIGTERM)
        assert up.wait(PATIENCE) in {0, 1}
        asking.join(PATIENCE)
        assert not asking.is_alive()
        assert facts("workers stopped") or facts("service interrupted")
    finally:
        up.kill()
        up.wait()


@pytest.mark.parametrize("arguments", [("--owner", "alice"), ("--http", "--port", "0")])
def test_an_mcp_server_ends_while_it_waits_for_its_store_or_for_a_client(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    with silent_redis() as (url, listener):
        environment = {
            "ENGRAMLOG_DATA": str(tmp_path),
            "ENGRAMLOG_REDIS_URL": url,
            "ENGRAMLOG_REDIS_TIMEOUT": NEVER,
            "ENGRAMLOG_TOKEN": TOKEN,
        }
        with process("-m", "engramlog_server.ops.main", "mcp", "--json", *arguments, **environment) as server:
            assert server.stdin is not None
            if "--http" in arguments:
                assert server.stderr is not None
                assert json.loads(server.stderr.readline())["event"] == "service started"
            else:
                hello = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "t", "version": "1"},
                }
                call = {"name": "add_memory", "arguments": {"content": "tea"}}
                for message in (
                    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
                    {"jsonrpc": "2.0", "method": "notifications/initialized"},
                    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
                ):
                    server.stdin.write(json.dumps(message).encode() + b"\n")
                server.stdin.flush()
                asks, _ = listener.accept()
                asks.close()
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=PATIENCE)
    assert server.returncode in {0, 128 + signal.SIGTERM}
