"""The index of keywords answers as comparing with every memory would, whatever way its entries came and went."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.index.associations import Entry, KeywordIndex, best_of
from tests.given.associated import overlap

WORDS = ["coffee", "tea", "咖啡", "猫", "cat", "dog"]
IDS = [f"m{number:02}" for number in range(24)]
keywords = st.lists(st.sampled_from(WORDS), max_size=5, unique=True).map(tuple)
entries = st.tuples(st.integers(0, 6), st.sampled_from(IDS)).map(lambda one: (*one, IDS.index(one[1])))
steps = st.lists(st.tuples(st.sampled_from(range(len(IDS))), st.integers(0, 4), st.none() | keywords), max_size=70)
indexes = st.builds(KeywordIndex, late=st.sampled_from([0, 3, 256]), long=st.sampled_from([1, 2, 5, 1024]))


@given(
    steps, indexes, st.sampled_from([0.01, 0.2, 0.3, 0.5, 2 / 3, 1.0]), st.sampled_from([1, 2, 3, 5]), st.integers(0, 9)
)
def test_the_best_are_those_that_comparing_with_each_would_find(steps, index, least, most, asking) -> None:
    held: dict[str, tuple[Entry, tuple[str, ...]]] = {}
    for number, (row, time, words) in enumerate(steps):
        old = held.pop(IDS[row], None)
        if old is not None:
            index.drop(old[0])
        if words is not None:
            entry = (time, IDS[row], row)
            index.put(entry, words)
            held[IDS[row]] = entry, words
        if held and asking and number % asking == 0:
            index.alike(next(iter(held.values()))[0], least, most)
    for mine, words in held.values():
        each = [(overlap(words, others), other) for other, others in held.values() if other != mine]
        expected = best_of(mine, [one for one in each if one[0] >= least], most)
        assert best_of(mine, index.alike(mine, least, most), most) == expected


@given(st.lists(entries, max_size=24, unique_by=lambda one: one[1]), st.integers(1, 5))
def test_a_long_posting_of_one_instant_or_one_keyword_is_read_from_the_asked_entry_outwards(crowd, most) -> None:
    index = KeywordIndex(late=0, long=2)
    for entry in crowd:
        index.put(entry, ("imported",))
    for mine in crowd:
        found = best_of(mine, index.alike(mine, 0.3, most), most)
        assert found == best_of(mine, [(1.0, other) for other in crowd if other != mine], most)


def test_an_entry_that_is_dropped_from_a_shelf_is_not_found_until_it_is_put_again() -> None:
    index = KeywordIndex(late=3)
    crowd: list[Entry] = [(number, f"m{number}", number) for number in range(6)]
    for entry in crowd:
        index.put(entry, ("tea",))
    mine, gone = crowd[0], crowd[2]
    assert index.alike(mine, 0.3, 9) == [(1.0, other) for other in crowd[1:]]
    index.drop(gone)
    assert index.alike(mine, 0.3, 9) == [(1.0, other) for other in crowd[1:] if other != gone]
    index.put(gone, ("tea", "milk"))
    assert index.alike(mine, 0.3, 9)[-1] == (0.5, gone)
