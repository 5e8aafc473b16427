"""Much at once: raw events with what became of each, many memories in few requests, and adding without a wait."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from engramlog import Conflict, InputError, Unreachable
from engramlog.writing import OF_MEMORY
from engramlog_server.api.operations.writing import ADD
from tests.given.client import Proxy, Service, connected, new_owner, owner_of, service
from tests.rows import each_row


@pytest.fixture
def memory(between: Proxy) -> Iterator[Any]:
    """A client of an owner of its own, through the proxy."""
    with connected("sync", between.url) as client:
        yield client.of(new_owner())


def creation(memory_id: str, **other: Any) -> dict[str, Any]:
    """An envelope as a producer writes it, without an id and an owner."""
    data = {"memory_id": memory_id, "content": f"Cup {memory_id}", "category": "fact", "kind": "fact", "source": "user"}
    return {
        "type": "MemoryCreated",
        "occurred_at": "2026-01-05T08:00:00Z",
        "actor": "user",
        "data": data | other.pop("data", {}),
    } | other


def test_events_are_appended_as_they_are_and_what_became_of_each_is_told(memory: Any) -> None:
    known = creation("a", event_id=str(uuid4()))
    first = memory.append([known])
    again = memory.append([known, creation("b")])
    assert [one.status for one in again.receipts] == ["already_appended", "appended"]
    assert (again.receipts[0].position, again.receipts[1].fsynced) == (first.receipts[0].position, True)
    assert memory.get("b", after=again.receipts[1].position).content == "Cup b"
    out = memory.append([known, creation("c"), known | {"data": known["data"] | {"content": "Another"}}])
    assert [one.status for one in out.receipts] == ["already_appended", "not_written", "conflict"]
    assert (out.appended, out.already_appended, out.not_written) == (0, 1, 2)
    assert out.receipts[2].occurred_at == "2026-01-05T08:00:00Z"


def test_one_owners_client_appends_for_that_owner(memory: Any, between: Proxy) -> None:
    done = memory.append([creation("a"), creation("b", owner=owner_of(memory))])
    assert [one.status for one in done.receipts] == ["appended"] * 2
    between.asked.clear()
    with pytest.raises(InputError) as refusal:
        memory.append([creation("a", owner="somebody-else")])
    assert (refusal.value.field, between.asked) == ("owner", [])


def test_a_client_of_nobody_appends_for_whoever_the_events_name(running: Service) -> None:
    one, other = new_owner(), new_owner()
    with connected("sync", running.url) as client:
        done = client.append([creation("a", owner=one), creation("a", owner=other)])
        with pytest.raises(InputError, match=r"events\[1\].owner"):
            client.append([creation("b"), creation("b", owner=other)], owner=one)
        last = client.append([creation("b")], owner=one)
        assert [one.status for one in done.receipts] == ["appended"] * 2
        assert client.get_all(owner=one, mode="review", after=last.receipts[0].position).total == 2
        assert client.get_all(owner=other, mode="review", after=done.receipts[1].position).total == 1


@each_row("events", ["text", b"bytes", {"type": "MemoryCreated"}, ["text"], [None], 7])
def test_what_is_no_list_of_envelopes_is_refused_before_anything_is_sent(
    memory: Any, between: Proxy, events: Any
) -> None:
    with pytest.raises(InputError, match=r"events(\[0\])?: got .*; allowed: "):
        memory.append(events)
    assert between.asked == []


def test_more_than_a_request_holds_goes_in_several_and_in_order(
    memory: Any, between: Proxy, running: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog.writing.MOST", 3)
    done = memory.append([creation(f"m{number}") for number in range(7)])
    assert [len(json.loads(body)) for body in between.posted()] == [3, 3, 1]
    places = [int(one.position.partition(":")[2]) for one in done.receipts]
    assert (done.appended, places) == (7, sorted(places))
    assert memory.get("m6", after=done.receipts[-1].position).content == "Cup m6"


def test_a_request_has_a_bound_in_bytes_too(memory: Any, between: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog.writing.MOST_BYTES", 1_000)
    memory.append([creation(f"m{number}", data={"content": "x" * 400}) for number in range(3)])
    assert [len(json.loads(body)) for body in between.posted()] == [1, 1, 1]


def test_the_refusal_of_a_later_request_names_the_event_and_what_is_written_before(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog.writing.MOST", 2)
    events = [creation(f"m{number}") for number in range(4)] + [creation("m5", data={"importance": 99})]
    with pytest.raises(InputError) as refusal:
        memory.append(events)
    context = refusal.value.context
    assert [one["index"] for one in context["problems"]] == [4]
    assert [one["status"] for one in context["receipts"]] == ["appended"] * 4
    assert "those before are written" in refusal.value.message


def test_where_no_event_is_written_at_all_it_is_a_conflict(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog.writing.MOST", 1)
    known = [creation(name, event_id=str(uuid4())) for name in ("a", "b")]
    memory.append(known)
    others = [one | {"data": one["data"] | {"content": "Another"}} for one in known]
    with pytest.raises(Conflict) as refusal:
        memory.append(others)
    assert [one["status"] for one in refusal.value.context["receipts"]] == ["conflict"] * 2
    done = memory.append([*others, creation("c")])
    assert [one.status for one in done.receipts] == ["conflict", "conflict", "appended"]


@pytest.mark.parametrize("fates", [["lose"], ["cut"], ["refuse"], [503, "lose", 429]], ids=str)
def test_events_whose_answer_is_lost_are_appended_once(
    memory: Any, between: Proxy, running: Service, fates: list[str | int]
) -> None:
    between.fates = list(fates)
    done = memory.append([creation("a"), creation("b")])
    assert (len(between.posted()), len(set(between.posted()))) == (len(fates) + 1, 1)
    assert memory.get_all(mode="review", after=done.receipts[-1].position).total == 2
    assert len(running.log(owner_of(memory))) == 2


def test_what_is_lost_for_good_tells_what_was_written_before(
    memory: Any, between: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog.writing.MOST", 1)
    between.fates = ["pass", *["refuse"] * 9]
    with pytest.raises(Unreachable, match="from number 1") as failure:
        memory.append([creation("a"), creation("b")])
    assert [one["status"] for one in failure.value.context["receipts"]] == ["appended"]


def test_expected_heads_are_for_one_request(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = owner_of(memory)
    first = memory.append([creation("a")], expected_heads={owner: 0})
    with pytest.raises(Conflict, match="head"):
        memory.append([creation("b")], expected_heads={owner: 0})
    head = int(first.receipts[0].position.partition(":")[2])
    assert memory.append([creation("b")], expected_heads={owner: head}).appended == 1
    monkeypatch.setattr("engramlog.writing.MOST", 1)
    with pytest.raises(InputError) as refusal:
        memory.append([creation("c"), creation("d")], expected_heads={owner: 0})
    assert refusal.value.field == "expected_heads"


def test_many_texts_are_remembered_in_one_request_and_found_at_once(memory: Any, between: Proxy) -> None:
    items = [
        "I drink coffee",
        {"content": "我每天早上喝茶", "memory_id": "茶", "tags": ["早上"], "category": "identity"},
    ]
    added = memory.add_many(items, project="home", session="s1")
    assert (len(between.posted()), added.ids[1], added.id) == (1, "茶", None)
    found = [memory.get(one) for one in added.ids]
    assert [(one.content, one.category, one.project, one.tags) for one in found] == [
        ("I drink coffee", "fact", "home", []),
        ("我每天早上喝茶", "identity", "home", ["早上"]),
    ]
    assert [(one.decision, one.memory) for one in added.changes] == [("create", one) for one in added.ids]
    assert [one.id for one in memory.search("早上喝什么", session="s1").results] == ["茶"]


def test_more_memories_than_a_request_holds_are_told_in_order(
    memory: Any, between: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog.writing.MOST", 2)
    added = memory.add_many([f"Cup number {number}" for number in range(5)])
    assert (len(between.posted()), len(added.event_ids), len(added.changes)) == (3, 5, 5)
    assert [memory.get(one).content for one in added.ids] == [f"Cup number {number}" for number in range(5)]


def test_the_refusal_of_a_later_thousand_tells_the_ids_and_receipts_of_those_before(
    memory: Any, between: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog.writing.MOST", 2)
    told = [{"content": f"Cup {name}", "memory_id": name} for name in "abc"] + [{"content": "I read", "importance": 99}]
    with pytest.raises(InputError, match="from number 2") as refusal:
        memory.add_many(told)
    context = refusal.value.context
    assert (context["ids"], [one["status"] for one in context["receipts"]]) == (["a", "b"], ["appended"] * 2)
    assert [one["index"] for one in context["problems"]] == [3]
    assert memory.get("b", after=context["receipts"][-1]["position"]).content == "Cup b"


def test_of_each_memory_of_many_all_may_be_told_that_add_takes_but_what_is_of_the_call() -> None:
    assert {one.name for one in ADD.question} - {"session", "actor", "key", "confirm", "event_id"} == OF_MEMORY


@pytest.mark.parametrize("other", [["Cup 0"], ["Cup 0", "Cup 1", "Cup 2", "Cup 3"], ["Cup 0", "Cup 1"] * 3, ["Cup 1"]])
def test_a_key_of_many_stands_for_all_of_them_so_that_fewer_or_more_are_refused_and_nothing_is_written(
    memory: Any, running: Service, monkeypatch: pytest.MonkeyPatch, other: list[str]
) -> None:
    monkeypatch.setattr("engramlog.writing.MOST", 2)
    memory.add_many(["Cup 0", "Cup 1", "Cup 2"], key="k")
    before = running.log(owner_of(memory))
    with pytest.raises(InputError) as refusal:
        memory.add_many(other, key="k")
    assert (refusal.value.field, running.log(owner_of(memory))) == ("key", before)
    assert len(memory.add_many(other, key="another").ids) == len(other)


def test_many_whose_first_call_was_cut_off_are_finished_by_the_second(
    memory: Any, between: Proxy, running: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog.writing.MOST", 2)
    between.fates = ["pass", *["refuse"] * 20]
    with pytest.raises(Unreachable):
        memory.add_many(["Cup 0", "Cup 1", "Cup 2"], key="k")
    between.fates = []
    assert len(memory.add_many(["Cup 0", "Cup 1", "Cup 2"], key="k").ids) == 3
    assert Counter(running.log(owner_of(memory)))["MemoryCreated", "create"] == 3


@each_row(
    ("items", "field"),
    [
        ([], "memories"),
        ("I drink coffee", "memories"),
        ({"content": "I drink coffee"}, "memories"),
        (["I read", 7], "memories[1]"),
        ([{"text": "I read"}], "memories[0]"),
        ([{"content": 7}], "memories[0]"),
        ([{"content": "I read", "catgory": "fact"}], "memories[0].catgory"),
    ],
    ids=str,
)
def test_what_is_no_memory_is_named_before_anything_is_sent(
    memory: Any, between: Proxy, items: Any, field: str
) -> None:
    with pytest.raises(InputError) as refusal:
        memory.add_many(items)
    assert (refusal.value.field, between.asked) == (field, [])


@each_row("what", ["a text", "messages", "many"])
def test_without_a_wait_it_answers_once_it_is_written_although_nobody_folds(
    what: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        service(tmp_path_factory.mktemp("unfolded"), worker=False) as alone,
        connected("sync", alone.url, owner="alice") as memory,
    ):
        added = {
            "a text": lambda: memory.add("I drink coffee", wait=False),
            "messages": lambda: memory.add([{"role": "user", "content": "I drink coffee"}], wait=False),
            "many": lambda: memory.add_many(["I drink coffee", "I drink tea"], wait=False),
        }[what]()
    assert (added.changes, added.position.partition(":")[1], len(added.ids) in (1, 2)) == ([], ":", True)


def test_a_conversation_of_which_one_message_changed_is_another_call_under_its_key(
    memory: Any, running: Service
) -> None:
    said = [{"role": "user", "content": "I drink coffee"}, {"role": "user", "content": "I drink tea"}]
    memory.add(said, key="k")
    with pytest.raises(InputError) as refusal:
        memory.add([said[0], {"role": "user", "content": "I drink cocoa"}], key="k")
    assert (refusal.value.field, len(running.log(owner_of(memory)))) == ("key", 2)
