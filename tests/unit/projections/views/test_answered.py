"""Which turns had memories in their prompt, and what was replied."""

from __future__ import annotations

from engramlog_server.projections.views.answered import TurnAnswered, answered_as, turns_answered
from tests.given.said import injection, reply, turn


def told(one: TurnAnswered) -> tuple:
    return ([each.seq for each in one.injections], one.turn and one.turn.seq, [reply.seq for reply in one.replies])


def test_turns_come_newest_first_each_once_with_all_its_injections() -> None:
    said = [
        turn(1),
        injection(2, "m", turn_id="t1"),
        reply(3),
        turn(4),
        injection(5, "m", turn_id="t4"),
        reply(6, reply_to="t4"),
        injection(7, "n", turn_id="t1"),
    ]
    assert [told(one) for one in turns_answered(said)] == [([2, 7], 1, []), ([5], 4, [6])]


def test_what_was_injected_without_an_id_may_be_claimed_by_a_message_that_follows() -> None:
    (one,) = turns_answered([injection(1, "m"), turn(2), reply(3), turn(4)])
    assert (one.turn, one.replies, [each.seq for each in one.following]) == (None, (), [2, 3])
    assert told(one.claimed_by(one.following[0])) == ([1], 2, [3])


def test_an_answer_is_named_by_its_turn_before_a_reply_and_that_before_a_position() -> None:
    said = [
        turn(1),
        injection(2, "m", turn_id="t1"),
        reply(3),
        turn(4, turn_id="3:2"),
        injection(5, "m", turn_id="3:2"),
    ]
    found = turns_answered(said)
    named = {name: answered_as(found, name, 3) for name in ("t1", "t3", "3:2", "3:5", "nobody")}
    assert {name: one and one.injections[0].seq for name, one in named.items()} == {
        "t1": 2,
        "t3": 2,
        "3:2": 5,
        "3:5": 5,
        "nobody": None,
    }
