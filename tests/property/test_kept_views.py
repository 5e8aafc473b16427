"""A view that was kept answers as one that is made anew, whatever its owner's history, and goes on as it does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from projections.choices import RANKINGS
from projections.language.asking.kinds import kinds_asked, kinds_of
from projections.laws.modes import MODES, Mode
from projections.ranking.recall import search
from projections.ranking.search_request import SearchRequest
from projections.reports.listing.rows import listing
from projections.views.kept_view import kept_view, packed_view
from projections.views.packed import packed, unpacked
from projections.views.query import ViewQuery
from projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import (
    at,
    created,
    deleted,
    folded,
    revised,
)
from tests.given.search_stories import TEXTS, others, queries, stories
from tests.given.views import anew, encoded, kept_again, moved

fuzzed = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def same(one: OwnerView, other: OwnerView, asked: list[tuple[str, str, Mode]]) -> None:
    assert [memory.id for memory in one.columns] == [memory.id for memory in other.columns]
    assert list(one.columns) == list(other.columns)
    assert set(one.said_again) == set(other.said_again)
    assert listing(ViewQuery(one, at(10), "normal"), 100, 0) == listing(ViewQuery(other, at(10), "normal"), 100, 0)
    members = [np.flatnonzero(view.conversation.member) for view in (one, other)]
    kinds = [view.conversation.asked(rows) for view, rows in zip((one, other), members, strict=True)]
    assert (
        kinds[0].tolist() == kinds[1].tolist() == [kinds_asked(one.columns.memories[row].content) for row in members[1]]
    )
    for query, ranking, mode in asked:
        found, wanted = (
            search(ViewQuery(view, at(41), mode), query, 100, SearchRequest(ranking, associations=True))
            for view in (one, other)
        )
        assert found == wanted


@fuzzed
@given(st.data(), stories(), st.lists(others, max_size=5), st.lists(others, max_size=4), st.booleans())
def test_any_owner_answers_the_same_from_what_was_kept_and_goes_on_the_same(data, told, more, then, live) -> None:
    first, middle, last = folded(*told), folded(*told, *more), folded(*told, *more, *then)
    view = moved(anew(first), first, middle) if live else anew(middle)
    query = st.tuples(queries(told) | st.sampled_from(TEXTS), st.sampled_from(RANKINGS), st.sampled_from(MODES))
    asked = [*data.draw(st.lists(query, min_size=1, max_size=2)), (TEXTS[0], "conversation", "review")]
    if data.draw(st.booleans()):
        search(ViewQuery(view, at(41), "review"), asked[0][0], 5)  # traits are kept as far as they were read
        view.conversation.asked(np.flatnonzero(view.conversation.member)[::2])
    kept = kept_again(view, middle)
    same(kept, anew(middle), asked)
    same(moved(kept_again(view, middle), middle, last), anew(last), asked)
    same(kept_again(moved(kept, middle, last), last), anew(last), asked)


@pytest.mark.parametrize("kept", [True, False])
def test_what_turns_ask_for_is_told_the_same_of_a_view_that_was_kept_and_grew(kept: bool) -> None:
    told = [created("Where is it?", "a", 1), created("I like tea", "b", 2), created("那是什么时候？", "c", 3)]
    more = [revised("Why did you go?", "a", 4), revised("Who came?", "b", 5), deleted("c", 5)]
    many = [created(f"How many are there of {one}?", f"m{one}", 6) for one in range(150)]  # more than there is room for
    first, last = folded(*told), folded(*told, *more, *many)
    view = anew(first)
    view.conversation.asked(np.arange(3))
    view = moved(kept_again(view, first) if kept else view, first, last)
    same(view, anew(last), [])
    assert set(view.conversation.asked(np.flatnonzero(view.conversation.member)).tolist()) >= {
        kinds_of("why"),
        kinds_of("who"),
        kinds_of("how many"),
    }


@fuzzed
@given(st.data(), stories(), st.lists(others, max_size=5), st.lists(others, max_size=4))
def test_any_owner_answers_the_same_from_records_that_stand_encoded_and_goes_on_the_same(
    data, told, more, then
) -> None:
    now, last = folded(*told, *more), folded(*told, *more, *then)
    query = st.tuples(queries(told) | st.sampled_from(TEXTS), st.sampled_from(RANKINGS), st.sampled_from(MODES))
    asked = [*data.draw(st.lists(query, min_size=1, max_size=2)), (TEXTS[0], "conversation", "review")]
    view = encoded(now)
    same(view, anew(now), asked)
    same(moved(view, now, last), anew(last), asked)
    same(moved(encoded(now), now, last), anew(last), asked)
    same(kept_again(encoded(now), now), anew(now), asked)


@fuzzed
@given(st.data(), stories(), st.lists(others, max_size=3))
def test_nothing_secret_and_nothing_deleted_is_kept(data, told, more) -> None:
    marked = [
        *told,
        *more,
        created("the plainword stays", "plain", 1),
        created("the hiddenword goes", "gone", 1),
        created("the secretword is told to nobody", "secret", 1, sensitivity=3),
        deleted("gone", 2),
    ]
    block = b"".join(packed(packed_view(anew(folded(*marked)).taken())))
    assert [word in block for word in (b"plainword", b"hiddenword", b"secretword")] == [True, False, False]


def test_a_block_that_was_cut_off_or_changed_is_refused_or_read_whole() -> None:
    history = folded(created("I like tea", "a", 1), created("我喜欢咖啡", "b", 2), deleted("b", 3))
    block = b"".join(packed(packed_view(anew(history).taken())))
    refused = 0
    for size in range(len(block)):
        try:
            kept_view(unpacked(memoryview(bytearray(block[:size]))))
        except (ValueError, LookupError, TypeError):
            refused += 1
    assert refused >= len(block) - 8  # padding after the last array may be missing
