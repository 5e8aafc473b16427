"""Which answers used a memory."""

from __future__ import annotations

from engramlog_server.projections.views.answered import uses_of
from tests.given.said import injection, reply, turn


def told(use) -> tuple:
    return (use.injection.seq, use.turn and use.turn.turn_id, [one.turn_id for one in use.replies], use.linked)


def test_the_replies_that_name_the_turn_are_its_answers() -> None:
    said = [turn(1), injection(2, "m", "n", turn_id="t1"), reply(3, reply_to="t1"), reply(4), reply(5, reply_to="t1")]
    assert [told(one) for one in uses_of("m", said)] == [(2, "t1", ["t3", "t5"], True)]
    assert uses_of("other", said) == []


def test_without_such_a_link_it_is_what_the_assistant_said_next_in_the_session() -> None:
    said = [turn(1), injection(2, "m", turn_id="t1"), reply(3, session="s2"), reply(4)]
    assert [told(one) for one in uses_of("m", said)] == [(2, "t1", ["t4"], False)]


def test_somebody_elses_next_word_is_no_answer() -> None:
    said = [turn(1), injection(2, "m", turn_id="t1"), turn(3), reply(4)]
    assert [told(one) for one in uses_of("m", said)] == [(2, "t1", [], False)]


def test_uses_come_newest_first_and_each_turn_once() -> None:
    said = [
        turn(1),
        injection(2, "m", turn_id="t1"),
        injection(3, "m", turn_id="t1"),
        reply(4),
        turn(5),
        injection(6, "m", turn_id="t5"),
        injection(7, "m"),
        injection(8, "m"),
    ]
    assert [one.injection.seq for one in uses_of("m", said)] == [8, 7, 6, 2]
