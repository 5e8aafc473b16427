"""`import turns --shape auto`: exported chats as files, told in words and as JSON, refused by name, and safe to send again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from tests.acceptance.helpers.cli import Cli
from tests.given.chats import ASKED, CHATGPT, CLAUDE, OPENAI, file_of
from tests.rows import each_row


def export(folder: Path, *conversations: Any) -> str:
    """An export as one document; its name."""
    file = folder / "conversations.json"
    file.write_bytes(b"".join(file_of(*conversations, whole=True)))
    return str(file)


def test_an_export_is_imported_searched_and_imported_again_without_effect(cli: Cli, tmp_path: Path) -> None:
    file = export(tmp_path, CLAUDE)
    answer = cli.json("import", "turns", "--shape", "auto", file, "--owner", "lin")
    assert answer | {"last_position": None} == {
        "shape": "claude",
        "conversations": 1,
        "left_out": {},
        "adjusted": {},
        "unreadable": [],
        "turns": 2,
        "skipped": 0,
        "too_long": 0,
        "cut": 0,
        "appended": 4,
        "already_appended": 0,
        "conflicts": [],
        "ignored_fields": {},
        "owners": {"lin": 2},
        "newest_turn": "2024-01-01T08:01:00Z",
        "last_position": None,
    }
    found = cli.json("search", "lin", "早上喝咖啡", "--as-of", "2024-01-02T00:00:00Z")
    assert ASKED in found["results"][0]["memory"]
    again = cli.json("import", "turns", "--shape", "auto", file, "--owner", "lin")
    assert (again["appended"], again["already_appended"]) == (0, 4)


def test_the_shape_and_what_was_left_out_are_told_in_words(cli: Cli, tmp_path: Path) -> None:
    told = cli("import", "turns", "--shape", "auto", export(tmp_path, CHATGPT), "--owner", "lin", "--turns-only").out
    said = " ".join(told.split())
    assert said.startswith("shape chatgpt conversations 1 left out ")
    assert all(
        one in said for one in ("abandoned 1", "hidden 1", "other 1", "system 1", "tool 2", "turns 2 appended 2")
    )


@each_row(
    ("words", "told"),
    [
        (("--shape", "xml"), "shape: got 'xml'; allowed: auto, lines, chatgpt, claude, openai, sharegpt"),
        (("--shape", "claude"), "-: file: got 'an object with id, created_at, messages'; allowed: claude"),
        (("--since", "monday"), "since: got 'monday'"),
        ((), "-: conversation 1 on line 1 (c1), message 2: conversation: got nothing; allowed: the owner as a text"),
    ],
)
def test_what_cannot_be_right_is_refused_and_nothing_is_written(cli: Cli, words: tuple[str, ...], told: str) -> None:
    refusal = cli("import", "turns", "--shape", "auto", "-", *words, stdin=b"".join(file_of(OPENAI)), code=2)
    assert told in " ".join(refusal.err.split())
    assert cli.json("status")["events"] == 0


def test_a_file_that_cannot_be_read_is_refused_once_by_its_name(cli: Cli) -> None:
    assert cli("import", "turns", "--shape", "auto", "/no/such/file", code=2).err.count("/no/such/file") == 1


def test_messages_changed_under_their_ids_are_told_and_the_rest_is_written(cli: Cli, tmp_path: Path) -> None:
    cli.json("import", "turns", "--shape", "auto", export(tmp_path, CLAUDE | {"owner": "ada"}), "--owner-from", "owner")
    changed = json.loads(json.dumps(CLAUDE)) | {"owner": "ada"}
    changed["chat_messages"][0]["text"] = "I drink tea."
    file = export(tmp_path, changed, CLAUDE | {"owner": "bo"})
    answer = cli.json("import", "turns", "--shape", "auto", file, "--owner-from", "owner", code=3)
    assert {(one["conversation"], one["message"]) for one in answer["conflicts"]} == {(1, 1)}
    assert answer["appended"] == 4
    told = cli("import", "turns", "--shape", "auto", file, "--owner-from", "owner", code=3).out
    assert "conversation  message  turn id" in told
    assert "ids are taken by other content" in told


def test_what_cannot_be_read_is_named_and_the_rest_of_an_archive_is_imported(cli: Cli, tmp_path: Path) -> None:
    narrated = {"id": "c2", "messages": [{"role": "narrator", "content": "x"}, {"role": "user", "content": "I row."}]}
    file = tmp_path / "export.zip"
    with ZipFile(file, "w") as archive:
        archive.writestr(
            "conversations.json", b"".join(file_of(OPENAI, narrated | {"created_at": 1_704_096_000}, whole=True))
        )
    told = " ".join(cli("import", "turns", "--shape", "auto", str(file), "--owner", "lin", "--turns-only").out.split())
    assert told.startswith("shape openai conversations 2 left out ")
    assert "unknown role 1" in told
    assert "(c2), message 1: role: got 'narrator'" in told
    assert "turns 3" in told
