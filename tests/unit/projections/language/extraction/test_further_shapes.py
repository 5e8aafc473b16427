"""Facts in further shapes, and kinds of wrong facts: a subject left out, *we*, a continuous past, asides, ends that say nothing."""

from __future__ import annotations

from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, TurnText
from tests.rows import each_row

DAY = "2024-05-01"
SAID = f"(said on {DAY})"
SAID_CHINESE = f"（{DAY}说）"


def stated(text: str) -> list[ExtractedStatement]:
    """What the turn asserts."""
    return [one for one in extract(TurnText("t1", text, "user", "user", DAY)) if one.asserted]


def told(text: str) -> list[tuple[str, str]]:
    """Class and content of what the turn asserts."""
    return [(one.category, one.content) for one in stated(text)]


@each_row(
    ("text", "category", "content"),
    [
        ("Been learning the cello.", "temporary", f"User has been learning the cello {SAID}"),
        ("Got married last week!", "fact", f"User got married last week {SAID}"),
        ("Went camping last weekend.", "fact", f"User went camping last weekend {SAID}"),
        ("I was volunteering at the Red Cross since May.", "fact", f"User was volunteering at the Red Cross since May {SAID}"),
        ("My friends were mocking my hat last Friday.", "fact", f"User's friends were mocking their hat last Friday {SAID}"),
        ("I had to decline a job at Nestle in March.", "fact", f"User had to decline a job at Nestle in March {SAID}"),
        ("I've been invited to moderate a panel in Graz.", "fact", f"User has been invited to moderate a panel in Graz {SAID}"),
        ("We explored the coast of Wales last summer.", "fact", f"User and others explored the coast of Wales last summer {SAID}"),
        ("We're moving to Berlin in June.", "temporary", f"User and others are moving to Berlin in June {SAID}"),
        ("We have two dogs.", "fact", f"User and others have two dogs {SAID}"),
        ("I've got a workshop planned with Carla on May 7.", "temporary",
         f"User has got a workshop planned with Carla on May 7 {SAID}"),
        ("I'm finishing my thesis by June.", "temporary", f"User is finishing their thesis by June {SAID}"),
        ("I earn $40,000 as a producer.", "identity", "User earns $40,000 as a producer"),
        ("I oversee 12 people at Acme.", "fact", f"User oversees 12 people at Acme {SAID}"),
        ("I've always loved jazz.", "stable_preference", "User has always loved jazz"),
        ("I loved reading \"Heidi\" as a kid.", "fact", f"User loved reading \"Heidi\" as a kid {SAID}"),
        ("I'm so proud that I ran the London Marathon in April.", "fact", f"User ran the London Marathon in April {SAID}"),
        ("I already have three dogs at home.", "fact", f"User already has three dogs at home {SAID}"),
        ("I quit my job at Acme, looking for something worthwhile.", "fact", f"User quit their job at Acme {SAID}"),
        ("I ran 3 miles in Graz on May 1, and I'm wondering if that is enough?", "fact",
         f"User ran 3 miles in Graz on May 1 {SAID}"),
        ("I booked a room in Rome, can you tell me if I need a visa?", "fact", f"User booked a room in Rome {SAID}"),
    ],
)  # fmt: skip
def test_english_in_a_further_shape_is_one_statement_of_a_class(text: str, category: str, content: str) -> None:
    assert told(text) == [(category, content)]


@each_row(
    ("text", "category", "content"),
    [
        ("我早上去公园跑步了。", "fact", f"用户早上去公园跑步了{SAID_CHINESE}"),
        ("今天我学会了做一道新菜，叫做回锅肉。", "fact", f"用户今天学会了做一道新菜，叫做回锅肉{SAID_CHINESE}"),
        ("我今天还去图书馆看了会儿书。", "fact", f"用户今天还去图书馆看了会儿书{SAID_CHINESE}"),
        ("我也才19。", "identity", f"用户也才19岁{SAID_CHINESE}"), ("我是大二的。", "identity", "用户是大二的"),
        ("我是91年的。", "identity", "用户是91年的"), ("我是女生。", "identity", "用户是女生"),
        ("我是陕西榆林的。", "identity", "用户是陕西榆林的"), ("我做的是室内设计。", "identity", "用户做的是室内设计"),
        ("我在家做微商。", "identity", "用户在家做微商"), ("我还没结婚呢。", "identity", "用户还没结婚"),
        ("我不是做销售的。", "identity", "用户不是做销售的"), ("我很少看书。", "stable_preference", "用户很少看书"),
        ("我的爱好就是看书。", "stable_preference", "用户的爱好就是看书"),
        ("我喜欢吃辣的。", "stable_preference", "用户喜欢吃辣的"),
        ("我要开始运动。", "temporary", f"用户要开始运动{SAID_CHINESE}"),
        ("我现在还在上班。", "temporary", f"用户现在还在上班{SAID_CHINESE}"),
    ],
)  # fmt: skip
def test_chinese_in_a_further_shape_is_one_statement_of_a_class(text: str, category: str, content: str) -> None:
    assert told(text) == [(category, content)]


