"""How alike texts are, which pairs are alike, and which memories a job may merge (memory.md, sections 5 and 10)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from engramlog_server.events.parameters import DEFAULTS, changed
from engramlog_server.projections.language.similar import similar_pairs, similarity
from engramlog_server.projections.lifecycle.merging import may_merge, merge_groups
from engramlog_server.projections.memory.record import CorrectionEntry, Memory, with_changes
from tests.given.events import Told, at, created, deleted, folded, in_conflict, mentioned, merged, negated, restored
from tests.rows import each_row

NEAR_DUPLICATES = [
    ("I like coffee in the morning", "I like to drink coffee in the morning"), ("I don't eat meat", "I do not eat meat."),
    ("My sister Anna lives in Lisbon with her two kids", "My sister Anna lives in Lisbon with the two kids"),
    ("We deploy the billing service every Friday afternoon", "The billing service is deployed every Friday afternoon"),
    ("Please always answer in short bullet points", "Always answer in short bullet points"),
    ("I usually go running along the river before work", "I usually go for a run along the river before work"),
    ("My favourite book is The Left Hand of Darkness", "The Left Hand of Darkness is my favourite book"),
    ("I am allergic to peanuts and shellfish", "I'm allergic to shellfish and peanuts"),
    ("My dog Biscuit is afraid of thunder", "My dog Biscuit is really afraid of thunder"),
    ("I work as a nurse at the children's hospital", "I work as a nurse in a children's hospital"),
    ("我喜欢早上喝咖啡", "我喜欢在早上喝咖啡"), ("我对花生过敏", "我对花生过敏的"),
    ("我的妹妹住在上海，有两个孩子", "我妹妹住在上海，有两个孩子"),
    ("周末我常常和家人去公园散步", "周末我常和家人去公园散步"),
    ("我最喜欢的电影是《霸王别姬》", "我最喜欢的一部电影是《霸王别姬》"),
    ("我正在学西班牙语，准备去秘鲁旅行", "我正在学习西班牙语，准备去秘鲁旅行"),
    ("项目的数据库是 PostgreSQL 15", "这个项目的数据库是PostgreSQL 15。"),
    ("我家的猫叫豆豆，今年三岁", "我家猫叫豆豆，今年三岁了"), ("我在一家儿童医院当护士", "我在儿童医院当护士"),
    ("我从小就开始拉小提琴", "我从小开始拉小提琴"),
]  # fmt: skip
RELATED = [
    ("I like coffee in the morning", "I like tea in the morning"),
    ("My sister Anna lives in Lisbon", "My sister Anna moved to Lisbon for work"),
    ("We deploy the billing service every Friday", "We deploy the search service every Monday"),
    ("I am learning Spanish for our trip to Peru", "Our trip to Peru is in spring"),
    ("I went to the beach with my family", "I went to the mountains with my family"),
    ("I work as a nurse at the children's hospital", "I work night shifts at the children's hospital"),
    ("I am allergic to peanuts", "I am allergic to cats"), ("我喜欢早上喝咖啡", "我早上喜欢喝咖啡加牛奶"),
    ("每周五下午发布账单服务", "每周一上午发布搜索服务"), ("我家的猫叫豆豆，今年三岁", "我家的狗叫豆包，今年五岁"),
    ("我在一家儿童医院当护士", "我在儿童医院上夜班"), ("周末我常常和家人去公园散步", "周末我常常一个人去公园跑步"),
    ("我妹妹住在上海浦东", "我妹妹上个月搬到上海浦东了"), ("我们的服务部署在杭州机房", "我们的服务部署在上海机房"),
]  # fmt: skip
STRANGERS = [
    ("I like coffee in the morning", "My sister Anna lives in Lisbon"),
    ("The user prefers dark mode in the editor", "I moved to Berlin in May"),
    ("I like coffee", "I like hiking on Sundays with my brother"),
    ("I want to buy a house", "I want a dog for my birthday"), ("我喜欢早上喝咖啡", "我妹妹住在上海"),
    ("我对花生过敏", "每周五下午发布账单服务"), ("我喜欢看书", "我喜欢早上喝咖啡"), ("我想买一套房子", "我想养一只狗"),
    ("用户喜欢喝咖啡", "用户住在上海"), ("I like coffee in the morning", "我喜欢早上喝咖啡"),
]  # fmt: skip
TOO_FEW_WORDS_SHARED = [
    ("I'm vegetarian", "I don't eat meat"),
    ("The user prefers dark mode in the editor", "The user prefers light mode in the terminal"),
    ("我对花生过敏", "我对海鲜过敏"),
    ("我喜欢早上喝咖啡", "我喜欢晚上喝茶"),
]
BOUNDS = [
    *(("near-duplicates", 0.75, 1.0, a, b) for a, b in NEAR_DUPLICATES),
    *(("related", 0.5, 0.8, a, b) for a, b in RELATED),
    *(("strangers", 0.0, 0.3, a, b) for a, b in STRANGERS),
    *(("related by meaning, not by words", 0.0, 0.5, a, b) for a, b in TOO_FEW_WORDS_SHARED),
]
DIFFERENT = "different words: "
HARD_NEGATIVES = [
    ("Meeting with Bob at 3pm", "Meeting with Bob at 4pm", "different numbers or dates: 3 / 4"),
    (
        "Caroline likes green tea in the morning",
        "Melanie likes green tea in the morning",
        DIFFERENT + "caroline / melanie",
    ),
    ("我喜欢早上喝咖啡", "我不喜欢早上喝咖啡", "opposite polarity"),
    ("I like coffee in the morning", "I don't like coffee in the morning", "opposite polarity"),
    ("I love long walks on the beach", "I hate long walks on the beach", "opposite polarity"),
    ("The server runs version 2.3.1", "The server runs version 2.3.2", "different numbers or dates: 2.3.1 / 2.3.2"),
    ("I moved to Berlin in May", "I moved to Munich in May", "different names: berlin / munich"),
    ("I went to the beach with my family", "I went to the mountains with my family", DIFFERENT + "beach / mountains"),
    ("My son is allergic to nuts", "My son is allergic to pine nuts", DIFFERENT + "- / pine"),
    ("The database runs Postgres 15", "The staging database runs Postgres 15", DIFFERENT + "- / staging"),
    ("I worked at the Acme office", "I work at the Acme office", DIFFERENT + "worked / work"),
    ("你好，我叫李小红，很高兴认识你", "你好，我叫王小红，很高兴认识你", DIFFERENT + "李 / 王"),
    ("我们把总部从北京搬到了上海", "我们把总部从上海搬到了北京", "the same words in another order"),
    ("我每天早上六点起床跑步", "我每天早上七点起床跑步", "different numbers or dates: 6 / 7"),
    ("我妹妹住在上海，有两个孩子", "我妹妹住在上海，有三个孩子", "different numbers or dates: 2 / 3"),
]


def note(content: str, of: str = "a", day: float = 0, **fields: Any) -> Memory:
    time = at(day)
    given = {"category": "fact", "kind": "fact", "tier": "fact", "source": "user", "created_seq": 1} | fields
    return Memory(id=of, content=content, created_at=time, updated_at=time, last_activated_at=time, stamp=time, **given)


def notes(*contents: str) -> list[Memory]:
    return [note(content, of=f"m{n}", day=n / 24, created_seq=n) for n, content in enumerate(contents)]


@each_row(("what", "low", "high", "a", "b"), BOUNDS, ids=[f"{w}: {a} | {b}" for w, _, _, a, b in BOUNDS])
def test_similarity_tells_duplicates_from_related_from_strangers(
    what: str, low: float, high: float, a: str, b: str
) -> None:
    assert low <= similarity(a, b) <= high


@each_row(("a", "b", "expected"), HARD_NEGATIVES, ids=[f"{a} | {b}" for a, b, _ in HARD_NEGATIVES])
def test_what_looks_the_same_and_says_something_else_never_merges(a: str, b: str, expected: str) -> None:
    """Not even where any similarity is enough."""
    pair, loose = [note(a, of="a"), note(b, of="b")], changed(DEFAULTS, {"merge_similarity": 0})
    assert (may_merge(*pair, loose), merge_groups(pair, loose), similarity(a, b) >= 0.6) == (expected, [], True)


A, B = note("I like tea", of="a"), note("I like tea", of="b", day=1)
STRICT = changed(DEFAULTS, {"merge_similarity": 0.9})
Fields = dict[str, Any]
REASONS: list[tuple[str | None, Fields, Fields]] = [
    (None, {}, {}),
    (None, {"source": "import"}, {"source": "user"}),
    (None, {"emotion": 0.5, "task": "x", "sensitivity": 1}, {"emotion": -0.5, "task": "y"}),
    ("the same memory", {}, {"id": "a"}),
    ("a is purged", {"purged_at": 1}, {}),
    ("a is deleted", {"deleted_at": 1}, {}),
    ("a is merged already", {"merged_into": "c"}, {}),
    ("a is retired", {"retired_at": 1}, {}),
    ("a is negated", {"negated_at": 1, "resolution": "version_keep"}, {}),
    ("b is negated", {}, {"negated_at": 1, "resolution": "latest_wins"}),
    ("b is sensitive", {}, {"sensitivity": 2}),
    ("different category", {"category": "skill"}, {}),
    ("different kind", {"kind": "lesson"}, {}),
    ("different tier", {"tier": "core"}, {}),
    ("different project", {"project": "x"}, {"project": "y"}),
    ("different speaker", {"speaker": "Ada"}, {"speaker": "Bob"}),
    ("different speaker", {"speaker": "Ada"}, {}),
    ("different source", {"source": "assistant"}, {}),
    ("a and b are linked by a correction", {"corrects": "b"}, {}),
    ("a and b are linked by a correction", {"superseded_by": "b"}, {}),
    (
        "a and b are linked by a correction",
        {"negations": (CorrectionEntry(1, "version_keep", "no", None, "b", None, 1),)},
        {},
    ),
    ("a and b are linked by a correction", {"corrects": "old"}, {"merged_from": ("old", "older")}),
    ("a summarises b", {"summarises": ("b",)}, {}),
    ("a and b may contradict each other", {"conflicts": ("b",)}, {}),
    ("similarity 0.64 is under 0.9", {"content": "I really like tea 3 times"}, {"content": "I like tea three times"}),
]


@each_row(("expected", "of_a", "of_b"), REASONS, ids=[f"{e} {a} {b}" for e, a, b in REASONS])
def test_why_two_memories_may_not_merge_is_said(expected: str | None, of_a: Fields, of_b: Fields) -> None:
    pair = [with_changes(A, **of_a), with_changes(B, **of_b)]
    assert (may_merge(*pair, STRICT), bool(merge_groups(pair, STRICT))) == (expected, expected is None)


TWO, MILK = [created("Tea"), created("Tea", of="n")], created("Milk", of="o")
STORIES = [
    ([], True), ([negated(day=1)], False), ([negated(day=1), mentioned(day=2)], True),
    ([negated(day=1, replaced_by="n"), mentioned(day=2)], False), ([in_conflict("m", "n")], False),
    ([deleted(day=1), restored(day=2)], True), ([MILK, merged("m", "o", day=1)], False),
]  # fmt: skip


@each_row(("events", "expected"), STORIES, ids=[str(n) for n in range(len(STORIES))])
def test_what_happened_to_two_memories_decides_whether_they_may_merge(events: list[Told], expected: bool) -> None:
    memories = folded(*TWO, *events).memories
    assert (may_merge(memories["m"], memories["n"], DEFAULTS) is None) == expected


@each_row(
    ("text", "hours", "zone", "expected"),
    [
        ("See the dentist tomorrow", 2, "UTC", None),
        ("See the dentist tomorrow", 20, "UTC", "different day to speak of time from"),
        ("See the dentist tomorrow", 10, "Asia/Shanghai", "different day to speak of time from"),
        ("明天去看牙医", 24, "UTC", "different day to speak of time from"),
        ("See the dentist every month", 2000, "UTC", None),
    ],
)
def test_tomorrow_is_one_day_only_if_it_was_said_on_one(text: str, hours: int, zone: str, expected: str | None) -> None:
    """The first is said at 08:00 UTC."""
    parameters = changed(DEFAULTS, {"time_zone": zone})
    later = note(text, of="b", day=hours / 24)
    assert may_merge(note(text, of="a"), later, parameters) == expected


def test_the_join_is_exact_over_many_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 texts of words from common to rare, five candidates a round."""
    monkeypatch.setattr("engramlog_server.projections.language.similar._CHUNK", 5)
    texts = [
        " ".join(f"w{step * (n + 3) ** 3 % 101 // (1 + n % 5)}" for n in range(4 + step % 5)) for step in range(200)
    ]
    every = {(x, y) for x, y in combinations(range(200), 2) if similarity(texts[x], texts[y]) >= 0.6}
    assert {pair[:2] for pair in similar_pairs(texts, 0.6)} == every
    assert len(every) > 50


def test_a_group_has_a_hundred_sources_at_most_and_the_rest_makes_further_ones() -> None:
    groups = merge_groups(notes(*["I like tea"] * 230), DEFAULTS)
    assert [(group.base_index, len(group.source_indexes)) for group in groups] == [(229, 100), (129, 100), (29, 30)]
