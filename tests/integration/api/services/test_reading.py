"""Reading, as the faces ask for it: modes, both time lines, what is withheld and why, traces, replays, quarantine."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest

from engramlog_server.events.envelope import derived_id
from engramlog_server.events.errors import BeyondHead, InputError, NotFound, OwnerQuarantined
from tests.acceptance.helpers.store import Store, day
from tests.given.events import compressed, created, deleted, mentioned, merged, negated, purged, revised, unmerged
from tests.rows import each_row

PIN = "the PIN of my card is 4821"


def test_a_result_says_why_it_stands_where_it_stands(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner, created("green tea at noon", "tea"), created("tea, and tea again", "more", day=1), mentioned("tea", 2)
    )
    answer = store.reader.search(owner, "tea at noon", at=day(20), trace=False)
    best = answer["results"][0]
    assert best["id"] == "tea"
    assert best["score"] == pytest.approx(sum(best["explain"]["score"].values()), abs=2e-6)
    assert sum(best["explain"]["terms"].values()) == pytest.approx(best["explain"]["score"]["text"], abs=5e-6)
    assert prod(best["explain"]["factors"].values()) == pytest.approx(best["weight"], abs=1e-5)
    assert set(best["explain"]["terms"]) == {"tea", "noon"}


def test_every_change_names_who_caused_it_now_and_as_of_then(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("green tea", "tea", actor="judge"), mentioned("tea", 1, actor="user"))
    store.tell(owner, created("coffee", "more", day=2, actor="operator"), compressed(of="tea", day=3))
    told = [(one["event"], one["actor"]) for one in store.reader.history(owner)["changes"]]
    assert told == [
        ("MemoryCreated", "judge"),
        ("MemoryMentioned", "user"),
        ("MemoryCreated", "operator"),
        ("MemoryCompressed", "system"),
    ]
    assert [one["actor"] for one in store.reader.why(owner, "tea")["changes"]] == ["judge", "user", "system"]
    assert [one["actor"] for one in store.reader.history(owner, as_of=known)["changes"]] == ["judge", "user"]


# --- the two time lines


def test_a_position_shows_what_was_known_and_nothing_later_changes_that(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("I like coffee", "coffee", day=10))
    before = store.reader.search(owner, "coffee", as_of=known, trace=False)
    store.tell(owner, negated("coffee", 11, resolution="latest_wins"), created("coffee in June", "late", day=5))
    assert store.reader.search(owner, "coffee", as_of=known, trace=False) == before
    assert store.found(owner, "coffee", mode="review", at=day(12)) != ["coffee"]


def test_an_event_that_arrives_late_changes_the_answer_for_an_instant(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee at ten", "ten", day=10))
    assert store.found(owner, "coffee", as_of=day(9)) == []
    store.tell(owner, created("coffee at five", "five", day=5))
    assert store.found(owner, "coffee", as_of=day(9)) == ["five"]


def test_weights_as_of_a_position_are_those_of_its_newest_event_unless_an_instant_is_given(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("coffee", "a", day=0), created("coffee", "b", day=30))
    weights = {one["id"]: one["weight"] for one in store.reader.list(owner, as_of=known)["memories"]}
    assert weights["b"] == 1.3
    assert weights["a"] == pytest.approx(1.3 / 1.2308, abs=1e-3)  # 30 days at 0.01 / 1.3 a day
    later = store.reader.list(owner, as_of=known, at=day(60))["memories"]
    assert {one["id"]: one["weight"] for one in later}["b"] == pytest.approx(weights["a"], abs=1e-6)


def test_changes_as_of_a_place_end_there(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("coffee", "a", day=1))
    store.tell(owner, mentioned("a", 2), negated("a", 3))
    assert [c["decision"] for c in store.reader.history(owner, "a", as_of=known)["changes"]] == ["create"]
    assert [c["decision"] for c in store.reader.why(owner, "a", as_of=day(2))["changes"]] == ["create", "reinforce"]
    assert store.reader.provenance(owner, "a", as_of=known)["provenance"]["memory"] == "a"


# --- reading one's writes


def test_a_position_beyond_the_head_is_refused_at_once(store: Store) -> None:
    owner = store.owner()
    partition = store.tell(owner, created("coffee", "a")).partition(":")[0]
    for asked in ({"after": f"{partition}:999999"}, {"as_of": f"{partition}:999999"}):
        with pytest.raises(BeyondHead, match="999999 does not exist"):
            store.reader.search(owner, "coffee", **asked)  # type: ignore[arg-type]


# --- modes and what they withhold


def one_of_each(store: Store) -> str:
    """An owner with one memory for every reason to withhold it, all about coffee, and one that stands (at day 40)."""
    owner = store.owner()
    store.tell(
        owner,
        created("coffee stands", "stands", day=39),
        created("coffee faded", "faded", day=39, category="temporary"),
        negated("faded", 39, resolution="weight_balance"),
        created("coffee is compressed", "compressed", day=39),
        compressed("tag", "compressed", 39),
        created("coffee was", "superseded", day=39),
        negated("superseded", 39, resolution="latest_wins"),
        created("coffee kept as a version", "kept", day=39),
        negated("kept", 39),
        created("coffee one", "one", day=39),
        created("coffee two", "two", day=39),
        merged("one", "two", into="both", day=39, summary="coffee, both"),
        created("coffee three", "three", day=39),
        created("coffee four", "four", day=39),
        merged("three", "four", into="undone", day=39, summary="coffee, undone"),
        unmerged("undone", 39),
        created("coffee deleted", "deleted", day=39),
        deleted("deleted", 39),
        created(f"coffee and {PIN}", "secret", day=39),
        created("coffee purged", "purged", day=1),
        deleted("purged", 2),
        purged("purged", 33),
    )
    return owner


def test_an_answer_counts_what_it_withheld_by_the_strongest_reason(store: Store) -> None:
    owner = one_of_each(store)
    shown = {"stands", "faded", "both", "three", "four"}
    assert set(store.found(owner, "coffee", at=day(40), limit=50)) == shown
    assert store.withheld(owner, "coffee", at=day(40), limit=50) == {
        "compressed": 1,
        "superseded": 1,
        "negated": 1,
        "merged": 2,
        "retired": 1,
        "deleted": 1,
        "sensitive": 1,
    }


def test_what_a_fading_contradiction_loses_is_told_as_negated_once_it_is_under_the_threshold(store: Store) -> None:
    owner = one_of_each(store)
    later = store.withheld(owner, "coffee", at=day(340), limit=50)
    assert later["negated"] == 2
    assert "faded" in store.found(owner, "coffee", at=day(340), limit=50, mode="review")


def test_review_tells_the_interval_and_the_successor_of_what_no_longer_holds(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("I like coffee", "coffee", category="fact"), created("I like tea", "tea", day=5))
    store.tell(owner, negated("coffee", 5, replaced_by="tea"))
    (old,) = (one for one in store.reader.list(owner, mode="review", at=day(6))["memories"] if one["id"] == "coffee")
    assert (old["status"], old["valid_from"], old["valid_to"], old["successor"]) == (
        "superseded",
        day(0),
        day(5),
        "tea",
    )


def test_debug_lists_everything_with_a_tombstone_that_says_nothing_and_a_secret_that_stays_one(store: Store) -> None:
    owner = one_of_each(store)
    memories = {one["id"]: one for one in store.reader.list(owner, mode="debug", limit=50, at=day(40))["memories"]}
    assert len(memories) == 14
    assert (memories["purged"]["memory"], memories["purged"]["status"]) == ("", "purged")
    assert "4821" not in str(memories)
    assert store.withheld(owner, "coffee", mode="debug", at=day(40)) == {"sensitive": 1}


# --- what stays hidden


def test_a_secret_is_told_by_get_when_it_is_asked_to_be_revealed_and_nowhere_else(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created(PIN, "pin", speaker="Ada", keywords=("4821",)), mentioned("pin", 1))
    places: list[dict[str, Any]] = [{}, {"as_of": known}, {"as_of": day(2)}, {"known": known}, {"known": "2100-01-01"}]
    for place in places:
        answers: list[Any] = [
            store.reader.get(owner, "pin", trace=False, **place),
            store.reader.why(owner, "pin", **place),
        ]
        answers += [store.reader.provenance(owner, "pin", **place), store.reader.history(owner, **place)]
        for mode in ("normal", "review", "debug"):
            answers.append(store.reader.list(owner, mode=mode, **place))
            answers.append(store.reader.search(owner, PIN, mode=mode, trace=False, **place))
        assert "4821" not in str(answers)
        assert store.reader.get(owner, "pin", reveal=True, trace=False, **place)["content"] == PIN


def test_what_became_a_secret_hides_its_past_too(store: Store) -> None:
    owner = store.owner()
    before = store.tell(owner, created("my card is new", "card"))
    store.tell(owner, revised(PIN, "card", 1))
    for line in ("as_of", "known"):
        place: dict[str, Any] = {line: before}
        assert store.found(owner, "card", **place) == []
        assert store.withheld(owner, "card", **place) == {"sensitive": 1}
        assert "new" not in store.reader.get(owner, "card", trace=False, **place)["memory"]


def test_a_correction_that_is_a_secret_is_withheld_from_the_memory_it_corrects(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("I have no PIN", "old"), negated("old", 1, correction=PIN))
    assert "4821" not in str(store.reader.get(owner, "old", trace=False))
    revealed = store.reader.get(owner, "old", reveal=True, trace=False)
    assert revealed["correction_history"][0]["new_preference"] == PIN


def test_a_purged_content_stays_gone_in_every_mode_and_at_every_time(store: Store) -> None:
    owner = store.owner()
    known = store.tell(
        owner,
        created("the bitter affair", "gone", speaker="Ada", keywords=("affair",)),
        negated("gone", 1, reason="the affair ended", correction="no affair"),
    )
    store.tell(owner, created("no affair", "next", day=1), negated("gone", 2, replaced_by="next"))
    store.tell(owner, deleted("gone", 3), purged("gone", 34), deleted("next", 34), purged("next", 65))
    places: list[dict[str, Any]] = [{}, {"as_of": known}, {"as_of": day(1)}, {"as_of": day(64)}]
    places += [{"known": known}, {"known": "2100-01-01"}, {"known": known, "as_of": day(1)}]
    for place in places:
        for mode in ("normal", "review", "debug"):
            assert store.found(owner, "affair", mode=mode, **place) == []
        found = store.reader.get(owner, "gone", reveal=True, trace=False, **place)
        assert (found["memory"], found["content"], found["status"]) == ("", "", "purged")
        assert "affair" not in str(found)
        assert "affair" not in str([store.reader.why(owner, "gone", **place), store.reader.history(owner, **place)])
        assert "gone" not in store.listed(owner, "review", **place)
    assert store.withheld(owner, "affair", as_of=known) == {}


# --- traces


def test_only_normal_reads_of_the_present_leave_a_trace(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("coffee", "a", day=store.yesterday))
    head = store.head(owner)
    for asked in (
        {"mode": "review"},
        {"mode": "debug"},
        {"as_of": known},
        {"as_of": day(1)},
        {"at": day(1)},
        {"trace": False},
    ):
        store.reader.search(owner, "coffee", **asked)
    store.reader.get(owner, "a", as_of=known)
    store.reader.list(owner)
    store.reader.why(owner, "a")
    store.reader.history(owner)
    store.flushed()
    assert store.head(owner) == head
    store.reader.search(owner, "coffee")
    store.reader.search(owner, "coffee")
    store.reader.get(owner, "a")
    store.flushed()
    assert store.head(owner) == head + 2  # one event per way of showing, however many searches
    assert store.reader.get(owner, "a", trace=False)["access_count"] == 3


# --- verbs


def test_a_verb_on_what_was_merged_away_or_purged_is_refused_and_appends_nothing(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("one", "one"), created("two", "two"), merged("one", "two", into="both", day=1))
    store.tell(owner, created("gone", "gone"), deleted("gone", 1), purged("gone", 32))
    head = store.head(owner)
    for verb in (store.delete, store.restore, store.writer.negate):
        with pytest.raises(InputError, match="merged into both, which stands for it"):
            verb(owner, "one")
        with pytest.raises(InputError, match="purged"):
            verb(owner, "gone")
    with pytest.raises(InputError, match="merged into both"):
        store.writer.merge(owner, ["one", "two"])
    assert store.head(owner) == head


def test_a_negation_cannot_be_replaced_by_nothing_or_by_itself(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "coffee"))
    head = store.head(owner)
    with pytest.raises(NotFound):
        store.writer.negate(owner, "coffee", replaced_by="nowhere")
    with pytest.raises(InputError, match="another memory"):
        store.writer.negate(owner, "coffee", replaced_by="coffee")
    with pytest.raises(InputError, match="give one of them"):
        store.writer.negate(owner, "coffee", replaced_by="tea", correction="tea")
    assert store.head(owner) == head


# --- replay


def test_a_replay_under_other_parameters_tells_what_differs_and_writes_nothing(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a"), created("coffee, fast", "b", day=300, category="temporary"))
    head, at = store.head(owner), day(310)
    same = store.replayer.replay(owner, at=at, queries=["coffee"])
    assert (same["differences"], same["questions"][0]["moved"]) == ([], [])
    other = store.replayer.replay(owner, at=at, parameters={"alpha_base": 0.2}, queries=["coffee"], mode="debug")
    weights = {one["id"]: (one["today"]["weight"], one["replayed"]["weight"]) for one in other["differences"]}
    assert all(replayed < today for today, replayed in weights.values())
    assert set(weights) == {"a", "b"}
    assert store.head(owner) == head


@each_row(
    ("asked", "named"),
    [
        ({"without": [derived_id("nobody")]}, "without"),
        ({"without_actors": ["somebody"]}, "without_actors"),
        ({"queries": ["x"], "mode": "loud"}, "mode"),
        ({"queries": [" "]}, "query"),
        ({"limit": 0}, "limit"),
        ({"at": "soon"}, "at"),
    ],
)
def test_a_replay_refuses_what_it_does_not_know(store: Store, asked: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=f"^{named}: got "):
        store.replayer.replay("owner-1", **asked)


# --- quarantine


def test_a_quarantined_owner_answers_as_of_the_event_before_and_says_so(store: Store) -> None:
    owner, other = store.owner(), store.owner()
    known = store.tell(owner, created("coffee", "a", day=store.yesterday))
    stuck = store.poison(owner)
    done = store.delete(owner, "a")
    assert (done["changes"], done["quarantined"]["position"]) == ([], stuck)
    answer = store.reader.search(owner, "coffee", trace=False)
    assert ([one["id"] for one in answer["results"]], answer["position"]) == (["a"], known)
    assert answer["quarantined"]["position"] == stuck
    for asked in (store.reader.get(owner, "a", trace=False), store.operator.stats(owner), store.reader.list(owner)):
        assert asked["quarantined"]["position"] == stuck
    with pytest.raises(OwnerQuarantined, match=f"dead {owner}"):
        store.reader.search(owner, "coffee", after=stuck)
    store.tell(other, created("tea", "t", day=store.yesterday))
    assert store.found(other, "tea") == ["t"]
    assert "quarantined" not in store.reader.search(other, "tea", trace=False)
    store.operator.dead_discard(owner, stuck, "a test")


def test_a_retry_is_carried_out_without_a_running_worker_and_a_discard_frees_the_rest_in_order(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a", day=store.yesterday))
    stuck = store.poison(owner)
    store.tell(owner, mentioned("a", 1), mentioned("a", 2))
    assert [one["parked"] for one in store.operator.dead()["quarantined"] if one["owner"] == owner] == [3]
    shown = store.operator.dead_show(owner)["parked"]
    assert [one.get("problem") is not None for one in shown] == [True, False, False]
    tried = store.operator.dead_retry(owner)
    assert (tried["freed"], tried["dead"]["position"]) == (False, stuck)
    done = store.operator.dead_discard(owner, stuck, "written by a broken producer")
    assert done["freed"] is True
    assert store.operator.dead()["quarantined"] == []
    assert store.reader.get(owner, "a", trace=False)["mention_count"] == 3


def test_a_discard_takes_only_positions_that_are_parked(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("coffee", "a"))
    with pytest.raises(NotFound, match="not quarantined"):
        store.operator.dead_discard(owner, known, "no")
    stuck = store.poison(owner)
    with pytest.raises(InputError, match="parked positions"):
        store.operator.dead_discard(owner, known, "no")
    store.operator.dead_discard(owner, stuck, "a test")


# --- counts


def test_an_owner_nobody_knows_has_nothing_rather_than_an_error(store: Store) -> None:
    nobody = "nobody-ever"
    assert store.found(nobody, "coffee", mode="debug") == []
    assert store.reader.list(nobody, mode="debug")["total"] == 0
    assert store.reader.history(nobody)["changes"] == []
    assert store.operator.stats(nobody)["memories"] == 0
    with pytest.raises(NotFound, match="engramlog list nobody-ever"):
        store.reader.get(nobody, "a")


def test_the_statistics_of_an_owner_count_every_memory_once(store: Store) -> None:
    owner = one_of_each(store)
    told = store.operator.stats(owner)
    assert told["memories"] == sum(told["by_category"].values()) == sum(told["by_state"].values()) == 14
    assert told["by_state"] == {
        "live": 9,
        "merged": 2,
        "retired": 1,
        "set_aside": 0,
        "proposed": 0,
        "rejected": 0,
        "deleted": 1,
        "purged": 1,
    }
    assert (told["negated"], told["secret"]) == (3, 1)


def test_the_status_of_the_store_adds_up(store: Store) -> None:
    told = store.operator.status()
    assert told["lag"] == 0
    assert told["events"] == sum(p["head"] for p in told["partitions"])
    assert [p["partition"] for p in told["partitions"]] == list(range(16))
    assert told["memory"]["used_bytes"] > 0
