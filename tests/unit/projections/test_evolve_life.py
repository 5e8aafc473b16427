"""What each event does to a memory's life, and what it must leave alone (memory.md, sections 2, 3 and 6)."""

from __future__ import annotations

from itertools import permutations

import pytest

from events.catalogue import Imported, ImportedEdge, SynonymDefined, ToolResultRecorded, TurnRecorded
from projections.memory import ARCHIVE, FULL, MAX_MENTIONS, MAX_VERSIONS, SUMMARY, TAG, TRACE, Memory, UserMention
from tests.given import (
    Story,
    Told,
    accessed,
    asserted,
    at,
    compressed,
    created,
    deleted,
    erased,
    folded,
    graded,
    in_conflict,
    kept,
    linked,
    memory,
    mentioned,
    merged,
    moment,
    negated,
    parameters,
    profile,
    promoted,
    purged,
    reinforced,
    restored,
    retracted,
    revised,
)

TIMES = (
    "created_at",
    "updated_at",
    "last_activated_at",
    "last_mentioned_at",
    "last_accessed_at",
)
PAIR = memory.given(created(), created(of="n"))
ACTIVATED = {"last_activated_at", "mention_count", "mentions", "mention_boost"}
EFFECTS: list[tuple[str, Story, Told, set[str]]] = [
    ("a mention by the user", PAIR, mentioned(day=9), ACTIVATED | {"user_mentions"}),
    ("a mention by the assistant", PAIR, mentioned(day=9, actor="assistant"), ACTIVATED),
    ("a mention by image", PAIR, mentioned(day=9, actor="judge", modality="image"), ACTIVATED | {"modalities"}),
    (
        "a mention of a compressed one",
        PAIR.given(compressed("trace", day=3, content="coffee")),
        mentioned(day=9, actor="assistant"),
        ACTIVATED | {"level", "compressed"},
    ),
    ("a negation", PAIR, negated(day=9), {"negations", "negated_at", "resolution"}),
    (
        "a negation with a successor",
        PAIR,
        negated(day=9, replaced_by="n"),
        {"negations", "negated_at", "resolution", "superseded_by"},
    ),
    ("a negation of another one that it replaces", PAIR, negated("n", day=9, replaced_by="m"), set()),
    ("an access", PAIR, accessed("m", "n", day=9), {"access_count", "last_accessed_at"}),
    ("a use", PAIR, reinforced(day=9, from_memory="n"), {"reinforce_count"}),
    ("a task that succeeded", PAIR, reinforced(day=9, outcome="task_success"), {"reinforce_count"}),
    ("a task that failed", PAIR, reinforced(day=9, outcome="task_failure"), set()),
    ("a use after another memory", PAIR, reinforced("n", day=9, from_memory="m"), set()),
    ("a revision", PAIR, revised(day=9), {"content", "version", "versions", "updated_at"}),
    (
        "a revision with words",
        PAIR,
        revised(day=9, summary="short", keywords=("Espresso",), tags=("morning",)),
        {"content", "version", "versions", "updated_at", "summary", "keywords", "tags"},
    ),
    ("a compression", PAIR, compressed("tag", day=9, content="coffee"), {"level", "compressed"}),
    ("a promotion", PAIR, promoted("core", day=9, from_="fact"), {"tier"}),
    ("a reviewer's keeping", PAIR, kept(day=9, due_at=moment(8)), set()),
    ("a deletion", PAIR, deleted(day=9), {"deleted_at", "deletion"}),
    ("a restoration", PAIR.given(deleted(day=3)), restored(day=9), {"deleted_at", "deletion"}),
    (
        "a restoration of a compressed one",
        PAIR.given(compressed("tag", content="coffee"), deleted(day=3)),
        restored(day=9),
        {"deleted_at", "deletion", "level", "compressed"},
    ),
    ("a grade", PAIR, graded(day=9), {"access_count", "last_accessed_at"}),
    ("a link", PAIR, linked("n", "m", day=9), {"edges"}),
    ("a possible conflict", PAIR, in_conflict("n", "m", day=9), {"conflicts"}),
    ("a merge into another", PAIR, merged("m", "n", day=9), {"merged_into", "merged_at"}),
    ("a fact asserted from it", PAIR, asserted("m", day=9), set()),
    ("a fact retracted from it", PAIR, retracted("m", day=9), set()),
    ("a memory that corrects it", PAIR, created(of="x", day=9, corrects="m"), set()),
    ("a memory that summarises it", PAIR, created(of="x", day=9, summarises=("m", "n")), set()),
    ("a second creation with its id", PAIR, created("tea", day=9), set()),
    ("an erasure, while contents are not sealed", PAIR, erased(day=9), set()),
    ("another profile", PAIR, profile("ebbinghaus", day=9), set()),
    ("other parameters", PAIR, parameters(day=9, alpha_base=0.1), set()),
    ("a turn", PAIR, Told(TurnRecorded(turn_id="t", role="user", text="coffee!"), 9), set()),
    ("a tool result", PAIR, Told(ToolResultRecorded(tool="ls", text="coffee.txt"), 9), set()),
    ("a synonym", PAIR, Told(SynonymDefined(keyword="coffee", synonym="java"), 9), set()),
]


