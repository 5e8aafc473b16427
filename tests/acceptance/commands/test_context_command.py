"""`context` and `uses`: what stands in a prompt, on the command line and over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.acceptance.helpers.cli import Cli, event, lines

ASKS = "What do I drink in the morning?"


def turn(number: int, text: str, role: str = "user", **data: Any) -> dict[str, Any]:
    told = event(number, type_="TurnRecorded", turn_id=f"t{number}", role=role, text=text, **data) | {
        "session_id": "s1"
    }
    del told["data"]["memory_id"]
    return told


def known(cli: Cli) -> None:
    """A preference, a core memory, and a conversation in which it was asked about."""
    fresh = {"occurred_at": f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"}
    coffee = event(1, content="I drink coffee every morning") | fresh
    core = event(2, content="Her name is [b]Ada[/b]", tier="core")
    other = event(9, content="The kiln broke", source="assistant")
    cli("append", "-", stdin=lines([coffee, core, other, turn(3, "Hello"), turn(4, ASKS)]))


def test_the_block_alone_is_on_standard_output_with_nobodys_brackets_taken_for_markup(cli: Cli) -> None:
    known(cli)
    told = cli("context", "ada", ASKS, "--threshold", "0.5")
    rows = told.out.splitlines()
    assert (rows[0], rows[-1]) == ("<memory>", "</memory>")
    assert any(row.startswith("- [m1] ") and row.endswith(": I drink coffee every morning") for row in rows)
    assert "- [m2] 2026-01-05: Her name is [b]Ada[/b]" in rows
    assert "tokens, position" in told.err


def test_options_bound_the_block(cli: Cli) -> None:
    known(cli)
    options = ("--session", "s1", "--related", "never", "--stable-budget", "0", "--messages", "0", "--no-trace")
    answer = cli.json("context", "ada", ASKS, *options)
    assert (answer["injected"], answer["parts"]["remembered"], answer["recorded"]) == ([], [], {"status": "off"})
    small = cli("context", "ada", ASKS, "--budget", "80")
    assert "did not fit the budget: " in small.err
    assert "budget" in cli("context", "ada", ASKS, "--budget", "1", code=2).err
    wrong = cli("context", "ada", ASKS, "--related", "sometimes", code=2).err
    assert "--related: got 'sometimes'; allowed: auto, always, never" in wrong


def test_what_a_turn_was_answered_with_can_be_asked_by_memory(cli: Cli) -> None:
    known(cli)
    for _ in range(2):
        cli("context", "ada", ASKS, "--turn", "t4", "--trace")
    cli("append", "-", stdin=lines([turn(5, "Coffee, [i]always[/i].", "assistant", reply_to="t4")]))
    answer = cli.json("why", "--uses", "ada", "m2")
    assert [(use["turn_id"], use["linked_by"]) for use in answer["uses"]] == [("t4", "reply_to")]
    told = cli("why", "--uses", "ada", "m2").out
    assert "1 use, ada" in told
    assert "Coffee, [i]always[/i]." in told
    assert "0 uses, ada" in cli("why", "--uses", "ada", "m9").out
    assert "NotFound" in cli("why", "--uses", "ada", "nobody", code=2).err


def weights(cli: Cli) -> tuple[Any, list[int]]:
    """What every law reads of all memories at one instant, and how often each was shown."""
    told = cli.json("compare", "ada", "--at", "2026-12-01T00:00:00Z")
    shown = [cli.json("get", "ada", name, "--no-trace")["access_count"] for name in ("m1", "m2", "m9")]
    return {name: value for name, value in told.items() if name != "position"}, shown


def test_search_get_and_context_on_the_command_line_change_no_weight_under_any_law(cli: Cli) -> None:
    known(cli)
    before = weights(cli)
    cli("search", "ada", "coffee")
    cli("get", "ada", "m1")
    answer = cli.json("context", "ada", ASKS, "--turn", "t4")
    assert ("m2" in answer["injected"], answer["recorded"]) == (True, {"status": "off"})
    assert weights(cli) == before
    assert cli.json("why", "--uses", "ada", "m2")["uses"] == []


def test_a_trace_that_is_asked_for_on_the_command_line_counts(cli: Cli) -> None:
    known(cli)
    _, before = weights(cli)
    cli("get", "ada", "m1", "--trace")
    cli("search", "ada", "coffee", "--trace")
    assert cli.json("context", "ada", ASKS, "--turn", "t4", "--trace")["recorded"]["status"] == "appended"
    _, after = weights(cli)
    assert (before[:2], after[0] >= 2, after[1]) == ([0, 0], True, 1)


def test_a_trace_and_no_trace_cannot_be_asked_for_at_once(cli: Cli) -> None:
    refusal = cli("get", "ada", "x", "--trace", "--no-trace", code=2).err.replace("\n", " ")
    assert "trace: got '--trace with --no-trace'; allowed: one of them" in refusal


# --- over HTTP


def test_split_prints_the_two_parts_separated_by_an_empty_line(cli: Cli) -> None:
    known(cli)
    told = cli("context", "ada", ASKS, "--split", "--stable-budget", "300")
    answer = cli.json("context", "ada", ASKS, "--stable-budget", "300")
    assert told.out == f"{answer['stable']}\n\n{answer['turn']}\n"
    assert answer["block"] == f"{answer['stable']}\n{answer['turn']}"
    assert "stable part " in told.err
    assert "the whole conversation " in told.err
