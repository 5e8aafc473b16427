"""`engramlog extract`: turns become typed memories, once, whatever happens in between."""

from __future__ import annotations

import pytest

from tests.acceptance.helpers.cli import Cli, lines

TURNS = [
    {"turn_id": "t1", "occurred_at": "2024-05-01T09:00:00Z", "speaker": "user", "text": "I live in Berlin. 我喜欢爬山。"},
    {"turn_id": "t2", "occurred_at": "2024-05-01T09:01:00Z", "speaker": "assistant", "text": "I live in a computer."},
    {"turn_id": "t3", "occurred_at": "2024-05-02T09:00:00Z", "speaker": "user", "text": "I moved to Rome. Do I like tea?"},
    {"turn_id": "t4", "occurred_at": "2024-05-02T09:01:00Z", "speaker": "user", "text": "If I lived in Oslo, I love skiing."},
]  # fmt: skip


@pytest.fixture
def cli(cli: Cli) -> Cli:
    cli("import", "turns", "-", "--owner", "ada", stdin=lines(TURNS))
    return cli


def test_a_dry_run_tells_what_every_statement_would_become_and_changes_nothing(cli: Cli) -> None:
    before = cli.json("stats", "ada")
    answer = cli.json("extract", "ada", "--dry-run")
    assert [(one["operation"], one["turn_id"]) for one in answer["statements"]] == [
        ("ADD", "t1"),
        ("ADD", "t1"),
        ("NEGATE", "t3"),
        ("SKIP", "t4"),
    ]
    assert answer["counts"] == {"add": 2, "negate": 1, "skip": 1}
    assert cli.json("stats", "ada") == before
    assert "add 2, negate 1, skip 1" in cli("extract", "ada", "--dry-run").out


def test_it_appends_once_and_the_turns_stay(cli: Cli) -> None:
    answer = cli.json("extract", "ada")
    assert answer["counts"] == {"add": 3, "assert": 3, "negate": 1}
    assert cli.json("extract", "ada")["decisions"] == []
    assert "nothing new" in cli("extract", "ada").out
    found = {one["memory"]: one for one in cli.json("list", "ada", "--mode", "review")["memories"]}
    assert "User moved to Rome" in found
    assert "I moved to Rome. Do I like tea?" in found
    assert cli.json("facts", "ada", "--about", "Rome")["facts"][0]["predicate"] == "lives in"


def test_what_is_extracted_names_the_turn_and_the_event_that_it_came_from(cli: Cli) -> None:
    cli("extract", "ada")
    made = next(
        one for one in cli.json("list", "ada", "--mode", "review")["memories"] if one["memory"] == "User moved to Rome"
    )
    assert cli.json("get", "ada", made["id"])["source_turns"] == ["t3"]
    created, *_ = cli.json("history", "ada", made["id"])["changes"]
    assert created["time"] == "2024-05-02T09:00:00Z"
