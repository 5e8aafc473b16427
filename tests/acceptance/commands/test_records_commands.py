"""Older records in and memories out, as people do it on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.helpers.cli import Cli, event, lines, run, start, written
from tests.given.records import ENTRY, OURS, ROW
from tests.patience import PATIENCE
from tests.rows import each_row

OLDER = [OURS | {"memory_id": "ours"}, ENTRY | {"id": "entry"}, ROW | {"id": "row", "related_ids_json": '["entry"]'}]
SECRET = "my password is hunter2-Secret!9"


def events_of(cli: Cli) -> int:
    return int(cli.json("status")["events"])


def imported(cli: Cli, *records: dict[str, Any], owner: str = "ada", code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = cli.json("import", "records", "-", "--owner", owner, stdin=lines(records), code=code)
    return found


def exported(cli: Cli, owner: str, *options: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cli("export", owner, *options).out.splitlines()]


# --- import records -------------------------------------------------------------------------------------------------


def test_records_of_every_shape_become_memories_with_their_counters(cli: Cli, tmp_path: Path) -> None:
    answer = cli.json("import", "records", written(tmp_path / "older.jsonl", OLDER), "--owner", "ada")
    assert (answer["owner"], answer["records"], answer["appended"]) == ("ada", 3, 3)
    assert answer["shapes"] == {"engramlog": 1, "ebbinghaus": 1, "consolidating": 1}
    entry, row = cli.json("get", "ada", "entry"), cli.json("get", "ada", "row")
    assert (entry["content"], entry["kind"], entry["access_count"]) == ("pin the version of the compiler", "pitfall", 5)
    assert (row["content"], row["access_count"], row["tags"]) == ("解决了夜间超时", 9, ["late_night", "debugging"])
    assert row["edges"] == [{"to": "entry", "weight": 0.5, "link": "related"}]


def test_a_record_that_changed_is_a_conflict_and_the_others_go_in(cli: Cli) -> None:
    imported(cli, ENTRY)
    changed = ENTRY | {"content": "something else"}
    assert [one["line"] for one in imported(cli, changed, code=1)["conflicts"]] == [1]
    answer = imported(cli, changed, ENTRY | {"id": "new"}, code=3)
    assert (answer["appended"], [one["line"] for one in answer["conflicts"]]) == (1, [1])
    assert cli.json("get", "ada", "m")["content"] == ENTRY["content"]


def test_a_bad_line_is_named_with_the_records_own_field_and_what_stood_before_it_goes_in(cli: Cli) -> None:
    records = [ENTRY, "", ENTRY | {"id": "n", "accessCount": "5"}, ENTRY | {"id": "o"}]
    told = cli.json("import", "records", "-", "--owner", "ada", stdin=lines(records), code=2)
    assert (told["appended"], told["error"]["line"], told["error"]["field"]) == (1, 3, "accessCount")
    again = cli("import", "records", "-", "--owner", "ada", stdin=lines(records), code=2)
    assert 'line 3: accessCount: got "5"' in again.err
    assert "The log has 1 of the file's records" in again.err


def test_a_time_without_a_zone_is_refused_until_it_is_said_to_be_utc(cli: Cli) -> None:
    words = ["import", "records", "-", "--owner", "ada"]
    naive = lines([ENTRY | {"createdAt": "2024-01-01T08:00:00"}])
    assert "--assume-utc" in cli(*words, stdin=naive, code=2).err
    cli(*words, "--assume-utc", stdin=naive)
    assert cli.json("get", "ada", "m")["created_at"] == "2024-01-01T08:00:00Z"


@each_row(
    ("words", "named"),
    [
        (["--owner", "a b"], "owner: got 'a b'"),
        (["--owner", "ada", "--shape", "round"], "shape: got 'round'; allowed: auto, engramlog"),
        ([], "--owner"),
    ],
)
def test_an_import_without_a_possible_owner_or_shape_writes_nothing(cli: Cli, words: list[str], named: str) -> None:
    assert named in cli("import", "records", "-", *words, stdin=lines(OLDER), code=2).err
    assert events_of(cli) == 0


def test_an_import_says_to_people_what_went_in_and_what_stayed_out(cli: Cli) -> None:
    records = [
        ENTRY | {"projectId": 7},
        ENTRY | {"projectId": 7},
        ENTRY | {"content": "[b]"},
        OURS | {"memory_id": "gone", "status": "deleted"},
    ]
    told = " ".join(cli("import", "records", "-", "--owner", "ada", stdin=lines(records), code=3).out.split())
    assert told.startswith(
        "ada records 1 shapes ebbinghaus 1 appended 1 already appended 0 repeated 1 skipped deleted 1 ignored fields projectId 1"
    )
    assert "3 m 1 " in told
    assert "1 say something else than an earlier line: the first holds" in told
    changed = cli("import", "records", "-", "--owner", "ada", stdin=lines([records[2]]), code=1).out
    assert "1 were imported before with other content, and stay as they were then" in changed


# --- export ---------------------------------------------------------------------------------------------------------


def lived(cli: Cli) -> None:
    """Ada's memories: two that stand, one deleted, one superseded, one secret."""
    told = [
        event(1, content="我喜欢拉面", keywords=["拉面"], source_turns=["t1"]),
        event(2, content="tea [b]in[/b] the morning\nand coffee at noon", tier="core", project="kitchen"),
        event(3),
        event(4),
        event(5, content=SECRET),
        event(6, type_="MemoryMentioned", memory_id="m1") | {"occurred_at": "2026-01-06T08:00:00Z"},
        event(7, type_="MemoriesLinked", a="m1", b="m2", weight=0.6, link="semantic"),
    ]
    del told[6]["data"]["memory_id"]
    cli("append", "-", stdin=lines(told))
    cli("delete", "ada", "m3")
    cli("negate", "ada", "m4", "--reason", "no")


