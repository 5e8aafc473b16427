"""Two readings beside each other: what stands otherwise, what it says otherwise, and how questions rank."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.memory.record import LEVELS
from engramlog_server.projections.reports.comparison import Beside, Side, differing, moved, ranked
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, compressed, created, deleted, folded, mentioned, negated, revised
from tests.given.sides import side_standings
from tests.rows import each_row


def side(*events: Told, day: float = 40) -> Side:
    return Side(OwnerView.of_history("ada", folded(*events)), at(day))


FIRST = [created("I like coffee", "coffee"), created("我喜欢茶", "tea", day=1), created("my PIN is 4711", "pin", day=2)]


def test_a_side_tells_the_weight_by_the_law_and_what_the_mode_shows() -> None:
    one = side(*FIRST, negated("coffee", 20, resolution="latest_wins"))
    told = side_standings(one, "normal")
    assert set(told) == {"coffee", "tea", "pin"}
    for name, standing in told.items():
        memory = one.view.get(name)
        assert memory is not None
        reading = LAWS["weighted"].read(memory, one.now, one.view.parameters)
        assert standing["weight"] == pytest.approx(reading.unclipped, abs=1e-6)
        assert standing["level"] in LEVELS
    assert {name for name, standing in told.items() if standing["shown"]} == {
        row["id"] for row in listing(ViewQuery(one.view, one.now, "normal"), 10, 0)["memories"]
    }
    assert (told["coffee"]["reason"], told["pin"]["reason"], told["tea"]["reason"]) == ("superseded", "sensitive", None)


def test_a_reading_beside_itself_differs_in_nothing() -> None:
    one = side(*FIRST)
    assert list(differing(one, one, "normal")) == []
    assert [row["moved"] for row in moved(one, one, ["coffee", "茶"], "review", 5)] == [[], []]


def test_time_alone_leaves_the_record_untouched_and_moves_the_weight() -> None:
    view = side(*FIRST).view
    found = {one.id: one for one in differing(Side(view, at(5)), Side(view, at(9)), "normal")}
    assert set(found) == {"coffee", "tea", "pin"}
    assert all(not one.fields and not one.touched and one.otherwise == ["weight"] for one in found.values())


@dataclass(frozen=True)
class Case:
    """What happened on the later side alone, and what of it is told of which memory."""

    name: str
    event: Told
    of: str
    fields: tuple[str, ...]
    otherwise: set[str]


CASES = (
    Case("a negation", negated("coffee", 3, resolution="latest_wins"), "coffee", (), {"status", "is_negated", "weight"}),
    Case("a mention", mentioned("tea", day=30), "tea", (), {"mention_count", "weight"}),
    Case("a revision", revised("我喜欢龙井", of="tea", day=30), "tea", ("content",), set()),
    Case("a deletion", deleted("tea", 30), "tea", (), {"status"}),
    Case("a shorter level", compressed("trace", of="tea", day=30), "tea", (), {"level"}),
    Case("other words of a secret", revised("my PIN is 4712", of="pin", day=30), "pin", ("content",), set()),
)  # fmt: skip


@each_row("case", CASES, ids=lambda case: case.name)
def test_an_event_of_one_side_is_told_by_what_it_changed(case: Case) -> None:
    before, after = side(*FIRST, day=40), side(*FIRST, case.event, day=40)
    (found,) = differing(before, after, "review")
    assert (found.id, found.fields, found.touched) == (case.of, case.fields, True)
    assert set(found.otherwise) >= case.otherwise
    assert "4711" not in str(found.told())


def test_sides_held_beside_each_other_tell_each_memory_as_all_of_them_are_told() -> None:
    before, after = side(*FIRST), side(*FIRST, negated("coffee", 3), created("new", "new", day=9))
    held = Beside(before, after, "normal")
    assert [one for one in map(held.of, held.ids()) if one is not None] == list(differing(before, after, "normal"))
    assert list(held.ids()) == ["coffee", "tea", "pin", "new"]
    assert held.standing("tea").before == held.standing("tea").after == side_standings(before, "normal")["tea"]


def test_ranks_that_moved_are_told_from_one_and_what_came_or_went_by_none() -> None:
    before = side(created("I drink coffee", "a"), created("I drink coffee and tea", "b", day=1), day=2)
    after = side(created("I drink coffee", "a"), deleted("a", 1), created("I drink coffee and tea", "b", day=1), day=2)
    (told,) = moved(before, after, ["drink coffee"], "normal", 5)
    assert (told["before"], told["after"]) == (ranked(before, "drink coffee", "normal", 5), ["b"])
    places = {one["id"]: (one["before"], one["after"]) for one in told["moved"]}
    assert places["a"] == (told["before"].index("a") + 1, None)


RANKS = {
    "one came between": ("ab", "acb", {"b": "c", "c": None}),
    "only who is directly below it says so": ("ab", "cab", {"a": "c", "b": None, "c": None}),
    "two that changed places": ("ab", "ba", {"a": "b", "b": "a"}), "one that went": ("ab", "b", {"a": None, "b": "a"}),
    "one that came": ("", "a", {"a": None}), "one further up went": ("abc", "bc", {"a": None, "b": "a", "c": None}),
    "one fell behind two": ("abc", "bca", {"a": "c", "b": "a", "c": None}),
}  # fmt: skip


@each_row(("before", "after", "passed"), RANKS.values(), ids=RANKS)
def test_a_moved_rank_names_what_came_or_went_directly_above_it(
    before: str, after: str, passed: dict[str, str]
) -> None:
    one = side(*FIRST)
    results = iter([[*before], [*after]])
    (told,) = moved(one, one, ["?"], "normal", 10, rank=lambda *_asked: next(results))
    assert {one["id"]: one["passed"] for one in told["moved"]} == passed
