"""What is told by itself is judged at every door: said already, no longer so, or only to be flagged."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import Ground, MemoriesLinked
from engramlog_server.events.text import VISIBLE
from engramlog_server.projections.decide.commands import Consequence, of_beside
from engramlog_server.projections.lifecycle.judge.statements import NewMemory as Statement
from engramlog_server.projections.lifecycle.judge.statements import WriteJudge
from tests.examples import examples
from tests.given.events import (
    Told,
    at,
    created,
    deleted,
    merged,
    negated,
    promoted,
    rejected,
    revised,
    value_of,
)
from tests.given.views import viewed
from tests.rows import each_row


def statement(content: str, day: float = 10, actor: str = "user", **more: Any) -> Statement:
    fields = {"source": "user" if actor == "user" else "assistant", "kind": "fact", "category": "fact"}
    apart = {name: more.pop(name) for name in ("source", "kind", "category", "memory_id", "reaches") if name in more}
    return Statement(content, at(day), actor, value=bytes.fromhex(value_of(content)), beside=more, **(fields | apart))


def judged(known: Told | list[Told], content: str, day: float = 10, **more: Any) -> Consequence:
    return WriteJudge(viewed(*(known if isinstance(known, list) else [known]))).judge(statement(content, day, **more))


def done(known: Told | list[Told], content: str, day: float = 10, **more: Any) -> list[tuple[str, str]]:
    beside = judged(known, content, day, **more).beside
    return [(one.does, one.memory_id) for one in beside if one.does != "joins"]


def known(content: str, day: float = 0, of: str = "m", **data: Any) -> Told:
    return created(content, of, day, **({"kind": "fact", "category": "fact"} | data))


ENDS = [
    ("我喜欢喝咖啡", "我不喜欢喝咖啡了"), ("我喜欢喝咖啡。", "我不喜欢喝咖啡"),
    ("I drink coffee", "I don't drink coffee any more"), ("I live in Berlin", "I live in Munich"),
    ("我住在东京", "我住在大阪"), ("I am 30", "I am 31"),
]  # fmt: skip
FLAGS = [
    ("I prefer tea", "I hate tea"), ("I hate tea", "I prefer tea"), ("我更喜欢茶", "我讨厌茶"),
    ("I like tea", "I hate tea"), ("我喜欢喝茶", "我讨厌喝茶"),
]  # fmt: skip
BESIDE = [
    ("I like tea", "I like coffee"), ("I live in Berlin", "Where do you live?"),
    ("I live in Berlin", "If I lived in Munich, I would cycle"), ("我喜欢喝咖啡", "我喜欢喝茶"),
    ("I drink coffee", "I drink coffee at eight every morning"), ("时间不早了，我们下次再聊吧。", "我们下次再聊吧，再见！"),
    ("今天是星期一，工作又开始了。", "今天是星期二，我没有什么动力去工作。"),
]  # fmt: skip


@each_row(("first", "second"), ENDS)
def test_the_user_s_own_word_ends_what_he_said_where_that_is_sure(first: str, second: str) -> None:
    assert done(known(first), second) == [("ends", "m")]


@each_row(("first", "second"), FLAGS)
def test_what_may_contradict_is_flagged(first: str, second: str) -> None:
    assert done(known(first), second) == [("flags", "m")]


@each_row(("first", "second"), BESIDE)
def test_what_does_not_contradict_stands_beside_it(first: str, second: str) -> None:
    assert judged(known(first), second).again is None
    assert done(known(first), second) == []


@each_row(
    ("texts", "new", "joined"),
    [
        (["I swim in the lake on Sundays", "The car needs tyres"], "I swim in the lake before work", [0]),
        (["我周末在西湖边跑步", "我养了一只猫"], "我早上在西湖边跑步", [0]),
        (["I swim in the lake on Sundays"], "I swim in the lake on Sundays!!", []),  # says the same
    ],
)
def test_what_is_related_is_linked_at_once(texts: list[str], new: str, joined: list[int]) -> None:
    beside = judged([known(text, of=f"m{number}") for number, text in enumerate(texts)], new).beside
    assert [one.memory_id for one in beside if one.does == "joins"] == [f"m{number}" for number in joined]
    links = [of_beside(one, "new", new) for one in beside]
    assert all(isinstance(one, MemoriesLinked) and one.link == "related" and 0.5 <= one.weight <= 0.8 for one in links)


def test_of_many_that_are_related_the_five_most_alike_are_linked_and_none_that_is_contested() -> None:
    texts = [f"I swim in the lake near {town} on Sundays" for town in ("Porto", "Bern", "Lyon", "Cork", "Graz", "Oslo")]
    beside = judged(
        [known(text, of=f"m{number}") for number, text in enumerate(texts)], "I swim in the lake near Rome before work"
    ).beside
    assert [one.does for one in beside] == ["joins"] * 5
    assert [one.alike for one in beside] == sorted((one.alike for one in beside), reverse=True)
    ended = judged([known("I live in Berlin")], "I live in Munich").beside
    assert [one.does for one in ended] == ["ends"]


@each_row(("first", "second"), ENDS)
@each_row(
    "by",
    [{"actor": "assistant"}, {"actor": "judge"}, {"actor": "system"}, {"actor": "assistant", "source": "user"}],
    ids=str,
)
def test_what_anybody_else_adds_is_only_flagged(first: str, second: str, by: dict[str, Any]) -> None:
    assert [does for does, _ in done(known(first), second, **by)] == ["flags"]


@each_row(("first", "second"), ENDS)
def test_what_reaches_less_than_the_users_own_word_waits(first: str, second: str) -> None:
    assert [does for does, _ in done(known(first), second, reaches="inferred")] == ["waits"]
    inferred = known(first)
    inferred = Told(inferred.data, inferred.day, inferred.actor, {"trust": "inferred"})
    assert [does for does, _ in done(inferred, second, reaches="inferred")] == ["ends"]


@each_row(("first", "second"), ENDS)
def test_what_was_said_earlier_ends_nothing_that_was_said_later(first: str, second: str) -> None:
    assert done(known(first, day=20), second, day=10) == [("flags", "m")]


def test_what_an_operator_put_in_every_prompt_is_ended_by_an_operator_alone() -> None:
    by_operator = [known("I live in Berlin"), Told(promoted().data, 1, "operator")]
    assert done(by_operator, "I live in Munich") == [("flags", "m")]
    assert done(by_operator, "I live in Munich", actor="operator", source="user") == [("ends", "m")]


@each_row("long", ["new", "known"])
def test_what_tells_more_than_one_thing_is_compared_with_nothing(long: str) -> None:
    """A statement has 500 characters at most; a longer text may still be told again."""
    texts = {"known": "I like tea", "new": "I hate tea"}
    assert done(known(texts["known"]), texts["new"]) == [("flags", "m")]
    texts[long] += ", and now for something else" * 20
    assert judged(known(texts["known"]), texts["new"]) == Consequence()
    assert judged(known(texts[long]), texts[long]).again == "m"


AGAIN = ["I drink tea", "i drink tea.", "I  drink tea!", "Ｉ drink tea"]


@each_row("content", AGAIN)
def test_the_same_told_again_is_a_mention_of_the_memory_that_says_it(content: str) -> None:
    assert judged(known("I drink tea"), content) == Consequence(again="m")


NOT_AGAIN = {
    "another kind": (known("I drink tea"), {"kind": "lesson"}),
    "another category": (known("I drink tea"), {"category": "skill"}),
    "another speaker": (known("I drink tea", speaker="Ann"), {"speaker": "Ben"}),
    "another project": (known("I drink tea", project="a"), {}),
    "a tag that is not known of it": (known("I drink tea"), {"tags": ("morning",)}),
    "another summary": (known("I drink tea"), {"summary": "tea"}),
    "metadata": (known("I drink tea"), {"metadata": {"page": 4}}),
    "a reason": (known("I drink tea"), {"because": "he said so"}),
    "what it rests on": (known("I drink tea"), {"grounds": (Ground(uri="u", digest="sha256:00000000"),)}),
    "a higher sensitivity": (known("I drink tea"), {"sensitivity": 2}),
    "several turns": (known("I drink tea"), {"source_turns": ("t1", "t2")}),
    "an id of its own": (known("I drink tea"), {"memory_id": "mine"}),
    "the user's word of what an assistant said": (known("I drink tea", source="assistant"), {}),
    "a turn": (known("I drink tea", source_turns=("m",)), {}),
    "a deleted one": ([known("I drink tea"), deleted()], {}),
    "a negated one": ([known("I drink tea"), negated(day=2)], {}),
    "a superseded one": ([known("I drink tea"), known("I drink milk", 1, "n"), negated(day=2, replaced_by="n")], {}),
    "a merged one": ([known("I drink tea"), known("I like tea", 1, "n"), merged("m", "n", day=2)], {}),
    "a revised one": ([known("I drink tea"), revised("I drink green tea", day=2)], {}),
    "a rejected one": ([known("I drink tea"), rejected("I drink tea", day=2)], {}),
}


@each_row("case", NOT_AGAIN)
def test_it_is_a_statement_of_its_own_where_a_mention_would_lose_something(case: str) -> None:
    there, more = NOT_AGAIN[case]
    assert judged(there, "I drink tea", **more).again is None


def test_what_is_told_beside_it_and_known_already_loses_nothing() -> None:
    there = known("I drink tea", keywords=("tea",), tags=("morning",), because="he said so", metadata={"page": 4})
    more = {"keywords": ("Tea",), "tags": ("morning",), "because": "he said so", "metadata": {"page": 4}}
    assert judged(there, "I drink tea", **more).again == "m"


TIMES = [
    ("I won the match last week", 2, True), ("I won the match last week", 120, False), ("我上周赢了比赛", 2, True),
    ("我上周赢了比赛", 120, False), ("I saw the dentist yesterday", 0.1, True), ("I saw the dentist yesterday", 1, False),
    ("我刚才摔了一跤", 40, False), ("I won the cup in 2019", 500, True), ("I am 30", 200, True), ("I am 30", 500, False),
    ("我今年30岁", 500, False), ("I was born on 5 May", 500, True), ("I drink tea", 500, True),
    ("I'm staying in Rome for three months", 500, False),
]  # fmt: skip


@each_row(("content", "later", "same"), TIMES)
def test_a_text_that_tells_of_another_time_is_another_statement(content: str, later: float, same: bool) -> None:
    assert (judged(known(content), content, day=later).again == "m") is same


@given(st.text(max_size=60), st.text(max_size=60), st.floats(0, 900), st.sampled_from(["user", "assistant", "judge"]))
@settings(max_examples=examples(150), deadline=None)
def test_whatever_is_told_nobody_but_the_user_ends_anything(first: str, second: str, day: float, actor: str) -> None:
    there = [
        known(text, of=name) for name, text in (("a", first if VISIBLE.search(first) else "tea"), ("b", "I like tea"))
    ]
    try:
        view = viewed(*there)
    except ValueError:
        return
    found = WriteJudge(view).judge(statement(second, day, actor))
    assert actor == "user" or all(one.does in ("flags", "joins") for one in found.beside)
    assert found.again is None or not found.beside


OLD, NEW = "I drive a red Ford Focus", "Sold the Focus, I ride a bicycle now"


def test_what_changed_is_ended_and_what_arrives_late_ends_by_what_was_said_since() -> None:
    assert done(known(OLD), NEW) == [("ends", "m")]
    late = judged(known(NEW, day=20), OLD, day=10).beside
    assert [(one.does, one.memory_id, one.at) for one in late] == [("ended by", "m", at(20))]
    assert done(known(OLD, day=20), NEW, day=10) == []
    assert done(known(OLD), NEW, actor="assistant") == [("flags", "m")]


GROUP = [
    ("Anna", "I live in Hull.", "Ben", "I moved to York."),
    ("Anna", "I work at Kestrel Foods.", "Ben", "I quit and started at Nordby."),
    ("Mia", "I'm engaged to Joel.", "Tess", "I broke up with Max, I'm single now."),
    ("Leo", "I drive a Fiat Panda.", "Rosa", "I sold my car and cycle now."),
    ("Omar", "My phone ends in 4411.", "Jane", "I changed my number, it ends in 9087."),
    ("Kim", "I eat meat.", "Lars", "I no longer eat meat."),
    ("Ada", "I use Vim.", "Bob", "I switched to Emacs."),
    ("Nell", "The rent I pay is 700.", "Ivy", "My rent was raised to 820."),
    ("Greg", "My holiday starts on Monday.", "Pia", "My holiday was moved to Thursday."),
    ("Sven", "I go to bed at ten.", "Lotte", "I go to bed at midnight now instead."),
    ("小王", "我住在杭州。", "小李", "我搬到宁波了。"),
    ("小王", "我在银行上班。", "小李", "我辞职了，现在开咖啡店。"),
    ("阿强", "我有女朋友，叫阿珍。", "阿伟", "我和女朋友分手了。"),
    ("老赵", "我开大众。", "老钱", "我把车卖了，改骑电动车。"),
    ("小陈", "我不吃辣。", "小周", "我现在吃辣了。"),
    ("小吴", "我用华为手机。", "小郑", "我换成苹果手机了。"),
    ("小孙", "我每月房租两千。", "小何", "我房租涨到三千了。"),
    ("阿玲", "我星期三看牙醫。", "阿芳", "我的牙醫改到星期五了。"),
    ("阿明", "我住板橋。", "阿德", "我搬到新竹了。"),
    ("阿明", "我打算去日本。", "阿德", "我日本不去了，改去韓國。"),
]  # fmt: skip
"""Two people in one chat: what the first says, and what the second then says of themselves."""


def test_in_talk_of_several_people_a_statement_ends_nothing_of_another_speaker() -> None:
    across = {new: done(known(old, speaker=first), new, speaker=second) for first, old, second, new in GROUP}
    assert {new: found for new, found in across.items() if found} == {}
    own = [done(known(old, speaker=first), new, speaker=first) for first, old, _, new in GROUP]
    assert sum(map(bool, own)) >= 12, "the same statements of one speaker do meet"
