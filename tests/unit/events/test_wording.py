"""No sentence of the validating library reaches a user: every kind of refusal has words of ours."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from engramlog_server.events.validation import KINDS, OTHER, allowed_words
from tests.rows import each_row

PHRASES = (
    "nput should", "Field required", "Extra inputs", "unable to parse", "Value error", "valid string", "valid integer",
)  # fmt: skip


class Shape(BaseModel):
    """One field of each kind that questions and events have."""

    model_config = ConfigDict(extra="forbid")
    text: Annotated[str, Field(min_length=1, max_length=3)] = "a"
    count: Annotated[int, Field(ge=1, le=9)] = 1
    share: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.5
    sure: bool = True
    mode: Literal["normal", "debug"] = "normal"
    tags: Annotated[list[str], Field(max_length=1)] = Field(default_factory=list)
    facts: dict[str, int] = Field(default_factory=dict)
    name: Annotated[str, Field(pattern="^a+$")] = "a"
    odd: int = 1

    @field_validator("odd")
    @classmethod
    def _is_odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError("an odd number")
        return value


@each_row(
    ("field", "got", "allowed"),
    [
        ("text", "", "at least 1 character"),
        ("text", "abcd", "at most 3 characters"),
        ("text", 7, "a text"),
        ("count", 0, "1 or more"),
        ("count", 10, "9 or less"),
        ("count", "x", "a whole number"),
        ("count", 1.5, "a whole number"),
        ("share", 0, "more than 0"),
        ("share", 1, "less than 1"),
        ("share", "x", "a number"),
        ("share", float("nan"), "a finite number"),
        ("sure", "perhaps", "true or false"),
        ("mode", "loud", "'normal' or 'debug'"),
        ("tags", "x", "a list"),
        ("tags", ["a", "b"], "at most 1 item"),
        ("facts", [], "an object"),
        ("name", "b", "a text of the form ^a+$"),
        ("odd", 2, "an odd number"),
        ("other", 1, "no such field: unknown ones are refused"),
    ],
)
def test_a_refused_value_is_told_what_is_allowed_in_plain_words(field: str, got: Any, allowed: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Shape.model_validate({field: got})
    assert [allowed_words(one) for one in caught.value.errors()] == [allowed]


def test_a_value_that_is_missing_is_told_to_be_required() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(tuple[int, int]).validate_python((1,))
    assert allowed_words(caught.value.errors()[0]) == "a value: it is required"


CONTEXT = dict.fromkeys(("gt", "ge", "lt", "le", "multiple_of", "pattern", "expected", "expected_tags", "error"), "so")
CONTEXT |= {"min_length": 1, "max_length": 1}  # type: ignore[dict-item]


@each_row("kind", sorted(KINDS - {"value_error", "assertion_error"}))
def test_every_kind_of_refusal_of_the_library_has_words_that_are_not_its_own(kind: str) -> None:
    words = allowed_words({"type": kind, "msg": "Input should be a valid string, unable to parse", "ctx": CONTEXT})
    assert words
    assert not any(phrase in words for phrase in PHRASES)


def test_a_refusal_of_ours_keeps_its_words_and_one_that_nobody_foresaw_has_none_of_the_library_s() -> None:
    assert allowed_words({"type": "owner_rule", "msg": "1 to 128 letters"}) == "1 to 128 letters"
    assert allowed_words({"type": "is_instance_of", "msg": "Input should be an instance of X"}) == OTHER
