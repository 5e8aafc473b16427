"""Which pieces of words are looked for: whole words, long enough, spread over all that was said, in English and Chinese alike."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.erasing.pieces import (
    A_TEXT,
    GOOD_BYTES,
    LEAST_BYTES,
    MOST_BYTES,
    Evenly,
    distinct,
    forms_of_piece,
    pieces_of,
    spread,
    texts_of,
)

ENGLISH = "On the ninth of May we walked along the river to the old mill, where nobody has lived since the flood came."
CHINESE = "五月九日我们沿着河边走到了旧磨坊，自从发大水以后那里就再也没有人住过，只剩下一棵老槐树和几只野猫。"


@given(st.text(max_size=400))
def test_a_piece_is_part_of_its_text_and_as_long_as_is_promised(text: str) -> None:
    found = pieces_of(text)
    assert len(found) <= A_TEXT
    for piece in found:
        assert piece in text
        assert LEAST_BYTES <= len(piece.encode()) <= MOST_BYTES


@given(st.text(max_size=400))
def test_a_piece_stands_in_json_as_it_stands_in_its_text(text: str) -> None:
    for piece in pieces_of(text):
        assert piece in json.dumps(text, ensure_ascii=False)
        assert any(form.decode("utf-8") in json.dumps(text) for form in forms_of_piece(piece))


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_beginning_middle_and_end_of_a_text_are_chosen_from(text: str) -> None:
    found = pieces_of(text * 5)
    assert len(found) == len(set(found)) == A_TEXT
    assert all(len(piece.encode()) >= GOOD_BYTES for piece in found)
    longer = text + "\n" + "。".join(f"{number} {text[::-1]}" for number in range(8))
    places = [longer.index(piece) for piece in pieces_of(longer)]
    assert places == sorted(places)
    assert places[0] == 0
    assert places[-1] > len(longer) * 2 // 3


def test_a_piece_begins_and_ends_where_a_word_does() -> None:
    for piece in pieces_of(ENGLISH, 20):
        assert re.search(rf"(?<!\w){re.escape(piece)}(?!\w)", ENGLISH)


def test_what_is_short_is_taken_only_where_the_whole_text_is() -> None:
    assert pieces_of("I like tea") == []
    assert pieces_of("我喜欢茶") == ["我喜欢茶"]
    assert pieces_of("a walk in rain") == ["a walk in rain"]
    assert pieces_of(f'"{ENGLISH}" and so on') == pieces_of(ENGLISH)
    assert pieces_of("x" * 300)[0] == "x" * MOST_BYTES


def test_words_are_told_from_ids_and_numbers_of_an_event() -> None:
    told = {
        "memory_id": "the id of a memory is none",
        "content": "words",
        "kind": "fact",
        "metadata": {"a": ["below", {"b": "further below"}]},
        "accesses": [{"query": "asked", "at": "2026-01-01", "shown": ["m1"]}],
        "summary": None,
    }
    assert sorted(texts_of(told)) == ["asked", "below", "further below", "words"]


def test_part_of_an_owners_name_is_no_piece() -> None:
    assert list(distinct(["lovelace-of-london", "another piece", "another piece"], "ada-lovelace-of-london")) == [
        "another piece"
    ]


@given(st.integers(1, 40), st.integers(0, 500))
def test_few_are_chosen_evenly_of_a_number_that_is_not_known_before(most: int, many: int) -> None:
    chosen = Evenly[int](most)
    for number in range(many):
        chosen.add(number)
    found = chosen.chosen
    assert len(found) <= most
    assert len(found) >= min(most, many)
    assert found == sorted(set(found))
    if many:
        assert found[0] == 0
        gaps = [after - before for before, after in zip(found, [*found[1:], many], strict=True)]
        assert max(gaps) <= 4 * -(-many // most)


@given(st.lists(st.integers(), max_size=50), st.integers(1, 60))
def test_spreading_keeps_the_order_and_the_bound(some: list[int], most: int) -> None:
    found = spread(some, most)
    assert len(found) == min(len(some), most)
    rest = iter(some)
    assert all(one in rest for one in found)
