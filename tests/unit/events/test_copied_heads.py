"""Heads that somebody holds: lines of one file or several, or what `heads --json` told; and what is none of these."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.errors import InputError
from engramlog_server.events.heads import FIRST, Head, HeadBook, HeadLine, copied_book, next_line, write_line
from tests.rows import each_row

STORE = "6d0f3b1c-2f7e-4a52-9a3e-0d8c3c8b7f11"
A, B, C = "a" * 64, "b" * 64, "c" * 64


def lines(*heads: Head) -> list[bytes]:
    """A file of one line a head."""
    book, found = HeadBook(), []
    for number, head in enumerate(heads):
        line = write_line(next_line(book, f"2026-11-26T07:00:0{number}Z", STORE, [head]))
        book.take(line.rstrip(b"\n"))
        found.append(line)
    return found


FILE = lines(Head(0, 3, A), Head(0, 7, B), Head(1, 2, C))


@each_row(
    "told",
    [
        b"".join(FILE),
        b"".join(FILE).rstrip(b"\n"),
        b"\xef\xbb\xbf" + b"".join(FILE).replace(b"\n", b"\r\n"),
        b"\n\n".join(FILE),
    ],
    ids=["as it is", "no end", "another system", "blank lines"],
)
def test_a_pasted_file_says_what_the_file_says(told: bytes) -> None:
    book = copied_book(told, "text")
    assert (book.problems, book.stores, sorted(book.expected[0]), book.newest(1)) == (
        [],
        {STORE},
        [3, 7],
        Head(1, 2, C),
    )
    assert book.expected[0][7].at == "2026-11-26T07:00:01Z"


def test_a_part_of_a_file_stands_alone() -> None:
    book = copied_book(b"".join(FILE[1:]), "text")
    assert (book.problems, book.expected[0][7].line) == ([], 2)


def test_the_beginning_of_another_file_may_follow() -> None:
    other = write_line(HeadLine(1, "", STORE, (Head(2, 9, A),), FIRST))
    book = copied_book(b"".join([*FILE, other, other]), "text")
    assert (book.problems, book.newest(2)) == ([], Head(2, 9, A))


def test_a_line_that_was_taken_out_is_a_problem() -> None:
    assert copied_book(FILE[0] + FILE[2], "text").problems == ["line 2 does not follow on the line before"]


def test_what_the_command_tells_as_json_is_read_with_capital_digits_too() -> None:
    told = {"store_id": STORE, "heads": [{"partition": 3, "seq": 5, "chain": A.upper(), "at": None}], "lines": 1}
    book = copied_book(json.dumps(told, indent=2).encode(), "text")
    assert (book.newest(3), book.stores) == (Head(3, 5, A), {STORE})


@each_row(
    ("told", "says"),
    [
        (b"", "has no line"),
        (b" \n ", "has no line"),
        (b"what is this?", "cannot be read in line 1"),
        (FILE[0] + b"{}\n", "cannot be read in line 2"),
        (FILE[0] + FILE[1][:40], "cannot be read in line 2"),
        (b"\xff\xfe", "cannot be read in line 1"),
        (b"[" * 5_000, "cannot be read in line 1"),
        (json.dumps({"store_id": STORE, "heads": [{"partition": "x"}]}).encode(), r"\$\.heads\[0\]\.partition"),
        (json.dumps({"store_id": STORE, "heads": [{"partition": 0, "seq": 1, "chain": "no"}]}).encode(), r"heads\[0\]"),
        (
            json.dumps({"store_id": STORE, "heads": [{"partition": 0, "seq": 2**62, "chain": A}]}).encode(),
            r"heads\[0\]",
        ),
    ],
)
def test_what_is_no_text_of_heads_is_refused_by_its_line(told: bytes, says: str) -> None:
    with pytest.raises(InputError, match=rf"^text: .*{says}.*; allowed: kept heads") as refusal:
        copied_book(told, "text")
    assert refusal.value.context["field"] == "text"


def test_of_a_file_the_end_that_a_dying_writer_left_is_no_line() -> None:
    assert copied_book(FILE[0] + FILE[1][:40], "against", "a.jsonl").torn == 40
    with pytest.raises(InputError, match=r"a\.jsonl has no line"):
        copied_book(FILE[0][:40], "against", "a.jsonl")


def test_a_head_whose_chain_is_no_number_is_a_problem_and_is_not_compared() -> None:
    book = copied_book(write_line(HeadLine(1, "", STORE, (Head(0, 3, "z" * 64),), FIRST)), "text")
    assert (book.problems, book.expected) == (["line 1 has a head that cannot be"], {})


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
def test_whatever_is_pasted_it_is_read_or_refused(told: bytes) -> None:
    try:
        assert copied_book(told, "text").lines > 0
    except InputError as error:
        assert error.context["field"] == "text"
