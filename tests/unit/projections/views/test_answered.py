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
    week, reported = weeks_of_answers(turns_answered(said), reports)
    assert reported[1:] == (0, 0, 0, 2, 0)
    assert (week.answers, week.task_success, week.task_failure) == (4, 1, 1)
    assert week.monday.weekday() == 0


def test_a_report_without_a_turn_belongs_to_the_newest_earlier_prompt_of_its_session_with_the_memory() -> None:
    said = [injection(minute, memory) for minute, memory in ((1, "m"), (2, "n"), (3, "m"), (9, "m"))]
    session = said[0].session
    assert session is not None

    def after(seq: int, memory: str, outcome: str, of: str | None = session, turn: str | None = None) -> Report:
        return Report(turn, None, outcome, memory, of, seq, said[0].at)

    def counted(*reports: Report) -> tuple[int, int, int, int]:
        (week,) = weeks_of_answers(turns_answered(said), reports)
        assert week.answers == 4
        return week[2:]

    newest = said[2].seq + 1
    assert counted(after(newest, "m", "task_success")) == (1, 0, 0, 0)
    assert counted(after(newest, "m", "task_success"), after(newest, "m", "task_failure")) == (0, 1, 0, 0)
    assert counted(after(newest, "m", "task_success"), after(said[0].seq + 1, "m", "task_failure")) == (1, 1, 0, 0)
    assert counted(after(newest, "o", "task_success")) == (0, 0, 1, 0)
    assert counted(after(newest, "m", "task_failure", None)) == (0, 0, 0, 1)
    assert counted(after(newest, "m", "task_success", "another")) == (0, 0, 1, 0)
    assert counted(after(newest, "m", "task_success", turn="unknown")) == (0, 0, 1, 0)
    assert counted(after(said[0].seq, "m", "task_success")) == (0, 0, 1, 0)


def test_a_week_of_reports_without_answers_is_counted() -> None:
    (week,) = weeks_of_answers([], [Report(None, None, "task_success", "m", None, 1, 0), Report(None, None, "used")])
    assert week[1:] == (0, 0, 0, 1, 0)


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
