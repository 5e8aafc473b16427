"""Older records in, memories out, and many deleted: the service on a real store, and its HTTP face."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from api.deleting import Deleter
from api.http.shapes import DeletedMany, RecordsImported
from api.writing import Writer
from events.errors import StoreUnavailable
from events.log import Receipt
from events.partitions import partition_of
from tests.acceptance.helpers.store import Store
from tests.given_http import HttpStore, created, event, http_store
from tests.given_records import ENTRY, OURS, ROW

LINES = {"content-type": "application/x-ndjson"}
SECRET_TEXT = "my password is hunter2-Xq9!"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """One store for all; every test takes an owner of its own."""
    with http_store(tmp_path_factory.mktemp("records")) as opened:
        yield opened


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


def status_of(http: HttpStore, owner: str, memory_id: str) -> str:
    return str(http.application.reader.get(owner, memory_id, trace=False)["status"])


def head(http: HttpStore, owner: str) -> int:
    return http.application.log.head(partition_of(owner, http.application.log.partitions))


# --- import ---------------------------------------------------------------------------------------------------------


def test_a_list_of_records_of_any_shape_goes_in_and_a_second_time_nothing(http: HttpStore) -> None:
    records = [OURS | {"memory_id": "ours"}, ENTRY | {"id": "entry"}, ROW | {"id": "row"}]
    first = posted(http, "shapes", records)
    assert not RecordsImported.model_validate(first).model_extra
    assert (first["owner"], first["appended"]) == ("shapes", 3)
    assert first["shapes"] == {"engramlog": 1, "ebbinghaus": 1, "consolidating": 1}
    assert http.application.reader.get("shapes", "row", trace=False)["access_count"] == 9
    second = posted(http, "shapes", records)
    assert (second["appended"], second["already_appended"]) == (0, 3)


def test_records_go_in_as_lines_too(http: HttpStore) -> None:
    body = b"\n".join([orjson.dumps(ENTRY), b"", orjson.dumps(ENTRY | {"id": "n"}), b""])
    answer = http.client.post("/v1/owners/lines/import/records", content=body, headers=LINES)
    assert (answer.status_code, answer.json()["appended"]) == (200, 2)


def test_of_a_request_with_a_bad_record_nothing_is_written(http: HttpStore) -> None:
    before = head(http, "whole")
    told = posted(http, "whole", [ENTRY, ENTRY | {"id": "n", "accessCount": "5"}], 422)
    assert (told["line"], told["field"], told["got"]) == (2, "accessCount", '"5"')
    assert head(http, "whole") == before


def test_the_line_of_a_bad_record_among_lines_counts_blank_ones(http: HttpStore) -> None:
    body = b"\n".join([orjson.dumps(ENTRY), b"", b"nonsense"])
    answer = http.client.post("/v1/owners/whole/import/records", content=body, headers=LINES)
    assert (answer.status_code, answer.json()["line"]) == (422, 3)


def test_a_shape_and_a_zone_may_be_named(http: HttpStore) -> None:
    naive = ENTRY | {"createdAt": "2024-01-01T08:00:00"}
    assert "--assume-utc" in posted(http, "zones", [naive], 422)["detail"]
    posted(http, "zones", [naive], assume_utc=True)
    assert posted(http, "zones", [naive], 422, shape="round")["field"] == "shape"


def test_a_thousand_records_are_taken_and_one_more_is_too_many(http: HttpStore) -> None:
    assert posted(http, "thousand", entries(1_000))["appended"] == 1_000
    told = posted(http, "thousand", entries(1_001), 413)
    assert (told["error"], told["got"], told["allowed"]) == ("RequestTooLarge", 1_001, 1_000)


@pytest.mark.parametrize("body", [b"{}", b"[", b"nonsense", b'"x"', b""])
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


def test_an_id_that_the_owner_uses_already_is_told_even_where_another_record_names_it(http: HttpStore) -> None:
    made(http, "taken", "m")
    naming = ENTRY | {"id": "n", "associations": [{"targetId": "later", "weight": 0.5}, {"targetId": "m", "weight": 1}]}
    answer = posted(http, "taken", [ENTRY, naming, ENTRY | {"id": "later"}], 207)
    assert (answer["appended"], answer["ids_taken"]) == (3, ["m"])


# --- export ---------------------------------------------------------------------------------------------------------


def exported(http: HttpStore, owner: str, **asked: Any) -> list[dict[str, Any]]:
    answer = http.client.get(f"/v1/owners/{quote(owner, safe='')}/export", params=asked)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


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
    more = exported(http, "out", include=["deleted"], reveal=True)
    assert [one["memory_id"] for one in more] == ["a", "b", "gone", "s"]


def test_what_is_exported_goes_in_again_for_another_owner(http: HttpStore) -> None:
    posted(http, "from/源", [ROW | {"id": f"r{number}"} for number in range(450)])
    body = http.client.get(f"/v1/owners/{quote('from/源', safe='')}/export").content
    assert http.client.post("/v1/owners/to/import/records", content=body, headers=LINES).status_code == 200
    assert http.client.get("/v1/owners/to/export").content == body
    assert len(body.splitlines()) == 450


def test_an_export_may_be_a_text(http: HttpStore) -> None:
    made(http, "text", "a", content="我喜欢拉面")
    answer = http.client.get("/v1/owners/text/export", params={"format": "text"})
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.text.startswith("# Memories of text\n\n1 memory at ")
    assert "> 我喜欢拉面" in answer.text


def test_an_export_leaves_no_trace(http: HttpStore) -> None:
    made(http, "quiet", "a")
    before = head(http, "quiet")
    for form in ("jsonl", "text"):
        assert http.client.get("/v1/owners/quiet/export", params={"format": form}).status_code == 200
    http.application.accesses.flush()
    assert head(http, "quiet") == before


@pytest.mark.parametrize(
    ("asked", "status", "field"),
    [
        ({"format": "xml"}, 422, "format"),
        ({"include": "purged"}, 422, "include"),
        ({"asof": "3"}, 422, "asof"),
        ({"after": "soon"}, 422, "after"),
    ],
)
def test_an_export_of_what_cannot_be_is_refused(
    http: HttpStore, asked: dict[str, str], status: int, field: str
) -> None:
    answer = http.client.get("/v1/owners/out/export", params=asked)
    assert (answer.status_code, answer.json()["field"]) == (status, field)


def test_an_export_after_a_position_that_does_not_exist_is_refused(http: HttpStore) -> None:
    partition = partition_of("out", http.application.log.partitions)
    answer = http.client.get("/v1/owners/out/export", params={"after": f"{partition}:99999"})
    assert (answer.status_code, answer.json()["error"]) == (409, "BeyondHead")


def test_what_changes_while_an_export_is_read_is_not_in_it(http: HttpStore) -> None:
    from api.exporting import ExportOptions

    made(http, "while", "a", "b")
    records = http.application.records.export("while", ExportOptions()).records()
    first = next(records)
    deleted(http, "while", ["b"])
    assert [one["memory_id"] for one in (first, *records)] == ["a", "b"]


# --- delete many ----------------------------------------------------------------------------------------------------


def test_several_memories_are_deleted_in_one_request(http: HttpStore) -> None:
    made(http, "many", "a", "b", "c")
    before = head(http, "many")
    answer = deleted(http, "many", ["b", "a", "b"])
    assert not DeletedMany.model_validate(answer).model_extra
    assert (answer["owner"], answer["deleted"], answer["skipped"]) == ("many", ["b", "a"], [])
    assert (head(http, "many"), answer["position"].endswith(f":{before + 2}")) == (before + 2, True)
    assert [status_of(http, "many", one) for one in "abc"] == ["deleted", "deleted", "live"]


def test_what_stays_is_named_with_the_reason_and_207(http: HttpStore) -> None:
    made(http, "some", "a")
    made(http, "some", "name", tier="core")
    answer = deleted(http, "some", ["name", "nothing", "a"], 207)
    assert (answer["deleted"], [one["id"] for one in answer["skipped"]]) == (["a"], ["name", "nothing"])
    assert deleted(http, "some", ["a"], 207)["deleted"] == []
    assert deleted(http, "some", ["name"], 207)["skipped"][0]["reason"].endswith("are left alone")
    assert status_of(http, "some", "name") == "live"


def test_where_no_id_could_be_deleted_the_answer_is_a_problem_that_names_each(http: HttpStore) -> None:
    made(http, "none", "a", "b")
    http.client.post("/v1/owners/none/merge", json={"sources": ["a", "b"], "into": "both"})
    assert deleted(http, "none", ["x"], 404)["error"] == "NotFound"
    several = deleted(http, "none", ["x", "y"], 404)
    assert ([one["id"] for one in several["skipped"]], "and 1 more" in several["detail"]) == (["x", "y"], True)
    assert deleted(http, "none", ["a"], 422)["merged_into"] == "both"
    assert deleted(http, "none", ["a", "x"], 422)["error"] == "InputError"


def test_at_most_a_thousand_ids_are_taken_at_a_time(http: HttpStore) -> None:
    ids = [f"m{number}" for number in range(1_001)]
    assert deleted(http, "thousands", ids, 413)["detail"].startswith("a request of 1001 ids")


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"ids": []}, "ids"),
        ({"ids": ["a", "b c"]}, "memory_id"),
        ({"ids": "a,b"}, "ids"),
        ({}, "ids"),
        ({"ids": ["a"], "actor": "ghost"}, "actor"),
        ({"ids": ["a"], "occurred_at": "soon"}, "occurred_at"),
        ({"ids": ["a"], "why": "x"}, "why"),
    ],
)
def test_a_request_to_delete_that_cannot_be_right_writes_nothing(
    http: HttpStore, told: dict[str, Any], field: str
) -> None:
    made(http, "strict", "a")
    before = head(http, "strict")
    answer = http.client.post("/v1/owners/strict/memories/delete", json=told)
    assert (answer.status_code, answer.json()["field"], head(http, "strict")) == (422, field, before)


def test_a_memory_may_be_called_delete_and_be_deleted_by_itself(http: HttpStore) -> None:
    made(http, "odd", "delete")
    assert http.client.post("/v1/owners/odd/memories/delete/delete").status_code == 200
    assert status_of(http, "odd", "delete") == "deleted"


def test_more_than_a_thousand_ids_go_in_several_requests_and_are_told_as_they_go(http: HttpStore) -> None:
    for start in (0, 1_000):
        posted(http, "crowd", [ENTRY | {"id": f"e{start + number}"} for number in range(700)])
    ids = [f"e{start + number}" for start in (0, 1_000) for number in range(700)]
    told: list[tuple[int, int]] = []
    answer = http.application.deleter.delete_many("crowd", ids, on_progress=lambda *one: told.append(one))
    assert (answer.deleted, answer.exit_code) == (ids, 0)
    assert told == [(1_000, 1_400), (1_400, 1_400)]


class Failing(Writer):
    """A writer that reaches the store so many times."""

    times = 1

    def append_all(self, prepared: Sequence[Any]) -> list[Receipt]:
        if self.times == 0:
            raise StoreUnavailable("no connection")
        self.times -= 1
        return super().append_all(prepared)


class Beaten(Writer):
    """A writer before whom somebody else always comes to delete the memory `a`."""

    def append_all(self, prepared: Sequence[Any]) -> list[Receipt]:
        Writer.append_all(self, [prepared[0], *self.others(prepared[0].owner)][1:])
        return super().append_all(prepared)

    def others(self, owner: str) -> list[Any]:
        from events.door import read_event

        raw = orjson.dumps(event("MemoryDeleted", owner=owner, key="somebody else", memory_id="a"))
        return [read_event(raw, now=self._log.now())]


@contextmanager
def deleter_with(http: HttpStore, kind: type[Writer]) -> Iterator[Deleter]:
    plain = http.application
    yield Deleter(plain.reader, kind(plain.log, plain.views, plain.reader, plain.writer._catch_up))


def test_where_the_store_fails_half_way_what_was_deleted_is_said_and_the_rest_named(http: HttpStore) -> None:
    posted(http, "half", entries(700))
    posted(http, "half", [ENTRY | {"id": f"f{number}"} for number in range(400)])
    ids = [f"e{number}" for number in range(700)] + [f"f{number}" for number in range(400)]
    with deleter_with(http, Failing) as deleter:
        answer = deleter.delete_many("half", ids)
        assert (answer.deleted, answer.exit_code, len(answer.skipped)) == (ids[:1_000], 3, 100)
        assert answer.skipped[ids[-1]] == "not written: no connection"
        assert answer.as_dict()["error"]["error"] == "StoreUnavailable"
        with pytest.raises(StoreUnavailable):
            deleter.delete_many("half", ids[1_000:])


def test_what_somebody_else_deleted_meanwhile_is_named(http: HttpStore) -> None:
    made(http, "race", "a", "b")
    with deleter_with(http, Beaten) as deleter:
        answer = deleter.delete_many("race", ["a", "b"])
    assert (answer.deleted, answer.skipped, answer.exit_code) == (["b"], {"a": "deleted already"}, 3)


def test_of_a_quarantined_owner_deletions_wait_and_an_export_says_how_far_it_goes(tmp_path: Path) -> None:
    with http_store(tmp_path, worker=False) as http:
        store = Store(http.application)
        http.application.writer.settle(http.application.writer.append([orjson.dumps(created("a"))]))
        stuck = store.poison("alice")
        answer = deleted(http, "alice", ["a"], 207)
        assert (answer["deleted"], answer["waiting"], answer["quarantined"]["position"]) == ([], ["a"], stuck)
        told = http.client.get("/v1/owners/alice/export")
        assert (told.headers["engramlog-quarantined"], len(told.text.splitlines())) == (stuck, 1)
        assert posted(http, "alice", [ENTRY], 207)["quarantined"]["position"] == stuck
