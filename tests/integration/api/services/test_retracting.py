"""What goes with a deletion and comes back with it, on a real store and over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from engramlog.answers import Removed, Restored
from engramlog_server.api.services.writing import Writer
from engramlog_server.events.catalogue import MemoryDeleted
from engramlog_server.events.envelope import decode, derived_id
from engramlog_server.events.errors import InputError
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.validation import read_event
from tests.acceptance.helpers.store import Store
from tests.given.http import HttpStore, created, event, http_store
from tests.given.shaped import checked
from tests.integration.api.services.test_deleting import Failing, deleted, deleter_with, head, made, status_of


def talk(http: HttpStore, owner: str, *typed: str, turn: str = "t1", **fields: Any) -> None:
    """A turn, and typed memories that were made of it."""
    made(http, owner, turn, kind="episode", source_turns=[turn])
    for start in range(0, len(typed), 900):
        made(http, owner, *typed[start : start + 900], source="judge", source_turns=[turn], **fields)


def also(answer: Any) -> list[str]:
    return [one["id"] for one in answer["also"]]


def causes_of(http: HttpStore, owner: str) -> dict[str, str | None]:
    """Memory -> what led to its deletion, as the log has it."""
    log = http.application.log
    stored = log.read(partition_of(owner, log.partitions), 0, head(http, owner))
    events = [decode(one.kind, one.body) for one in stored if one.owner == owner]
    return {one.data.memory_id: one.causation_id for one in events if isinstance(one.data, MemoryDeleted)}


def test_what_goes_with_a_deletion_names_it_as_its_cause_and_is_of_the_same_request(http: HttpStore) -> None:
    talk(http, "talk", "a", "b")
    before = head(http, "talk")
    answer = http.client.post("/v1/owners/talk/memories/t1/delete").json()
    checked(Removed, answer)
    assert (also(answer), head(http, "talk")) == (["a", "b"], before + 4)
    event_id = answer["changes"][0]["event_id"]
    assert causes_of(http, "talk") == {"t1": None, "a": event_id, "b": event_id}
    assert [status_of(http, "talk", one) for one in ("t1", "a", "b")] == ["deleted"] * 3


def test_restoring_brings_back_what_went_along_and_not_what_somebody_deleted_by_itself(http: HttpStore) -> None:
    talk(http, "back", "a", "b")
    deleted(http, "back", ["a"])
    assert also(deleted(http, "back", ["t1"])) == ["b"]
    answer = http.client.post("/v1/owners/back/memories/t1/restore").json()
    checked(Restored, answer)
    assert (also(answer), answer["not_restored"]) == (["b"], [])
    assert [status_of(http, "back", one) for one in ("t1", "a", "b")] == ["live", "deleted", "live"]


def test_what_one_deletion_takes_along_is_never_parted_between_requests(http: HttpStore) -> None:
    for number in range(3):
        talk(http, "whole", *(f"m{number}-{one}" for one in range(400)), turn=f"t{number}")
    requests: list[int] = []

    class Counting(Writer):
        def append_all(self, prepared: Sequence[Any]) -> list[AppendReceipt]:
            requests.append(len(prepared))
            return super().append_all(prepared)

    answer = deleter_with(http, Counting).delete_many("whole", ["t0", "t1", "t2"])
    assert (requests, len(answer.also), answer.exit_code) == ([802, 401], 1_200, 0)


def test_where_the_store_fails_between_two_requests_nothing_is_half_deleted(http: HttpStore) -> None:
    for number in range(3):
        talk(http, "torn", *(f"m{number}-{one}" for one in range(400)), turn=f"t{number}")
    answer = deleter_with(http, Failing).delete_many("torn", ["t0", "t1", "t2"])
    assert (answer.done, list(answer.skipped), len(answer.also)) == (["t0", "t1"], ["t2"], 800)
    assert [status_of(http, "torn", one) for one in ("m1-399", "t2", "m2-0")] == ["deleted", "live", "live"]


def test_a_deletion_that_no_request_holds_is_refused_by_name(http: HttpStore) -> None:
    talk(http, "huge", *(f"m{one}" for one in range(1_000)))
    answer = deleted(http, "huge", ["t1"], 207)
    assert (answer["deleted"], "1,000 memories would go with it" in answer["skipped"][0]["reason"]) == ([], True)
    assert status_of(http, "huge", "m0") == "live"


class Late(Writer):
    """A writer before whom a job always comes, which made a memory of the turn meanwhile."""

    def append_all(self, prepared: Sequence[Any]) -> list[AppendReceipt]:
        fields = {"kind": "fact", "source": "judge", "category": "fact", "content": "late", "source_turns": ["t1"]}
        raw = orjson.dumps(event("MemoryCreated", owner=prepared[0].owner, memory_id="late", **fields))
        return super().append_all([read_event(raw, now=self._log.now()), *prepared])[1:]


def test_what_was_made_of_a_turn_while_it_was_deleted_goes_too(http: HttpStore) -> None:
    talk(http, "late", "a")
    answer = deleter_with(http, Late).delete_many("late", ["t1"])
    assert list(answer.also) == ["a", "late"]
    assert causes_of(http, "late")["late"] == causes_of(http, "late")["a"] is not None


def test_a_deletion_and_a_restoration_sent_again_under_their_ids_change_nothing(http: HttpStore) -> None:
    talk(http, "again", "a")
    first, second = (derived_id("again", str(number)) for number in range(2))
    delete = [http.client.post("/v1/owners/again/memories/t1/delete", json={"event_id": first}).json() for _ in "12"]
    restore = [http.client.post("/v1/owners/again/memories/t1/restore", json={"event_id": second}).json() for _ in "12"]
    for once, again in (delete, restore):
        assert (once["changes"], also(once), once["position"]) == (again["changes"], also(again), again["position"])
    assert head(http, "again") == int(restore[0]["position"].partition(":")[2])


def test_an_id_of_a_deletion_stands_for_one_memory(http: HttpStore) -> None:
    with pytest.raises(InputError, match="nothing together with a key or several ids"):
        http.application.deleter.delete_many("several", ["a", "b"], event_id=derived_id("several"))


def test_of_a_quarantined_owner_what_goes_along_waits_with_it(tmp_path: Path) -> None:
    with http_store(tmp_path, worker=False) as http:
        turn = created("t1", kind="episode", source_turns=["t1"])
        typed = created("a", source="judge", source_turns=["t1"])
        http.application.writer.settle(http.application.writer.append([orjson.dumps(one) for one in (turn, typed)]))
        Store(http.application).poison("alice")
        answer = deleted(http, "alice", ["t1"], 207)
        assert (answer["waiting"], also(answer)) == (["t1"], ["a"])
