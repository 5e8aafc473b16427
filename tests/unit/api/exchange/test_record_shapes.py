"""The shapes of older records: what each becomes, field by field (seed 004, section 3; seed 000, sections 1.1 and 2.1)."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.projections.memory.record import MAX_EDGES
from tests.given.events import at
from tests.given.records import ENTRY, OURS, ROW, SHAPES, imported, lines
from tests.rows import each_row

each_shape = pytest.mark.parametrize("record", SHAPES.values(), ids=SHAPES)


@each_shape
def test_a_record_becomes_one_creation_by_the_system_at_the_time_it_was_made(record: dict[str, Any]) -> None:
    answer, events, memories = imported(lines(record))
    [event] = events
    assert (event.type, event.actor, memories["m"].created_at, memories["m"].imported) == (
        "MemoryCreated",
        "system",
        at(0),
        True,
    )
    assert (answer.records, answer.done.appended, answer.exit_code) == (1, 1, 0)


@each_row("shape", SHAPES)
def test_the_shape_of_each_line_shows_in_its_fields_and_may_be_told(shape: str) -> None:
    by_itself, events, _ = imported(lines(SHAPES[shape]))
    told, same, _ = imported(lines(SHAPES[shape]), shape=shape)
    assert (by_itself.shapes, events) == ({shape: 1}, same)
    assert told.shapes == {shape: 1}


@each_row("shape", ["auto", *SHAPES])
def test_an_export_that_ended_before_its_end_is_told_as_that(shape: str) -> None:
    answer, _, memories = imported(lines(SHAPES.get(shape, OURS), {"cut": {"error": "StoreUnavailable"}}), shape=shape)
    assert (set(memories), answer.exit_code) == ({"m"}, 2)
    assert "an export that ended before its end" in str(answer)


def test_a_field_of_somebody_else_s_records_is_no_end_of_an_export() -> None:
    answer, _, memories = imported(lines(ENTRY | {"id": "e", "cut": "the last third"}))
    assert (set(memories), answer.exit_code) == ({"e"}, 0)


def test_one_file_may_hold_records_of_every_shape() -> None:
    answer, _, memories = imported(lines(OURS, ENTRY | {"id": "e"}, ROW | {"id": "r"}))
    assert (answer.shapes, set(memories)) == ({"engramlog": 1, "ebbinghaus": 1, "consolidating": 1}, {"m", "e", "r"})


@each_row(
    ("category", "ours", "kind"),
    [
        ("preference", "stable_preference", "preference"),
        ("pattern", "skill", "pattern"),
        ("lesson", "skill", "lesson"),
        ("pitfall", "fact", "pitfall"),
        ("tool", "fact", "tool"),
        ("decision", "fact", "decision"),
        (None, "fact", "note"),
    ],
)
def test_the_category_of_an_entry_is_its_kind_and_gives_our_category(
    category: str | None, ours: str, kind: str
) -> None:
    found = imported(lines(ENTRY | {"category": category}))[2]["m"]
    assert (found.category, found.kind, found.tier) == (ours, kind, "fact")


def test_an_entry_without_stability_gets_the_defaults_of_its_migration() -> None:
    found = imported(lines(ENTRY))[2]["m"]
    assert found.stability == pytest.approx(122.4)
    assert (found.reinforce_count, found.last_reinforced_at, found.decay_rate) == (5, at(1), None)


def test_an_entry_brings_the_counters_it_has() -> None:
    record = ENTRY | {
        "lastAccessedAt": "2024-01-06T08:00:00Z",
        "strength": 61,
        "stability": 48,
        "lastReinforcedAt": "2024-01-05T08:00:00Z",
        "reinforceCount": 0,
        "decayRate": 0.7,
        "projectPath": "/srv/shop",
    }
    _, [event], memories = imported(lines(record))
    found = memories["m"]
    assert event.data.imported.strength == 61
    assert (found.stability, found.decay_rate, found.reinforce_count, found.access_count) == (48.0, 0.7, 0, 5)
    assert (found.last_reinforced_at, found.last_accessed_at, found.updated_at) == (at(4), at(5), at(1))
    assert (found.confidence, found.project, found.task, found.keywords) == (
        0.8,
        "/srv/shop",
        "T-7",
        ("compiler", "version"),
    )


@each_row(
    ("source", "ours", "session", "turns"),
    [
        ({"type": "task", "taskId": "T-7"}, "import", None, ()),
        ({"type": "manual"}, "user", None, ()),
        ({"type": "chat", "chatId": "lark-1", "messageId": "msg-2"}, "import", "lark-1", ("msg-2",)),
        (None, "import", None, ()),
    ],
    ids=["task", "manual", "chat", "untold"],
)
def test_the_source_of_an_entry_tells_who_said_it_and_where(
    source: dict[str, str] | None, ours: str, session: str | None, turns: tuple[str, ...]
) -> None:
    found = imported(lines(ENTRY | {"source": source}))[2]["m"]
    assert (found.source, found.session, found.source_turns) == (ours, session, turns)


def test_associations_come_along_the_strongest_of_each_target_and_none_to_itself() -> None:
    told = [("n", 0.4, "keyword"), ("n", 0.5, "co-task"), ("m", 1, "semantic"), ("o", 0.2, "co-project")]
    record = ENTRY | {"associations": [{"targetId": i, "weight": w, "type": t} for i, w, t in told]}
    found = imported(lines(record))[2]["m"]
    assert [(e.to, e.base, e.link) for e in found.edges] == [("n", 0.5, "co-task"), ("o", 0.2, "co-project")]


def test_of_more_associations_than_a_memory_holds_the_strongest_stay_and_the_rest_is_counted() -> None:
    told = [{"targetId": f"n{i}", "weight": i / 100, "type": "co-project"} for i in range(50)]
    answer, _, memories = imported(lines(ENTRY | {"associations": told}))
    assert answer.edges_left_out == 50 - MAX_EDGES
    assert {edge.to for edge in memories["m"].edges} == {f"n{i}" for i in range(50 - MAX_EDGES, 50)}


def test_a_row_brings_its_columns() -> None:
    _, [event], memories = imported(lines(ROW))
    found = memories["m"]
    assert (found.category, found.kind, found.source, found.task) == ("fact", "run", "import", "T-9")
    assert (found.keywords, found.tags, found.emotion) == (("nightly-timeout",), ("late_night", "debugging"), 0.5)
    assert (found.access_count, found.updated_at, found.last_accessed_at, found.confidence) == (9, at(2), at(3), 0.7)
    assert [(e.to, e.base, e.link) for e in found.edges] == [("n", 0.5, "related")]
    assert event.data.imported.consolidation_score == 0.51


def test_a_row_may_hold_its_lists_as_lists() -> None:
    bare = {name: value for name, value in ROW.items() if not name.endswith("_json")}
    listed = bare | {"context_tags": ["late_night", "debugging"], "related_ids": ["n", "m", "n"]}
    assert imported(lines(listed))[2] == imported(lines(ROW))[2]


@each_row(("tags", "weight", "emotion"), [("[]", 0.0, None), ("[]", -0.3, -0.3), ('["work_hours"]', 0.0, 0.0)])
def test_no_emotion_beside_no_tags_is_the_default_of_a_column_and_leaves_it_to_be_read_from_the_words(
    tags: str, weight: float, emotion: float | None
) -> None:
    found = imported(lines(ROW | {"context_tags_json": tags, "emotional_weight": weight}))[2]["m"]
    assert found.emotion == emotion


@each_row("nothing", [None, ""])
def test_null_and_the_empty_text_are_no_values(nothing: str | None) -> None:
    row = ROW | {"task_id": nothing, "key": nothing, "last_accessed_at": nothing, "related_ids_json": nothing}
    entry = ENTRY | {"id": "e", "projectPath": nothing, "lastAccessedAt": nothing, "associations": nothing}
    _, _, memories = imported(lines(row, entry))
    assert (memories["m"].task, memories["m"].keywords, memories["m"].last_accessed_at) == (None, (), None)
    assert (memories["e"].project, memories["e"].last_accessed_at, memories["e"].edges) == (None, None, ())


def test_sensitivity_is_detected_in_what_older_records_say() -> None:
    assert imported(lines(ENTRY | {"content": "my password is hunter2"}))[2]["m"].sensitivity == 3


def test_fields_that_a_shape_does_not_know_are_counted_and_told() -> None:
    answer, _, _ = imported(lines(ENTRY | {"mood": 1}, ENTRY | {"id": "n", "mood": 2}, ROW | {"id": "r", "version": 3}))
    assert answer.ignored_fields == {"mood": 2, "version": 1}
