"""Health: Ebbinghaus strength whatever the profile, by colour, and what the owner's law does by itself."""

from __future__ import annotations

from typing import Any

from projections.reports.health import colour, fading, health, held_now
from projections.views.view import OwnerView
from tests.given.events import (
    Told,
    at,
    created,
    deleted,
    folded,
    merged,
    moment,
    negated,
    parameters,
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


@each_row("name", ["weighted", "ebbinghaus", "consolidating", "tiered"])
def test_the_strengths_are_the_same_under_every_profile(name: str) -> None:
    told = health(view_of(*CURVE, profile(name)), at(NOW), MOST, 0)
    assert [one["strength"] for one in told["memories"]] == [100, 61, 37, 14, 5]
    assert told["profile"] == name


def test_pages_follow_one_another_and_count_everything() -> None:
    view = view_of(*CURVE)
    first, second = health(view, at(NOW), 3, 0), health(view, at(NOW), 3, 3)
    assert ids(first) + ids(second) == ["100", "61", "37", "14", "5"]
    assert first["total"] == second["total"] == 5
    assert (first["colours"], second["offset"]) == (second["colours"], 3)
    assert ids(health(view, at(NOW), 3, 9)) == []
    assert ids(fading(view, at(NOW), 1, 1)) == ["14"]


def test_of_equal_strengths_the_newest_reinforcement_is_the_strongest() -> None:
    view = view_of(said(0.2, "older"), said(0.1, "newer"), said(0.2, "older-too"), said(70, "a"), said(70.01, "b"))
    assert ids(health(view, at(NOW), MOST, 0)) == ["newer", "older-too", "older", "a", "b"]
    assert ids(fading(view, at(NOW), MOST, 0)) == ["b", "a"]


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


def test_an_owner_without_memories_has_none() -> None:
    answer = health(view_of(), at(NOW), MOST, 0)
    assert (answer["total"], answer["mean_strength"], answer["memories"]) == (0, None, [])
    assert fading(view_of(), at(NOW), MOST, 0)["total"] == 0


def test_a_secret_is_told_without_its_text() -> None:
    view = view_of(said(1, "pin", sensitivity=3))
    assert "withheld" in health(view, at(NOW), MOST, 0)["memories"][0]["memory"]


# --- what the owner's law does by itself


def ends_of(view: OwnerView) -> dict[str, tuple[float | None, float | None]]:
    """Memory -> hours after now at which it is archived and deleted."""

    def hours(text: str | None) -> float | None:
        from datetime import datetime

        return None if text is None else round((datetime.fromisoformat(text) - moment(NOW)).total_seconds() / 3600, 1)

    return {
        one["id"]: (hours(one["archives_at"]), hours(one["deletes_at"]))
        for one in health(view, at(NOW), MOST, 0)["memories"]
    }


def test_under_ebbinghaus_the_ends_are_the_published_56_and_74_hours() -> None:
    assert ends_of(view_of(profile("ebbinghaus"), said(0, "m"))) == {"m": (56.5, 74.4)}


@each_row("name", ["weighted", "consolidating"])
def test_a_law_that_ends_nothing_tells_no_end(name: str) -> None:
    assert ends_of(view_of(profile(name), said(0, "m"))) == {"m": (None, None)}


def test_under_tiered_an_episode_is_gone_a_week_after_its_creation() -> None:
    view = view_of(profile("tiered"), said(24, "episode", tier="episode"), said(24, "fact", tier="fact"))
    assert ends_of(view) == {"episode": (None, 144.0), "fact": (None, None)}


def test_identity_core_and_sensitive_memories_are_spared() -> None:
    view = view_of(
        profile("ebbinghaus"),
        said(0, "name", category="identity"),
        said(0, "core", tier="core"),
        said(0, "address", sensitivity=2),
    )
    assert set(ends_of(view).values()) == {(None, None)}


def test_what_was_restored_after_it_had_fallen_due_is_not_deleted_again() -> None:
    view = view_of(profile("ebbinghaus"), said(100, "m"), deleted("m", NOW - 1), restored("m", NOW - 0.5))
    assert ends_of(view) == {"m": (-43.5, None)}


def test_a_limit_that_no_strength_passes_never_ends() -> None:
    view = view_of(profile("ebbinghaus"), parameters(archive_strength=0.0, delete_strength=0.0), said(0, "m"))
    assert ends_of(view) == {"m": (None, None)}


def test_one_memory_is_told_under_each_law() -> None:
    view = view_of(profile("ebbinghaus"), said(24, "m"), reinforced("m", NOW - 0.5, "used"))
    told = held_now(view, view.columns.memories[0], at(NOW))
    assert (told["strength"], told["stability_hours"], told["importance"]) == (66, 28.8, 1.3)
    assert (told["law"], told["weight"], told["scheduler"]) == ("ebbinghaus", 0.66, "accesses")
