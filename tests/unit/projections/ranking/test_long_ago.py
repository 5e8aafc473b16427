"""Long ago: a match that only its age hides is shown and marked."""

from __future__ import annotations

from typing import Any

import pytest

from events.catalogue import SensitivitySet
from projections.choices import RANKINGS
from projections.laws import LAWS
from projections.views.view import OwnerView
from tests.given.events import (
    Told,
    compressed,
    created,
    deleted,
    merged,
    negated,
    parameters,
    profile,
)
from tests.given.views import asked, found, viewed
from tests.rows import each_row
from tests.unit.projections.ranking.test_conversation import chat

YEARS = 800.0
"""The day on which is asked: every law withholds by then what day 0 brought."""
TALK = {
    "english": ("my passport is in the blue folder", "where is my passport?", "what does a giraffe eat?"),
    "chinese": ("我的护照放在蓝色文件夹里", "我的护照放在哪里？", "长颈鹿吃什么？"),
}
laws = pytest.mark.parametrize("law", sorted(LAWS))
both = pytest.mark.parametrize(("said", "question", "unrelated"), TALK.values(), ids=list(TALK))


def old_talk(law: str, said: str, *more: Told) -> OwnerView:
    return viewed(profile(law), created(said, "old", 0, category="temporary", confidence=0.3), *more)


def reasons(view: OwnerView, question: str, **wish: Any) -> dict[str, int]:
    return {one["reason"]: one["count"] for one in asked(view, question, YEARS, **wish)["withheld"]}


@laws
@both
def test_a_strong_match_of_old_talk_is_found_and_marked_and_no_longer_counted_as_withheld(
    law, said, question, unrelated
) -> None:
    view = old_talk(law, said)
    answer = asked(view, question, YEARS)
    assert [(one["id"], one["long_ago"]) for one in answer["results"]] == [("old", True)]
    assert (answer["total"], answer["withheld"]) == (1, [])
    assert asked(view, unrelated, YEARS)["results"] == []
    fresh = asked(view, question, 0)["results"]
    assert [one["id"] for one in fresh] == ["old"]
    assert "long_ago" not in fresh[0]


@laws
@both
def test_strict_modes_stay_selectable_by_the_request_and_by_the_owner_s_parameter(
    law, said, question, unrelated
) -> None:
    view = old_talk(law, said)
    assert found(view, question, YEARS, include_faded=False) == {}
    assert sum(reasons(view, question, include_faded=False).values()) == 1
    strict = old_talk(law, said, parameters(long_ago=False))
    assert found(strict, question, YEARS) == {}
    assert list(found(strict, question, YEARS, include_faded=True)) == ["old"]
    assert found(strict, unrelated, YEARS, include_faded=True) == {}


@each_row("ranking", [name for name in RANKINGS if name not in ("conversation", "text")])
def test_the_rankings_of_the_sources_show_what_is_old_only_where_it_is_asked_for(ranking) -> None:
    view = old_talk("weighted", "my passport is in the blue folder")
    assert found(view, "passport folder", YEARS, ranking=ranking) == {}
    assert list(found(view, "passport folder", YEARS, ranking=ranking, include_faded=True)) == ["old"]


# --- what is not only old


@laws
@pytest.mark.parametrize("include_faded", [None, True])
@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ([deleted("old", 1)], "deleted"), ([negated("old", 1, resolution="latest_wins")], "superseded"),
        ([negated("old", 1, resolution="version_keep")], "negated"),
        ([negated("old", 1, resolution="weight_balance")], "negated"),
        ([created("a passport", "twin", 0), merged("old", "twin", into="both", summary="nothing of it", day=1)], "merged"),
        ([compressed("trace", "old", 1)], "compressed"),
        ([Told(SensitivitySet(memory_id="old", level=3, reason="told"), 1)], "sensitive"),
    ],
    ids=["deleted", "superseded", "kept version", "fading", "merged", "compressed by somebody", "secret"],
)  # fmt: skip
def test_what_is_withheld_for_more_than_its_age_stays_withheld(law, what, reason, include_faded) -> None:
    view = old_talk(law, "my passport is in the blue folder", *what)
    assert "old" not in found(view, "where is my passport?", YEARS, include_faded=include_faded)
    told = reasons(view, "where is my passport?", include_faded=include_faded)
    assert reason in told or (reason == "compressed" and "under_threshold" in told), told


