"""What a reviewer's answers leave on a record, and what merges keep of boosts and reviews (memory.md, sections 5 and 9)."""

from __future__ import annotations

from dataclasses import replace

from engramlog_server.projections.memory.record import Memory, Upkeep
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    folded,
    kept,
    memory,
    merged,
    moment,
    reinforced,
)
from tests.rows import each_row

H = 1 / 24
"""An hour in days."""


def only(*events: Told) -> Memory:
    """A fact after these events."""
    return folded(created(), *events).memories["m"]


# --- the reviewer --------------------------------------------------------------------------------------------------

RISEN = memory.given(created(importance=2.6))


def test_keeping_what_was_asked_to_be_promoted_answers_and_changes_nothing_else() -> None:
    outcome = RISEN.when(kept(day=1, due_at=moment(0)))
    outcome.then(
        changed={"upkeep"}, upkeep=Upkeep(), importance=2.6, decision="keep", reason="a reviewer kept its tier"
    )


def test_keeping_a_decayed_memory_sets_it_to_a_half_from_when_the_reviewer_says_so() -> None:
    """A late answer leaves the memory as long as a prompt one; else what was just kept would be asked about at once."""
    records = [only(kept(day=day, due_at=moment(25))) for day in (25, 31)]
    assert [(m.importance, m.upkeep) for m in records] == [(0.5, Upkeep((), at(day), None, True)) for day in (25, 31)]


@each_row(("day", "importance", "still"), [(26, 0.8, False), (36, 0.66125, False), (60, 0.460289, True)], ids=str)
def test_a_kept_memory_is_asked_about_further_down_until_a_use_lifts_it_over_the_threshold(
    day: float, importance: float, still: bool
) -> None:
    """0.5 * 0.85 ** floor((day - 25) / 5) + 0.3: after seven steps a use no longer reaches a half."""
    found = only(kept(day=25, due_at=moment(25)), reinforced(day=day))
    assert found.upkeep is not None
    assert (found.importance, found.upkeep.kept) == (importance, still)


# --- merges --------------------------------------------------------------------------------------------------------

FULL_DAY = [0, 2, 4, 6]
BOTH_FULL = memory.given(
    created(), created(of="n"), *(reinforced(i, day=1 + hour * H) for hour in FULL_DAY for i in ("m", "n"))
)
MERGED = BOTH_FULL.given(merged("m", "n", day=1.3))


def test_a_merge_is_no_way_around_the_limits_of_boosting() -> None:
    outcome = MERGED.when(reinforced("all", day=1.4), reinforced("all", day=1.9))
    outcome.then(of="all", importance=2.0, reason="outcome used; no boost: the limit of a day is reached")


def test_a_merge_is_kept_by_a_reviewer_only_where_all_that_were_reviewed_are() -> None:
    decayed = [created(), created(of="n"), kept("m", day=25), reinforced("n", day=25)]
    both = [created(), created(of="n"), kept("m", day=25), kept("n", day=26)]
    found = [folded(*events, merged("m", "n", day=30)).memories["all"].upkeep for events in (decayed, both)]
    assert [upkeep and (upkeep.kept, upkeep.set_at) for upkeep in found] == [(False, at(30)), (True, at(30))]


@each_row(
    ("actor", "name"),
    [
        ("system", "a reviewer"), ("judge", "a reviewer"), ("operator", "a reviewer"), ("user", "the user"),
        ("assistant", "the assistant"),
    ],
)  # fmt: skip
def test_the_change_log_calls_nobody_a_reviewer_who_is_none(actor: str, name: str) -> None:
    for day in (0, 27):
        told = replace(kept(day=day), actor=actor)
        assert folded(created(), told).entries[-1].reason.startswith(f"{name} kept it")


def test_a_merge_takes_what_is_left_of_the_importance_and_lifts_nothing() -> None:
    story = memory.given(created(importance=2.6), created(of="n", day=19), accessed("n", day=20))
    left = 2.6 * 0.85**4
    outcome = story.when(merged("m", "n", day=20))
    outcome.then(of="all", importance=round(left, 6), tier="fact")
