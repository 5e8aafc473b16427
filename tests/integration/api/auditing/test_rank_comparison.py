"""Why A ranks above B by a store: both time lines, secrets, what is current first, and one answer with the search."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.events.errors import InputError, NotFound
from tests.acceptance.helpers.store import Store
from tests.given.events import created, deleted, merged, purged

ASKED = "what do I drink in the morning?"


@pytest.fixture
def owner(store: Store) -> str:
    named, now = store.owner(), store.yesterday
    store.tell(
        named,
        created("I drink coffee every morning", "coffee", day=now),
        created("I drink tea every morning", "tea", day=now),
        created("早上我喝龙井茶", "longjing", day=now),
        created("my password is hunter2 and I drink it every morning", "pw", day=now),
        created("The kiln is behind the church", "kiln", day=now),
    )
    return named


def above(store: Store, owner: str, one: str, other: str, query: str = ASKED, **asked: Any) -> dict[str, Any]:
    return dict(store.reader.why(owner, one, above=other, query=query, **asked)["above"])


def test_ranks_scores_and_the_order_are_those_of_the_search(store: Store, owner: str) -> None:
    found = store.reader.search(owner, ASKED, trace=False, limit=50)["results"]
    ranks = {one["id"]: (number, one["score"]) for number, one in enumerate(found, 1)}
    told = above(store, owner, "coffee", "tea")
    for side in (told["first"], told["second"]):
        assert (side["rank"], round(side["score"], 6)) == ranks[side["id"]]
    assert told["order"] == ("above" if ranks["coffee"] < ranks["tea"] else "below")
    assert sum(term["difference"] for term in told["terms"]) == pytest.approx(told["difference"], abs=1e-8)


@pytest.mark.parametrize("mode", ["normal", "review", "debug"])
def test_no_word_of_a_secret_is_told_and_whether_it_matches_neither(store: Store, owner: str, mode: str) -> None:
    told = above(store, owner, "pw", "tea", "hunter2 password morning", mode=mode)
    assert told["first"]["absent"] == {
        "why": "withheld",
        "reason": "sensitive",
        "shown_by": "get --reveal",
    }
    assert (told["first"]["holds"], told["first"]["lacks"]) == ([], [])
    assert "my password is" not in str(told)


def test_what_is_merged_deleted_or_purged_says_so(store: Store, owner: str) -> None:
    now = store.yesterday
    store.tell(owner, created("I drink milk every morning", "milk", day=0), deleted("milk", 1), purged("milk", 60))
    store.tell(owner, merged("coffee", "tea", into="both", day=now))
    told = above(store, owner, "coffee", "milk")
    assert [told[side]["absent"]["reason"] for side in ("first", "second")] == ["merged", "deleted"]
    assert (told["second"]["memory"], told["second"]["lacks"]) == (None, [])


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"above": "coffee"}, "above"),
        ({"above": "tea", "language": "fr"}, "language"),
        ({"above": "tea", "mode": "all"}, "mode"),
        ({"above": "tea", "ranking": "best"}, "ranking"),
        ({"above": "tea", "search_mode": "semantic"}, "search_mode"),
        ({"above": "tea", "query": ""}, "query"),
        ({"above": "tea", "query": None}, "query"),
        ({"query": ASKED}, "above"),
        ({"above": "tea", "known": "then"}, "known"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(
    store: Store, owner: str, asked: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError, match=rf"^{field}: "):
        store.reader.why(owner, "coffee", **{"query": ASKED, **asked})


@pytest.mark.parametrize(
    ("name", "value"), [("mode", "review"), ("ranking", "text"), ("search_mode", "keyword"), ("language", "zh")]
)
def test_what_is_asked_of_two_memories_is_refused_for_one(store: Store, owner: str, name: str, value: str) -> None:
    with pytest.raises(InputError, match=rf"^{name}: got '{value}'.*`above` and `query`"):
        store.reader.why(owner, "coffee", **{name: value})


def test_a_memory_that_was_not_there_is_not_found(store: Store, owner: str) -> None:
    for one, other in (("coffee", "none"), ("none", "coffee")):
        with pytest.raises(NotFound):
            above(store, owner, one, other)
    with pytest.raises(NotFound):
        above(store, owner, "coffee", "tea", as_of="2000-01-01")


def test_asking_leaves_no_trace(store: Store, owner: str) -> None:
    head = store.head(owner)
    above(store, owner, "coffee", "tea")
    store.flushed()
    assert store.head(owner) == head
