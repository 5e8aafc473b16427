"""What every peer gets: the same rows, and questions that one of them answers."""

from __future__ import annotations

from math import isclose

import pytest

from ops.bench.peers.peer import DIMENSIONS, cut, embed, questions_of, rows_of


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tea at four", "tea at four"),
        ("\u559c\u6b22\u559d\u8336", " \u559c\u6b22 \u6b22\u559d \u559d\u8336 "),
        ("AI\u52a9\u624b\uff0c\u4f60\u597d", "AI \u52a9\u624b \uff0c \u4f60\u597d "),
        ("\u8336", "\u8336"),
    ],
)
def test_chinese_is_cut_in_pairs_and_all_else_is_as_it_was(text: str, told: str) -> None:
    assert cut(text) == told


@pytest.mark.parametrize("texts", ["talk", "chinese", "answers"])
def test_questions_are_words_of_one_row_and_the_same_each_time(texts: str) -> None:
    rows = rows_of(texts, 60)
    asked = questions_of(rows, 30)
    assert asked == questions_of(rows_of(texts, 60), 30)
    held = {row.key: row.text for row in rows}
    assert all(word in held[one.key] for one in asked for word in one.words.split())
    assert len({one.key for one in asked}) == 30


def test_an_embedded_text_is_of_length_one_and_likest_to_itself() -> None:
    first, second = embed(["I drink green tea in the morning", "the lamp in the harbour is broken"])
    assert len(first) == DIMENSIONS
    assert isclose(sum(a * a for a in first), 1.0)
    assert sum(a * b for a, b in zip(first, second, strict=True)) < 0.9
    assert isclose(sum(one * one for one in embed([""])[0]), 1.0)
