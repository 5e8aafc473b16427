"""What every event may change on a memory, and what changes nothing (memory.md, section 2)."""

from __future__ import annotations

from engramlog_server.events.catalogue import SynonymDefined, ToolResultRecorded, TurnRecorded
from engramlog_server.projections.memory.record import Memory
from tests.given.events import (
    Story,
    Told,
    accessed,
    asserted,
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
from tests.rows import each_row

TIMES = (
    "created_at", "updated_at", "last_activated_at", "last_mentioned_at", "last_accessed_at",
)  # fmt: skip
PAIR = memory.given(created(), created(of="n"))
REINFORCED = {"reinforce_count", "stability", "last_reinforced_at"}
USED = REINFORCED | {"used_at"}
SHOWN = REINFORCED | {"access_count", "last_accessed_at"}
ACTIVATED = {"last_activated_at", "mention_count", "mentions", "mention_boost"}
EFFECTS: list[tuple[str, Story, Told, set[str]]] = [
    ("a mention by the user", PAIR, mentioned(day=9), ACTIVATED | {"user_mentions"}),
    ("a mention by the assistant", PAIR, mentioned(day=9, actor="assistant"), ACTIVATED),
    ("a mention by image", PAIR, mentioned(day=9, actor="judge", modality="image"), ACTIVATED | {"modalities"}),
    (
        "a mention of a compressed one", PAIR.given(compressed("trace", day=3, content="coffee")),
        mentioned(day=9, actor="assistant"), ACTIVATED | {"level", "compressed"},
    ),
    ("a negation", PAIR, negated(day=9), {"negations", "negated_at", "resolution"}),
    (
        "a negation with a successor", PAIR, negated(day=9, replaced_by="n"),
        {"negations", "negated_at", "resolution", "superseded_by"},
    ),
    ("a negation of another one that it replaces", PAIR, negated("n", day=9, replaced_by="m"), set()),
    ("an access", PAIR, accessed("m", "n", day=9), SHOWN),
    (
        "accesses of the first three together", PAIR, accessed("m", "n", day=9, together=(("m", "n"),)), SHOWN | {"edges"},
    ),
    ("a use", PAIR, reinforced(day=9), USED | {"importance", "upkeep"}),
    (
        "a use that another led to", PAIR, reinforced(day=9, from_memory="n"), USED | {"importance", "upkeep", "edges"},
    ),
    ("a task that succeeded", PAIR, reinforced(day=9, outcome="task_success"), USED | {"schedule"}),
    ("a task that failed", PAIR, reinforced(day=9, outcome="task_failure"), {"stability", "schedule"}),
    ("a look by hand", PAIR, reinforced(day=9, outcome="manual_review"), USED),
    ("a use of another that it led to", PAIR, reinforced("n", day=9, from_memory="m"), {"edges"}),
    ("a revision", PAIR, revised(day=9), {"content", "stated", "version", "versions", "updated_at"}),
    (
        "a revision with words", PAIR, revised(day=9, summary="short", keywords=("Espresso",), tags=("morning",)),
        {"content", "stated", "version", "versions", "updated_at", "summary", "keywords", "tags"},
    ),
    ("a compression", PAIR, compressed("tag", day=9, content="coffee"), {"level", "compressed"}),
    ("a promotion", PAIR, promoted("core", day=9, from_="fact"), {"tier"}),
    ("a reviewer's keeping", PAIR, kept(day=9, due_at=moment(8)), set()),
    ("a deletion", PAIR, deleted(day=9), {"deleted_at", "deletion"}),
    ("a restoration", PAIR.given(deleted(day=3)), restored(day=9), {"deleted_at", "deletion", "restored_at"}),
    (
        "a restoration of a compressed one", PAIR.given(compressed("tag", content="coffee"), deleted(day=3)),
        restored(day=9), {"deleted_at", "deletion", "restored_at", "level", "compressed"},
    ),
    ("a grade", PAIR, graded(day=9), {"access_count", "last_accessed_at", "schedule"}),
    ("a link", PAIR, linked("n", "m", day=9), {"edges"}),
    ("a possible conflict", PAIR, in_conflict("n", "m", day=9), {"conflicts"}),
    ("a merge into another", PAIR, merged("m", "n", day=9), {"merged_into", "merged_at"}),
    ("a fact asserted from it", PAIR, asserted("m", day=9), {"facts"}),
    ("a fact retracted that it does not back", PAIR, retracted("m", day=9), set()),
    ("a fact retracted from it", PAIR.given(asserted("m", day=3)), retracted("m", day=9), {"facts"}),
    ("a memory that corrects it", PAIR, created(of="x", day=9, corrects="m"), set()),
    ("a memory that summarises it", PAIR, created(of="x", day=9, summarises=("m", "n")), set()),
    ("a second creation with its id", PAIR, created("tea", day=9), set()),
    (
        "an erasure", PAIR, erased(day=9), {"deleted_at", "deletion", "purged_at", "content"},
    ),
    ("another profile", PAIR, profile("ebbinghaus", day=9), set()),
    ("other parameters", PAIR, parameters(day=9, alpha_base=0.1), set()),
    ("a turn", PAIR, Told(TurnRecorded(turn_id="t", role="user", text="coffee!"), 9), set()),
    ("a tool result", PAIR, Told(ToolResultRecorded(tool="ls", text="coffee.txt"), 9), set()),
    ("a synonym", PAIR, Told(SynonymDefined(keyword="coffee", synonym="java"), 9), set()),
]  # fmt: skip


@each_row(("story", "event", "changed"), [e[1:] for e in EFFECTS], ids=[e[0] for e in EFFECTS])
def test_an_event_changes_just_these_fields_of_the_memory(story: Story, event: Told, changed: set[str]) -> None:
    assert story.when(event).changed("m") == changed


@each_row(("story", "event"), [e[1:3] for e in EFFECTS], ids=[e[0] for e in EFFECTS])
def test_an_event_that_comes_late_moves_no_time_stamp_backwards(story: Story, event: Told) -> None:
    busy = story.given(
        mentioned(day=20, actor="assistant"), accessed("m", "n", day=21), revised(day=22), graded(day=23)
    )
    outcome = busy.when(event)
    before, after = (history.memories["m"] for history in (outcome.before, outcome.after))
    assert [(getattr(after, name) or 0) >= (getattr(before, name) or 0) for name in (*TIMES, "stamp")] == [True] * 6


# --- what changes nothing ------------------------------------------------------------------------------------------


@each_row(
    "event",
    [
        mentioned(day=50), negated(day=50), reinforced(day=50), revised(day=50), compressed(day=50), promoted(day=50),
        kept(day=50), deleted(day=50), restored(day=50), purged(day=90), graded(day=50), linked("m", "n", day=50),
        created("again", day=50), merged("m", "n", day=50), asserted("m", day=50), created(of="x", day=50, corrects="m"),
    ],
    ids=lambda told: type(told.data).__name__,
)  # fmt: skip
def test_nothing_changes_a_tombstone(event: Told) -> None:
    PAIR.given(deleted(day=1), purged(day=40)).when(event).then(changed=set(), decision="ignored")


NOTHING: list[tuple[str, Told, str, str]] = [
    ("a mention", mentioned("x", day=1), "x", "unknown memory"), ("a negation", negated("x", day=1), "x", "unknown memory"),
    ("a reinforcement", reinforced("x", day=1), "x", "unknown memory"),
    ("a revision", revised(of="x", day=1), "x", "unknown memory"),
    ("a compression", compressed(of="x", day=1), "x", "unknown memory"),
    ("a promotion", promoted(of="x", day=1), "x", "unknown memory"), ("a keeping", kept("x", day=1), "x", "unknown memory"),
    ("a deletion", deleted("x", day=1), "x", "unknown memory"),
    ("a restoration", restored("x", day=1), "x", "unknown memory"), ("a purge", purged("x", day=1), "x", "unknown memory"),
    ("a grade", graded("x", day=1), "x", "unknown memory"),
    ("an asserted fact", asserted("x", day=1), "x", "unknown memory"),
    ("a retracted fact", retracted("x", day=1), "x", "unknown memory"),
    ("an erasure", erased("x", day=1), "x", "unknown memory"),
    ("a second creation", created("tea", day=1), "m", "this id exists already"),
    ("a restoration of what is not deleted", restored(day=1), "m", "not deleted"),
    ("a purge of what is not deleted", purged(day=90), "m", "not deleted"),
]  # fmt: skip


@each_row(("event", "of", "reason"), [n[1:] for n in NOTHING], ids=[n[0] for n in NOTHING])
def test_what_cannot_be_is_ignored_with_one_entry_that_says_why(event: Told, of: str, reason: str) -> None:
    outcome = PAIR.when(event)
    told = [(one["memory"], one["decision"], one["reason"], one["fields"]) for one in outcome.log]
    assert told == [(of, "ignored", reason, [])]
    assert outcome.after.memories == outcome.before.memories


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