def test_an_export_goes_through_a_pipe_into_an_import(cli: Cli) -> None:
    lived(cli)
    environment = {"ENGRAMLOG_REDIS_URL": os.environ["ENGRAMLOG_REDIS_URL"]}
    out = start(["export", "ada"], environment)
    into = start(["import", "records", "-", "--owner", "bo", "--json"], environment, stdin=out.stdout)
    assert out.stdout is not None
    out.stdout.close()
    told, _ = into.communicate(timeout=PATIENCE)
    assert (out.wait(PATIENCE), into.returncode, json.loads(told)["appended"]) == (0, 0, 2)
    assert out.stderr is not None
    assert out.stderr.read().decode().startswith("2 memories of ada at ")
    out.stderr.close()


@each_row(("owner", "codes", "told"), [("ada", (0, 0), "appended"), ("nobody", (0, 2), "error")])
def test_both_ends_of_a_pipe_take_their_turn_at_a_store_that_nobody_serves(
    tmp_path: Path, owner: str, codes: tuple[int, int], told: str
) -> None:
    environment = {"ENGRAMLOG_DATA": str(tmp_path / "data")}
    assert run(["append", written(tmp_path / "told", [event(1)])], environment).code == 0
    out = start(["export", owner], environment)
    into = start(["import", "records", "-", "--owner", "bo", "--json"], environment, stdin=out.stdout)
    assert out.stdout is not None
    out.stdout.close()
    answer, _ = into.communicate(timeout=PATIENCE)
    assert out.stderr is not None
    out.stderr.read()
    out.stderr.close()
    assert (out.wait(PATIENCE), into.returncode) == codes
    assert told in json.loads(answer)


def test_an_export_is_whole_from_a_store_that_nobody_serves(tmp_path: Path) -> None:
    environment, file = {"ENGRAMLOG_DATA": str(tmp_path / "data")}, tmp_path / "out"
    assert run(["append", written(tmp_path / "told", [event(1)])], environment).code == 0
    for more in (["--json"], ["--format", "text"], ["--out", str(file)]):
        told = run(["export", "ada", *more], environment)
        assert (more, told.code, "note 1" in (file.read_text("utf-8") if file.exists() else told.out)) == (
            more,
            0,
            True,
        )


def test_an_export_holds_what_stands_oldest_first_and_tells_what_was_left_out_on_standard_error(cli: Cli) -> None:
    lived(cli)
    told = cli("export", "ada")
    assert [json.loads(line)["memory_id"] for line in told.out.splitlines()] == ["m1", "m2"]
    assert "我喜欢拉面" in told.out
    assert (
        "left out: 1 deleted (--include deleted), 1 rejections (--include rejections), 1 sensitive (--rev" in told.err
    )
    assert "hunter2" not in told.out + told.err


