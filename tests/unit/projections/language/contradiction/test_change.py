"""What a statement makes outdated: one known statement, none if it only supposes, and none if two are equally near."""

from __future__ import annotations

from collections.abc import Sequence

from engramlog_server.projections.embedding.encoders import Likeness, UniversalEncoder
from engramlog_server.projections.language.contradiction.change import Rating, changed, no_model

BESIDE = ["I sing in a choir.", "My passport expires in May.", "我每周三练书法。", "我对花粉过敏。"]
ALIKE = Likeness(UniversalEncoder)
BY_WORDS = [
    ("I drive a red Ford Focus.", "Traded the Focus for an electric Kia."),
    ("We track bugs in Jira.", "We replaced Jira with Linear."),
    ("My mother-in-law is coming in July.", "My mother-in-law isn't coming any more."),
    ("我开的是一辆大众朗逸。", "朗逸卖了，换了辆特斯拉。"), ("我和小林在谈恋爱。", "我跟小林分手了。"),
    ("婚禮計劃在酒店辦。", "婚禮改在草坪上辦。"), ("我每周三去游泳。", "我现在不游泳了。"),
]  # fmt: skip
ENDS = [
    ("I drink coffee every morning", "I switched to tea"), ("I live in Leeds", "I moved to York"),
    ("我每天喝咖啡", "我换成茶了"), ("我在阿里上班", "我上周入职腾讯了"), ("我是会计", "我转行做厨师了"),
    ("我用安卓", "我换了苹果"), ("I'm a nurse", "I got a job as a teacher"), ("I'm single", "I got engaged to Mia"),
    ("The concert is on Saturday.", "I misspoke, the concert is on Sunday."),
    ("I cycle to work on a Dawes.", "Sold the Dawes, picked up a second-hand Brompton instead."),
    ("I drive a red Ford Focus.", "Traded the Focus for an electric Kia."),
    ("The dentist is on Tuesday at nine.", "The dentist moved me to Thursday at eleven."),
    ("We track bugs in Jira.", "We replaced Jira with Linear."),
    ("我开的是一辆大众朗逸。", "朗逸卖了，换了辆特斯拉。"),
    ("婚禮計劃在酒店辦。", "婚禮改在草坪上辦。"), ("周五下午开家长会。", "家长会推迟到下周二了。"),
    ("I use Vim", "I switched to VS Code"), ("My laptop runs Windows.", "I've moved over to Linux."),
    ("I write code in Emacs.", "I moved to Zed last month."), ("We chat on Slack at work.", "We moved to Teams."),
    ("我用 Notion 記筆記", "我改用 Obsidian 了"), ("我平时用Chrome浏览器。", "我换成Firefox了。"), ("我弹钢琴。", "我改学吉他了。"),
    ("我每天早上跑步。", "我改游泳了。"), ("我每周打网球。", "我改打羽毛球了。"), ("我每周打网球。", "我改练瑜伽了。"),
]  # fmt: skip
MARKED = [
    ("I work at Acme", "I work at Beta now"), ("I use Vim.", "I switched to VS Code for Python."),
    ("I do not use Vim.", "I switched to VS Code."),
    ("My mother-in-law is coming in July.", "My mother-in-law isn't coming any more."),
    ("I wear a wristwatch.", "I gave the watch away."), ("I bite my nails.", "Haven't bitten a nail since Easter."),
]  # fmt: skip
NOTHING = [
    ("我住在北京。", "我搬到上海了，不过只住一个夏天。"),
    ("I drive a red Ford Focus.", "If I sold the Focus, I would cycle."),
    ("I drive a red Ford Focus.", "Should I sell the Focus?"),
    ("I drive a red Ford Focus.", "My colleague sold his Focus."),
    ("I drive a red Ford Focus.", "I haven't sold the Focus."),
    ("I'm married to Dan.", "I dreamt that Dan and I got divorced."),
    ("I work at a bank.", 'The woman in my novel says: "I quit the bank."'),
    ("I like jazz.", "I like folk music as well now."), ("I live in Munich.", "My brother has moved to Berlin."),
    ("I live in Munich.", "I moved to Zed last month."),
    ("I use Vim.", "My brother switched to VS Code."), ("I drink coffee.", "I switched to VS Code."),
    ("I use Vim.", "I installed VS Code."), ("我用Vim。", "我想改用VS Code。"), ("我用Vim。", "我同事改用VS Code了。"),
    ("我每天跑步。", "我想改游泳。"), ("我每天跑步。", "同事改游泳了。"),
    ("I lived in Leeds, years ago.", "I live in Hull now."), ("I'm a vegetarian.", "April fools, I'm eating chicken now!"),
    ("我在练铁人三项。", "我可没说不练铁人三项了。"), ("我开车上班。", "网上有人把车卖了去旅行。"),
    ("我开大众。", "要是把大众卖了就好了。"), ("我和小林结婚了。", "昨晚梦见我和小林离婚了。"),
    ("我住在苏州。", "我朋友说：“我从苏州搬走了。”"), ("我用苹果手机。", "同事都劝我把苹果换成华为。"),
    ("我养了一只猫。", "上周又养了一只狗。"),
    ("My brother Al is getting married in May.", "We got married at the town hall yesterday."),
    ("Jonah is ten.", "Jonah's throat swells up with shellfish."), ("Mabel is nine.", "Mabel has a heart murmur."),
    ("User has a gravel bike.", "Sanna has sworn off bikes since the accident last year."),
]  # fmt: skip


