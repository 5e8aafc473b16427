"""Facts in general shapes: verbs of any kind, one's own people, a time before the subject, two verbs of one subject."""

from __future__ import annotations

from engramlog_server.projections.language.extraction.rules import extract, only_asks
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, TurnText
from tests.rows import each_row

DAY = "2024-05-01"
SAID = f"(said on {DAY})"
SAID_CHINESE = f"（{DAY}说）"


def stated(text: str, speaker: str = "user") -> list[ExtractedStatement]:
    """What the turn asserts."""
    return [one for one in extract(TurnText("t1", text, "user", speaker, DAY)) if one.asserted]


def told(text: str) -> list[tuple[str, str]]:
    """Class and content of what the turn asserts."""
    return [(one.category, one.content) for one in stated(text)]


@each_row(
    ("text", "category", "content"),
    [
        ("I hooked my calendar up to Notion.", "fact", f"User hooked their calendar up to Notion {SAID}"),
        ("I came back from Graz yesterday.", "fact", f"User came back from Graz yesterday {SAID}"),
        ("I got married in June.", "fact", f"User got married in June {SAID}"),
        ("Just got back from a family road trip.", "fact", f"User got back from a family road trip {SAID}"),
        ("I've been working with Jessica at the lab.", "fact", f"User has been working with Jessica at the lab {SAID}"),
        ("Last month I joined a gym.", "fact", f"Last month, User joined a gym {SAID}"),
        ("Yesterday my dad bought a boat.", "fact", f"Yesterday, User's dad bought a boat {SAID}"),
        ("My dad collects stamps.", "fact", f"User's dad collects stamps {SAID}"),
        ("My friend Kyle, who's 25, suggested hiking boots.", "fact",
         f"User's friend Kyle, who's 25, suggested hiking boots {SAID}"),
        ("My colleagues and I went to a convention in Linz.", "fact",
         f"User and their colleagues went to a convention in Linz {SAID}"),
        ("My car broke down last week.", "fact", f"User's car broke down last week {SAID}"),
        ("I make sure to water my plants every evening.", "stable_preference",
         "User makes sure to water their plants every evening"),
        ("I walk five miles every day.", "stable_preference", "User walks five miles every day"),
        ("I'm a total jazz fan.", "stable_preference", "User is a total jazz fan"),
        ("Blue is my favourite.", "stable_preference", "User's favourite is Blue"),
        ("I've always wanted to learn Spanish.", "short_term_preference",
         f"User has always wanted to learn Spanish {SAID}"),
    ],
)  # fmt: skip
def test_english_in_a_general_shape_is_one_statement_of_a_class(text: str, category: str, content: str) -> None:
    assert told(text) == [(category, content)]


@each_row(
    ("text", "category", "content"),
    [
        ("我申请了清华大学的研究生。", "fact", f"用户申请了清华大学的研究生{SAID_CHINESE}"),
        ("我将要参加马拉松比赛。", "temporary", f"用户将要参加马拉松比赛{SAID_CHINESE}"),
        ("上周六我和室友去了一趟苏州博物馆。", "fact", f"用户上周六和室友去了一趟苏州博物馆{SAID_CHINESE}"),
        ("今天我去了故宫。", "fact", f"用户今天去了故宫{SAID_CHINESE}"),
        ("我还会吉他、画画。", "skill", "用户还会吉他、画画"), ("我是成都的，你呢？", "identity", "用户是成都的"),
        ("我是做外贸的。", "identity", "用户是做外贸的"), ("我也是一名健身教练。", "identity", "用户也是一名健身教练"),
        ("我在深圳呢。", "identity", "用户在深圳"), ("我身高一米七五。", "identity", "用户身高一米七五"),
        ("我哥哥身高一米七五。", "fact", f"用户哥哥身高一米七五{SAID_CHINESE}"),
        ("我的老师是一名资深摄影师。", "fact", f"用户的老师是一名资深摄影师{SAID_CHINESE}"),
        ("我已经毕业了。", "fact", f"用户已经毕业了{SAID_CHINESE}"),
    ],
)  # fmt: skip
def test_chinese_in_a_general_shape_is_one_statement_of_a_class(text: str, category: str, content: str) -> None:
    assert told(text) == [(category, content)]


