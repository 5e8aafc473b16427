"""A simulated year under every law: what lasts, what fades, what never comes back. Each test says whose claim it is.

The claims are the published designs' own, held against what their formulas give: where a law forgets what it was said to
keep, the test says so, and what it is that keeps it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from engramlog_server.events.envelope import Stored
from engramlog_server.projections.fold.owner import OwnerHistory, fold_owner
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.modes import due_levels, lasting, visibility
from engramlog_server.projections.memory.record import FULL
from engramlog_server.projections.past.life import life_of
from engramlog_server.projections.reports.comparison import curves
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import at, created, folded, mentioned, secret_of, stored
from tests.given.simulation import (
    ASKED_WEEKLY,
    CORRECTED,
    DAYS,
    IDENTITY,
    NEVER_ASKED,
    ONCE,
    OWNER,
    REPEATED,
    SKILLS,
    STORY,
    Year,
    a_year,
)

LATER = 900
"""A day by which nothing of the year is shown any more but by laws that keep it for good."""
EVERY_LAW = pytest.mark.parametrize("law", list(LAWS))


class Known(NamedTuple):
    """A year, its log, and what it folds into."""

    year: Year
    log: list[Stored]
    history: OwnerHistory
    view: OwnerView


@cache
def the_year() -> Known:
    """Told and folded once for all tests."""
    year = a_year()
    log = stored(year.events, OWNER)
    history = fold_owner(log, secret=secret_of(OWNER))
    return Known(year, log, history, OwnerView.of_history(OWNER, history))


@cache
def days_of(memory_id: str) -> dict[str, Any]:
    """A memory's curves to long after the year, a point for every four or five days and for every event."""
    return curves(life_of(the_year().log, memory_id), at(0), at(LATER), 200, 0)


def seen(law: str, number: float, *memory_ids: str) -> tuple[Any, Any]:
    """Weights of these memories as the year left them, on a day after it, and whether normal mode shows them."""
    view = the_year().view
    found = visibility(view.columns, LAWS[law], at(number), view.parameters, "normal")
    rows = [view.columns.row(memory_id) for memory_id in memory_ids]
    return found.weights[rows], found.shown[rows]


def last_shown(law: str, memory_id: str) -> str:
    """The last instant at which normal mode shows it, as the curves have it."""
    found = days_of(memory_id)
    return max(time for time, shown in zip(found["times"], found["laws"][law]["shown"], strict=True) if shown)


# --- identity


def test_who_she_is_stays_in_normal_mode_under_the_weighted_law_though_hardly_ever_said() -> None:
    """Weighted: identity decays slowest, and 0.3 is passed after 600 idle days."""
    assert seen("weighted", DAYS, *IDENTITY)[1].all()


def test_the_core_tier_keeps_her_name_under_the_tiered_law_and_the_fact_tier_does_not() -> None:
    """Tiered: core never falls; a fact that nobody looks at is under 0.2 after 50 days, identity or not."""
    weights, shown = seen("tiered", DAYS, *IDENTITY)
    assert (weights[1], shown.tolist()) == (1.0, [False, True])


@pytest.mark.parametrize("law", ["ebbinghaus", "consolidating"])
def test_what_spares_identity_under_laws_that_forget_it_is_the_lifecycle(law: str) -> None:
    """Neither published formula knows categories: by weight both forget a name that is said three times a year.

    The lifecycle does not: `lasting` keeps it whole, so that nothing archives or deletes it and review mode has it.
    """
    view = the_year().view
    weights, shown = seen(law, DAYS, *IDENTITY)
    assert weights.max() < 0.01
    assert not shown.any()
    everything = LAWS[law].weights(view.columns, at(LATER), view.parameters)
    rows = [view.columns.row(memory_id) for memory_id in IDENTITY]
    levels = due_levels(view.columns, LAWS[law], everything, at(LATER), view.parameters)
    assert lasting(view.columns)[rows].all()
    assert (levels[rows] == FULL).all()
    assert visibility(view.columns, LAWS[law], at(LATER), view.parameters, "review").shown[rows].all()


# --- small talk


@pytest.mark.parametrize(
    ("law", "days"), [("ebbinghaus", 0), ("tiered", 0), ("consolidating", 60), ("weighted", 134)], ids=str
)
def test_of_what_is_said_in_passing_at_least_95_in_100_are_out_of_normal_mode(law: str, days: int) -> None:
    """So many days after the year's last word: 56 hours of unreinforced strength (ebbinghaus) and a week of an episode
    (tiered) lie within the year; a temporary memory takes about two months to lose 70 % (consolidating), and 133 days
    from 0.8 to 0.3 (weighted). Some of it was said again or looked up, which is why it is not all.
    """
    _, shown = seen(law, DAYS + days, *the_year().year.chatter)
    assert (~shown).mean() >= 0.95


