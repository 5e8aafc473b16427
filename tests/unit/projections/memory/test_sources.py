"""What is kept of a source: the newest setting aside and bringing back, whatever order they come in; bounded, and never let go."""

from __future__ import annotations

import pytest

from engramlog_server.projections.memory.record import (
    MOST_SOURCES,
    Asides,
    Author,
    NamedSource,
    brought_back,
    set_aside,
)
from tests.rows import each_row

SESSION = NamedSource(session="s1")
Step = tuple[str, int]


def after(*steps: Step) -> Asides:
    """What is kept of the session after these: `aside` or `back`, and when."""
    kept: Asides = ()
    for seq, (what, at) in enumerate(steps, 1):
        kept = (set_aside if what == "aside" else brought_back)(kept, SESSION, at, seq)
    return kept


@each_row(("at", "stands"), [(9, True), (10, True), (11, False)])
def test_bringing_back_counts_where_it_is_newer_and_a_tie_goes_to_the_setting_aside(at: int, stands: bool) -> None:
    assert [one.stands for one in after(("aside", 10), ("back", at))] == [stands]


@each_row(
    ("source", "wrote"),
    [
        (NamedSource(session="s1"), True), (NamedSource(session="s2"), False), (NamedSource(principal="local"), True),
        (NamedSource(principal="assistant"), False), (NamedSource(actor="assistant"), True),
        (NamedSource(session="s1", principal="local", actor="assistant"), True),
        (NamedSource(session="s1", actor="user"), False),
    ],
)  # fmt: skip
def test_a_source_wrote_what_agrees_with_all_that_it_names(source: NamedSource, wrote: bool) -> None:
    assert source.wrote(Author("assistant local", "s1")) == wrote


def test_one_source_more_than_fits_is_refused_and_those_kept_may_change() -> None:
    kept: Asides = ()
    for number in range(MOST_SOURCES):
        kept = set_aside(kept, NamedSource(session=f"s{number}"), 1, number)
    with pytest.raises(ValueError, match="256 sources"):
        set_aside(kept, NamedSource(session="another"), 1, 999)
    assert not brought_back(kept, NamedSource(session="s0"), 2, 999)[0].stands
