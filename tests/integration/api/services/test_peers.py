"""What users of other memory stores suffer from, told as what must not happen here: one test a sentence.

The store is real: one embedded Redis, opened in this process, and every event comes in by the ordinary door.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from events.catalogue import MemoryCompressed
from events.errors import InputError, NotYetFolded
from events.log import AppendReceipt
from events.partitions import partition_of
from tests.acceptance.helpers.store import Store, day, embedded_store
from tests.given.events import (
    Told,
    accessed,
    compressed,
    created,
    deleted,
    mentioned,
    merged,
    negated,
    purged,
    unmerged,
)

MODES = ("normal", "review")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with embedded_store(tmp_path_factory.mktemp("peers") / "data") as opened:
        yield opened


# --- junk memories that nobody can trace


def test_every_memory_can_be_traced_to_the_turns_and_events_it_comes_from(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner,
        created("latte on Monday", "one", source_turns=("t1",)),
        created("latte on Tuesday", "two", day=1, source_turns=("t2",)),
        merged("one", "two", into="habit", day=2, summary="often a latte"),
        created("no more latte", "tea", day=3, corrects="habit", source_turns=("t9",)),
    )
    for one in store.reader.list(owner, mode="debug")["memories"]:
        nodes = store.reader.provenance(owner, one["id"])["provenance"]["nodes"]
        assert all(node["events"] for node in nodes), one["id"]
        assert {turn for node in nodes for turn in node["source_turns"]}, one["id"]


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


# --- "queued" writes that vanish


def test_a_receipt_is_given_only_for_what_is_in_the_log_and_comes_back_by_its_position(store: Store) -> None:
    owner = store.owner()
    (receipt,) = store.app.log.append([store.prepared(owner, created("kept"))])
    assert (receipt.status, receipt.fsynced) == ("appended", True)
    partition, seq = (int(part) for part in str(receipt.position).split(":"))
    (stored,) = store.app.log.read_at(partition, [seq])
    assert stored.owner == owner


# --- contradictions that coexist, or both get lost


def test_a_contradicted_preference_makes_room_for_what_holds_and_neither_is_lost(store: Store) -> None:
    owner = store.owner()
    then = store.yesterday
    store.tell(owner, created("I like coffee in the morning", "coffee", day=then))
    done = store.writer.negate(owner, "coffee", correction="I like tea in the morning, no coffee")
    assert store.found(owner, "coffee in the morning") == [done["replaced_by"]]
    assert set(store.found(owner, "coffee in the morning", mode="review")) == {"coffee", done["replaced_by"]}


def test_a_contradiction_without_certainty_lets_both_live_and_the_old_one_fade(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("likes jazz", "jazz"), negated("jazz", 1, resolution="weight_balance"))
    told = [store.reader.why(owner, "jazz", at=day(when)) for when in (1, 31, 91)]
    assert [one["factors"]["conflict_penalty"] for one in told] == sorted(
        (one["factors"]["conflict_penalty"] for one in told), reverse=True
    )
    assert "jazz" in store.found(owner, "jazz", at=day(2))


def test_what_is_said_again_after_a_negation_stands_and_flags_its_rival(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner,
        created("likes coffee", "coffee"),
        created("likes tea", "tea", day=5),
        negated("coffee", 5, replaced_by="tea"),
        mentioned("coffee", 9),
    )
    found = {one["id"]: one for one in store.reader.search(owner, "likes", at=day(10), trace=False)["results"]}
    assert {name: one["possible_conflicts"] for name, one in found.items()} == {"coffee": ["tea"], "tea": ["coffee"]}
    assert {name: one["conflicting"] for name, one in found.items()} == {
        "coffee": [{"id": "tea", "memory": "likes tea"}],
        "tea": [{"id": "coffee", "memory": "likes coffee"}],
    }


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


def test_a_second_memory_under_one_id_changes_nothing_and_is_told(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("first", "m"), created("second", "m", day=1))
    assert store.reader.get(owner, "m", trace=False)["content"] == "first"
    assert [c["decision"] for c in store.reader.history(owner, "m")["changes"]] == ["create", "ignored"]


# --- deletes that still surface


def surfaces(store: Store, owner: str, query: str, **place: Any) -> set[str]:
    """Ids found by any reading that people use."""
    found = {i for mode in MODES for i in store.found(owner, query, mode=mode, limit=50, **place)}
    return found | {i for mode in MODES for i in store.listed(owner, mode, **place)}


def test_a_deleted_memory_surfaces_nowhere(store: Store) -> None:
    owner = store.owner()
    then = store.yesterday
    store.tell(owner, created("the affair", "gone", day=then), created("the weather", "stays", day=then))
    store.delete(owner, "gone")
    assert surfaces(store, owner, "the affair weather") == {"stays"}
    assert surfaces(store, owner, "the affair weather", as_of="2100-01-01T00:00:00Z") <= {"stays"}
    assert "affair" not in str(store.reader.history(owner))


def test_deleting_a_merge_takes_its_sources_along(store: Store) -> None:
    owner = store.owner()
    then = store.yesterday
    store.tell(owner, created("the affair began", "one", day=then), created("the affair went on", "two", day=then))
    store.tell(owner, merged("one", "two", into="both", day=then, summary="the affair"))
    store.delete(owner, "both")
    assert surfaces(store, owner, "affair") == set()


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


def test_a_merge_of_a_deleted_memory_is_refused_by_the_fold(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("affair", "a"), created("weather", "b"), deleted("a", 1))
    done = store.writer.merge(owner, ["a", "b"], summary="affair and weather")
    assert {c["decision"] for c in done["changes"]} == {"ignored"}
    assert "a" not in surfaces(store, owner, "affair", at=day(2))


def test_a_purged_text_is_gone_from_every_reading_of_every_time(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("the affair", "gone"), mentioned("gone", 1))
    store.tell(owner, deleted("gone", 2), purged("gone", 33))
    places: list[dict[str, Any]] = [{}, {"as_of": known}, {"as_of": day(1)}, {"at": day(1)}]
    for place in places:
        answers = [store.reader.get(owner, "gone", reveal=True, trace=False, **place)]
        answers += [store.reader.search(owner, "affair", mode=m, trace=False, **place) for m in (*MODES, "debug")]
        assert "affair" not in str(answers).replace("'affair'", "")
    replay = store.replayer.replay(owner, query="affair", mode="debug")
    assert replay["query"]["today"] == replay["query"]["replayed"] == []


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


# --- Chinese keyword search that matches nothing, exact identifiers lost


@pytest.mark.parametrize("query", ["喝茶", "茶", "早上喝什么茶", "绿茶 早上", "我早上喝绿茶。", "綠茶 tea 喝茶"])
def test_chinese_is_found_by_word_by_character_and_by_question(store: Store, query: str) -> None:
    owner = store.owner()
    then = store.yesterday
    store.tell(owner, created("我早上喝茶，最喜欢绿茶。", "tea", day=then), created("他在银行工作。", "bank", day=then))
    assert store.found(owner, query) == ["tea"]


@pytest.mark.parametrize("identifier", ["ERR-1042", "foo_bar.py", "v2.3.1", "a.lee@example.org", "0xDEADBEEF", "PR#77"])
def test_an_exact_identifier_stands_above_what_only_resembles_it(store: Store, identifier: str) -> None:
    owner = store.owner()
    then = store.yesterday
    near = [f"the other one is {identifier[:-1]}{digit}" for digit in "3458"]
    store.tell(owner, *(created(text, f"near-{n}", day=then) for n, text in enumerate(near)))
    store.tell(owner, created(f"somebody filed {identifier} among many other things last week", "exact", day=then))
    assert store.found(owner, identifier)[0] == "exact"


# --- decay that buries right answers, or depends on how often a job ran


def test_decay_does_not_bury_the_right_answer_in_review(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("my passport is in the blue folder", "passport"))
    fresh = [created(f"today I saw folder number {n} at work", f"f{n}", day=600) for n in range(30)]
    store.tell(owner, *fresh)
    assert store.found(owner, "where is my passport, which folder?", mode="review", at=day(601))[0] == "passport"


def test_an_old_memory_that_is_under_the_threshold_is_told_not_hidden_in_silence(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("my passport is in the blue folder", "passport"))
    answer = store.reader.search(owner, "passport", at=day(1_000), trace=False, include_faded=False)
    assert answer["results"] == []
    assert [(one["count"], one["shown_by"]) for one in answer["withheld"]] == [(1, "review")]
    found = store.reader.search(owner, "passport", at=day(1_000), trace=False)
    assert [(one["id"], one["long_ago"]) for one in found["results"]] == [("passport", True)]


def test_decay_does_not_depend_on_how_often_a_sweep_ran(store: Store) -> None:
    swept, alone = store.owner(), store.owner()
    for owner in (swept, alone):
        store.tell(owner, created("coffee", "a", category="temporary"))
    store.tell(swept, *(compressed("summary", "a", when) for when in range(31, 80, 2)))
    told = [store.reader.get(owner, "a", at=day(80), trace=False) for owner in (swept, alone)]
    assert told[0]["weight"] == told[1]["weight"]
    assert told[0]["level"] == told[1]["level"] == "summary"
    assert told[0]["last_activated_at"] == told[1]["last_activated_at"]


def test_decay_does_not_depend_on_how_often_a_memory_was_looked_at(store: Store) -> None:
    seen, unseen = store.owner(), store.owner()
    for owner in (seen, unseen):
        store.tell(owner, created("coffee", "a"))
    store.tell(seen, *(accessed("a", day=when) for when in range(1, 20)))
    first, second = (store.reader.why(owner, "a", at=day(30))["weight"] for owner in (seen, unseen))
    assert first == second


# --- stronger memories fading faster


def test_what_matters_more_and_was_said_more_often_never_stands_below_what_does_not(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner,
        created("strong", "strong", category="identity"),
        created("weak", "weak", category="temporary"),
        *(mentioned("strong", day=n / 10) for n in range(1, 6)),
    )
    for when in (1, 10, 100, 1_000):
        strong, weak = (store.reader.why(owner, one, at=day(when))["unclipped_weight"] for one in ("strong", "weak"))
        assert strong > weak


# --- merges that delete the sources first


def test_a_merge_keeps_its_sources_readable_whole(store: Store) -> None:
    owner = store.owner()
    texts = {"one": "a latte on Monday", "two": "a latte on Tuesday"}
    store.tell(owner, *(created(text, name) for name, text in texts.items()))
    store.writer.merge(owner, list(texts), summary="lattes", into="both", occurred_at=day(1))
    assert {name: store.reader.get(owner, name, trace=False)["content"] for name in texts} == texts
    assert store.listed(owner, "review", at=day(2)) == {"one", "two", "both"}


def test_a_merge_is_one_event_whole_or_not_at_all(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("one", "one"), created("two", "two"))
    store.tell(owner, merged("one", "two", "nowhere", into="both", day=1))
    assert {one["status"] for one in store.reader.list(owner, mode="debug")["memories"]} == {"live"}
    assert store.reader.list(owner, mode="debug")["total"] == 2


# --- a read just after a write that finds nothing


def test_a_read_after_a_write_finds_it_or_says_that_it_is_not_folded_yet(store: Store) -> None:
    owner = store.owner()
    (receipt,) = store.app.log.append([store.prepared(owner, created("coffee", "a", day=store.yesterday))])
    with pytest.raises(NotYetFolded, match="was not folded within"):
        store.reader.search(owner, "coffee", after=receipt.position)
    store.writer.settle([receipt])
    assert [one["id"] for one in store.reader.search(owner, "coffee", after=receipt.position)["results"]] == ["a"]


def test_a_shortened_text_never_replaces_what_was_said(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("a long story about a blue folder", "a"))
    store.tell(owner, Told(MemoryCompressed(memory_id="a", level="tag", content="folder"), 40, "system"))
    told = store.reader.get(owner, "a", at=day(41), trace=False)
    assert (told["memory"], told["content"]) == ("folder", "a long story about a blue folder")
    assert store.found(owner, "story", mode="review", at=day(41)) == ["a"]
