"""Older records in and memories out: the service on a real store, and its HTTP face."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from engramlog.answers import RecordsImported
from engramlog_server.api.exchange.record_shapes import OF_THE_LOG
from engramlog_server.events.partitions import partition_of
from tests.acceptance.helpers.store import Store
from tests.given.http import HttpStore, created, http_store
from tests.given.records import ENTRY, OURS, ROW
from tests.given.shaped import checked
from tests.rows import each_row

LINES = {"content-type": "application/x-ndjson"}
SECRET_TEXT = "my password is hunter2-Xq9!"


def made(http: HttpStore, owner: str, *ids: str, **fields: Any) -> None:
    """Memories of these ids, folded."""
    http.told(owner, *(created(one, owner=owner, **fields) for one in ids))


def posted(http: HttpStore, owner: str, records: Sequence[dict[str, Any]], status: int = 200, **asked: Any) -> Any:
    answer = http.client.post(f"/v1/owners/{quote(owner, safe='')}/import/records", json=list(records), params=asked)
    assert answer.status_code == status, answer.text
    return answer.json()


def deleted(http: HttpStore, owner: str, ids: Sequence[str], status: int = 200, **told: Any) -> Any:
    answer = http.client.post(f"/v1/owners/{owner}/memories/delete", json={"ids": list(ids)} | told)
    assert answer.status_code == status, answer.text
    return answer.json()


def entries(count: int) -> list[dict[str, Any]]:
    return [ENTRY | {"id": f"e{number}"} for number in range(count)]


def head(http: HttpStore, owner: str) -> int:
    return http.application.log.head(partition_of(owner, http.application.log.partitions))


# --- import ---------------------------------------------------------------------------------------------------------


def test_a_list_of_records_of_any_shape_goes_in_and_a_second_time_nothing(http: HttpStore) -> None:
    records = [OURS | {"memory_id": "ours"}, ENTRY | {"id": "entry"}, ROW | {"id": "row"}]
    first = posted(http, "shapes", records)
    checked(RecordsImported, first)
    assert (first["owner"], first["appended"]) == ("shapes", 3)
    assert first["shapes"] == {"engramlog": 1, "ebbinghaus": 1, "consolidating": 1}
    assert http.application.reader.get("shapes", "row", trace=False)["access_count"] == 9
    second = posted(http, "shapes", records)
    assert (second["appended"], second["already_appended"]) == (0, 3)


def test_of_a_request_with_a_bad_record_nothing_is_written(http: HttpStore) -> None:
    before = head(http, "whole")
    told = posted(http, "whole", [ENTRY, ENTRY | {"id": "n", "accessCount": "5"}], 422)
    assert (told["line"], told["field"], told["got"]) == (2, "accessCount", '"5"')
    assert head(http, "whole") == before


def test_the_line_of_a_bad_record_among_lines_counts_blank_ones(http: HttpStore) -> None:
    body = b"\n".join([orjson.dumps(ENTRY), b"", b"nonsense"])
    answer = http.client.post("/v1/owners/whole/import/records", content=body, headers=LINES)
    assert (answer.status_code, answer.json()["line"]) == (422, 3)


def test_a_thousand_records_are_taken_and_one_more_is_too_many(http: HttpStore) -> None:
    assert posted(http, "thousand", entries(1_000))["appended"] == 1_000
    told = posted(http, "thousand", entries(1_001), 413)
    assert (told["error"], told["got"], told["allowed"]) == ("RequestTooLarge", 1_001, 1_000)


@each_row("body", [b"{}", b"[", b"nonsense", b'"x"', b""])
def test_a_body_that_is_no_list_of_records_is_refused(http: HttpStore, body: bytes) -> None:
    answer = http.client.post(
        "/v1/owners/bodies/import/records", content=body, headers={"content-type": "application/json"}
    )
    assert (answer.status_code, answer.json()["field"]) == (422, "body")


def test_a_changed_record_stays_out_and_is_told_beside_what_went_in(http: HttpStore) -> None:
    posted(http, "changed", [ENTRY])
    changed = ENTRY | {"content": "something else"}
    answer = posted(http, "changed", [changed, ENTRY | {"id": "n"}], 207)
    assert (answer["appended"], [one["line"] for one in answer["conflicts"]]) == (1, [1])
    alone = posted(http, "changed", [changed], 409)
    assert (alone["error"], [one["line"] for one in alone["conflicts"]]) == ("ConcurrencyError", [1])


# --- export ---------------------------------------------------------------------------------------------------------


def ours(memory_id: str, content: str, day: int = 1, **more: Any) -> dict[str, Any]:
    at = f"2026-01-{day:02}T08:00:00Z"
    fields = {"category": "fact", "kind": "fact", "source": "user"} | more
    return {"engramlog": 1, "memory_id": memory_id, "content": content, "created_at": at, **fields}


def test_records_are_flagged_beside_what_is_known_and_beside_each_other_and_end_nothing(http: HttpStore) -> None:
    made(http, "judged", "berlin", content="I live in Berlin", source="user")
    records = [
        ours("munich", "I live in Munich"),
        ours("tea", "I prefer tea", 2),
        ours("no-tea", "I hate tea", 3),
        ours("coffee", "我喜欢喝咖啡", 4),
        ours("no-coffee", "我不喜欢喝咖啡了", 5),
        ours("again", "I prefer tea", 6),
    ]
    told = posted(http, "judged", records)
    pairs = {(one["id"], one["other"]) for one in told["conflicting"]}
    assert pairs == {("munich", "berlin"), ("no-tea", "tea"), ("no-coffee", "coffee"), ("again", "no-tea")}
    assert told["flagged"] == len(pairs)
    listed = http.client.get("/v1/owners/judged/memories", params={"mode": "review", "limit": 20}).json()["memories"]
    assert {one["id"]: one["is_negated"] for one in listed} == dict.fromkeys(
        [*(r["memory_id"] for r in records), "berlin"], False
    )
    flags = {one["id"]: set(one.get("possible_conflicts") or ()) for one in listed}
    assert flags["berlin"] == {"munich"}
    assert flags["no-tea"] == {"tea", "again"}
    before = head(http, "judged")
    assert (posted(http, "judged", records)["flagged"], head(http, "judged")) == (0, before)


def test_an_export_is_lines_with_what_was_left_out_in_a_header(http: HttpStore) -> None:
    made(http, "out", "a", content="我喜欢拉面")
    made(http, "out", "b", "gone")
    made(http, "out", "s", content=SECRET_TEXT)
    position = deleted(http, "out", ["gone"])["position"]
    answer = http.client.get("/v1/owners/out/export")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["engramlog-left-out"] == "deleted=1, sensitive=1"
    assert answer.headers["engramlog-position"] == position
    assert [json.loads(line)["content"] for line in answer.text.splitlines()] == ["我喜欢拉面", "I drink coffee"]
    assert "hunter2" not in answer.text
    revealed = http.client.post("/v1/owners/out/export", json={"include": ["deleted"], "reveal": True})
    more = [json.loads(line) for line in revealed.text.splitlines()]
    assert [one["memory_id"] for one in more] == ["a", "b", "gone", "s"]


def test_what_is_exported_goes_in_again_for_another_owner(http: HttpStore) -> None:
    posted(http, "from/源", [ROW | {"id": f"r{number}"} for number in range(450)])
    body = http.client.get(f"/v1/owners/{quote('from/源', safe='')}/export").content
    assert http.client.post("/v1/owners/to/import/records", content=body, headers=LINES).status_code == 200
    assert told_without_log(http.client.get("/v1/owners/to/export").content) == told_without_log(body)
    assert len(body.splitlines()) == 450


def told_without_log(body: bytes) -> list[dict[str, Any]]:
    """The lines without what each log tells by itself: every one of them says when it was recorded there."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in body.splitlines()]
    assert all(line["recorded_at"] and line["principal"] for line in lines)
    return [{name: value for name, value in line.items() if name not in OF_THE_LOG} for line in lines]


