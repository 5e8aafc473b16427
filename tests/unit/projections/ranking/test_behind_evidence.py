"""A pattern stands below the best of its evidence, and takes no other's place."""

from __future__ import annotations

import pytest

from engramlog_server.projections.memory.kind import PATTERN_PREFIX
from tests.given.events import Told, created
from tests.given.views import found, viewed
from tests.rows import each_row

ID = f"{PATTERN_PREFIX}x.y"


def pattern(text: str, *evidence: str) -> Told:
    return created(text, ID, 2, "system", kind="pattern", source="system", summarises=evidence)


TALK = (
    created("Ada went to the pottery class on Monday with Bob, and it rained all day long", "a", 0),
    created("Ada went to the pottery fair, where somebody sold old clocks and lamps", "b", 1),
    created("Ada has a cat", "c", 1),
)
PATTERN = pattern("pottery pottery pottery", "a", "b")


@each_row("ranking", ["conversation", "text", "overlap", "associative", "published"])
def test_under_every_ranking_the_best_of_its_evidence_stands_above_it(ranking: str) -> None:
    results = found(viewed(*TALK, PATTERN), "pottery", 3, ranking=ranking)
    ids = list(results)
    assert set(ids) >= {"a", "b", ID}
    assert ids[0] in ("a", "b")


def test_its_terms_tell_by_how_much_and_add_up_to_its_score() -> None:
    results = found(viewed(*TALK, PATTERN), "pottery", 3, ranking="text")
    parts = results[ID]["explain"]["score"]
    assert parts["pattern"] < 0
    assert sum(parts.values()) == pytest.approx(results[ID]["score"], abs=2e-6)
    assert results[ID]["score"] < max(results["a"]["score"], results["b"]["score"])


def test_where_none_of_its_evidence_matches_it_stands_as_any_memory() -> None:
    told = viewed(*TALK, pattern("Ada is fond of clay", "a", "b"))
    assert list(found(told, "clay", 3)) == [ID]
