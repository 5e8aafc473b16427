"""How memories live on, over a real store: health, reviews, reinforcing, profiles."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.api.services.living import Living
from engramlog_server.events.errors import InputError, NotFound
from tests.acceptance.helpers.store import Store, day
from tests.given.events import created, deleted, merged, purged, reinforced


@pytest.fixture
def living(store: Store) -> Living:
    return store.app.living


def said(of: str, on: float = 0, **data: Any) -> Any:
    """Said by an assistant: its stability begins at 24 hours."""
    return created("green tea", of, on, actor="assistant", confidence=0.6, **data)


# --- health


def test_health_is_asked_at_any_instant_of_either_time_line(store: Store, living: Living) -> None:
    owner = store.owner()
    known = store.tell(owner, said("a", 0), said("b", 1))
    later = store.tell(owner, reinforced("a", 2, "manual_review"))
    strengths = {one["id"]: one["strength"] for one in living.health(owner, at=day(3))["memories"]}
    assert strengths == {"a": 51, "b": 14}
    then = living.health(owner, as_of=day(1.5))
    assert {one["id"]: one["strength"] for one in then["memories"]} == {"a": 22, "b": 61}
    before = living.health(owner, as_of=known, at=day(3))
    assert (before["position"], before["mean_strength"]) == (known, 9.5)
    assert living.fading(owner, after=later, at=day(3))["memories"][0]["id"] == "b"


def test_looking_at_health_and_reviews_leaves_no_trace(store: Store, living: Living) -> None:
    owner = store.owner()
    store.tell(owner, said("a"))
    head = store.head(owner)
    living.health(owner), living.fading(owner), living.review(owner), living.profile(owner)
    store.flushed()
    assert store.head(owner) == head


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 1_001}, {"at": "soon"}, {"as_of": "soon"}])
def test_a_page_that_cannot_be_is_refused(store: Store, living: Living, asked: dict[str, Any]) -> None:
    for question in (living.health, living.fading):
        with pytest.raises(InputError):
            question(store.owner(), **asked)


# --- reinforcing


def test_reinforcing_tells_what_each_law_reads_before_and_after(store: Store, living: Living) -> None:
    owner = store.owner()
    store.tell(owner, said("a", 0))
    answer = living.reinforce(owner, "a", occurred_at=day(1))
    before, after = answer["before"], answer["after"]
    assert (before["strength"], before["stability_hours"], before["reinforce_count"]) == (37, 24.0, 0)
    assert (after["strength"], after["stability_hours"], after["reinforce_count"]) == (100, 36.0, 1)
    assert (answer["outcome"], answer["at"], answer["remarks"]) == ("manual_review", day(1), [])
    assert [(one["event"], one["decision"]) for one in answer["changes"]] == [("MemoryReinforced", "reinforce")]


def test_a_use_that_does_not_count_says_why(store: Store, living: Living) -> None:
    owner = store.owner()
    store.tell(owner, said("a"))
    first = living.reinforce(owner, "a", outcome="used", occurred_at=day(1))
    second = living.reinforce(owner, "a", outcome="used", occurred_at=day(1.05))
    assert (first["remarks"], first["after"]["importance"]) == ([], 1.3)
    assert second["remarks"] == ["no boost: within the cool-down of the last"]
    assert second["after"]["importance"] == 1.3
    for hour in (3, 6, 9):
        limited = living.reinforce(owner, "a", outcome="used", occurred_at=day(1 + hour / 24))
    assert (limited["after"]["importance"], limited["remarks"]) == (2.0, [])
    assert living.reinforce(owner, "a", outcome="used", occurred_at=day(1.5))["remarks"] == [
        "no boost: the limit of a day is reached"
    ]


def test_what_nothing_can_change_any_more_is_refused_before_anything_is_written(store: Store, living: Living) -> None:
    owner = store.owner()
    store.tell(
        owner,
        *(said(one) for one in ("live", "gone", "x", "y")),
        deleted("gone"),
        purged("gone", 31, due=30),
        merged("x", "y", into="xy"),
    )
    head = store.head(owner)
    for verb in (living.reinforce, lambda *about: living.grade(*about, 4)):
        with pytest.raises(NotFound, match="has no memory nothing"):
            verb(owner, "nothing")
        with pytest.raises(InputError, match="was purged: only a tombstone is left"):
            verb(owner, "gone")
        with pytest.raises(InputError, match=f"merged into xy, .*engramlog unmerge {owner} xy"):
            verb(owner, "x")
    with pytest.raises(InputError, match="from_memory: got 'live'"):
        living.reinforce(owner, "live", from_memory="live")
    with pytest.raises(NotFound, match="has no memory nothing"):
        living.reinforce(owner, "live", from_memory="nothing")
    with pytest.raises(InputError, match=r"^outcome"):
        living.reinforce(owner, "live", outcome="luck")
    with pytest.raises(InputError, match=r"^grade: "):
        living.grade(owner, "live", 6)
    assert store.head(owner) == head


def test_behind_a_quarantine_it_waits_and_says_so(store: Store, living: Living) -> None:
    owner = store.owner()
    store.tell(owner, said("a"))
    stuck = store.poison(owner)
    answer = living.reinforce(owner, "a")
    assert (answer["quarantined"]["position"], answer["after"], answer["changes"]) == (stuck, None, [])
    assert living.grade(owner, "a", 4)["schedulers"] is None
    chosen = living.choose(owner, profile="ebbinghaus")
    assert (chosen["profile"], chosen["quarantined"]["position"]) == ("weighted", stuck)
    for told in (living.health(owner), living.fading(owner), living.review(owner), living.profile(owner)):
        assert told["quarantined"]["position"] == stuck


# --- reviews


def test_a_review_is_asked_for_graded_and_asked_for_again_when_the_scheduler_says(store: Store, living: Living) -> None:
    owner = store.owner()
    store.tell(owner, created("tea", "a", confidence=1.0, emotion=1.0))
    assert living.review(owner, at=day(0.9))["due"] == 0
    assert [one["id"] for one in living.review(owner, at=day(1))["memories"]] == ["a"]
    answer = living.grade(owner, "a", 4, occurred_at=day(1))
    assert (answer["grade"], answer["decides"], set(answer["schedulers"])) == (4, "sm2", {"sm2", "fsrs"})
    assert answer["schedulers"]["sm2"]["due_at"] == answer["after"]["next_review_at"] == day(2)
    assert answer["schedulers"]["fsrs"]["due_at"] == day(3)
    assert (answer["before"]["next_review_at"], answer["before"]["scheduler"]) == (day(1), "accesses")
    assert living.review(owner, at=day(1.9))["next_due_at"] == day(2)
    living.choose(owner, parameters={"scheduler": "fsrs"})
    assert living.review(owner, at=day(2.5))["due"] == 0
    assert living.review(owner, at=day(3))["memories"][0]["scheduler"] == "fsrs"


# --- profile and laws


def test_a_profile_and_parameters_hold_from_here_on_and_a_default_undoes(store: Store, living: Living) -> None:
    owner = store.owner()
    known = store.tell(owner, said("a"))
    assert living.profile(owner)["profile"] == "weighted"
    chosen = living.choose(
        owner, profile="ebbinghaus", parameters={"initial_stability": 48, "failure_restarts_clock": True}
    )
    assert (chosen["profile"], chosen["thresholds"]) == ("ebbinghaus", {"normal": 0.1, "review": 0.0})
    assert chosen["parameters"] == {
        "initial_stability": {"value": 48.0, "default": 24.0},
        "failure_restarts_clock": {"value": True, "default": False},
    }
    assert [(one["event"], one["decision"]) for one in chosen["changes"]] == [
        ("ProfileChosen", "profile"),
        ("ParametersChanged", "parameters"),
    ]
    undone = living.choose(owner, parameters={"initial_stability": 24.0, "failure_restarts_clock": False})
    assert (undone["parameters"], undone["profile"]) == ({}, "ebbinghaus")
    assert living.profile(owner, as_of=known)["profile"] == "weighted"
    assert store.reader.why(owner, "a")["law"] == "ebbinghaus"


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ({}, "profile: got nothing"),
        ({"profile": "gut feeling"}, "profile"),
        ({"parameters": {"alpha": 1}}, "alpha"),
        ({"parameters": {"c_min": 2}}, "c_min"),
        ({"profile": "tiered", "actor": "ghost"}, "actor"),
    ],
)
def test_a_choice_that_cannot_be_names_what_is_wrong_and_writes_nothing(
    store: Store, living: Living, told: dict[str, Any], named: str
) -> None:
    owner = store.owner()
    head = store.head(owner)
    with pytest.raises(InputError, match=named):
        living.choose(owner, **told)
    assert store.head(owner) == head
