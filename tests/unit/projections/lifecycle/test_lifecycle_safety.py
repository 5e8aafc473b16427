"""What a fresh reading of the lifecycle found: nothing is lost, hidden or brought back by when a job ran."""

from __future__ import annotations

import math

from engramlog_server.events.catalogue import MemoryPurged
from engramlog_server.projections.fold.working_set import neighbours
from engramlog_server.projections.laws.modes import visibility
from engramlog_server.projections.lifecycle import plan
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    Story,
    Told,
    accessed,
    at,
    created,
    deleted,
    folded,
    linked,
    memory,
    merged,
    moment,
    profile,
    purged,
    reinforced,
    revised,
    unmerged,
)
from tests.rows import each_row

PICKED_UP = created(source_turns=("t",))
GONE_DAYS = 24 * math.log(100 / 4.5) / 24


def view_of(story: Story) -> OwnerView:
    return OwnerView.of_history("ada", folded(*story.events))


def swept(story: Story, day: float) -> Story:
    return story.given(*(Told(one.data, day, "system") for one in plan(view_of(story), at(day), ["sweep", "review"])))


def level(story: Story, day: float) -> int:
    view = view_of(story)
    row = view.columns.row("m")
    return int(visibility(view.columns, view.law, at(day), view.parameters, "normal").levels[row or 0])


@each_row(
    ("law", "day", "lift"),
    [
        ("ebbinghaus", 2.5, reinforced(day=2.6, outcome="task_success")),
        ("ebbinghaus", 2.5, accessed("m", day=2.6, via="injection")), ("tiered", 100, reinforced(day=100.5)),
        ("consolidating", 100, revised(day=100.5)), ("ebbinghaus", 2.5, profile("weighted", day=2.6)),
    ],
)  # fmt: skip
def test_what_lifts_a_memory_lifts_it_whether_a_sweep_ran_or_not(law: str, day: float, lift: Told) -> None:
    story = memory.given(profile(law), PICKED_UP)
    ran = swept(story, day)
    assert ran != story
    assert level(story.given(lift), day + 1) == level(ran.given(lift), day + 1)


def test_a_level_that_somebody_told_holds_until_a_mention() -> None:
    from tests.given.events import compressed, mentioned

    told = memory.given(created(), compressed("archive", day=1))
    assert [
        level(story, 2) for story in (told, told.given(accessed("m", day=1.5)), told.given(mentioned(day=1.5)))
    ] == [4, 4, 0]


def test_a_deletion_that_an_access_came_before_changes_nothing() -> None:
    story = memory.given(profile("ebbinghaus"), PICKED_UP)
    (one,) = plan(view_of(story), at(GONE_DAYS + 1), ["sweep"])
    looked = story.given(accessed("m", day=GONE_DAYS + 0.9))
    looked.when(Told(one.data, GONE_DAYS + 1, "system")).then(deleted_at=None, decision="ignored")
    story.when(Told(one.data, GONE_DAYS + 1, "system")).then(deleted_at=at(GONE_DAYS + 1), decision="delete")


def test_a_purge_is_not_due_before_its_own_time() -> None:
    story = memory.given(created(), deleted(day=1))
    early = Told(MemoryPurged(memory_id="m", due_at=moment(3_000)), 2, "system")
    story.when(early).then(purged_at=None, decision="ignored", reason="not due yet")
    story.when(purged(day=31)).then(purged_at=at(31), content="")


def test_purging_a_source_purges_the_retired_merge_that_still_says_it() -> None:
    story = memory.given(created(), created("tea", of="n"), merged("m", "n", day=1), unmerged(day=2), deleted(day=3))
    found = folded(*story.events, purged(day=33)).memories
    assert (found["m"].content, found["all"].content, found["n"].content) == ("", "", "tea")
    assert set(neighbours(folded(*story.events).memories["m"])) >= {"all"}


def test_what_somebody_took_apart_is_not_merged_again() -> None:
    said = "I drink two cups of strong black coffee every single morning"
    story = memory.given(created(said), created(f"{said}!", of="n", day=1))
    assert len(plan(view_of(story), at(2), ["merge"])) == 1
    apart = story.given(merged("m", "n", day=2), unmerged(day=3))
    assert plan(view_of(apart), at(4), ["merge"]) == []


def test_a_merge_keeps_the_tier_and_the_associations_of_its_sources() -> None:
    story = memory.given(created(tier="core"), created(of="n", day=1), created(of="o"), linked("m", "o", weight=0.7))
    found = folded(*story.events, merged("m", "n", day=2)).memories["all"]
    assert (found.tier, [(edge.to, edge.base) for edge in found.edges]) == ("core", [("o", 0.7)])
    view = view_of(story.given(merged("m", "n", day=2)))
    links = view.associations.neighbours(view.columns.row("o") or 0, view.parameters)
    assert [(view.columns.memories[link.to_row].id, link.weight) for link in links] == [("all", 0.7)]


def test_a_deleted_memory_is_not_reinforced_by_looking_at_it() -> None:
    story = memory.given(created(), deleted(day=1))
    story.when(accessed("m", day=2)).then(access_count=0, last_reinforced_at=at(0))


SECRET = "my key is sk-" + "a1B2c3D4e5F6g7H8" * 3


@each_row("where", [{"keywords": (SECRET,)}, {"tags": (SECRET,)}, {"project": SECRET}, {"speaker": SECRET}])
def test_a_secret_is_one_wherever_a_producer_writes_it(where: dict[str, object]) -> None:
    assert folded(created("a note", **where)).memories["m"].sensitivity == 3
