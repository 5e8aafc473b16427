"""What is kept of a value: the newest rejection and readmission, whatever order they come in; bounded, and never let go."""

from __future__ import annotations

from itertools import permutations

import pytest

from engramlog_server.projections.memory.rejection import MOST_VALUES, Rejections, readmitted, refusing, rejected
from tests.rows import each_row

A, B = b"a" * 16, b"b" * 16
Step = tuple[str, int, int | None]


def after(*steps: Step) -> Rejections:
    """What is kept of A after these: `reject`, when, until; `readmit`, when."""
    kept: Rejections = ()
    for seq, (what, at, until) in enumerate(steps, 1):
        kept = rejected(kept, [A], at, seq, until) if what == "reject" else readmitted(kept, [A], at, seq)
    return kept


@each_row(("at", "refused"), [(9, True), (10, True), (11, False)])
def test_a_readmission_counts_where_it_is_newer_and_a_tie_goes_to_the_rejection(at: int, refused: bool) -> None:
    assert (refusing(after(("reject", 10, None), ("readmit", at, None)), [A], 99) is not None) == refused


@each_row(
    "steps",
    [
        (("reject", 10, None), ("readmit", 20, None)),
        (("reject", 10, None), ("readmit", 20, None), ("reject", 30, 40)),
        (("reject", 10, 15), ("reject", 10, None), ("readmit", 10, None)),
        (("readmit", 5, None), ("reject", 4, None), ("reject", 6, 7), ("readmit", 6, None)),
    ],
)
def test_the_order_of_arrival_decides_nothing(steps: tuple[Step, ...]) -> None:
    states = {
        (one.at, one.until, one.readmitted_at, one.stands) for order in permutations(steps) for one in after(*order)
    }
    assert len(states) == 1


def test_what_does_not_fit_is_refused_and_nothing_is_let_go() -> None:
    kept = rejected((), [number.to_bytes(16, "big") for number in range(MOST_VALUES)], 1, 1, None)
    with pytest.raises(ValueError, match="1,000 values are rejected or readmitted already, the most of one owner"):
        rejected(kept, [A], 2, 2, None)
    with pytest.raises(ValueError, match="the most of one owner"):
        readmitted(kept, [A], 2, 2)
    again = rejected(kept, [kept[0].digest], 3, 3, None)
    assert (len(again), again[0].at) == (MOST_VALUES, 3)
