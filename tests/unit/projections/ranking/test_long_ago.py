"""Long ago: a match that only its age hides is shown and marked."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.events.catalogue import SensitivitySet
from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.views.view import OwnerView
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

YEARS = 800.0
"""The day on which is asked: every law withholds by then what day 0 brought."""
TALK = {
    "english": ("my passport is in the blue folder", "where is my passport?", "what does a giraffe eat?"),
    "chinese": ("我的护照放在蓝色文件夹里", "我的护照放在哪里？", "长颈鹿吃什么？"),
}
laws = each_row("law", sorted(LAWS))
both = each_row(("said", "question", "unrelated"), TALK.values(), ids=list(TALK))


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


# --- what is not only old


@laws
@each_row("include_faded", [None, True])
@each_row(
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


@each_row("ranking", [name for name in RANKINGS if name not in ("conversation", "text")])
def test_the_rankings_of_the_sources_show_what_is_old_only_where_it_is_asked_for(ranking) -> None:
    view = old_talk("weighted", "my passport is in the blue folder")
    assert found(view, "passport folder", YEARS, ranking=ranking) == {}
    assert list(found(view, "passport folder", YEARS, ranking=ranking, include_faded=True)) == ["old"]
