"""What users of other memory stores suffer from, told as what must not happen here: one test a sentence.

The store is real: one embedded Redis, opened in this process, and every event comes in by the ordinary door.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engramlog_server.events.errors import InputError
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import partition_of
from tests.acceptance.helpers.store import Store, day
from tests.given.events import created, deleted, merged, negated, unmerged

MODES = ("normal", "review")


# --- facts retired wrongly and silently


def test_nothing_retires_a_fact_but_an_event_that_names_it_and_the_log_tells_which(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("lives in Berlin", "home", category="fact"))
    store.tell(owner, created("lived in Paris before", "past", day=1, category="fact"))
    store.tell(owner, created("does not live in Berlin at all", "other", day=2, category="fact", corrects="home"))
    assert store.reader.get(owner, "home", at=day(3), trace=False)["status"] == "live"
    store.tell(owner, negated("home", 3, replaced_by="other", reason="moved"))
    changes = store.reader.history(owner, "home")["changes"]
    demotions = [c for c in changes if c["delta"] is not None and c["delta"] < 0]
    assert [(c["event"], c["decision"]) for c in demotions] == [("MemoryNegated", "negate")]


# --- concurrent adds that duplicate or lose


def test_adds_at_once_neither_duplicate_nor_lose(store: Store) -> None:
    owner = store.owner()
    events = [store.prepared(owner, created(f"note {n}", f"n{n}")) for n in range(40)]

    def send(_: int) -> list[AppendReceipt]:
        return [receipt for event in events for receipt in store.app.log.append([event])]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(send, range(4)))
    by_event = list(zip(*answers, strict=True))
    assert [sum(r.status == "appended" for r in one) for one in by_event] == [1] * 40
    assert all(len({r.position for r in one}) == 1 for one in by_event)
    store.writer.settle([receipt for answer in answers for receipt in answer])
    assert store.reader.list(owner, mode="debug", limit=100)["total"] == 40


# --- deletes that still surface


def surfaces(store: Store, owner: str, query: str, **place: Any) -> set[str]:
    """Ids found by any reading that people use."""
    found = {i for mode in MODES for i in store.found(owner, query, mode=mode, limit=50, **place)}
    return found | {i for mode in MODES for i in store.listed(owner, mode, **place)}


def test_deleting_the_merge_of_merges_takes_all_of_them_along(store: Store) -> None:
    owner = store.owner()
    then = store.yesterday
    store.tell(owner, *(created(f"the affair, {name}", name, day=then) for name in "abc"))
    store.tell(owner, merged("a", "b", into="ab", day=then), merged("ab", "c", into="abc", day=then))
    store.delete(owner, "abc")
    assert surfaces(store, owner, "affair") == set()
    store.restore(owner, "abc")
    assert surfaces(store, owner, "affair") == {"a", "b", "ab", "c", "abc"}


def test_a_delete_of_what_was_merged_away_is_not_swallowed(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("one", "one"), created("two", "two"), merged("one", "two", into="both"))
    with pytest.raises(InputError, match="which stands for it"):
        store.delete(owner, "one")
    store.tell(owner, deleted("one", 1))
    last = store.reader.history(owner, "one")["changes"][-1]
    assert (last["event"], last["decision"]) == ("MemoryDeleted", "ignored")


def test_a_deleted_source_does_not_come_back_with_an_unmerge_of_another(store: Store) -> None:
    owner = store.owner()
    then = store.yesterday
    store.tell(owner, *(created(f"affair {name}", name, day=then) for name in "abc"))
    store.tell(owner, deleted("c", then), merged("a", "b", into="ab", day=then), unmerged("ab", then))
    assert surfaces(store, owner, "affair") - {"ab"} == {"a", "b"}


# --- `delete_all` that wiped every user


def test_no_event_of_one_owner_touches_another_not_even_under_the_same_ids(store: Store) -> None:
    first = store.owner()
    second = next(n for n in iter(store.owner, None) if partition_of(n, 16) == partition_of(first, 16))
    then = store.yesterday
    for owner in (first, second):
        store.tell(owner, created("coffee", "m", day=then), created("tea", "n", day=then))
    before = store.reader.list(second, mode="debug", at=day(then))["memories"], store.reader.history(second)["chain"]
    store.tell(first, deleted("m", then), negated("n", then), merged("m", "n", into="x", day=then))
    store.delete(first, "n")
    assert surfaces(store, first, "coffee tea") == set()
    after = store.reader.list(second, mode="debug", at=day(then))["memories"], store.reader.history(second)["chain"]
    assert after == before


# --- decay that buries right answers, or depends on how often a job ran


def test_decay_does_not_bury_the_right_answer_in_review(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("my passport is in the blue folder", "passport"))
    fresh = [created(f"today I saw folder number {n} at work", f"f{n}", day=600) for n in range(30)]
    store.tell(owner, *fresh)
    assert store.found(owner, "where is my passport, which folder?", mode="review", at=day(601))[0] == "passport"
