"""A memory was used where a reply says what only that memory says."""

from __future__ import annotations

from engramlog_server.projections.lifecycle.decision import use_of
from engramlog_server.projections.lifecycle.sessions import exchanges, uses
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, created, deleted, folded
from tests.given.said import injection, reply, result, turn
from tests.rows import each_row

PEANUTS = {"m": "I am allergic to peanuts"}
LISBON = {"m": "My sister Mara lives in Lisbon", "n": "My sister Mara plays the violin"}
HUASHENG = {"m": "我对花生过敏"}
SHENZHEN = {"m": "我住在深圳南山区的公寓里", "n": "我住在深圳的时候常去图书馆"}


def view_of(*events: Told) -> OwnerView:
    return OwnerView.of_history("ada", folded(*events))


def used(memories: dict[str, str], asked: str, replied: str, *before: str) -> set[str]:
    """Which of the memories, all injected for the turn, count as used in the reply."""
    view = view_of(*(created(content, one) for one, content in memories.items()))
    said = [turn(number, text) for number, text in enumerate(before, 1)]
    told = [*said, turn(11, asked), injection(12, *memories, turn_id="t11"), reply(13, replied)]
    return {one.ids[0] for one in uses(view, told)}


@each_row(
    ("memories", "asked", "replied"),
    [
        (PEANUTS, "What can I eat in Thailand?", "Pad Thai often has peanuts, and you are allergic, so ask first."),
        (LISBON, "Where should I go?", "You could visit Mara in Lisbon."),
        ({"m": "I live in Berlin"}, "Any idea?", "Since you live in Berlin, take the train to the lakes."),
        ({"m": "I paid 900 euro for the kiln"}, "Was it dear?", "You paid 900 euro, which is fair."),
        ({"m": "I don't eat meat or cheese"}, "A dinner?", "You don't eat meat or cheese, so try a curry."),
        ({"m": "User lives in Berlin (said on 2024-05-01)"}, "Any idea?", "Since you live in Berlin, try the lakes."),
        ({"m": "[2024-05-01 09:00] ada: The kiln broke on Friday"}, "Why so sad?", "Because the kiln broke on Friday?"),
        ({"m": "用户对花生过敏（2024-05-01说）"}, "吃什么好？", "你对花生过敏，吃水果吧。"),
        (HUASHENG, "泰国有什么好吃的？", "这道菜含花生，你过敏，不要吃。"),
        (SHENZHEN, "周末去哪里？", "南山区的公寓离海边近，可以去走走。"),
        ({"m": "我最喜欢羽毛球和游泳"}, "周末做什么好？", "可以约人打羽毛球，或者去游泳。"),
    ],
)
def test_a_memory_of_which_the_reply_says_what_nothing_else_says_was_used(memories, asked, replied) -> None:
    assert used(memories, asked, replied) == {"m"}


@each_row(
    ("memories", "asked", "replied"),
    [
        (PEANUTS, "Tell me of peanuts.", "Peanuts are legumes."),
        (PEANUTS, "What can I eat in Thailand?", "Try the mango rice."),
        (PEANUTS, "I am allergic to peanuts, what can I eat?", "Being allergic to peanuts, you could eat fruit."),
        (PEANUTS, "What can I eat?", "I don't know whether you are allergic to peanuts."),
        (PEANUTS, "What can I eat?", "You are not allergic to peanuts."),
        (PEANUTS, "What can I eat?", "There is no record that peanuts make you allergic."),
        (LISBON, "Whom should I call?", "Call your sister Mara."),
        ({"m": "I loved Paris"}, "Where should I go?", "Paris, Rome or Lisbon are nice."),
        ({"m": "I had a great time"}, "How do I cook rice?", "You had a great time? Rice takes ten minutes."),
        (HUASHENG, "花生是什么？", "花生是一种豆类。"), (HUASHENG, "泰国有什么好吃的？", "芒果糯米饭很好吃。"),
        (HUASHENG, "我对花生过敏，吃什么好？", "你对花生过敏，可以吃水果。"),
        (HUASHENG, "吃什么好？", "我不知道你是否对花生过敏。"), (HUASHENG, "吃什么好？", "你并没有对花生过敏。"),
        (SHENZHEN, "周末去哪里？", "你住在深圳，可以去海边。"),
    ],
    ids=[
        "the topic alone", "ignored", "the user's own words", "not known", "denied", "no record",
        "a name that all memories share", "a name in passing", "common words", "the topic alone, zh", "ignored, zh",
        "the user's own words, zh", "not known, zh", "denied, zh", "a place that all memories share, zh",
    ],
)  # fmt: skip
def test_a_memory_that_was_merely_at_hand_was_not_used(memories, asked, replied) -> None:
    assert used(memories, asked, replied) == set()


