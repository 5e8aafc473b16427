"""What a merge says, and what is merged in other words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import MemoryMerged
from engramlog_server.projections.decide.merging import MOST_CHARACTERS, merged_text, text_of
from engramlog_server.projections.lifecycle import plan
from engramlog_server.projections.lifecycle.joining import same_in_other_words
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import at, created, folded, mentioned
from tests.given.views import viewed
from tests.rows import each_row
from tests.unit.projections.lifecycle.test_suggesting import vectors_of


@each_row(
    ("texts", "said"),
    [
        (["I like coffee"], "I like coffee"),
        (["I like coffee", "I like coffee"], "I like coffee"),
        (["I like coffee", "I really like the coffee"], "I like coffee"),
        (["I like coffee", "I like coffee with oat milk"], "I like coffee with oat milk"),
        (["I like coffee with oat milk", "I like coffee"], "I like coffee with oat milk"),
        (
            ["I like coffee", "The garden needs water every evening"],
            "I like coffee. The garden needs water every evening",
        ),
        (
            ["I like coffee!", "The garden needs water in summer", "The garden needs water"],
            "I like coffee! The garden needs water in summer",
        ),
        (["我喜欢咖啡", "我喜欢加燕麦奶的咖啡"], "我喜欢加燕麦奶的咖啡"),
        (["我喜欢咖啡", "花园每天晚上都要浇水"], "我喜欢咖啡。花园每天晚上都要浇水"),
        (["我喜欢Python", "花园每天晚上都要浇水"], "我喜欢Python。花园每天晚上都要浇水"),
        (["我喜欢咖啡😀", "花园每天晚上都要浇水"], "我喜欢咖啡😀。花园每天晚上都要浇水"),
        (["I like coffee 😀", "The garden needs water daily"], "I like coffee 😀. The garden needs water daily"),
    ],
)
def test_it_says_what_the_newest_says_and_what_only_adds_to_it(texts: list[str], said: str) -> None:
    assert text_of(texts) == said


@each_row(
    ("newest", "older"),
    [
        ("I like coffee", "I do not like coffee with milk"), ("I have two dogs", "I have three dogs"),
        ("I have two dogs", "The kiln was fired at 900 degrees today"), ("I live in Rome", "I live in Berlin"),
        ("I like coffee", "My sister works for Siemens"), ("I drink tea in the morning", "I drink coffee in the morning"),
        ("The soup is hot", "The soup is cold in winter"), ("I like coffee", "I never water the garden in the evening"),
        ("I like coffee", "ok then"), ("我有两只狗", "我有三只狗"), ("我喜欢咖啡", "我不喜欢加奶的咖啡"),
        ("我早上喝茶", "我早上喝咖啡"),
    ],
)  # fmt: skip
def test_what_differs_in_a_number_a_name_a_denial_or_in_one_thing_never_joins(newest: str, older: str) -> None:
    assert text_of([newest, older]) == newest


def test_the_newest_is_the_one_activated_last_whatever_the_order() -> None:
    records = folded(
        created("I like coffee", "old"), created("I like coffee a lot more now", "new", day=1), mentioned("old", day=2)
    ).memories
    assert merged_text(records.values()) == merged_text(reversed(list(records.values())))
    with pytest.raises(ValueError, match="sources"):
        merged_text([])


TEXTS = st.lists(
    st.sampled_from(
        [
            "I like coffee", "I like coffee with milk", "I hate coffee", "我喜欢咖啡", "The garden needs water", "ok",
            "7 cups a day",
        ]
    ),
    min_size=1,
    max_size=6,
)  # fmt: skip


@given(TEXTS)
def test_it_is_made_of_its_sources_alone_and_never_long(texts: list[str]) -> None:
    said = text_of(texts)
    assert len(said) <= max(MOST_CHARACTERS, *map(len, texts))
    for text in sorted(texts, key=len, reverse=True):
        said = said.replace(text, "")
    assert set(said) <= set(" .。")
    assert text_of([*texts, *texts]) == text_of(texts)


WAYS = ("I drink coffee every morning", "My mornings begin with a cup of coffee", "I have a coffee each morning")
BESIDES = ("I drink tea every morning", "I drink coffee every evening", "I don't drink coffee every morning")


def joined(view: OwnerView) -> list[set[str]]:
    return [set(one.ids) for one in plan(view, at(30), ("merge",))]


@each_row(("cosine", "merged"), [(0.76, [{"m0", "m1", "m2"}]), (0.74, [])])
def test_what_says_the_same_in_other_words_becomes_one_from_the_similarity_on(cosine, merged) -> None:
    view = viewed(*(created(text, f"m{n}", n, category="fact") for n, text in enumerate(WAYS)))
    side = (1 - cosine**2) ** 0.5
    view.vectors_today = vectors_of(view, {WAYS[0]: (1.0, 0.0), WAYS[1]: (cosine, side), WAYS[2]: (cosine, side)})
    found = joined(view)
    assert found == (merged or [{"m1", "m2"}])  # the other two are alike among themselves
    [decision] = plan(view, at(30), ("merge",))
    assert isinstance(decision.data, MemoryMerged)
    assert decision.data.summary == WAYS[2]


def test_without_vectors_or_of_what_differs_in_one_thing_nothing_merges() -> None:
    view = viewed(*(created(text, f"m{n}", n, category="fact") for n, text in enumerate((WAYS[0], *BESIDES, WAYS[1]))))
    assert joined(view) == []
    assert same_in_other_words(view)
    view.vectors_today = vectors_of(view, dict.fromkeys((WAYS[0], *BESIDES), (1.0, 0.0)))
    assert joined(view) == []
