"""What is due for review: the same as memory by memory, in the published order, with few texts read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.fold.owner import OwnerState
from engramlog_server.projections.laws.law import CONSOLIDATING
from engramlog_server.projections.laws.spaced import graded as schedule_after
from engramlog_server.projections.laws.spaced import review_due_at, review_importance
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import DAY, Memory
from engramlog_server.projections.memory.tags import Family, context_of, entries
from engramlog_server.projections.reports.health import (
    DueReviews,
    due_instants,
    due_list,
    next_reviews,
    reviews_due,
)
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, accessed, at, created, folded, graded, moment, parameters
from tests.rows import each_row

NOW = 40.0
TEXTS = (
    "we met at noon", "a wonderful concert", "the train was late, terrible", "urgent: call the bank", "urgently wonderful",
    "太好了，赶紧告诉大家", "我很难过", "今天去了超市",
)  # fmt: skip
FEELINGS = (None, None, None, 0.0, 1.0, -0.9)

memories = st.builds(
    lambda number, text, day, confidence, emotion, accesses, seen, grade: record(
        f"m{number}",
        content=text,
        created_at=at(day),
        confidence=confidence,
        emotion=emotion,
        access_count=accesses,
        last_accessed_at=at(day + seen) if accesses else None,
        schedule=None if grade is None else schedule_after(None, grade, at(day + seen)),
    ),
    st.integers(0, 30),
    st.sampled_from(TEXTS),
    st.floats(0, 45),
    st.sampled_from((0.0, 0.3, 0.6, 0.8, 1.0)),
    st.sampled_from(FEELINGS),
    st.integers(0, 9),
    st.floats(0, 9),
    st.one_of(st.none(), st.none(), st.integers(0, 5)),
)


def record(memory_id: str, **fields: Any) -> Memory:
    whole = folded(created()).memories["m"]
    if "created_at" in fields:
        fields["updated_at"] = fields["created_at"]
    return msgspec.structs.replace(whole, id=memory_id, **fields)


def view_of(*events: Told) -> OwnerView:
    return OwnerView.of_history("ada", folded(*events))


def ids(view: OwnerView, due: DueReviews) -> list[str]:
    return [view.columns.memories[row].id for row in due.rows]


def one_by_one(held: list[Memory], now: int, least: float, values: Parameters) -> list[tuple[float, str]]:
    """Importance and id of everything due, most pressing first: seed 000's loop, on single memories."""
    found = []
    for row, memory in enumerate(held):
        due = review_due_at(memory, values)
        settled = CONSOLIDATING.read(memory, now, values).factors["consolidation"]
        emotion = context_of(memory, values).emotion
        importance = round(review_importance(memory.confidence, settled, emotion, values), 6)
        if due <= now and importance >= least:
            found.append((-importance * (1 + (now - due) / DAY), due, row, importance, memory.id))
    return [(importance, memory_id) for *_, importance, memory_id in sorted(found)]


@given(
    st.lists(memories, max_size=25, unique_by=lambda m: m.id), st.sampled_from((0.0, 0.3, 0.5, 0.62)), st.integers(1, 8)
)
def test_it_is_what_looking_at_every_memory_gives(held: list[Memory], least: float, limit: int) -> None:
    view = OwnerView("ada", OwnerState(), held)
    expected = one_by_one(held, at(NOW), least, DEFAULTS)
    found = reviews_due(view, at(NOW), least=least, limit=limit)
    assert ids(view, found) == [memory_id for _, memory_id in expected[:limit]]
    assert found.importance.tolist() == pytest.approx([importance for importance, _ in expected[:limit]], abs=2e-6)
    assert found.total - found.left_out == len(expected)


@given(st.lists(memories, max_size=12, unique_by=lambda m: m.id), st.sampled_from(("sm2", "fsrs")), st.floats(0.5, 200))
def test_the_instants_are_those_of_single_memories(held: list[Memory], scheduler: Any, most: float) -> None:
    columns, values = Columns(), replace(DEFAULTS, scheduler=scheduler, review_most_days=most)
    columns.put_all(held)
    assert due_instants(columns, values).tolist() == [review_due_at(memory, values) for memory in held]


URGENT = sorted(
    form for one in entries() if one.families & Family.URGENT for form in (*one.english, *one.chinese, *one.signs)
)


@each_row("words", URGENT)
def test_no_word_of_urgency_is_overlooked(words: str) -> None:
    """At confidence 0.6 only what is urgent and positive at once reaches 0.5, so only that is read."""
    memory = record("m", content=f"{words}，太好了, wonderful", created_at=at(0), confidence=0.6)
    view = OwnerView("ada", OwnerState(), [memory])
    assert len(reviews_due(view, at(NOW)).rows) == (context_of(memory, DEFAULTS).emotion == 0.8)