def rated(*near: float) -> Rating:
    return Rating(0.9, -0.5, near)


def test_a_report_of_a_change_ends_the_one_statement_that_it_is_about() -> None:
    changes = {new: changed(new, [old, *BESIDE], ALIKE) for old, new in ENDS}
    assert [new for new, change in changes.items() if change is None or change[:2] != (0, True)] == []


def test_what_others_report_and_what_has_no_word_of_change_ends_nothing() -> None:
    beside = [
        ("我上夜班。", "昨晚夜班来了个急诊，没合眼。"), ("我吃着降压药。", "降压药快吃完了，要去开。"),
        ("我用安卓", "我换了手机壳"), ("我的手表是卡西欧。", "卡西欧换了节电池。"),
        ("My number ends in 77.", "He told me that he had changed his number."),
    ]  # fmt: skip
    changes = [changed(new, [old, *BESIDE], ALIKE) for old, new in beside]
    assert [change for change in changes if change is not None and change.sure] == []


def test_both_are_marked_if_it_may_be_outdated() -> None:
    changes = {new: changed(new, [old, *BESIDE], ALIKE) for old, new in MARKED}
    assert [new for new, change in changes.items() if change is None or change[:2] != (0, False)] == []


def test_words_of_change_find_it_without_a_model() -> None:
    changes = {new: changed(new, [old, *BESIDE], no_model) for old, new in BY_WORDS}
    assert [new for new, change in changes.items() if change is None or change[:2] != (0, True)] == []


def test_what_is_supposed_asked_quoted_or_of_others_changes_nothing() -> None:
    assert [(old, new) for old, new in NOTHING if changed(new, [old, *BESIDE], ALIKE) is not None] == []


def test_the_word_by_which_two_statements_name_their_speaker_is_no_common_topic() -> None:
    known = ["User has weak eyes", "用户左眼弱视（2025-03-28说）"]
    news = ["User's television broke last week", "用户电视上周坏了，换成投影了"]
    assert [changed(new, [old], ALIKE) for old, new in zip(known, news, strict=True)] == [None, None]


def test_what_shares_an_attribute_is_meant_rather_than_what_is_only_near() -> None:
    known = ["I'm engaged to Matteo.", "I'm giving a reading at the ceremony."]
    change = changed("We got married yesterday.", known, lambda _text, others: rated(*[0.4, 0.38][: len(others)]))
    assert change is not None
    assert change.at == 0


def test_of_two_statements_that_are_equally_near_neither_is_changed() -> None:
    def all_are_near(_text: str, others: Sequence[str]) -> Rating:
        return rated(*(0.4 for _ in others))

    known = ["I take notes in OneNote.", "I keep recipes in OneNote."]
    assert changed("I moved out of OneNote.", known, all_are_near) is None
