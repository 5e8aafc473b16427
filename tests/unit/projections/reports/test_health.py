"""Health: Ebbinghaus strength whatever the profile, by colour, and what the owner's law does by itself."""

from __future__ import annotations

from typing import Any

from engramlog_server.projections.reports.health import colour, fading, health, held_now
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    Told,
    at,
    created,
    deleted,
    folded,
    merged,
    negated,
    profile,
    purged,
    reinforced,
    restored,
    unmerged,
)
from tests.rows import each_row

NOW = 10.0
MOST = 1_000


def view_of(*events: Told) -> OwnerView:
    return OwnerView.of_history("ada", folded(*events))


def said(hours_ago: float, of: str, **data: Any) -> Told:
    """A memory made by an assistant so many hours before now: its stability is 24 h."""
    return created("tea", of, NOW - hours_ago / 24, actor="assistant", **data)


def ids(answer: dict[str, Any]) -> list[str]:
    return [one["id"] for one in answer["memories"]]


CURVE = (said(72, "5"), said(0, "100"), said(24, "37"), said(48, "14"), said(12, "61"))
"""The published curve: 0, 12, 24, 48 and 72 hours at S = 24."""


def test_live_memories_are_told_strongest_first_with_the_published_strengths() -> None:
    answer = health(view_of(*CURVE), at(NOW), MOST, 0)
    assert ids(answer) == ["100", "61", "37", "14", "5"]
    assert [one["strength"] for one in answer["memories"]] == [100, 61, 37, 14, 5]
    assert answer["colours"] == {"green": 1, "yellow": 2, "red": 2}
    assert (answer["total"], answer["mean_strength"], answer["profile"]) == (5, 43.4, "weighted")


def test_what_is_red_is_fading_weakest_first() -> None:
    answer = fading(view_of(*CURVE), at(NOW), MOST, 0)
    assert ids(answer) == ["5", "14"]
    assert (answer["total"], answer["live"], answer["under"]) == (2, 5, 30)


@each_row(
    ("strength", "expected"),
    [(100, "green"), (70, "green"), (69, "yellow"), (30, "yellow"), (29, "red"), (0, "red")],
)
def test_colours_begin_at_70_and_30(strength: int, expected: str) -> None:
    assert colour(strength) == expected


def test_only_what_lives_has_a_health() -> None:
    view = view_of(
        *(said(1, one) for one in ("live", "deleted", "purged", "a", "b", "c", "d", "back")),
        deleted("deleted", NOW),
        deleted("purged", NOW),
        purged("purged", NOW, due=NOW),
        merged("a", "b", into="ab", day=NOW),
        merged("c", "d", into="retired", day=NOW),
        unmerged("retired", NOW),
        deleted("back", NOW),
        restored("back", NOW),
        said(1, "negated"),
        negated("negated", NOW, resolution="latest_wins"),
    )
    assert set(ids(health(view, at(NOW), MOST, 0))) == {"live", "ab", "c", "d", "back", "negated"}


# --- what the owner's law does by itself


def test_one_memory_is_told_under_each_law() -> None:
    view = view_of(profile("ebbinghaus"), said(24, "m"), reinforced("m", NOW - 0.5, "used"))
    told = held_now(view, view.columns.memories[0], at(NOW))
    assert (told["strength"], told["stability_hours"], told["importance"]) == (66, 28.8, 1.3)
    assert (told["law"], told["weight"], told["scheduler"]) == ("ebbinghaus", 0.66, "accesses")


def test_a_secret_is_told_without_its_text() -> None:
    view = view_of(said(1, "pin", sensitivity=3))
    assert "withheld" in health(view, at(NOW), MOST, 0)["memories"][0]["memory"]
