"""Restoring many at once undoes a deletion of many: what it took comes back, and nothing that was deleted before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engramlog.answers import RestoredMany
from engramlog_server.api.services.deleting import Restorer
from engramlog_server.api.services.writing import Writer
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import partition_of
from tests.given.http import HttpStore, created
from tests.given.shaped import checked
from tests.rows import each_row


def made(http: HttpStore, owner: str, *ids: str, **fields: Any) -> None:
    http.told(owner, *(created(one, owner=owner, content=f"I like {one}", **fields) for one in ids))


def story(http: HttpStore, owner: str) -> None:
    """Two turns, a typed memory of each and one of both, and two memories told by themselves."""
    turns = [
        created(one, owner=owner, content=f"I like {one}", kind="episode", source_turns=[one]) for one in ("t1", "t2")
    ]
    typed = [created(f"of-{one}", owner=owner, content=f"Likes {one}", source_turns=[one]) for one in ("t1", "t2")]
    both = created("of-both", owner=owner, content="Likes t1 and t2", source_turns=["t1", "t2"])
    http.told(owner, *turns, *typed, both)
    made(http, owner, "a", "b")


def posted(http: HttpStore, owner: str, verb: str, ids: Sequence[str], status: int = 200, **told: Any) -> Any:
    answer = http.client.post(f"/v1/owners/{owner}/memories/{verb}", json={"ids": list(ids)} | told)
    assert answer.status_code == status, answer.text
    return answer.json()


def restored(http: HttpStore, owner: str, ids: Sequence[str], status: int = 200, **told: Any) -> Any:
    answer = posted(http, owner, "restore", ids, status, **told)
    if status < 400:
        checked(RestoredMany, answer)
    return answer


def statuses(http: HttpStore, owner: str) -> dict[str, str]:
    return {
        one["id"]: one["status"] for one in http.application.reader.list(owner, mode="debug", limit=1_000)["memories"]
    }


def head(http: HttpStore, owner: str) -> int:
    return http.application.log.head(partition_of(owner, http.application.log.partitions))


@each_row("earlier", [[], ["a"], ["t1"], ["of-t2"], ["t2", "b"]])
@each_row("ids", [["t1", "t2"], ["t1", "b"], ["t2", "of-t2", "a"], ["of-both", "t1"]])
def test_a_deletion_of_many_is_undone_with_one_call_and_no_other_is(
    http: HttpStore, earlier: list[str], ids: list[str]
) -> None:
    owner = f"undo-{'.'.join(earlier)}-{'.'.join(ids)}"
    story(http, owner)
    if earlier:
        posted(http, owner, "delete", earlier)
    before = statuses(http, owner)
    answer = http.client.post(f"/v1/owners/{owner}/memories/delete", json={"ids": ids}).json()
    took = {*answer["deleted"], *(one["id"] for one in answer["also"])}
    after = statuses(http, owner)
    assert {one for one in before if before[one] != after[one]} == took, "a deletion tells all that it took"
    if not answer["deleted"]:
        return
    back = restored(http, owner, answer["deleted"])
    assert statuses(http, owner) == before
    assert {*back["restored"], *(one["id"] for one in back["also"])} == took
    assert (back["skipped"], back["not_restored"]) == ([], [])


def test_what_stays_is_named_with_the_reason_and_207(http: HttpStore) -> None:
    made(http, "some", "a", "b")
    posted(http, "some", "delete", ["a"])
    answer = restored(http, "some", ["a", "b", "nowhere"], 207)
    assert answer["restored"] == ["a"]
    reasons = {one["id"]: one["reason"] for one in answer["skipped"]}
    assert reasons["b"] == "memory b is not deleted"
    assert "has no memory nowhere" in reasons["nowhere"]


def test_where_none_could_be_restored_it_is_refused_and_nothing_written(http: HttpStore) -> None:
    made(http, "none", "a")
    before = head(http, "none")
    assert restored(http, "none", ["x", "y"], 404)["skipped"][0]["id"] == "x"
    assert restored(http, "none", ["a"], 207)["restored"] == []
    assert head(http, "none") == before


def test_a_dry_run_tells_what_would_come_back_and_writes_nothing(http: HttpStore) -> None:
    story(http, "dry")
    posted(http, "dry", "delete", ["t1", "t2"])
    before = head(http, "dry")
    rehearsed = restored(http, "dry", ["t1", "t2"], dry_run=True)
    assert (rehearsed["dry_run"], head(http, "dry")) == (True, before)
    done = restored(http, "dry", ["t1", "t2"])
    assert {name: done[name] for name in ("restored", "also")} == {
        name: rehearsed[name] for name in ("restored", "also")
    }


class Failing(Writer):
    """A writer that reaches the store once."""

    times = 1

    def append_all(self, prepared: Sequence[Any]) -> list[AppendReceipt]:
        if self.times == 0:
            raise StoreUnavailable("no connection")
        self.times -= 1
        return super().append_all(prepared)


def test_what_a_lost_store_did_not_take_is_named_and_a_second_call_under_the_key_goes_on(http: HttpStore) -> None:
    ids = [f"e{number}" for number in range(1_200)]
    made(http, "half", *ids[:600])
    made(http, "half", *ids[600:])
    http.application.deleter.delete_many("half", ids)
    app = http.application
    failing = Failing(app.log, app.views, app.reader, app._catch_up)
    first = Restorer(app.log, app.reader, failing, app.views).restore_many("half", ids, key="k")
    assert (len(first.done), len(first.skipped), first.exit_code) == (1_000, 200, 3)
    assert first.error is not None
    second = app.restorer.restore_many("half", ids, key="k")
    assert (second.done, second.skipped, second.exit_code) == (ids, {}, 0)


@each_row(
    ("told", "field"),
    [
        ({"ids": []}, "ids"),
        ({"ids": ["a", "b c"]}, "memory_id"),
        ({}, "ids"),
        ({"ids": ["a"], "actor": "ghost"}, "actor"),
        ({"ids": ["a"], "occurred_at": "soon"}, "occurred_at"),
        ({"ids": ["a"], "key": ""}, "key"),
        ({"ids": ["a"], "core": True}, "core"),
    ],
)
def test_a_request_that_cannot_be_right_writes_nothing(http: HttpStore, told: dict[str, Any], field: str) -> None:
    made(http, "strict", "a")
    before = head(http, "strict")
    answer = http.client.post("/v1/owners/strict/memories/restore", json=told)
    assert (answer.status_code, answer.json()["field"], head(http, "strict")) == (422, field, before)


def test_more_than_a_thousand_in_one_request_are_refused(http: HttpStore) -> None:
    answer = http.client.post("/v1/owners/any/memories/restore", json={"ids": [f"m{one}" for one in range(1_001)]})
    assert answer.status_code == 413