@EVERY_LAW
def test_small_talk_fades_under_every_law_before_what_she_likes(law: str) -> None:
    weights, _ = seen(law, DAYS, *the_year().year.chatter)
    liked, _ = seen(law, DAYS, *REPEATED)
    of_january = weights[: len(weights) // 12]
    assert of_january.max() < liked.min()


# --- preferences


@EVERY_LAW
def test_what_she_repeats_every_month_outlives_what_she_said_once(law: str) -> None:
    for again, once in zip(REPEATED, ONCE, strict=True):
        assert last_shown(law, again) > last_shown(law, once)


def test_a_mention_that_nothing_is_looked_up_for_moves_the_weighted_law_alone() -> None:
    """Ebbinghaus, consolidating and tiered count accesses and uses; a bare mention is none."""
    memories = folded(created(of="once"), created(of="again"), mentioned(of="again", day=5)).memories
    view = OwnerView.of_history("ada", folded(created(of="once"), created(of="again"), mentioned(of="again", day=5)))
    found = {
        name: law.read(memories["again"], at(6), view.parameters).unclipped
        > law.read(memories["once"], at(6), view.parameters).unclipped
        for name, law in LAWS.items()
    }
    assert found == {"weighted": True, "ebbinghaus": False, "consolidating": False, "tiered": False}


# --- corrections


@EVERY_LAW
def test_what_she_corrected_never_returns_to_normal_mode(law: str) -> None:
    """All: `latest_wins` of facts is a state, no weight; an assistant's mention and a late access do not undo it."""
    for memory_id in CORRECTED:
        found = days_of(memory_id)
        (negation,) = [one["time"] for one in found["events"] if one["decision"] == "negate"]
        after = [
            shown for time, shown in zip(found["times"], found["laws"][law]["shown"], strict=True) if time >= negation
        ]
        assert len(after) > 150
        assert not any(after)
        assert any(found["laws"][law]["shown"])
        assert any(days_of(f"{memory_id}-now")["laws"][law]["shown"])


@EVERY_LAW
def test_coffee_leaves_normal_mode_with_the_negation_and_comes_back_with_the_user(law: str) -> None:
    """All: `version_keep` keeps the preference out by its level while it is negated; said again by her, it may return.

    Ebbinghaus and tiered have it back with the access that follows, for the weight has faded meanwhile.
    """
    found = days_of(STORY)
    (negation,) = [one["time"] for one in found["events"] if one["decision"] == "negate"]
    (back,) = [one["time"] for one in found["events"] if one["decision"] == "reaffirm"]
    shown = list(zip(found["times"], found["laws"][law]["shown"], strict=True))
    assert not any(is_shown for time, is_shown in shown if negation <= time < back)
    came_back = any(is_shown for time, is_shown in shown if time >= back)
    assert came_back is (law != "consolidating")  # its half-life runs from the last revision: nothing said renews it


# --- use


@pytest.mark.parametrize("law", ["ebbinghaus", "consolidating", "tiered"])
def test_what_is_asked_for_every_week_outlasts_what_never_is(law: str) -> None:
    """Ebbinghaus: each recall multiplies stability; consolidating: accesses stretch the half-life; tiered: a look renews."""
    for asked, never in zip(ASKED_WEEKLY, NEVER_ASKED, strict=True):
        assert last_shown(law, asked) > last_shown(law, never)
    assert seen(law, DAYS, *ASKED_WEEKLY)[0].min() > seen(law, DAYS, *NEVER_ASKED)[0].max()


def test_under_the_weighted_law_being_asked_for_changes_nothing() -> None:
    """Weighted: reading is not saying; only mentions activate."""
    asked, never = (seen("weighted", DAYS, *group)[0] for group in (ASKED_WEEKLY, NEVER_ASKED))
    assert np.abs(asked - never).max() < 0.01


def test_under_the_consolidating_law_no_use_keeps_what_is_never_revised_for_a_year() -> None:
    """Consolidating: weekly accesses lengthen the half-life from 42 to 68 days, counted from the last revision still."""
    weights, shown = seen("consolidating", DAYS, *ASKED_WEEKLY, *SKILLS, *REPEATED)
    assert weights.max() < 0.05
    assert not shown.any()


def test_skills_put_to_use_are_kept_by_the_laws_that_count_uses() -> None:
    """Ebbinghaus: success doubles stability; tiered: uses boost the importance, and at 3.0 it is core for good."""
    assert seen("ebbinghaus", DAYS, *SKILLS)[0].min() > 0.9
    weights, shown = seen("tiered", DAYS, *SKILLS)
    assert shown.all()
    assert weights.min() > 2.5
    assert "core" in {the_year().history.memories[memory_id].tier for memory_id in SKILLS}


# --- through the store, and on paper
