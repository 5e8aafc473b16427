"""`engramlog up` and `engramlog mcp --http` beyond loopback, as people start them: no key, no port; with one, by TLS."""

from __future__ import annotations

import ssl
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
        told = up.facts("ready")[0]
        assert "listening" not in told  # of this machine alone: as ever
        made = issued(up, folder, "read", "operate")
    for name, path in zip(("CERT", "KEY"), pair, strict=True):
        monkeypatch.setenv(f"ENGRAMLOG_TLS_{name}_FILE", str(path))
    shown = {"authorization": f"Bearer {made['key']}"}
    with running(folder, "--host", "0.0.0.0") as up, client_of(up, pair) as client, operator_of(folder) as operator:
        assert client.get(MEMORIES, headers=shown).status_code == 200
        assert client.get(MEMORIES, headers=up.shown()).status_code == 401
        assert client.get("/v1/status", headers=shown).status_code == 403
        told = up.facts("ready")[0]["listening"]
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
    monkeypatch.setenv("ENGRAMLOG_OPERATE_PORT", "0")
    with running(folder) as up:
        url = up.ready()
        with httpx2.Client(base_url=url, trust_env=False, timeout=PATIENCE) as client:
            assert client.get("/health").status_code == 421  # the proxy has to say by what it was asked
            proxied = {"host": "memory.example.org", "x-forwarded-proto": "https"}
            assert client.get("/health", headers=proxied).status_code == 200
        operating = up.facts("ready")[0]["operating"]
        with httpx2.Client(base_url=operating, trust_env=False, timeout=PATIENCE) as operator:
            assert operator.get("/v1/status", headers=up.shown()).json()["listening"]["operating"] == "port"
            assert operator.get("/metrics", headers=up.shown()).status_code == 200
            assert operator.get("/v1/status", headers={**up.shown(), **proxied}).status_code in (403, 421)
