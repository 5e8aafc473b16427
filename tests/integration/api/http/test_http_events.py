"""`POST /v1/events`: the forms of a request, validation of it whole, and what became of each event."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import orjson
import pytest

from engramlog.answers import Appended
from engramlog_server.api.http.routes import events as routes
from engramlog_server.events.errors import StoreFull
from tests.given.client import append_unreadable
from tests.given.http import HttpStore, Json, created, event, http_store, mentioned
from tests.given.samples import owner_in
from tests.given.shaped import checked
from tests.rows import each_row

JSON = {"content-type": "application/json"}
LINES = {"content-type": "application/x-ndjson"}
HERE, THERE = (owner_in(partition, 4) for partition in (1, 2))
"""Owners of two partitions."""


def statuses(answer: Json) -> list[str]:
    """What became of each event."""
    return [receipt["status"] for receipt in answer["receipts"]]


@each_row(
    ("name", "headers", "encode"),
    [
        ("array", JSON, json.dumps),
        (
            "utf-8 array",
            {"content-type": "application/json; charset=utf-8"},
            lambda e: json.dumps(e, ensure_ascii=False),
        ),
        ("object", JSON, lambda events: json.dumps({"events": events})),
        ("lines", LINES, lambda events: "\n\n".join(map(json.dumps, events)) + "\r\n"),
    ],
)
def test_a_request_is_an_array_an_object_or_lines(
    http: HttpStore, name: str, headers: dict[str, str], encode: Any
) -> None:
    events = [mentioned(f"memo-{number}", owner=owner_in(number % 4, 4), key=name) for number in range(5)]
    first, again = (http.client.post("/v1/events", content=encode(events).encode(), headers=headers) for _ in range(2))
    assert first.status_code == again.status_code == 200, first.text
    checked(Appended, first.json())
    told = [(one["event_id"], one["status"], one["position"]) for one in again.json()["receipts"]]
    assert told == [(one["event_id"], "already_appended", one["position"]) for one in first.json()["receipts"]]
    assert [one["event_id"] for one in first.json()["receipts"]] == [one["event_id"] for one in events]
    assert (first.json()["appended"], again.json()["already_appended"]) == (5, 5)


def test_one_event_needs_no_list(http: HttpStore) -> None:
    alone = mentioned("single", key="single")
    answer = http.client.post("/v1/events", json=alone)
    assert (answer.status_code, statuses(answer.json())) == (200, ["appended"]), answer.text
    again = http.client.post(
        "/v1/events", content=json.dumps(alone | {"actor": "\ud800"}).encode(), headers=JSON
    ).json()
    assert (again["error"], again["problems"][0]["index"], again["problems"][0]["field"]) == (
        "InvalidBatch",
        0,
        "actor",
    )


def test_the_allowed_types_are_listed_once_for_a_request(http: HttpStore) -> None:
    told = http.client.post(
        "/v1/events", json=[mentioned("many") | {"type": f"Nothing{number}"} for number in range(3)]
    )
    problems = told.json()["problems"]
    assert [one["index"] for one in problems] == [0, 1, 2]
    assert told.text.count("MemoryReinforced") == 3  # in the sentence of the whole, and in the first problem twice
    assert {one["allowed"] for one in problems[1:]} == {"the same as of index 0"}
    assert all(one["got"] in one["message"] and one["message"].endswith("index 0") for one in problems[1:])


def test_an_event_is_stored_as_it_was_sent(http: HttpStore) -> None:
    raw = '{"importance": 1.50, "confidence": 1e-1, "content": "caf\\u00e9 \\ud83d\\ude00 \\"quoted\\"", '
    sent = json.dumps([created("as-sent", owner=HERE)]).replace('"content": "I drink coffee"', raw[1:-2])
    position = http.client.post("/v1/events", content=sent.encode(), headers=JSON).json()["receipts"][0]["position"]
    (stored,) = http.application.log.read_at(1, [int(position.split(":")[1])])
    data = orjson.loads(stored.body)["data"]
    assert (data["importance"], data["confidence"], data["content"]) == (1.5, 0.1, 'café 😀 "quoted"')


@each_row(
    ("body", "problems"),
    [
        (b'[{"type": "Nothing"}, 3]', [(0, "type"), (1, "event")]),
        (json.dumps([mentioned("x"), mentioned("a b")]).encode(), [(1, "data.memory_id")]),
        (json.dumps([created("x", "\ud800")]).encode(), [(0, "data.content")]),
        (json.dumps([created("x", importance=float("nan"))]).encode(), [(0, "data.importance")]),
        (json.dumps({"events": [created("x", importance=float("inf"))]}).encode(), [(0, "data.importance")]),
        (json.dumps([created("x", "CONTENT")]).encode().replace(b"CONTENT", b"\xff"), [(0, "event")]),
        (json.dumps([created("x") | {"further": 1}]).encode(), [(0, "further")]),
    ],
)
def test_a_request_is_validated_whole_and_each_bad_event_is_named(
    http: HttpStore, body: bytes, problems: list[tuple[int, str]]
) -> None:
    before = http.client.get("/v1/status").json()["events"]
    answer = http.client.post("/v1/events", content=body, headers=JSON)
    told = answer.json()
    assert (answer.status_code, told["error"]) == (422, "InvalidBatch"), answer.text
    assert [(one["index"], one["field"]) for one in told["problems"]] == problems
    assert http.client.get("/v1/status").json()["events"] == before


@each_row(
    ("body", "field"),
    [
        (b"", "body"),
        (b"3", "body"),
        (b'"text"', "body"),
        (b"[", "body"),
        (b"[{},]", "body"),
        (b"\xff", "body"),
        (b"[" * 100_000, "body"),
        (b'{"event": []}', "body"),
        (b'{"events": 3}', "body"),
        (b'{"events": [], "expected_heads": 3}', "expected_heads"),
        (b'{"events": [], "expected_heads": {"alice": "3"}}', "expected_heads.alice"),
        (b'{"events": [], "expected_heads": {"alice": -1}}', "expected_heads.alice"),
        (b'{"events": [], "expected_heads": {"alice": 1}}', "expected_heads"),
        (b'{"events": [{}], "events": []}', "body"),
        (b'{"\xffevents": []}', "body"),
        (b'{"events": [{"owner": "\xff"}], "expected_heads": {"alice": 1}}', "expected_heads"),
        (b'{"events": [], "\\u0065vents": []}', "body"),
        (b'{"events": [], "expected_heads": {"alice": 1}, "expected_heads": {}}', "body"),
        (b'{"events": [], "expected_heads": {"alice": 1, "alice": 2}}', "expected_heads"),
    ],
)
def test_a_body_that_is_no_request_is_refused(http: HttpStore, body: bytes, field: str) -> None:
    answer = http.client.post("/v1/events", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["field"]) == (422, field), answer.text


@each_row("as_lines", [False, True])
def test_an_event_with_a_name_twice_is_refused_by_its_index_and_nothing_is_written(
    http: HttpStore, as_lines: bool
) -> None:
    before = http.client.get("/v1/status").json()["events"]
    good, bad = (json.dumps(mentioned(name, owner="twice")) for name in ("g", "b"))
    bad = bad.replace('"owner":', '"owner": "somebody", "owner":')
    body = f"{good}\n{bad}\n" if as_lines else f"[{good}, {bad}]"
    kind = {"content-type": "application/x-ndjson"} if as_lines else JSON
    answer = http.client.post("/v1/events", content=body.encode(), headers=kind)
    (told,) = answer.json()["problems"]
    assert (answer.status_code, told["index"], told["field"]) == (422, 1, "owner")
    assert told["got"] == "the same name twice in one object"
    assert http.client.get("/v1/status").json()["events"] == before


@each_row("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
def test_a_body_of_another_type_is_refused(http: HttpStore, kind: str) -> None:
    answer = http.client.post("/v1/events", content=b"[]", headers={"content-type": kind})
    assert (answer.status_code, answer.json()["error"]) == (415, "UnsupportedMediaType")


def test_more_than_a_thousand_events_are_refused(http: HttpStore) -> None:
    answer = http.client.post("/v1/events", content=b"[" + b",".join([b"{}"] * 1_001) + b"]", headers=JSON)
    told = answer.json()
    assert (answer.status_code, told["error"], told["got"], told["allowed"]) == (413, "RequestTooLarge", 1_001, 1_000)


UNREADABLE = b', {"event_id": NaN}]'
"""What no strict reader takes, at the end of a list."""


@each_row("size", [1, 300], ids=["small", "over 64 KiB"])
def test_what_a_strict_reader_refuses_is_read_once_more_to_name_the_event(http: HttpStore, size: int) -> None:
    content = json.dumps([created(f"n{number}", "x" * 300) for number in range(size)]).encode()[:-1] + UNREADABLE
    answer = http.client.post("/v1/events", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["problems"][0]["index"]) == (422, size)


def test_a_body_too_large_to_be_read_once_more_is_refused_as_a_whole(
    http: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.dumps([created("n")]).encode()[:-1] + UNREADABLE
    monkeypatch.setattr(routes, "MOST_LENIENT", len(content) - 1)
    answer = http.client.post("/v1/events", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["field"]) == (422, "body")


def test_too_many_events_are_too_many_even_where_one_is_unreadable(http: HttpStore) -> None:
    content = b"[" + b",".join([b"{}"] * 1_000) + UNREADABLE
    answer = http.client.post("/v1/events", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["got"]) == (413, 1_001)


def test_a_body_is_read_by_a_thread_whatever_its_size(http: HttpStore, monkeypatch: pytest.MonkeyPatch) -> None:
    by: list[bool] = []

    def watched(body: bytes) -> routes.Batch:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            by.append(False)
        else:
            by.append(True)
        return read(body)

    read = routes.read_batch
    monkeypatch.setattr(routes, "read_batch", watched)
    for size in (1, 300):
        content = json.dumps([created(f"thread{number}", "x" * 300) for number in range(size)])
        assert http.client.post("/v1/events", content=content, headers=JSON).status_code == 200
    assert by == [False, False]


def test_a_body_of_more_values_than_events_could_have_is_refused_before_any_is_made(
    http: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "read_batch", None)
    answer = http.client.post("/v1/events", content=b"[" + b"1," * 2_000_000 + b"1]", headers=JSON)
    told = answer.json()
    assert (answer.status_code, told["error"], told["allowed"]) == (413, "RequestTooLarge", 500_000)


def test_a_request_written_in_part_says_so_for_each_event(http: HttpStore) -> None:
    http.append(mentioned("one", owner=HERE, key="part"))
    clash = mentioned("two", owner=HERE, key="part") | {
        "event_id": mentioned("one", owner=HERE, key="part")["event_id"]
    }
    answer = http.client.post("/v1/events", json=[clash, created("p", owner=THERE), mentioned("three", owner=HERE)])
    told = answer.json()
    assert answer.status_code == 207, answer.text
    assert statuses(told) == ["conflict", "appended", "not_written"]
    assert (told["appended"], told["not_written"]) == (1, 2)
    checked(Appended, told)


def test_a_request_of_which_nothing_is_written_is_a_conflict_with_its_receipts(http: HttpStore) -> None:
    http.append(mentioned("one", owner=HERE, key="none"))
    clash = mentioned("two", owner=HERE, key="none") | {
        "event_id": mentioned("one", owner=HERE, key="none")["event_id"]
    }
    answer = http.client.post("/v1/events", json=[clash])
    told = answer.json()
    assert (answer.status_code, told["error"], statuses(told)) == (409, "EventIdTaken", ["conflict"])
    assert answer.headers["content-type"] == "application/problem+json"


def test_an_owner_whose_head_moved_is_left_unwritten(http: HttpStore) -> None:
    owner = owner_in(3, 4)
    head = int(http.append(created("h", owner=owner))[0].split(":")[1])
    request = {"events": [mentioned("h", owner=owner)], "expected_heads": {owner: head - 1}}
    refused = http.client.post("/v1/events", json=request)
    assert (refused.status_code, statuses(refused.json())) == (409, ["head_mismatch"])
    assert refused.json()["receipts"][0]["position"] == f"3:{head}"
    written = http.client.post("/v1/events", json=request | {"expected_heads": {owner: head}})
    assert (written.status_code, statuses(written.json())) == (200, ["appended"])


def test_a_store_that_is_full_says_when_to_come_again(http: HttpStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object, **_options: object) -> None:
        raise StoreFull("Redis uses 86% of its maxmemory", retry_after=5)

    monkeypatch.setattr(type(http.application.log), "append", full)
    answer = http.client.post("/v1/events", json=[mentioned("m")])
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["retry_after"]) == (507, "5", 5)


def test_reading_waits_for_the_fold_and_refuses_what_cannot_come(http: HttpStore) -> None:
    owner = owner_in(0, 4)
    position = http.append(created("waited-for", owner=owner))[0]
    found = http.client.get(f"/v1/owners/{owner}/memories", params={"after": position})
    beyond = http.client.get(f"/v1/owners/{owner}/memories", params={"after": "0:999999"})
    assert [one["id"] for one in found.json()["memories"]] == ["waited-for"]
    assert (beyond.status_code, beyond.json()["error"]) == (409, "BeyondHead")


def test_a_position_that_nobody_folds_is_told_with_the_lag(tmp_path: Any) -> None:
    with http_store(tmp_path, worker=False) as idle:
        position = idle.append(created("m"), mentioned("m"))[-1]
        answer = idle.client.get("/v1/owners/alice/search", params={"query": "coffee", "after": position})
        assert (answer.status_code, answer.json()["error"], answer.json()["lag"]) == (504, "NotYetFolded", 2)
        assert sum(idle.client.get("/ready").json()["partitions"].values()) == 2


def test_a_quarantined_owner_is_listed_retried_and_freed_by_a_discard(http: HttpStore) -> None:
    owner = owner_in(2, 4, nth=1)
    good = http.told(owner, created("good", owner=owner))
    bad = mentioned("good", owner=owner)
    wire = http.store.wire()
    raw_id = bytes.fromhex(bad["event_id"].replace("-", ""))
    seq = append_unreadable(wire, http.store.identity.tags[2], owner, raw_id)
    wire.close()
    parked = http.append(mentioned("good", owner=owner, key="parked"))[0]
    there = f"/v1/dead/{owner}"
    waits = http.client.get(f"/v1/owners/{owner}/memories", params={"after": parked})
    assert (waits.status_code, waits.json()["error"]) == (409, "OwnerQuarantined")
    assert [one["owner"] for one in http.client.get("/v1/dead").json()["quarantined"]] == [owner]
    assert http.client.get(f"/v1/owners/{owner}/memories", params={"after": good}).status_code == 200
    shown = http.client.get(there).json()
    assert [one["position"] for one in shown["parked"]] == [f"2:{seq}", parked]
    retried = http.client.post(f"{there}/retry")
    assert (retried.status_code, retried.json()["freed"]) == (200, False), retried.text
    claimed = http.client.post(f"{there}/discard", json={"position": f"2:{seq}", "actor": "operator"})
    freed = http.client.post(f"{there}/discard", json={"position": f"2:{seq}", "reason": "not ours"})
    assert (freed.status_code, freed.json()["freed"]) == (200, True), freed.text
    assert http.client.get(there).status_code == 404
    assert http.client.get(f"/v1/owners/{owner}/memories/good").json()["mention_count"] == 2
    (said,) = http.store.log.read_at(2, [int(freed.json()["position"].split(":")[1])])
    assert (claimed.status_code, claimed.json()["field"]) == (422, "actor")
    assert (said.kind, json.loads(said.body)["actor"]) == ("EventDiscarded.1", "user"), (
        "nobody over HTTP is an operator"
    )


def test_the_event_types_are_told_as_json_schema(http: HttpStore) -> None:
    every, one = (http.client.get(path).json() for path in ("/v1/schema", "/v1/schema?event=MemoryCreated"))
    assert every["MemoryCreated"] == one
    assert set(event("MemoryCreated")) <= set(one["properties"])
