"""Sentences are cut in English and Chinese, and those that say most are chosen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.keywords import chosen, sentences
from tests.rows import each_row


@each_row(
    ("text", "expected"),
    [
        ("", []),
        ("One sentence", ["One sentence"]),
        ("It rains. We stay in! Do we?  Yes.", ["It rains.", "We stay in!", "Do we?", "Yes."]),
        ("Dr. Smith paid 3.50 for it, e.g. Tea. Fine.", ["Dr. Smith paid 3.50 for it, e.g. Tea.", "Fine."]),
        ('She said "Stop." Then she left.', ['She said "Stop."', "Then she left."]),
        ("see v2.3.1 at x.y/z.html now", ["see v2.3.1 at x.y/z.html now"]),
        ("我去北京了。你呢？好的！", ["我去北京了。", "你呢？", "好的！"]),
        ("他说：“走吧。”然后走了。", ["他说：“走吧。”", "然后走了。"]),
        ("first line\n\nsecond line", ["first line", "second line"]),
        ("喝茶。I like tea. 真的", ["喝茶。", "I like tea.", "真的"]),
    ],
)
def test_a_text_is_cut_into_its_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet=st.sampled_from('ab. A!?。？！\n"”…1')))
def test_cutting_loses_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_the_sentences_chosen_share_most_words_with_the_rest_and_are_told_in_order() -> None:
    pieces = [
        "Nice to see you here.",
        "The kiln broke on Friday.",
        "A new kiln costs 900 euro.",
        "Maybe lunch soon, they say.",
    ]
    assert chosen(pieces, 2) == [1, 2]


def test_a_sentence_said_twice_is_chosen_once() -> None:
    assert chosen(["The kiln broke on Friday."] * 3, 2) == [0]


@given(st.lists(st.text(max_size=30), max_size=8), st.integers(0, 4), st.text(max_size=20))
def test_at_most_so_many_are_chosen_each_once_in_order(pieces: list[str], most: int, about: str) -> None:
    found = chosen(pieces, most, about)
    assert found == sorted(set(found))
    assert len(found) <= most
