"""The list of mutants against the code that it changes."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.mutants import EQUAL, MUTANTS, Mutant
from tests.places import ROOT


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.breaks)
def test_what_a_mutant_changes_stands_once_in_its_file(mutant: Mutant) -> None:
    whole = (ROOT / mutant.file).read_text("utf-8")
    assert whole.count(mutant.old) == 1
    changed = whole.replace(mutant.old, mutant.new)
    ast.parse(changed)
    assert changed != whole
    assert all((ROOT / "tests" / path).exists() for path in mutant.near)


def test_each_breaks_something_else() -> None:
    assert len({mutant.breaks for mutant in MUTANTS}) == len(MUTANTS)
    assert EQUAL.keys() <= {mutant.breaks for mutant in MUTANTS}
