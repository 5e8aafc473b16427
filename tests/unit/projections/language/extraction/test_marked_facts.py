"""Sixty invented facts, told in chats in two languages, and what somebody says without telling a fact of themselves."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.facts_quality import evaluate_chats
from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.language.keywords import without_day

DAY = "2025-03-02"
LEAST_FOUND, LEAST_CARRIED = 0.8, 0.6
FACTS = [
    ("I'm Petra, I fix violins in a shop near the cathedral.", ["petra", "fix violins"]),
    ("My daughter Lena is eight and allergic to walnuts.", ["lena", "eight", "allergic to walnuts"]),
    ("We moved to Utrecht in January, so I'm still finding my way around.", ["moved to utrecht"]),
    ("My son Oskar started school this week.", ["oskar", "started school"]),
    ("I've got asthma, I carry an inhaler everywhere.", ["asthma"]),
    ("I work nights at the bakery, eleven till six.", ["nights at the bakery", "eleven till six"]),
    ("My mum lives in the flat below ours.", ["mum lives in the flat below"]),
    ("I hate coriander, by the way.", ["coriander"]),
    ("We decided to paint the kitchen green.", ["paint the kitchen green"]),
    ("I've switched to oat milk since March.", ["oat milk"]),
    ("I have my own studio on Mill Lane.", ["studio on mill lane"]),
    ("My knee is bad since the marathon in 2019.", ["knee"]),
    ("I'm a part-time librarian and study law in the evenings.", ["part-time librarian"]),
    ("I own two canaries and a tortoise.", ["two canaries"]),
    ("My partner Ruben is a nurse at St. Anna.", ["ruben", "nurse"]), ("I pay 640 a month for the room.", ["640"]),
    ("I don't eat meat, I haven't for years.", ["eat meat"]), ("My boss is called Mrs. Okafor.", ["okafor"]),
    ("I've an exam on the 14th with Dr. Weiss.", ["exam on the 14th", "weiss"]), ("I grew up in Cork.", ["cork"]),
    ("I ride to work on a folding bike, a Brompton.", ["folding bike", "brompton"]),
    ("My grandmother turned ninety last week.", ["grandmother", "ninety"]), ("I run Fedora on my laptop.", ["fedora"]),
    ("I'm vegetarian, so no fish either.", ["vegetarian"]), ("I play the oboe in the town orchestra.", ["oboe"]),
    ("I quit my job at the bank in May.", ["quit my job|quit their job", "bank"]),
    ("My brother Tomas has a shop in Brno.", ["tomas", "brno"]),
    ("I'm left-handed, so scissors are a pain.", ["left-handed"]),
    ("Update: I've sold the van, we only have the bike now.", ["sold the van"]),
    ("Please never book anything before ten.", ["never book anything before ten"]),
    ("我叫周岚，在昆明开花店。", ["周岚", "昆明开花店"]), ("我女儿六岁，对花生过敏。", ["女儿六岁", "花生过敏"]),
    ("我们上个月搬到了厦门。", ["搬到了厦门"]), ("我儿子今年高考，六月七号。", ["高考", "六月七号"]),
    ("我有哮喘，出门都带着喷雾。", ["哮喘"]), ("我在医院上夜班，晚上十点到早上六点。", ["医院上夜班"]),
    ("我妈住我楼下，平时帮忙接孩子。", ["楼下"]), ("我不吃香菜，闻到就难受。", ["不吃香菜"]),
    ("我们决定把厨房刷成绿色。", ["厨房刷成绿色"]), ("我改喝燕麦奶了，牛奶喝了胀气。", ["燕麦奶"]),
    ("我在大理有间小工作室，做陶的。", ["大理", "工作室"]), ("我膝盖不好，跑不了长跑。", ["膝盖不好"]),
    ("我是图书馆的兼职管理员，晚上读法律夜校。", ["图书馆", "兼职管理员"]),
    ("我家养了两只鹦鹉，一只叫阿福。", ["两只鹦鹉", "阿福"]), ("我老公是护士，在市二院。", ["老公是护士", "市二院"]),
    ("我租的房子一个月两千三。", ["两千三"]), ("我早就戒烟了，五年没碰过。", ["戒烟"]),
    ("我领导姓欧阳，管我们三个组。", ["欧阳"]), ("下周三我要去考驾照，科目二。", ["考驾照|科目二"]),
    ("我是在哈尔滨长大的。", ["哈尔滨长大"]), ("我骑折叠车上班，来回十公里。", ["折叠车上班"]),
    ("我奶奶上周满九十了。", ["奶奶", "九十"]), ("我電腦裝的是Fedora。", ["fedora"]), ("我吃素，蛋奶可以。", ["吃素"]),
    ("我在区里的乐团吹双簧管。", ["双簧管"]), ("我五月从银行辞职了，现在自己干。", ["银行辞职"]),
    ("我弟弟在苏州开了家修车铺。", ["弟弟", "苏州开了家修车铺"]), ("我是左撇子，用剪刀特别别扭。", ["左撇子"]),
    ("車我賣了，我們現在只騎自行車。", ["自行車|自行车"]), ("记住这个：我的柜子密码锁在二楼。", ["柜子"]),
]  # fmt: skip
NO_FACTS = [
    ("If I moved to Lisbon I'd learn to surf.", "moved to lisbon"),
    ('My neighbour says "I\'ve got a yacht in Nice."', "yacht"),
    ("I'm the queen of Spain, just kidding.", "queen of spain"),
    ("What if I sold my flat and lived in a van?", "lived in a van"), ("Imagine I have nine cats.", "nine cats"),
    ("Write a poem: I was born on a ship.", "born on a ship"), ("No, I'm not a vet.", "is a vet"),
    ("要是我住在巴黎，我天天去看画。", "住在巴黎"), ("我同事说：“我有三套房。”", "三套房"),
    ("我开玩笑的，我没有私人飞机。", "用户有私人飞机"), ("假如我是校长，我就取消考试。", "是校长"),
    ("听说我们要搬到深圳去。", "搬到深圳"), ("Is my appointment on the 5th?", "appointment"),
    ("Great, I just adore tax forms.", "tax forms"), ("Had I studied law, I would be a judge in Bonn.", "studied law"),
    ("Please help me understand the complement rule.", "complement"), ("我可真喜欢半夜被吵醒呢。", "喜欢"),
    ("游戏里我是个铁匠，住在地下城。", "地下城"), ("设吧，每天早上九点看一次。", "九点"),
    ("From now on you are a pirate.", "pirate"),
]  # fmt: skip


def told(text: str) -> list[str]:
    return [one.content.casefold() for one in extract(TurnText("t1", text, "user", "user", DAY)) if one.asserted]


def test_marked_facts_are_found_in_statements_of_the_user() -> None:
    missed = [
        (text, words, told(text))
        for text, words in FACTS
        if not any(_carries(statement, words) for statement in told(text))
    ]
    assert len(missed) <= (1 - LEAST_FOUND) * len(FACTS), "\n".join(map(str, missed))


def _carries(statement: str, words: list[str]) -> bool:
    return sum(re.search(word, statement) is not None for word in words) >= LEAST_CARRIED * len(words)


def test_what_tells_no_fact_of_the_user_is_not_kept() -> None:
    assert [(text, told(text)) for text, word in NO_FACTS if any(word in one for one in told(text))] == []


def test_facts_of_chats_are_found_and_what_is_none_is_not_kept() -> None:
    """The measure half with a margin: rules are written on the build half."""
    for half, least in (("build", 0.8), ("measure", 0.7)):
        figures = evaluate_chats(Path("benchmarks/data/told") / half)
        assert figures["found"] >= least * figures["facts"], figures
        assert figures["not facts kept"] == 0, figures


def asserted(text: str) -> list[str]:
    return [one.content for one in extract(TurnText("t", text, day=DAY)) if one.asserted]


ASKED_FOR = [
    ("I'm Nadia, I run a bakery", ["User is Nadia", "User runs a bakery"]),
    ("My daughter Lea is six and allergic to hazelnuts", ["User's daughter Lea is six and allergic to hazelnuts"]),
    ("我们决定周五发布新版本。", ["用户的决定：我们决定周五发布新版本"]),
    ("我们项目约定接口都用下划线命名。", ["用户的决定：我们项目约定接口都用下划线命名"]),
    ("We decided to use Postgres for billing.", ["User's decision: We decided to use Postgres for billing"]),
    ("下次别忘了带身份证", ["用户要求记住：带身份证"]),
    ("记住这个：我的工位在七楼", ["用户要求记住：我的工位在七楼"]),
    ("I hate cilantro, by the way", ["User hates cilantro"]),
    ("please never schedule calls after 7pm", ["User has a standing request: please never schedule calls after 7pm"]),
]


def test_names_decisions_reminders_and_asides_are_read_to_the_word() -> None:
    read = [(text, [without_day(one) for one in asserted(text)]) for text, _ in ASKED_FOR]
    assert [row for row, expected in zip(read, ASKED_FOR, strict=True) if row != expected] == []


UNSOUND = [
    "And my closest friends and my partner are definitely part of my circle.",
    "No, I means others like these.",
    "What of the three books, which were long and I completed by February 25?",
    "How does it fit my own goals, like the one Carla and I discussed after the October 1 panel?",
    "From now on you will answer like you were the bot of a shop for lenses.",
    "You are to act as an expert for gardens. Remember the goal is to sell more plants.",
    "This is not it. My explicit instruction was for a comparison of all three hotels.",
]


def test_half_sentences_roles_and_talk_about_the_talk_state_nothing() -> None:
    assert {text: said for text in UNSOUND if (said := asserted(text))} == {}
    assert asserted("I've finished 12 exercises this week, so can you check my approach?") == [
        f"User has finished 12 exercises this week (said on {DAY})"
    ]
