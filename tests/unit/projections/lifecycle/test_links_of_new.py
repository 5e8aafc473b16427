"""Links for what is new: those that the daily job would decide, under the same ids, so that it then finds nothing to do."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.projections.lifecycle import Decision
from engramlog_server.projections.lifecycle.joining import LOOKED_AT, links, links_of
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created, deleted
from tests.given.views import viewed
from tests.rows import each_row

TEXTS = (
    "I drink strong black coffee in the morning", "In the morning I like strong black tea",
    "Strong black tea is what I drink at night", "The car needs new tyres", "The car needs new brakes and tyres in winter",
    "In winter the car does not start in the morning", "我早上喝浓的黑咖啡", "早上我喜欢喝浓的红茶",
    "晚上我喜欢喝浓的红茶，不喝咖啡", "汽车需要换新的轮胎", "冬天汽车需要换新的轮胎和刹车",
    "汽车 needs new tyres in winter",
)  # fmt: skip
Linked = set[tuple[str, tuple[str, ...], float]]


def told(decisions: Iterable[Decision]) -> Linked:
    """Id of the event, memories, weight."""
    return {(one.event_id("ada"), one.ids, one.data.weight) for one in decisions}  # type: ignore[union-attr]


def talk(texts: Iterable[str]) -> list[Told]:
    return [created(text, f"m{number}", day=number / 100) for number, text in enumerate(texts)]


def each(view: OwnerView) -> Linked:
    return set[tuple[str, tuple[str, ...], float]]().union(
        *(told(links_of(view, [one.id], at(1))) for one in view.columns.memories)
    )


def test_one_by_one_or_together_they_are_those_of_the_daily_job() -> None:
    view = viewed(*talk(TEXTS))
    daily = told(links(view, at(1)))
    assert len(daily) > 4
    assert each(view) == daily
    assert told(links_of(view, [one.id for one in view.columns.memories], at(1))) == daily


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from(TEXTS[:6] + TEXTS[6:9]), min_size=1, max_size=2).map(". ".join), max_size=14))
def test_of_any_memories_they_are_those_of_the_daily_job(texts: list[str]) -> None:
    view = viewed(*talk(texts))
    assert each(view) == told(links(view, at(1)))


@each_row("hiding", [[deleted("m1")], []], ids=["deleted", "secret"])
def test_what_is_gone_or_secret_is_linked_with_nothing(hiding: list[Told]) -> None:
    first, second, *_ = talk(TEXTS)
    assert links_of(viewed(first, second), ["m0"], at(1))
    hidden = second if hiding else created(TEXTS[1], "m1", sensitivity=SECRET)
    view = viewed(first, hidden, *hiding)
    assert links_of(view, ["m0", "m1"], at(1)) == []


def test_it_looks_at_a_bounded_number_of_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    import engramlog_server.projections.lifecycle.joining as joining

    view = viewed(*talk(f"coffee number{n} in the morning of day{n}" for n in range(400)))
    seen: list[str] = []
    bag_of = joining.bag_of
    monkeypatch.setattr(joining, "bag_of", lambda text: seen.append(text) or bag_of(text))
    links_of(view, ["m7"], at(1))
    assert LOOKED_AT == 100
    assert 0 < len(seen) <= (view.parameters.edges_of_a_kind + 1) * LOOKED_AT + 1
