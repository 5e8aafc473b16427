"""Whatever happened: two readings differ in exactly the memories that stand, or say, otherwise, each of one kind and one cause."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.projections.fold.owner import OwnerHistory, fold_owner
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.reports.comparison import (
    CAUSES,
    KINDS,
    Beside,
    Side,
    Sorting,
    Touches,
    differing,
    sorted_out,
)
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import at, secret_of, stored
from tests.given.events import told as described
from tests.given.histories import histories
from tests.given.sides import side_standings

QUICK = settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
SAID = ("content", "summary", "keywords", "tags", "category", "kind", "tier", "confidence", "sensitivity")


@st.composite
def sides(draw: st.DrawFn) -> tuple[Side, Side, list[tuple[str, str]]]:
    """A history as far as one moment and as far as a later one; and what the later events decided, of which memory."""
    told = draw(histories)
    cut = draw(st.integers(0, len(told)))
    first, second = sorted(draw(st.tuples(st.integers(0, 200), st.integers(0, 200))))
    entries = stored(told)
    whole = fold_owner(entries, secret=secret_of("ada"), held=lambda _: False)
    part = fold_owner(entries[:cut], secret=secret_of("ada"), held=lambda _: False)
    later = [
        (one["memory"] or "", one["decision"]) for one in described(whole.entries) if int(one["position"][2:]) > cut
    ]
    before, after = (OwnerView.of_history("ada", one) for one in (part, whole))
    return Side(before, at(first)), Side(after, at(second)), later


@QUICK
@given(sides(), st.sampled_from(MODES))
def test_exactly_what_stands_or_says_otherwise_differs(told, mode) -> None:
    before, after, _ = told
    here, there = side_standings(before, mode), side_standings(after, mode)
    expected = set()
    for name in {*here, *there}:
        one, other = before.view.get(name), after.view.get(name)
        if here.get(name) != there.get(name) or (
            one is not None and other is not None and any(getattr(one, f) != getattr(other, f) for f in SAID)
        ):
            expected.add(name)
    found = {one.id: one for one in differing(before, after, mode)}
    assert set(found) == expected
    for one in found.values():
        assert (one.before, one.after) == (here.get(one.id), there.get(one.id))


@QUICK
@given(sides(), st.sampled_from(MODES), st.booleans())
def test_records_that_are_not_decoded_are_those_that_stand_alike(told, mode, encoded) -> None:
    before, after, _ = told
    if encoded:
        view = after.view
        history = OwnerHistory(view.state, {one.id: view.as_folded(one) for one in view.columns}, [], 0)
        after = Side(OwnerView.of_history("ada", history, present=before.view), after.now)
    for held in (Beside(before, after, mode), Beside(after, before, mode)):
        assert list(held.differing()) == [one for one in map(held.of, held.ids()) if one is not None]


@QUICK
@given(sides(), st.sampled_from(MODES))
def test_every_difference_has_one_kind_and_one_cause_and_nothing_is_lost_or_told_twice(told, mode) -> None:
    before, after, later = told
    decided = {name: sum(one == name and what not in ("ignored", "named") for one, what in later) for name, _ in later}
    events = {name: many for name, many in decided.items() if many and name}
    ended = {name for name, what in later if what in ("delete", "purge")}
    named = {name for name, what in later if what == "named"}
    touches = Touches(events, named, lambda: named, ended, of_owner=bool(decided.get("")), any=bool(later))
    held, sorting = Beside(before, after, mode), Sorting(before, after, mode, touches, ())
    every = sorted_out(held, sorting, touches, every=True)
    some = sorted_out(held, sorting, touches, every=False)
    differ = {one.id for one in differing(before, after, mode)}
    listed = [one for kind in KINDS for one in every.ids[kind]]
    assert len(listed) == len(set(listed))
    assert differ <= set(listed) <= differ | ended
    assert sum(every.weights.values()) == len(every.ids["weight"]) == sum(some.weights.values())
    assert not some.ids["weight"]
    assert {kind: ids for kind, ids in some.ids.items() if kind != "weight"} == {
        kind: ids for kind, ids in every.ids.items() if kind != "weight"
    }
    for one in differing(before, after, mode):
        changed = sorting.of(one)
        assert changed.cause in CAUSES
        if one.id in events:
            assert changed.cause == "events"
            assert changed.kind != "weight"
        if changed.cause == "time":
            assert (
                not one.touched
                or one.before == one.after
                or set(one.otherwise) <= {"weight", "level", "shown", "reason"}
            )
        assert (changed.kind == "made") == (one.before is None)
    assert every.page(0, 2) + every.page(2, 1_000) == listed
