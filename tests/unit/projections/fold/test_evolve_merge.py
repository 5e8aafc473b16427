"""Merge and un-merge (memory.md, sections 2 and 5)."""

from __future__ import annotations

import pytest

from engramlog_server.projections.memory.record import FULL, SUMMARY, Author, UserMention
from tests.given.events import (
    Story,
    Told,
    accessed,
    at,
    compressed,
    created,
    deleted,
    differences,
    graded,
    kept,
    linked,
    memory,
    mentioned,
    merged,
    negated,
    promoted,
    purged,
    reinforced,
    restored,
    revised,
    unmerged,
)
from tests.rows import each_row

TWO = memory.given(created("Latte today", day=1), created("An Americano this morning", of="n", day=2))
MERGED = TWO.given(merged("m", "n", day=10))


def test_ten_memories_never_mentioned_merge_into_one_of_ten_statements() -> None:
    """Seed 002: "10 memories -> a summary, mentioned 10 times"."""
    ids = [f"m{n}" for n in range(10)]
    story = memory.given(*(created("coffee", of=i, day=n) for n, i in enumerate(ids)))
    story.when(merged(*ids, day=11, summary="likes coffee")).then(
        of="all",
        content="likes coffee",
        mention_count=10,
        mentions=(),
        last_mentioned_at=None,
        level=SUMMARY,
        merged_from=tuple(ids),
        last_activated_at=at(9),
        decision="merge",
    )


def test_the_base_is_the_source_that_was_active_last_and_gives_category_kind_and_project() -> None:
    story = memory.given(
        created(category="fact", kind="note", project="old", task="a", emotion=0.1, day=5),
        created(of="n", category="skill", kind="lesson", project="new", task="b", emotion=0.2, day=1),
        created(of="o", category="temporary", kind="tool", project="other", day=7),
        mentioned("n", day=8, actor="assistant"),
    )
    story.when(merged("m", "n", "o", day=10)).then(
        of="all", category="skill", kind="lesson", project="new", task="b", emotion=0.2, last_activated_at=at(8)
    )


def test_a_merge_unites_and_sums_and_takes_the_newest_and_the_highest() -> None:
    story = memory.given(
        created(
            keywords=("coffee", "milk"),
            tags=("a",),
            sensitivity=2,
            confidence=0.9,
            importance=1,
            verified=True,
            source_turns=("t1", "t2"),
            modality="image",
            day=1,
        ),
        created(
            of="n",
            keywords=("espresso", "coffee"),
            tags=("b", "a"),
            sensitivity=1,
            confidence=0.5,
            importance=2,
            source_turns=("t2", "t3"),
            day=2,
        ),
        mentioned(day=3, turn_id="x"),
        mentioned("n", day=4, actor="assistant"),
        mentioned("n", day=4.1, actor="assistant"),
        mentioned("n", day=4.2, actor="assistant"),
        accessed("m", day=6, count=2),
        accessed("n", day=5, count=3),
        reinforced(day=5),
        reinforced("n", day=5),
        revised("An espresso", day=7),
    )
    story.when(merged("m", "n", day=10)).then(
        of="all",
        keywords=("coffee", "milk", "espresso"),
        tags=("a", "b"),
        modalities=("image", "text"),
        source_turns=("t1", "t2", "t3"),
        sensitivity=2,
        confidence=0.9,
        importance=1.955,
        verified=False,
        mention_count=6,
        mentions=(at(3), at(4), at(4.1), at(4.2)),
        mention_boost=pytest.approx(0.4975, abs=1e-4),  # 0.5 * exp(-0.05 * 0.1)
        user_mentions=(UserMention(at(3), "x", Author("user")),),
        access_count=5,
        reinforce_count=4,
        created_at=at(2),
        updated_at=at(7),
        last_activated_at=at(4.2),
        last_mentioned_at=at(4.2),
        last_accessed_at=at(6),
    )


# --- what goes to the merge and what goes nowhere -------------------------------------------------------------------


def test_a_mention_of_a_source_goes_to_its_merge() -> None:
    outcome = MERGED.when(mentioned("m", day=12))
    outcome.then(of="m", changed=set(), reason="merged away: its merge stands for it; the mention goes to all")
    outcome.then(of="all", last_activated_at=at(12), mention_count=3, level=FULL)
    assert outcome.decisions == {"m": "ignored", "all": "reinforce"}


@each_row(
    "event",
    [
        negated(day=12), reinforced(day=12), revised(day=12), compressed(day=12), promoted(day=12), kept(day=12),
        deleted(day=12), restored(day=12), purged(day=52), graded(day=12), linked("m", "all", day=12),
        merged("m", "all", into="other", day=12), unmerged("m", day=12), created("again", day=12),
    ],
    ids=lambda told: type(told.data).__name__,
)  # fmt: skip
def test_nothing_but_an_unmerge_of_its_merge_changes_a_source(event: Told) -> None:
    outcome = MERGED.when(event)
    outcome.then(of="m", changed=set(), decision="ignored")
    outcome.then(of="all", changed=set())


