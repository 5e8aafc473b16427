"""A view of the past that is made out of the present answers as one that is made anew, whatever its owner's history."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.projections.choices import RANKINGS, SEARCH_MODES
from engramlog_server.projections.embedding.meaning import NO_SECRET
from engramlog_server.projections.fold.owner import OwnerHistory
from engramlog_server.projections.laws.modes import MODES, Mode
from engramlog_server.projections.memory.deletion import deleted_memories, forgotten_turns
from engramlog_server.projections.memory.record import Memory, encode_memory
from engramlog_server.projections.past.moments import KeptMemories
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import BY_MEANING, SearchRequest
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery, corrections_in, detail, told_beside, why
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import at, folded
from tests.given.search_stories import TEXTS, others, queries, stories
from tests.given.views import anew, moved

fuzzed = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
MAKINGS = ("anew", "moved")


def stored(memories: Mapping[str, Memory]) -> KeptMemories:
    """Records as a moment keeps them, all but each tenth, which was read and changed since."""
    found = KeptMemories.of_records(memories, map(encode_memory, memories.values()))
    for name, memory in memories.items():
        if name.endswith("0"):
            found[name] = memory
    return found


def present(made: str, earlier: OwnerHistory, now: OwnerHistory) -> OwnerView:
    """The owner's view today, as it may have come about."""
    return moved(anew(earlier), earlier, now) if made == "moved" else anew(now)


def same(one: OwnerView, other: OwnerView, asked: list[tuple[str, str, str, Mode]]) -> None:
    assert list(one.columns) == list(other.columns)
    assert len(one) == len(other)
    for name, column in other.columns._filled().items():
        mine = getattr(one.columns, name)
        if name == "kind":
            assert [one.columns.kinds[at] for at in mine] == [other.columns.kinds[at] for at in column]
        else:
            np.testing.assert_array_equal(mine, column, name)
    assert set(one.said_again) == set(other.said_again)
    assert forgotten_turns(one.columns) == forgotten_turns(other.columns)
    assert set(deleted_memories(one.columns)) == set(deleted_memories(other.columns))
    for mode in MODES:
        assert listing(ViewQuery(one, at(10), mode), 100, 0) == listing(ViewQuery(other, at(10), mode), 100, 0)
    for memory in other.columns:
        assert one.as_folded(memory) == other.as_folded(memory)
        assert corrections_in(one, memory.id) == corrections_in(other, memory.id)
        for view in (one, other):
            assert view.get(memory.id) == memory
        assert detail(one, memory, at(30)) == detail(other, memory, at(30))
        assert why(one, memory, at(30)) == why(other, memory, at(30))
        assert told_beside(one, memory) == told_beside(other, memory)
    for query, ranking, search_mode, mode in asked:
        wish = SearchRequest(ranking, search_mode, associations=True)
        found, wanted = (search(ViewQuery(view, at(41), mode), query, 100, wish) for view in (one, other))
        assert found == wanted
    assert one.mean_length == other.mean_length
    assert one.graph.triples == other.graph.triples
    for prefix in ("", "c", "绿", "te"):
        assert one.terms_beginning(prefix, 3) == other.terms_beginning(prefix, 3)
    assert one.conversation.shape == other.conversation.shape
    assert set(one.conversation.names) == set(other.conversation.names)
    assert [one.meaning("m", NO_SECRET).wanted] == [other.meaning("m", NO_SECRET).wanted]


@fuzzed
@given(
    st.data(),
    stories(),
    st.lists(others, max_size=6),
    st.lists(others, max_size=4),
    st.sampled_from(MAKINGS),
    st.booleans(),
    st.booleans(),
)
def test_any_moment_answers_the_same_out_of_the_present_as_by_itself(data, told, more, then, made, apart, raw) -> None:
    events = [*told, *more]
    kept = data.draw(st.lists(st.booleans(), min_size=len(events), max_size=len(events))) if apart else None
    upto = data.draw(st.integers(0, len(events)))
    past = [one for one, counts in zip(events, kept, strict=True) if counts] if kept is not None else events[:upto]
    before, earlier, now, last = (
        folded(*past),
        folded(*events[:upto]),
        folded(*events),
        folded(*events, *then),
    )
    query = st.tuples(
        queries(told) | st.sampled_from(TEXTS),
        st.sampled_from(RANKINGS),
        st.sampled_from(SEARCH_MODES),
        st.sampled_from(MODES),
    )
    drawn = data.draw(st.lists(query, min_size=1, max_size=2))
    asked = [(one, by, how if by in BY_MEANING else "keyword", mode) for one, by, how, mode in drawn]
    asked.append((TEXTS[0], "conversation", "keyword", "review"))
    view = present(made, earlier, now)
    if data.draw(st.booleans()):
        search(ViewQuery(view, at(41), "review"), asked[0][0], 5)  # traits are taken over as far as they were read
    told_then = before._replace(memories=stored(before.memories)) if raw else before
    out_of_it = OwnerView.of_history("ada", told_then, present=view)
    wanted = OwnerView.of_history("ada", before, view.columns)
    if data.draw(st.booleans()):
        same(out_of_it, wanted, asked)
    moved(view, now, last)
    search(ViewQuery(view, at(41), "review"), asked[0][0], 5)
    same(out_of_it, wanted, asked)
