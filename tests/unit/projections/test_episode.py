"""Episodes: what overflows working memory is summarised once, extractively, with its time."""

from __future__ import annotations

import pytest

from projections.episode import due, plan, summary
from tests.given_said import reply, turn

TALK = [
    turn(1, "The kiln broke on Friday and the fair is on Sunday."),
    reply(2, "Oh no! That sounds stressful."),
    turn(3, "A new kiln costs 900 euro. I cannot pay that."),
    turn(4, "ok"),
]


def session(count: int) -> list:
    return [turn(n, f"I fired kiln number {n} on Friday.") for n in range(1, count + 1)]


def test_a_summary_begins_with_its_time_and_tells_what_people_said() -> None:
    what = "The kiln broke on Friday and the fair is on Sunday. A new kiln costs 900 euro. I cannot pay that."
    assert summary(TALK) == f"[2024-01-01 08:01] user: {what}"


def test_its_time_is_that_of_the_owners_zone() -> None:
    assert summary(TALK, "Asia/Shanghai").startswith("[2024-01-01 16:01] ")


def test_a_chinese_session_is_told_in_chinese() -> None:
    told = summary(
        [
            turn(1, "我下周要去面试。", speaker="林"),
            reply(2, "加油！"),
            turn(3, "面试是在北京的游戏公司。", speaker="林"),
        ]
    )
    assert told == "[2024-01-01 08:01] 林：我下周要去面试。面试是在北京的游戏公司。"


def test_where_people_said_nothing_it_tells_what_the_assistant_did() -> None:
    assert summary([turn(1, "ok"), reply(2, "The fair opens on Sunday at noon.")]).endswith(
        "assistant: The fair opens on Sunday at noon."
    )


@pytest.mark.parametrize(
    "text", ["my password is hunter2-kiln", "Call me at +49 151 2345678 about the kiln", "ok", "好的"]
)
def test_what_is_sensitive_or_says_nothing_is_in_no_summary(text: str) -> None:
    assert summary([turn(1, text)]) is None


@pytest.mark.parametrize(
    ("messages", "ended", "groups"),
    [
        (10, False, 0),
        (30, False, 0),
        (31, False, 1),
        (40, False, 1),
        (41, False, 2),
        (10, True, 1),
        (34, True, 4),
        (0, True, 0),
    ],
)
def test_ten_messages_go_together_once_the_first_of_them_left_working_memory(messages, ended, groups) -> None:
    assert len(due(session(messages), ended=ended)) == groups


def test_episodes_are_the_same_whenever_they_are_planned() -> None:
    talk = session(75)
    at_once = plan("ada", talk)
    known: set[str] = set()
    step_by_step = []
    for count in range(1, 76):
        planned = plan("ada", talk[:count], known)
        step_by_step += planned
        known |= {one for each in planned for one in each.data.source_turns}
    assert step_by_step == at_once
    assert [len(one.data.source_turns) for one in at_once] == [10] * 5


def test_an_episode_is_a_memory_with_its_turns_and_what_caused_it() -> None:
    (planned,) = plan("ada", TALK, ended=True)
    assert (planned.data.tier, planned.data.kind, planned.data.source) == ("episode", "episode", "system")
    assert planned.data.source_turns == ("t1", "t2", "t3", "t4")
    assert (planned.causation_id, planned.session) == ("e4", "s1")
    assert plan("ada", TALK, ended=True) == [planned]
    assert plan("bo", TALK, ended=True)[0].event_id != planned.event_id


def test_what_was_summarised_is_not_again_and_what_was_forgotten_says_nothing() -> None:
    assert plan("ada", TALK, {"t1", "t2", "t3", "t4"}, ended=True) == []
    (planned,) = plan("ada", TALK, ended=True, forgotten={"t1"})
    assert planned.data.content == "[2024-01-01 08:02] user: A new kiln costs 900 euro. I cannot pay that."
    assert plan("ada", TALK[:1], ended=True, forgotten={"t1"}) == []
