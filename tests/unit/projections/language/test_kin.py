"""One list of kin words for everything that reads of people, in both languages."""

from __future__ import annotations

import re

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from tests.rows import each_row

RELATIVES = (
    "mother father wife husband fiancé fiancée girlfriend boyfriend sons daughters kids children parents brothers siblings"
    " twins grandma grandpa grandmother grandson granddaughter aunts uncles cousins nieces nephews stepson stepdaughter"
    " mother-in-law mothers-in-law father-in-law sister-in-law brother-in-law son-in-law stepmother stepfather stepmom"
    " stepbrother stepsisters stepsiblings half-brother grandkids grandchildren grandparents wives godmother"
)
RELATIVES_CHINESE = (
    "爸爸 妈妈 爸 妈 父母 爷爷 奶奶 外公 外婆 姥姥 姥爷 哥哥 姐姐 弟弟 妹妹 哥 姐"
    " 老公 老婆 丈夫 妻子 太太 媳妇 儿子 女儿 闺女 孩子 男朋友 未婚妻"
    " 爱人 表哥 堂妹 叔叔 阿姨 舅舅 姑姑 姑妈 姨 小姨 舅妈 伯伯"
    " 岳母 岳父 丈母娘 公公 婆婆 孙子 孙女 外孙 外孙女 侄女 侄子 外甥 外甥女 女婿 儿媳"
    " 嫂子 姐夫 继母 后妈 继父 继子 继女 干妈"
)


@each_row("word", RELATIVES.split())
def test_an_english_relative_is_one(word: str) -> None:
    assert re.fullmatch(kin.english(), word)


@each_row("word", RELATIVES_CHINESE.split())
def test_a_chinese_relative_is_one(word: str) -> None:
    assert re.fullmatch(kin.chinese(), word)


@each_row("word", ["friend", "boss", "motherboard", "sonnet", "inlaw", "朋友", "老板", "姑娘", "新娘", "教父", ""])
def test_nobody_else_is_one(word: str) -> None:
    assert not re.fullmatch(kin.english(), word)
    assert not re.fullmatch(kin.chinese(), word)


@each_row(
    ("said", "triple"),
    [
        ("My mother-in-law is called Rose.", ("User's mother-in-law", "is called", "Rose")),
        ("My stepsister lives in Berlin.", ("User's stepsister", "lives in", "Berlin")),
        ("My grandkids live in Austin.", ("User's grandkids", "lives in", "Austin")),
        ("I have a stepmother.", ("User", "has", "a stepmother")), ("I have two aunts.", ("User", "has", "two aunts")),
        ("我姥姥住在上海。", ("用户的姥姥", "住在", "上海")), ("我岳母今年70岁了。", ("用户的岳母", "年龄", "70岁")),
        ("我侄女叫小红。", ("用户的侄女", "名字", "小红")), ("我婆婆喜欢打麻将。", ("用户的婆婆", "喜欢", "打麻将")),
        ("我姐住在上海。", ("用户的姐", "住在", "上海")), ("我有一个孙子。", ("用户", "有", "一个孙子")),
    ],
)  # fmt: skip
def test_what_is_said_of_a_relative_is_extracted(said: str, triple: tuple[str, str, str]) -> None:
    (statement,) = extract(TurnText("t1", said))
    assert statement.triple is not None
    assert statement.triple[:3] == triple


@each_row(
    ("new", "known"),
    [
        ("我岳母今年72岁", "我岳母今年70岁"), ("我姥姥住在上海", "我姥姥住在北京"), ("我有三个侄女", "我有两个侄女"),
        ("My mother-in-law is 72", "My mother-in-law is 70"), ("I have three stepbrothers", "I have two stepbrothers"),
    ],
)  # fmt: skip
def test_two_values_of_a_relative_contradict_each_other(new: str, known: str) -> None:
    relation = compare(new, known)
    assert (relation.kind, relation.sure) == ("contradicts", True)


@each_row("whose", ["姥姥", "岳母", "侄女", "舅舅", "姑姑", "公公"])
def test_where_a_relative_lives_says_nothing_of_where_the_speaker_does(whose: str) -> None:
    assert compare(f"我{whose}住在上海", "我住在北京").kind == "unrelated"


@each_row(
    ("text", "named"),
    [
        ("My mum and my Brothers", {"mother", "brother"}),
        ("老板更喜欢我在家办公", {"boss"}), ("我妈妈和我老婆", {"mother", "wife"}), ("I like sisterhood", set()),
        ("", set()),
    ],
)  # fmt: skip
def test_people_are_told_by_one_word(text, named) -> None:
    assert kin.roles(text) == named
