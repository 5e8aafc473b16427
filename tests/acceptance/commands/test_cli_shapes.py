"""The fixed shapes of `--json`: what scripts rely on, and that standard output is one JSON document and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.acceptance.helpers.cli import Cli, event, lines, turn, written

POSITION = re.compile(r"\d+:\d+\Z")


def commands(group: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command by its words."""
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


def test_append_counts_and_gives_one_position_per_event_in_input_order(cli: Cli) -> None:
    events = [event(n, owner) for n, owner in enumerate(["ada", "bo", "ada", "cy"])]
    answer = cli.json("append", "-", stdin=lines(events))
    assert answer == {"appended": 4, "already_appended": 0, "conflicts": [], "positions": answer["positions"]}
    assert all(POSITION.match(position) for position in answer["positions"])
    assert int(answer["positions"][2].split(":")[1]) == int(answer["positions"][0].split(":")[1]) + 1
    again = cli.json("append", "-", stdin=lines([*events, "", event(9)]))
    assert (again["appended"], again["already_appended"]) == (1, 4)
    assert again["positions"][:4] == answer["positions"]


def test_a_conflict_is_told_by_line_id_and_position_and_its_partition_is_not_written(cli: Cli) -> None:
    (first,) = cli.json("append", "-", stdin=lines([event(1)]))["positions"]
    events = [event(1, content="other"), event(2), event(3, "bo")]
    answer = cli.json("append", "-", stdin=lines(events), code=3)
    assert answer["conflicts"] == [{"line": 1, "event_id": event(1)["event_id"], "position": first}]
    assert [position is None for position in answer["positions"]] == [True, True, False]
    assert (answer["appended"], [one["status"] for one in answer["failed"]]) == (1, ["not_written"])
    alone = cli.json("append", "-", stdin=lines(events[:2]), code=1)
    assert (alone["appended"], len(alone["conflicts"])) == (0, 1)


def test_a_bad_line_stops_there_and_what_was_written_before_it_is_said(cli: Cli) -> None:
    events = [event(n) for n in range(1, 1_101)]
    bad = [*events[:1_050], event(0, category="nonsense"), *events[1_050:]]
    answer = cli.json("append", "-", stdin=lines(bad), code=2)
    assert (answer["appended"], len(answer["positions"])) == (1_000, 1_000)
    assert (answer["error"]["line"], answer["error"]["written_before"]) == (1_051, 1_000)
    assert answer["error"]["field"] == "data.category"
    mended = cli.json("append", "-", stdin=lines(events))
    assert (mended["appended"], mended["already_appended"]) == (100, 1_000)


def test_an_import_makes_a_turn_and_a_memory_of_each_line_and_a_second_one_nothing(cli: Cli, tmp_path: Path) -> None:
    turns = [turn(1, "I like tea"), turn(2, "我喜欢喝茶", "bo"), turn(3, "  "), turn(4, "noted", speaker="assistant")]
    file = written(tmp_path / "turns.jsonl", turns)
    first = cli.json("import", "turns", file)
    assert {name: first[name] for name in ("turns", "skipped", "appended", "already_appended", "owners")} == {
        "turns": 3,
        "skipped": 1,
        "appended": 6,
        "already_appended": 0,
        "owners": {"ada": 2, "bo": 1},
    }
    assert first["newest_turn"] == "2026-01-05T08:00:04Z"
    second = cli.json("import", "turns", file)
    assert (second["appended"], second["already_appended"]) == (0, 6)
    memory = cli.json("get", "ada", "t1")
    assert (memory["kind"], memory["tier"], memory["category"], memory["source_turns"]) == (
        "episode",
        "fact",
        "fact",
        ["t1"],
    )
    assert cli.json("get", "ada", "t4")["source"] == "assistant"


def test_an_import_takes_owner_kind_tier_and_category_as_told(cli: Cli) -> None:
    told = ["--owner-from", "user", "--kind", "note", "--tier", "episode", "--category", "temporary"]
    cli.json("import", "turns", "-", *told, stdin=lines([turn(1, "hello", user="zoë")]))
    memory = cli.json("get", "zoë", "t1")
    assert (memory["kind"], memory["tier"], memory["category"]) == ("note", "episode", "temporary")
    answer = cli.json("import", "turns", "-", "--owner", "all", "--turns-only", stdin=lines([turn(1, "hello")]))
    assert (answer["appended"], answer["owners"]) == (1, {"all": 1})


def test_a_changed_turn_is_a_conflict_of_its_line(cli: Cli) -> None:
    cli.json("import", "turns", "-", stdin=lines([turn(1, "I like tea")]))
    answer = cli.json("import", "turns", "-", stdin=lines([turn(1, "I hate tea")]), code=1)
    assert [one["line"] for one in answer["conflicts"]] == [1, 1]
    assert cli.json("get", "ada", "t1")["content"] == "I like tea"


def test_status_tells_every_partition_in_whole_numbers(cli: Cli) -> None:
    cli.json("append", "-", stdin=lines([event(1)]))
    answer = cli.json("status")
    assert len(answer["partitions"]) == 16
    for one in answer["partitions"]:
        assert all(type(one[name]) is int for name in ("partition", "head", "checkpoint", "lag", "epoch"))
        assert one["holder"] is None
        assert one["quarantined"] == []
    assert sum(one["head"] for one in answer["partitions"]) == 1


def test_an_empty_store_answers_everything(cli: Cli) -> None:
    assert cli.json("search", "nobody", "tea")["results"] == []
    assert cli.json("list", "nobody")["total"] == 0
    assert cli.json("history", "nobody")["changes"] == []
    assert cli.json("stats")["owners"] == 0
    assert cli.json("status")["events"] == 0
    assert cli.json("verify")["ok"] is True
    assert len(cli.json("rebuild")["switched"]) == 16
    assert cli.json("replay", "nobody")["differences"] == []
    assert cli.json("import", "turns", "-", stdin=b"\n\n")["turns"] == 0


def test_a_command_folds_what_it_appended_before_it_returns(cli: Cli) -> None:
    position = cli.json("append", "-", stdin=lines([event(1)]))["positions"][0]
    answer = cli.json("list", "ada", "--mode", "review", "--after", position)
    assert [one["memory"] for one in answer["memories"]]
    cli.json("search", "ada", "note", "--at", "2026-01-05T08:00:00Z")
    cli.json("get", "ada", "m1")
    assert cli.json("status")["lag"] == 0