def test_an_export_of_some_says_which_it_has_not_and_how_to_have_them(cli: Cli) -> None:
    lived(cli)
    told = cli("export", "ada", "--id", "m2", "--id", "m3", "--id", "nothing")
    assert [json.loads(line)["memory_id"] for line in told.out.splitlines()] == ["m2"]
    assert "left out: 1 deleted (--include deleted), 1 unknown (no memory has the id)" in told.err


def test_the_text_is_for_people_and_nothing_in_it_is_taken_for_markup(cli: Cli) -> None:
    lived(cli)
    told = cli("export", "ada", "--format", "text").out
    assert told.startswith("# Memories of ada\n\n2 memories at ")
    assert "> tea [b]in[/b] the morning\n> and coffee at noon\n" in told
    assert "## m1\n\n> 我喜欢拉面\n" in told


def test_in_json_an_export_is_one_document(cli: Cli, tmp_path: Path) -> None:
    lived(cli)
    answer = cli.json("export", "ada")
    assert answer["records"] == exported(cli, "ada")
    assert {name: answer[name] for name in ("owner", "format", "count", "left_out", "file")} == {
        "owner": "ada",
        "format": "jsonl",
        "count": 2,
        "left_out": {"deleted": 1, "superseded": 1, "sensitive": 1, "rejections": 1},
        "file": None,
    }
    assert cli.json("export", "ada", "--format", "text")["text"].startswith("# Memories of ada\n")
    file = str(tmp_path / "ada.jsonl")
    into = cli.json("export", "ada", "--out", file)
    assert (into["file"], into["count"], "records" in into) == (file, 2, False)


@pytest.mark.parametrize("form", ["jsonl", "text"])
def test_a_file_holds_what_standard_output_would_and_is_its_owners_alone(cli: Cli, tmp_path: Path, form: str) -> None:
    lived(cli)
    file = tmp_path / "ada.out"
    told = cli("export", "ada", "--format", form, "--out", str(file))
    assert (told.out, f"written to {file}" in told.err) == ("", True)
    assert file.read_text("utf-8").splitlines()[3:] == cli("export", "ada", "--format", form).out.splitlines()[3:]
    assert (file.stat().st_mode & 0o777, [one.name for one in tmp_path.iterdir()]) == (0o600, ["ada.out"])


def test_a_file_that_is_there_is_replaced_only_where_told_to(cli: Cli, tmp_path: Path) -> None:
    lived(cli)
    file = tmp_path / "ada.jsonl"
    file.write_text("precious")
    assert "--force replaces" in cli("export", "ada", "--out", str(file), code=2).err
    assert file.read_text() == "precious"
    cli("export", "ada", "--out", str(file), "--force")
    assert len(file.read_text("utf-8").splitlines()) == 2


def test_a_file_behind_a_link_is_written_and_the_link_stays(cli: Cli, tmp_path: Path) -> None:
    lived(cli)
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_text("")
    link.symlink_to(real)
    cli("export", "ada", "--out", str(link), "--force")
    assert (link.is_symlink(), len(real.read_text("utf-8").splitlines())) == (True, 2)


def test_a_file_that_cannot_be_written_does_not_even_start_a_store(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "")
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    cli = Cli(monkeypatch, capsys)
    for file, allowed in [("no/where.jsonl", "a folder that exists"), ("", "a file, or - for standard output")]:
        assert allowed in cli("export", "ada", "--out", str(tmp_path / file), code=2).err
    assert list(tmp_path.iterdir()) == []


@each_row(
    ("words", "named"),
    [
        (["--format", "xml"], "format: got 'xml'; allowed: jsonl, text"),
        (["--include", "purged"], "include: got 'purged'; allowed: deleted, merged"),
        (["--after", "soon"], "after: got 'soon'"),
    ],
)
def test_an_export_of_what_cannot_be_is_refused_and_leaves_no_file(
    cli: Cli, tmp_path: Path, words: list[str], named: str
) -> None:
    assert named in cli("export", "ada", "--out", str(tmp_path / "x"), *words, code=2).err
    assert list(tmp_path.iterdir()) == []
