"""BM25 by the formula, rows that stay, and what an explanation owes."""

from __future__ import annotations

from math import isclose, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.index.search_index import Bm25Index
from tests.rows import each_row

TEXTS = {
    "coffee": "Ada likes coffee, strong coffee", "tea": "Ben likes tea", "cat": "Ada has a cat named Coffee",
    "zh": "我喜欢喝咖啡",
}  # fmt: skip


def filled(**texts: str) -> Bm25Index:
    index = Bm25Index()
    for key, text in (texts or TEXTS).items():
        index.put(key, text)
    return index


def by_key(index: Bm25Index, query: str) -> dict[str, float]:
    found = index.scores(query)
    return {index.key(int(row)): float(score) for row, score in zip(found.rows, found.scores, strict=True)}


def test_the_score_is_okapi_bm25() -> None:
    index = filled(a="coffee coffee milk", b="tea milk", c="water")
    idf = log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * (1.2 + 1) / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / 2))
    assert isclose(by_key(index, "coffee")["a"], expected, rel_tol=1e-15)


def test_a_text_without_tokens_is_held_and_never_found() -> None:
    index = filled(mute="…")
    assert (len(index), "mute" in index, by_key(index, "…")) == (1, True, {})


def test_explaining_an_unknown_key_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        filled().explain("coffee", "nobody")


def test_a_dropped_key_is_gone_and_its_row_goes_to_the_next() -> None:
    index = filled()
    row = index.row("tea")
    index.drop("tea")
    assert ("tea" in index, len(index), by_key(index, "tea")) == (False, 3, {})
    with pytest.raises(KeyError):
        index.key(row)
    index.put("juice", "orange juice")
    assert (index.row("juice"), len(index.lengths())) == (row, 4)


def test_rows_outside_are_key_errors() -> None:
    for row in (-1, 4):
        with pytest.raises(KeyError):
            filled().key(row)


def test_rows_stay_through_compaction_and_tombstones_do_not_pile_up() -> None:
    index = filled()
    rows = {key: index.row(key) for key in TEXTS}
    scores = by_key(index, "coffee and tea")
    held = index.bytes_used()
    for turn in range(2000):
        index.put("tea", f"passing text number {turn}")
    index.put("tea", TEXTS["tea"])
    assert {key: index.row(key) for key in TEXTS} == rows
    assert by_key(index, "coffee and tea") == scores
    assert index.bytes_used() < 20 * held


def test_an_index_emptied_by_drops_works_on() -> None:
    index = filled(**{f"k{n}": f"word{n} shared" for n in range(200)})
    for n in range(200):
        index.drop(f"k{n}")
    assert (len(index), index.mean_length, by_key(index, "shared")) == (0, 0.0, {})
    index.put("k", "shared")
    assert by_key(index, "shared").keys() == {"k"}


@each_row(("k1", "b"), [(-0.1, 0.5), (float("nan"), 0.5), (float("inf"), 0.5), (1.2, -0.1), (1.2, 1.1)])
def test_parameters_out_of_range_are_refused(k1: float, b: float) -> None:
    with pytest.raises(ValueError, match="allowed"):
        Bm25Index(k1, b)


def test_memory_used_grows_with_what_is_held() -> None:
    index = filled()
    before = index.bytes_used()
    for n in range(1000):
        index.put(f"k{n}", f"a text with word{n}")
    assert index.bytes_used() > before + 1000 * 50


WORDS = ["kiln", "clay", "fair", "glaze", "oven"]
ASKED = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True)
TOLD = st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from([*WORDS, "new"]), max_size=4).map(" ".join))


@given(st.lists(ASKED | TOLD, max_size=14))
def test_what_was_asked_before_shows_in_no_answer(steps: list[list[str] | tuple[str, str]]) -> None:
    index, texts = Bm25Index(), dict[str, str]()
    for step in steps:
        if isinstance(step, tuple):
            index.put(*step)
            texts[step[0]] = step[1]
            continue
        fresh = Bm25Index()
        for key in sorted(texts, key=index.row):
            fresh.put(key, texts[key])
        keys = sorted(texts)
        assert index.explain_all(" ".join(step), keys) == fresh.explain_all(" ".join(step), keys)
        here, there = (one.found(np.array([one.row(key) for key in keys], np.int64), step) for one in (index, fresh))
        assert (here.places.tolist(), here.columns.tolist()) == (there.places.tolist(), there.columns.tolist())
