"""What is stored is shown and never obeyed: no command writes a control character that came with a text."""

from __future__ import annotations

import io
import json
import re

import pytest
import structlog

from engramlog_server.api.cli.output import Terminal, exact_json, visible
from engramlog_server.ops.logs import start_logging
from tests.acceptance.helpers.cli import Cli, Ran, event, lines, turn
from tests.given.records import carried
from tests.rows import each_row

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b31m \u202eevil\u2066 \u200b\U000e0041 \x7f\x08\x00 end"
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]"
)
"""What a terminal obeys, or hides."""
FUTURE = ("--at", "2026-01-06T00:00:00Z")

COMMANDS = [
    ("list", "ada", *FUTURE),
    ("list", "ada", "--mode", "debug"),
    ("get", "ada", "m1"),
    ("why", "ada", "m1"),
    ("history", "ada"),
    ("history", "ada", "m1", "--everything"),
    ("why", "ada", "m1", "--provenance"),
    ("search", "ada", "coffee", *FUTURE),
    ("search", "ada", "coffee", "--explain", *FUTURE),
    ("assess", "ada", "coffee"),
    ("map", "ada", "coffee"),
    ("associations", "ada", "m1"),
    ("facts", "ada"),
    ("synonyms", "ada"),
    ("context", "ada", "coffee"),
    ("compare", "ada", "m1"),
    ("replay", "ada", "--query", "coffee"),
    ("review", "ada"),
    ("fading", "ada"),
    ("health", "ada"),
    ("cleanup", "ada", "--dry-run"),
    ("extract", "ada", "--dry-run"),
    ("episodes", "ada", "--dry-run"),
    ("delete", "ada", "m3", "--dry-run"),
    ("stats",),
    ("status",),
    ("dead",),
]


def given_hostile_texts(cli: Cli) -> None:
    said = f"coffee {HOSTILE}"
    fact = event(
        6,
        type_="FactAsserted",
        subject=f"Ada{HOSTILE}",
        predicate=f"likes{HOSTILE}",
        object=f"coffee{HOSTILE}",
        evidence=["m1"],
        condition=said,
    )
    del fact["data"]["memory_id"]
    kept = {"summary": said, "keywords": [f"coffee{HOSTILE}"], "tags": [f"t{HOSTILE}"]}
    cli(
        "append",
        "-",
        stdin=lines(
            [
                event(1, content=said, **kept),
                event(2, content=f"coffee no more {HOSTILE}"),
                event(3, content=f"coffee in the morning {HOSTILE}"),
                event(4, type_="MemoryNegated", memory_id="m2", correction=said, reason=said),
                event(5, type_="MemoryRevised", memory_id="m3", content=f"coffee at noon {HOSTILE}"),
                fact,
            ]
        ),
    )
    cli("import", "turns", "-", stdin=lines([turn(1, said), turn(2, f"I like tea {HOSTILE}")]))


@pytest.fixture
def hostile(cli: Cli) -> Cli:
    given_hostile_texts(cli)
    return cli


def obeyed(ran: Ran) -> list[str]:
    return OBEYED.findall(ran.out) + OBEYED.findall(ran.err)


def test_no_command_writes_a_control_that_came_with_a_text(hostile: Cli) -> None:
    for words in COMMANDS:
        assert (words, obeyed(hostile(*words))) == (words, [])


def test_what_was_hidden_is_seen(hostile: Cli) -> None:
    shown = hostile("get", "ada", "m1").out
    assert [
        sign for sign in ("\\x1b]0;owned", "\\x9b31m", "\\u202e", "\\u200b", "\\U000e0041") if sign not in shown
    ] == []


def test_json_is_exact_and_holds_nothing_that_a_terminal_obeys(hostile: Cli) -> None:
    for words in COMMANDS:
        ran = hostile(*words, "--json")
        assert (words, obeyed(ran)) == (words, [])
        json.loads(ran.out)
    assert hostile.json("get", "ada", "m1")["content"] == f"coffee {HOSTILE}"


def test_an_export_holds_nothing_that_a_terminal_obeys_and_goes_in_again_as_it_was(hostile: Cli) -> None:
    said = f"coffee {HOSTILE} 我喜欢茶\u2028\x85"
    hostile("append", "-", stdin=lines([event(7, owner="eve", content=said)]))
    ran = hostile("export", "eve")
    assert obeyed(ran) + [sign for sign in "\u2028\x85\x9b" if sign in ran.out] == []
    assert "\\udb40\\udc41" in ran.out
    assert "我喜欢茶" in ran.out
    assert json.loads(ran.out.splitlines()[0])["content"] == said
    hostile("import", "records", "-", "--owner", "eve-again", stdin=ran.out.encode())
    assert carried(hostile("export", "eve-again").out) == carried(ran.out)
    assert obeyed(hostile("export", "eve", "--format", "text")) == []


def test_a_refusal_quotes_without_obeying(hostile: Cli) -> None:
    for words in (("get", "ada", f"m{HOSTILE}"), ("list", f"ada{HOSTILE}"), ("search", "ada", "x", "--mode", HOSTILE)):
        assert obeyed(hostile(*words, code=2)) == []


@each_row(
    ("text", "shown"),
    [
        ("plain\ntext\tstays", "plain\ntext\tstays"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\rb", "a\\x0db"),
        ("\u202e", "\\u202e"),
        ("\U000e0041", "\\U000e0041"),
        ("👨‍👩‍👧 ❤️ 1️⃣ می‌خواهم", "👨‍👩‍👧 ❤️ 1️⃣ می‌خواهم"),
        ("a\ufe0fb", "a\\ufe0fb"),
        ("我喜欢茶", "我喜欢茶"),
    ],
)
def test_controls_are_spelled_out_and_what_people_write_stays(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_console_lets_no_control_through_whatever_is_printed() -> None:
    file = io.StringIO()
    Terminal(file=file, force_terminal=False).print(HOSTILE, markup=False)
    assert OBEYED.findall(file.getvalue()) == []


def test_json_for_a_terminal_reads_back_exactly() -> None:
    answer = {f"name{HOSTILE}": [HOSTILE, "我喜欢茶", "\u2028"]}
    assert json.loads(exact_json(answer)) == answer


def test_a_log_line_for_people_obeys_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        start_logging(pretty=True)
        structlog.get_logger().info("folded", owner=f"ada{HOSTILE}", parts=[HOSTILE])
    finally:
        told = capsys.readouterr().err
        structlog.reset_defaults()
    assert "\\x1b]0;owned" in told
    assert OBEYED.findall(re.sub(r"\x1b\[[0-9;]*m", "", told)) == []
