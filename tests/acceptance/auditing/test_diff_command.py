"""`engramlog diff` and `engramlog why OWNER A B`: tables for people, the whole as JSON, and words for what cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramlog.answers import Why
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.given.shaped import checked
from tests.servers import Servers

EVENTS = [
    event(1, content="I drink coffee in the morning"),
    event(2, content="早上我喜欢喝龙井茶 [b]真的[/b]"),
    event(3, content="my locker PIN is 4821"),
    event(4, type_="MemoryNegated", memory_id="m1", reason="the doctor said so", resolution="latest_wins")
    | {"occurred_at": "2026-01-15T08:00:00Z"},
]
BEFORE, AFTER = "2026-01-10", "2026-01-20"


@pytest.fixture
def cli(redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("valkey").url)
    opened = Cli(monkeypatch, capsys)
    opened("append", "-", stdin=lines(EVENTS))
    return opened


def test_a_table_tells_what_changed_by_whom_and_why(cli: Cli) -> None:
    told = cli("diff", "ada", "--since", BEFORE, "--until", AFTER, "--line", "happened", "--query", "coffee").out
    assert "0 made, 0 gone, 1 changed, 0 crossed; weight alone moved: 2 by time (--everything lists them)" in told
    row = next(line for line in told.splitlines() if line.startswith("m1 "))
    assert "I drink coffee" in row
    assert "doctor" in told
    assert "events, by whom: local (user) 1" in told


def test_all_lists_what_moved_in_weight_alone_and_brackets_are_no_markup(cli: Cli) -> None:
    told = cli("diff", "ada", "--since", BEFORE, "--until", AFTER, "--line", "happened", "--everything").out
    assert "moved in weight alone" in told
    assert "龙井茶 [b]真的[/b]" in told
    assert "4821" not in told


def test_an_import_is_told_where_else_to_look(cli: Cli) -> None:
    told = cli("diff", "ada", "--since", BEFORE).out
    assert "4 events" in told
    assert "--line happened" in told.replace("\n", " ")


def test_questions_are_read_out_of_a_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text("\ufeffcoffee\n\n早上喝什么\n", "utf-8")
    asked = (
        "diff",
        "ada",
        "--since",
        BEFORE,
        "--until",
        AFTER,
        "--line",
        "happened",
        "--query",
        "PIN",
        "--queries",
        str(file),
    )
    assert [one["query"] for one in cli.json(*asked)["questions"]] == ["PIN", "coffee", "早上喝什么"]
    file.write_text("tea\n" * 21, "utf-8")
    assert "at most 20 questions" in cli(*asked, code=2).err
    assert "a file that can be read" in cli(*asked[:-1], str(tmp_path / "none"), code=2).err
    file.write_bytes(b"\xff\xfe\xfd")
    assert "UTF-8" in cli(*asked, code=2).err


def test_what_cannot_be_asked_is_refused_by_the_name_of_the_option(cli: Cli) -> None:
    assert "since: got" in cli("diff", "ada", "--since", AFTER, "--until", BEFORE, code=2).err
    assert "line: got" in cli("diff", "ada", "--since", BEFORE, "--line", "both", code=2).err


def test_why_above_another_memory_tells_which_ranks_higher_and_by_what(cli: Cli) -> None:
    asked = ("why", "ada", "m1", "--above", "m2", "--query", "what do I drink in the morning?", "--mode", "review")
    told = cli(*asked).out
    assert told.startswith("m1 (rank 1)")
    assert "review mode" in told
    chinese = cli("why", "ada", "m1", "--above", "m2", "--query", "早上喝什么茶").out
    assert "m2（第 1）" in chinese
    answer = cli.json(*asked)
    checked(Why, answer)
    assert answer["above"]["order"] == "above"
    assert answer["changes"]
    alone = cli("why", "ada", "m1").out
    assert "under the weighted law" in alone


def test_why_refuses_half_a_comparison(cli: Cli) -> None:
    assert "query: got" in cli("why", "ada", "m1", "--above", "m2", code=2).err
    assert "above: got" in cli("why", "ada", "m1", "--query", "tea", code=2).err
    assert "above: got" in cli("why", "ada", "m1", "--above", "m1", "--query", "tea", code=2).err
