"""Numbers said digit by digit are digits before a rule asks; and what is only counted, scored or said once stays words."""

from __future__ import annotations

from engramlog_server.projections.language.sensitivity.level import STARTING, detect_sensitivity, in_digits
from tests.rows import each_row


def _keys(text: str) -> frozenset[str]:
    return STARTING.intersection(text.replace(",", " ").replace("-", " ").split())


@each_row(
    ("said", "digits"),
    [
        ("punch in four four one nine", "punch in 4419"), ("double seven oh two then enter", "7702 then enter"),
        ("it is eight, one, three, six", "it is 8136"), ("nine-two-one-four opens it", "9214 opens it"),
    ],
)  # fmt: skip
def test_digits_said_in_a_row_are_read_as_digits(said: str, digits: str) -> None:
    assert in_digits(said, said, _keys(said)) == (digits, digits)
    assert in_digits(said.title(), said, _keys(said)) is not None


@each_row(
    "text",
    [
        "one two three four", "nine eight seven six", "four four four four", "seven or eight or nine", "two point five six",
    ],
)  # fmt: skip
def test_what_is_counted_or_not_in_a_row_stays_words(text: str) -> None:
    assert in_digits(text, text, _keys(text)) is None


def test_a_code_said_in_words_is_as_secret_as_in_digits() -> None:
    for code in ("four four one nine", "4419"):
        assert detect_sensitivity(f"The alarm will beep. Punch in {code} and then the OFF button") == 3