def test_a_producers_own_word_of_urgency_counts_too() -> None:
    memory = record("m", content="tea", tags=("urgent", "positive"), created_at=at(0), confidence=0.6)
    view = OwnerView("ada", OwnerState(), [memory])
    settled = CONSOLIDATING.read(memory, at(NOW), DEFAULTS).factors["consolidation"]
    expected = 0.4 * 0.6 + 0.3 * settled + 0.3 * 0.8
    assert reviews_due(view, at(NOW)).importance.tolist() == pytest.approx([expected], abs=1e-6)


def test_texts_are_read_only_where_they_may_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def context(view: OwnerView, row: int) -> Any:
        memory = view.columns.memories[row]
        read.append(memory.id)
        return context_of(memory, view.parameters)

    monkeypatch.setattr(OwnerView, "context", context)
    held = [record(f"dull {n}", content="we met at noon", created_at=at(n), confidence=0.6) for n in range(20)]
    held += [record("low", content="wonderful, urgent", created_at=at(1), confidence=0.1)]
    held += [record("told", emotion=1.0, created_at=at(1), confidence=0.9)]
    held += [record("urgent", content="wonderful, urgent", created_at=at(1), confidence=0.6)]
    view = OwnerView("ada", OwnerState(), held)
    assert ids(view, reviews_due(view, at(NOW))) == ["told", "urgent"]
    assert read == ["urgent"]
    read.clear()
    reviews_due(view, at(NOW), least=0.0, limit=2)
    assert 0 < len(read) < 20


def test_one_kind_alone_may_be_asked_for() -> None:
    fields: dict[str, Any] = {"confidence": 1.0, "emotion": 1.0}
    view = view_of(created("tea", "a", kind="lesson", **fields), created("tea", "b", kind="note", **fields))
    assert ids(view, reviews_due(view, at(NOW), kind="lesson")) == ["a"]
    assert reviews_due(view, at(NOW), kind="recipe").total == 0


def test_accesses_put_a_review_off_and_a_grade_decides_from_then_on() -> None:
    fields: dict[str, Any] = {"confidence": 1.0, "emotion": 1.0}
    told = (created("tea", **fields), accessed("m", day=1, count=3))
    assert due_list(view_of(*told), at(NOW))["memories"][0]["interval_days"] == 8.0
    sm2 = due_list(view_of(*told, graded("m", 9)), at(NOW))["memories"][0]
    fsrs = due_list(view_of(*told, graded("m", 9), parameters(scheduler="fsrs")), at(NOW))["memories"][0]
    assert (sm2["scheduler"], sm2["interval_days"], sm2["days_overdue"]) == ("sm2", 1.0, 30.0)
    assert (fsrs["scheduler"], fsrs["interval_days"], fsrs["days_overdue"]) == ("fsrs", 2.0, 29.0)


def test_both_schedulers_tell_their_next_review() -> None:
    told = next_reviews(schedule_after(None, 4, at(0)))
    assert (told["sm2"]["interval_days"], told["sm2"]["ease"], told["sm2"]["repetitions"]) == (1.0, 2.5, 1)
    assert (told["sm2"]["due_at"], told["fsrs"]["due_at"]) == ("2024-01-02T08:00:00Z", "2024-01-03T08:00:00Z")
    assert told["fsrs"]["interval_days"] == 2.0


def test_the_most_pressing_comes_first() -> None:
    """Importance * (1 + days overdue): half as important, three times as long overdue."""
    view = view_of(
        created("tea", "strong", NOW - 2, confidence=1.0, emotion=1.0),
        created("tea", "old", NOW - 10, confidence=0.6, emotion=0.0),
        created("tea", "not-yet", NOW - 0.5, confidence=1.0, emotion=1.0),
    )
    told = due_list(view, at(NOW), least=0.2)
    first, second = told["memories"]
    assert [first["id"], second["id"]] == ["old", "strong"]
    assert (first["days_overdue"], second["days_overdue"]) == (9.0, 1.0)
    assert first["priority"] == pytest.approx(first["importance"] * 10, abs=1e-5)
    assert second["importance"] == pytest.approx(0.4 + 0.3 * second["consolidation"] + 0.3, abs=1e-5)
    assert (told["due"], told["left_out"]) == (2, 0)
    assert told["next_due_at"] == f"{moment(NOW + 0.5):%Y-%m-%dT%H:%M:%SZ}"
