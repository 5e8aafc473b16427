"""What commands tell people: tables that stay readable in a pipe, and texts that nobody's brackets can break."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from engramlog_server.api.cli.commands.store import standing
from engramlog_server.api.cli.show import memories as render
from engramlog_server.api.cli.show import search as render_search
from engramlog_server.projections.memory.record import handle_of
from tests.acceptance.helpers.cli import Cli, event, flat, lines, turn, written
from tests.acceptance.helpers.store import Store
from tests.servers import Servers

MARKUP = "[bold]oat[/bold] [/] [red]milk [link=x] \\[ :smile: \\"
"""What Rich would take for markup, broken too."""


def test_no_text_of_a_user_is_taken_for_markup(cli: Cli) -> None:
    now = ["--at", "2026-01-06T00:00:00Z"]
    cli("import", "turns", "-", stdin=lines([turn(1, f"milk {MARKUP}", speaker="[b]"), turn(2, "tea")]))
    assert MARKUP in cli("get", "ada", "t1").out
    assert MARKUP in cli("why", "ada", "t1").out
    assert f"[b]: milk {MARKUP}" in cli("search", "ada", "milk", *now).out
    assert MARKUP in cli("list", "ada", *now).out
    told = cli("negate", "ada", "t1", "--reason", MARKUP, "--correction", MARKUP).out
    assert "negated, latest_wins" in told
    assert MARKUP in cli("get", "ada", "t1").out
    assert f"\n{MARKUP} milk\n" in cli("replay", "ada", "--query", f"{MARKUP} milk").out
    cli("merge", "ada", "t1", "t2", "--summary", MARKUP, "--into", "both")
    assert MARKUP in cli("get", "ada", "both").out
    assert "[x]" in cli("search", "[x]", "milk", code=2).err
    assert MARKUP in cli("search", "ada", "milk", "--mode", MARKUP, code=2).err.replace("\\\\", "\\")


def test_in_a_pipe_ids_are_whole_and_rows_at_least_140_wide(cli: Cli) -> None:
    long = "m-01a200e3-6902-7715-8921-8c3d8a16a121"
    text = " ".join(f"word{n}" for n in range(20))
    cli("append", "-", stdin=lines([event(1, memory_id=long, content=text), event(2)]))
    for words in (
        ["list", "ada", "--mode", "review"],
        ["search", "ada", "word3", "--mode", "review"],
        ["history", "ada"],
    ):
        told = cli(*words).out
        (row,) = (line for line in told.splitlines() if line.startswith(long) or f" {long} " in line)
        assert max(map(len, told.splitlines())) <= 140
        assert len(row.rstrip()) > 80


def test_a_narrow_terminal_gets_fewer_columns_and_the_handle_of_a_long_id(cli: Cli) -> None:
    long = "m-01a200e3-6902-7715-8921-8c3d8a16a121"
    cli("append", "-", stdin=lines([event(1, memory_id=long, content="a long story " * 9), event(2)]))
    changes, found = cli.json("history", "ada")["changes"], cli.json("search", "ada", "story note", "--mode", "review")
    terminal = Console(width=80, file=StringIO(), force_terminal=True, color_system=None)
    render.changes(changes, terminal)
    render_search.results(found, terminal)
    told = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, told.splitlines())) <= 80
    assert "MemoryCreated" not in told
    assert "a new memory" in flat(told)
    assert (long in told, handle_of(long) in told.partition("review mode")[2].split()) == (False, True)
    assert cli.json("get", "ada", handle_of(long))["id"] == long


def test_a_change_log_leaves_out_what_only_names_a_memory_and_says_how_many(cli: Cli) -> None:
    cli("append", "-", stdin=lines([event(1)]))
    cli("negate", "ada", "m1", "--correction", "no")
    told, whole = cli("history", "ada").out, cli("history", "ada", "--everything").out
    assert "named" not in told.replace("2 entries not shown: a memory is only named; --everything shows all", "")
    assert whole.count("named by") == 2
    assert len(cli.json("history", "ada")["changes"]) == 5
    assert "1 entry not shown: a memory is only named; --everything shows all" in cli("why", "ada", "m1").out


def test_a_verb_says_what_it_did_or_plainly_that_nothing_changed(cli: Cli) -> None:
    cli("append", "-", stdin=lines([event(1)]))
    assert "Nothing changed: memory m1 is not deleted" in cli("delete", "--undo", "ada", "m1").out
    told = cli("delete", "ada", "m1").out
    assert "user_delete" in told
    assert "The text itself stays in the log" in told


def test_an_import_tells_conflicts_and_what_was_not_written_beside_them(cli: Cli) -> None:
    cli("import", "turns", "-", stdin=lines([turn(1, "tea")]))
    told = flat(cli("import", "turns", "-", stdin=lines([turn(1, "coffee"), turn(2, "milk")]), code=1).out)
    assert "conflicts line turn id event id position" in told
    assert " 1 t1 " in told
    assert "appended 0 already appended 0" in told
    assert "2 ids are taken by other content" in told
    assert "2 events were not written" in told


def test_many_conflicts_are_told_for_the_first_ten_and_then_by_a_count(cli: Cli) -> None:
    cli("import", "turns", "-", stdin=lines([turn(n, "tea") for n in range(40)]))
    ran = cli("import", "turns", "-", stdin=lines([turn(n, "milk") for n in range(40)]), code=1)
    assert "80 ids are taken by other content" in ran.out
    assert ran.err.count("\n") + ran.out.count("\n") < 22


@pytest.mark.parametrize("words", [("import", "turns"), ("import", "turns", "--shape", "auto")])
def test_a_file_that_numbers_its_turns_anew_is_refused_in_a_line_before_anything_is_written(
    cli: Cli, words: tuple[str, ...], tmp_path: Path
) -> None:
    file = written(tmp_path / "talks.jsonl", [turn(n, f"{c} {n}", c) for c in ("talk-a", "talk-b") for n in range(600)])
    before = cli.json("status")["events"]
    ran = cli(*words, file, "--owner", "ada", code=2)
    assert (ran.out, ran.err.count("\n")) == ("", 1)
    assert "turn_id 't0' stands in lines 1 and 601, of conversations talk-a and talk-b" in ran.err
    assert "import each with its own --owner, or leave --owner out" in ran.err
    assert cli.json("status")["events"] == before
    assert cli.json(*words, file)["turns"] == 1_200


def test_a_misspelt_field_of_a_turn_is_told(cli: Cli) -> None:
    told = cli(
        "import", "turns", "-", stdin=lines([turn(1, "tea", sesion="s2", **{"[b]": 1}), turn(2, "x", sesion="")])
    ).out
    assert "ignored fields [b] 1, sesion 2" in flat(told)


def test_an_import_of_an_old_conversation_says_how_to_ask_it(cli: Cli) -> None:
    told = cli("import", "turns", "-", stdin=lines([turn(1, "tea", occurred_at="2019-01-05T08:00:00Z")])).out
    assert flat(told).startswith("turns 1 appended 2 already appended 0 owners ada 1 ")
    assert "1 memory is old" in flat(told)
    assert "Add --as-of just after that day" in flat(told)


def test_a_search_that_finds_nothing_says_where_it_looked_and_what_was_withheld(cli: Cli) -> None:
    cli("append", "-", stdin=lines([event(1, content="coffee")]))
    cli("delete", "ada", "m1")
    told = cli("search", "ada", "coffee").out
    assert told.startswith("Nothing found (normal mode, position ")
    assert "withheld: 1 deleted (shown by debug)" in told


def test_a_quarantined_owner_is_marked_in_every_answer_for_people(cli: Cli, redis_servers: Servers) -> None:
    from engramlog_server.ops.settings import Settings
    from engramlog_server.ops.wiring import open_application

    cli("append", "-", stdin=lines([event(1)]))
    with open_application(Settings()) as application:
        stuck = Store(application).poison("ada")
    for words in (
        ["search", "ada", "note"],
        ["get", "ada", "m1"],
        ["list", "ada"],
        ["why", "ada", "m1"],
        ["stats", "ada"],
        ["context", "ada", "note?"],
        ["replay", "ada"],
        ["review", "ada"],
    ):
        assert f"This owner is quarantined at {stuck}" in cli(*words).out
    assert cli("extract", "ada", "--dry-run").code == 0
    chosen = cli("profile", "ada", "ebbinghaus", code=3).out
    assert "The next sweep decides by the ebbinghaus law" in chosen
    assert "Written, but not folded yet." in cli("delete", "ada", "m1", code=3).out
    assert "ada" in cli("status").out
    assert "MemoryCreated.9" in cli("dead").out
    assert "of no type or version that this release knows" in flat(cli("dead", "ada").out)
    assert "freed no" in flat(cli("dead", "--retry", "ada", code=1).out)
    cli("dead", "ada", "--discard", stuck, "--reason", MARKUP)
    assert cli("dead").out == "quarantined: none\n"
    assert cli.json("verify")["ok"] is True


def test_the_tree_of_a_merge_names_its_sources_and_their_turns(cli: Cli) -> None:
    cli("import", "turns", "-", stdin=lines([turn(1, "tea"), turn(2, "coffee")]))
    cli("merge", "ada", "t1", "t2", "--into", "both", "--summary", "drinks")
    told = cli("why", "--provenance", "ada", "both").out
    assert "├── merged from t1  turns t1" in told
    assert "└── merged from t2  turns t2" in told


def test_the_store_tells_its_numbers(cli: Cli) -> None:
    assert "events none memories 0 workers none" in flat(cli("status").out)
    assert "owners 0" in flat(cli("stats").out)
    cli("append", "-", stdin=lines([event(1), event(2, "bo")]))
    assert "owners 2" in flat(cli("stats").out)
    assert "by category fact 1" in flat(cli("stats", "ada").out)
    assert cli("verify").out.startswith("ok 2 events, 2 memories, digest ")
    assert "16 partition(s) rebuilt and switched" in cli("rebuild").out


def test_a_search_of_an_owner_without_memories_says_so_and_one_that_only_misses_does_not(cli: Cli) -> None:
    cli("append", "-", stdin=lines([event(1, content="coffee")]))
    assert "Owner nobody has no memories" in cli("search", "nobody", "coffee").out
    assert "has no memories" not in cli("search", "ada", "zebra").out


def test_what_to_do_about_an_alarm_is_told_once_for_all_of_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    one = {"severity": "stopped", "first": "2026-01-05T08:00:00Z", "count": 1, "text": "it stopped"}
    alarms = [one | {"name": "state_damaged", "subject": f"partition {n}", "meaning": "Do this."} for n in range(14)]
    alarms.append(one | {"name": "disk_full", "subject": "", "meaning": "Do that."})
    standing({"alarms": alarms})
    told = capsys.readouterr().out
    assert (told.count("Do this."), told.count("Do that."), told.count("it stopped")) == (1, 1, 15)
    assert told.count("\n") < 22


def test_a_turn_that_is_too_long_is_told_once(cli: Cli, tmp_path: Path) -> None:
    file = written(tmp_path / "talk.jsonl", [turn(1, "tea"), turn(2, "x" * 70_000)])
    told = cli("import", "turns", "--shape", "auto", file, "--owner", "ada").out
    assert "1 turns of more than 64 KiB left out" in told
    assert cli.json("import", "turns", "--shape", "auto", file, "--owner", "ada")["left_out"] == {"too_long": 1}
