"""How sure we are of a topic: the worked score, what is evidence and what is not, words in the topic's language."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from engramlog_server.projections.reports.health import EVIDENCE, LEAST_RELEVANCE, assess
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    deleted,
    negated,
    purged,
)
from tests.given.views import viewed
from tests.rows import each_row


def told(*events: Told, topic: str = "coffee", day: float = 0) -> dict[str, Any]:
    """The assessment of a topic on a day."""
    return assess(viewed(*events), topic, at(day))


def said(number: int, confidence: float = 0.6, day: float = 0, content: str = "I drink coffee", **data: Any) -> Told:
    """The n-th memory about coffee."""
    return created(content, f"m{number}", day, confidence=confidence, **data)


def several(count: int, confidence: float = 0.6, day: float = 0, **data: Any) -> list[Told]:
    return [said(number, confidence, day, **data) for number in range(count)]


# --- the score


def test_the_score_as_worked_by_hand() -> None:
    answer = told(said(1, 0.9), accessed("m1", day=2, count=9), said(2, 0.6, day=30), day=30)
    settled = 0.5 * log(10) / log(100) + 0.2 * 30 / 365 + 0.3 * 0.5  # nine accesses, 30 days old and as long unchanged
    assert settled == pytest.approx(0.416438, abs=1e-6)
    assert answer["stats"] == {
        "memories": 2,
        "mean_confidence": 0.75,
        "coverage": 0.2,
        "mean_recency": 0.75,
        "mean_consolidation": round((settled + 0.3) / 2, 6),
    }
    assert answer["score"] == pytest.approx(0.35 * 0.75 + 0.25 * 0.2 + 0.2 * 0.75 + 0.2 * 0.358219, abs=1e-6)
    assert answer["score"] == pytest.approx(0.534144, abs=1e-6)
    assert (answer["confidence"], answer["topic"]) == ("medium", "coffee")


@each_row(
    ("count", "confidence", "day", "score", "level"),
    [
        (10, 1.0, 0, 0.86, "high"), (20, 1.0, 0, 0.86, "high"), (9, 0.9, 0, 0.8, "high"), (9, 0.89, 0, 0.7965, "medium"),
        (4, 0.4, 0, 0.5, "medium"), (4, 0.39, 0, 0.4965, "low"), (1, 0.0, 0, 0.285, "low"), (5, 0.1, 3_650, 0.2, "low"),
        (5, 0.09, 3_650, 0.1965, "very_low"), (1, 0.0, 3_650, 0.065, "very_low"),
    ],
)  # fmt: skip
def test_levels_begin_at_eight_five_and_two_tenths(count, confidence, day, score, level) -> None:
    answer = told(*several(count, confidence), day=day)
    assert (answer["score"], answer["confidence"]) == (score, level)


# --- which memories are evidence


def test_a_memory_that_holds_too_little_of_the_topic_is_no_evidence() -> None:
    events = [
        created("the coffee machine in the kitchen broke", "all"),
        created("a coffee machine", "two"),
        created("a machine", "one"),
        created("machine, kitchen, coffee: 咖啡", "three"),
    ]
    answer = told(*events, topic="coffee machine kitchen broke")
    relevance = {one["id"]: one["relevance"] for one in answer["evidence"]}
    assert relevance == {"all": 1.0, "three": 0.75, "two": 0.5}
    assert min(relevance.values()) >= LEAST_RELEVANCE == 0.3


def test_a_rare_word_is_relevant_by_itself() -> None:
    beside = [created(f"note {number} on one of five things", f"o{number}") for number in range(400)]
    answer = told(*beside, created("zyzzyva", "rare"), topic="which of all these many odd things is a zyzzyva")
    assert "rare" in {one["id"] for one in answer["evidence"]}


GONE = {
    "deleted": [deleted("m1", 1)],
    "purged": [deleted("m1", 1), purged("m1", 31)],
    "superseded": [negated("m1", 1, resolution="latest_wins")],
    "a kept version": [negated("m1", 1, resolution="version_keep")],
}


@each_row("gone", GONE.values(), ids=GONE)
def test_what_no_longer_holds_is_no_evidence(gone) -> None:
    assert told(said(1), *gone, day=40)["confidence"] == "none"


def test_a_secret_is_no_evidence_and_is_not_told() -> None:
    answer = told(said(1, content="the PIN of my coffee card is 4821"), said(2, sensitivity=3), topic="coffee PIN 4821")
    assert (answer["confidence"], answer["evidence"]) == ("none", [])


# --- what is told


def test_evidence_is_the_five_most_confident_then_the_more_relevant_then_the_newer() -> None:
    events = [
        said(1, 0.5),
        said(2, 0.9, content="coffee"),
        said(3, 0.9, content="coffee at noon"),
        said(4, 0.9, content="coffee at noon"),
        said(5, 1.0, content="noon"),
        said(6, 0.4, content="coffee at noon"),
        said(7, 0.6),
    ]
    answer = told(*events, topic="coffee, noon")
    assert [one["id"] for one in answer["evidence"]] == ["m5", "m4", "m3", "m2", "m7"]
    assert EVIDENCE == 5


def test_without_a_match_nothing_is_known() -> None:
    for answer in (told(), told(said(1), topic="the weather"), told(said(1), topic="？！")):
        assert (answer["confidence"], answer["score"], answer["evidence"]) == ("none", 0.0, [])
        assert set(answer["stats"].values()) == {0}
        assert answer["suggestions"]