GONE = TWO.given(deleted("n", day=3))
REFUSED: list[tuple[str, Story, Told, dict[str, str]]] = [
    (
        "an unknown source", TWO, merged("m", "x", day=10),
        {"all": "source x: unknown memory", "m": "source x: unknown memory", "x": "unknown memory"},
    ),
    (
        "a purged source",
        GONE.given(purged("n", day=40)),
        merged("m", "n", day=41),
        {
            "all": "source n: purged: only a tombstone is left",
            "m": "source n: purged: only a tombstone is left",
            "n": "purged: only a tombstone is left",
        },
    ),
    (
        "a deleted source", GONE, merged("m", "n", day=10),
        dict.fromkeys(("all", "m", "n"), "source n is deleted: restore it first"),
    ),
    (
        "a source merged away",
        MERGED.given(created(of="o")),
        merged("m", "o", into="other", day=12),
        {
            "other": "source m: merged away: its merge stands for it",
            "m": "merged away: its merge stands for it",
            "o": "source m: merged away: its merge stands for it",
        },
    ),
    (
        "an id that exists", TWO.given(created(of="all")), merged("m", "n", day=10),
        dict.fromkeys(("all", "m", "n"), "all exists already: a merge needs a new id"),
    ),
    (
        "the id of a tombstone", TWO.given(created(of="all"), deleted("all", day=1), purged("all", day=31)),
        merged("m", "n", day=40), dict.fromkeys(("all", "m", "n"), "all exists already: a merge needs a new id"),
    ),
]  # fmt: skip


@each_row(("story", "event", "reasons"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_a_merge_that_cannot_be_changes_nothing_at_all(story: Story, event: Told, reasons: dict[str, str]) -> None:
    outcome = story.when(event)
    assert [(one["memory"], one["decision"], one["reason"]) for one in outcome.log] == [
        (of, "ignored", reason) for of, reason in reasons.items()
    ]
    assert outcome.after.memories == outcome.before.memories


# --- un-merge -------------------------------------------------------------------------------------------------------


def test_an_unmerge_gives_the_sources_back_as_they_were() -> None:
    busy = TWO.given(
        mentioned(day=3),
        negated(day=4, resolution="weight_balance"),
        compressed(of="n", day=5),
        linked("m", "n", day=6),
        accessed("m", day=7),
    )
    before = busy.when().after.memories
    between = [mentioned("m", day=12), negated("n", day=13), accessed("m", "all", day=14), deleted("n", day=15)]
    after = busy.when(merged("m", "n", day=10), *between, unmerged(day=20)).after.memories
    assert [differences(before[i], after[i]) for i in "mn"] == [{}, {}]


@each_row(
    ("story", "into", "reason"),
    [
        (TWO, "m", "not merged"),
        (TWO, "x", "unknown memory"),
        (MERGED.given(unmerged(day=12)), "all", "un-merged already"),
        (MERGED.given(deleted("all", day=12)), "all", "deleted: restore it first"),
        (MERGED.given(deleted("all", day=12), purged("all", day=42)), "all", "purged: only a tombstone is left"),
    ],
    ids=["never merged", "unknown", "twice", "deleted", "purged"],
)
def test_an_unmerge_of_what_is_not_merged_changes_nothing(story: Story, into: str, reason: str) -> None:
    outcome = story.when(unmerged(into, day=50))
    assert [(one["memory"], one["decision"], one["reason"]) for one in outcome.log] == [(into, "ignored", reason)]
    assert outcome.after.memories == outcome.before.memories


# --- deletion of a merge --------------------------------------------------------------------------------------------


def test_a_purge_of_a_merge_purges_everything_that_was_merged_into_it() -> None:
    chain = MERGED.given(created(of="o", day=3), merged("o", "all", into="top", day=12), deleted("top", day=13))
    outcome = chain.when(purged("top", day=43))
    assert outcome.decisions == dict.fromkeys(("top", "o", "all", "m", "n"), "purge")
    found = outcome.after.memories
    assert [(i, found[i].content, found[i].purged_at) for i in sorted(found)] == [
        (i, "", at(43)) for i in ("all", "m", "n", "o", "top")
    ]
    assert (found["top"].merged_from, found["all"].merged_from, found["m"].merged_into) == (
        ("o", "all"),
        ("m", "n"),
        "all",
    )


def test_a_speaker_is_kept_where_all_sources_have_the_same() -> None:
    story = memory.given(created(speaker="Ada"), created(of="n", speaker="Ada"), created(of="o", speaker="Bob", day=-1))
    story.when(merged("m", "n")).then(of="all", speaker="Ada")
    story.when(merged("m", "n", "o")).then(of="all", speaker=None)