def test_what_a_tool_found_is_no_sign_of_the_memory() -> None:
    view = view_of(created("It rains in Lisbon all week", "m"))
    told = [turn(1, "Pack what?"), injection(2, "m", turn_id="t1"), reply(4, "Rain all week in Lisbon: an umbrella.")]
    assert [one.ids for one in uses(view, told)] == [("m",)]
    assert uses(view, [*told[:2], result(3, "Lisbon: rain all week"), told[2]]) == []


def test_a_use_is_the_judges_dated_and_caused_by_the_reply_and_told_once() -> None:
    view = view_of(created(PEANUTS["m"]))
    told = [turn(1, "A dish?"), injection(2, "m", turn_id="t1"), reply(3, "You are allergic to peanuts, so no.")]
    (one,) = uses(view, told)
    assert (one.action, one.actor, one.seq, one.said_at, one.session) == ("use", "judge", 3, told[2].at, "s1")
    assert (one.data.memory_id, one.data.outcome) == ("m", "used")
    assert uses(view, told)[0].event_id("ada") == one.event_id("ada")
    assert uses(view, told, after=3) == []


def test_deleted_memories_and_forgotten_turns_have_no_uses() -> None:
    told = [turn(1, "A dish?"), injection(2, "m", turn_id="t1"), reply(3, "You are allergic to peanuts, so no.")]
    assert uses(view_of(created(PEANUTS["m"]), deleted(day=1)), told) == []
    forgotten = created("I asked for a dish", "n", source_turns=("t1",)), deleted("n", day=1)
    assert uses(view_of(created(PEANUTS["m"]), *forgotten), told) == []


@each_row(
    ("told", "found"),
    [
        ([turn(1), injection(2, "m", turn_id="t1"), reply(3)], [("t3", "t1", ("m",))]),
        ([injection(1, "m", turn_id="t2"), turn(2), reply(3)], [("t3", "t2", ("m",))]),
        ([turn(1), injection(2, "m", turn_id="t1"), turn(3), reply(4)], []),
        ([turn(1), injection(2, "m", turn_id="t1"), turn(3), reply(4, reply_to="t1")], [("t4", "t1", ("m",))]),
        ([turn(1), injection(2, "m", turn_id="t1"), reply(3, session="s2"), reply(4)], [("t4", "t1", ("m",))]),
        ([injection(1, "m"), reply(2)], [("t2", None, ("m",))]),
        ([injection(1, "m"), turn(2), reply(3)], []),
        (
            [turn(1), injection(2, "m", turn_id="t1"), injection(3, "n", "m", turn_id="t1"), reply(4), reply(5)],
            [("t4", "t1", ("m", "n"))],
        ),
    ],
)
def test_replies_are_linked_to_what_was_injected_as_uses_links_them(told, found) -> None:
    assert [(one.reply.turn_id, one.turn_id, one.injected) for one in exchanges(told)] == found


def test_a_use_that_a_model_found_in_the_same_reply_is_the_same_event() -> None:
    told = [turn(1, "A dish?"), injection(2, "m", turn_id="t1"), reply(3, "You are allergic to peanuts, so no.")]
    (one,) = uses(view_of(created(PEANUTS["m"])), told)
    by_model = one._replace(job="extract", ids=("m", "t3"), seq=1, said_at=0)
    assert by_model.event_id("ada") == one.event_id("ada")
    assert one._replace(once=use_of("m", "t4")).event_id("ada") != one.event_id("ada")
