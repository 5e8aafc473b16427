"""Joins are exact, similarity is a similarity, and groups do not depend on the order of the memories."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.parameters import DEFAULTS, changed
from engramlog_server.projections.language.similar import SimilarPair, similar_pairs, similarity
from engramlog_server.projections.lifecycle.merging import may_merge, merge_groups
from engramlog_server.projections.memory.record import Memory

WORDS = """
I like want tea coffee green morning really not don't hate Anna Berlin 3 three v2.1 running 咖啡 我喜欢 早上 不 三 猫 的 🎉 ... →
"""
TEXTS = st.lists(st.sampled_from(WORDS.split()), max_size=9).map(" ".join)
ANY_TEXTS = TEXTS | st.text(max_size=20)
SHARES = st.sampled_from([0.01, 0.3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1.0]) | st.floats(0.001, 1)
LOOSE = changed(DEFAULTS, {"merge_similarity": 0.3})


def note(content: str, number: int = 0, **fields) -> Memory:
    given = {"category": "fact", "last_activated_at": number} | fields
    times = {"created_at": 0, "updated_at": 0, "stamp": 0, "created_seq": number}
    return Memory(id=f"m{number}", content=content, kind="fact", tier="fact", source="user", **times, **given)


@st.composite
def memories(draw):
    """Few wordings, so that many are alike; some tied by corrections and conflicts."""
    contents = draw(st.lists(st.sampled_from(draw(st.lists(TEXTS, min_size=1, max_size=4))), max_size=12))
    ids = st.sampled_from([None, *(f"m{n}" for n in range(12))])
    return [
        note(
            content,
            number,
            category=draw(st.sampled_from(["fact", "fact", "fact", "skill"])),
            corrects=draw(ids),
            conflicts=tuple(filter(None, [draw(ids)])),
            last_activated_at=draw(st.integers(0, 3)),
        )
        for number, content in enumerate(contents)
    ]


@given(TEXTS)
def test_case_width_and_punctuation_take_nothing_away(text) -> None:
    wide = "".join(chr(ord(one) + 0xFEE0) if one.isascii() and one.isalpha() else one for one in text.upper())
    assert similarity(text, f"({wide}!)") == 1


@given(st.lists(ANY_TEXTS, max_size=25), SHARES)
def test_the_join_finds_exactly_the_pairs_that_comparing_each_with_each_finds(texts, least) -> None:
    every = [SimilarPair(x, y, similarity(texts[x], texts[y])) for x, y in combinations(range(len(texts)), 2)]
    assert similar_pairs(texts, least) == [pair for pair in every if pair.similarity >= least]


@given(memories())
def test_any_two_of_a_group_may_merge_and_its_base_is_its_newest(held) -> None:
    groups = merge_groups(held, LOOSE)
    taken = [place for group in groups for place in group.source_indexes]
    assert len(taken) == len(set(taken))
    for group in groups:
        sources = [held[place] for place in group.source_indexes]
        assert [may_merge(a, b, LOOSE) for a, b in combinations(sources, 2) if may_merge(a, b, LOOSE)] == []
        assert held[group.base_index] == max(sources, key=lambda m: (m.last_activated_at, m.created_seq)) == sources[0]
        assert group.similarity == min(similarity(sources[0].content, other.content) for other in sources[1:])


@given(memories())
def test_two_that_may_merge_are_never_both_left_alone(held) -> None:
    taken = {place for group in merge_groups(held, LOOSE) for place in group.source_indexes}
    alone = [one for place, one in enumerate(held) if place not in taken]
    assert not [pair for pair in combinations(alone, 2) if may_merge(*pair, LOOSE) is None]


@given(memories(), st.randoms(use_true_random=False))
def test_groups_are_the_same_whatever_the_order_of_the_memories(held, chance) -> None:
    shuffled = held.copy()
    chance.shuffle(shuffled)
    one, other = (
        [([m[place].id for place in group.source_indexes], group.similarity) for group in merge_groups(m, LOOSE)]
        for m in (held, shuffled)
    )
    assert one == other
