"""What a review with fresh eyes found that rules read as facts of a speaker, and texts on which they took time without bound."""

from __future__ import annotations

from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from tests.rows import each_row

DAY = "2024-05-01"


def told(text: str) -> list[str]:
    """What the turn asserts."""
    return [one.content for one in extract(TurnText("t1", text, "user", "user", DAY)) if one.asserted]


ELIDED = [
    "My brother Tom called. Got married last week in Vegas.", "Anna is fine. Went to Rome last week.",
    "What do you know about Parasite? Won 4 Oscars in 2020.", "Tell me about this book. Sold 3 million copies in 2020.",
    "He's a legend. ... Won the World Cup in 2022.", "Got married last week, said Anna.",
    "Won $5,000 in the lottery! Just kidding.", "Met the Pope in Rome, lol.", "Went to Berlin last year in my dreams.",
    "Gave a talk in Rome in May — that was Anna, not me.", "I moved to Rome in May. Just kidding!",
]  # fmt: skip
GIVEN = [
    "Can I give my dog Advil?", "Should I name my dog Rex?", "How do I teach my son Python?", "Is my boss Jewish?",
    "Is my cat Persian?", "Why is my dog Sad?", "Where can I buy my wife Tiffany earrings?",
    "Can you recommend my boss Indian restaurants?", "How can I convince my fictional brother Tom?",
    "Did you like my dog, Caroline?", "How do I explain to my son Python?", "What is best for my cat Persian or Siamese?",
]  # fmt: skip
OFF = [
    "I'm nervous about my upcoming trip to Rome on May 3, which got cancelled.",
    "My upcoming trip to Rome on May 3 is off.",
    "I was glad about my upcoming trip to Rome on May 3. It fell through.",
]
WE = [
    "We landed on the Moon in 1969.", "We invaded Iraq in 2003.", "We lost 3-1 to Brazil last Sunday.",
    "We won the World Cup in 2022, says every Argentinian.", "We visited Rome last summer, says every tourist.",
    "We're getting snow on Monday.", "We visited Rome last summer is the title of her essay.",
    "I noticed that we have two dogs in the picture.", "I was just imagining living in Rome in 1920",
    "I was lying about moving to Berlin in May", "I make $5 bills disappear in my show",
]  # fmt: skip
IDIOMS = [
    "我要开始怀疑人生了", "我要开始吃饭了", "我做的是白日梦", "我从不吃亏", "我很少看错人", "我回到原点了",
]  # fmt: skip


PASTED = [
    "Fix the grammar of this CV please:\nHelen Ward\nI am a certified welder. I live in Hull and I speak Dutch.",
    "Here's the mail I got:\n\nHi,\nI'm allergic to nuts and I arrive on Monday.\nBest,\nJoanna\n\nWhat should I cook?",
    "Hello,\nI'm allergic to nuts and I live in Hull.\nKind regards,\nJoanna\n\nHow do I answer?",
    "Summarise: I grew up in Cork. I work as a nurse.", "The message from my landlord says: I live in Spain now.",
    "Ada Lund\nSummary\nI am a welder.\nExperience\nI worked as a fitter in Hull.\nSkills\nI speak Dutch.",
    "Could you proofread the cover letter: I am a nurse and I speak Dutch.",
    "帮我润色一下这份简历：\n王海\n我是一名焊工，住在青岛，会说日语。", "翻译成英文：我丈夫叫保罗，我们养了一条狗。",
    "这是我收到的邮件：\n\n你好，\n我对坚果过敏，周一到。\n祝好，\n小娟\n\n我该做什么菜？",
    "王海\n自我评价\n我是焊工。\n工作经历\n我在青岛工作。\n技能\n我会说日语。", "老板写的：我住在迪拜，最讨厌长邮件。",
    "Sure, and I'm the Queen of Sheba.", "行行行，我还是秦始皇呢。",
]  # fmt: skip
TO_THE_ASSISTANT = [
    ("Hi,\nI'm allergic to nuts.\nWhat can I bake?\nThanks,\nJoanna", "User is allergic to nuts"),
    ("I got a message from Ann and I live in Hull.", "User lives in Hull"),
    ("Improve my mood! I live in Hull.", "User lives in Hull"),
    ("Note from me: I'm allergic to nuts.", "User is allergic to nuts (said on 2024-05-01)"),
    ("This is my story: I grew up in Cork and I work as a nurse.", "User works as a nurse"),
    ("Answer me this: I have two dogs, which food is best?", "User has two dogs (said on 2024-05-01)"),
    ("I'm the president of our chess club.", "User is the president of their chess club (said on 2024-05-01)"),
    ("I'm the prime minister's driver.", "User is the prime minister's driver (said on 2024-05-01)"),
    ("我是总统府的保安", "用户是总统府的保安（2024-05-01说）"),
    ("我是超人气奶茶店的店长", "用户是超人气奶茶店的店长（2024-05-01说）"),
    ("我收到一封邮件。我住在青岛。", "用户住在青岛"), ("帮我翻译一封信，我住在青岛。", "用户住在青岛"),
]  # fmt: skip


