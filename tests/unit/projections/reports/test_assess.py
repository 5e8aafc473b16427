"""How sure we are of a topic: the worked score, what is evidence and what is not, words in the topic's language."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from projections.reports.assess import EVIDENCE, LEAST_RELEVANCE, MOST_HITS, assess
from tests.given.events import (
    Told,
    accessed,
    at,
    compressed,
    created,
    deleted,
    merged,
    negated,
    parameters,
    purged,
    restored,
    unmerged,
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


def test_without_a_match_nothing_is_known() -> None:
    for answer in (told(), told(said(1), topic="the weather"), told(said(1), topic="？！")):
        assert (answer["confidence"], answer["score"], answer["evidence"]) == ("none", 0.0, [])
        assert set(answer["stats"].values()) == {0}
        assert answer["suggestions"]


def test_recency_halves_with_the_half_life_of_the_kind() -> None:
    shorter = parameters(half_life_by_kind="preference=10")
    assert told(said(1), day=30)["stats"]["mean_recency"] == 0.5
    assert told(said(1), shorter, day=30)["stats"]["mean_recency"] == 0.125


def test_before_it_was_said_it_counts_as_just_said() -> None:
    assert told(said(1, day=5), day=1)["score"] == told(said(1), day=0)["score"]


# --- which memories are evidence


@each_row("others", [0, 10, 400])
@each_row("count", [1, 10, 49])
def test_the_more_is_known_of_a_topic_the_more_counts_however_much_else_is_known(count, others) -> None:
    beside = [created(f"note {number} on the weather", f"o{number}") for number in range(others)]
    assert told(*several(count), *beside)["stats"]["memories"] == count


def test_the_fifty_best_hits_count() -> None:
    events = [*(said(number, 1.0, content="coffee") for number in range(100, 110)), *several(60, 0.2)]
    stats = told(*events)["stats"]
    assert (MOST_HITS, stats["memories"]) == (50, 50)
    assert stats["mean_confidence"] == pytest.approx((10 * 1.0 + 40 * 0.2) / 50)  # short texts are the better hits


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


def test_of_merged_memories_their_merge_alone_is_evidence_and_after_an_unmerge_the_sources_are() -> None:
    joined = [said(1), said(2), merged("m1", "m2", into="both", summary="Coffee, every day", day=1)]
    assert [one["id"] for one in told(*joined, day=1)["evidence"]] == ["both"]
    assert told(*joined, unmerged("both", 2), day=2)["stats"]["memories"] == 2
    assert told(*joined, deleted("both", 2), day=2)["confidence"] == "none"


@each_row(
    "events",
    [
        [negated("m1", 1, resolution="weight_balance")],
        [compressed("archive", "m1", 1)],
        [deleted("m1", 1), restored("m1", 2)],
    ],
    ids=["fading", "archived", "restored"],
)
def test_what_fades_or_is_compressed_or_came_back_still_stands(events) -> None:
    assert told(said(1), *events, day=400)["stats"]["memories"] == 1


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


def test_a_piece_of_evidence_tells_its_beginning_and_its_figures() -> None:
    (one,) = told(said(1, 0.9, content="coffee " * 40), accessed("m1", day=1, count=3), day=2)["evidence"]
    assert one == {
        "id": "m1",
        "snippet": ("coffee " * 40)[:100],
        "confidence": 0.9,
        "relevance": 1.0,
        "access_count": 3,
        "updated_at": "2024-01-01T08:00:00Z",
    }


def test_the_message_names_the_topic_and_how_many_memories_there_are() -> None:
    assert told(*several(10, 1.0))["message"] == "I am sure about “coffee”: 10 memories speak of it"
    assert told(said(1))["message"] == "My memory of “coffee” is vague (1 memory)"
    assert told(topic="{count} [bold]")["message"] == "I remember nothing about “{count} [bold]”"


@each_row(
    ("events", "level", "message"),
    [
        (10, "high", "关于“咖啡”我很有把握：有 10 条相关记忆"),
        (3, "medium", "关于“咖啡”我有所了解，但不完全确定（3 条记忆）"),
        (0, "none", "关于“咖啡”我没有任何记忆"),
    ],
)
def test_a_chinese_topic_is_answered_in_chinese(events, level, message) -> None:
    answer = told(*several(events, 1.0, content="我每天早上喝咖啡"), topic="咖啡")
    assert (answer["confidence"], answer["message"]) == (level, message)
    assert answer["suggestions"]
    assert all("\u4e00" <= suggestion[0] <= "\u9fff" for suggestion in answer["suggestions"])


@each_row(("count", "confidence", "day"), [(10, 1.0, 0), (4, 0.4, 0), (1, 0.0, 0), (1, 0.0, 3_650), (0, 0, 0)])
def test_each_level_gives_advice_in_both_languages(count, confidence, day) -> None:
    english = told(*several(count, confidence), day=day)
    chinese = told(*several(count, confidence, content="喝咖啡"), topic="咖啡", day=day)
    assert english["confidence"] == chinese["confidence"]
    assert english["score"] == chinese["score"]
    assert len(english["suggestions"]) == len(chinese["suggestions"]) > 0
    assert all(suggestion.isascii() for suggestion in english["suggestions"])
