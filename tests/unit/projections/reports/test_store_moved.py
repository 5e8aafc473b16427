"""Figures of many owners: those that a memory-by-memory comparison gives, and a sum that no order and no parting changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.reports.comparison import MOST_OWNERS, OrderMoved, OwnerMoved, Side, StoreMoved
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created, deleted, folded, negated
from tests.given.histories import histories
from tests.given.sides import side_standings
from tests.rows import each_row


def side(events: Iterable[Told], day: float = 90) -> Side:
    return Side(OwnerView.of_history("ada", folded(*events)), at(day))


def moved(before: Side, after: Side, owner: str = "ada") -> StoreMoved:
    found = StoreMoved()
    found.take(owner, before, after)
    return found


# --- the same, by looking at one memory after the other

TOLD = ("content", "summary", "keywords", "tags", "category", "kind", "tier", "confidence", "sensitivity")


def words_moved(one: Memory, other: Memory) -> set[str]:
    names = {name for name in TOLD if getattr(one, name) != getattr(other, name)}
    if max(one.sensitivity, other.sensitivity) < SECRET or not names & {"content", "summary", "keywords", "tags"}:
        return names
    return names - {"summary", "keywords", "tags"} | {"content"}


def order(standings: dict[str, Any]) -> list[str]:
    shown = [name for name, told in standings.items() if told["shown"]]
    return sorted(shown, key=lambda name: (-standings[name]["weight"], name))[:10]


def twin(before: Side, after: Side) -> dict[str, Any]:
    one, other = side_standings(before, "normal"), side_standings(after, "normal")
    both, fields = one.keys() & other.keys(), Counter[str]()
    changed, levels, why_came, why_went = (one.keys() ^ other.keys()), Counter[str](), Counter[str](), Counter[str]()
    for name in both:
        here, there = before.view.get(name), after.view.get(name)
        assert here is not None
        assert there is not None
        differs = {key for key in one[name] if one[name][key] != other[name][key]} | words_moved(here, there)  # type: ignore[literal-required]
        fields.update(differs)
        changed |= {name} if differs else set()
        if one[name]["shown"] and other[name]["shown"] and one[name]["level"] != other[name]["level"]:
            levels[f"{one[name]['level']}>{other[name]['level']}"] += 1
    shown, shown_then = ({name for name, told in told.items() if told["shown"]} for told in (one, other))
    for name in shown_then - shown:
        why_came[str(one[name]["reason"]) if name in one else "not_there"] += 1
    for name in shown - shown_then:
        why_went[str(other[name]["reason"]) if name in other else "not_there"] += 1
    weights = [round(other[name]["weight"] - one[name]["weight"], 6) for name in both]
    first, second = order(one), order(other)
    came, went = len(shown_then - shown), len(shown - shown_then)
    return {
        "owners": 1,
        "changed": int(bool(changed)),
        "memories": len(one),
        "changes": len(changed),
        "appear": len(other.keys() - one.keys()),
        "vanish": len(one.keys() - other.keys()),
        "changed_fields": fields,
        "shown_today": len(shown),
        "shown_then": len(shown_then),
        "came": came,
        "went": went,
        "why_came": why_came,
        "why_went": why_went,
        "levels": levels,
        "heavier": sum(weight > 0 for weight in weights),
        "lighter": sum(weight < 0 for weight in weights),
        "largest_change": max(weights, key=lambda weight: (abs(weight), weight), default=0.0),
        "by_weight": {
            "orders": int(bool(first or second)),
            "changed": int(first != second),
            "first": int(first[:1] != second[:1]),
            "came": len(set(second) - set(first)),
            "went": len(set(first) - set(second)),
        },
        "most": [{"owner": "ada", "changes": len(changed), "came": came, "went": went}] if changed else [],
    }


NOT_OF_SIDES = ("untouched", "quarantined", "behind", "left_out", "events", "struck", "questions")


@given(histories, histories, st.booleans(), st.sampled_from([90, 200]))
def test_figures_are_those_of_looking_at_each_memory(
    one: list[Told], more: list[Told], apart: bool, day: float
) -> None:
    """Of two histories, or of one and the same one gone on with."""
    before, after = side(one), side(more if apart else [*one, *more[4:]], day)
    found = moved(before, after).told()
    assert {name: value for name, value in found.items() if name not in NOT_OF_SIDES} == twin(before, after)


# --- many

some = st.integers(0, 5)
counts = st.dictionaries(st.sampled_from(["deleted", "weak", "not_there"]), st.integers(1, 5))
orders = st.builds(OrderMoved, *[some] * 5)


@st.composite
def parts(draw: st.DrawFn) -> list[StoreMoved]:
    """One of each owner."""
    found = []
    for number in range(draw(st.integers(1, 8))):
        plain = {
            name: draw(some)
            for name in (
                "owners",
                "changed",
                "untouched",
                "quarantined",
                "behind",
                "events",
                "struck",
                "memories",
                "came",
            )
        }
        tallies = {name: draw(counts) for name in ("left_out", "changed_fields", "why_came", "why_went", "levels")}
        most = [OwnerMoved(f"o{number}", draw(some), draw(some), draw(some))] if draw(st.booleans()) else []
        change = draw(st.sampled_from([0.0, 0.25, -0.25, 0.5, -0.75]))
        asked = draw(st.dictionaries(st.sampled_from(["coffee", "茶"]), orders))
        found.append(
            StoreMoved(**plain, **tallies, by_weight=draw(orders), questions=asked, most=most, largest_change=change)
        )
    return found


def summed(of: Iterable[StoreMoved]) -> StoreMoved:
    found = StoreMoved()
    for one in of:
        found.add(msgspec.json.decode(msgspec.json.encode(one), type=StoreMoved))
    return found


@given(parts(), st.data())
def test_the_sum_depends_on_no_order_and_no_parting(of: list[StoreMoved], data: st.DataObject) -> None:
    mixed = data.draw(st.permutations(of))
    at_ = sorted(data.draw(st.lists(st.integers(0, len(of)), max_size=3)))
    cut = [mixed[one:other] for one, other in zip([0, *at_], [*at_, len(of)], strict=True)]
    assert summed(map(summed, cut)) == summed(of)


def test_those_of_whom_most_comes_and_goes_are_named_and_no_more_than_twenty() -> None:
    owners = [OwnerMoved(f"o{number:02}", number % 3, number % 2, 0) for number in range(30)]
    named = summed(StoreMoved(most=[one]) for one in reversed(owners)).most
    assert len(named) == MOST_OWNERS
    assert named == sorted(owners, key=lambda one: (-one.came, -one.changes, one.owner))[:MOST_OWNERS]


def test_an_owner_that_cannot_be_looked_at_is_counted_by_why() -> None:
    found = StoreMoved()
    for kind in ("OwnerErased", "OwnerTooLarge", "OwnerErased"):
        found.leaves_out(kind)
    assert (found.owners, found.left_out, found.changed) == (3, {"OwnerErased": 2, "OwnerTooLarge": 1}, 0)


def test_nothing_moves_beside_itself() -> None:
    one = side([created("I like coffee", "coffee"), created("我喜欢茶", "tea")])
    found = moved(one, one)
    assert (found.owners, found.memories, found.shown_today, found.changes, found.changed) == (1, 2, 2, 0, 0)
    assert (found.most, found.changed_fields, found.largest_change) == ([], {}, 0.0)
    assert found.by_weight == OrderMoved(orders=1)


def test_what_comes_and_goes_is_told_by_why() -> None:
    one = [created("I like coffee", "coffee"), created("我喜欢茶", "tea")]
    replaced = [*one, negated("coffee", 3, resolution="latest_wins")]
    out, back = moved(side(one), side(replaced)), moved(side(replaced), side(one))
    assert (out.went, out.why_went, out.came) == (1, {"superseded": 1}, 0)
    assert (back.came, back.why_came, back.went) == (1, {"superseded": 1}, 0)
    gone = moved(side(one), side(one[1:]))
    assert (gone.vanish, gone.why_went, gone.changed_fields) == (1, {"not_there": 1}, {})
    assert moved(side(one[1:]), side(one)).why_came == {"not_there": 1}
    assert moved(side(one), side([*one, deleted("tea", 4)])).why_went == {"deleted": 1}


def test_a_sum_takes_nothing_away_from_its_parts() -> None:
    one, other = StoreMoved(left_out={"OwnerErased": 1}), StoreMoved(left_out={"OwnerErased": 2})
    one.add(other)
    assert (one.left_out, other.left_out, StoreMoved().left_out) == ({"OwnerErased": 3}, {"OwnerErased": 2}, {})


@each_row(("changes", "largest"), [((0.25, -0.5), -0.5), ((-0.5, 0.5), 0.5), ((0.5, -0.5), 0.5)])
def test_the_largest_change_is_that_of_the_largest_size(changes: tuple[float, float], largest: float) -> None:
    assert summed(StoreMoved(largest_change=one) for one in changes).largest_change == largest
