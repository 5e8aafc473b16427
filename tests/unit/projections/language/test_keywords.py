"""Keywords of a memory: the given ones, then what its text tells."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.trust import ORDER, Trust
from engramlog_server.projections.language.keywords import (
    LEAST_WEIGHT,
    MOST_KEYWORDS,
    MOST_LETTERS,
    MOST_READ,
    extracted,
)
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.views.view import keywords_of
from tests.given.events import created, folded
from tests.rows import each_row


def words(text: str, most: int = MOST_KEYWORDS) -> list[str]:
    return [one.word for one in extracted(text, most)]


def memory(content: str, **data: Any) -> Memory:
    return folded(created(content, **data)).memories["m"]


def given_keywords(content: str, **data: Any) -> list[tuple[str, float, str]]:
    return [tuple(one) for one in keywords_of(memory(content, **data))]


TEXTS = [
    ("nouns, not the words around them", "I went to the bakery and then to the market", {"bakery", "market"}),
    ("a name of two words is one keyword", "We saw the Golden Gate yesterday", {"golden gate"}),
    ("a name beside a common word at the beginning", "Then Marta went to Berlin", {"marta", "berlin"}),
    ("a possessive is its owner", "This is Anna's bicycle", {"anna", "bicycle"}),
    ("an acronym counts at the beginning too", "NATO met in Oslo", {"nato", "oslo"}),
    ("forms of a word are one keyword", "One dog. Two dogs!", {"dog"}),
    ("two words that stand together twice are one keyword", "the budget tracker: my budget tracker", {"budget tracker"}),
    ("camel case is a name", "We build it with TypeScript", {"typescript"}),
    ("identifiers are whole", "see foo_bar.py, v2.3.1 and ERR-1042.", {"foo_bar.py", "v2.3.1", "err-1042"}),
    ("paths are whole", "open src/app/main.ts or /etc/nginx/nginx.conf", {"src/app/main.ts", "/etc/nginx/nginx.conf"}),
    ("addresses are whole", "ask a@b.co, see https://x.y/z?q=1.", {"a@b.co", "https://x.y/z?q=1"}),
    ("telephone numbers are whole", "ring +49 151 2345678 now", {"+49 151 2345678"}),
    ("languages with signs are whole", "C++ or C#?", {"c++", "c#"}), ("an order number is whole", "order #1234", {"#1234"}),
    ("common words alone are kept where nothing else is", "Thanks, that was great", {"great", "thanks"}),
    ("function words alone are none", "who was that?", set()),
    ("Chinese nouns, not the words around them", "我昨天在公园看到了一只松鼠", {"公园", "松鼠"}),
    ("Chinese names", "李建国去了上海", {"李建国", "上海"}),
    ("a verb that the segmenter left on its object goes", "我喜欢喝咖啡", {"咖啡"}),
    ("feasts count, days do not", "今天不是圣诞节", {"圣诞节"}),
    ("Chinese politeness is none", "你好，谢谢，再见！", set()),
    ("Latin names among Chinese", "昨天Bart在公园", {"bart", "公园"}),
    ("identifiers among Chinese", "订单号A-2023-0042已经发货", {"a-2023-0042", "订单号"}),
    ("full-width letters are the plain ones", "报错ＥＲＲ－１０４２", {"err-1042"}),
    ("other scripts by long words", "Привет из Владивостока", {"привет", "владивостока"}),
    ("nothing of nothing", "", set()), ("nothing of punctuation", "?! … — 。", set()),
]  # fmt: skip


@each_row(("text", "expected"), [case[1:] for case in TEXTS], ids=[case[0] for case in TEXTS])
def test_a_text_is_about_these(text: str, expected: set[str]) -> None:
    found = set(words(text))
    assert found >= expected
    assert bool(found) == bool(expected)


@each_row(
    ("text", "absent"),
    [
        ("I went to the bakery and then to the market", {"went", "then"}),
        ("We saw the Golden Gate yesterday", {"golden", "gate", "yesterday"}),
        ("the budget tracker: my budget tracker", {"budget", "tracker"}),
        ("我昨天在公园看到了一只松鼠", {"昨天", "看到", "一只", "我"}),
        ("the bakery at 10:30 on 2023-05-07, 25kg for $600/month", {"10:30", "2023-05-07", "25kg", "600/month", "600"}),
        ("It's what they've wanted", {"they've", "it's"}),
    ],
)
def test_a_text_is_not_about_these(text: str, absent: set[str]) -> None:
    assert absent.isdisjoint(words(text))


def test_a_name_weighs_more_than_a_word_and_an_identifier_more_than_a_name() -> None:
    weights = {one.word: one.weight for one in extracted("the bakery told Marta about ERR-1042")}
    assert weights["err-1042"] > weights["marta"] > weights["bakery"]


def test_who_is_only_called_by_name_weighs_less() -> None:
    (called,) = [one for one in extracted("Hey Mel! Good bread!") if one.word == "mel"]
    (told,) = [one for one in extracted("We met Mel at the door") if one.word == "mel"]
    assert called.weight < told.weight


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    filler = "the bakery " * (MOST_READ // 11 + 1)
    assert words(filler + "Marta met Oliver") == words(filler)


@each_row("text", ["\ud800猫\udfff", "x" * 9_000, "a/b" * 3_000, "猫" * 9_000, "-" * 9_000, "\x00", "+1" * 5_000])
def test_odd_texts_are_read(text: str) -> None:
    assert len(extracted(text)) <= MOST_KEYWORDS


@given(st.text(alphabet=st.characters() | st.sampled_from("aA1 .@_#/+-:猫的喝咖啡")), st.integers(1, 9))
def test_any_text_gives_unique_lower_case_keywords_within_bounds_and_the_same_ones_again(text: str, most: int) -> None:
    found = extracted(text, most)
    assert len({one.word for one in found}) == len(found) <= most
    for one in found:
        assert one.word == one.word.lower().strip()
        assert 0 < len(one.word) <= MOST_LETTERS
        assert LEAST_WEIGHT <= one.weight <= 1.0
        assert one.source == "system"
    assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)
    assert extracted(text, most) == found


# --- given and extracted


@each_row(
    ("source", "trust", "told"),
    [
        ("user", "asserted", "user_tag"),
        ("user", "imported", "user_tag"),
        ("user", "inferred", "llm"),  # an agent's tool or a model says what the user said, in its own keywords
        ("user", "proposed", "llm"),
        ("assistant", "inferred", "llm"),
        ("judge", "inferred", "llm"),
        ("system", "inferred", "llm"),
        ("import", "imported", "llm"),
    ],
)
def test_given_keywords_come_first_and_tell_who_gave_them(source: str, trust: Trust, told: str) -> None:
    met = memory("We met Marta", keywords=("Coffee", "tea"), source=source)
    found = [tuple(one) for one in keywords_of(msgspec.structs.replace(met, trust=ORDER[trust]))]
    assert found == [("coffee", 1.0, told), ("tea", 0.95, told), ("marta", found[2][1], "system")]


def test_at_most_five_are_kept_in_the_order_given() -> None:
    found = given_keywords("We met Marta", keywords=tuple("gfedcba"))
    assert found == [
        (word, weight, "user_tag") for word, weight in zip("gfedc", (1.0, 0.95, 0.9, 0.85, 0.8), strict=True)
    ]


def test_tags_are_keywords_but_for_those_of_context() -> None:
    found = given_keywords(
        "We met Marta", source="judge", keywords=("coffee",), tags=("Holiday", "late_night", "coffee")
    )
    assert [(word, source) for word, _, source in found] == [
        ("coffee", "llm"),
        ("holiday", "llm"),
        ("marta", "system"),
    ]


def test_what_is_given_is_not_extracted_again() -> None:
    assert [one[0] for one in given_keywords("咖啡和茶", keywords=("咖啡",))] == ["咖啡", "茶"]
    assert [one[0] for one in given_keywords("Marta", keywords=("ＭＡＲＴＡ",))] == ["marta"]


@each_row(
    "event",
    [{"sensitivity": 3}, {"content": "my password is hunter2-Secret!9"}, {"keywords": ("hunter2",), "sensitivity": 3}],
)
def test_a_secret_has_no_keywords(event: dict[str, Any]) -> None:
    assert keywords_of(memory(**{"content": "the safe", "tags": ("safe",)} | event)) == ()