def test_an_export_spells_out_what_a_terminal_would_obey(http: HttpStore) -> None:
    said = "我喜欢\u202e拉面\u2028\x85\x9b31m\u200b\U000e0041\x7f"
    made(http, "spelled", "a", content=said)
    answer = http.client.get("/v1/owners/spelled/export").text
    assert [sign for sign in said[3:] if sign in answer] == ["拉", "面", "3", "1", "m"]
    assert json.loads(answer)["content"] == said


def test_an_export_leaves_no_trace(http: HttpStore) -> None:
    made(http, "quiet", "a")
    before = head(http, "quiet")
    for form in ("jsonl", "text"):
        assert http.client.get("/v1/owners/quiet/export", params={"format": form}).status_code == 200
    http.application.accesses.flush()
    assert head(http, "quiet") == before


@each_row(
    ("asked", "status", "field"),
    [
        ({"format": "xml"}, 422, "format"),
        ({"include": "purged"}, 422, "include"),
        ({"asof": "3"}, 422, "asof"),
        ({"ids": "a", "everything": "true"}, 422, "ids"),
        ({"ids": "a", "format": "html"}, 422, "format"),
        ({"after": "soon"}, 422, "after"),
    ],
)
def test_an_export_of_what_cannot_be_is_refused(
    http: HttpStore, asked: dict[str, str], status: int, field: str
) -> None:
    answer = http.client.get("/v1/owners/out/export", params=asked)
    assert (answer.status_code, answer.json()["field"]) == (status, field)