@pytest.mark.parametrize(("story", "event", "changed"), [e[1:] for e in EFFECTS], ids=[e[0] for e in EFFECTS])
def test_an_event_changes_just_these_fields_of_the_memory(story: Story, event: Told, changed: set[str]) -> None:
    assert story.when(event).changed("m") == changed


@pytest.mark.parametrize(("story", "event"), [e[1:3] for e in EFFECTS], ids=[e[0] for e in EFFECTS])
def test_an_event_that_comes_late_moves_no_time_stamp_backwards(story: Story, event: Told) -> None:
    busy = story.given(
        mentioned(day=20, actor="assistant"), accessed("m", "n", day=21), revised(day=22), graded(day=23)
    )
    outcome = busy.when(event)
    before, after = (history.memories["m"] for history in (outcome.before, outcome.after))
    assert [(getattr(after, name) or 0) >= (getattr(before, name) or 0) for name in (*TIMES, "stamp")] == [True] * 6


@pytest.mark.parametrize(
    ("event", "moves"),
    [
        (mentioned(day=9), {"last_activated_at": at(9), "last_mentioned_at": at(9)}),
        (mentioned(day=9, actor="assistant"), {"last_activated_at": at(9), "last_mentioned_at": at(9)}),
        (accessed(day=9, last_day=8.5), {"last_accessed_at": at(8.5)}),
        (graded(day=9), {"last_accessed_at": at(9)}),
        (revised(day=9), {"updated_at": at(9)}),
        (negated(day=9), {}),
        (reinforced(day=9), {}),
        (compressed(day=9), {}),
        (promoted(day=9), {}),
        (kept(day=9), {}),
        (deleted(day=9), {}),
        (linked("m", "n", day=9), {}),
        (merged("m", "n", day=9), {}),
    ],
    ids=lambda value: type(value.data).__name__ if isinstance(value, Told) else "moves",
)
def test_an_event_moves_just_these_time_stamps(event: Told, moves: dict[str, int]) -> None:
    outcome = PAIR.when(event)
    before, after = (history.memories["m"] for history in (outcome.before, outcome.after))
    moved = {name: getattr(after, name) for name in TIMES if getattr(after, name) != getattr(before, name)}
    assert moved == moves


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


@pytest.mark.parametrize(
    ("data", "tier"),
    [
        ({"kind": "episode"}, "episode"),
        ({"kind": "fact"}, "fact"),
        ({"kind": "core"}, "core"),
        ({"kind": "lesson"}, "fact"),
        ({"kind": "episode", "tier": "core"}, "core"),
    ],
)
def test_the_tier_comes_from_the_kind_where_it_is_not_told(data: dict[str, str], tier: str) -> None:
    memory.when(created(**data)).then(tier=tier)


@pytest.mark.parametrize(
    ("content", "data", "sensitivity"),
    [
        ("I like coffee", {}, 0),
        ("my password is hunter2", {}, 3),
        ("I forgot my password and my key costs money", {}, 0),
        ("my password is hunter2", {"sensitivity": 0}, 0),
        ("I like coffee", {"sensitivity": 2}, 2),
        ("I like coffee", {"summary": "my password is hunter2"}, 3),
    ],
)
def test_sensitivity_is_detected_by_value_unless_it_is_told(
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


# --- mentions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hours", "decision", "boost"),
    [
        ((0,), "reinforce", 0.5),
        ((0, 1), "reinforce", 0.5),
        ((0, 1, 2), "merge", 0.3),
        ((0, 1, 24 - 1e-9), "merge", 0.3),
        ((0, 1, 24), "reinforce", 0.5),
        ((0, 1, 2, 3), "merge", 0.3),
        ((0, 1, 2, 26), "reinforce", 0.5),
        ((0, 0, 0), "merge", 0.3),
    ],
)
def test_a_mention_is_frequent_when_it_is_the_third_in_the_day_that_ends_with_it(
    hours: tuple[float, ...], decision: str, boost: float
) -> None:
    *earlier, last = [mentioned(day=5 + hour / 24) for hour in hours]
    memory.given(created(), *earlier).when(last).then(decision=decision, mention_boost=boost)


