"""A turn as it is told where a memory's uses are: one whose words were erased is no turn of nothing."""

from __future__ import annotations

from engramlog_server.api.services.answers import turn_told
from engramlog_server.projections.views.event_words import ERASED, mark
from tests.given.said import turn


def test_a_turn_whose_words_were_erased_says_so_also_where_it_is_forgotten() -> None:
    erased = turn(1)._replace(text="", turn_id="t1")
    for forgotten in (frozenset[str](), frozenset({"t1"})):
        assert turn_told(erased, forgotten, ())["text"] == mark(ERASED)
    assert turn_told(turn(1), frozenset(), ())["text"] == turn(1).text
