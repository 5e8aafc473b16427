"""A value has one state, whatever order what was said of it arrives in."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery
from tests.examples import examples
from tests.given.events import Told, at, created, mentioned, negated, readmitted, rejected
from tests.given.views import viewed

TEXTS = ("I like tea", "i like TEA.")
FIRST = (created(TEXTS[0], "a", 1), created(TEXTS[1], "b", 2))


def later() -> st.SearchStrategy[Told]:
    """What may be said of the value: denied, rejected, taken up, said again by the user or by somebody else."""
    days = st.integers(3, 9)
    ids = st.sampled_from(["a", "b"])
    ends = st.sampled_from(["weight_balance", "latest_wins", "version_keep"])
    return st.one_of(
        st.builds(lambda of, day, how: negated(of, day, resolution=how), ids, days, ends),
        st.builds(lambda day: rejected(TEXTS[0], day=day), days),
        st.builds(lambda day: readmitted(TEXTS[0], day=day), days),
        st.builds(mentioned, ids, days),
        st.builds(lambda of, day: mentioned(of, day, actor="assistant"), ids, days),
        st.builds(lambda of, day: by_lower(mentioned(of, day)), ids, days),
    )


def by_lower(told: Told) -> Told:
    """The same, told by a lower source."""
    return replace(told, extra={**told.extra, "trust": "inferred"})


def shown(told: list[Told]) -> tuple[frozenset[str], frozenset[str]]:
    view = viewed(*told)
    normal, review = (
        frozenset(one["id"] for one in listing(ViewQuery(view, at(10), mode), 100, 0)["memories"])
        for mode in ("normal", "review")
    )
    return normal, review


@given(st.lists(later(), min_size=1, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=examples(150), deadline=None)
def test_the_state_of_a_value_does_not_depend_on_the_order_of_arrival(events: list[Told], chance: object) -> None:
    order = list(events)
    chance.shuffle(order)  # type: ignore[attr-defined]
    assert shown([*FIRST, *events]) == shown([*FIRST, *order])


@given(st.integers(3, 9), st.integers(3, 9), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_no_evidence_of_before_a_rejection_shows_it_whichever_arrives_first(said: int, day: int, first: bool) -> None:
    statement, refused = created(TEXTS[0], "c", said), rejected(TEXTS[0], day=day)
    told = [refused, statement] if first else [statement, refused]
    assert shown(told) == (frozenset(), frozenset())


@given(st.integers(3, 9), st.lists(st.integers(3, 20), max_size=12), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_no_lower_source_takes_back_a_negation_of_his_own_whatever_it_says_and_when(
    day: int, later: list[int], first: bool
) -> None:
    negation = negated("a", day, resolution="latest_wins")
    others = [by_lower(mentioned("a", one)) for one in later] + [
        by_lower(created(TEXTS[0], f"c{one}", one)) for one in {*later}
    ]
    told = [*others, negation] if first else [negation, *others]
    assert shown([FIRST[0], *told])[0] == frozenset()
