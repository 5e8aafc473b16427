"""What a JSON text holds, counted before it is parsed: never fewer values than a parser makes, and escapes hide nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.http import guard as structure
from engramlog_server.api.http.guard import Most, check_lines, check_structure
from engramlog_server.events.errors import InputError, RequestTooLarge
from tests.rows import each_row

LEAVES = st.none() | st.booleans() | st.integers() | st.text(alphabet='a\\"[]{},:\né😀', max_size=12)
DOCUMENTS = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=40
)


def made(document: Any) -> int:
    """Items and members of every array and object; an empty one counts as one."""
    if isinstance(document, dict | list):
        inner = document.values() if isinstance(document, dict) else document
        return max(len(inner), 1) + sum(map(made, inner))
    return 0


def deep(document: Any) -> int:
    """How far arrays and objects stand within each other."""
    if isinstance(document, dict | list):
        inner = document.values() if isinstance(document, dict) else document
        return 1 + max(map(deep, inner), default=0)
    return 0


def refuses(text: bytes, most: Most) -> type[InputError] | None:
    """What a text is refused with."""
    try:
        check_structure(text, most)
    except InputError as error:
        return type(error)
    return None


@pytest.mark.parametrize("piece", [1, 2, 7, structure.PIECE])
@given(document=DOCUMENTS, ascii_only=st.booleans())
def test_a_document_is_refused_exactly_where_it_holds_more_or_is_deeper(
    piece: int, document: Any, ascii_only: bool
) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only).encode()
    size, depth = made(document), deep(document)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structure, "PIECE", piece)
        assert refuses(text, Most(size, depth)) is None
        if depth:
            assert refuses(text, Most(size - 1, depth)) is RequestTooLarge
            assert refuses(text, Most(size, depth - 1)) is InputError


@each_row(
    "text",
    [
        b"[1,1,1,1,1,1,1,1,1,1,1,1]",
        b'["\\\\",1,1,1,1,1,1,1,1,1,1,1]',
        b'["\\\\\\"",1,1,1,1,1,1,1,1,1,1,1]',
        b'{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1}',
        b"[[],[],[],[],[],[],[],[],[],[],[],[]]",
    ],
)
def test_more_values_than_are_allowed_are_refused_and_the_answer_says_how_many_are(text: bytes) -> None:
    with pytest.raises(RequestTooLarge, match="more than 10 JSON values; at most 10 are allowed") as raised:
        check_structure(text, Most(10, 100))
    assert (raised.value.context["field"], raised.value.context["allowed"]) == ("body", 10)


def test_commas_and_brackets_in_a_text_count_for_nothing() -> None:
    check_structure(json.dumps(['[[[{,,,"],],' * 1_000]).encode(), Most(10, 1))


@each_row("text", [b'"\n' + b"[" * 11, b"{}\n\n" + b'{"a":' * 11, b"x\\\n" + b"[" * 11])
def test_a_line_that_is_broken_hides_nothing_of_the_next(text: bytes) -> None:
    check_lines(text, Most(100, 11))
    with pytest.raises(InputError, match="more than 10 deep"):
        check_lines(text, Most(100, 10))


def test_lines_are_values_too_even_empty_ones() -> None:
    check_lines(b"\n" * 10, Most(10, 10))
    with pytest.raises(RequestTooLarge):
        check_lines(b"\n" * 11, Most(10, 10))


def test_values_of_all_lines_count_together_and_their_depths_do_not() -> None:
    lines = b'[["a"],["b"]]\n' * 5
    each = 1 + 2 + 1 + 1  # the line, the two arrays in it, and what these hold
    check_lines(lines, Most(5 * each, 2))
    with pytest.raises(RequestTooLarge):
        check_lines(lines, Most(5 * each - 1, 2))
