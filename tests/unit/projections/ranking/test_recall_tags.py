"""Search by context: tags, feelings, a producer's own words, either language, the owner's time zone."""

from __future__ import annotations

from engramlog_server.projections.choices import RANKINGS
from tests.given.views import HOUR, found, noted, viewed
from tests.rows import each_row

# --- tags and feelings

NIGHT = 15 * HOUR  # 23:00
TAGGED = (
    noted("deployment debugging again", "night", NIGHT), noted("deployment notes", "late", NIGHT),
    noted("deployment debugging", "day", 4 * HOUR), noted("deployment", "plain", 11 * HOUR),
)  # fmt: skip


@each_row("ranking", RANKINGS)
@each_row(
    ("tags", "expected"),
    [
        (("late_night",), {"night", "late"}), (("late_night", "debugging"), {"night", "late", "day"}),
        (("debugging",), {"night", "day"}), (("late_night", "late_night"), {"night", "late"}), (("weekend",), set()),
        (("never heard of",), set()),
    ],
)  # fmt: skip
def test_a_result_has_any_of_the_tags_that_are_asked_for(ranking, tags, expected) -> None:
    assert set(found(viewed(*TAGGED), "deployment", 1, ranking=ranking, tags=tags)) == expected


MOODS = (
    noted("deployment works, wonderful", "good"), noted("deployment failed", "bad"),
    noted("deployment is urgent", "urgent"), noted("部署终于成功了，太棒了", "好"), noted("部署又崩溃了", "坏"),
    noted("部署十万火急，请立即处理", "急"),
)  # fmt: skip


@each_row("ranking", RANKINGS)
@each_row(
    ("query", "feeling", "expected"),
    [
        ("deployment", "positive", {"good"}), ("deployment", "negative", {"bad"}), ("deployment", "urgent", {"urgent"}),
        ("部署", "positive", {"好"}), ("部署", "negative", {"坏"}), ("部署", "urgent", {"急"}),
    ],
)  # fmt: skip
def test_a_feeling_is_asked_for_in_either_language(ranking, query, feeling, expected) -> None:
    results = found(viewed(*MOODS), query, ranking=ranking, feeling=feeling)
    alike = {"positive": {"good", "好"}, "negative": {"bad", "坏"}, "urgent": {"urgent", "急"}}[feeling]
    # "deployment" is 部署 where synonyms count.
    assert set(results) == (alike if ranking in ("conversation", "published") else expected)
    assert all(feeling in one["explain"]["tags"] for one in results.values())


def test_tags_and_a_feeling_must_both_be_there() -> None:
    events = (noted("deployment failed", "night", NIGHT), noted("deployment failed", "day", 4 * HOUR), *TAGGED)
    assert list(found(viewed(*events), "deployment", 1, tags=("late_night",), feeling="negative")) == ["night"]


def test_a_producers_own_tags_can_be_asked_for_and_stand_beside_the_derived_ones() -> None:
    view = viewed(
        noted("deployment failed", "own", NIGHT, tags=["sprint-7", "客户"]), noted("deployment failed", "other")
    )
    for tag in ("sprint-7", "客户"):
        assert found(view, "deployment", 1, tags=(tag,))["own"]["explain"]["tags"] == [
            "sprint-7",
            "客户",
            "late_night",
            "negative",
        ]


@each_row("ranking", RANKINGS)
def test_the_share_of_the_asked_tags_orders_what_is_else_alike(ranking) -> None:
    both = noted("deployment debugging", "both", NIGHT)
    one = noted("deployment debugging", "one", 11 * HOUR)
    results = found(viewed(both, one), "deployment", NIGHT, ranking=ranking, tags=("late_night", "debugging"))
    assert next(iter(results)) == "both"
    assert {name: result["explain"]["score"]["context"] for name, result in results.items()} == {
        "both": 0.05,
        "one": 0.025,
    }
    assert results["both"]["explain"]["tags"] == ["late_night", "debugging"]
