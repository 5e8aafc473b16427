"""`engramlog replay` and `engramlog retract`, as people give them and as they are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.helpers.cli import Cli, event, lines


@pytest.fixture
def told(cli: Cli) -> Cli:
    """Coffee and tea of the user, in two sessions; an assistant's advice."""
    cli(
        "append",
        "-",
        stdin=lines(
            [
                event(0, memory_id="coffee", content="I drink coffee") | {"session_id": "s1"},
                event(1, memory_id="tea", content="I drink tea") | {"session_id": "s2"},
                event(2, memory_id="advice", content="drink water") | {"actor": "assistant"},
            ]
        ),
    )
    return cli


def ids(answer: dict[str, Any]) -> list[str]:
    return [one["id"] for one in answer["differences"]]


def test_questions_come_by_option_and_from_a_file_and_are_told_in_their_order(told: Cli, tmp_path: Path) -> None:
    path = tmp_path / "saved.txt"
    path.write_text("water\n\n 茶 \n", "utf-8")
    answer = told.json(
        "replay", "ada", "--without-session", "s1", "--query", "coffee", "--query", "tea", "--queries", str(path)
    )
    assert [one["query"] for one in answer["questions"]] == ["coffee", "tea", "water", "茶"]
    assert answer["questions"][0]["moved"] == [{"id": "coffee", "before": 1, "after": None, "passed": None}]
    assert (answer["questions"][0]["query"], answer["questions"][0]["after"]) == ("coffee", [])
    assert ids(answer) == ["coffee"]


def test_a_file_that_is_none_is_refused_by_name(told: Cli, tmp_path: Path) -> None:
    assert "queries: got" in told("replay", "ada", "--queries", str(tmp_path / "none.txt"), code=2).err


def test_a_replay_is_printed_with_why_each_event_is_struck(told: Cli) -> None:
    printed = " ".join(told("replay", "ada", "--without-session", "s1", "--query", "coffee").out.split())
    for words in ("1 difference, ada, review mode", "coffee named s1", "coffee 1 -"):
        assert words in printed


def test_retracting_tells_its_reach_first_and_does_what_was_looked_at(told: Cli) -> None:
    looked = told("retract", "ada", "--without-session", "s1").out
    assert "A dry run: nothing was written." in looked
    reach = told.json("retract", "ada", "--without-session", "s1")["reach"]
    assert f"--reach {reach}" in looked
    done = told.json("retract", "ada", "--without-session", "s1", "--reach", reach, "--reason", "not Ada")
    assert (done["dry_run"], [one["event"] for one in done["changes"]]) == (False, ["SourceSetAside"])
    standing = {one["id"]: one["status"] for one in told.json("list", "ada", "--mode", "debug")["memories"]}
    assert standing == {"coffee": "set_aside", "tea": "live", "advice": "live"}
    assert told.json("retract", "ada", "--without-session", "s1", "--reach", reach)["again"] is True
    assert [one["session"] for one in told.json("set-aside", "ada")["sources"]] == ["s1"]


def test_yes_does_it_at_once_and_another_reach_does_nothing(told: Cli) -> None:
    before = told.json("status")["events"]
    told("retract", "ada", "--without-session", "s2", "--reach", "0" * 32, code=1)
    told("retract", "ada", "--without-session", "s2", "--dry-run", "--yes", code=2)
    assert told.json("status")["events"] == before
    done = told("retract", "ada", "--without-session", "s2", "--yes").out
    assert "SourceSetAside" in done
    assert "A dry run" not in done
    assert "engramlog set-aside OWNER ... --undo" in " ".join(done.split())
    assert "no event would undo it" in told("retract", "ada", "--without-session", "s2", "--yes").out
    assert told.json("status")["events"] == before + 1


def test_what_cannot_be_undone_whole_ends_with_3(told: Cli) -> None:
    told("mention", "ada", "tea")
    (mention,) = [
        one["position"] for one in told.json("history", "ada", "tea")["changes"] if one["event"] == "MemoryMentioned"
    ]
    told("negate", "ada", "coffee", "--correction", "I drink water")
    negation = told.json("history", "ada", "coffee")["changes"][-1]["position"]
    done = told("retract", "ada", "--without", mention, "--without", negation, "--yes", code=3)
    assert "cannot be undone by an event" in done.out
