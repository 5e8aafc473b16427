"""Whatever was put, replaced and dropped before: the same texts give the same answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.index.search_index import Bm25Index

WORDS = ["coffee", "tea", "cat", "running", "v2.1", "咖啡", "猫", "🎉", "the"]
KEYS = st.sampled_from([f"m{n}" for n in range(12)])
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
PUTS = st.tuples(KEYS, TEXTS)
STEPS = st.lists(PUTS | st.tuples(KEYS, st.none()), max_size=60)


def by_key(index: Bm25Index, query: str) -> tuple[dict[str, float], list[str]]:
    found = index.scores(query)
    keys = [index.key(int(row)) for row in found.rows]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, found.scores.tolist(), strict=True)), found.matched_terms


def replay(steps: list[tuple[str, str | None]]) -> tuple[Bm25Index, dict[str, str]]:
    index, texts = Bm25Index(), {}
    for key, text in steps:
        if text is None:
            index.drop(key)
            texts.pop(key, None)
        else:
            index.put(key, text)
            texts[key] = text
    return index, texts


@given(STEPS, st.sampled_from([0, 1, 70, 150]), TEXTS, st.randoms(use_true_random=False))
def test_an_index_with_a_history_answers_as_one_built_afresh_in_any_order(steps, passing, query, chance) -> None:
    index, texts = replay(steps)
    # Enough texts that come and go for tombstones to be cleared among those that stay.
    for turn in range(passing):
        index.put("passing", f"tea {turn}")
    index.drop("passing")
    items = list(texts.items())
    chance.shuffle(items)
    fresh = Bm25Index()
    for key, text in items:
        fresh.put(key, text)
    assert by_key(index, query) == by_key(fresh, query)
    assert (len(index), index.mean_length) == (len(fresh), fresh.mean_length)


@given(STEPS, TEXTS)
def test_every_score_is_explained_exactly(steps, query) -> None:
    index, texts = replay(steps)
    scores, _ = by_key(index, query)
    for key in texts:
        total = 0.0
        for part in index.explain(query, key).values():
            total += part
        assert total == scores.get(key, 0.0)
