"""The published figures of the weighted law (seed 002), to 4 decimals: each through its function and a history."""

from __future__ import annotations

from dataclasses import replace

from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.projections.laws import WEIGHTED
from engramlog_server.projections.laws.law import (
    drop_curve,
    factors,
    fade_curve,
    importance_of,
    momentum,
    semantic_boost,
    time_weight,
)
from engramlog_server.projections.memory.record import DAY
from tests.given.events import at, created, folded, mentioned, negated, parameters, told
from tests.rows import each_row

IMPORTANCE = [
    ("identity", "1.5000"), ("stable_preference", "1.3000"), ("skill", "1.2000"), ("fact", "1.1000"),
    ("short_term_preference", "0.9000"), ("temporary", "0.8000"),
]  # fmt: skip
TIME_WEIGHT = [
    ("identity", 180, "0.4545"), ("temporary", 180, "0.3077"), ("identity", 30, "0.8333"), ("temporary", 30, "0.7273"),
    ("identity", 90, "0.6250"), ("temporary", 90, "0.4706"),
]  # fmt: skip
SEMANTIC_BOOST = [(0, "1.5000"), (7, "1.3523"), (11, "1.2885"), (30, "1.1116")]
MOMENTUM = [(0, "1.0000"), (1, "1.1180"), (3, "1.2331"), (10, "1.2980")]
DROP = [(0, "0.3000"), (7, "0.3473"), (30, "0.4814"), (90, "0.7154")]
FADE = [(0, "1.0000"), (7, "0.9527"), (30, "0.8186"), (90, "0.5846")]


def shown(value: float) -> str:
    return f"{value:.4f}"


@each_row(("category", "figure"), IMPORTANCE)
def test_the_importance_of_a_category_is_as_published(category: str, figure: str) -> None:
    assert shown(importance_of(category, DEFAULTS)) == figure


@each_row(("category", "days", "figure"), TIME_WEIGHT)
def test_the_time_weight_is_as_published(category: str, days: int, figure: str) -> None:
    memory = folded(created(category=category)).memories["m"]
    assert [
        shown(time_weight(days, importance_of(category, DEFAULTS), DEFAULTS)),
        shown(factors(memory, at(days), DEFAULTS).time_weight),
    ] == [figure, figure]


@each_row(("days", "figure"), SEMANTIC_BOOST)
def test_the_semantic_boost_after_a_mention_is_as_published(days: int, figure: str) -> None:
    memory = folded(created(), mentioned(day=20)).memories["m"]
    assert [
        shown(semantic_boost(days, DEFAULTS.semantic_boost, DEFAULTS)),
        shown(factors(memory, at(20 + days), DEFAULTS).semantic_boost),
    ] == [figure, figure]


@each_row(("mentions", "figure"), MOMENTUM)
def test_the_momentum_of_mentions_within_three_days_is_as_published(mentions: int, figure: str) -> None:
    memory = folded(created(), *(mentioned(day=5 + number / 10) for number in range(mentions))).memories["m"]
    assert [shown(momentum(mentions, DEFAULTS)), shown(factors(memory, at(6), DEFAULTS).momentum)] == [figure, figure]


@each_row("resolution", ["latest_wins", "version_keep"])
@each_row(("days", "figure"), DROP)
def test_the_drop_curve_falls_at_once_and_recovers_as_published(days: int, figure: str, resolution: str) -> None:
    memory = folded(created(), negated(day=3, resolution=resolution)).memories["m"]
    assert [shown(drop_curve(days, DEFAULTS)), shown(factors(memory, at(3 + days), DEFAULTS).conflict_penalty)] == [
        figure,
        figure,
    ]


@each_row(("days", "figure"), FADE)
def test_the_fade_curve_falls_slowly_as_published(days: int, figure: str) -> None:
    memory = folded(created(), negated(day=3, resolution="weight_balance")).memories["m"]
    assert [shown(fade_curve(days, DEFAULTS)), shown(factors(memory, at(3 + days), DEFAULTS).conflict_penalty)] == [
        figure,
        figure,
    ]


def test_a_stable_preference_mentioned_once_eleven_days_ago_weighs_what_the_published_log_entry_says() -> None:
    memory = folded(created(day=0), mentioned(day=9)).memories["m"]
    reading = WEIGHTED.read(memory, at(20), DEFAULTS)
    assert {name: shown(value) for name, value in reading.factors.items()} | {"weight": shown(reading.weight)} == {
        "time_weight": "0.9220",
        "semantic_boost": "1.2885",
        "conflict_penalty": "1.0000",
        "importance": "1.3000",
        "user_factor": "1.0000",
        "momentum": "1.0000",
        "weight": "1.5443",
    }