@each_row("text", PASTED, ids=lambda text: str(text)[:40])
def test_a_pasted_text_or_one_to_be_worked_on_says_nothing_of_the_speaker(text: str) -> None:
    assert told(text) == []


@each_row(("text", "content"), TO_THE_ASSISTANT, ids=lambda text: str(text)[:40])
def test_what_is_said_to_the_assistant_beside_a_text_is_read(text: str, content: str) -> None:
    assert content in told(text)


@each_row("text", ELIDED, ids=lambda text: str(text)[:40])
def test_a_subject_left_out_after_somebody_else_or_in_jest_is_not_the_speaker(text: str) -> None:
    assert not [one for one in told(text) if not one.startswith("User's brother")]


@each_row("text", GIVEN, ids=lambda text: str(text)[:40])
def test_what_one_of_ones_people_is_given_or_like_is_no_name(text: str) -> None:
    assert told(text) == []


@each_row("text", OFF, ids=lambda text: str(text)[:40])
def test_a_trip_that_was_called_off_is_not_to_come(text: str) -> None:
    assert told(text) == []


@each_row("text", WE, ids=lambda text: str(text)[:40])
def test_we_of_a_nation_a_team_or_a_picture_states_nothing_of_the_speaker(text: str) -> None:
    assert told(text) == []


@each_row("text", IDIOMS, ids=lambda text: str(text)[:40])
def test_a_figure_of_speech_states_nothing(text: str) -> None:
    assert told(text) == []


@each_row(
    ("text", "content"),
    [
        ("Got married last week in Vegas!", "User got married last week in Vegas"),
        ("Hey Kelly! Got married last week in Vegas.", "User got married last week in Vegas"),
        ("I had a busy week. Went to a concert in Rome last Friday.", "User went to a concert in Rome last Friday"),
        ("What should I do with my sister Ines in Rome?", "User's sister is called Ines"),
        ("Can you find a gift for my sister Anna's birthday?", "User's sister is called Anna"),
        ("How do I tell my boss, Greg, that I'm leaving?", "User's boss is called Greg"),
        ("I'm nervous about my upcoming trip to Rome on May 3.", "User has an upcoming trip to Rome on May 3"),
        ("I make $5k a month as a tutor.", "User makes $5k a month as a tutor"), ("我要开始健身了。", "用户要开始健身了"),
        ("我从不吃辣。", "用户从不吃辣"), ("我做的是室内设计。", "用户做的是室内设计"),
        ("我刚刚搬到北京。", "用户刚刚搬到北京"), ("我最近一直都在学画画。", "用户最近一直都在学画画"),
    ],
)  # fmt: skip
def test_what_is_like_them_and_true_is_still_told(text: str, content: str) -> None:
    assert any(one.startswith(content) for one in told(text))


@each_row(
    "text",
    [
        "刚" * 140 + "我吧", "我" + "刚" * 140 + "吧", "我" + "刚刚" * 70 + "搬", "我" + "从小就" * 45 + "吧",
        "我" + "刚刚从小就最近" * 18 + "吧", "刚刚" * 30 + "我" + "刚刚" * 30 + "和", "我" + "常常" * 60 + "都会",
        "我" + "有时候" * 40 + "周末" * 10, ("刚" * 140 + "我吧。") * 50, "my upcoming " + "in " * 2600,
        "My upcoming trip " + "to Rome with in at " * 400 + "soon", "I " + "also quickly " * 28 + "every",
        ("I " + "also quickly " * 28 + "went. ") * 20, "with my friend " * 500, "Got it. " * 1000,
    ],
    ids=lambda text: str(text)[:20],
)  # fmt: skip
def test_words_that_fit_in_many_ways_take_no_time_without_bound(text: str) -> None:
    # The first eight took hours and more: every repetition doubled the ways that were tried.
    assert told(text) == []
