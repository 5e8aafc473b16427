"""Pages of a search over a real store: stable while memories change, and refused for another question."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.events.errors import InputError
from tests.acceptance.helpers.store import Store, day
from tests.given.events import created, deleted, linked, mentioned, negated, revised

MEMORIES = 23
PAGE = 5
QUERY = "the kiln and the clay"


@pytest.fixture
def owner(store: Store) -> str:
    """An owner with 23 memories that answer, since yesterday."""
    owner = store.owner()
    words = ("kiln", "kiln clay", "clay clay", "the kiln again")
    store.tell(owner, *(created(f"{words[n % 4]} {n}", f"m{n:02}", store.yesterday) for n in range(MEMORIES)))
    return owner


def page(store: Store, owner: str, cursor: str | None = None, **asked: Any) -> tuple[list[str], str | None]:
    """The ids of a page, and where the next one begins."""
    answer = store.reader.search(owner, QUERY, limit=PAGE, cursor=cursor, **{"trace": False} | asked)
    assert answer["total"] == MEMORIES
    return [one["id"] for one in answer["results"]], answer["next"]


def pages(store: Store, owner: str, change: Any = None, **asked: Any) -> list[str]:
    """The ids of all pages; `change(n)` happens before the n-th further one."""
    ids, cursor = page(store, owner, **asked)
    number = 0
    while cursor is not None:
        number += 1
        if change is not None:
            change(number)
        more, cursor = page(store, owner, cursor, **asked)
        ids += more
    return ids


@pytest.mark.parametrize("ranking", ["conversation", "text", "published", "overlap"])
def test_pages_together_are_the_whole_answer_in_its_order(store: Store, owner: str, ranking: str) -> None:
    at = {"ranking": ranking, "at": day(2_000), "mode": "debug"}
    whole = store.reader.search(owner, QUERY, limit=100, trace=False, **at)
    assert whole["next"] is None
    assert pages(store, owner, **at) == [one["id"] for one in whole["results"]]
    assert len(whole["results"]) == MEMORIES


def test_pages_neither_repeat_nor_skip_while_memories_change(store: Store, owner: str) -> None:
    before = [one["id"] for one in store.reader.search(owner, QUERY, limit=100, trace=False)["results"]]
    today = store.yesterday + 0.9

    def change(number: int) -> None:
        store.tell(
            owner,
            created("the kiln and the clay, the kiln and the clay", f"new{number}", today),
            revised("nothing of that sort", before[PAGE * number], today),
            mentioned(before[-1], today),
            negated(before[PAGE * number + 1], today),
        )

    assert pages(store, owner, change) == before


def test_what_has_been_deleted_meanwhile_is_on_no_later_page(store: Store, owner: str) -> None:
    before = [one["id"] for one in store.reader.search(owner, QUERY, limit=100, trace=False)["results"]]
    gone = before[PAGE + 1]
    told = pages(
        store, owner, lambda number: store.tell(owner, deleted(gone, store.yesterday + 0.9)) if number == 1 else 0
    )
    assert told == [one for one in before if one != gone]


def test_a_cursor_belongs_to_its_question(store: Store, owner: str) -> None:
    _, cursor = page(store, owner)
    assert cursor is not None
    for other in ({"mode": "debug"}, {"ranking": "text"}, {"kinds": ["x"]}, {"at": day(9)}):
        with pytest.raises(InputError, match="cursor"):
            store.reader.search(owner, QUERY, cursor=cursor, **other)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cursor"):
        store.reader.search(owner, "another question", cursor=cursor)
    with pytest.raises(InputError, match="cursor"):
        store.reader.search(store.owner(), QUERY, cursor=cursor)


@pytest.mark.parametrize("broken", ["", "x", "W10", "bm90IGpzb24", "\x00", "💥", "[]", "W251bGxd" * 50])
def test_a_cursor_that_is_none_is_refused_by_name(store: Store, owner: str, broken: str) -> None:
    with pytest.raises(InputError, match=r"cursor.*next"):
        store.reader.search(owner, QUERY, cursor=broken)


def test_in_debug_mode_pages_show_what_had_been_deleted_before_the_first(store: Store, owner: str) -> None:
    store.tell(owner, deleted("m04", store.yesterday + 0.5))
    whole = store.reader.search(owner, QUERY, limit=100, mode="debug", trace=False)
    assert pages(store, owner, lambda _: store.flushed(), mode="debug") == [one["id"] for one in whole["results"]]
    assert "m04" in [one["id"] for one in whole["results"]]


def test_what_comes_to_mind_on_a_later_page_is_not_deleted_since(store: Store, owner: str) -> None:
    store.tell(
        owner, created("umbrella by the door", "z", store.yesterday), *(linked(f"m{n:02}", "z") for n in range(9))
    )
    first = store.reader.search(owner, QUERY, limit=PAGE, associations=True, trace=False)
    assert [one["id"] for one in first["associated"]] == ["z"]
    store.tell(owner, deleted("z", store.yesterday + 0.9))
    second = store.reader.search(owner, QUERY, limit=PAGE, associations=True, trace=False, cursor=first["next"])
    assert second["associated"] == []


@pytest.mark.parametrize("past", [{"at": day(9_000)}, {"as_of": "2100-01-01T00:00:00Z"}])
def test_no_page_of_the_past_or_the_future_leaves_a_trace(store: Store, owner: str, past: dict[str, str]) -> None:
    asked: dict[str, Any] = {"ranking": "text", **past}
    first = store.reader.search(owner, QUERY, limit=PAGE, **asked)
    if first["next"] is not None:
        store.reader.search(owner, QUERY, limit=PAGE, cursor=first["next"], **asked)
    store.flushed()
    counts = {store.reader.get(owner, f"m{n:02}", trace=False)["access_count"] for n in range(MEMORIES)}
    assert counts == {0}


@pytest.mark.parametrize(
    "field", ["keywords", "kinds", "tags", "speaker", "session", "project", "since", "near_project"]
)
def test_a_filter_that_is_no_text_is_refused_by_name(store: Store, owner: str, field: str) -> None:
    word: Any = "\udcff"
    with pytest.raises(InputError, match=field):
        store.reader.search(owner, QUERY, **{field: [word] if field in ("keywords", "kinds", "tags") else word})
