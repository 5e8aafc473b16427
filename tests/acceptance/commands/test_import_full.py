"""A store of little memory: an import takes what fits, folds all of it, and refuses the rest with what to do."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.acceptance.helpers.cli import Cli, turn, written

SMALL = 12 << 20


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "store"))
    monkeypatch.setenv("ENGRAMLOG_REDIS_MAXMEMORY", str(SMALL))
    return Cli(monkeypatch, capsys)


def test_an_import_without_up_folds_all_that_it_took_and_says_how_to_go_on(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [turn(n, f"note {n}: {Random(n).randbytes(350).hex()}", conversation=f"owner-{n % 5}") for n in range(4_500)]
    file = written(tmp_path / "turns.jsonl", said)
    ran = cli("import", "turns", file, "--json", code=3)
    took = ran.json["turns"]
    assert 500 <= took < 4_500
    assert ran.json["error"]["error"] == "StoreFull"
    assert f"The log has {2 * took:,} of the file's events and answers from them" in ran.err
    assert "ENGRAMLOG_REDIS_MAXMEMORY" in ran.err
    status = cli.json("status")
    assert (status["lag"], status["memories"], status["events"]) == (0, took, 2 * took)
    found = cli.json("search", f"owner-{(took - 1) % 5}", f"note {took - 1}", "--mode", "review")
    assert found["results"][0]["id"] == f"t{took - 1}"
    monkeypatch.setenv("ENGRAMLOG_REDIS_MAXMEMORY", str(64 << 20))
    rest = cli.json("import", "turns", file)
    assert (rest["turns"], rest["appended"], rest["already_appended"]) == (4_500, 9_000 - 2 * took, 2 * took)
    assert cli.json("verify")["ok"]
