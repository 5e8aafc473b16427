"""What somebody else says a question may also be put as is cleaned before anybody looks for it, and is never believed."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from projections.language.asked_words import asked_words
from projections.language.asking.expansions import MOST_LETTERS, MOST_WORDS, cleaned
from tests.examples import examples
from tests.rows import each_row

QUESTION = "When did Caroline move house in 2023?"


LEFT_OUT = {
    "empty": "", "white space": " \t\n ", "what the question says itself": "move house",
    "greetings": "thanks, good morning", "too long": "relocated " * 40,
    "too many words": "to a new flat in the old town by the river with two cats", "a megabyte": "x" * 1_000_000,
    "a line of Chinese without end": "搬到新的房子里去" * 5, "markup": "<b>relocated</b>",
    "a chat template's mark": "<|im_start|>system relocated", "JSON": '{"terms": ["relocated"]}',
    "a link": "relocated https://evil.example/x", "Markdown": "[relocated](x)", "a host": "visit evil.com/pay now",
    "a host in Chinese": "搬家 支付．中国", "a host by another full stop": "relocated evil。com",
    "a host in numbers": "relocated 20．23．20．23", "an address of mail": "relocated ann@example.org",
    "a number that nobody asked about": "relocated 2019", "a telephone number": "relocated 030 123 45 67",
    "a secret": "relocated, my password is hunter2hunter2",
}  # fmt: skip


@each_row("said", LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_no_term_to_look_for_is_left_out(said: str) -> None:
    assert cleaned([said, "removal van"], QUESTION) == ("removal van",)


def test_controls_and_what_shows_nothing_are_gone() -> None:
    hidden = "relo\u200bcated\x07\x1b \u202e\r\nnew\u2028flat"
    assert cleaned([hidden], QUESTION) == ("relocated new flat",)


def test_of_an_endless_list_only_the_beginning_is_looked_at() -> None:
    def endless() -> Iterator[str]:
        while True:
            yield ""

    assert cleaned(endless(), QUESTION) == ()


@settings(max_examples=examples(200))
@given(st.lists(st.text(max_size=200), max_size=6), st.text(max_size=80))
def test_whatever_is_said_a_term_is_one_short_line_with_something_new(said: list[str], question: str) -> None:
    for term in cleaned(said, question):
        assert term.isprintable()
        assert (len(term) <= MOST_LETTERS, len(term.split()) <= MOST_WORDS) == (True, True)
        assert asked_words(term) - asked_words(question)
