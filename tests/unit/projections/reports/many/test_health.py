"""The health of many owners: of one owner what the reports of one owner tell, and a sum that no order and no parting changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.laws.law import FOREVER
from projections.memory.columns import STATES, Columns
from projections.memory.record import DAY, SECRET
from projections.reports.health import ends, health
from projections.reports.many.health import MOST_OWNERS, SPANS, OwnerHealth, StoreHealth
from projections.views.corrected import seen_at
from projections.views.view import OwnerView
from tests.given.events import Told, at, created, deleted, folded, in_conflict, linked, profile, purged
from tests.given.histories import histories


def held(events: Iterable[Told], day: float = 90, waiting: int = 0, owner: str = "ada") -> StoreHealth:
    found = StoreHealth()
    found.take(owner, OwnerView.of_history(owner, folded(*events)), at(day), waiting)
    return found


@given(histories, st.sampled_from([90, 120, 400]), st.integers(0, 2))
def test_of_one_owner_the_figures_are_those_of_the_reports_of_one(
    history: list[Told], day: float, waiting: int
) -> None:
    view, found = OwnerView.of_history("ada", folded(*history)), held(history, day, waiting)
    told, columns = health(view, at(day), 1_000, 0), view.columns
    assert (found.live, found.colours) == (told["total"], told["colours"])
    assert found.told()["mean_strength"] == told["mean_strength"]
    standing = Counter(STATES[state] for state in columns.standing().tolist())
    assert (found.by_state, found.memories, found.events) == (standing, len(columns), view.state.applied)
    assert found.shown == int(seen_at(view, at(day), "normal").shown.sum())
    assert found.secret == sum(one.sensitivity >= SECRET for one in columns.memories)
    assert sum(found.by_sensitivity.values()) == found.memories
    assert found.negated == int((columns.conflict != Columns.HELD).sum())
    listed = told["memories"]
    assert sum(found.archives.values()) == sum(one["archives_at"] is not None for one in listed)
    assert sum(found.deletes.values()) == sum(one["deletes_at"] is not None for one in listed)
    conflicting = [one for one in listed if one.get("possible_conflicts")]
    assert found.conflicting == len(conflicting)
    assert (found.waiting, found.waiting_owners, found.profiles) == (waiting, int(waiting > 0), {view.law.name: 1})
    assert [one.owner for one in found.most] == ["ada"] * bool(
        waiting or found.conflicting or found.orphaned or found.colours["red"]
    )


@pytest.mark.parametrize("law", ["tiered", "consolidating", "ebbinghaus"])
def test_what_the_law_does_by_itself_is_told_by_how_soon(law: str) -> None:
    history = [profile(law, day=0)] + [created(f"I like tea {n}", f"m{n}", day=n) for n in range(0, 80, 4)]
    for day in (80, 110, 300):
        view, found = OwnerView.of_history("ada", folded(*history)), held(history, day)
        rows = (view.columns.standing() == Columns.LIVE).nonzero()[0]
        for told, instants in zip((found.archives, found.deletes), ends(view, view.columns.only(rows)), strict=True):
            counted = Counter[str]()
            for instant in (one for one in instants.tolist() if one < FOREVER):
                days = (instant - at(day)) / DAY
                counted[next((name for name, most in SPANS if days <= most), "later")] += 1
            assert told == counted


def test_what_may_contradict_is_counted_while_the_other_stands() -> None:
    one = [created("I like tea", "a"), created("I hate tea", "b"), in_conflict("a", "b")]
    assert (held(one).conflicting, held([*one, deleted("b", 3)]).conflicting) == (2, 0)
    assert held([*one[:2], linked("a", "b")]).conflicting == 0


def test_what_stands_though_what_it_came_from_is_gone_is_counted() -> None:
    turn = created("I live in Oslo.", "t1", kind="episode", source_turns=("t1",))
    drawn = created("User lives in Oslo", "m", 1, source="judge", source_turns=("t1",))
    assert held([turn, drawn]).orphaned == 0
    assert held([turn, drawn, deleted("t1", 2)]).orphaned == 1
    assert held([turn, drawn, deleted("t1", 2), purged("t1", 40)]).orphaned == 1
    assert held([turn, drawn, deleted("t1", 2), deleted("m", 2)]).orphaned == 0


def test_nobody_has_no_mean() -> None:
    assert (StoreHealth().told()["mean_strength"], held([]).told()["mean_strength"]) == (None, None)


# --- many

some = st.integers(0, 5)
tallies = st.dictionaries(st.sampled_from(["green", "red", "live", "0"]), st.integers(1, 5))


@st.composite
def parts(draw: st.DrawFn) -> list[StoreHealth]:
    """One of each owner, any figures."""
    found = []
    for number in range(draw(st.integers(1, 8))):
        one = StoreHealth()
        for name in one.__struct_fields__:
            if name != "most":
                setattr(one, name, draw(some) if type(getattr(one, name)) is int else draw(tallies))
        if draw(st.booleans()):
            one.most = [OwnerHealth(f"o{number}", draw(some), draw(some), draw(some), draw(some))]
        found.append(one)
    return found


def summed(of: Iterable[StoreHealth]) -> StoreHealth:
    found = StoreHealth()
    for one in of:
        found.add(msgspec.json.decode(msgspec.json.encode(one), type=StoreHealth))
    return found


@given(parts(), st.data())
def test_the_sum_depends_on_no_order_and_no_parting(of: list[StoreHealth], data: st.DataObject) -> None:
    mixed = data.draw(st.permutations(of))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(of)), max_size=3)))
    cut = [mixed[one:other] for one, other in zip([0, *cuts], [*cuts, len(of)], strict=True)]
    assert summed(map(summed, cut)) == summed(of)


def test_those_who_most_want_a_look_are_named_and_no_more_than_twenty() -> None:
    owners = [OwnerHealth(f"o{n:02}", n % 3, n % 2, n % 5, n % 7) for n in range(30)]
    named = summed(StoreHealth(most=[one]) for one in owners).most
    assert (
        named
        == sorted(owners, key=lambda one: (-one.waiting, -one.conflicting, -one.orphaned, -one.red, one.owner))[
            :MOST_OWNERS
        ]
    )
