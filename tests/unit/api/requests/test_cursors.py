"""Cursors of a search: each goes on with its own question, as its page left it, and with nothing else."""

from __future__ import annotations

import pytest

from engramlog_server.api.services.reading import Cursor, cursor_text, question_digest, read_cursor
from engramlog_server.events.errors import InputError
from tests.rows import each_row

ASKED = question_digest({"kinds": ("fact",)}, "alice", "coffee", "normal")
NEXT = Cursor("3:128", 1_795_419_568_472_804, 5, ASKED, 8, "minilm 7")


def test_a_cursor_reads_back_as_it_was_told() -> None:
    assert read_cursor(cursor_text(NEXT), ASKED) == NEXT


@each_row(
    "other",
    [
        question_digest({"kinds": ("fact",)}, "alice", "tea", "normal"),
        question_digest({"kinds": ("fact",)}, "bob", "coffee", "normal"),
        question_digest({"kinds": ("fact",)}, "alice", "coffee", "review"),
        question_digest({"kinds": ("note",)}, "alice", "coffee", "normal"),
        question_digest({}, "alice", "coffee", "normal"),
    ],
    ids=["another query", "another owner", "another mode", "another filter", "no filter"],
)
def test_a_cursor_of_one_question_is_refused_for_another(other: str) -> None:
    with pytest.raises(InputError, match="what `next` said on the page before"):
        read_cursor(cursor_text(NEXT), other)


@each_row(
    "text",
    [
        "",
        "no cursor",
        "W10",
        cursor_text(NEXT)[:-4],
        cursor_text(NEXT._replace(offset=0)),
        cursor_text(NEXT._replace(offset=-5)),
        cursor_text(NEXT._replace(offset=10**9)),
        cursor_text(NEXT._replace(at="now")),  # type: ignore[arg-type]
    ],
)
def test_what_no_page_told_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="cursor"):
        read_cursor(text, ASKED)
