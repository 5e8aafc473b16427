"""A memory's life: created, revised, compressed, deleted, restored, purged (memory.md, sections 2 and 6)."""

from __future__ import annotations

from events.catalogue import Imported, ImportedEdge
from projections.memory.record import ARCHIVE, FULL, MAX_VERSIONS, SUMMARY, TAG, TRACE
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
    parameters,
    promoted,
    purged,
    restored,
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


@each_row(
    ("content", "data", "sensitivity"),
    [
        ("I like coffee", {}, 0), ("my password is hunter2", {}, 3), ("I forgot my password and my key costs money", {}, 0),
        ("my password is hunter2", {"sensitivity": 0}, 3), ("I like coffee", {"sensitivity": 2}, 2),
        ("I like coffee", {"summary": "my password is hunter2"}, 3),
    ],
)  # fmt: skip
def test_sensitivity_is_detected_by_value_and_what_a_producer_tells_only_raises_it(
    content: str, data: dict[str, object], sensitivity: int
) -> None:
    memory.when(created(content, **data)).then(sensitivity=sensitivity)


def test_a_revision_may_raise_the_sensitivity_and_never_lowers_it() -> None:
    secret = memory.given(created()).when(revised("my password is hunter2", day=1))
    public = memory.given(created("my password is hunter2")).when(revised("I like tea", day=1))
    assert [outcome.after.memories["m"].sensitivity for outcome in (secret, public)] == [3, 3]


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


def test_a_revision_keeps_the_version_before_it() -> None:
    outcome = memory.given(created("one", summary="1", keywords=("old",))).when(revised("two", day=3))
    outcome.then(content="two", summary=None, keywords=("old",), version=2, decision="revise")
    assert [(v.number, v.content, v.summary, v.until) for v in outcome.after.memories["m"].versions] == [
        (1, "one", "1", at(3))
    ]


def test_a_revision_that_comes_late_is_the_newest_version_all_the_same_and_time_does_not_run_backwards() -> None:
    outcome = memory.given(created("one"), revised("three", day=9)).when(revised("two", day=3))
    outcome.then(content="two", version=3, updated_at=at(9))
    assert [(v.content, v.until) for v in outcome.after.memories["m"].versions] == [("one", at(9)), ("three", at(9))]


def test_the_last_sixteen_versions_are_kept() -> None:
    found = memory.given(created("0")).when(*(revised(str(n), day=n) for n in range(1, 31))).after.memories["m"]
    assert [v.number for v in found.versions] == list(range(31 - MAX_VERSIONS, 31))


@each_row(
    ("level", "number"), [("full", FULL), ("summary", SUMMARY), ("tag", TAG), ("trace", TRACE), ("archive", ARCHIVE)]
)
def test_a_compression_records_its_level(level: str, number: int) -> None:
    PAIR.when(compressed(level, day=40)).then(level=number, content="I like coffee")


@each_row(
    "data",
    [{"category": "identity"}, {"tier": "core"}, {"sensitivity": 2}, {"sensitivity": 3}],
    ids=["identity", "core", "sensitive", "secret"],
)
def test_identity_core_and_what_is_sensitive_are_never_compressed(data: dict[str, object]) -> None:
    memory.given(created(**data)).when(compressed("summary", day=40, content="coffee")).then(
        changed=set(), decision="ignored", reason="never compressed: identity, core or sensitive"
    )


def test_what_is_sensitive_a_little_is_compressed() -> None:
    memory.given(created(sensitivity=1)).when(compressed("summary", day=70)).then(level=SUMMARY)


def test_a_promotion_to_core_ends_compression() -> None:
    memory.given(created(), promoted("core", day=1)).when(compressed("summary", day=40)).then(decision="ignored")


# --- deletion, restoration, purge -----------------------------------------------------------------------------------


@each_row("policy", ["user_delete", "auto_cleanup", "merge_cleanup"])
def test_a_deletion_keeps_everything_and_says_by_which_policy(policy: str) -> None:
    memory.given(created()).when(deleted(day=2, policy=policy, due_at=moment(1))).then(
        deleted_at=at(2), deletion=policy, content="I like coffee", decision="delete", reason=policy
    )


def test_a_deleted_memory_that_is_mentioned_is_active_and_stays_deleted() -> None:
    memory.given(created(), deleted(day=2)).when(mentioned(day=3)).then(deleted_at=at(2), last_activated_at=at(3))


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


def test_no_word_of_a_purged_memory_stays_in_its_record() -> None:
    tombstone = repr(full_life().when(purged(day=40)).after.memories["m"])
    words = ("offee", "spresso", "tea", "Ada", "drinks", "kitchen", "breakfast", "said so")
    assert [word for word in words if word in tombstone] == []


@each_row(("due", "decision"), [(39.9, "ignored"), (40 - 1e-10, "ignored"), (40, "purge"), (400, "purge")])
def test_a_purge_is_due_thirty_days_after_the_deletion(due: float, decision: str) -> None:
    memory.given(created(), deleted(day=10)).when(purged(day=401, due=due)).then(decision=decision)


def test_how_long_a_deletion_is_kept_is_a_parameter() -> None:
    memory.given(created(), deleted(day=10), parameters(deleted_kept_days=5.0)).when(purged(day=16, due=15)).then(
        decision="purge"
    )


def test_a_purge_decided_before_the_memory_was_restored_and_deleted_again_is_not_due() -> None:
    memory.given(created(), deleted(day=10), restored(day=20), deleted(day=39)).when(purged(day=41, due=40)).then(
        changed=set(), decision="ignored", reason="not due: it was deleted later than this purge supposes"
    )


def test_a_second_deletion_does_not_move_the_first() -> None:
    PAIR.given(deleted(day=1)).when(deleted(day=20)).then(deleted_at=at(1), decision="ignored")


def test_a_restored_memory_can_be_deleted_again() -> None:
    PAIR.given(deleted(day=1), restored(day=2)).when(deleted(day=3)).then(deleted_at=at(3), decision="delete")
