"""`events`: the log's events for people and as JSON, and as they come until Ctrl-C; `history` closer; `owners --search`."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.acceptance.helpers.cli import Cli, event, lines, run, start
from tests.patience import PATIENCE
from tests.rows import each_row
from tests.servers import Servers


@pytest.fixture
def cli(redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("valkey").url)
    return Cli(monkeypatch, capsys)


def told(cli: Cli, *more: dict[str, object]) -> None:
    first = [event(1, content="主人喜欢拉面"), event(2, content="red \x1b[31m alarm [bold]x[/]")]
    cli("append", "-", stdin=lines([*first, *more]))


def test_a_table_tells_position_time_type_and_first_words_and_obeys_none_of_them(cli: Cli) -> None:
    told(cli)
    shown = cli("events", "ada").out
    assert "主人喜欢拉面" in shown
    assert "\x1b[31m" not in shown
    assert "\\x1b[31m alarm [bold]x[/]" in shown
    assert shown.count("MemoryCreated") == 2
    assert "days later" in shown


def test_json_is_whole_and_pages_go_on(cli: Cli) -> None:
    told(cli)
    first = cli.json("events", "ada", "-k", "1")
    second = cli.json("events", "ada", "-k", "1", "--cursor", first["next"])
    assert [one["data"]["memory_id"] for one in first["events"] + second["events"]] == ["m1", "m2"]
    assert f"--cursor {first['next']}" in cli("events", "ada", "-k", "1").out
    assert cli.json("events", "ada", "--type", "TurnRecorded")["events"] == []
    assert "no events" in cli("events", "nobody").out


def test_a_partition_names_the_owners(cli: Cli) -> None:
    told(cli)
    number = cli.json("events", "ada")["partition"]
    assert "ada" in cli("events", "--partition", str(number)).out
    assert {one["owner"] for one in cli.json("events", "--partition", str(number))["events"]} == {"ada"}


@each_row(
    "words",
    [
        ("events",),
        ("events", "ada", "--partition", "1"),
        ("events", "ada", "--follow", "--order", "newest"),
        ("events", "ada", "--since", "soon"),
        ("events", "ada", "--type", "Nothing"),
        ("events", "--partition", "9999"),
        ("history", "ada", "--law", "gravity"),
        ("history", "ada", "--kind", "nothing"),
        ("status", "--owners", "--search", "\x1b"),
    ],
)
def test_what_cannot_be_asked_is_bad_input(cli: Cli, words: tuple[str, ...]) -> None:
    assert "InputError" in cli(*words, code=2).err


def test_what_comes_is_followed_until_it_is_interrupted(tmp_path: Path, redis_servers: Servers) -> None:
    environment = {"ENGRAMLOG_REDIS_URL": redis_servers.get("valkey").url, "ENGRAMLOG_DATA": str(tmp_path)}
    run(["add", "ada", "I drink coffee", "--id", "coffee"], environment)
    following = start(["events", "ada", "--follow", "--json"], environment)
    assert following.stdout is not None
    first = json.loads(following.stdout.readline())
    run(["mention", "ada", "coffee"], environment)
    second = json.loads(following.stdout.readline())
    following.send_signal(signal.SIGINT)
    following.communicate(timeout=PATIENCE)
    assert [first["type"], second["type"]] == ["MemoryCreated", "MemoryMentioned"]
    assert following.returncode == 130


def test_a_history_says_that_its_weights_are_another_law_s_than_the_owner_s(cli: Cli) -> None:
    told(cli)
    cli("profile", "ada", "ebbinghaus")
    shown = cli("history", "ada", "m1").out
    assert "--law ebbinghaus" in shown
    closer = cli("history", "ada", "m1", "--law", "ebbinghaus", "--kind", "create")
    assert "in the numbers of ebbinghaus" in closer.out
    assert "1.0000" in closer.out
    (change,) = cli.json("history", "ada", "m1", "--law", "ebbinghaus", "--kind", "create")["changes"]
    assert (change["law"], change["new_weight"], set(change["factors"])) == (
        "ebbinghaus", 1.0, {"retention", "strength", "stability", "decay_rate", "hours"},
    )  # fmt: skip
    assert cli.json("why", "ada", "m1", "--law", "ebbinghaus")["changes"][0]["law"] == "ebbinghaus"


def test_tables_say_that_times_are_utc_though_days_are_the_owner_s(cli: Cli) -> None:
    told(cli)
    cli("profile", "ada", "--set", "time_zone=Asia/Shanghai")
    assert "happened UTC" in cli("events", "ada").out
    for words in (("history", "ada"), ("history", "ada", "m1"), ("why", "ada", "m1")):
        assert "time UTC" in cli(*words).out
    assert "active UTC" in cli("list", "ada", "--mode", "review").out
    assert "UTC" not in cli("events", "ada", "--json").out


UNKNOWN = "owner nobody has no events; `engramlog status --owners --search PART` finds owners by a part of the name"


@each_row(
    "words",
    [
        ("stats", "nobody"),
        ("events", "nobody"),
        ("answers", "nobody"),
        ("history", "nobody"),
        ("history", "nobody", "-k", "1"),
        ("export", "nobody"),
        ("export", "nobody", "--everything"),
        ("diff", "nobody", "--since", "2026-01-01"),
    ],
    ids=" ".join,
)
def test_of_an_owner_of_whom_nothing_is_recorded_it_is_said_once_with_the_way_to_the_name(
    cli: Cli, words: tuple[str, ...]
) -> None:
    told(cli)
    ran = cli(*words)
    assert (ran.out + ran.err).count(UNKNOWN) == 1
    assert UNKNOWN not in cli(*words, "--json").err


@each_row(
    "words",
    [
        ("events", "ada", "--type", "TurnRecorded"),
        ("answers", "ada"),
        ("history", "ada", "--kind", "purge"),
        ("list", "ada", "-k", "1", "--offset", "9"),
        ("export", "ada", "--as-of", "2001-01-01"),
    ],
    ids=" ".join,
)
def test_where_something_is_recorded_an_answer_that_finds_nothing_does_not_doubt_the_name(
    cli: Cli, words: tuple[str, ...]
) -> None:
    told(cli)
    assert "is recorded" not in cli(*words).err


def test_owners_are_searched_by_a_part_of_their_names(cli: Cli) -> None:
    cli("add", "团队-a", "I like tea")
    cli("add", "Team-B", "I like tea")
    assert [one["owner"] for one in cli.json("status", "--owners", "--search", "團隊")["owners"]] == ["团队-a"]
    assert "Team-B" in cli("status", "--owners", "--search", "team").out