def test_the_statement_that_made_the_memory_is_no_mention_of_the_day() -> None:
    memory.given(created(day=5), mentioned(day=5.1)).when(mentioned(day=5.2)).then(
        decision="reinforce", mention_count=3
    )


def test_how_much_a_mention_boosts_is_told_by_the_parameters_in_force_at_it() -> None:
    memory.given(
        created(),
        parameters(day=1, semantic_boost=0.7),
        mentioned(day=2),
        parameters(day=3, semantic_boost=0.9, frequent_boost=0.1),
    ).when(reinforced(day=4)).then(mention_boost=0.7)


def test_what_is_frequent_is_told_by_the_parameters_in_force_at_the_mention() -> None:
    story = memory.given(created(), parameters(frequent_threshold=2, frequent_window_hours=1.0, frequent_boost=0.2))
    story.given(mentioned(day=5)).when(mentioned(day=5 + 0.9 / 24)).then(decision="merge", mention_boost=0.2)
    story.given(mentioned(day=5)).when(mentioned(day=5 + 1 / 24)).then(decision="reinforce", mention_boost=0.5)


def test_a_mention_that_comes_late_counts_and_leaves_the_boost_to_the_newest() -> None:
    memory.given(created(), mentioned(day=6), parameters(semantic_boost=0.9)).when(mentioned(day=5)).then(
        mentions=(at(5), at(6)), mention_count=3, mention_boost=0.5, last_mentioned_at=at(6), last_activated_at=at(6)
    )


def test_of_mentions_out_of_order_only_the_newest_as_it_was_folded_tells_the_boost() -> None:
    """Times and counts do not depend on the order; whether a mention is frequent is decided when it is folded."""
    days = (5.0, 5.1, 5.2)
    found = {
        order: folded(created(), *(mentioned(day=day) for day in order)).memories["m"] for order in permutations(days)
    }
    assert {order: m.mention_boost for order, m in found.items()} == {
        order: 0.3 if order[-1] == 5.2 else 0.5 for order in permutations(days)
    }
    assert {(m.mentions, m.mention_count, m.last_activated_at, m.user_mentions) for m in found.values()} == {
        (tuple(map(at, days)), 4, at(5.2), (UserMention(at(5.2), None),))
    }


def test_the_newest_sixty_four_mentions_are_kept_by_their_time_and_all_are_counted() -> None:
    late_first = [mentioned(day=day) for day in range(100, 0, -1)]
    memory.given(created()).when(*late_first).then(
        mentions=tuple(at(day) for day in range(101 - MAX_MENTIONS, 101)), mention_count=101
    )


def test_a_mention_returns_a_compressed_memory_to_full() -> None:
    memory.given(created(), compressed("archive", day=400, content="coffee")).when(mentioned(day=401)).then(
        level=FULL, compressed=None, content="I like coffee"
    )


def test_modalities_are_united_on_one_memory() -> None:
    memory.given(created()).when(
        mentioned(day=1, modality="video"), mentioned(day=2, modality="image"), mentioned(day=3, modality="video")
    ).then(modalities=("image", "text", "video"))


# --- accesses -------------------------------------------------------------------------------------------------------


def test_an_access_counts_every_hit_and_writes_no_entry() -> None:
    outcome = PAIR.when(accessed("m", "n", day=4, count=3), accessed("m", day=3, count=2, via="injection"))
    outcome.then(access_count=5, last_accessed_at=at(4), last_activated_at=at(0))
    assert (outcome.after.memories["n"].access_count, outcome.log) == (3, [])


@pytest.mark.parametrize("via", ["recall", "association", "detail", "injection"])
def test_every_way_of_access_counts(via: str) -> None:
    PAIR.when(accessed(via=via, day=2)).then(access_count=1)


def test_an_access_to_what_is_gone_changes_nothing_and_writes_no_entry() -> None:
    story = memory.given(
        created(), created(of="n"), created(of="x"), merged("m", "n", day=1), deleted("x", day=1), purged("x", day=40)
    )
    outcome = story.when(accessed("m", "x", "unknown", "all", day=41))
    assert outcome.log == []
    assert {i: m.access_count for i, m in outcome.after.memories.items()} == {"m": 0, "n": 0, "x": 0, "all": 1}


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


@pytest.mark.parametrize(
    ("level", "number"), [("full", FULL), ("summary", SUMMARY), ("tag", TAG), ("trace", TRACE), ("archive", ARCHIVE)]
)
def test_a_compression_records_its_level(level: str, number: int) -> None:
    PAIR.when(compressed(level, day=40)).then(level=number, content="I like coffee")


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("policy", ["user_delete", "auto_cleanup", "merge_cleanup"])
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


