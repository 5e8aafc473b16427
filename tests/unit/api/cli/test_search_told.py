"""Under a table of results: how a question was taken apart, and what could not be compared by meaning."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from api.cli.commands.cleaning import _uncompared
from api.cli.show.search import results


def told(
    search_mode: str = "hybrid",
    parts: tuple[str, ...] = (),
    embedded: int = 3,
    expansion: dict[str, Any] | None = None,
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
        "understood": {"times": [], "speakers": [], "parts": list(parts)}
        | ({} if expansion is None else {"expansion": {"terms": [], "model": "small", **expansion}}),
        "expanded": {"synonyms": {}},
        "meaning": {"model": "mine", "embedded": embedded, "of": 4},
        "withheld": {},
    }
    results(answer, console)
    return written.getvalue()


def test_the_parts_of_a_question_are_told_as_they_were_asked() -> None:
    assert "also asked as: 我对什么过敏？ | [b]女儿叫什么？" in told(parts=("我对什么过敏？", "[b]女儿叫什么？"))
    assert "also asked as" not in told()


def test_other_words_for_a_question_are_told_with_who_gave_them() -> None:
    assert "in other words, by small: 新家 | [b]removal van" in told(
        expansion={"status": "asked", "terms": ["新家", "[b]removal van"]}
    )
    assert "other words" not in told()


@pytest.mark.parametrize(
    ("expansion", "words"),
    [
        ({"status": "past"}, "a question about the past"),
        ({"status": "private"}, "which no model is given"),
        ({"status": "limit"}, "as may be"),
        ({"status": "timeout"}, "took too long"),
        ({"status": "failed", "why": "the model endpoint x is down"}, "the model endpoint x is down"),
    ],
)
def test_why_a_question_was_not_put_in_other_words_is_told(expansion: dict[str, Any], words: str) -> None:
    said = told(expansion=expansion)
    assert words in said[said.index("not put in other words: ") :]


@pytest.mark.parametrize("status", ["off", "nothing"])
def test_nothing_is_said_where_there_is_nothing_to_do(status: str) -> None:
    assert "other words" not in told(expansion={"status": status})


@pytest.mark.parametrize(
    ("search_mode", "words"),
    [("hybrid", "the others were compared by words only"), ("semantic", "the others are not found by meaning alone")],
)
def test_what_has_no_vector_was_compared_by_words_but_where_meaning_alone_is_asked_for(
    search_mode: str, words: str
) -> None:
    assert f"3 of 4 memories have vectors of mine; {words} (`engramlog embed`)" in told(search_mode)
    assert "have vectors" not in told(search_mode, embedded=4)


@pytest.mark.parametrize(("embedded", "said"), [(3, True), (4, False)])
def test_what_was_not_compared_for_suggestions_is_said_on_standard_error(
    capsys: pytest.CaptureFixture[str], embedded: int, said: bool
) -> None:
    _uncompared({"owner": "alice", "model": "mine", "embedded": embedded, "of": 4})
    heard = capsys.readouterr()
    assert heard.out == ""
    assert (
        "3 of 4 memories have vectors of mine" in heard.err,
        "engramlog embed alice" in " ".join(heard.err.split()),
    ) == (said, said)
