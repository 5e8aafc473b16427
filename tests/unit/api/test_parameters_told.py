"""What is told of parameters is what the door then admits: at the bounds they are taken, beyond them refused."""

from __future__ import annotations

from dataclasses import fields
from math import inf, nextafter
from typing import Any

import pytest

from engramlog.answers import ParametersKnown
from engramlog_server.api.parameters import parameters, parse_settings
from engramlog_server.events.errors import InputError
from engramlog_server.events.parameters import DEFAULTS, NAMES, Parameters, problem_with
from tests.given.shaped import checked
from tests.rows import each_row

TOLD: dict[str, dict[str, Any]] = {one["name"]: dict(one) for one in parameters()["parameters"]}
NUMBERS = [name for name in TOLD if TOLD[name]["kind"] in ("int", "float")]
TYPES: dict[str, type] = {"int": int, "float": float, "str": str, "bool": bool}
OTHER: dict[str, Any] = {"int": 2.5, "float": "1.0", "str": 1, "bool": "yes"}
"""What is of another kind than this."""


def test_every_parameter_of_the_model_is_told_in_its_order() -> None:
    assert list(TOLD) == list(NAMES) == [one.name for one in fields(Parameters)]


def test_the_answer_has_its_documented_shape() -> None:
    told = checked(ParametersKnown, parameters())
    assert [one.name for one in told.parameters] == list(NAMES)


@each_row("name", TOLD)
def test_a_default_is_of_the_kind_that_is_told_and_another_kind_is_refused(name: str) -> None:
    told = TOLD[name]
    assert told["default"] == getattr(DEFAULTS, name)
    assert type(told["default"]) is TYPES[told["kind"]]
    assert problem_with(name, told["default"]) is None
    assert problem_with(name, OTHER[told["kind"]]) == told["allowed"]


@each_row("name", NUMBERS)
def test_a_number_is_taken_at_its_bounds_and_refused_beyond_them(name: str) -> None:
    told = TOLD[name]
    least, most = told["least"], told["most"]
    below, within, above = (
        (least - 1, least + 1, most + 1)
        if told["kind"] == "int"
        else (nextafter(least, -inf), nextafter(least, inf), nextafter(most, inf))
    )
    assert problem_with(name, most) is None
    assert problem_with(name, within) is None
    assert problem_with(name, above) == told["allowed"]
    assert problem_with(name, below) == told["allowed"]
    assert (problem_with(name, least) == told["allowed"]) is told["least_excluded"]
    assert told["choices"] is None


@each_row("name", [name for name in TOLD if name not in NUMBERS])
def test_what_is_no_number_has_no_bounds_and_each_of_its_choices_is_taken(name: str) -> None:
    told = TOLD[name]
    assert (told["least"], told["most"], told["least_excluded"]) == (None, None, False)
    for one in told["choices"] or ():
        assert problem_with(name, one) is None
        assert parse_settings([f"{name}={str(one).lower()}"]) == {name: one}
    if told["choices"]:
        assert told["default"] in told["choices"]
        with pytest.raises(InputError, match="allowed: "):
            parse_settings([f"{name}=none of them"])


def test_those_with_choices_are_the_words_and_truth_values_of_a_closed_list() -> None:
    assert {name for name in TOLD if TOLD[name]["choices"] == [False, True]} == {
        name for name in NAMES if isinstance(getattr(DEFAULTS, name), bool)
    }
    assert TOLD["scheduler"]["choices"] == ["sm2", "fsrs"]
    assert TOLD["user_factor_scope"]["choices"] == ["decay", "both"]
    assert (TOLD["time_zone"]["choices"], TOLD["half_life_by_kind"]["choices"]) == (None, None)