@each_row(
    ("text", "content"),
    [
        ("How do I tell my boss, Greg, that I'm leaving?", f"User's boss is called Greg {SAID}"),
        ("I'm nervous about my upcoming trip to Rome with Anna on May 3.",
         f"User has an upcoming trip to Rome with Anna on May 3 {SAID}"),
        ("What could I do with my sister Ines on her birthday?", f"User's sister is called Ines {SAID}"),
    ],
)  # fmt: skip
def test_what_a_clause_takes_for_granted_is_told(text: str, content: str) -> None:
    assert [one.content for one in stated(text)] == [content]


SUPPOSED = ["If we moved to Paris in June, I'd be happy.", "Suppose we bought a house in Lyon last year.",
            "If my friend Tom came, what then?", "I will quit my job at Acme, if they let me.",
            "如果我是做外贸的就好了。", "我要是25就好了。", "假如我还没结婚。"]  # fmt: skip
QUOTED = [
    "He said, 'I was working at Google in 2019.'", "She told me I was fired from Nike.", "我妈说我还没毕业。",
    "他说我是做销售的。",
]  # fmt: skip
JOKED = ["I was kidding when I said I moved to Mars in 2020.", "I earn a million dollars, just kidding.",
         "我是地球人。", "开玩笑，我是做总统的。"]  # fmt: skip
OTHERS = [
    "Tom has been living in Rome since 2010.", "My boss said we lost 3 clients last week.", "她是大三的。",
    "你是做财务的。",
]  # fmt: skip
DENIED = ["I wasn't invited to Anna's party on May 3.", "I haven't been learning the cello.", "We didn't go to Spain last year.",
          "My upcoming trip to Rome on May 3 is cancelled.", "我没去公园跑步了。", "我没有在上学。"]  # fmt: skip
PLANNED = ["I might have to work on May 3.", "We should go to Rome in May.", "I almost got fired from Google in 2020.",
           "我可能要开始运动。", "我差点去北京出差了。"]  # fmt: skip
ASKED = ["Were you working at Google in 2019?", "Have we been invited to the gala on May 4?", "My brother Tom lives in Kyoto?",
         "我20了吗？", "难道我不是本地人？", "我会开始运动吗？"]  # fmt: skip
EMPTY = [
    "Got it, thanks!", "Made my day!", "Took me 3 hours.", "Went well!", "We talked about Rome yesterday.", "我没看过。",
]  # fmt: skip
AT_HAND = ["I love the upside-down poses.", "I've added indexes on `users.id` and `users.name`.",
           "I'm trying to configure Chart.js 4.3.0 for my charts.", "最近在听《晴天。"]  # fmt: skip


@each_row(
    "text",
    [*SUPPOSED, *QUOTED, *JOKED, *OTHERS, *DENIED, *PLANNED, *ASKED, *EMPTY, *AT_HAND],
    ids=lambda text: str(text)[:40],
)
def test_what_nobody_asserts_of_himself_is_no_fact_in_a_further_shape(text: str) -> None:
    assert told(text) == []


@each_row(
    "text",
    [
        "Maybe I'll send her a message.\nHey Kelly, I moved to Rome in May. I love jazz.",
        "Here is the email I want to send:\nDear Mr Smith, I was born in Oslo.",
        "帮我写一封信。\n亲爱的李老师：我是北京人。",
    ],
)
def test_a_draft_to_somebody_else_states_nothing(text: str) -> None:
    assert told(text) == []


@each_row("text", ["Great!\nHey Kelly, I moved to Rome in May.", "你好\n亲爱的朋友，我是北京人。"])
def test_a_greeting_without_a_word_of_writing_opens_no_draft(text: str) -> None:
    assert len(told(text)) == 1