def test_an_export_of_named_memories_holds_those_alone_by_query_and_by_body(http: HttpStore) -> None:
    made(http, "named", "a", "b", "c")
    told = http.client.get("/v1/owners/named/export", params={"ids": ["c", "a", "nobody"]})
    assert [json.loads(line)["memory_id"] for line in told.text.splitlines()] == ["a", "c"]
    assert told.headers["engramlog-left-out"] == "unknown=1"
    posted = http.client.post("/v1/owners/named/export", json={"ids": ["b"], "format": "text"})
    assert (posted.headers["engramlog-memories"], "engramlog-revealed" in posted.headers) == ("1", False)


def test_an_export_after_a_position_that_does_not_exist_is_refused(http: HttpStore) -> None:
    partition = partition_of("out", http.application.log.partitions)
    answer = http.client.get("/v1/owners/out/export", params={"after": f"{partition}:99999"})
    assert (answer.status_code, answer.json()["error"]) == (409, "BeyondHead")


def test_what_changes_while_an_export_is_read_is_not_in_it(http: HttpStore) -> None:
    from engramlog_server.api.exchange.export import ExportOptions

    made(http, "while", "a", "b")
    records = http.application.records.export("while", ExportOptions()).records()
    first = next(records)
    deleted(http, "while", ["b"])
    assert [one["memory_id"] for one in (first, *records)] == ["a", "b"]


