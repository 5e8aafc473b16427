"""Synonyms: known, defined by the owner, and what a word is expanded to."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import SynonymDefined
from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.language.synonyms import (
    LEAST_RELATED,
    MOST_EXPANDED,
    MOST_PAIRS,
    MOST_SILENCED,
    expand,
    paired,
    synonyms_of,
    with_pair,
    word_key,
)
from tests.given.events import Told, folded, memory, told
from tests.rows import each_row

GROUPS = [(row["similarity"], row["english"] + row["chinese"]) for row in rows("synonyms")]
KNOWN = sorted({word for _, names in GROUPS for word in names})


def defined(word: str, synonym: str, similarity: float = 0.8, day: float = 0) -> Told:
    return Told(SynonymDefined(keyword=word, synonym=synonym, similarity=similarity), day)


def synonyms_after(*events: Told) -> tuple[tuple[str, str, float], ...]:
    return folded(*events).owner.synonyms


# --- what is known to all


def test_the_known_groups_are_well_formed() -> None:
    for (similarity,), names in GROUPS:
        assert 0 < float(similarity) <= 1
        assert len(names) > 1
        assert len(set(names)) == len(names)
        assert all(name and name == name.casefold() for name in names)


def test_known_synonyms_hold_both_ways_across_languages_and_forms() -> None:
    assert synonyms_of("Cars")["汽车"] == synonyms_of("汽车")["car"] == 0.9
    assert synonyms_of("pull requests")["pr"] == 0.9
    assert synonyms_of("ｃａｒ") == synonyms_of("car")
    assert synonyms_of("zebra") == {}


@given(st.sampled_from(KNOWN), st.sampled_from(KNOWN), st.sampled_from([0.0, 0.3, 0.8]), st.sampled_from(KNOWN))
def test_expansion_is_symmetric_bounded_and_never_names_the_word_itself(
    one: str, other: str, alike: float, word: str
) -> None:
    pair = paired(one, other, alike)
    pairs = () if pair is None else (pair,)
    found = expand([word], pairs)
    mine, farther = found.synonyms.get(word, {}), found.related.get(word, {})
    assert len(mine) <= MOST_EXPANDED
    assert all(0 < similarity <= 1 for similarity in mine.values())
    assert all(LEAST_RELATED <= product <= 1 for product in farther.values())
    assert word_key(word) not in set(map(word_key, [*mine, *farther]))
    assert set(map(word_key, mine)).isdisjoint(map(word_key, farther))
    for synonym, similarity in mine.items():
        back = {word_key(end): value for end, value in synonyms_of(synonym, pairs).items()}
        assert back.get(word_key(word), similarity) == similarity


# --- expansion


def test_the_owners_pairs_go_before_the_known_ones() -> None:
    pairs = (("car", "汽车", 0.4), ("car", "wheels", 0.95), ("automobile", "car", 0.0))
    found = synonyms_of("car", tuple(sorted(pairs)))
    assert (found["汽车"], found["wheels"]) == (0.4, 0.95)
    assert "automobile" not in found
    assert "轿车" in found


def test_synonyms_of_synonyms_are_related_with_the_product_and_told_apart() -> None:
    found = expand(["a1"], (("a1", "b1", 0.9), ("b1", "c1", 0.8), ("c1", "d1", 0.9), ("b1", "e1", 0.5)))
    assert found.original == ("a1",)
    assert found.synonyms == {"a1": {"b1": 0.9}}
    assert found.related == {"a1": {"c1": 0.72}}


# --- the owner's pairs


def test_defining_a_synonym_changes_the_owner_and_tells_it_once() -> None:
    outcome = memory.when(defined("Flat  White", "ＣＯＦＦＥＥ", 0.7))
    assert outcome.after.owner.synonyms == (("coffee", "flat white", 0.7),)
    assert [(one["memory"], one["decision"], one["fields"]) for one in outcome.log] == [(None, "synonym", ["synonyms"])]
    assert "coffee" not in str(outcome.log)


def test_zero_says_that_two_words_are_no_synonyms() -> None:
    assert synonyms_after(defined("car", "auto", 0.0)) == (("auto", "car", 0.0),)
    assert synonyms_after(defined("car", "auto"), defined("car", "auto", 0.0)) == (("auto", "car", 0.0),)


@each_row(
    ("events", "reason"),
    [
        ((defined("tea", "TEA"),), "there are no two different words"),
        ((defined(" ", "tea"),), "there are no two different words"),
        ((defined("a", "b"), defined("b", "a")), "the two words are as alike as that already"),
        (
            [defined(f"w{n}", "x") for n in range(MOST_PAIRS + 1)],
            "an owner has at most 256 pairs of synonyms: take one out with a similarity of 0",
        ),
        (
            [defined(f"w{n}", "x", 0.0) for n in range(MOST_SILENCED + 1)],
            "an owner keeps at most 64 pairs as no synonyms",
        ),
    ],
    ids=["itself", "blank", "again", "too many", "too many silenced"],
)
def test_what_changes_nothing_is_ignored_and_says_why(events: list[Told], reason: str) -> None:
    before, after = folded(*events[:-1]), folded(*events)
    assert after.owner.synonyms == before.owner.synonyms
    assert [(one["decision"], one["reason"]) for one in told(after.entries)[-1:]] == [("ignored", reason)]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.sampled_from([0.0, 0.5, 1.0]))))
def test_pairs_stay_ascending_unique_and_ordered_within(told_pairs: list[tuple[str, str, float]]) -> None:
    pairs: tuple[Any, ...] = ()
    for one, other, similarity in told_pairs:
        pair = paired(one, other, similarity)
        after = pairs if pair is None else with_pair(pairs, pair)
        pairs = pairs if isinstance(after, str) else after
    assert pairs == tuple(sorted(pairs))
    assert len({pair[:2] for pair in pairs}) == len(pairs)
    assert all(one < other for one, other, _ in pairs)
