"""What falls due by itself, and when: sweep, review, merge, link, replay as pure plans (memory.md, sections 5, 6 and 9)."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pytest

from engramlog_server.events.envelope import from_micros
from engramlog_server.projections.lifecycle import JOBS, Decision, plan
from engramlog_server.projections.memory.record import HOUR
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    Story,
    Told,
    accessed,
    at,
    borne_out,
    created,
    deleted,
    folded,
    memory,
    mentioned,
    negated,
    parameters,
    profile,
    reinforced,
)
from tests.rows import each_row


def view_of(story: Story) -> OwnerView:
    return OwnerView.of_history("ada", folded(*story.events))


def planned(story: Story, day: float, *jobs: str) -> list[Decision]:
    return plan(view_of(story), at(day), jobs or tuple(JOBS))


def told(decisions: Iterable[Decision]) -> list[tuple[str, tuple[str, ...], float]]:
    """Action, memories, and the day on which it fell due."""
    return [(one.action, one.ids, round((one.due_at - at(0)) / (at(1) - at(0)), 4)) for one in decisions]


def carried_out(story: Story, day: float, *jobs: str) -> Story:
    """The story with what the jobs decide on that day."""
    return story.given(*(Told(one.data, day, "system") for one in planned(story, day, *jobs)))


TEMPORARY = memory.given(created("a taxi is coming", category="temporary"))


@each_row(
    ("day", "expected"),
    [
        (29.9, []),
        (30, [("compress", ("m",), 30.0)]),
        (133, [("compress", ("m",), 30.0)]),
        (134, [("compress", ("m",), 133.3333)]),  # 90 idle days, but the weight reaches 0.3 only then
        (179.9, [("compress", ("m",), 133.3333)]),
        (180, [("compress", ("m",), 180.0)]),
        (400, [("compress", ("m",), 365.0)]),
    ],
)
def test_a_level_falls_due_by_idle_days_and_from_tag_on_by_the_weight(
    day: float, expected: list[tuple[str, tuple[str, ...], float]]
) -> None:
    assert told(planned(TEMPORARY, day, "sweep")) == expected


@each_row(
    "spared",
    [
        created("my name is Ada", category="identity"), created("core", tier="core"), created("system", tier="system"),
        created("my phone is 555", sensitivity=2),
    ],
)  # fmt: skip
@each_row("law", ["weighted", "ebbinghaus", "consolidating", "tiered"])
def test_what_lasts_is_neither_compressed_nor_deleted_under_any_law(spared: Told, law: str) -> None:
    story = memory.given(profile(law), parameters(delete_archived_after_days=1.0), spared)
    assert planned(story, 4_000, "sweep") == []


def test_the_ebbinghaus_profile_archives_and_then_deletes_to_the_hour() -> None:
    story = memory.given(profile("ebbinghaus"), created(source_turns=("t",)))
    archive, gone = 24 * math.log(100 / 9.5), 24 * math.log(100 / 4.5)
    assert (round(archive, 1), round(gone, 1)) == (56.5, 74.4)
    assert planned(story, archive / 24 - 0.001, "sweep") == []
    (one,) = planned(story, archive / 24 + 0.001, "sweep")
    assert (one.action, one.data.level) == ("compress", "archive")  # type: ignore[union-attr]
    (other,) = planned(story, gone / 24 + 0.001, "sweep")
    assert (other.action, other.due_at) == ("delete", pytest.approx(at(0) + gone * HOUR, abs=1e6))


@each_row("law", ["weighted", "ebbinghaus", "consolidating", "tiered"])
def test_a_sweep_once_and_a_hundred_times_over_a_year_leave_the_same(law: str) -> None:
    said = [
        created("an old taxi", of="taxi", category="temporary", source_turns=("t",)),
        created("a habit", of="habit", source_turns=("t",)),
        created("a week", of="week", tier="episode", source_turns=("t",)),
        created("my name", of="name", category="identity"),
        created("a nurse", of="nurse", sensitivity=1, category="fact", source_turns=("t",)),
    ]
    story = memory.given(profile(law), *said)
    once = carried_out(story, 365, "sweep")
    often = story
    decided: list[Decision] = []
    for step in range(1, 101):
        decided += planned(often, 3.65 * step, "sweep")
        often = carried_out(often, 3.65 * step, "sweep")
    found, expected = (folded(*one.events).memories for one in (often, once))
    gone = {"deleted_at", "deleted_by", "purged_at", "content", "deletion", "stamp", "changed_seq", "level"}
    for memory_id, one in expected.items():
        other = found[memory_id]
        assert (one.deleted_at is None) == (other.deleted_at is None)
        if one.deleted_at is None:
            assert one.level == other.level
        assert all(getattr(one, n) == getattr(other, n) for n in one.__struct_fields__ if n not in gone)
    last = {(one.ids, one.action): one for one in decided}
    for one in planned(story, 365, "sweep"):
        assert last[one.ids, one.action].due_at == one.due_at
    # A month later, and one more sweep: what was deleted is purged either way.
    purged_once, purged_often = (folded(*carried_out(s, 396, "sweep").events).memories for s in (once, often))
    assert {i: m.purged_at is None for i, m in purged_once.items()} == {
        i: m.purged_at is None for i, m in purged_often.items()
    }


# --- the reviewer --------------------------------------------------------------------------------------------------

TIERED = memory.given(profile("tiered"))


@each_row(
    ("category", "action"),
    [
        ("identity", "promote"), ("stable_preference", "promote"), ("skill", "promote"), ("fact", "keep"),
        ("temporary", "keep"), ("short_term_preference", "keep"),
    ],
)  # fmt: skip
def test_only_what_lasts_is_promoted(category: str, action: str) -> None:
    story = TIERED.given(created(category=category, day=-1), *borne_out(day=1))
    (one,) = planned(story, 2, "review")
    assert (one.action, one.due_at) == (action, at(1))
    after = carried_out(story, 2, "review")
    assert folded(*after.events).memories["m"].tier == ("core" if action == "promote" else "fact")
    assert planned(after, 3, "review") == []


def test_a_promotion_is_asked_for_once_for_each_crossing() -> None:
    story = carried_out(TIERED.given(created(category="fact", importance=2.3), reinforced(day=1)), 2, "review")
    assert planned(story.given(reinforced(day=3)), 4, "review") == []
    # It falls under 2.5 on the way and rises again: a new crossing.
    again = story.given(reinforced(day=8))
    assert [one.action for one in planned(again, 8.5, "review")] == ["keep"]


def test_a_decay_review_falls_due_when_the_importance_is_first_under_a_half() -> None:
    story = TIERED.given(created(category="fact"))
    assert planned(story, 24.9, "review") == []  # 0.85 ** 4 = 0.522
    (one,) = planned(story, 25, "review")
    assert (one.action, one.due_at) == ("keep", at(25))


def test_what_was_kept_starts_from_a_half_when_it_is_kept_and_is_asked_about_again_under_a_fifth() -> None:
    story = carried_out(TIERED.given(created(category="fact"), accessed("m")), 40, "review")
    one = folded(*story.events).memories["m"]
    assert (one.importance, one.upkeep is not None and one.upkeep.set_at) == (0.5, at(40))
    assert planned(story, 69.9, "review") == []  # a late answer leaves it as long as a prompt one
    (second,) = planned(story, 200, "review")
    assert second.due_at == at(40 + 6 * 5)  # 0.5 * 0.85 ** 6 = 0.189
    boosted = story.given(reinforced(day=41))  # 0.8: asked under 0.5 again, after three steps: 0.491
    assert [o.due_at for o in planned(boosted, 200, "review")] == [at(41 + 15)]


@each_row(
    ("story", "action"),
    [
        (TIERED.given(created(category="temporary")), "delete"),
        (TIERED.given(created(category="short_term_preference")), "delete"),
        (TIERED.given(created(category="temporary"), mentioned(day=1)), "keep"),
        (TIERED.given(created(category="temporary", verified=True)), "keep"),
        (TIERED.given(created(category="fact")), "keep"),
        (TIERED.given(created(category="fact"), created(of="n"), negated(day=1, replaced_by="n")), "delete"),
        (TIERED.given(created(category="identity")), "keep"),
    ],
)
def test_only_what_is_passing_and_unused_goes(story: Story, action: str) -> None:
    assert [one.action for one in planned(story, 26, "review") if one.ids == ("m",)] == [action]


# --- merging, linking, replaying -----------------------------------------------------------------------------------

COFFEE = "I drink two cups of strong black coffee every single morning"


def test_near_duplicates_merge_into_one_that_says_what_the_newest_says() -> None:
    story = memory.given(created(COFFEE, of="a", day=1), created(f"{COFFEE}!", of="b", day=2))
    (one,) = planned(story, 3, "merge")
    assert (one.action, one.ids, one.data.summary) == ("merge", ("a", "b"), f"{COFFEE}!")  # type: ignore[union-attr]
    after = carried_out(story, 3, "merge")
    assert planned(after, 4, "merge") == []
    assert sum(m.merged_into is not None for m in folded(*after.events).memories.values()) == 2


def test_what_is_related_is_linked_once_and_read_from_both_sides() -> None:
    story = memory.given(
        created("I drink strong black coffee in the morning", of="a"),
        created("In the morning I like strong black tea", of="b"),
        created("The car needs new tyres", of="c"),
    )
    found = planned(story, 1, "link")
    assert [(one.action, set(one.ids)) for one in found] == [("link", {"a", "b"})]
    after = carried_out(story, 1, "link")
    assert planned(after, 2, "link") == []
    view = view_of(after)
    links = {i: view.associations.neighbours(view.columns.row(i) or 0, view.parameters) for i in "ab"}
    assert [[(one.link, one.weight) for one in links[i]] for i in "ab"] == [[("related", links["a"][0].weight)]] * 2


def test_important_memories_are_replayed_only_for_owners_who_asked() -> None:
    story = memory.given(created(confidence=1.0, emotion=0.5))
    assert planned(story, 5, "replay") == []
    asked = story.given(parameters(replay_important=True))
    (one,) = planned(asked, 5, "replay")
    assert (one.action, one.ids) == ("replay", ("m",))
    after = carried_out(asked, 5, "replay")
    assert folded(*after.events).memories["m"].access_count == 1
    assert planned(after, 6, "replay") == []  # two days to the next review


def test_a_plan_decides_about_each_memory_once_and_tells_no_content() -> None:
    story = memory.given(profile("ebbinghaus"), created(COFFEE, of="a", source_turns=("t",)), created(COFFEE, of="b"))
    found = planned(story, 5)
    assert [(one.action, one.ids) for one in found] == [("delete", ("a",))]
    assert COFFEE not in str([one.as_dict() for one in found if one.action != "merge"])
    assert from_micros(found[0].due_at).tzinfo is not None


def test_the_weighted_profile_deletes_only_where_the_owner_says_so() -> None:
    assert [one.action for one in planned(TEMPORARY, 2_000, "sweep")] == ["compress"]
    story = TEMPORARY.given(parameters(delete_archived_after_days=365.0))
    assert told(planned(story, 729, "sweep")) == [("compress", ("m",), 365.0)]
    assert told(planned(story, 730, "sweep")) == [("delete", ("m",), 730.0)]


def test_a_purge_falls_due_thirty_days_after_the_deletion() -> None:
    story = memory.given(created(), deleted(day=3))
    assert planned(story, 32.9, "sweep") == []
    assert told(planned(story, 33, "sweep")) == [("purge", ("m",), 33.0)]
