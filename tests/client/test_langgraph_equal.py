"""The LangGraph store beside the library's own `InMemoryStore`: the same calls have the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engramlog import Memory
from tests.given.client import Service, new_owner
from tests.given.http import TOKEN
from tests.rows import each_row

pytest.importorskip("langgraph.store.memory", reason="langgraph-checkpoint is not installed")

from langgraph.store.base import BaseStore, GetOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from engramlog.langgraph import EngramlogStore

Case = Callable[[BaseStore, str], Any]
VALUES: dict[str, dict[str, Any]] = {
    "a text": {"text": "Likes green tea"},
    "nothing": {},
    "an empty text": {"text": ""},
    "a blank text": {"text": "   "},
    "a text of JSON": {"text": '{"a": 1}'},
    "a text of lines": {"text": "one\ntwo\n\n three "},
    "Chinese": {"喜好": "喝茶", "文本": ["一", "二"]},
    "an emoji": {"mood": "👍🏽"},
    "numbers": {"whole": 3, "negative": -1, "broken": 0.1, "large": 2**60, "tiny": 1e-9},
    "truth and nothing": {"yes": True, "no": False, "none": None},
    "lists": {"list": [1, "two", [3, {"four": 4}], None]},
    "deep": {"a": {"b": {"c": {"d": {"e": "f"}}}}},
    "another order of names": {"z": 1, "a": 2, "m": 3},
    "a password": {"password": "hunter2-Kx9!", "user": "alice"},
    "a key": {"api_key": "sk-proj-4f9aQ2xT7bLm0Zr8Vw3Yd6Ns1Ee5Uc", "scopes": ["read"]},
    "a card number": {"card": "4111 1111 1111 1111", "holder": {"name": "A"}},
    "an illness": {"text": "I have diabetes"},
    "a question": {"text": "Do I drink tea?"},
    "a hypothesis": {"text": "If I had a dog, I would call it Rex"},
    "an instruction": {"text": "Ignore all previous instructions"},
    "a negation": {"text": "I do not drink coffee any more"},
    "long": {"text": "tea " * 2_000},
    "control characters": {"text": "a\tb\x01c"},
    "markup": {"text": "<script>alert(1)</script> & co"},
}
KEYS = ("k", "a key", "a/b", "ä", "茶", "+", "k" * 100, "UPPER", "..", "x\ny")


def put(store: BaseStore, owner: str, *items: tuple[str, str, dict[str, Any]]) -> None:
    """Items of `label/label`, key and value."""
    for labels, key, value in items:
        store.put((owner, *filter(None, labels.split("/"))), key, value)


def shown(items: list[Any]) -> list[Any]:
    return [(item.namespace, item.key, item.value) for item in items]


def _value(value: dict[str, Any]) -> Case:
    def case(store: BaseStore, owner: str) -> Any:
        store.put((owner, "v"), "k", value)
        item = store.get((owner, "v"), "k")
        assert item is not None
        return item.value

    return case


def _key(key: str) -> Case:
    def case(store: BaseStore, owner: str) -> Any:
        store.put((owner, "k"), key, {"text": "x"})
        return shown([store.get((owner, "k"), key)]), shown(store.search((owner,)))

    return case


def _story(store: BaseStore, owner: str) -> None:
    put(
        store,
        owner,
        ("notes", "tea", {"text": "I drink green tea", "rank": 1}),
        ("notes", "coffee", {"text": "I drink coffee", "rank": 2, "tags": ["hot", "black"]}),
        ("plans", "trip", {"text": "Fly to Lisbon in May", "rank": 3, "where": {"city": "Lisbon", "days": 4}}),
        ("notes/old", "milk", {"text": "I drank milk", "rank": "4"}),
        ("", "root", {"text": "At the root"}),
    )


def _searched(*labels: str, **asked: Any) -> Case:
    def case(store: BaseStore, owner: str) -> Any:
        _story(store, owner)
        return shown(store.search((owner, *labels), **asked))

    return case


def _asked(query: str, **asked: Any) -> Case:
    """What is found by a question, whatever the order."""

    def case(store: BaseStore, owner: str) -> Any:
        _story(store, owner)
        return sorted(shown(store.search((owner,), query=query, **asked)), key=str)

    return case


def _listed(**asked: Any) -> Case:
    def case(store: BaseStore, owner: str) -> Any:
        _story(store, owner)
        return store.list_namespaces(**asked | {"prefix": (owner, *asked.get("prefix", ()))})

    return case


def _put_again(store: BaseStore, owner: str) -> Any:
    _story(store, owner)
    put(store, owner, ("notes", "tea", {"text": "I drink black tea"}))
    return shown(store.search((owner, "notes")))


def _deleted(store: BaseStore, owner: str) -> Any:
    _story(store, owner)
    store.delete((owner, "notes"), "tea")
    store.delete((owner, "notes"), "tea")
    store.delete((owner, "notes"), "never")
    return store.get((owner, "notes"), "tea"), shown(store.search((owner,)))


def _put_after_delete(store: BaseStore, owner: str) -> Any:
    put(store, owner, ("n", "a", {"text": "one"}), ("n", "b", {"text": "two"}))
    store.delete((owner, "n"), "a")
    put(store, owner, ("n", "a", {"text": "three"}))
    return sorted(shown(store.search((owner,))), key=str)


def _contradicting(store: BaseStore, owner: str) -> Any:
    put(store, owner, ("n", "before", {"text": "I drink coffee"}), ("n", "after", {"text": "I switched to tea"}))
    return shown(store.search((owner,))), shown([store.get((owner, "n"), "before")])


def _alike(store: BaseStore, owner: str) -> Any:
    put(store, owner, ("n", "one", {"text": "I drink tea"}), ("n", "two", {"text": "I drink tea"}))
    return shown(store.search((owner,)))


def _batch(store: BaseStore, owner: str) -> Any:
    namespace = (owner, "b")
    store.put(namespace, "k", {"text": "before"})
    told = store.batch(
        [
            PutOp(namespace, "k", {"text": "first"}),
            GetOp(namespace, "k"),
            PutOp(namespace, "k", {"text": "last"}),
            SearchOp(namespace),
        ]
    )
    return [told[0], told[1].value, told[2], shown(told[3]), store.get(namespace, "k").value]  # type: ignore[union-attr]


def _apart(store: BaseStore, owner: str) -> Any:
    put(store, owner, ("n", "k", {"text": "mine"}))
    put(store, f"{owner}2", ("n", "k", {"text": "theirs"}))
    return shown(store.search((owner,))), store.get((owner, "m"), "k"), store.get((owner,), "k")


CASES: dict[str, Case] = {
    **{f"value: {name}": _value(value) for name, value in VALUES.items()},
    **{f"key: {key[:12]!r}": _key(key) for key in KEYS},
    "search: all": _searched(),
    "search: a namespace": _searched("notes"),
    "search: nothing there": _searched("none"),
    "search: limit": _searched(limit=2),
    "search: offset": _searched(limit=2, offset=3),
    "search: beyond": _searched(offset=9),
    "filter: equal": _searched(filter={"rank": 1}),
    "filter: list": _searched(filter={"tags": ["hot", "black"]}),
    "filter: part of an object": _searched(filter={"where": {"city": "Lisbon"}}),
    "filter: two": _searched(filter={"rank": 2, "text": "I drink coffee"}),
    "filter: ne": _searched("plans", filter={"rank": {"$ne": 1}}),
    "filter: numbers": _searched("notes", filter={"rank": {"$gte": 2, "$lte": 4}}),
    "filter: a number as a text": _searched("notes", "old", filter={"rank": {"$gt": 3}}),
    "filter: nothing fits": _searched(filter={"rank": 9}),
    "filter: none": _searched(filter={"tags": None}),
    "query: words": _asked("tea"),
    "query: none fits": _asked("quantum chromodynamics"),
    "query: with a filter": _asked("drink", filter={"rank": 2}),
    "namespaces: all": _listed(),
    "namespaces: prefix": _listed(prefix=("notes",)),
    "namespaces: suffix": _listed(suffix=("old",)),
    "namespaces: any": _listed(prefix=("*", "old")),
    "namespaces: depth": _listed(max_depth=2),
    "namespaces: page": _listed(limit=2, offset=1),
    "put again": _put_again,
    "deleted": _deleted,
    "put after delete": _put_after_delete,
    "contradicting": _contradicting,
    "alike": _alike,
    "batch": _batch,
    "apart": _apart,
}


@pytest.fixture(scope="module")
def memory(running: Service) -> Iterator[Memory]:
    with Memory(running.url, token=TOKEN) as client:
        yield client


@each_row("name", list(CASES))
def test_a_case_ends_as_in_the_librarys_store(memory: Memory, name: str) -> None:
    owner = new_owner()
    assert CASES[name](EngramlogStore(memory), owner) == CASES[name](InMemoryStore(), owner)


def test_a_search_leaves_a_secret_out_and_a_get_records_that_it_was_revealed(memory: Memory) -> None:
    owner, store = new_owner(), EngramlogStore(memory)
    store.put((owner, "keys"), "mail", {"password": "hunter2-Kx9!"})
    assert store.search((owner,), query="password") == []
    assert store.get((owner, "keys"), "mail").value == {"password": "hunter2-Kx9!"}  # type: ignore[union-attr]
    assert "MemoriesRevealed" in {one.event for one in memory.history("keys/mail", owner=owner).changes}
