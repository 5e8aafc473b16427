"""A question taken apart: what it asks besides, what it compares, whether several things answer it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.questions import MOST_PARTS, asked_parts
from tests.rows import each_row

COMPARED = [
    ("Which came first, my trip to Graz or the concert in Vienna?", ["my trip to Graz", "the concert in Vienna"]),
    ("Did Anna or Ben move to Graz first?", ["Did Anna move to Graz?", "Did Ben move to Graz?"]),
    ("How many days passed between my dentist visit and the picnic?", ["my dentist visit", "the picnic"]),
    ("What have Caroline and Melanie both painted?", ["have Caroline painted", "have Melanie painted"]),
    ("Did I start the chess club before the pottery class?", ["the chess club", "Did I start the pottery class"]),
    ("Does the chess club cost more than the pottery class?", ["the chess club cost", "cost the pottery class"]),
    ("Who is older, Anna, Ben or Carla?", ["Anna", "Ben", "Carla"]),
    ("我学吉他和搬到成都哪个更早？", ["我学吉他", "搬到成都"]), ("我先去的成都还是重庆？", ["我先去的成都", "重庆"]),
    ("小明和小红都喜欢什么？", ["小明喜欢", "小红喜欢"]), ("比较一下小米和华为的价格", ["小米的价格", "华为的价格"]),
    ("陶艺课和围棋社哪个先开始？", ["陶艺课", "围棋社"]),
]  # fmt: skip
SEVERAL = [
    ("What did I tell Anna, and also where did I park?", ["What did I tell Anna", "where did I park?"]),
    ("How old is the cat and when did we get it?", ["How old is the cat", "when did we get it?"]),
    ("Where do I live? What do I drink?", ["Where do I live?", "What do I drink?"]),
    ("我的猫叫什么？另外我什么时候搬家的？", ["我的猫叫什么？", "我什么时候搬家的？"]),
    ("我喜欢喝什么，还有我住在哪里？", ["我喜欢喝什么", "我住在哪里？"]),
]
WHOLE = [
    "What should I drink tonight?", "Where did I buy bread and butter?", "我的朋友还是不理我怎么办？",
    "我喜欢的和平公园在哪里？", "今天比赛的结果怎么样？",
    "I moved to Graz. It rained all day. Anna helped. Where did the box go? We laughed a lot.",
    "Tell me my trips in order, Mention ONLY and ONLY five items.",
    "Which trips did I bring up? List ONLY and ONLY five items.", "Which trips did I bring up? Please name at most three.",
    "Which trips did I take Again and Again, first of all?", "我提到过哪些旅行？只列出五项。",
    "What did I buy? Name only the top three things.", "Compare Anna and Anna.", "",
]  # fmt: skip


@each_row(("question", "things"), COMPARED)
def test_what_is_compared_is_asked_of_each_thing(question: str, things: list[str]) -> None:
    found = asked_parts(question)
    assert (found.way, len(found.parts)) == ("compared", len(things))
    for part, thing in zip(found.parts, things, strict=True):
        assert thing in part
        others = [one for one in things if one != thing and one not in thing and thing not in one]
        assert not [one for one in others if one in part], "each part is about its own thing"


@each_row(
    ("question", "parts"),
    [
        ("Which came first, buying the Toyota or selling the Ford?", ("buying the Toyota", "selling the Ford")),
        (
            "How many days passed between my dentist visit and the picnic?",
            ("How many days passed: my dentist visit?", "How many days passed: the picnic?"),
        ),
        (
            "Which class do I like more, pottery or chess?",
            ("Which class do I like more: pottery", "Which class do I like more: chess"),
        ),
        ("Did Anna or Ben move to Graz?", ("Did Anna move to Graz?", "Did Ben move to Graz?")),
        (
            "Which did I try first: round and round or up and down?",
            ("Which did I try: round", "Which did I try: up and down"),
        ),
        (
            "What did I say of Anna? Give me only what I said of Ben.",
            ("What did I say of Anna?", "Give me only what I said of Ben."),
        ),
        ("Compare Rome and Rome NY", ("Rome", "Rome NY")),
        ("What is the difference between Graz and Graz Airport?", ("Graz", "Graz Airport")),
        ("Who came first, Sam and Sam's wife?", ("Sam", "Sam's wife")),
        (
            "Tell me exactly where Anna lives. Where does Ben live?",
            ("Tell me exactly where Anna lives.", "Where does Ben live?"),
        ),
        ("Show me just my cats. Show me just my dogs.", ("Show me just my cats.", "Show me just my dogs.")),
        ("只列出我的优点。小红的生日是什么时候？", ("只列出我的优点。", "小红的生日是什么时候？")),
        ("买丰田和卖福特哪个更早？", ("买丰田", "卖福特")),
        ("陶艺课和围棋社哪个先开始？", ("陶艺课 开始？", "围棋社 开始？")),
        ("小明和小红都喜欢什么？", ("小明喜欢？", "小红喜欢？")),
    ],
)
def test_a_part_reads_as_its_thing_alone_or_as_what_is_asked_of_it(question: str, parts: tuple[str, ...]) -> None:
    assert asked_parts(question).parts == parts


@each_row(("question", "parts"), SEVERAL)
def test_what_is_asked_besides_is_a_part_of_its_own(question: str, parts: list[str]) -> None:
    assert asked_parts(question)[:2] == ("several", tuple(parts))


@each_row("question", WHOLE)
def test_one_question_is_left_whole(question: str) -> None:
    assert asked_parts(question)[:2] == ("one", ())


@each_row(
    ("question", "many", "ordered"),
    [
        ("How many times did I go to the beach?", True, False), ("List all the books I read", True, False),
        ("In what order did I visit the cities?", True, True), ("我去过几次海边？", True, False),
        ("列出所有我读过的书", True, False), ("按时间顺序说说我去过的城市", True, True), ("Where do I live?", False, False),
        ("我住在哪里？", False, False),
    ],
)  # fmt: skip
def test_a_question_says_whether_several_things_answer_it(question: str, many: bool, ordered: bool) -> None:
    assert asked_parts(question)[2:] == (many, ordered)


@each_row(
    "hostile",
    [
        "what is tea and also " * 10_000, "另外我住在哪里？" * 10_000, "between " * 5_000 + "?",
        "A or B, " * 5_000 + "which is first?", "Anna, " * 5_000 + "and Ben?", "和" * 20_000 + "哪个？", "?" * 20_000,
    ],
    ids=["and also", "另外", "between", "or", "names", "和", "marks"],
)  # fmt: skip
def test_a_hostile_question_has_five_parts_at_most(hostile: str) -> None:
    found = asked_parts(hostile)
    assert len(found.parts) <= MOST_PARTS
    assert all(len(part) <= 2_000 for part in found.parts)


@given(st.text(max_size=300))
def test_any_text_has_no_part_or_two_to_five(text: str) -> None:
    found = asked_parts(text)
    assert len(found.parts) in {0, 2, 3, 4, 5}
    assert (found.way == "one") == (not found.parts)
    assert len(set(found.parts)) == len(found.parts)
