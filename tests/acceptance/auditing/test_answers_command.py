"""`answers`: from an answer to what stood in its prompt, on the command line and over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engramlog.answers import AnsweredInFull
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.given.http import HttpStore, http_store
from tests.given.shaped import checked
from tests.servers import Servers

ASKS = "What do I drink in the morning?"


@pytest.fixture
def cli(redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("valkey").url)
    return Cli(monkeypatch, capsys)


def turn(number: int, text: str, role: str = "user", **data: Any) -> dict[str, Any]:
    told = event(number, type_="TurnRecorded", turn_id=f"t{number}", role=role, text=text, **data)
    del told["data"]["memory_id"]
    return told | {"session_id": "s1"}


def answered(cli: Cli, coffee: str = "I drink coffee every morning") -> None:
    """A turn that was answered with a memory in its prompt."""
    fresh = {"occurred_at": f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"}
    cli("append", "-", stdin=lines([event(1, content=coffee) | fresh, turn(2, ASKS)]))
    cli("context", "ada", ASKS, "--turn", "t2", "--threshold", "0.1", "--trace")
    cli("append", "-", stdin=lines([turn(3, "Coffee.", "assistant", reply_to="t2")]))


def test_a_page_of_turns_and_one_of_them_with_its_block_in_a_frame(cli: Cli) -> None:
    answered(cli)
    listed = cli("answers", "ada").out
    assert all(word in listed for word in ("1 answer, ada", "t2", ASKS, "Coffee."))
    told = cli("answers", "ada", "t3").out
    assert all(word in told for word in (ASKS, "Coffee.", "as it was handed out", "<memory>", "m1", "live"))


def test_an_outcome_that_is_reported_for_a_turn_stands_beside_its_answer(cli: Cli) -> None:
    answered(cli)
    cli("reinforce", "ada", "m1", "--outcome", "task_failure", "--turn", "t2")
    told = " ".join(cli("answers", "ada", "t2").out.split())
    assert "m1 task_failure user local turn_id" in told
    (one,) = checked(AnsweredInFull, cli.json("answers", "ada", "t3")).outcomes
    assert (one.memory, one.outcome, one.linked_by) == ("m1", "task_failure", "turn_id")


def test_a_turn_that_was_not_recorded_says_so(cli: Cli) -> None:
    cli("append", "-", stdin=lines([event(1, content="I drink coffee every morning")]))
    cli("context", "ada", ASKS, "--turn", "t2", "--threshold", "0.1", "--trace")
    assert "asked not recorded" in " ".join(cli("answers", "ada", "t2").out.split())


def test_controls_in_what_was_said_are_shown_as_signs(cli: Cli) -> None:
    answered(cli, "I drink \x1b[31mcoffee every morning\u202e")
    told = cli("answers", "ada", "t2").out
    assert "\x1b[31m" not in told
    assert "\u202e" not in told
    assert "\\x1b[31mcoffee" in told


def test_what_is_asked_of_a_page_is_refused_beside_a_turn(cli: Cli) -> None:
    answered(cli)
    assert "session" in cli("answers", "ada", "t2", "--session", "s1", code=2).err
    assert "engramlog answers ada" in cli("answers", "ada", "nobody", code=2).err.replace("\n", " ")


@pytest.fixture
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("answers")) as opened:
        yield opened
