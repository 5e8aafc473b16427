"""What a statement carries beside its words: polarity, what it takes back, its subject, triple and place."""

from __future__ import annotations

from engramlog_server.projections.language.extraction.rules import extract, questions
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, TurnText
from tests.rows import each_row

DAY = "2024-05-01"


def stated(text: str, speaker: str = "user", role: str = "user") -> list[ExtractedStatement]:
    """What the turn states, asserted or not."""
    return extract(TurnText("t1", text, role, speaker, DAY))


def contents(text: str, speaker: str = "user", role: str = "user") -> list[str]:
    """What the turn asserts."""
    return [one.content for one in stated(text, speaker, role) if one.asserted]


@each_row(
    ("text", "polarity"),
    [
        ("I like tea.", 1), ("I don't like tea.", -1), ("I hate tea.", -1), ("I don't hate tea.", 1),
        ("I don't dislike tea.", 1), ("I'm not a big fan of tea.", -1), ("I don't care for tea.", -1),
        ("I no longer like tea.", -1), ("I don't drink coffee any more.", -1),
        ("我喜欢茶。", 1), ("我不喜欢茶。", -1), ("我讨厌茶。", -1), ("我不讨厌茶。", 1), ("我不是不喜欢茶。", 1),
        ("我不喜欢茶了。", -1), ("我不再喝咖啡了。", -1),
    ],
)  # fmt: skip
def test_a_double_negation_is_none(text: str, polarity: int) -> None:
    assert [one.polarity for one in stated(text)] in ([polarity], [])
    assert all(one.triple is None or one.triple.negation == (polarity < 0) for one in stated(text))


@each_row(
    ("text", "content", "ends"),
    [
        ("I don't like coffee any more.", "User does not like coffee any more", "User likes coffee"),
        ("I no longer eat meat.", "User no longer eats meat", "User likes meat"),
        ("I'm not from Oslo but from Bergen.", "User is from Bergen", "User is from Oslo"),
        ("我不喜欢咖啡了。", "用户不喜欢咖啡了", "用户喜欢咖啡"),
        ("我不再吃肉了。", "用户不再吃肉了", "用户喜欢肉"),
        ("我不是北京人，而是上海人。", "用户是上海人", "用户是北京人"),
    ],
)
def test_a_correction_names_what_holds_no_longer(text: str, content: str, ends: str) -> None:
    assert [(one.content, one.ends) for one in stated(text)] == [(content, ends)]


@each_row(
    ("text", "says"),
    [
        ("My name is Lin and I live in Hangzhou.", ["User's name is Lin", "User lives in Hangzhou"]),
        ("My name's Ben and I work as a nurse.", ["User's name is Ben", "User works as a nurse"]),
        ("My mother cooks and I live in Leeds.", ["User's mother cooks", "User lives in Leeds"]),
        ("My older sister and I live in Leeds.", ["User and their older sister live in Leeds"]),
    ],
)
def test_a_name_and_what_follows_are_two_statements_and_my_sister_and_i_are_one(text: str, says: list[str]) -> None:
    assert [one.removesuffix(f" (said on {DAY})") for one in contents(text)] == says


def test_a_named_speaker_is_the_subject() -> None:
    assert contents("I took my kids to the museum in Graz.", "Melanie", "other") == [
        f"Melanie took their kids to the museum in Graz (said on {DAY})"
    ]
    assert contents("我喜欢我的猫。", "小雨", "other") == ["小雨喜欢自己的猫"]


@each_row(
    ("text", "triple"),
    [
        ("I live in Berlin.", ("User", "lives in", "Berlin", False)),
        ("I hate mushrooms.", ("User", "likes", "mushrooms", True)),
        ("My favourite colour is green.", ("User", "favourite colour", "green", False)),
        ("我住在杭州。", ("用户", "住在", "杭州", False)),
        ("我不喜欢香菜。", ("用户", "喜欢", "香菜", True)),
        ("我最喜欢的颜色是蓝色。", ("用户", "最喜欢的颜色", "蓝色", False)),
    ],
)
def test_a_plain_statement_is_a_triple_too(text: str, triple: tuple[str, str, str, bool]) -> None:
    assert [one.triple and one.triple[:4] for one in stated(text)] == [triple]


def test_questions_are_told_one_by_one() -> None:
    turn = TurnText("t", "I like tea. Where is Oslo? 哪里有好茶？", "user", None, None)
    assert questions(turn) == ["Where is Oslo?", "哪里有好茶？"]


@each_row(
    "text",
    [
        "我喜欢听。", "我也不想做了。", "我一般都是晚上去。", "我通常都是周末来。", "我看了好几遍了哈哈。",
        "我练了有八年了。", "我弹了三年。", "我在外面上班。", "我在做我的工作啊！", "我喜欢吃的零食可多了。",
        "我喜欢跳舞我每天跳一个小时。", "I prefer a balanced approach.", "I'm planning to arrange my papers accordingly.",
        "I'm starting to feel the pressure of the exam on May 3.",
        'My draft says: "' + "I completed a course in Lisbon. " * 30 + '"',
    ],
)  # fmt: skip
def test_what_is_about_something_said_elsewhere_is_left_out(text: str) -> None:
    assert contents(text) == []


@each_row(
    ("text", "content", "category", "kind"),
    [
        ("我也喜欢听嘻哈！", "用户也喜欢听嘻哈", "stable_preference", "user_preference"),
        ("我喜欢我的工作。", "用户喜欢自己的工作", "stable_preference", "user_preference"),
        ("我弹钢琴三年了。", "用户弹钢琴三年了", "skill", "fact"),
        ("我在做文员啊！", "用户在做文员", "identity", "fact"),
        ("我现在在找一份翻译的工作。", f"用户现在在找一份翻译的工作（{DAY}说）", "temporary", "fact"),
        ("明天开始上班了。", f"用户明天开始上班了（{DAY}说）", "temporary", "plan"),
        ("我在看《我在山里看雪》。", f"用户在看《用户在山里看雪》（{DAY}说）", "temporary", "fact"),
        ("I'm 51 and new to this stuff.", "User is 51 years old (said on 2024-05-01)", "identity", "fact"),
        ("I'm 51 and living in Graz.", "User is 51 and living in Graz (said on 2024-05-01)", "identity", "fact"),
        ("I'm starting a pottery class on May 3.", f"User is starting a pottery class on May 3 (said on {DAY})",
         "temporary", "plan"),
    ],
)  # fmt: skip
def test_a_statement_is_of_the_class_of_what_it_says(text: str, content: str, category: str, kind: str) -> None:
    assert [(one.content, one.category, one.kind) for one in stated(text) if one.asserted] == [
        (content, category, kind)
    ]
