"""`engramlog extract --by model`, as people run it, against a scripted endpoint."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.helpers.cli import Cli, lines, run, start, written
from tests.doubles.model_endpoint import ModelEndpoint, limited, model_endpoint
from tests.doubles.model_reader import honest
from tests.integration.live import wait_until
from tests.servers import Servers

SAID = ["I love opera.", "我喜欢爬山。", "Nice weather!", "I have two dogs.", "I play the violin.", "What now?"] * 8
TURNS = [
    {
        "turn_id": f"t{n}",
        "occurred_at": f"2024-05-{n % 28 + 1:02}T09:{n:02}:00Z",
        "speaker": "user",
        "text": f"{text} ({n})" if n > 5 else text,
    }
    for n, text in enumerate(SAID)
]


@pytest.fixture
def model() -> Iterator[ModelEndpoint]:
    with model_endpoint() as endpoint:
        endpoint.answers(honest)
        yield endpoint


@pytest.fixture
def cli(
    redis_servers: Servers, model: ModelEndpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("valkey").url)
    monkeypatch.setenv("ENGRAMLOG_MODEL", "scripted")
    monkeypatch.setenv("ENGRAMLOG_MODEL_URL", model.url)
    cli = Cli(monkeypatch, capsys)
    cli("import", "turns", "-", "--owner", "ada", stdin=lines(TURNS[:6]))
    return cli


def test_without_a_model_it_says_which_setting_is_missing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENGRAMLOG_MODEL")
    assert "set ENGRAMLOG_MODEL" in cli("extract", "ada", "--by", "model", code=2).err
    assert "rules or model" in cli("extract", "ada", "--by", "magic", code=2).err
    assert cli.json("extract", "ada", "--dry-run")["counts"]["add"] == 4


def test_a_dry_run_asks_about_the_next_turns_and_changes_nothing(cli: Cli, model: ModelEndpoint) -> None:
    before = cli.json("stats", "ada")
    answer = cli.json("extract", "ada", "--by", "model", "--dry-run")
    assert (answer["by"], answer["counts"], answer["read"], answer["left"]) == ("scripted", {"add": 4}, 6, 0)
    assert cli.json("stats", "ada") == before
    assert len(model.asked) == 1
    assert "add 4" in cli("extract", "ada", "--by", "model", "--dry-run").out


def test_it_tells_what_was_read_by_whom_and_what_that_took(cli: Cli) -> None:
    told = " ".join(cli("extract", "ada", "--by", "model").out.split())
    assert "counts add 4" in told
    assert "by scripted read 6" in told
    assert "usage requests 1, input tokens 11, output tokens 7" in told
    changes = cli.json("history", "ada")["changes"]
    by = {(one["event"], one["actor"], one["correlation_id"]) for one in changes if one["actor"] == "judge"}
    assert ("MemoryCreated", "judge", "extract:scripted") in by
    assert "scripted" in cli("history", "ada").out
    again = cli.json("extract", "ada", "--by", "model")
    assert (again["read"], again["usage"]["requests"]) == (0, 0)


def test_an_endpoint_that_is_down_ends_it_with_3_and_the_turns_wait(cli: Cli, model: ModelEndpoint) -> None:
    model.replies = [limited(after=3_600)]
    ran = cli("extract", "ada", "--by", "model", code=3)
    assert "asks to wait 3600 s" in ran.err
    assert "left 6" in " ".join(ran.out.split())
    assert "nothing new" not in ran.out
    model.answers(honest)
    assert cli.json("extract", "ada", "--by", "model")["read"] == 6


WHOLE = 52
"""Memories of all turns, read without an interruption."""


def test_a_process_killed_while_the_model_thinks_is_made_whole_by_the_next(
    tmp_path: Path, model: ModelEndpoint
) -> None:
    environment = {
        "ENGRAMLOG_MODEL": "scripted",
        "ENGRAMLOG_MODEL_URL": model.url,
        "ENGRAMLOG_DATA": str(tmp_path / "x"),
    }
    run(["import", "turns", written(tmp_path / "turns.jsonl", TURNS), "--owner", "ada"], environment)
    process = start(["extract", "ada", "--by", "model"], environment)
    wait_until(lambda: len(model.asked) >= 3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    answer = json.loads(run(["extract", "ada", "--by", "model", "--json"], environment).out)
    assert (answer["left"], answer["trouble"]) == (0, None)
    listed = json.loads(run(["list", "ada", "--mode", "review", "--limit", "1000", "--json"], environment).out)
    contents = [one["memory"] for one in listed["memories"]]
    assert sorted(contents) == sorted(set(contents)), "each once"
    assert len(contents) == WHOLE
    assert json.loads(run(["verify", "--json"], environment).out)["ok"] is True
