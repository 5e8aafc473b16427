"""A set over time: every law, at import and later, normal mode beside review mode."""

from __future__ import annotations

from pathlib import Path

from api.evaluation.over_time import LATER_DAYS, evaluate_over_time
from api.evaluation.search import evaluate
from projections.laws import LAWS
from projections.ranking.search_request import SearchRequest
from tests.unit.api.evaluation.test_evaluating import written


def test_every_law_is_measured_at_every_instant_in_both_modes(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    told = evaluate_over_time(written(tmp_path), SearchRequest(), lambda done, total: steps.append((done, total)))
    measured = {(one["profile"], one["later_days"], one["mode"]) for one in told["over_time"]}
    assert measured == {(law, days, mode) for law in LAWS for days in LATER_DAYS for mode in ("normal", "review")}
    assert len(told["over_time"]) == len(measured)
    assert (told["questions"], told["without_evidence"], told["memories"]) == (2, 1, 5)
    assert steps[0] == (1, 64)
    assert steps[-1] == (64, 64)


def test_each_figure_is_that_of_an_evaluation_of_its_own(tmp_path: Path) -> None:
    folder = written(tmp_path)
    for one in evaluate_over_time(folder, SearchRequest())["over_time"]:
        days, law = float(one["later_days"]), one["profile"]
        alone = evaluate(folder, SearchRequest(), one["mode"], later_days=days, profile=law)
        assert one["found"] == alone["all"], one
