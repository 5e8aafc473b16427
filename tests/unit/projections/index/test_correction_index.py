"""Which memories say what no longer holds: found by their links, and kept level with the rows whatever comes in what order."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import SensitivitySet
from engramlog_server.projections.index.correction_index import CorrectionIndex
from engramlog_server.projections.memory.columns import BELOW, GONE, TOLD
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, created, deleted, folded, mentioned, merged, negated, revised
from tests.given.views import viewed
from tests.rows import each_row

TURN = created("I live in Tokyo", "t1", source_turns=("t1",), kind="episode")
STATEMENT = created("User lives in Tokyo", "tokyo", actor="judge", source="judge", source_turns=("t1",))
LATER = created("I moved to Osaka", "t2", 1, source_turns=("t2",), kind="episode")
OSAKA = created("User lives in Osaka", "osaka", 1, actor="judge", source="judge", source_turns=("t2",))
MOVED = (
    TURN, STATEMENT, LATER, OSAKA, negated("tokyo", 1, replaced_by="osaka", turn_id="t2", resolution="latest_wins"),
)  # fmt: skip


def told(view: OwnerView, memory_id: str) -> list[tuple[str, str | None, int]]:
    """What no longer holds of a memory: what said it, what holds now, and how strongly."""
    row = view.columns.row(memory_id)
    assert row is not None
    found = view.index(CorrectionIndex).of(view.columns, row)
    return [(one.old.id, one.now.id if one.now else None, one.strength) for one in found]


def records(view: OwnerView, memory_id: str) -> list[Any]:
    """The same, with the whole records: a text or a sensitivity of before is told to nobody."""
    row = view.columns.row(memory_id)
    assert row is not None
    found = view.index(CorrectionIndex).of(view.columns, row)
    return [(one.old.content, one.now and (one.now.content, one.now.sensitivity), one.at) for one in found]


def left(view: OwnerView, memory_id: str) -> Any:
    """The parts of what may leave normal mode."""
    row = view.columns.row(memory_id)
    assert row is not None
    return view.index(CorrectionIndex).leaving(view.columns, row)


def summary(of: str, *turns: str, **more: Any) -> Told:
    return created("She told where she lives", of, 2, actor="system", kind="note", source_turns=turns, **more)


def test_a_turn_says_what_its_statement_said_and_the_turn_of_the_correction_does_not() -> None:
    view = viewed(*MOVED)
    assert told(view, "t1") == told(view, "tokyo") == [("tokyo", "osaka", GONE)]
    assert told(view, "t2") == told(view, "osaka") == []


@each_row(
    ("more", "expected"),
    [
        ([], [("tokyo", "osaka", GONE)]), ([mentioned("tokyo", 5)], []),
        ([negated("osaka", 5, turn_id="t5")], [("tokyo", None, GONE)]),
        ([created("User is in Kyoto", "kyoto", 5), negated("osaka", 5, replaced_by="kyoto")], [("tokyo", "kyoto", GONE)]),
        ([deleted("osaka", 5)], [("tokyo", None, GONE)]), ([deleted("tokyo", 5)], [("tokyo", "osaka", GONE)]),
        ([negated("osaka", 5, replaced_by="tokyo")], [("tokyo", None, GONE)]),
    ],
    ids=["told", "said again", "negated", "replaced again", "successor deleted", "statement deleted", "in a circle"],
)  # fmt: skip
def test_what_holds_now_is_what_stands_at_the_end_of_its_successors(
    more: list[Told], expected: list[tuple[str, str | None, int]]
) -> None:
    assert told(viewed(*MOVED, *more), "t1") == expected


def test_what_nothing_replaced_is_corrected_by_the_turn_that_took_it_back_or_by_nothing() -> None:
    dog = created("User has a dog", "dog", actor="judge", source="judge", source_turns=("t1",))
    retraction = created("I misspoke, I have no dog", "t2", 1, source_turns=("t2",), kind="episode")
    assert told(viewed(TURN, dog, retraction, negated("dog", 1, turn_id="t2")), "t1") == [("dog", "t2", GONE)]
    assert told(viewed(TURN, dog, retraction, negated("dog", 1)), "t1") == [("dog", None, GONE)]
    gone = deleted("t2", 2)
    assert told(viewed(TURN, dog, retraction, negated("dog", 1, turn_id="t2"), gone), "t1") == [("dog", None, GONE)]


def test_what_is_only_doubted_is_told_and_no_more() -> None:
    doubted = negated("tokyo", 1, resolution="weight_balance")
    assert told(viewed(TURN, STATEMENT, doubted), "t1") == [("tokyo", None, TOLD)]


def test_a_link_alone_has_what_it_corrects_stand_below_until_its_owner_says_it_again() -> None:
    linked = (TURN, STATEMENT, created("User lives in Osaka", "osaka", 1, corrects="tokyo"))
    assert told(viewed(*linked), "t1") == told(viewed(*linked), "tokyo") == [("tokyo", "osaka", BELOW)]
    for more in ([mentioned("tokyo", 2)], [deleted("osaka", 2)], [negated("osaka", 2)]):
        assert told(viewed(*linked, *more), "t1") == [], more


def test_a_turn_of_which_no_memory_is_known_is_told_by_its_id() -> None:
    view = viewed(STATEMENT, OSAKA, MOVED[-1])
    index = view.index(CorrectionIndex)
    assert [one.old.id for one in index.said_in(view.columns, "t1")] == ["tokyo"]
    assert index.said_in(view.columns, "t2") == index.said_in(view.columns, "t7") == []


STEPS = (
    *MOVED, created("User lives in Kyoto", "kyoto", 2, corrects="osaka", source_turns=("t3",)),
    negated("osaka", 3, replaced_by="kyoto", resolution="latest_wins"), mentioned("osaka", 4), deleted("kyoto", 5),
    summary("day", "t1", "t2", tier="episode", source="system"), merged("t1", "t2", into="both", day=6),
    negated("t1", 7, resolution="weight_balance"), revised("User lives in Osaka, by the river", "osaka", 8),
    Told(SensitivitySet(memory_id="osaka", level=3, reason="asked"), 9, "user"),
)  # fmt: skip


@given(st.permutations(STEPS), st.integers(0, len(STEPS)))
def test_an_index_kept_level_tells_what_one_made_anew_tells(steps: list[Told], first: int) -> None:
    view = OwnerView.of_history("ada", folded(*steps[:first]))
    view.index(CorrectionIndex).strengths(view.columns)
    for last in range(first, len(steps) + 1):
        history = folded(*steps[:last])
        view.follow(history.owner, [one for one in history.memories.values() if view.get(one.id) != one])
        anew = OwnerView.of_history("ada", history)
        rows = range(len(view.columns))
        assert [told(view, view.columns.memories[row].id) for row in rows] == [
            told(anew, view.columns.memories[row].id) for row in rows
        ]
        assert [records(view, view.columns.memories[row].id) for row in rows] == [
            records(anew, view.columns.memories[row].id) for row in rows
        ]
        assert [left(view, view.columns.memories[row].id) for row in rows] == [
            left(anew, view.columns.memories[row].id) for row in rows
        ]
        kept = view.index(CorrectionIndex).strengths(view.columns)
        made = anew.index(CorrectionIndex).strengths(anew.columns)
        assert {one.id: kept[row] for row, one in enumerate(view.columns)} == {
            one.id: made[row] for row, one in enumerate(anew.columns)
        }
