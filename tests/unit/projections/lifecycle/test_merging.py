"""What a merge says, and what is merged in other words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import Ground, MemoryMerged
from engramlog_server.projections.decide.merge import MOST_CHARACTERS, merged_text, text_of
from engramlog_server.projections.lifecycle import plan
from engramlog_server.projections.lifecycle.merging import same_in_other_words
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created, folded, mentioned, negated, rejected, unmerged
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


def apart(*told: Told) -> bool:
    """Whether the first two ways to say one thing, as near as can be, stay two."""
    view = viewed(*told)
    view.vectors_today = vectors_of(view, dict.fromkeys(WAYS, (1.0, 0.0)))
    return joined(view) == []


def way(number: int, trust: str | None = None, **fields: Any) -> Told:
    one = created(WAYS[number], f"m{number}", number, category="fact", **fields)
    return one if trust is None else Told(one.data, one.day, one.actor, {"trust": trust})


@each_row(
    ("told",),
    [
        ((way(0), way(1, trust="imported")),),
        ((way(0, trust="proposed"), way(1)),),
        ((way(0), way(1, grounds=(Ground(uri="git:notes", digest="sha256:9f86d081"),))),),
        ((way(0), way(1), negated("m0", 3)),),
        ((way(0), way(1), Told(negated("m0", 3).data, 3, "assistant", {"trust": "inferred"})),),
        ((way(0), way(1), rejected(WAYS[0], day=3, of="m0")),),
        ((way(0, sensitivity=3), way(1)),),
        ((way(0, sensitivity=2), way(1)),),
        ((way(0, speaker="Anna"), way(1)),),
        ((way(0, source="assistant"), way(1)),),
        ((way(0, project="a"), way(1, project="b")),),
        ((way(0, tier="core"), way(1)),),
    ],
)
def test_other_words_of_another_standing_stay_apart(told: tuple[Told, ...]) -> None:
    assert apart(*told)


def test_a_merge_in_other_words_keeps_what_holds_of_its_sources_and_can_be_taken_apart() -> None:
    told = (way(0, sensitivity=1, source_turns=("t0",)), way(1, source_turns=("t1",)))
    assert not apart(*told)
    view = viewed(*told)
    view.vectors_today = vectors_of(view, dict.fromkeys(WAYS, (1.0, 0.0)))
    [decision] = plan(view, at(30), ("merge",))
    merge = Told(decision.data, 30, "system", {})
    after = folded(*told, merge).memories
    one = after[decision.data.into]
    assert (one.sensitivity, one.trust, set(one.source_turns)) == (1, 3, {"t0", "t1"})
    apart_again = (*told, merge, unmerged(one.id, 31))
    back = folded(*apart_again).memories
    assert all(back[name].merged_into is None and back[name].content == after[name].content for name in ("m0", "m1"))
    assert apart(*apart_again)
