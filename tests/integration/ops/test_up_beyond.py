"""`engramlog up` and `engramlog mcp --http` beyond loopback, as people start them: no key, no port; with one, by TLS."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.given.access.certificates import Pair, certificate
from tests.integration.live import wait_until
from tests.integration.ops.test_up import Up, running
from tests.patience import PATIENCE

MEMORIES = "/v1/owners/alice/memories"


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    made = certificate(tmp_path / "tls")
    monkeypatch.setenv("ENGRAMLOG_TLS_CERT_FILE", str(made.chain))
    monkeypatch.setenv("ENGRAMLOG_TLS_KEY_FILE", str(made.key))
    return made


def client_of(up: Up, pair: Pair) -> httpx2.Client:
    port = up.ready().rpartition(":")[2]
    authority = ssl.create_default_context(cafile=str(pair.chain))
    return httpx2.Client(base_url=f"https://127.0.0.1:{port}", verify=authority, trust_env=False, timeout=PATIENCE)


def operator_of(folder: Path) -> httpx2.Client:
    transport = httpx2.HTTPTransport(uds=str(folder / "api.sock"), trust_env=False)
    return httpx2.Client(base_url="http://localhost", transport=transport, trust_env=False, timeout=PATIENCE)


def ended(up: Up) -> str:
    """What it said, once it ended by itself."""
    assert up.process.wait(PATIENCE) == 2, up.log.read_text()
    return up.log.read_text()


def issued(up: Up, folder: Path, *verbs: str) -> dict[str, Any]:
    with operator_of(folder) as operator:
        grants = [{"verbs": list(verbs), "owners": ["*"]}]
        answer = operator.post("/v1/keys", headers=up.shown(), json={"principal": "support", "grants": grants})
        assert answer.status_code == 200, answer.text
        made: dict[str, Any] = answer.json()
        return made


def test_it_opens_to_others_once_there_is_a_key_and_is_operated_at_its_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pair: Pair
) -> None:
    folder = tmp_path / "data"
    with running(folder, "--host", "0.0.0.0") as up:
        assert "engramlog key new" in ended(up)
    for name in ("CERT", "KEY"):
        monkeypatch.delenv(f"ENGRAMLOG_TLS_{name}_FILE")
    with running(folder, "--host", "0.0.0.0") as up:
        assert "ENGRAMLOG_TLS_CERT_FILE" in ended(up)
    with running(folder) as up:
        up.ready()
        told = up.facts("service started")[0]
        assert "listening" not in told  # of this machine alone: as ever
        made = issued(up, folder, "read", "operate")
    for name, path in zip(("CERT", "KEY"), pair, strict=True):
        monkeypatch.setenv(f"ENGRAMLOG_TLS_{name}_FILE", str(path))
    shown = {"authorization": f"Bearer {made['key']}"}
    with running(folder, "--host", "0.0.0.0") as up, client_of(up, pair) as client, operator_of(folder) as operator:
        assert client.get(MEMORIES, headers=shown).status_code == 200
        assert client.get(MEMORIES, headers=up.shown()).status_code == 401
        assert client.get("/v1/status", headers=shown).status_code == 403
        told = up.facts("service started")[0]["listening"]
        assert (told["by"], told["operating"]) == ("tls", "socket")
        assert client.get("/ready").json()["listening"] == {"by": "tls", "certificate_ends": told["certificate_ends"]}
        assert operator.get("/v1/status", headers=up.shown()).json()["listening"] == told
        assert (folder / "api.sock").stat().st_mode & 0o777 == 0o600
        assert up.run("status")["lag"] == 0  # commands go on
        up.run("add", "alice", "I drink coffee every morning")
        assert len(client.get(MEMORIES, headers=shown).json()["memories"]) == 1
        wait_until(lambda: up.facts("requests refused"))
        assert up.facts("requests refused")[0]["addresses"] == ["127.0.0.1"]
        assert made["key"] not in up.log.read_text()


def test_a_port_for_operating_of_this_machine_is_as_loopback_ever_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    with running(folder) as up:
        up.ready()
        issued(up, folder, "read")
    monkeypatch.setenv("ENGRAMLOG_TRUSTED_PROXIES", "127.0.0.1")
    monkeypatch.setenv("ENGRAMLOG_PUBLIC_NAMES", "memory.example.org")
    monkeypatch.setenv("ENGRAMLOG_OPERATE", "0")
    with running(folder) as up:
        url = up.ready()
        with httpx2.Client(base_url=url, trust_env=False, timeout=PATIENCE) as client:
            assert client.get("/health").status_code == 421  # the proxy has to say by what it was asked
            proxied = {"host": "memory.example.org", "x-forwarded-proto": "https"}
            assert client.get("/health", headers=proxied).status_code == 200
        operating = up.facts("service started")[0]["operating"]
        with httpx2.Client(base_url=operating, trust_env=False, timeout=PATIENCE) as operator:
            assert operator.get("/v1/status", headers=up.shown()).json()["listening"]["operating"] == "port"
            assert operator.get("/metrics", headers=up.shown()).status_code == 200
            assert operator.get("/v1/status", headers={**up.shown(), **proxied}).status_code in (403, 421)


class Serving:
    """A running `engramlog mcp --http`, and its log."""

    def __init__(self, folder: Path) -> None:
        self.log = folder.parent / "mcp.log"
        environment = {**os.environ, "ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_HOST": "0.0.0.0"}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "engramlog_server.ops.main", "mcp", "--http", "--port", "0", "--json"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def url(self) -> str | None:
        """Where it serves, once it does."""
        told = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        assert self.process.poll() is None, self.log.read_text()
        return next((str(one["url"]) for one in told if one.get("event") == "service started"), None)


def test_mcp_over_http_goes_by_the_same_rules(tmp_path: Path, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    keyless = Serving(folder)
    assert keyless.process.wait(PATIENCE) == 2, keyless.log.read_text()
    assert "engramlog key new" in keyless.log.read_text()
    made = _a_key(folder, monkeypatch)
    serving = Serving(folder)
    try:
        url = wait_until(serving.url).replace("0.0.0.0", "127.0.0.1").replace("OWNER", "alice")
        assert url.startswith("https://127.0.0.1:")
        authority = ssl.create_default_context(cafile=str(pair.chain))
        ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        kinds = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
        with httpx2.Client(verify=authority, trust_env=False, timeout=PATIENCE) as client:
            for shown, status in ((made, 200), ((folder / "token").read_text().strip(), 401)):
                answer = client.post(url, json=ping, headers={**kinds, "authorization": f"Bearer {shown}"})
                assert answer.status_code == status, answer.text
            evil = client.post(
                url, json=ping, headers={**kinds, "authorization": f"Bearer {made}", "host": "evil.example"}
            )
            assert evil.status_code == 421
    finally:
        serving.process.terminate()
        serving.process.wait(PATIENCE)


def _a_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Made by the command that the refusal names."""
    with monkeypatch.context() as of_this_machine:
        of_this_machine.setenv("ENGRAMLOG_DATA", str(folder))
        done = subprocess.run(
            [
                sys.executable,
                "-P",
                "-m",
                "engramlog_server.ops.main",
                "key",
                "new",
                "support",
                "--can",
                "use",
                "--owners",
                "*",
                "--json",
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["key"])