@each_row("include", [(), ("deleted", "negated", "superseded", "rejected", "merged")])
@each_row("form", ["jsonl", "text"])
def test_an_export_holds_what_the_owner_s_view_does(http: HttpStore, include: tuple[str, ...], form: str) -> None:
    from engramlog_server.api.exchange.export import ExportOptions, selection
    from engramlog_server.api.exchange.records import Export
    from tests.given.exports import text_of

    owner = f"level-{len(include)}-{form}"
    made(http, owner, "a", "b", "c", "d", content="I like coffee in the morning")
    made(http, owner, "e", "f", content="I moved to Lisbon")
    made(http, owner, "s", content=SECRET_TEXT)
    verbs = f"/v1/owners/{owner}/memories"
    deleted(http, owner, ["e"])
    assert http.client.post(f"{verbs}/a/negate", json={}).status_code < 400
    options = ExportOptions(include=include)
    with http.application.reader.snapshot(owner) as snapshot:
        found = selection(snapshot.view, options)
        whole = Export(owner, form, snapshot.position, found, snapshot.told)
        text = "".join(text_of(snapshot.view, snapshot.now, found)).splitlines()[3:]
    told = http.application.records.export(owner, options, form)
    assert (told.chosen.number, told.left_out) == (found.number, found.left_out)
    if form == "text":
        assert len("".join(told.text or ()).splitlines()[3:]) == len(text)
    else:
        of_log = set(OF_THE_LOG)
        lines = [{name: one[name] for name in one if name not in of_log} for one in told.records()]
        assert lines == list(whole.records())


def test_an_export_that_ends_before_its_end_says_so_in_its_last_line(http: HttpStore) -> None:
    from collections.abc import Iterator as Several
    from dataclasses import replace

    from engramlog_server.api.exchange.export import ExportOptions
    from engramlog_server.api.http.routes.records import _joined
    from engramlog_server.api.http.routing import StreamCut
    from engramlog_server.events.errors import StoreUnavailable

    def gone(memories: Sequence[Any]) -> Several[Any]:
        raise StoreUnavailable("no connection to Redis")
        yield from memories

    made(http, "cut", "a")
    export = http.application.records.export("cut", ExportOptions())
    pieces = _joined(replace(export, made=gone))
    assert json.loads(next(pieces))["cut"]["error"] == "StoreUnavailable"
    with pytest.raises(StreamCut):
        next(pieces)


def test_how_many_memories_an_export_has_is_told_before_them(http: HttpStore) -> None:
    made(http, "many", "a", "b")
    assert http.client.get("/v1/owners/many/export").headers["engramlog-memories"] == "2"


def test_a_full_disk_ends_an_export_as_failed(http: HttpStore) -> None:
    from engramlog_server.api.cli.commands.files import _write
    from engramlog_server.api.exchange.export import ExportOptions
    from engramlog_server.events.errors import OutputCut

    made(http, "full", "a")
    with (
        pytest.raises(OutputCut, match="ends before its end"),
        open("/dev/full", "wb", buffering=0) as full,  # noqa: PTH123 - it is a device
    ):
        _write(http.application.records.export("full", ExportOptions()), full, lambda _done, _all: None)


def test_a_full_disk_below_a_file_ends_an_export_likewise_and_leaves_none(
    http: HttpStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is still in the file's buffer finds no room either, as it is closed."""
    from engramlog_server.api.cli.commands import files
    from engramlog_server.api.exchange.export import ExportOptions
    from engramlog_server.events.errors import OutputCut

    made(http, "full-file", "a")
    begun = tmp_path / ".begun"
    begun.touch()
    monkeypatch.setattr(files, "mkstemp", lambda **_: (os.open("/dev/full", os.O_WRONLY), str(begun)))
    with pytest.raises(OutputCut), files._whole_file(tmp_path / "out") as stream:
        files._write(http.application.records.export("full-file", ExportOptions()), stream, lambda _done, _all: None)
    assert list(tmp_path.iterdir()) == []


def test_of_a_quarantined_owner_an_export_says_how_far_it_goes_and_an_import_waits(tmp_path: Path) -> None:
    with http_store(tmp_path, worker=False) as http:
        http.application.writer.settle(http.application.writer.append([orjson.dumps(created("a"))]))
        stuck = Store(http.application).poison("alice")
        told = http.client.get("/v1/owners/alice/export")
        assert (told.headers["engramlog-quarantined"], len(told.text.splitlines())) == (stuck, 1)
        assert posted(http, "alice", [ENTRY], 207)["quarantined"]["position"] == stuck
