"""Under a table of results: how a question was taken apart, and what could not be compared by meaning."""

from __future__ import annotations

import io
from typing import Any, Literal

import numpy as np
import pytest
from rich.console import Console

from engramlog_server.api.cli.commands.lifecycle import _uncompared
from engramlog_server.api.cli.show.search import results
from engramlog_server.projections.embedding.choosing import RowsLookedAt, VectorsCompared
from tests.rows import each_row

Kind = Literal["statements", "turns"]
Reason = Literal["compared", "without_vector", "unread", "older"]
NO_ROWS = np.zeros(0, dtype=np.int64)


def told(
    search_mode: str = "hybrid",
    parts: tuple[str, ...] = (),
    embedded: int = 3,
) -> str:
    console = Console(file=(written := io.StringIO()), width=200, color_system=None)
    answer: Any = {
        "results": [],
        "total": 0,
        "offset": 0,
        "next": None,
        "mode": "normal",
        "position": "3:1",
        "search_mode": search_mode,
        "understood": {"times": [], "speakers": [], "parts": list(parts)},
        "expanded": {"synonyms": {}},
        "meaning": {"model": "mine", "embedded": embedded, "of": 4},
        "withheld": {},
    }
    results(answer, console)
    return written.getvalue()


def test_the_parts_of_a_question_are_told_as_they_were_asked() -> None:
    assert "also asked as: 我对什么过敏？ | [b]女儿叫什么？" in told(parts=("我对什么过敏？", "[b]女儿叫什么？"))
    assert "also asked as" not in told()


@each_row(
    ("search_mode", "words"),
    [("hybrid", "were matched by keyword only"), ("semantic", "are not found by meaning")],
)
def test_what_has_no_vector_was_compared_by_words_but_where_meaning_alone_is_asked_for(
    search_mode: str, words: str
) -> None:
    assert f"1 of 4 memories not embedded yet by mine and {words} (`engramlog cleanup --all --job embed`)" in told(
        search_mode
    )
    assert "have vectors" not in told(search_mode, embedded=4)


@pytest.mark.parametrize(
    ("kind", "reason", "said"),
    [
        (
            "statements",
            "without_vector",
            "1 statement not compared, without a vector yet: first `engramlog cleanup alice --job embed`",
        ),
        ("turns", "unread", "1 turn not compared, in letters that the model does not read"),
        ("turns", "older", "1 turn not compared, older than the newest that are looked at"),
        ("turns", "compared", None),
    ],
)
def test_what_was_not_compared_for_suggestions_is_said_on_standard_error(
    capsys: pytest.CaptureFixture[str], kind: Kind, reason: Reason, said: str | None
) -> None:
    told = VectorsCompared("mine", RowsLookedAt(NO_ROWS), RowsLookedAt(NO_ROWS), full=False).told()
    told[kind][reason] = 1
    _uncompared(told, "alice")
    heard = capsys.readouterr()
    assert heard.out == ""
    assert (" ".join(heard.err.split()) or None) == said
