"""What somebody wants kept is kept, in both languages: what he asks to be remembered, decisions, birthdays."""

from __future__ import annotations

from engramlog_server.projections.language.extraction import instructions, taking_back
from engramlog_server.projections.language.extraction.rules import MOST_STATEMENTS, extract
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, TurnText
from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.lifecycle.judge.known import outcome
from tests.rows import each_row

DAY = "2026-11-20"


def stated(text: str, speaker: str = "user") -> list[ExtractedStatement]:
    return [one for one in extract(TurnText("t1", text, "user", speaker, DAY)) if one.asserted]


REMEMBERED = [
    ("Remember that the deploy key rotates on Fridays.", "User asked to remember: the deploy key rotates on Fridays"),
    ("Please remember: my car is on level 3, and my ticket is 88.",
     "User asked to remember: my car is on level 3, and my ticket is 88"),
    ("Keep in mind. The budget is 500 euros.", "User asked to remember: The budget is 500 euros"),
    ("Keep this in mind: the budget is 500 euros.", "User asked to remember: the budget is 500 euros"),
    ("Don't forget we park on level 3, can you suggest a lunch place?", "User asked to remember: we park on level 3"),
    ("Can you remember that I take my coffee black?", "User asked to remember: I take my coffee black"),
    ("Also, bear in mind that if it rains the roof leaks.", "User asked to remember: if it rains the roof leaks"),
    ("I'm off to lunch, remember that the oven is on.", "User asked to remember: the oven is on"),
    ("Note: the gate closes at nine.", "User asked to remember: the gate closes at nine"),
    ("From now on the standup is at ten.", "User wants from now on: the standup is at ten"),
    ("记住，会议改到三点。", "用户要求记住：会议改到三点"),
    ("请记住我的门牌号是302。", "用户要求记住：我的门牌号是302"),
    ("请记住。我的停车位是B12。", "用户要求记住：我的停车位是B12"),
    ("以后注意，周报周五交。", "用户要求记住：周报周五交"),
    ("下次别忘了带护照。", "用户要求记住：带护照"),
    ("能帮我记住我的车牌是沪A12345吗？", "用户要求记住：我的车牌是沪A12345"),
    ("请记得周一休息。", "用户要求记住：周一休息"),
    ("从今以后我吃素。", "用户说从今以后：我吃素"),
    ("Save this for later: the plumber is called Otto.", "User asked to remember: the plumber is called Otto"),
    ("I want you to remember that dinner is at Luigi's.", "User asked to remember: dinner is at Luigi's"),
    ("Please make sure to remember that the code changes in March.",
     "User asked to remember: the code changes in March"),
    ("Memorize this: the bin day is Thursday.", "User asked to remember: the bin day is Thursday"),
    ("Keep it in mind: the lift is out of order.", "User asked to remember: the lift is out of order"),
    ("把这个记下来：水管工叫老陈。", "用户要求记住：水管工叫老陈"),
    ("帮我备注一下，汤姆吃素。", "用户要求记住：汤姆吃素"),
    ("这个你要记住：猫晚上睡书房。", "用户要求记住：猫晚上睡书房"),
    ("拜托你记住我的柜子是214号。", "用户要求记住：我的柜子是214号"),
]  # fmt: skip

NOT_REMEMBERED = [
    "Do you remember that the deploy key rotates on Fridays?", "Remember when we went to Rome?",
    "Remember the time we got lost in Rome.", "Remember that the deploy key rotates on Fridays?",
    "She said, remember that the key is under the mat.", "If you ever go there, remember that the key is under the mat.",
    '"Remember that the key is under the mat" is a line of the play.', "I remember that the key is under the mat.",
    "You should remember that the key is under the mat.", "Remember this.", "Don't forget to have fun!",
    "Can you remember what the key was?", "> Remember that the key is under the mat.", "你还记得钥匙在哪里吗？",
    "记住钥匙在哪里了吗？", "妈妈说，记住钥匙在门垫下面。", "他喊：“记住钥匙在门垫下面！”",
    "如果你来，记住钥匙在门垫下面。", "我记住了你的建议。", "记住这个。", "不用记住钥匙在门垫下面。", "以后注意身体。",
    "Write this down as a poem.", "Memorize the poem, then the song.", "I want you to remember the day we met.",
    "把这个词翻译一下。", "帮我存一下文件。",
]  # fmt: skip


@each_row(("text", "content"), REMEMBERED)
def test_what_is_asked_to_be_remembered_is_kept_in_its_own_words(text: str, content: str) -> None:
    (one,) = (found for found in stated(text) if found.kind == "note")
    assert one.content.removesuffix(f" (said on {DAY})").removesuffix(f"（{DAY}说）") == content


@each_row("text", NOT_REMEMBERED)
def test_questions_recollections_quotations_and_conditions_ask_for_nothing_to_be_remembered(text: str) -> None:
    assert [one.content for one in stated(text) if one.kind == "note"] == []


@each_row("text", ["Remember that I'm allergic to peanuts.", "别忘了我对花生过敏，你能推荐餐厅吗？"])
def test_what_a_typed_statement_says_is_no_note_beside_it(text: str) -> None:
    assert [(one.category, one.kind, one.confidence) for one in stated(text)] == [("identity", "fact", 0.9)]


def test_what_a_typed_statement_says_only_a_part_of_is_kept_whole() -> None:
    found = stated("Remember that I live in Berlin, my entry word to the club is swan and its door is the green one.")
    assert [one.kind for one in found] == ["fact", "note"]


