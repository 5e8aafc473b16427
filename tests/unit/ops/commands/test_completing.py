"""A TAB is answered in silence where no store runs, whatever lies in the folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engramlog_server.ops.commands.completion import StoreNames


@pytest.fixture(autouse=True)
def _no_store_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)


@pytest.mark.parametrize(
    "held", ["", "{}", "[]", '{"tags": 7}', '{"tags": ["e0"], "socket": "/nowhere"}', "\ud800", "[" * 9_000]
)
def test_where_no_store_runs_nothing_is_offered_and_nothing_is_said(
    held: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("store.json", "server.json"):
        (tmp_path / name).write_bytes(held.encode("utf-8", "surrogatepass"))
    assert (StoreNames(tmp_path).owners("a"), StoreNames(tmp_path).memories("ada", "")) == ([], [])
    assert StoreNames(tmp_path / "none").owners("") == []
    assert capfd.readouterr() == ("", "")


def test_a_redis_of_one_s_own_is_not_asked_for_a_tab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "redis://127.0.0.1:1")
    (tmp_path / "store.json").write_text(json.dumps({"tags": ["e0"]}))
    assert StoreNames(tmp_path).owners("") == []
