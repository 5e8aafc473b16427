"""Triples that extraction gives beside a statement: who, what, to what; how often or how much, and when (seed 003, "LPMM")."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.extraction.chinese import chinese_fact
from engramlog_server.projections.language.extraction.english import english_fact
from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from tests.rows import each_row


def triples(text: str) -> list[tuple[object, ...]]:
    """Predicate, object, negation, degree and condition of what is asserted."""
    found = extract(TurnText("t", text))
    assert all(one.triple.subject in ("User", "用户") for one in found if one.triple and one.asserted)
    return [tuple(one.triple)[1:] for one in found if one.triple is not None and one.asserted]


@each_row(
    ("text", "predicate", "thing", "negation", "degree", "condition"),
    [
        ("I work as a nurse at the hospital.", "works as", "a nurse at the hospital", False, None, None),
        ("I'm married to Tom.", "is married to", "Tom", False, None, None),
        ("I own a boat.", "owns", "a boat", False, None, None),
        ("I study marine biology.", "studies", "marine biology", False, None, None),
        ("I'm allergic to peanuts.", "is allergic to", "peanuts", False, None, None),
        ("I love coffee in the morning.", "likes", "coffee", False, 0.9, "in the morning"),
        ("I hate running in the evening.", "likes", "running in the evening", True, 0.9, None),
        ("I usually drink green tea after lunch.", "drinks", "green tea", False, 0.8, "after lunch"),
        ("I always play tennis on weekends.", "plays", "tennis", False, 1.0, "on weekends"),
        ("I never eat meat.", "eats", "meat", True, None, None),
        ("I don't like bowling, to be honest.", "likes", "bowling", True, None, None),
        ("I visited a museum in Rome and met some friends.", "visited", "a museum in Rome", False, None, None),
        ("I donated my old car to a shelter in Rome I help at today.", "donated", "their old car to a shelter in Rome",
         False, None, None),
        ("Last Friday I went to a council meeting for adoption.", "went to", "a council meeting for adoption", False, None, None),
        ("I'm planning to visit friends in Rome in June.", "plans to", "visit friends in Rome", False, None, None),
        ("My goal is to run a marathon in Berlin.", "aims to", "run a marathon in Berlin", False, None, None),
        ("我每天早上喝咖啡。", "喝", "咖啡", False, 1.0, None),
        ("我喜欢下雨的时候听音乐。", "喜欢", "听音乐", False, None, "下雨的时候"),
        ("我最讨厌冬天早起。", "喜欢", "冬天早起", True, 1.0, None),
        ("我经常自己做饭。", "做", "饭", False, 0.7, None),
        ("我从来没去过日本。", "去", "日本", True, None, None),
        ("我去年毕业于北京大学。", "毕业于", "北京大学", False, None, None),
        ("我在银行工作。", "工作于", "银行", False, None, None),
        ("我是山东济南人。", "来自", "山东济南", False, None, None),
        ("我还有个弟弟。", "有", "弟弟", False, None, None),
        ("我喜欢的都是老歌。", "喜欢", "老歌", False, None, None),
        ("我喜欢逛超市。", "喜欢", "逛超市", False, None, None),
        ("我在看《我在故宫修文物》。", "看", "《我在故宫修文物》", False, None, None),
        ("我对花生过敏。", "过敏", "花生", False, None, None),
        ("最近我在学习编程。", "学习", "编程", False, None, None),
        ("今天我和朋友一起去了公园散步。", "去", "公园", False, None, None),
        ("今天我看了一部动作片《警察故事》。", "看", "《警察故事》", False, None, None),
        ("我打算明年去日本旅行。", "计划", "明年去日本旅行", False, None, None),
    ],
)  # fmt: skip
def test_a_clause_gives_a_triple_with_how_much_and_when(
    text: str, predicate: str, thing: str, negation: bool, degree: float | None, condition: str | None
) -> None:
    assert triples(text) == [(predicate, thing, negation, degree, condition)]


@each_row(
    ("text", "subject", "predicate", "thing"),
    [
        ("My sister Anna lives in Rome.", "User's sister Anna", "lives in", "Rome"),
        ("My dog is called Rex.", "User's dog", "is called", "Rex"),
        ("My wife works at a bakery in Graz.", "User's wife", "works at", "a bakery in Graz"),
        ("我妈妈住在上海。", "用户的妈妈", "住在", "上海"),
        ("我的女儿今年五岁了。", "用户的女儿", "年龄", "五岁"),
        ("我弟弟叫小明。", "用户的弟弟", "名字", "小明"),
    ],
)
def test_what_is_said_of_one_s_own_people_has_them_as_its_subject(
    text: str, subject: str, predicate: str, thing: str
) -> None:
    (found,) = [one.triple for one in extract(TurnText("t", text)) if one.triple is not None]
    assert found[:3] == (subject, predicate, thing)


@each_row(
    "text",
    [
        "I started writing down everything I needed.", "I went to it yesterday with some friends of mine.",
        "I bought this for the new house in Rome.", 'I read "The', "我去了那个地方散步。", "我打算做一些事情。",
        "我买了很多东西。", "我是网购达人。", "我是江苏路人。", "我吃了快三年土豆了。",
    ],
)  # fmt: skip
def test_what_points_elsewhere_or_says_nothing_gives_no_triple(text: str) -> None:
    assert triples(text) == []


@given(st.text(max_size=200))
def test_no_text_is_too_strange(text: str) -> None:
    for said in (
        text,
        f"I visited {text}",
        f"I'm planning to {text}",
        f"My wife likes {text}",
        f"我看了{text}",
        f"我每天{text}",
    ):
        for fact in (english_fact(said, "Ada"), chinese_fact(said, "Ada")):
            assert fact is None or (fact.object and fact.predicate and fact.subject)