def test_one_of_two_people_who_talk_asks_the_other_for_much_else() -> None:
    assert stated("Don't forget to send me the pictures of your trip!", "Caroline") == []
    (note,) = stated("Don't forget that my flight lands at nine.", "Caroline")
    assert note.content == f"Caroline asked to remember: my flight lands at nine (said on {DAY})"


def test_what_is_to_be_remembered_is_kept_however_much_else_a_turn_states() -> None:
    much = " ".join(f"I visited Porto Number {n}." for n in range(MOST_STATEMENTS + 3))
    found = stated(f"{much} Remember that the gate closes at nine.")
    assert len(found) == MOST_STATEMENTS
    assert found[-1].kind == "note"


DECIDED = [
    ("We decided to use Postgres for the billing service.",
     ("User and others", "decided to", "use Postgres for the billing service")),
    ("We settled on Lisbon for the offsite, so what hotels are there?", ("User and others", "chose", "Lisbon")),
    ("We've decided on Friday the 12th.", None),
    ("Final decision: we go with the blue logo.", None),
    ("我们决定用Postgres做账单服务。", ("用户等人", "决定", "用Postgres做账单服务")),
    ("最终决定：蓝色的标志。", None),
    ("我们定下来了，下周五去杭州。", None),
]  # fmt: skip


@each_row(("text", "triple"), DECIDED)
def test_decisions_are_kept_with_a_triple_where_their_shape_is_sure(
    text: str, triple: tuple[str, str, str] | None
) -> None:
    (one,) = stated(text)
    assert one.kind == "decision"
    assert (None if one.triple is None else tuple(one.triple[:3])) == triple


@each_row(
    "text",
    ["Have we decided to use Redis?", "When we decided to move, it rained.", "We haven't decided yet.", "We decided.",
     "If we decided to move, I would cry.", "我们还没决定去哪里。", "我们决定了吗？", "如果我们决定搬家就好了。", "他们决定搬家。"],
)  # fmt: skip
def test_what_is_not_decided_is_no_decision(text: str) -> None:
    assert stated(text) == []


BIRTHDAYS = [
    ("My birthday is on 3 May.", "User's birthday is on 3 May", ("User", "was born", "3 May")),
    ("My mom's birthday is on 12 June.", "User's mom's birthday is on 12 June", ("User's mom", "was born", "12 June")),
    ("My daughter turns 6 on 3 May.", "User's daughter's birthday is on 3 May", ("User's daughter", "was born", "3 May")),
    ("Tomorrow is my sister Anna's birthday.", "User's sister Anna's birthday is on November 21",
     ("User's sister Anna", "was born", "November 21")),
    ("It's my birthday!", "User's birthday is on November 20", ("User", "was born", "November 20")),
    ("我生日是5月3日。", "用户的生日是5月3日", ("用户", "出生", "5月3日")),
    ("我妈妈的生日是六月十二号。", "用户的妈妈的生日是六月十二号", ("用户的妈妈", "出生", "六月十二号")),
    ("今天是我朋友的生日，我不知道送什么。", "用户的朋友的生日是11月20日", ("用户的朋友", "出生", "11月20日")),
    ("我女儿5月3日满六岁。", "用户的女儿的生日是5月3日", ("用户的女儿", "出生", "5月3日")),
]  # fmt: skip


@each_row(("text", "content", "triple"), BIRTHDAYS)
def test_birthdays_are_kept_with_their_day(text: str, content: str, triple: tuple[str, str, str]) -> None:
    (one,) = stated(text)
    assert (one.category, one.content, tuple(one.triple or ())[:3]) == ("identity", content, triple)


@each_row(
    "text",
    ["Is it my birthday today?", "If it's my birthday, sing.", "It's not my birthday today.", "My birthday is coming soon.",
     "It's your birthday today!", "今天是我的生日吗？", "我生日早就过了", "今天是你的生日。", "如果今天是我的生日就好了。"],
)  # fmt: skip
def test_what_tells_no_birthday_of_the_speakers_people_is_none(text: str) -> None:
    assert stated(text) == []


@each_row(
    ("new", "known", "expected"),
    [("3 May", "May 3rd, 1990", "stands"), ("1990", "5 May 1990", "stands"),
     ("3 May", "May 4", "may"), ("5月3日", "1990年五月三号", "stands"),
     ("5月3日", "5月4日", "may")],
)  # fmt: skip
def test_two_birthdays_are_one_where_no_part_of_them_differs(new: str, known: str, expected: str) -> None:
    predicate = "was born" if new.isascii() else "出生"
    assert outcome(predicate, (new, new), (known, known), 2026, corrects=False) == expected


@each_row("text", ["请你" * 3000, "please please " * 500, "可以帮我" * 2000 + "吗"])
def test_words_of_politeness_without_end_are_read_in_proportion_to_the_text(text: str) -> None:
    assert stated(text) == []


def hinted(word: str, hints: tuple[str, ...]) -> bool:
    return any(hint in word.casefold() for hint in hints)


@each_row(
    ("name", "roles", "hints"),
    [
        ("keeping", {"remember", "weakly", "onward", "mind", "decided", "decision"}, instructions.KEEPING_HINTS),
        ("instructing", {"ever", "head"}, instructions.INSTRUCTION_HINTS),
        ("taking_back", {"misspoke", "strong", "still"}, taking_back.HINTS),
    ],
)
def test_every_cue_has_a_hint_by_which_its_text_is_looked_at(
    name: str, roles: set[str], hints: tuple[str, ...]
) -> None:
    cues = [word for row in rows(name) if roles & set(row["role"]) for word in row["english"] + row["chinese"]]
    assert [word for word in cues if not hinted(word, hints)] == []
