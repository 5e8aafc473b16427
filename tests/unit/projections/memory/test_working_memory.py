"""Working memory: the session of a turn, its last messages, and what tools found since the turn before."""

from __future__ import annotations

from engramlog_server.projections.choices import WORKING_MESSAGES
from engramlog_server.projections.memory.working_memory import conversation, read_said
from tests.given.events import accessed, created, stored
from tests.given.said import found, injected, injection, reply, result, said, turn
from tests.rows import each_row


def test_the_last_thirty_messages_of_the_session_are_working_memory() -> None:
    told = [turn(n, session="s1" if n % 2 else "s2") for n in range(1, 101)]
    talk = conversation(told, "next", session="s1")
    assert [one.seq for one in talk.messages] == list(range(41, 101, 2))
    assert len(talk.messages) == WORKING_MESSAGES


def test_what_tools_and_systems_say_is_no_message() -> None:
    told = [turn(1), turn(2, role="tool"), turn(3, role="system"), reply(4), turn(5, role="other")]
    assert [one.seq for one in conversation(told, "next").messages] == [1, 4, 5]


def test_the_turn_itself_is_no_part_of_its_own_memory_and_what_follows_neither() -> None:
    told = [turn(1), reply(2), turn(3, "how so?"), reply(4), turn(5)]
    talk = conversation(told, "how so?", turn_id="t3")
    assert ([one.seq for one in talk.messages], talk.current, talk.turn_id) == ([1, 2], told[2], "t3")


def test_the_newest_message_is_the_turn_where_it_says_the_same_and_waits_for_an_answer() -> None:
    told = [turn(1), reply(2), turn(3, "how so? ")]
    assert conversation(told, "how so?").turn_id == "t3"
    assert conversation(told, "why?").turn_id is None
    assert conversation([*told, reply(4, "how so?")], "how so?").turn_id is None
    assert conversation([*told, reply(4)], "how so?").turn_id is None


# --- tool results


def test_what_tools_found_since_the_turn_before_is_context_for_this_turn_and_no_other() -> None:
    told = [turn(1), result(2), reply(3), turn(4), result(5), result(6), reply(7), turn(8), result(9)]
    expected = {"t4": [2], "t8": [5, 6], "t1": []}
    assert {one: [r.seq for r in conversation(told, "x", turn_id=one).tools] for one in expected} == expected
    assert [one.seq for one in conversation(told, "next").tools] == [9]


@each_row(
    ("one", "sessions"),
    [
        (result(3, session="s1"), ["s1"]), (result(3, session=None, turn_id="t1"), ["s1"]),
        (result(3, session=None, turn_id="t2"), ["s2"]), (result(3, session=None), ["s2"]),
        (result(3, session=None, turn_id="t99"), ["s2"]),
    ],
)  # fmt: skip
def test_a_result_belongs_to_its_session_else_to_its_turns_else_to_that_of_the_turn_before(one, sessions) -> None:
    told = [turn(1, session="s1"), turn(2, session="s2"), one]
    assert [name for name in ("s1", "s2") if conversation(told, "x", session=name).tools] == sessions


def test_a_block_for_another_turn_that_was_named_but_not_recorded_ends_what_is_told() -> None:
    told = [injection(1, "m", turn_id="a"), result(2), injection(3, "m", turn_id="b")]
    seen = {name: [one.seq for one in conversation(told, "x", "s1", name).tools] for name in ("b", "c")}
    assert seen == {"b": [2], "c": []}
    assert [one.seq for one in conversation(told, "x", "s2", "c").tools] == []


# --- injections


def test_what_was_recorded_for_a_turn_already_is_told() -> None:
    told = [
        turn(1),
        injection(2, "a", "b", turn_id="t1"),
        injection(3, "c", turn_id="t0"),
        injection(4, "d", turn_id="t1"),
    ]
    assert conversation(told, "hello", turn_id="t1").injected == {"a", "b", "d"}
    assert conversation(told, "other", turn_id=None).injected == frozenset()


def test_only_turns_tool_results_and_injections_are_read_off_the_log() -> None:
    entries = stored(
        [said("t1", "hi", speaker="Mel"), found("rain"), injected("m", turn_id="t1"), accessed("m"), created()]
    )
    read = [read_said(entry) for entry in entries]
    assert [type(one).__name__ for one in read] == ["Turn", "ToolResult", "Injection", "NoneType", "NoneType"]
    assert (read[0].name, read[0].session, read[2].ids) == ("Mel", "s1", ("m",))
