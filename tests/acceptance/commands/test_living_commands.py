"""The commands on how memories live on, as people run them: health, fading, reinforce, review, profile, laws."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from engramlog_server.api.cli.show import status as render_living
from engramlog_server.projections.laws import LAWS
from tests.acceptance.helpers.cli import Cli, event, flat, lines
from tests.rows import each_row

AT = ["--at", "2026-01-06T08:00:00Z"]
"""A day after everything was said."""
MARKUP = "[bold]oat[/bold] [/] [red]milk"


@pytest.fixture
def cli(cli: Cli) -> Cli:
    told = [
        event(1, content="早上喝咖啡", confidence=0.9),
        event(2, content=MARKUP) | {"actor": "assistant"},
        event(3, content="wonderful news, call her urgently") | {"actor": "assistant"},
        event(4, content="the name is Ada", category="identity") | {"actor": "assistant"},
    ]
    told[1]["occurred_at"] = "2026-01-04T08:00:00Z"
    cli("append", "-", stdin=lines(told))
    return cli


# --- health and fading


def test_health_draws_a_bar_for_each_memory_strongest_first_and_counts_colours(cli: Cli) -> None:
    told = cli("health", "ada", *AT).out
    assert told.startswith("4 live memories, mean strength 44.5: 1 green, 2 yellow, 1 red  profile weighted, position ")
    rows = [line for line in told.splitlines() if line.startswith("m")]
    assert [row.split()[:2] for row in rows] == [["m1", "90"], ["m4", "37"], ["m3", "37"], ["m2", "14"]]
    assert "███████░░░░░░░░░░░░░ " in rows[1]
    assert "早上喝咖啡" in rows[0]
    assert MARKUP in told
    assert "archives" not in told


def test_under_a_law_that_forgets_by_itself_it_tells_when(cli: Cli) -> None:
    cli("profile", "ada", "ebbinghaus")
    told = cli("health", "ada", *AT).out
    assert "2026-01-07 16:29  2026-01-08 10:25" in told
    assert "what the ebbinghaus law does if nothing touches them" in told
    named = next(line for line in told.splitlines() if line.startswith("m4"))
    assert named.split()[-2:] == ["-", "-"]


def test_fading_shows_the_weakest_and_says_so_where_nothing_is(cli: Cli) -> None:
    told = cli("fading", "ada", *AT).out
    assert told.startswith("1 of 4 live memories under strength 30  profile weighted")
    assert "m2" in told
    assert "engramlog reinforce OWNER ID" in told
    assert cli.json("fading", "ada", *AT)["total"] == 1
    fresh = cli("fading", "ada", "--as-of", "2026-01-05T08:00:00Z").out
    assert fresh.startswith("Nothing is fading: none of 4 live memories is under strength 30")
    assert cli("fading", "nobody").out.startswith("Nothing is fading: none of 0 live memories is under strength 30")
    assert cli("health", "nobody").out.startswith("No live memories")


def test_on_a_narrow_or_plain_terminal_bars_are_short_and_no_text_is_cut(cli: Cli) -> None:
    answer = cli.json("health", "ada", *AT)
    terminal = Console(width=80, file=StringIO(), force_terminal=True, color_system=None)
    render_living.health(answer, terminal)
    told = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, told.splitlines())) <= 80
    assert " 37 ████░░░░░░ " in told
    assert "wonderful news, call her urgently" in flat(told)


# --- reinforce


def test_reinforce_shows_before_and_after(cli: Cli) -> None:
    told = flat(cli("reinforce", "ada", "m2", "--occurred-at", "2026-01-06T08:00:00Z").out)
    assert "outcome manual_review id m2" in told
    assert "strength 14 100" in told
    assert "stability hours 24 36" in told
    assert "effective importance 1 1 tier fact fact" in told
    assert "next review at 2026-01-05 08:00 UTC" in told


# --- review


def test_review_lists_what_is_due_and_what_the_importance_left_out(cli: Cli) -> None:
    told = cli("review", "ada", "--at", "2026-01-08T08:00:00Z").out
    assert "due 4 left out 3 min importance 0.5" in flat(told)
    assert "wonderful news" in told
    whole = cli.json("review", "ada", "--min-importance", "0", "-k", "2", "--at", "2026-01-08T08:00:00Z")
    assert [one["id"] for one in whole["memories"]] == ["m3", "m1"]
    assert (whole["due"], whole["left_out"], whole["memories"][0]["emotion"]) == (4, 0, 0.8)


def test_review_says_when_nothing_is_due_and_when_the_next_one_will_be(cli: Cli) -> None:
    told = flat(cli("review", "ada", "--kind", "note", "--at", "2026-01-05T07:00:00Z").out)
    assert ("due 0" in told, "next due at 2026-01-05 08:00" in told) == (True, True)
    assert "due 0" in flat(cli("review", "nobody").out)


def test_a_grade_tells_the_next_review_of_both_schedulers_and_which_decides(cli: Cli) -> None:
    when = ["--occurred-at", "2026-01-06T08:00:00Z"]
    told = cli("review", "ada", "m1", "--grade", "4", *when).out
    assert "grade 4 id m1 decides sm2" in flat(told)
    sm2, fsrs = (line for line in told.splitlines() if line.startswith(("sm2", "fsrs")))
    assert ("2026-01-07 08:00" in sm2, "2026-01-08 08:00" in fsrs) == (True, True)
    cli("profile", "ada", "--set", "scheduler=fsrs")
    assert cli.json("review", "ada", "m1", "--grade", "5")["decides"] == "fsrs"


# --- profile and laws


def test_a_profile_is_shown_chosen_and_changed(cli: Cli) -> None:
    told = flat(cli("profile", "ada").out)
    assert "profile weighted formula weight = " in told
    assert "thresholds normal 0.3, review 0.01" in told
    assert "parameters all at their defaults" in told
    chosen = cli(
        "profile", "ada", "ebbinghaus", "--set", "failure_restarts_clock=true", "--set", "initial_stability=48"
    )
    assert "the owner's profile from here on" in chosen.out
    assert "profile ebbinghaus formula weight = " in flat(chosen.out)
    assert "failure_restarts_clock true false" in flat(chosen.out)
    assert "initial_stability 48 24" in flat(chosen.out)
    shown = cli.json("profile", "ada")
    assert shown["parameters"]["failure_restarts_clock"] == {"value": True, "default": False}
    undone = cli("profile", "ada", "--set", "failure_restarts_clock=False", "--set", "initial_stability=24").out
    assert "all at their defaults" in undone


def test_laws_are_all_told_without_a_store(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "redis://127.0.0.1:1")
    told = cli("parameters", "--laws").out
    assert [name for name in LAWS if name not in told] == []
    assert "1/e" in told
    assert {law["name"] for law in cli.json("parameters", "--laws")["laws"]} == set(LAWS)


# --- what cannot be


@each_row(
    ("words", "named", "allowed"),
    [
        (["health", "ada", "-k", "0"], "limit: got 0", "1 to 1000"),
        (["fading", "bad owner"], "owner: got 'bad owner'", "1 to 128"),
        (["reinforce", "ada", "nothing"], "has no memory nothing", "engramlog list ada"),
        (["reinforce", "ada", "m1", "--outcome", "luck"], 'outcome: got "luck"', "'manual_review'"),
        (["reinforce", "ada", "m1", "--from-memory", "m1"], "--from-memory: got 'm1'", "another memory"),
        (["review", "ada", "m1"], "grade: got nothing", "engramlog review ada m1 --grade 4"),
        (["review", "ada", "--grade", "4"], "ID: got nothing", "engramlog review ada ID --grade 4"),
        (["review", "ada", "m1", "--grade", "6"], "grade: got 6", "5"),
        (["review", "ada", "m1", "--grade", "4", *AT], "at: got", "--occurred-at"),
        (["review", "ada", "--min-importance", "2"], "--min-importance: got 2.0", "0 to 1"),
        (["review", "ada", "-k", "101"], "limit: got 101", "1 to 100"),
        (["profile", "ada", "mood"], 'profile: got "mood"', "'tiered'"),
        (["profile", "ada", "--set", "c_min"], "set: got 'c_min'", "name=value"),
        (["profile", "ada", "--set", "c_min=true"], "set c_min: got 'true'", "a number from 0"),
        (
            ["profile", "ada", "--set", "failure_restarts_clock=1"],
            "set failure_restarts_clock: got '1'",
            "true or false",
        ),
        (["profile", "ada", "tiered", "--as-of", AT[1]], "--as-of: got", "from here on"),
    ],
)
def test_bad_input_says_what_was_got_and_what_is_allowed(cli: Cli, words: list[str], named: str, allowed: str) -> None:
    told = cli(*words, code=2)
    assert named in told.err
    assert allowed in flat(told.err)
    assert allowed in flat(cli.json(*words, code=2)["message"])


def test_behind_a_quarantine_verbs_end_with_exit_code_3(cli: Cli) -> None:
    from engramlog_server.ops.settings import Settings
    from engramlog_server.ops.wiring import open_application
    from tests.acceptance.helpers.store import Store

    with open_application(Settings()) as application:
        stuck = Store(application).poison("ada")
    for words in (["reinforce", "ada", "m1"], ["review", "ada", "m1", "--grade", "4"], ["profile", "ada", "tiered"]):
        told = cli(*words, code=3).out
        assert "Written, but not folded yet" in told
        assert f"quarantined at {stuck}" in told
    for words in (["health", "ada"], ["fading", "ada"], ["review", "ada"], ["profile", "ada"]):
        assert f"quarantined at {stuck}" in cli(*words).out