@each_row(
    ("text", "contents"),
    [
        ("I live in Graz and play the cello.", ["User lives in Graz", "User plays the cello"]),
        ("I'm 35 and live in Graz.", [f"User is 35 years old {SAID}", "User lives in Graz"]),
        ("I work as a nurse and live in Bern.", ["User works as a nurse", "User lives in Bern"]),
        ("My sister lives in Oslo and works as a nurse.",
         [f"User's sister lives in Oslo {SAID}", f"User's sister works as a nurse {SAID}"]),
        ("我喜欢香菜，不喜欢香菇。", ["用户喜欢香菜", "用户不喜欢香菇"]),
        ("我有个哥哥，他身高一米七五。", ["用户有个哥哥", f"用户哥哥身高一米七五{SAID_CHINESE}"]),
        ("我妈妈住在北京，喜欢跳舞。", [f"用户妈妈住在北京{SAID_CHINESE}", f"用户妈妈喜欢跳舞{SAID_CHINESE}"]),
    ],
)  # fmt: skip
def test_two_verbs_of_one_subject_are_two_statements(text: str, contents: list[str]) -> None:
    assert [one.content for one in stated(text)] == contents


@each_row(
    "text",
    [
        "I want to live in Graz and play the cello.",
        "I like to cook and write.",
        "I love our self-acceptance and love theme.",
    ],
)
def test_a_second_verb_that_hangs_on_another_is_no_statement_of_its_own(text: str) -> None:
    assert len(stated(text)) == 1


@each_row(
    "text",
    [
        "If I moved to Oslo I hooked my boat up to a truck.", "Suppose my dad collected stamps.",
        "My sister told me she bought a car yesterday.", "In my novel I killed a dragon in Rome.",
        "My hero killed a dragon in Rome.", 'He said: "I sold my house in Berlin yesterday."',
        "Last night I dreamed I visited Tokyo.", "I almost bought a house in Graz last year.",
        "I wish I bought a house in Rome.", "Just kidding, I robbed a bank in Rome yesterday.",
        "Did my dad buy a boat yesterday?", "My dad collects stamps?", "My mom thinks I bought a car yesterday.",
        "I didn't visit Rome yesterday.", "假如我爸爸是医生", "我妈说我申请了清华大学", "我梦见我去了月球",
        "我差点买了房子", "我还没申请清华大学呢", "我爸爸是医生吗", "在小说里我杀了一条龙", "我开玩笑的，我抢了银行",
        "我骗你的，我中了五百万大奖", "我假装申请了清华大学", "我希望我爸爸是医生", "我是成都的吗", "我妈在打麻将",
        "我爸也是",
    ],
)  # fmt: skip
def test_what_is_supposed_quoted_asked_joked_or_denied_is_asserted_by_nobody(text: str) -> None:
    assert told(text) == []


@each_row("text", ["我呢", "我在哪呢", "你在成都呢", "你们知道我在干嘛呢"])
def test_a_question_in_ne_stays_one(text: str) -> None:
    assert told(text) == []


@each_row(("text", "name"), [("我爸爸叫张志强", "张志强"), ("我爸爸叫王伟", "王伟"), ("我女儿叫Anna", "Anna")])
def test_a_surname_is_no_measure_word(text: str, name: str) -> None:
    (one,) = stated(text)
    assert one.triple is not None
    assert (one.triple.predicate, one.triple.object) == ("名字", name)


@each_row("text", ["Where do I live?", "Where do I live? And what do I love?", "我住在哪里？", "你喜欢什么？"])
def test_a_turn_that_only_asks_is_told_from_one_that_states(text: str) -> None:
    assert only_asks(TurnText("t1", text))


@each_row(
    "text",
    [
        "I live in Graz.", "I live in Graz, what can I do there?", "Can you remember that I live in Graz?",
        "我住在成都，你呢？", "",
    ],
)  # fmt: skip
def test_a_turn_that_states_something_does_not_only_ask(text: str) -> None:
    assert not only_asks(TurnText("t1", text))


@each_row(
    ("text", "spans"),
    [
        ("I live in Graz and play the cello and love my dog", ["I live in Graz", "play the cello", "love my dog"]),
        ("My sister lives in Graz and plays the cello and works at Siemens",
         ["My sister lives in Graz", "plays the cello", "works at Siemens"]),
    ],
)  # fmt: skip
def test_each_verb_of_a_subject_points_at_its_own_words(text: str, spans: list[str]) -> None:
    assert [text[slice(*one.span)].strip() for one in stated(text)] == spans
