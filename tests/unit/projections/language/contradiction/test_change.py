"""What a statement changes: one known statement, none if it only supposes, and none if two are equally near."""

from __future__ import annotations

from collections.abc import Sequence

from projections.language.contradiction.change import Alike, changed, no_model

BESIDE = ["I sing in a choir.", "My passport expires in May.", "我每周三练书法。", "我对花粉过敏。"]
CHANGES = [
    ("I drive a red Ford Focus.", "Traded the Focus for an electric Kia."),
    ("The dentist is on Tuesday at nine.", "The dentist moved me to Thursday at eleven."),
    ("We track bugs in Jira.", "We replaced Jira with Linear."),
    ("My mother-in-law is coming in July.", "My mother-in-law isn't coming any more."),
    ("The concert is on Saturday.", "I misspoke, the concert is on Sunday."),
    ("我开的是一辆大众朗逸。", "朗逸卖了，换了辆特斯拉。"), ("我和小林在谈恋爱。", "我跟小林分手了。"),
    ("婚禮計劃在酒店辦。", "婚禮改在草坪上辦。"), ("周五下午开家长会。", "家长会推迟到下周二了。"),
    ("我每周三去游泳。", "我现在不游泳了。"),
]  # fmt: skip
NEARLY = [
    ("I live in a basement flat.", "Keys are ours, we moved into the terrace."),
    ("我剪视频用剪映。", "现在改用达芬奇了。"),
    ("I play the upright piano.", "I traded it in for a cello."),
    ("I'm engaged to Matteo.", "We got married at the town hall yesterday."),
    ("I wear a wristwatch.", "I gave the watch away."),
    ("My brother is dating a vet.", "My brother is seeing someone new, a carpenter."),
    ("I was born in 1987.", "Typo earlier, 1978 is my birth year."),
]
NOTHING = [
    ("I drive a red Ford Focus.", "If I sold the Focus, I would cycle."),
    ("I drive a red Ford Focus.", "Should I sell the Focus?"),
    ("I drive a red Ford Focus.", "My colleague sold his Focus."),
    ("I drive a red Ford Focus.", "I haven't sold the Focus."),
    ("I'm married to Dan.", "I dreamt that Dan and I got divorced."),
    ("I work at a bank.", 'The woman in my novel says: "I quit the bank."'),
    ("I like jazz.", "I like folk music as well now."), ("I live in Munich.", "My brother has moved to Berlin."),
    ("I lived in Leeds, years ago.", "I live in Hull now."), ("I'm a vegetarian.", "April fools, I'm eating chicken now!"),
    ("我在练铁人三项。", "我可没说不练铁人三项了。"), ("我开车上班。", "网上有人把车卖了去旅行。"),
    ("我开大众。", "要是把大众卖了就好了。"), ("我和小林结婚了。", "昨晚梦见我和小林离婚了。"),
    ("我住在苏州。", "我朋友说：“我从苏州搬走了。”"), ("我用苹果手机。", "同事都劝我把苹果换成华为。"),
    ("Isla plays the cornet.", "I swapped the cornet for a flute."),
    ("我养了一只猫。", "上周又养了一只狗。"), ("我住在北京。", "我搬到上海了，不过只住一个夏天。"),
]  # fmt: skip


def near(old: str) -> Alike:
    return lambda _text, others: [0.4 if one == old else 0.1 for one in others]


def all_are_near(_text: str, others: Sequence[str]) -> list[float]:
    return [0.4 for _ in others]


def test_words_of_change_end_the_one_statement_that_they_are_about() -> None:
    found = {new: changed(new, [old, *BESIDE], no_model) for old, new in CHANGES}
    assert [new for new, one in found.items() if one is None or one.at != 0 or not one.sure] == []
    assert all("changed" in one.reason for one in found.values() if one is not None)


def test_a_model_finds_it_across_wording() -> None:
    found = {new: changed(new, [old, *BESIDE], near(old)) for old, new in NEARLY}
    assert [new for new, one in found.items() if one is None or one.at != 0] == []
    assert [changed(new, [old, *BESIDE], no_model) for old, new in NEARLY[:2]] == [None, None]


def test_what_is_supposed_asked_quoted_or_of_others_changes_nothing() -> None:
    assert [(old, new) for old, new in NOTHING if changed(new, [old, *BESIDE], near(old)) is not None] == []


def test_now_alone_ends_nothing_that_is_only_of_the_same_people() -> None:
    known, new = "The children have swimming on Monday.", "The children have judo on Wednesday now."
    found = changed(new, [known, *BESIDE], near(known))
    assert found is not None
    assert not found.sure


def test_the_word_by_which_two_statements_name_their_speaker_is_no_common_topic() -> None:
    known = ["User has weak eyes", "用户左眼弱视（2025-03-28说）"]
    news = ["User's television broke last week", "用户电视上周坏了，换成投影了"]
    assert [changed(new, [old], no_model) for old, new in zip(known, news, strict=True)] == [None, None]


def test_what_shares_a_word_or_an_attribute_is_meant_rather_than_what_is_only_near() -> None:
    known = ["I'm engaged to Matteo.", "I'm giving a reading at the ceremony."]
    found = changed("We got married yesterday.", known, lambda _text, _others: [0.2, 0.23])
    assert found is not None
    assert (found.at, found.sure) == (0, False)


def test_of_two_statements_that_are_equally_near_neither_is_changed() -> None:
    known = ["I take notes in OneNote.", "I keep recipes in OneNote."]
    assert changed("I moved out of OneNote.", known, all_are_near) is None
