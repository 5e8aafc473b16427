"""The house stays one to live in: no room is crowded, and what was said once is not said twice again."""

from __future__ import annotations

import pytest

from tests.architecture.house import Figure, figures, folders


def test_no_folder_of_the_product_or_its_tests_holds_more_than_25_files() -> None:
    assert {folder: count for folder, count in folders().items() if count > 25} == {}


@pytest.mark.parametrize("figure", figures(), ids=lambda figure: figure.name)
def test_no_figure_of_the_house_rises(figure: Figure) -> None:
    """Where one falls, `held` follows it down."""
    assert figure.now <= figure.held


def test_every_figure_counts_something() -> None:
    """A name that nothing has any more would count nothing, and hold nothing."""
    assert [figure.name for figure in figures() if not figure.now] == []
