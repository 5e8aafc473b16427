"""Merges that a model confirms: which statements it is shown together, and what its word never merges."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.catalogue import MemoryMerged
from engramlog_server.projections.lifecycle.merging import (
    MOST_QUESTIONS,
    MOST_SHOWN,
    alike_statements,
    merges_by_model,
)
from engramlog_server.projections.models.texts import Claim
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created, deleted
from tests.given.views import viewed
from tests.rows import each_row
from tests.unit.projections.lifecycle.test_suggesting import vectors_of

COFFEE = ("I drink coffee every morning", "Coffee is part of my morning routine", "First thing in the morning: coffee")


def view_of(texts: tuple[str, ...], near: dict[str, Any], *events: Told, **fields: Any) -> OwnerView:
    told = (created(text, f"m{n}", n, category="fact", **fields) for n, text in enumerate(texts))
    view = viewed(*told, *events)
    view.vectors_today = vectors_of(view, near)
    return view


def shown(view: OwnerView) -> list[list[str]]:
    return [[one.id for one in group] for group in alike_statements(view, at(30))]


def decided(view: OwnerView, *ids: str, **texts: str) -> list[Any]:
    said = {one.id: one.content for one in view.columns} | texts
    return merges_by_model(view, [Claim("as the model says", ids)], said, "scripted-1")


def test_what_is_near_is_asked_about_together_and_what_is_not_is_not() -> None:
    near = {COFFEE[0]: (1.0, 0.0), COFFEE[1]: (0.8, 0.6), COFFEE[2]: (0.7, 0.72)}
    assert shown(view_of((*COFFEE, "I have a cat"), near)) == [["m0", "m1", "m2"]]  # the third by the second
    assert shown(view_of(COFFEE, near, deleted("m1", 5))) == []
    assert shown(view_of(COFFEE, {})) == []
    without = view_of(COFFEE, near)
    without.vectors_today = None
    assert shown(without) == []


def test_no_question_and_no_run_is_without_end() -> None:
    many = tuple(f"I like the colour {'x' * n}" for n in range(1, 2 * MOST_SHOWN + 2))
    assert [len(one) for one in shown(view_of(many, dict.fromkeys(many, (1.0, 0.0))))] == [MOST_SHOWN, MOST_SHOWN]
    pairs = tuple(f"thing {'y' * n}" for n in range(1, 2 * MOST_QUESTIONS + 5))
    near = {text: tuple(float(at_place == n // 2) for at_place in range(20)) for n, text in enumerate(pairs)}
    assert len(shown(view_of(pairs, near))) == MOST_QUESTIONS


def test_a_confirmed_merge_has_the_models_words_and_name_and_goes_no_further_than_its_word() -> None:
    [one] = decided(view_of(COFFEE, {}), "m2", "m0", "m1")
    assert isinstance(one.data, MemoryMerged)
    assert (one.data.sources, one.data.summary) == (("m0", "m1", "m2"), "as the model says")
    assert (one.actor, one.model, one.rests_on, one.job) == ("judge", "scripted-1", None, "merge")


@each_row(
    ("a", "b"),
    [
        ("我更喜欢在家办公", "老板更喜欢我在家办公"),
        ("I like coffee", "I don't like coffee"), ("I have 2 cats", "I have 3 cats"),
        ("I run on Sundays", "I run on Mondays"), ("I met Anna at work", "I met Bella at work"),
        ("I drink tea", "My mum drinks tea"),
        ("I have a dog", "I had a dog"),
        ("我喜欢咖啡", "我不喜欢咖啡"), ("我有两只猫", "我有三只猫"),
    ],
)  # fmt: skip
def test_a_model_merges_nothing_that_differs_in_a_number_a_name_a_person_a_time_or_a_denial(a, b) -> None:
    view = view_of((a, b, COFFEE[0], COFFEE[1]), {})
    assert decided(view, "m0", "m1") == []
    assert len(decided(view, "m2", "m3")) == 1


def test_what_was_revised_deleted_or_is_of_another_frame_is_not_merged() -> None:
    view = view_of(COFFEE, {}, deleted("m2", 5))
    assert [one.ids for one in decided(view, "m0", "m1", "m2")] == [("m0", "m1")]
    assert decided(view, "m0", "m1", m1="I drank coffee") == []
    assert decided(view, "m0", "gone") == []
    other = viewed(created(COFFEE[0], "a", category="fact"), created(COFFEE[1], "b", category="fact", speaker="Bob"))
    assert decided(other, "a", "b") == []
