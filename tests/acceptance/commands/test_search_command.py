"""`engramlog search` as people run it: every option, explained and as JSON, page by page, and what it refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.acceptance.helpers.cli import Cli, event, lines
from tests.rows import each_row

AT = ("--at", "2026-01-09T00:00:00Z", "--no-trace")
ALL = {"m1", "m2", "m3", "m4"}


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("COLUMNS", "160")
    known = [
        event(1, content="The kiln broke, so annoying", speaker="Ann", project="pots", keywords=["Glaze"]),
        event(2, content="窑 kiln 今天修好了", speaker="王芳", kind="lesson", tags=["late_night"])
        | {"occurred_at": "2026-01-06T08:00:00Z", "session_id": "s2"},
        event(3, content="[b]kiln[/b] is hot 🎉", category="identity") | {"occurred_at": "2026-01-07T08:00:00Z"},
        event(4, content="The kiln, urgent!", speaker="ann"),
        event(5, content="my password is kiln-Hunter2!9"),
    ]
    cli.json("append", "-", stdin=lines(known))
    return cli


def found(cli: Cli, *words: str) -> list[str]:
    """Ids of the results for "kiln" with these options."""
    return [one["id"] for one in cli.json("search", "ada", "kiln", *AT, *words)["results"]]


@each_row(
    ("options", "expected"),
    [
        ([], ALL),
        (["--kind", "lesson"], {"m2"}),
        (["--kind", "lesson", "--kind", "note"], ALL),
        (["--tag", "late_night"], {"m2"}),
        (["--speaker", "ANN"], {"m1", "m4"}),
        (["--speaker", "王芳"], {"m2"}),
        (["--since", "2026-01-06"], {"m2", "m3"}),
        (["--until", "2026-01-05"], {"m1", "m4"}),
        (["--since", "前天"], {"m3"}),
        (["--since", "2026-01-06T08:00:00Z", "--until", "3 days ago"], {"m2"}),
    ],
)
def test_a_filter_lets_through_what_it_names(cli: Cli, options: list[str], expected: set[str]) -> None:
    assert set(found(cli, *options)) == expected


@each_row(
    ("options", "heard"),
    [
        ([], {}),
        (["--since", "between 5 January and 7 January"], {"since": "2026-01-05T00:00:00Z"}),
        (["--until", "between 5 January and 6 January"], {"until": "2026-01-07T00:00:00Z"}),
        (
            ["--since", "前天", "--until", "2026-01-08T12:00:00Z"],
            {"since": "2026-01-07T00:00:00Z", "until": "2026-01-08T12:00:00Z"},
        ),
    ],
)
def test_the_answer_tells_which_instants_since_and_until_took(
    cli: Cli, options: list[str], heard: dict[str, str]
) -> None:
    answer = cli.json("search", "ada", "kiln", *AT, *options)
    understood = {
        name: value.replace("+00:00", "Z")
        for name, value in answer["understood"].items()
        if value and name in ("since", "until")
    }
    assert understood == heard
    told = cli("search", "ada", "kiln", *AT, *options).out
    words = {"since": "from", "until": "to before"}
    assert all(f"{words[name]} {answer['understood'][name]}" in told for name in heard)
    assert ("searched" in told) == bool(heard)


def test_explain_draws_each_part_of_each_score_for_people(cli: Cli) -> None:
    answer = cli.json("search", "ada", "kiln", *AT)
    told = cli("search", "ada", "kiln", *AT, "--explain").out
    for one in answer["results"]:
        assert f"{one['id']}  {one['score']:.3f}" in told
        for part, value in one["explain"]["score"].items():
            assert re.search(rf"{part} +{re.escape(f'{value:.3f}')}", told), part
    assert "[b]kiln[/b] is hot 🎉" in told


def test_a_page_tells_how_many_more_there_are(cli: Cli) -> None:
    assert len(found(cli, "-k", "3")) == 3
    assert "1 more; --limit 4" in cli("search", "ada", "kiln", *AT, "-k", "3").out


def test_what_is_withheld_is_told_with_the_mode_that_shows_it(cli: Cli) -> None:
    cli("negate", "ada", "m1", "--correction", "The oven is whole")
    answer = cli.json("search", "ada", "kiln", "--no-trace")
    told = {one["reason"]: one for one in answer["withheld"]}
    assert (told["sensitive"]["count"], told["sensitive"]["ids"], told["sensitive"]["shown_by"]) == (
        1,
        [],
        "get --reveal",
    )
    assert "m1" in told["superseded"]["ids"]
    assert "Hunter2" not in str(answer) + cli("search", "ada", "password kiln", "--mode", "debug", "--explain").out
    people = cli("search", "ada", "kiln", "--no-trace").out
    assert re.search(r"1 .*superseded", people)


@each_row("query", ["🎉", "[b]", "窑", "!?", "the of and", "\u202ekiln", "-", "%s {0} \\", "kiln " * 2_000])
@each_row("options", [[], ["--explain", "--associations"]], ids=["plain", "explained"])
def test_any_question_is_answered_for_people_and_programs(cli: Cli, query: str, options: list[str]) -> None:
    words = ("search", *AT, "--mode", "review", *options, "--", "ada", query)
    assert cli(*words).err == ""
    answer: Any = (
        cli.json("search", *AT, "--mode", "review", *options, "ada", query) if query != "-" else {"results": []}
    )
    assert all(one["id"] in ALL for one in answer["results"])


@each_row(
    ("options", "field"),
    [
        (["--search-mode", "fuzzy"], "search_mode"),
        (["--mode", "loud"], "mode"),
        (["-k", "0"], "limit"),
        (["--limit", "101"], "limit"),
        (["--kind", " "], "kinds"),
        (["--tag", ""], "tags"),
        (["--speaker", "x" * 201], "speaker"),
        (["--since", "some day"], "since"),
        (["--until", ""], "until"),
        (["--since", "2026-01-09", "--until", "2026-01-01"], "until"),
        (["--as-of", "soon"], "as_of"),
        (["--at", "noon"], "at"),
        ([word for n in range(51) for word in ("--kind", f"k{n}")], "kinds"),
    ],
    ids=lambda told: " ".join(told)[:30] if isinstance(told, list) else told,
)
def test_what_cannot_be_asked_is_refused_by_its_field(cli: Cli, options: list[str], field: str) -> None:
    refused = cli.json("search", "ada", "kiln", *options, code=2)
    assert refused["field"] == field
    assert "allowed" in refused["message"]
    option = "--limit" if options[-2] == "-k" else options[-2]
    assert f"{option}: got" in cli("search", "ada", "kiln", *options, code=2).err