def test_the_change_log_tells_the_jump_of_a_mention() -> None:
    """w_time(30 days) = 1/(1 + 0.3/1.3), times 1.3, before; 1.3 x 1.5 x M(1) after."""
    entry = told(folded(created(), mentioned(day=30)).entries)[-1]
    assert (entry["old_weight"], entry["new_weight"], entry["delta"]) == (1.05625, 2.18018, 1.12393)


@each_row(("rule", "days", "boost"), [
    ("replace", (5, 5.2, 5.4), "1.3000"),  # as published
    ("keep", (5, 5.2, 5.4), "1.4950"),  # 0.5 * exp(-0.05 * 0.2)
    ("keep", (5, 5, 5), "1.5000"),
    ("keep", (5, 5.2, 5.4, 5.6), "1.4901"),
])  # fmt: skip
def test_the_third_mention_within_a_day_replaces_s_as_published_or_keeps_what_is_left_of_it(
    rule: str, days: tuple[float, ...], boost: str
) -> None:
    """Seed 002's "+0.2" is the M of three mentions and is not added again."""
    memory = folded(created(), parameters(frequent_rule=rule), *(mentioned(day=day) for day in days)).memories["m"]
    found = factors(memory, at(days[-1]), DEFAULTS)
    assert (shown(found.semantic_boost), shown(found.momentum)) == (boost, shown(momentum(len(days), DEFAULTS)))


def test_the_reported_weight_is_clipped_above_and_the_unclipped_one_is_told_beside_it() -> None:
    mentions = [mentioned(day=5 + number) for number in range(3)]
    memory = folded(created(category="identity"), *mentions).memories["m"]
    reading = WEIGHTED.read(memory, at(7), DEFAULTS)
    assert (reading.weight, shown(reading.unclipped)) == (2.0, shown(1.5 * 1.5 * momentum(3, DEFAULTS)))


@each_row(("category", "years"), [("temporary", 17), ("identity", 61)])
def test_an_unclipped_weight_takes_seventeen_to_sixty_one_years_to_fall_under_a_hundredth(
    category: str, years: int
) -> None:
    memory = folded(created(category=category)).memories["m"]
    before, after = (WEIGHTED.read(memory, at(365.25 * y), DEFAULTS) for y in (years, years + 1))
    assert (before.unclipped > 0.01 > after.unclipped, after.weight) == (True, 0.01)


@each_row("days", [0, 1, 30, 365, 36_500])
def test_as_published_a_fast_forgetter_weighs_more_at_every_instant(days: int) -> None:
    memory = folded(created(category="fact")).memories["m"]
    slow, fast = (
        WEIGHTED.read(memory, at(days), replace(DEFAULTS, user_factor=u, user_factor_scope="both")).unclipped
        for u in (0.8, 1.3)
    )
    assert fast > slow


@each_row("days", [1, 30, 365, 36_500])
def test_by_default_a_fast_forgetter_weighs_less_at_every_later_instant(days: int) -> None:
    memory = folded(created(category="fact")).memories["m"]
    slow, normal, fast = (
        WEIGHTED.read(memory, at(days), replace(DEFAULTS, user_factor=u)).unclipped for u in (0.8, 1.0, 1.3)
    )
    assert slow > normal > fast


@each_row(
    ("scope", "user_factor", "figures"),
    [
        # 1/(1 + 0.01 U 30/1.1), times 1.1, times U under `both`.
        ("decay", 0.8, ("0.8209", "1.0000", "0.9030")),
        ("decay", 1.3, ("0.7383", "1.0000", "0.8121")),
        ("both", 0.8, ("0.8209", "0.8000", "0.7224")),
        ("both", 1.3, ("0.7383", "1.3000", "1.0557")),
    ],
)
def test_the_user_factor_acts_where_its_scope_says(scope: str, user_factor: float, figures: tuple[str, ...]) -> None:
    memory = folded(created(category="fact")).memories["m"]
    chosen = replace(DEFAULTS, user_factor=user_factor, user_factor_scope=scope)
    found = factors(memory, memory.created_at + 30 * DAY, chosen)
    assert (shown(found.time_weight), shown(found.user_factor), shown(found.product)) == figures