@pytest.mark.parametrize(
    ("due", "decision"), [(39.9, "ignored"), (40 - 1e-10, "ignored"), (40, "purge"), (400, "purge")]
)
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


@pytest.mark.parametrize(
    "event",
    [
        mentioned(day=50),
        negated(day=50),
        reinforced(day=50),
        revised(day=50),
        compressed(day=50),
        promoted(day=50),
        kept(day=50),
        deleted(day=50),
        restored(day=50),
        purged(day=90),
        graded(day=50),
        linked("m", "n", day=50),
        created("again", day=50),
        merged("m", "n", day=50),
        asserted("m", day=50),
        created(of="x", day=50, corrects="m"),
    ],
    ids=lambda told: type(told.data).__name__,
)
def test_nothing_changes_a_tombstone(event: Told) -> None:
    PAIR.given(deleted(day=1), purged(day=40)).when(event).then(changed=set(), decision="ignored")


NOTHING: list[tuple[str, Told, str, str]] = [
    ("a mention", mentioned("x", day=1), "x", "unknown memory"),
    ("a negation", negated("x", day=1), "x", "unknown memory"),
    ("a reinforcement", reinforced("x", day=1), "x", "unknown memory"),
    ("a revision", revised(of="x", day=1), "x", "unknown memory"),
    ("a compression", compressed(of="x", day=1), "x", "unknown memory"),
    ("a promotion", promoted(of="x", day=1), "x", "unknown memory"),
    ("a keeping", kept("x", day=1), "x", "unknown memory"),
    ("a deletion", deleted("x", day=1), "x", "unknown memory"),
    ("a restoration", restored("x", day=1), "x", "unknown memory"),
    ("a purge", purged("x", day=1), "x", "unknown memory"),
    ("a grade", graded("x", day=1), "x", "unknown memory"),
    ("an asserted fact", asserted("x", day=1), "x", "unknown memory"),
    ("a retracted fact", retracted("x", day=1), "x", "unknown memory"),
    ("an erasure", erased("m", day=1), "m", "contents are not sealed: nothing can be erased for good"),
    ("a second creation", created("tea", day=1), "m", "this id exists already"),
    ("a restoration of what is not deleted", restored(day=1), "m", "not deleted"),
    ("a purge of what is not deleted", purged(day=90), "m", "not deleted"),
]


@pytest.mark.parametrize(("event", "of", "reason"), [n[1:] for n in NOTHING], ids=[n[0] for n in NOTHING])
def test_what_cannot_be_is_ignored_with_one_entry_that_says_why(event: Told, of: str, reason: str) -> None:
    outcome = PAIR.when(event)
    told = [(one["memory"], one["decision"], one["reason"], one["fields"]) for one in outcome.log]
    assert told == [(of, "ignored", reason, [])]
    assert outcome.after.memories == outcome.before.memories


def test_a_second_deletion_does_not_move_the_first() -> None:
    PAIR.given(deleted(day=1)).when(deleted(day=20)).then(deleted_at=at(1), decision="ignored")


def test_a_restored_memory_can_be_deleted_again() -> None:
    PAIR.given(deleted(day=1), restored(day=2)).when(deleted(day=3)).then(deleted_at=at(3), decision="delete")


def test_a_creation_tells_of_the_memories_that_it_names() -> None:
    outcome = PAIR.when(created(of="x", day=3, corrects="m", summarises=("m", "n", "nobody")))
    assert outcome.decisions == {"x": "create", "m": "named", "n": "named", "nobody": "ignored"}


def test_every_list_of_a_record_is_bounded() -> None:
    events = [created(of=f"n{n}") for n in range(60)] + [created(keywords=tuple(f"k{n}" for n in range(50)))]
    for n in range(60):
        events += [
            mentioned(day=n, turn_id=f"t{n}"),
            linked("m", f"n{n}", weight=n / 60),
            in_conflict("m", f"n{n}"),
            negated(day=n, turn_id=f"t{n}", resolution="weight_balance"),
            in_conflict("m", f"n{n}"),
            revised(str(n), day=n),
        ]
    found: Memory = folded(*events).memories["m"]
    sizes = {
        name: len(value)
        for name in Memory.__struct_fields__
        if isinstance(value := getattr(found, name), tuple) and value
    }
    assert sizes == {
        "keywords": 50,
        "modalities": 1,
        "versions": 16,
        "mentions": 60,
        "user_mentions": 8,
        "negations": 32,
        "edges": 32,
    }
