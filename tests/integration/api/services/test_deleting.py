"""Deleting many memories at once: the service on a real store, and its HTTP face."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from engramlog_server.api.services.deleting import Deleter
from engramlog_server.api.services.writing import Writer
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import partition_of
from tests.acceptance.helpers.store import Store
from tests.given.http import HttpStore, created, http_store
from tests.rows import each_row


def made(http: HttpStore, owner: str, *ids: str, **fields: Any) -> None:
    """Memories of these ids, folded."""
    http.told(owner, *(created(one, owner=owner, **fields) for one in ids))


def deleted(http: HttpStore, owner: str, ids: Sequence[str], status: int = 200, **told: Any) -> Any:
    answer = http.client.post(f"/v1/owners/{owner}/memories/delete", json={"ids": list(ids)} | told)
    assert answer.status_code == status, answer.text
    return answer.json()


def head(http: HttpStore, owner: str) -> int:
    return http.application.log.head(partition_of(owner, http.application.log.partitions))


def status_of(http: HttpStore, owner: str, memory_id: str) -> str:
    return str(http.application.reader.get(owner, memory_id, trace=False)["status"])


def test_what_stays_is_named_with_the_reason_and_207(http: HttpStore) -> None:
    made(http, "some", "a")
    made(http, "some", "name")
    http.always_holds("some", "name")
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


@each_row(
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


def test_more_than_a_thousand_ids_go_in_several_requests_and_are_told_as_they_go(http: HttpStore) -> None:
    ids = [f"e{number}" for number in range(1_400)]
    made(http, "crowd", *ids[:700])
    made(http, "crowd", *ids[700:])
    told: list[tuple[int, int]] = []
    answer = http.application.deleter.delete_many("crowd", ids, on_progress=lambda *one: told.append(one))
    assert (answer.done, answer.exit_code) == (ids, 0)
    assert told == [(1_000, 1_400), (1_400, 1_400)]


class Failing(Writer):
    """A writer that reaches the store so many times."""

    times = 1

    def append_all(self, prepared: Sequence[Any]) -> list[AppendReceipt]:
        if self.times == 0:
            raise StoreUnavailable("no connection")
        self.times -= 1
        return super().append_all(prepared)


def deleter_with(http: HttpStore, kind: type[Writer]) -> Deleter:
    plain = http.application
    return Deleter(
        plain.log, plain.reader, kind(plain.log, plain.views, plain.reader, plain.writer._catch_up), plain.views
    )


def test_where_the_store_fails_half_way_what_was_deleted_is_said_and_the_rest_named(http: HttpStore) -> None:
    ids = [f"e{number}" for number in range(1_100)]
    made(http, "half", *ids[:1_000])
    made(http, "half", *ids[1_000:])
    deleter = deleter_with(http, Failing)
    answer = deleter.delete_many("half", ids)
    assert (answer.done, answer.exit_code, len(answer.skipped)) == (ids[:1_000], 3, 100)
    assert answer.skipped[ids[-1]] == "not written: no connection"
    assert answer.as_dict()["error"]["error"] == "StoreUnavailable"
    with pytest.raises(StoreUnavailable):
        deleter.delete_many("half", ids[1_000:])


def test_of_a_quarantined_owner_deletions_are_written_and_wait(tmp_path: Path) -> None:
    with http_store(tmp_path, worker=False) as http:
        http.application.writer.settle(http.application.writer.append([orjson.dumps(created("a"))]))
        stuck = Store(http.application).poison("alice")
        answer = deleted(http, "alice", ["a"], 207)
        assert (answer["deleted"], answer["waiting"], answer["quarantined"]["position"]) == ([], ["a"], stuck)
        assert http.application.deleter.delete_many("alice", ["a"]).exit_code == 3
