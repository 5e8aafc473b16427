"""What is told of an event beside its body, by one marker for every log."""

from __future__ import annotations

from pathlib import Path

import pytest

from events.envelope import decode
from events.marks import Marks
from projections.marks import MARKER, mark
from projections.sensitivity_level import LEVEL_RULES, level_of
from projections.statements import STATEMENT_RULES, statements_of

GOLDEN = sorted((Path(__file__).resolve().parents[2] / "golden" / "events").glob("*.json"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_event_is_marked_with_its_level_and_what_it_states(path: Path) -> None:
    event = decode(path.stem, path.read_bytes())
    assert mark(event) == Marks(level_of(event), statements_of(event))


def test_the_marker_names_the_versions_of_both_rules_and_each_fits_its_field() -> None:
    assert (LEVEL_RULES, STATEMENT_RULES, mark) == MARKER
    assert LEVEL_RULES >= 1
    assert 1 <= STATEMENT_RULES <= 255