def test_an_old_turn_of_which_something_was_taken_back_stays_withheld() -> None:
    turn = created("I live in Lisbon, near the river", "turn", 0, source_turns=("turn",))
    statement = created("lives in Lisbon", "home", 0, source_turns=("turn",))
    view = viewed(turn, statement, negated("home", 1, resolution="latest_wins"))
    assert found(viewed(turn, statement), "who lives in Lisbon?", YEARS).keys() == {"turn", "home"}
    assert found(view, "who lives in Lisbon?", YEARS) == {}
    assert "turn" in found(view, "who lives in Lisbon?", YEARS, mode="review")


def test_what_replaced_an_old_match_is_found_in_the_old_words_though_it_is_old_too() -> None:
    view = viewed(
        created("I drink coffee every morning", "coffee", 0),
        created("Green tea is what I have at breakfast", "tea", 1),
        negated("coffee", 1, resolution="latest_wins", replaced_by="tea"),
    )
    results = found(view, "who drinks coffee in the morning?", YEARS)
    assert list(results) == ["tea"]
    assert results["tea"]["long_ago"] is True


# --- beside what is fresh


@laws
@both
def test_what_is_fresh_and_says_the_same_stands_above(law, said, question, unrelated) -> None:
    view = old_talk(law, said, created(said, "fresh", YEARS - 1, category="identity"))
    results = found(view, question, YEARS)
    assert list(results) == ["fresh", "old"]
    assert results["old"]["explain"]["score"].get("long_ago", 0.0) <= 0
    assert "long_ago" not in results["fresh"]
    assert sum(results["old"]["explain"]["score"].values()) == pytest.approx(results["old"]["score"], abs=4e-6)


def test_what_is_fresh_and_hardly_matches_does_not_push_out_what_is_old_and_does() -> None:
    fresh = [created(f"my lunch number {n} is late", f"f{n}", YEARS - 1, category="identity") for n in range(10)]
    view = old_talk("weighted", "my passport is in the blue folder", *fresh)
    results = found(view, "in which folder is my passport?", YEARS, limit=5)
    assert next(iter(results)) == "old"
    assert len(results) == 5


def test_what_stands_beside_a_strong_match_is_found_with_it() -> None:
    talk = chat(
        ("Ann", "Hello there"),
        ("Bob", "Good morning"),
        ("Ann", "Which glaze did you choose for the bowl?"),
        ("Bob", "The blue one"),
        ("Ann", "Lunch was late"),
        ("Bob", "It rained"),
    )
    results = found(viewed(*talk), "Which glaze for the bowl?", YEARS)
    assert {"c", "d"} <= results.keys()
    assert all(one["long_ago"] for one in results.values())


def test_a_day_that_the_question_names_is_asked_for_whatever_its_words() -> None:
    view = viewed(created("I bought a red bicycle", "old", 0), created("It rained", "other", 3))
    results = found(view, "What happened on 1 January 2024?", YEARS)
    assert list(results)[:1] == ["old"]


def test_who_is_named_is_told_only_where_something_of_theirs_is_shown() -> None:
    talk = [
        created("The kiln is hot", "a", 0, speaker="Ann", source_turns=("a",)),
        created("My passport is in the blue folder", "b", 0.1, speaker="Bob", source_turns=("b",)),
    ]
    assert asked(viewed(*talk), "Bob, where is the passport folder?", YEARS)["understood"]["speakers"] == ["Bob"]
    answer = asked(viewed(*talk), "Ann, where is the passport folder?", YEARS)
    assert [one["id"] for one in answer["results"]] == ["b"]
    assert answer["understood"]["speakers"] == []
    strict = asked(viewed(*talk), "Ann, where is the passport folder?", YEARS, include_faded=False)
    assert strict["understood"]["speakers"] == []
