"""The LangGraph store interface, against the running service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog import AsyncMemory, InputError, Memory
from tests.given.client import Service, new_owner
from tests.rows import each_row

pytest.importorskip("langgraph.store.base", reason="langgraph-checkpoint is not installed")

from langgraph.store.base import PutOp

from engramlog.langgraph import EngramlogStore, Layout, matches


@pytest.fixture
def memory(running: Service) -> Iterator[Memory]:
    with Memory(running.url) as client:
        yield client


@pytest.fixture
def owner() -> str:
    return new_owner()


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


@pytest.mark.parametrize(
    "value",
    [
        {"text": "Likes green tea"},
        {"text": '{"a": 1}'},
        {"text": "  "},
        {"text": "Likes tea", "rank": 3},
        {"kind": "Memory", "content": {"喜欢": ["茶", None, 1.5]}},
        {},
    ],
    ids=str,
)
def test_a_value_comes_back_as_it_was_put(memory: Memory, owner: str, value: dict[str, Any]) -> None:
    store, namespace = EngramlogStore(memory), (owner, "notes", "偏好")
    store.put(namespace, "a key/with+signs", value)
    item = store.get(namespace, "a key/with+signs")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (value, "a key/with+signs", namespace)


def test_what_is_put_again_is_replaced_and_what_is_deleted_is_gone_until_put_again(memory: Memory, owner: str) -> None:
    store, namespace, told = EngramlogStore(memory), (owner, "notes"), []
    for value in ({"text": "tea"}, {"text": "coffee"}, None, None, {"text": "milk"}, {"text": "milk"}):
        store.batch([PutOp(namespace, "drink", value)])
        item = store.get(namespace, "drink")
        told.append(None if item is None else item.value["text"])
    decided = [one.decision for one in memory.history("notes/drink", owner=owner).changes]
    assert told == ["tea", "coffee", None, None, "milk", "milk"]
    assert decided == ["create", "revise", "delete", "restore", "revise"]


def test_what_was_never_put_is_none(memory: Memory, owner: str) -> None:
    assert EngramlogStore(memory).get((owner, "notes"), "tea") is None


def test_a_search_stays_within_the_namespace_and_goes_by_meaningful_words(memory: Memory, owner: str) -> None:
    store = EngramlogStore(memory)
    store.put((owner, "notes"), "tea", {"text": "Drinks green tea"})
    store.put((owner, "notes", "old"), "tea", {"text": "Drank black tea"})
    store.put((owner, "plans"), "tea", {"text": "Buy tea"})
    store.put((owner, "notes"), "run", {"text": "Runs at six"})
    store.put((f"{owner}2", "notes"), "other", {"text": "Drinks tea too"})
    assert keys(store.search((owner, "notes"), query="tea")) == ["tea", "tea", "run"]
    assert keys(store.search((owner,), query="tea", limit=3)) == ["tea", "tea", "tea"]
    assert [item.score is None for item in store.search((owner,), query="tea")] == [False, False, False, True]
    assert keys(store.search((owner, "notes"), limit=10)) == ["tea", "tea", "run"]
    assert keys(store.search((owner, "notes"), limit=1, offset=2)) == ["run"]


def test_a_search_filters_by_values(memory: Memory, owner: str) -> None:
    store = EngramlogStore(memory)
    for rank in range(4):
        store.put((owner,), f"k{rank}", {"text": "a cup", "rank": rank})
    found = store.search((owner,), query="cup", filter={"rank": {"$gte": 1, "$lt": 3}})
    assert sorted(keys(found)) == ["k1", "k2"]
    assert keys(store.search((owner,), filter={"rank": 3})) == ["k3"]


def test_what_others_taught_the_owner_is_found_too(memory: Memory, owner: str) -> None:
    added = memory.add("Drinks green tea", owner=owner).id
    found = EngramlogStore(memory).search((owner,), query="tea")
    assert [(item.key, item.value, item.score is not None) for item in found] == [
        (added, {"text": "Drinks green tea"}, True)
    ]


def test_namespaces_are_listed_for_one_owner(memory: Memory, owner: str) -> None:
    store = EngramlogStore(memory)
    for labels in (("a", "b"), ("a", "c"), ("d",)):
        store.put((owner, *labels), "k", {"text": "x y"})
    assert store.list_namespaces(prefix=(owner,)) == [(owner, "a", "b"), (owner, "a", "c"), (owner, "d")]
    assert store.list_namespaces(prefix=(owner,), max_depth=2) == [(owner, "a"), (owner, "d")]
    assert store.list_namespaces(prefix=(owner, "*"), suffix=("c",)) == [(owner, "a", "c")]


def test_the_owner_may_stand_elsewhere_in_the_namespace(memory: Memory, owner: str) -> None:
    store = EngramlogStore(memory, owner_at=1)
    memory.add("Drinks black tea", owner=owner)
    store.put(("memories", owner), "tea", {"text": "Drinks green tea"})
    assert keys(store.search(("memories", owner), query="tea")) == ["tea"]
    assert memory.get("memories/tea", owner=owner).content == "Drinks green tea"


def test_nothing_reaches_across_owners(memory: Memory, owner: str) -> None:
    store = EngramlogStore(memory, owner_at=1)
    with pytest.raises(InputError, match="names the owner"):
        store.search(("memories",), query="tea")
    with pytest.raises(InputError, match="names the owner"):
        store.list_namespaces()
    with pytest.raises(InputError, match="whose memories these are"):
        EngramlogStore(memory.of(owner)).get(("somebody-else",), "tea")


@pytest.mark.parametrize("with_client", [True, False])
def test_awaited_operations_do_the_same(memory: Memory, running: Service, owner: str, with_client: bool) -> None:
    async def story() -> Any:
        async with AsyncMemory(running.url) as asynchronous:
            store = EngramlogStore(memory, asynchronous=asynchronous if with_client else None)
            await store.aput((owner,), "tea", {"text": "Drinks green tea"})
            return await store.asearch((owner,), query="tea")

    assert keys(asyncio.run(story())) == ["tea"]


LABEL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=".\x00"), min_size=1, max_size=8)


@given(st.lists(LABEL, min_size=1, max_size=4), LABEL, st.integers(0, 3))
def test_namespace_and_key_can_be_read_back_from_a_memorys_id(labels: list[str], key: str, owner_at: int) -> None:
    layout, namespace = Layout(owner_at % len(labels), "text"), tuple(labels)
    owner = layout.owner(namespace, "namespace") if namespace[layout.owner_at] != "*" else "*"
    assert layout.place(owner, layout.memory_id(namespace, key)) == (namespace, key)


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))


@given(st.dictionaries(st.sampled_from(["text", "b"]), VALUES))
def test_a_value_can_be_read_back_from_its_content(value: dict[str, Any]) -> None:
    layout = Layout(0, "text")
    assert layout.value(layout.content(value)) == value


@each_row(
    ("value", "asked", "fits"),
    [
        (1, 1, True),
        (1, {"$ne": 1}, False),
        (None, {"$gt": 1}, False),
        ("a", {"$gt": 1}, False),
        (2, {"$gt": 1, "$lte": 2}, True),
        ({"a": {"b": 2}}, {"a": {"b": {"$gte": 2}}}, True),
        ("a", {"a": 1}, False),
        ([1, 2], [1, 2], True),
    ],
)
def test_filters_compare(value: Any, asked: Any, fits: bool) -> None:
    assert matches(value, asked) is fits


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(InputError, match=r"\$like"):
        matches("a", {"$like": "b"})
