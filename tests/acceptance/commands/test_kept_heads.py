"""A rebuild launders nothing: heads kept outside of Redis are what the log must meet, and who accepts a change is told for good."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import redis

from engramlog_server.events.heads import Head
from engramlog_server.ops.kept.heads import HeadFile, aside
from tests.acceptance.helpers.cli import Cli, event, lines

PARTITIONS = 2
CHANGED = b"likes tea"


@pytest.fixture
def stored(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Cli, redis.Redis, Path]]:
    """A store with two memories of one owner, whose heads were written down."""
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENGRAMLOG_PARTITIONS", str(PARTITIONS))
    monkeypatch.setenv("ENGRAMLOG_HEAD_SINKS", str(tmp_path / "copy.jsonl"))
    _add(cli, 1, "she likes tea 茶")
    cli("verify", "--heads", "--keep")
    _add(cli, 2, "she lives in Basel")
    cli("verify", "--heads", "--keep")
    with redis.Redis.from_url(os.environ["ENGRAMLOG_REDIS_URL"]) as client:
        yield cli, client, tmp_path


def _add(cli: Cli, number: int, content: str) -> None:
    cli("append", "-", stdin=lines([event(number, "lin", content=content)]))


def _stream(client: redis.Redis) -> bytes:
    return next(key for key in client.scan_iter("*}:ev"))  # type: ignore[no-any-return]


def _entries(client: redis.Redis) -> list[tuple[bytes, dict[bytes, bytes]]]:
    return list(client.xrange(_stream(client)))  # type: ignore[arg-type]


def _lay(client: redis.Redis, entries: list[tuple[bytes, dict[bytes, bytes]]]) -> None:
    stream = _stream(client)
    client.delete(stream)
    for entry_id, fields in entries:
        client.xadd(stream, fields, id=entry_id)  # type: ignore[arg-type]


def _change_body(client: redis.Redis) -> None:
    """What somebody does who wants another past: change a stored event, and everything that follows from it."""
    entries = [
        (entry_id, {name: value.replace(CHANGED, b"hates tea") for name, value in fields.items()})
        for entry_id, fields in _entries(client)
    ]
    _lay(client, entries)


def _told(answer: dict[str, Any]) -> set[str]:
    return {one["what"] for one in answer["differences"]}


Stored = tuple[Cli, redis.Redis, Path]


def test_a_rebuild_of_a_changed_log_is_refused_and_verify_goes_on_telling(stored: Stored) -> None:
    cli, client, _ = stored
    assert cli.json("verify")["heads"]["compared"] == 2
    _change_body(client)
    before = cli.json("verify", code=1)
    refused = cli("rebuild", code=1)
    assert "the log does not meet a kept head" in _told(before)
    assert "the log was changed since" in refused.err
    assert "the log does not meet a kept head" in _told(cli.json("verify", code=1))


def test_an_accepted_change_is_folded_and_told_for_good_by_the_store_and_the_file(stored: Stored) -> None:
    cli, client, folder = stored
    _change_body(client)
    done = cli.json("rebuild", "--accept-changed-log", "restored by hand after the fire")
    assert [one["seq"] for one in done["accepted"]] == [1]
    # Dedupe still knows the event as it was, and says so; heads do no more.
    answer = cli.json("verify", code=1)
    assert "the log does not meet a kept head" not in _told(answer)
    assert [(one["seq"], one["reason"]) for one in answer["accepted"]] == [(1, "restored by hand after the fire")]
    file = next((folder / "data").glob("heads-*.jsonl"))
    file.unlink()
    assert [one["reason"] for one in cli.json("verify", code=1)["accepted"]] == ["restored by hand after the fire"]
    assert "a changed log was accepted" in cli("verify", code=1).out


def test_a_log_that_was_cut_off_with_all_that_tells_of_it_is_refused(stored: Stored) -> None:
    cli, client, _ = stored
    entries = _entries(client)
    meta = _stream(client).replace(b":ev", b":meta")
    _lay(client, entries[:-1])
    client.hset(meta, "head", len(entries) - 1)  # type: ignore[arg-type]
    for key in client.scan_iter(meta.replace(b":meta", b":v*")):
        client.delete(key)
    refused = cli("rebuild", code=1)
    assert "a kept head reaches" in refused.err


def test_a_copy_that_somebody_else_holds_proves_it_where_the_folders_file_was_written_anew(stored: Stored) -> None:
    cli, client, folder = stored
    _change_body(client)
    next((folder / "data").glob("heads-*.jsonl")).unlink()
    cli("rebuild")
    answer = cli.json("verify", "--against", str(folder / "copy.jsonl"), code=1)
    found = [one for one in answer["differences"] if one["what"] == "the log does not meet a kept head"]
    assert [one["file"] for one in found] == [str(folder / "copy.jsonl")] * 2


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda kept: [kept[0].replace(b'"n":1', b'"n":1,"x":1'), *kept[1:]], "does not follow on the line before"),
        (lambda kept: kept[1:] + kept[:1], "does not follow on the line before"),
        (lambda kept: [b"no line", *kept[1:]], "cannot be read"),
        (lambda kept: [kept[0].replace(b'"store":"', b'"store":"\xff'), *kept[1:]], "cannot be read"),
    ],
)
def test_a_file_whose_lines_were_changed_is_told_and_refused(stored: Stored, damage: Any, told: str) -> None:
    cli, _, folder = stored
    file = next((folder / "data").glob("heads-*.jsonl"))
    file.write_bytes(b"".join(line + b"\n" for line in damage(file.read_bytes().splitlines())))
    answer = cli.json("verify", code=1)
    assert _told(answer) == {"a file of kept heads that contradicts itself"}
    assert told in answer["differences"][0]["problem"]
    assert "contradicts itself" in cli("rebuild", code=1).err


def test_heads_of_another_store_are_told_and_refused(stored: Stored) -> None:
    cli, client, folder = stored
    copy = (folder / "copy.jsonl").read_text().replace(client.hget("engramlog:store", "store_id").decode(), "another")  # type: ignore[union-attr]
    next((folder / "data").glob("heads-*.jsonl")).write_text(copy)
    assert "kept heads of another store" in _told(cli.json("verify", code=1))
    assert "of another store" in cli("rebuild", code=1).err


def test_a_torn_last_line_is_no_line_and_the_next_one_takes_its_place(stored: Stored) -> None:
    cli, _, folder = stored
    file = next((folder / "data").glob("heads-*.jsonl"))
    file.write_bytes(file.read_bytes() + b'{"n":3,"at":"20')
    assert cli.json("verify")["ok"]
    _add(cli, 3, "she has a cat")
    cli("verify", "--heads", "--keep")
    assert [json.loads(line)["n"] for line in file.read_text().splitlines()] == [1, 2, 3]
    assert cli.json("verify")["heads"]["compared"] == 3


def test_verify_reads_across_files_that_turned_over_and_each_of_them_alone_proves_too(stored: Stored) -> None:
    cli, client, folder = stored
    file = next((folder / "data").glob("heads-*.jsonl"))
    for number in range(3, 12):
        _add(cli, number, f"note {number}")
        heads = [Head(one["partition"], one["seq"], one["chain"]) for one in cli.json("verify", "--heads")["heads"]]
        HeadFile(file, most_bytes=600).append("2026-11-22T09:00:00Z", cli.json("status")["store_id"], heads)
    copies = [folder / "old.jsonl", folder / "new.jsonl"]
    for there, copy in zip((aside(file), file), copies, strict=True):
        copy.write_bytes(there.read_bytes())
    sound = cli.json("verify", "--against", str(copies[0]), "--against", str(copies[1]))
    shown = cli.json("verify", "--heads")
    _change_body(client)
    changed = cli.json("verify", "--against", str(copies[0]), "--against", str(copies[1]), code=1)
    assert "the log was changed since" in cli("rebuild", code=1).err
    assert file.stat().st_size + aside(file).stat().st_size < 2_000, (
        "what was before is gone, and is proven all the same"
    )
    assert sound["heads"]["files"][str(file)] == shown["lines"] > 3
    assert {one["file"] for one in changed["differences"] if "kept head" in one["what"]} == {
        str(file),
        *map(str, copies),
    }


def test_a_change_that_a_keeper_meets_raises_an_alarm_and_is_not_written_over(stored: Stored) -> None:
    cli, client, folder = stored
    _change_body(client)
    next((folder / "data").glob("heads-*.jsonl")).rename(folder / "away")
    cli("rebuild")
    (folder / "away").rename(folder / "data" / f"heads-{cli.json('status')['store_id']}.jsonl")
    assert "does not carry on" in cli("verify", "--heads", "--keep", code=1).err
    alarms = cli.json("alarms", code=1)["alarms"]
    assert [(one["name"], one["severity"]) for one in alarms] == [("log_changed", "stopped")]
    assert cli.json("verify", "--heads")["lines"] == 2


class _Sink(BaseHTTPRequestHandler):
    lines: list[bytes] = []  # noqa: RUF012 - one server a test
    code = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if _Sink.code == 200:
            _Sink.lines.append(body)
        self.send_response(_Sink.code)
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        """Nothing."""


def test_sinks_get_every_line_and_one_that_fails_raises_an_alarm_until_it_took_it(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli, _, folder = stored
    _Sink.lines.clear()
    server = HTTPServer(("127.0.0.1", 0), _Sink)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/heads?key=secret"
    monkeypatch.setenv("ENGRAMLOG_HEAD_SINKS", f"{folder / 'copy.jsonl'} {address}")
    try:
        _Sink.code = 503
        _add(cli, 4, "she has a dog")
        cli("verify", "--heads", "--keep")
        failed = cli.json("alarms")["alarms"]
        _Sink.code = 200
        cli("verify", "--heads", "--keep")
        after = cli.json("alarms")["alarms"]
    finally:
        server.shutdown()
        server.server_close()
    assert [(one["name"], one["subject"]) for one in failed] == [("head_sink_failed", "http://127.0.0.1")]
    assert after == []
    kept = next((folder / "data").glob("heads-*.jsonl")).read_bytes()
    assert _Sink.lines == [kept.splitlines()[-1]]
    assert (folder / "copy.jsonl").read_bytes() == kept


def test_a_reason_must_be_given_and_is_one_line(stored: Stored) -> None:
    cli, _, _ = stored
    for reason in ("", "  ", "two\nlines", "x" * 201):
        assert "accept-changed-log: got" in cli("rebuild", "--accept-changed-log", reason, code=2).err


def test_where_the_log_meets_its_heads_nothing_is_accepted(stored: Stored) -> None:
    cli, _, folder = stored
    assert cli.json("rebuild", "--accept-changed-log", "just in case")["accepted"] == []
    assert cli.json("verify")["accepted"] == []
    assert next((folder / "data").glob("heads-*.jsonl")).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "has no line"), (b"no line", "has no line"), (b"no line\n", "in line 1"), (None, "in line 2")],
)
def test_a_copy_that_cannot_be_read_is_bad_input_and_no_difference(
    stored: Stored, content: bytes | None, told: str
) -> None:
    cli, _, folder = stored
    whole = (folder / "copy.jsonl").read_bytes().splitlines(keepends=True)
    copy = folder / "heads-of-monday.jsonl"
    copy.write_bytes(b"".join([whole[0], b"{}\n", *whole[1:]]) if content is None else content)
    refused = cli("verify", "--against", str(copy), code=2)
    assert (refused.out, told in refused.err) == ("", True)
    assert "--against: " in refused.err
    assert "`engramlog verify --heads --keep`" in refused.err
    assert cli.json("verify", "--against", str(copy), code=2)["field"] == "against"


def test_a_file_of_heads_is_compared_alone_and_the_exit_code_says_how(stored: Stored) -> None:
    cli, client, folder = stored
    copy = folder / "copy.jsonl"
    told = cli.json("verify", "--heads", "--against", str(copy))
    assert (told["agrees"], told["complete"], told["differing"]) == (True, True, 0)
    held = folder / "heads.json"
    held.write_text(cli("verify", "--heads", "--json").out)
    assert "agrees       yes" in cli("verify", "--heads", "--against", str(held)).out
    assert cli.json("verify", "--against", str(held))["ok"]
    _lay(client, [(entry, fields | {b"i": bytes(16)}) for entry, fields in _entries(client)])
    told = cli.json("verify", "--heads", "--against", str(copy), code=1)
    assert (told["agrees"], {one["state"] for one in told["unmet"]}) == (False, {"differs"})
    assert "differs" in cli("verify", "--heads", "--against", str(held), code=1).out
    assert cli.json("verify", "--heads", "--against", str(folder / "none"), code=2)["field"] == "against"
