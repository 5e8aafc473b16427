"""Parameters have bounds, and say them."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.parameters import DEFAULTS, NAMES, Parameters, allowed, changed, problem_with, schema_of
from tests.rows import each_row

NUMBERS = [name for name in NAMES if schema_of(name).get("type") in ("number", "integer")]


@each_row("name", NAMES)
def test_every_default_is_within_its_bounds(name: str) -> None:
    assert problem_with(name, getattr(DEFAULTS, name)) is None


@each_row("name", NUMBERS)
def test_a_number_is_held_between_its_bounds(name: str) -> None:
    schema = schema_of(name)
    top, whole = schema["maximum"], schema["type"] == "integer"
    bottom = schema.get("minimum", schema.get("exclusiveMinimum"))
    step = 1 if whole else 1e-6
    assert problem_with(name, top) is None
    assert problem_with(name, top + step) == allowed(name)
    assert problem_with(name, bottom - step) == allowed(name)
    assert (problem_with(name, bottom) is None) == ("minimum" in schema)
    assert f"{bottom}" in allowed(name)
    assert allowed(name).endswith(f"to {top}")


@each_row("name", NUMBERS)
@each_row("value", [True, "1", None, float("nan"), float("inf"), float("-inf"), [1.0]])
def test_what_is_no_finite_number_is_no_number(name: str, value: Any) -> None:
    assert problem_with(name, value) == allowed(name)


@each_row(
    ("name", "value", "rule"),
    [
        ("frequent_threshold", 3.0, "a whole number from 2 to 64"),
        ("alpha_base", -0.1, "a number from 0 to 10"),
        ("importance_fact", 0, "a number above 0 to 10"),
        ("user_factor_scope", "all", "one of decay, both"),
        ("time_zone", "Mars/Olympus", "an IANA time zone such as UTC or Asia/Shanghai"),
        ("time_zone", "../etc/passwd", "an IANA time zone such as UTC or Asia/Shanghai"),
        ("time_zone", 8, "an IANA time zone such as UTC or Asia/Shanghai"),
    ],
)
def test_a_value_out_of_bounds_is_told_what_is_allowed(name: str, value: Any, rule: str) -> None:
    assert problem_with(name, value) == rule


def test_an_unknown_name_is_told_all_names() -> None:
    assert problem_with("alpha", 1) == "a parameter's name: " + ", ".join(NAMES)


def test_changed_parameters_leave_the_others_and_make_whole_numbers_fractions() -> None:
    after = changed(DEFAULTS, {"alpha_base": 1, "time_zone": "Asia/Shanghai"})
    assert after == Parameters(alpha_base=1.0, time_zone="Asia/Shanghai")
    assert isinstance(after.alpha_base, float)
    assert changed(after, {}) == after


def test_the_defaults_are_the_published_ones() -> None:
    assert (DEFAULTS.alpha_base, DEFAULTS.semantic_boost, DEFAULTS.frequent_boost) == (0.01, 0.5, 0.3)
    assert (DEFAULTS.lambda_s, DEFAULTS.c_min, DEFAULTS.lambda_c) == (0.05, 0.3, 0.01)
    assert (DEFAULTS.momentum, DEFAULTS.lambda_m, DEFAULTS.user_factor) == (0.3, 0.5, 1.0)
    assert (DEFAULTS.weight_min, DEFAULTS.weight_max, DEFAULTS.archive_weight) == (0.01, 2.0, 0.01)
    assert (DEFAULTS.weighted_normal_threshold, DEFAULTS.weighted_review_threshold) == (0.3, 0.01)
