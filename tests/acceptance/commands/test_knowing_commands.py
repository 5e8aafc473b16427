"""The commands on what is known, as people run them: assess, map with its files, associations, and search by context."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.helpers.cli import Cli, event, flat, lines
from tests.rows import each_row

AT = ["--at", "2026-01-06T08:00:00Z"]
"""A day after everything was said."""
MARKUP = "[bold]oat[/bold] [/] [red]milk"


@pytest.fixture
def cli(cli: Cli) -> Cli:
    told = [
        event(1, content="The kiln broke, urgent", keywords=["kiln", "clay"], confidence=0.9, project="pots"),
        event(2, content="Mud was late", keywords=["clay", "mud"]),
        event(3, content=MARKUP, keywords=["[red]"]),
        event(4, content="周六烧窑，太好了", keywords=["烧窑"], tier="core"),
        event(5, content="陶泥到了", tier="core"),
        about(6, "MemoriesLinked", a="m4", b="m5", weight=0.8, link="semantic"),
        about(7, "MemoriesLinked", a="m1", b="m3", weight=0.7, link="red"),
        about(8, "FactAsserted", subject="kiln", predicate="fires", object=MARKUP, evidence=["m1"]),
    ]
    told[2]["occurred_at"] = "2026-01-04T23:30:00Z"
    cli("append", "-", stdin=lines(told))
    return cli


def about(number: int, type_: str, **data: Any) -> dict[str, Any]:
    """An event that is not about one memory."""
    return event(number, type_=type_) | {"data": data}


# --- search


def test_search_tells_what_comes_to_mind_and_by_way_of_what(cli: Cli) -> None:
    told = cli("search", "ada", "kiln", "--associations", *AT).out
    assert "and what they bring to mind" in told
    assert re.search(r"m3 .*0\.350 +m1 -> m3 \(red\)", told)
    assert MARKUP in told
    answer = cli.json("search", "ada", "烧窑", "--associations", *AT)
    assert [(one["id"], one["activation"]) for one in answer["associated"]] == [("m5", 0.4)]
    assert "associated" not in cli.json("search", "ada", "kiln", *AT)


# --- assess


def test_assess_says_how_sure_with_advice_evidence_and_the_sum(cli: Cli) -> None:
    told = cli("assess", "ada", "kiln", *AT).out
    assert "confidence medium score 0." in flat(told)
    assert "I know something about “kiln”, but am not sure (1 memory)" in told
    assert "\nCheck these memories against each other." in told
    assert "memories 1 mean confidence 0.9 coverage 0.1 mean recency 0.9772" in flat(told)
    assert re.search(r"m1 +The kiln broke, urgent +0\.9 +1", told)


def test_assess_in_chinese_of_nothing_and_of_what_looks_like_markup(cli: Cli) -> None:
    told = cli("assess", "ada", "烧窑", *AT).out
    assert "关于“烧窑”" in told
    assert "周六烧窑，太好了" in told
    nothing = cli("assess", "ada", "[i]never heard of[/]", *AT).out
    assert "I remember nothing about “[i]never heard of[/]”" in nothing
    assert "confidence none score 0" in flat(nothing)
    assert "evidence: none" in nothing
    assert MARKUP in cli("assess", "ada", "oat milk", *AT).out


# --- map


def test_map_shows_memories_by_cluster(cli: Cli) -> None:
    told = cli("map", "ada", "kiln", *AT).out
    assert "edges 2" in flat(told)
    assert [one in told for one in ("The kiln broke, urgent", "Mud was late", MARKUP, "clay")] == [True] * 4
    assert "nodes: none" in cli("map", "ada", "unheard of", *AT).out


def test_map_draws_a_picture(cli: Cli, tmp_path: Path) -> None:
    told = cli("map", "ada", "kiln", "--out", str(tmp_path / "map.svg"), *AT).out
    assert "drawn" in told
    content = (tmp_path / "map.svg").read_bytes()
    assert content.startswith(b"<?xml")
    assert b"The kiln broke" in content


@each_row("name", ["map.pdf", "map.png", "map", "map.svg.txt", ".svg"])
def test_map_refuses_a_file_of_another_kind_and_writes_nothing(cli: Cli, tmp_path: Path, name: str) -> None:
    told = cli("map", "ada", "kiln", "--out", str(tmp_path / name), *AT, code=2)
    assert (told.out, list(tmp_path.iterdir())) == ("", [])
    assert "InputError: --out: got " in told.err
    assert "a name that ends in .svg" in told.err
    assert cli.json("map", "ada", "kiln", "--out", str(tmp_path / name), *AT, code=2)["field"] == "out"


def test_map_refuses_a_folder_that_is_not_there_and_a_picture_of_nothing(cli: Cli, tmp_path: Path) -> None:
    assert "InputError" in cli("map", "ada", "kiln", "--out", str(tmp_path / "no" / "map.svg"), *AT, code=2).err
    told = cli("map", "ada", "unheard of", "--out", str(tmp_path / "map.svg"), *AT, code=2)
    assert "at least one memory" in told.err
    assert list(tmp_path.iterdir()) == []


# --- associations


def test_associations_prints_a_tree_with_links_and_weights(cli: Cli) -> None:
    told = cli("associations", "ada", "m2", "--depth", "2", *AT).out.splitlines()
    assert told[0] == "m2 Mud was late"
    assert told[1].endswith("m1 keyword 0.33 (0.33)  The kiln broke, urgent")
    assert told[2].endswith(f"m3 red 0.70 (0.70)  {MARKUP}")
    assert told[2].index("m3") > told[1].index("m1")
    assert len(told) == 3


def test_associations_tells_the_triples_that_a_memory_backs(cli: Cli) -> None:
    assert f"backs: kiln fires {MARKUP}" in cli("associations", "ada", "m1", *AT).out
    cli("delete", "ada", "m1")
    told = cli("associations", "ada", "m1").out
    assert "no associations in this mode" in told
    assert "backs" not in told


# --- refusals


@each_row(
    ("words", "said"),
    [
        (["search", "ada", "kiln", "--tag", ""], "tags: got ''; allowed: tags of 1 to 100 characters"),
        (["search", "ada", "kiln", "-k", "0"], "limit: got 0; allowed: a whole number from 1 to 100"),
        (["assess", "ada", " "], "topic: got ' '; allowed: some text"),
        (["map", "ada", ""], "topic: got ''; allowed: some text"),
        (["map", "ada", "kiln", "--depth", "5"], "depth: got 5; allowed: a whole number from 1 to 4"),
        (["map", "ada", "kiln", "--least", "2"], "least: got 2.0; allowed: a number from 0 to 1"),
        (["map", "ada", "kiln", "--least", "nan"], "least: got nan; allowed: a number from 0 to 1"),
        (["map", "ada", "kiln", "--limit", "0"], "limit: got 0; allowed: a whole number from 1 to 1000"),
        (["map", "ada", "kiln", "--mode", "all"], "mode: got 'all'; allowed: normal, review, debug"),
        (["associations", "ada", "m1", "--depth", "0"], "depth: got 0; allowed: a whole number from 1 to 4"),
        (["associations", "ada", "m1", "--mode", "all"], "mode: got 'all'; allowed: normal, review, debug"),
        (["associations", "ada", "a b"], "memory_id: got 'a b'; allowed: 1 to 128 letters or digits"),
    ],
)
def test_bad_input_is_one_line_that_names_field_got_and_allowed(cli: Cli, words: list[str], said: str) -> None:
    told = cli(*words, code=2)
    assert told.out == ""
    field = said.partition(": got ")[0]
    named = field if field in ("topic", "memory_id") else {"tags": "--tag"}.get(field, f"--{field}")
    assert told.err.startswith(f"InputError: {named}{said.removeprefix(field)}")
    error = cli.json(*words, code=2)
    assert (error["error"], error["field"]) == ("InputError", field)
    assert (error["message"].startswith(said), error["got"] in said) == (True, True)
    assert error["allowed"] in error["message"]
