"""Bad input, wherever it comes from: what, where, what is allowed, exit code 2, and nothing half written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.acceptance.helpers.cli import Cli, event, lines, turn
from tests.rows import each_row


@pytest.fixture
def cli(cli: Cli) -> Cli:
    cli.json("append", "-", stdin=lines([event(1), event(2), event(3, "bo")]))
    return cli


NAIVE, NONSENSE = "2026-01-01T00:00:00", "yesterday"
BAD_WORDS = [
    # (command, what is named, what is allowed)
    (["search", "bad owner", "x"], "owner: got 'bad owner'", "1 to 128 letters or digits"),
    (["search", "{ada}", "x"], "owner: got '{ada}'", "braces"),
    (["search", "ada", ""], "query: got ''", "10,000 characters"),
    (["search", "ada", "x" * 10_001], "(10,001 characters)", "10,000 characters"),
    (["search", "ada", "broken \udcff"], "query: got 'broken \\udcff'", "UTF-8"),
    (["search", "ada", "x", "--mode", "loud"], "mode: got 'loud'", "normal, review, debug"),
    (["search", "ada", "x", "-k", "0"], "limit: got 0", "1 to 100"),
    (["search", "ada", "x", "-k", "many"], "limit: got 'many'", "a whole number"),
    (["search", "ada", "x", "--limit=1.5"], "limit: got '1.5'", "a whole number"),
    (["negate", "ada", "m1", "--correction", "  "], 'correction: got "  "', "a text"),
    (["list", "ada", "--offset", "-1"], "offset: got '-1'", "at least 0"),
    (["review", "ada", "m1", "--grade", "x"], "grade: got 'x'", "a whole number"),
    (["search", "ada", "x", "-k", "101"], "limit: got 101", "1 to 100"),
    (["search", "ada", "x", "--as-of", NAIVE], f"as_of: got '{NAIVE}'", "with a time zone"),
    (["search", "ada", "x", "--as-of", NONSENSE], "as_of: got 'yesterday'", "2023-10-22T12:00:00Z"),
    (["search", "ada", "x", "--as-of", "1899-12-31T23:59:59Z"], "as_of: got", "not before 1900"),
    (["search", "ada", "x", "--as-of", "99:1"], "as_of: got '99:1'", "whose partition is"),
    (["search", "ada", "x", "--as-of", "-1:5"], "as_of: got '-1:5'", "RFC 3339"),
    (["list", "ada", "--after", "soon"], "after: got 'soon'", "a position partition:seq"),
    (["search", "ada", "x", "--at", "1704067200"], "at: got '1704067200'", "RFC 3339"),
    (["list", "ada", "-k", "1001"], "limit: got 1001", "1 to 1000"),
    (["get", "ada", "no such"], "memory_id: got 'no such'", "1 to 128"),
    (["get", "ada", "nothing"], "owner ada has no memory nothing", "engramlog list ada"),
    (["why", "ada", "nothing"], "owner ada has no memory nothing", "engramlog list ada"),
    (["why", "ada", "m1", "--at", "soon"], "at: got 'soon'", "RFC 3339"),
    (["history", "ada", "nothing"], "owner ada has no memory nothing", "engramlog list ada"),
    (["why", "--provenance", "nobody", "m1"], "owner nobody has no memory m1", "engramlog list nobody"),
    (["negate", "ada", "m1", "--resolution", "maybe"], 'resolution: got "maybe"', "'latest_wins'"),
    (["negate", "ada", "m1", "--replaced-by", "nothing"], "has no memory nothing", "engramlog list ada"),
    (["negate", "ada", "m1", "--occurred-at", "2999-01-01T00:00:00Z"], "occurred_at: got 2999", "five minutes ahead"),
    (["delete", "ada", "m1", "--actor", "ghost"], 'actor: got "ghost"', "'operator'"),
    (["delete", "--undo", "ada", "nothing"], "has no memory nothing", "engramlog list ada"),
    (["merge", "ada", "m1"], "sources: got", "at least 2"),
    (["merge", "ada", "m1", "m1"], "sources: got", "without repetitions"),
    (["merge", "ada", "m1", "m2", "--into", "m1"], "into: got m1", "not one of the sources"),
    (["merge", "ada", "m1", "m3"], "owner ada has no memory m3", "engramlog list ada"),
    (["unmerge", "ada", "nothing"], "has no memory nothing", "engramlog list ada"),
    (["replay", "ada", "--set", "no_such=1"], "no_such: got '1'", "alpha_base"),
    (["replay", "ada", "--set", "user_factor=1000"], "user_factor: got '1000'", "from 0.1 to 10"),
    (["replay", "ada", "--set", "user_factor=nan"], "user_factor: got 'nan'", "from 0.1 to 10"),
    (["replay", "ada", "--set", "user_factor"], ": got 'user_factor'", "name=value"),
    (["replay", "ada", "--without", "xyz"], "without: got 'xyz'", "engramlog history"),
    (["replay", "ada", "--without-actor", "ghost"], "without_actors: got 'ghost'", "operator"),
    (["replay", "ada", "--query", "x", "--mode", "loud"], "mode: got 'loud'", "normal, review, debug"),
    (["dead", "ada"], "owner ada is not quarantined", "engramlog dead"),
    (["dead", "--retry", "ada"], "owner ada is not quarantined", "engramlog dead"),
    (["dead", "ada", "--discard", "1:1"], "owner ada is not quarantined", "engramlog dead"),
    (["verify", "--partition", "16"], "partition: got 16", "0 to 15"),
    (["rebuild", "--partition", "-1"], "partition: got -1", "0 to 15"),
    (["append", "/no/such/file"], "file: got '/no/such/file'", "No such file"),
    (["append", "/"], "file: got '/'", "Is a directory"),
    (["import", "turns", "/no/such/file"], "file: got '/no/such/file'", "No such file"),
]
OPTIONS = {
    "as_of": "--as-of",
    "min_relevance": "--min-relevance",
    "occurred_at": "--occurred-at",
    "without_actors": "--without-actor",
}
"""By field: what people are told in its place, where that is spelled otherwise."""
BY_OPTION = [
    (["replay", "ada", "--without-actor", "ghost"], "--without-actor: got 'ghost'", "without_actors"),
    (["search", "ada", "x", "-k", "0"], "--limit: got 0", "limit"),
    (["list", "ada", "--min-weight", "much"], "--min-weight: got 'much'", "min_weight"),
    (["replay", "ada", "--set", "no_such=1"], "--set no_such: got '1'", "parameters no_such"),
    (["diff", "ada", "--since", "soon"], "--since: got 'soon'", "since"),
    (["negate", "ada", "m1", "--actor", "ghost"], '--actor: got "ghost"', "actor"),
    (["verify", "--partition", "16"], "--partition: got 16", "partition"),
    (["search", "ada", ""], "query: got ''", "query"),
]


@each_row(("words", "named", "field"), BY_OPTION, ids=[" ".join(words) for words, _, _ in BY_OPTION])
def test_a_refusal_names_the_option_to_people_and_the_field_in_json(
    cli: Cli, words: list[str], named: str, field: str
) -> None:
    assert f": {named}" in cli(*words, code=2).err
    told = cli.json(*words, code=2)
    assert (told["field"], told["message"].startswith(f"{field}: got")) == (field, True)


def test_what_the_parser_refuses_is_a_json_error_with_json(cli: Cli) -> None:
    rows = {
        ("search", "ada", "x", "--nope"): "option",
        ("search", "ada"): "query",
        ("search", "ada", "x", "y"): "command",
        ("serach",): "command",
        ("key", "nope"): "command",
    }
    assert {words: cli.json(*words, code=2).get("field") for words in rows} == rows


def test_a_search_mode_for_one_memory_alone_is_refused_with_the_way_to_have_it(cli: Cli) -> None:
    told = cli("why", "ada", "m1", "--search-mode", "keyword", code=2).err
    assert "--search-mode: got 'keyword'" in told
    assert "`above` and `query`" in told


@each_row(("words", "named", "allowed"), BAD_WORDS, ids=lambda v: " ".join(v)[:40] if isinstance(v, list) else "")
def test_a_bad_word_is_named_with_what_is_allowed_and_nothing_is_written(
    cli: Cli, words: list[str], named: str, allowed: str
) -> None:
    before = cli.json("status")["events"]
    told = cli(*words, code=2)
    field, got, rest = named.partition(": got")
    assert f"{OPTIONS.get(field, field)}{got}{rest}" in told.err
    assert allowed in told.err
    assert (told.out, told.err.count("\n"), "data." in told.err) == ("", 1, False)
    answer = cli.json(*words, code=2)
    assert named in answer["message"]
    assert answer["error"] in ("InputError", "InvalidEvent", "NotFound")
    assert cli.json("status")["events"] == before


BAD_LINES = [
    (b"not json", 'event: got "not json"', "one JSON object in UTF-8"),
    (b"[1, 2]", "event: got [1, 2]", "a JSON object"),
    (b'{"type": "\xff"}', "event: got", "UTF-8"),
    (b"[" * 100_000, "event: got", "one JSON object"),
    (lines([event(9) | {"type": "Nonsense"}]), 'type: got "Nonsense"', "MemoryCreated"),
    (lines([event(9) | {"schema_version": 2}]), "schema_version: got 2", "from 1 to 1"),
    (lines([event(9) | {"event_id": "7"}]), 'event_id: got "7"', "UUID"),
    (lines([event(9) | {"owner": "a b"}]), 'owner: got "a b"', "1 to 128"),
    (lines([event(9) | {"owner": None}]), "owner: got None", "a text"),
    (lines([event(9) | {"occurred_at": NAIVE}]), "occurred_at: got", "with a time zone"),
    (lines([event(9) | {"occurred_at": "2999-01-01T00:00:00Z"}]), "occurred_at: got 2999", "five minutes ahead"),
    (lines([event(9) | {"extra": 1}]), "extra: got 1", "unknown fields are refused"),
    (lines([event(9, extra=1)]), "data.extra: got 1", "unknown fields are refused"),
    (lines([event(9, content=" ")]), "data.content: got", "not blank"),
    (lines([event(9, confidence=1.5)]), "data.confidence: got 1.5", "1 or less"),
    (lines([event(9, type_="MemoryErased", reason="x")]), "type: got MemoryErased", "MemoryDeleted"),
]


@each_row(("line", "named", "allowed"), BAD_LINES, ids=[one[1][:24] for one in BAD_LINES])
def test_a_bad_line_is_named_by_number_and_its_request_is_not_written(
    cli: Cli, line: bytes, named: str, allowed: str
) -> None:
    before = cli.json("status")["events"]
    answer = cli.json("append", "-", stdin=lines([event(7)]) + line.rstrip() + b"\n" + lines([event(8)]), code=2)
    message = answer["error"]["message"]
    assert message.startswith(f"line 2: {named}")
    assert allowed in message
    assert (answer["appended"], answer["error"]["line"], answer["error"]["written_before"]) == (0, 2, 0)
    assert cli.json("status")["events"] == before


BAD_TURNS = [
    (b"not json", "turn: got 'not json", "one JSON object"),
    (b"\xff\xfe", "turn: got 'bytes that are not UTF-8, from byte 1 on'", "one JSON object"),
    (b"[1]", "turn: got [1]", "a JSON object with turn_id, occurred_at, text"),
    (lines([turn(9, "x", turn_id=9)]), "turn_id: got 9", "a text"),
    (lines([turn(9, "x", turn_id="a b")]), 'data.turn_id: got "a b"', "1 to 128"),
    (lines([turn(9, "x") | {"text": None}]), "text: got nothing", "a text"),
    (lines([turn(9, "x", occurred_at=NAIVE)]), "occurred_at: got", "with a time zone"),
    (lines([turn(9, "x") | {"conversation": None}]), "conversation: got nothing", "--owner-from"),
    (lines([turn(9, "x", conversation="a b")]), 'owner: got "a b"', "1 to 128"),
    (lines([turn(9, "x", speaker=5)]), "data.speaker: got 5", "a text"),
]


@pytest.mark.parametrize(("line", "named", "allowed"), BAD_TURNS, ids=[one[1][:24] for one in BAD_TURNS])
def test_a_bad_turn_is_named_by_line_and_what_stood_before_it_is_said(
    cli: Cli, line: bytes, named: str, allowed: str
) -> None:
    stdin = lines([turn(7, "before")]) + line.rstrip() + b"\n" + lines([turn(8, "after")])
    answer = cli.json("import", "turns", "-", stdin=stdin, code=2)
    assert answer["error"]["message"].startswith(f"line 2: {named}")
    assert allowed in answer["error"]["message"]
    assert (answer["turns"], answer["appended"]) == (1, 2)
    mended = cli.json("import", "turns", "-", stdin=lines([turn(7, "before"), turn(8, "after")]))
    assert (mended["appended"], mended["already_appended"]) == (2, 2)


@each_row("option", ["--tier", "--category", "--kind"])
def test_a_bad_option_of_an_import_writes_nothing(cli: Cli, option: str) -> None:
    answer = cli.json("import", "turns", "-", option, "no such", stdin=lines([turn(1, "x")]), code=2)
    assert f'line 1: data.{option[2:]}: got "no such"' in answer["error"]["message"]
    assert answer["appended"] == 0


@each_row(
    ("name", "value", "allowed"),
    [
        ("ENGRAMLOG_PARTITIONS", "0", "a whole number from 1 to 1024"),
        ("ENGRAMLOG_PARTITIONS", "many", "a whole number from 1 to 1024"),
        ("ENGRAMLOG_REDIS_URL", "http://localhost", "redis://, rediss://, unix://, redis+cluster://"),
        ("ENGRAMLOG_REDIS_MAXMEMORY", "1", "a whole number of bytes, at least 8388608 (8 MiB)"),
        ("ENGRAMLOG_REDIS_TIMEOUT", "0", "more than 0 up to 600"),
        ("ENGRAMLOG_LOG_LEVEL", "loud", "debug, info, warning or error"),
        ("ENGRAMLOG_PORT", "65536", "a whole number from 0 to 65535"),
    ],
)
def test_a_bad_setting_is_named_with_what_was_got_and_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
    value: str,
    allowed: str,
) -> None:
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "")
    monkeypatch.setenv(name, value)
    answer = Cli(monkeypatch, capsys).json("status", code=2)
    assert answer["message"].startswith(f"{name}: got '{value}'; allowed: ")
    assert allowed in answer["message"]
    assert not (tmp_path / "data").exists()


def test_a_worker_without_a_redis_of_ones_own_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "")
    assert "ENGRAMLOG_REDIS_URL: got nothing" in Cli(monkeypatch, capsys).json("worker", code=2)["message"]


def test_a_redis_that_is_not_there_is_a_failure_with_advice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", f"unix://{tmp_path}/nobody")
    told = Cli(monkeypatch, capsys)("status", code=1)
    assert f"no connection to Redis (Error 2 connecting to {tmp_path}/nobody" in told.err
    assert "written" not in told.err  # nothing was to be


def test_a_file_that_cannot_be_read_does_not_even_start_a_store(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "")
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    Cli(monkeypatch, capsys)("append", str(tmp_path / "nothing.jsonl"), code=2)
    assert list(tmp_path.iterdir()) == []


@each_row("words", [["nonsense"], ["search"], ["search", "ada"], ["status", "--loud"]])
def test_a_command_line_that_makes_no_sense_is_bad_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    told = Cli(monkeypatch, capsys)(*words, code=2)
    assert told.out == ""
    assert "Usage: engramlog" in told.err


@each_row("option", ["--as-of", "--after"])
def test_a_position_that_does_not_exist_is_bad_input(cli: Cli, option: str) -> None:
    partition = cli.json("list", "ada")["position"].split(":")[0]
    told = cli("list", "ada", option, f"{partition}:99999", code=2).err
    assert "99999 does not exist" in told


def test_a_byte_order_mark_at_the_beginning_of_a_file_is_passed_over(cli: Cli, tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    assert cli.json("append", "-", stdin=mark + lines([event(7)]))["appended"] == 1
    for number, words in ((8, ["import", "turns"]), (9, ["import", "turns", "--shape", "auto", "--owner", "ada"])):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(mark + lines([turn(number, "tea")]))
        assert cli.json(*words, str(file))["turns"] == 1
    records = cli("export", "ada").out.encode()
    assert cli.json("import", "records", "-", "--owner", "eve", stdin=mark + records)["appended"] > 0


def test_a_byte_order_mark_within_a_file_is_no_json(cli: Cli) -> None:
    cli("append", "-", stdin=lines([event(7)]) + b"\xef\xbb\xbf" + lines([event(8)]), code=2)


NO_TEXT = [
    ("gzip", gzip.compress(lines([event(7)])), "looks like gzip"),
    ("utf-16", lines([event(7)]).decode().encode("utf-16"), "looks like UTF-16"),
    ("utf-16 without a mark", lines([event(7)]).decode().encode("utf-16-le"), "looks like UTF-16"),
    ("zip", b"PK\x03\x04\x14\x00\x00\x00\xff\xd8 \n", "looks like zip"),
    ("a program", b"\x7fELF\x02\x01\x00\x00\xff" * 90, "looks like binary"),
]
OPENED = {
    "looks like zip": "a ZIP without a password",
    "looks like gzip": "an object with",
    "looks like UTF-16": "an object with",
}
"""What an import of chats says instead, because it opens these."""


@each_row(
    "words",
    [
        ["append"],
        ["import", "turns"],
        ["import", "records", "--owner", "x"],
        ["import", "turns", "--shape", "auto", "--owner", "x"],
    ],
)
@each_row(("body", "told"), [one[1:] for one in NO_TEXT], ids=[one[0] for one in NO_TEXT])
def test_a_file_that_is_no_text_is_told_by_what_it_looks_like_and_not_printed(
    cli: Cli, tmp_path: Path, words: list[str], body: bytes, told: str
) -> None:
    (tmp_path / "file.jsonl").write_bytes(body)
    before = cli.json("status")["events"]
    ran = cli(*words, str(tmp_path / "file.jsonl"), code=2)
    opened = OPENED.get(told) if "--shape" in words else None
    assert (opened or f"not UTF-8 text, {told}") in ran.err
    assert len(ran.err) < (600 if opened == "an object with" else 400)
    assert "\ufffd" not in ran.err
    assert cli.json("status")["events"] == before


@each_row("words", [["append"], ["import", "turns"], ["import", "records", "--owner", "x"]])
def test_a_line_that_is_no_utf_8_is_told_by_its_byte(cli: Cli, words: list[str]) -> None:
    told = cli(*words, "-", stdin=b'{"text": "caf\xe9"}\n', code=2).err
    assert "line 1: " in told
    assert "bytes that are not UTF-8, from byte 14 on" in told
