"""Which turns had memories in their prompt, and what was replied."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

from engramlog_server.projections.views.answered import (
    Report,
    TurnAnswered,
    answered_as,
    turns_answered,
    weeks_of_answers,
)
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


def test_weeks_count_answers_and_the_newest_report_of_each() -> None:
    said = [
        turn(1),
        injection(2, "m", turn_id="t1"),
        reply(3, reply_to="t1"),
        injection(4, "m"),
        turn(5),
        injection(6, "m", turn_id="t6"),
        injection(7, "n", turn_id="t6"),
        injection(8, "m", turn_id="t8"),
    ]
    reports = [
        Report("t1", None, "task_success"),
        Report("t1", None, "used"),
        Report("t3", None, "task_failure"),  # of the reply: newer than the success
        Report(None, "e5", "task_success"),  # caused by the turn that nobody named
        Report("t6", None, "manual_review"),
        Report("t9", None, "task_success"),
        Report(None, None, "task_success"),
    ]
    (week,) = weeks_of_answers(turns_answered(said), reports)
    assert (week.answers, week.task_success, week.task_failure) == (4, 1, 1)
    assert week.monday.weekday() == 0


def test_weeks_begin_on_monday_and_come_newest_first() -> None:
    def on(day: int) -> TurnAnswered:
        (one,) = turns_answered([injection(day * 24 * 60, "m", turn_id=f"t{day}")])
        return one

    weeks = weeks_of_answers(map(on, range(800)), [Report("t799", None, "task_success")])
    assert len(weeks) == 53
    assert [week.answers for week in weeks[1:]] == [7] * 52
    assert [week.task_success for week in weeks[:2]] == [1, 0]
    assert {one.monday - two.monday for one, two in pairwise(weeks)} == {timedelta(days=7)}
    assert all(isinstance(week.monday, date) for week in weeks)
