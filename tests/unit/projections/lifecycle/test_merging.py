"""What a merge says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.decide.merging import MOST_CHARACTERS, merged_text, text_of
from tests.given.events import created, folded, mentioned
from tests.rows import each_row


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
