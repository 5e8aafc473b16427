"""A memory's life: created, revised, compressed, deleted, restored, purged (memory.md, sections 2 and 6)."""

from __future__ import annotations

from engramlog_server.events.catalogue import Imported, ImportedEdge
from engramlog_server.projections.memory.record import FULL
from tests.given.events import (
    Story,
    at,
    compressed,
    created,
    deleted,
    linked,
    memory,
    mentioned,
    moment,
    negated,
    purged,
    revised,
)
from tests.rows import each_row

PAIR = memory.given(created(), created(of="n"))


def test_a_memory_begins_as_its_creation_tells_it() -> None:
    memory.when(
        created(
            "My name is Ada",
            day=3,
            category="identity",
            kind="episode",
            summary="name",
            importance=2,
            speaker="Ada",
            keywords=("Name", "ADA", "ada"),
            tags=("Me",),
            emotion=1,
            project="p",
            task="t",
            modality="audio",
            verified=True,
            source_turns=("t1", "t2"),
            corrects="old",
            summarises=("a", "b"),
        )
    ).then(
        content="My name is Ada",
        category="identity",
        kind="episode",
        tier="episode",
        summary="name",
        confidence=0.6,
        importance=2.0,
        speaker="Ada",
        keywords=("name", "ada"),
        tags=("Me",),
        emotion=1.0,
        project="p",
        task="t",
        modalities=("audio",),
        verified=True,
        source_turns=("t1", "t2"),
        corrects="old",
        summarises=("a", "b"),
        created_at=at(3),
        updated_at=at(3),
        last_activated_at=at(3),
        last_mentioned_at=None,
        mention_count=1,
        mentions=(),
        access_count=0,
        last_accessed_at=None,
        level=FULL,
        decision="create",
    )


@each_row(
    ("data", "tier"),
    [
        ({"kind": "episode"}, "episode"), ({"kind": "fact"}, "fact"), ({"kind": "core"}, "core"),
        ({"kind": "lesson"}, "fact"), ({"kind": "episode", "tier": "core"}, "core"),
    ],
)  # fmt: skip
def test_the_tier_comes_from_the_kind_where_it_is_not_told(data: dict[str, str], tier: str) -> None:
    memory.when(created(**data)).then(tier=tier)


def test_an_import_brings_its_counters() -> None:
    brought = Imported(
        access_count=5,
        last_accessed_at=moment(7),
        updated_at=moment(4),
        mention_count=6,
        associations=tuple(ImportedEdge(memory_id=i, weight=w) for i, w in (("n", 0.2), ("m", 1.0), ("n", 0.4))),
    )
    outcome = memory.when(created(source="import", imported=brought))
    outcome.then(
        imported=True,
        access_count=5,
        last_accessed_at=at(7),
        updated_at=at(4),
        created_at=at(0),
        last_activated_at=at(0),
        mention_count=6,
        mentions=(),
        reinforce_count=5,
    )
    assert [(edge.to, edge.base, edge.link) for edge in outcome.after.memories["m"].edges] == [("n", 0.4, "semantic")]


# --- revisions and levels -------------------------------------------------------------------------------------------


def test_a_revision_that_comes_late_is_the_newest_version_all_the_same_and_time_does_not_run_backwards() -> None:
    outcome = memory.given(created("one"), revised("three", day=9)).when(revised("two", day=3))
    outcome.then(content="two", version=3, updated_at=at(9))
    assert [(v.content, v.until) for v in outcome.after.memories["m"].versions] == [("one", at(9)), ("three", at(9))]


@each_row(
    "data",
    [{"category": "identity"}, {"tier": "core"}, {"sensitivity": 2}, {"sensitivity": 3}],
    ids=["identity", "core", "sensitive", "secret"],
)
def test_identity_core_and_what_is_sensitive_are_never_compressed(data: dict[str, object]) -> None:
    memory.given(created(**data)).when(compressed("summary", day=40, content="coffee")).then(
        changed=set(), decision="ignored", reason="never compressed: identity, core or sensitive"
    )


# --- deletion, restoration, purge -----------------------------------------------------------------------------------


@each_row("policy", ["user_delete", "auto_cleanup", "merge_cleanup"])
def test_a_deletion_keeps_everything_and_says_by_which_policy(policy: str) -> None:
    memory.given(created()).when(deleted(day=2, policy=policy, due_at=moment(1))).then(
        deleted_at=at(2), deletion=policy, content="I like coffee", decision="delete", reason=policy
    )


def full_life() -> Story:
    return memory.given(
        created(
            summary="likes coffee",
            speaker="Ada",
            keywords=("coffee",),
            tags=("drinks",),
            project="kitchen",
            task="breakfast",
            source_turns=("t1",),
        ),
        created(of="n"),
        mentioned(day=1, turn_id="t2"),
        linked("m", "n", day=2),
        revised("I like espresso", day=3, summary="likes espresso"),
        negated(day=4, reason="said so", correction="I like tea", replaced_by="n"),
        compressed("tag", day=5, content="espresso"),
        deleted(day=10),
    )


def test_a_purge_leaves_a_tombstone_of_id_dates_and_lineage() -> None:
    purge = full_life().when(purged(day=40, due=40))
    purge.then(
        purged_at=at(40),
        content="",
        summary=None,
        compressed=None,
        keywords=(),
        tags=(),
        speaker=None,
        project=None,
        task=None,
        versions=(),
        edges=(),
        conflicts=(),
        id="m",
        created_at=at(0),
        updated_at=at(3),
        last_activated_at=at(1),
        negated_at=at(4),
        deleted_at=at(10),
        source_turns=("t1",),
        superseded_by="n",
        decision="purge",
    )


@each_row(("due", "decision"), [(39.9, "ignored"), (40 - 1e-10, "ignored"), (40, "purge"), (400, "purge")])
def test_a_purge_is_due_thirty_days_after_the_deletion(due: float, decision: str) -> None:
    memory.given(created(), deleted(day=10)).when(purged(day=401, due=due)).then(decision=decision)


def test_a_second_deletion_does_not_move_the_first() -> None:
    PAIR.given(deleted(day=1)).when(deleted(day=20)).then(deleted_at=at(1), decision="ignored")
