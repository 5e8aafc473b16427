"""What is told while sources are set aside does not depend on the order in which anything of it arrived."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.projections.fold.owner import OwnerState, fold_on
from engramlog_server.projections.memory.record import Asides, Memory
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.quoting import SetAside
from tests.examples import examples
from tests.given.events import (
    Told,
    at,
    brought_back,
    created,
    in_session,
    mentioned,
    merged,
    negated,
    revised,
    set_aside,
    stored,
)
from tests.given.views import viewed

SESSIONS = st.sampled_from([None, "s1", "s2"])
DAYS = st.integers(3, 9)
FIRST = (
    created("I live in Porto", "mine", 1),
    in_session(created("I live in Rome", "first", 2), "s1"),
    in_session(created("I live in Nice", "second", 2), "s2"),
)


def later() -> st.SearchStrategy[Told]:
    """What may be done to these, in one of two sessions or in none; and to the sessions."""
    ids = st.sampled_from(["mine", "first", "second"])
    sessions = st.sampled_from(["s1", "s2"])
    return st.one_of(
        st.builds(lambda of, day, s: in_session(negated(of, day, resolution="latest_wins"), s), ids, DAYS, SESSIONS),
        st.builds(lambda of, day, s: in_session(mentioned(of, day), s), ids, DAYS, SESSIONS),
        st.builds(set_aside, sessions, DAYS),
        st.builds(brought_back, sessions, DAYS),
    )


def shown(told: list[Told]) -> frozenset[str]:
    return frozenset(one["id"] for one in listing(ViewQuery(viewed(*told), at(10), "normal"), 100, 0)["memories"])


@given(st.lists(later(), min_size=1, max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=examples(150), deadline=None)
def test_the_order_of_arrival_decides_nothing(events: list[Told], chance: object) -> None:
    order = list(events)
    chance.shuffle(order)  # type: ignore[attr-defined]
    assert shown([*FIRST, *events]) == shown([*FIRST, *order])


@given(st.lists(later(), max_size=6))
@settings(max_examples=examples(100), deadline=None)
def test_while_it_is_set_aside_a_session_might_as_well_have_said_nothing(events: list[Told]) -> None:
    last = set_aside("s1", 9.5)
    silent = [one for one in (*FIRST, *events) if one.extra.get("session_id") != "s1" and not names_first(one)]
    assert shown([*FIRST, *events, last]) - {"first"} == shown([*silent, last]) - {"first"}


def names_first(told: Told) -> bool:
    return getattr(told.data, "memory_id", None) == "first"


class OfAll(SetAside):
    """Reads all records again whenever a source is set aside or brought back."""

    def _concerned(self, asides: Asides) -> set[str]:
        return set(self._folded)


drawn = st.builds(
    lambda name, by, turns, s: in_session(created("drawn", name, 3, by, source="judge", source_turns=turns), s),
    st.sampled_from(["x", "y"]),
    st.sampled_from(["judge", "system"]),
    st.lists(st.sampled_from(["mine", "first", "second", "x"]), min_size=1, max_size=2, unique=True).map(tuple),
    SESSIONS,
)
merges = st.builds(lambda s: in_session(merged("first", "second", into="all", day=4), s), SESSIONS)
revisions = st.builds(
    lambda of, s: in_session(revised("I live in Lyon", of=of, day=5), s),
    st.sampled_from(["mine", "x", "all"]),
    SESSIONS,
)


@given(st.lists(st.one_of(later(), drawn, merges, revisions), max_size=10), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_only_what_a_setting_aside_concerns_reads_otherwise_by_it(events: list[Told], at_once: bool) -> None:
    short, long = SetAside(), OfAll()
    state, memories = OwnerState(), dict[str, Memory]()
    for _, step in fold_on(state, memories, stored([*FIRST, *events]), lambda _one, _event: True):
        state = step.owner
        if not at_once:
            for one in (short, long):
                others = [each for each in memories.values() if each.id not in step.changed]
                one.follow(state.asides, list(step.changed.values()), others)
            assert dict.fromkeys(short.read_otherwise) == dict.fromkeys(long.read_otherwise)
    last = list(memories.values())
    assert by_id(short.follow(state.asides, last, ())) == by_id(long.follow(state.asides, last, ()))


def by_id(read: list[Memory]) -> dict[str, Memory]:
    return {one.id: one for one in read}


@given(st.lists(later(), max_size=6))
@settings(max_examples=examples(100), deadline=None)
def test_set_aside_and_brought_back_is_as_if_nothing_had_been(events: list[Told]) -> None:
    about = [one for one in events if "session" not in type(one.data).__struct_fields__]
    assert shown([*FIRST, *about, set_aside("s1", 9.5), brought_back("s1", 9.6)]) == shown([*FIRST, *about])
