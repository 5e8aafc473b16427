"""Episodes: what overflows working memory is summarised once, extractively, with its time."""

from __future__ import annotations

from engramlog_server.projections.memory.deletion import forgotten_turns
from engramlog_server.projections.memory.kind import is_turn
from engramlog_server.projections.memory.working_memory import groups, is_episode, plan, summary
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, created, deleted, folded, purged
from tests.given.said import reply, turn
from tests.rows import each_row

TALK = [
    turn(1, "The kiln broke on Friday and the fair is on Sunday."), reply(2, "Oh no! That sounds stressful."),
    turn(3, "A new kiln costs 900 euro. I cannot pay that."), turn(4, "ok"),
]  # fmt: skip


def session(count: int) -> list:
    return [turn(n, f"I fired kiln number {n} on Friday.") for n in range(1, count + 1)]


def test_a_summary_begins_with_its_time_and_tells_what_people_said() -> None:
    what = "The kiln broke on Friday and the fair is on Sunday. A new kiln costs 900 euro. I cannot pay that."
    assert summary(TALK) == f"[2024-01-01 08:01] user: {what}"


def test_a_chinese_session_is_told_in_chinese() -> None:
    told = summary(
        [
            turn(1, "我下周要去面试。", speaker="林"),
            reply(2, "加油！"),
            turn(3, "面试是在北京的游戏公司。", speaker="林"),
        ]
    )
    assert told == "[2024-01-01 08:01] 林：我下周要去面试。面试是在北京的游戏公司。"


@each_row("text", ["my password is hunter2-kiln", "Call me at +49 151 2345678 about the kiln", "ok", "好的"])
def test_what_is_sensitive_or_says_nothing_is_in_no_summary(text: str) -> None:
    assert summary([turn(1, text)]) is None


@each_row(
    ("messages", "ended", "due"),
    [
        (10, False, 0), (30, False, 0), (31, False, 1), (40, False, 1), (41, False, 2), (10, True, 1), (34, True, 4),
        (0, True, 0),
    ],
)  # fmt: skip
def test_ten_messages_go_together_once_the_first_of_them_left_working_memory(messages, ended, due) -> None:
    assert sum(is_due for _, is_due in groups(session(messages), ended=ended)) == due


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
    assert (planned.last, planned.at) == (TALK[-1], TALK[-1].at)
    assert plan("ada", TALK, ended=True) == [planned]
    assert plan("bo", TALK, ended=True)[0].data.memory_id != planned.data.memory_id


def test_what_was_summarised_is_not_again_and_what_was_forgotten_says_nothing() -> None:
    assert plan("ada", TALK, {"t1", "t2", "t3", "t4"}, ended=True) == []
    (planned,) = plan("ada", TALK, ended=True, forgotten={"t1"})
    assert planned.data.content == "[2024-01-01 08:02] user: A new kiln costs 900 euro. I cannot pay that."
    assert plan("ada", TALK[:1], ended=True, forgotten={"t1"}) == []


def test_the_episode_of_one_message_is_no_turn() -> None:
    (planned,) = plan("ada", session(1), ended=True)
    records = folded(
        Told(planned.data, 0, "system"), created("I fired a kiln", of="t1", kind="episode", source_turns=("t1",))
    )
    episode, said = (records.memories[one] for one in (planned.data.memory_id, "t1"))
    assert [(is_episode(one), is_turn(one)) for one in (episode, said)] == [(True, False), (False, True)]


@each_row(
    ("policy", "purge", "forgotten"),
    [("auto_cleanup", True, False), ("user_delete", False, True), ("user_delete", True, True)],
)
def test_an_episode_that_faded_takes_nothing_from_its_turns_but_one_that_its_owner_deleted_does(
    policy: str, purge: bool, forgotten: bool
) -> None:
    (planned,) = plan("ada", session(2), ended=True)
    name = planned.data.memory_id
    gone = [deleted(name, day=1, policy=policy), *([purged(name, day=40)] if purge else [])]
    columns = OwnerView.of_history("ada", folded(Told(planned.data, 0, "system"), *gone)).columns
    assert forgotten_turns(columns) == (frozenset({"t1", "t2"}) if forgotten else frozenset())
