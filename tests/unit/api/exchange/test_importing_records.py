"""Importing older records: what is refused, and that importing again appends nothing."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.api.exchange.records import RecordOptions, import_records
from engramlog_server.events.errors import InputError
from engramlog_server.events.partitions import partition_of
from tests.given.records import ENTRY, OURS, ROW, SHAPES, imported, lines, new_log
from tests.rows import each_row

each_shape = pytest.mark.parametrize("record", SHAPES.values(), ids=SHAPES)


def refusal(record: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The context of the error that stopped the import of one record, the second line of its file."""
    answer, events, _ = imported([b"\n", *lines(record)], **options)
    assert isinstance(answer.done.error, InputError)
    assert (events, answer.exit_code) == ([], 2)
    return answer.done.error.context


# --- what is refused ------------------------------------------------------------------------------------------------


@each_row(
    ("record", "field", "got"),
    [
        (ENTRY | {"id": "two words"}, "id", '"two words"'),
        (ENTRY | {"id": "x" * 129}, "id", None),
        (ENTRY | {"id": 7}, "id", "7"),
        (ENTRY | {"id": None}, "id", "nothing"),
        (ENTRY | {"content": " "}, "content", '" "'),
        (ENTRY | {"content": None}, "content", "nothing"),
        (ENTRY | {"accessCount": "5"}, "accessCount", '"5"'),
        (ENTRY | {"decayRate": 3}, "decayRate", "3"),
        (ENTRY | {"confidence": 1.5}, "confidence", "1.5"),
        (ENTRY | {"category": "two words"}, "category", '"two words"'),
        (ENTRY | {"keywords": ["a", 5]}, "keywords[1]", "5"),
        (ENTRY | {"source": {"type": "dream"}}, "source", "{'type': 'dream'}"),
        (ENTRY | {"source": {"type": "chat", "chatId": "a b"}}, "source.chatId", '"a b"'),
        (ENTRY | {"associations": {}}, "associations", "{}"),
        (ENTRY | {"associations": [{"targetId": 5}]}, "associations[0]", "{'targetId': 5}"),
        (ENTRY | {"associations": [{"targetId": "n", "weight": "1"}]}, "associations[0].weight", "1"),
        (
            ENTRY | {"associations": [{"targetId": "n", "weight": 0.1}, {"targetId": "o", "weight": 2}]},
            "associations[1].weight",
            "2",
        ),
        (
            ENTRY | {"associations": [{"targetId": "n", "weight": 0.1}, {"targetId": "o o", "weight": 1}]},
            "associations[1].targetId",
            '"o o"',
        ),
        (ROW | {"type": 3}, "type", "3"),
        (ROW | {"task_id": 3}, "task_id", "3"),
        (ROW | {"key": "k" * 101}, "key", None),
        (ROW | {"confidence_score": "high"}, "confidence_score", '"high"'),
        (ROW | {"related_ids_json": "n, o"}, "related_ids_json", "n, o"),
        (ROW | {"related_ids_json": '["a b"]'}, "related_ids_json", '"a b"'),
        (ROW | {"emotional_weight": 2}, "emotional_weight", "2"),
        (OURS | {"mood": 1}, "mood", "1"),
        (OURS | {"engramlog": 2}, "engramlog", "2"),
        (OURS | {"session": "a b"}, "session", '"a b"'),
        (OURS | {"status": 1}, "status", "1"),
        (OURS | {"imported": {"stability": -1}}, "imported.stability", "-1"),
        (OURS | {"imported": []}, "imported", "[]"),
        ({"id": "m", "content": "no time"}, "record", "fields id, content"),
        (ENTRY | ROW, "record", None),
    ],
)
def test_what_cannot_be_is_refused_by_line_and_field_and_nothing_is_written(
    record: dict[str, Any], field: str, got: str | None
) -> None:
    context = refusal(record)
    assert (context["line"], context["field"]) == (2, field)
    assert got is None or context["got"] == got
    assert context["allowed"]


@each_row("line", [b"{", b"[]", b'"m"', b'{"engramlog": NaN}', b"\xff", b'{"id": "\\ud800"}'])
def test_a_line_that_is_no_json_object_is_refused(line: bytes) -> None:
    answer, events, _ = imported([line])
    assert answer.done.error is not None
    assert (answer.done.error.context["field"], answer.done.error.context["line"], events) == ("record", 1, [])


@each_row(
    ("record", "name", "field"),
    [
        (OURS, "created_at", "created_at"),
        (ENTRY, "createdAt", "createdAt"),
        (ENTRY, "updatedAt", "updatedAt"),
        (ENTRY, "lastReinforcedAt", "lastReinforcedAt"),
        (ROW, "created_at", "created_at"),
        (ROW, "last_accessed_at", "last_accessed_at"),
    ],
)
@each_row("spelt", ["2024-01-02T03:04:05", "2024-01-02 03:04:05.678"])
def test_a_time_without_a_zone_is_refused_in_words_or_read_as_utc_where_that_is_said(
    record: dict[str, Any], name: str, field: str, spelt: str
) -> None:
    context = refusal(record | {name: spelt})
    assert (context["field"], context["got"]) == (field, spelt)
    assert "--assume-utc" in context["allowed"]
    as_utc = imported(lines(record | {name: spelt}), assume_utc=True)
    assert as_utc[2] == imported(lines(record | {name: f"{spelt}Z"}))[2]


@each_row("bad", ["yesterday", "2024-13-01T00:00:00Z", "1899-01-01T00:00:00Z", 1704096000, True])
@each_row("assume_utc", [False, True])
def test_what_is_no_time_is_refused_whatever_is_assumed(bad: object, assume_utc: bool) -> None:
    context = refusal(ENTRY | {"createdAt": bad}, assume_utc=assume_utc)
    assert (context["field"], "--assume-utc" in context["allowed"]) == ("createdAt", False)


def test_a_record_from_the_future_is_refused() -> None:
    assert refusal(ENTRY | {"createdAt": "2400-01-01T00:00:00Z"})["field"] == "createdAt"


def test_a_bad_line_stops_the_import_and_what_stood_before_it_is_in() -> None:
    answer, _, memories = imported(lines(ENTRY, ENTRY | {"id": "a b"}, ENTRY | {"id": "o"}))
    assert (set(memories), answer.records, answer.exit_code) == ({"m"}, 1, 2)
    assert answer.done.error is not None
    assert answer.done.error.context["line"] == 2


@each_row(("options", "field"), [({"owner": "a b"}, "owner"), ({"owner": "ada", "shape": "diary"}, "shape")])
def test_an_owner_or_shape_that_cannot_be_is_refused_before_anything_is_read(
    options: dict[str, str], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        import_records(new_log(), [], RecordOptions(**options))
    assert caught.value.context["field"] == field


# --- again, twice, changed ------------------------------------------------------------------------------------------


@each_shape
def test_importing_again_appends_nothing(record: dict[str, Any]) -> None:
    log = new_log()
    first, events, _ = imported(lines(record), log)
    again, same, _ = imported(lines(record), log)
    assert (first.done.appended, again.done.appended, again.done.already_appended) == (1, 0, 1)
    assert (same, again.exit_code) == (events, 0)


def test_the_same_record_of_another_owner_is_another_memory() -> None:
    log = new_log()
    imported(lines(ENTRY), log)
    assert imported(lines(ENTRY), log, owner="bo")[0].done.appended == 1


def test_a_record_that_changed_since_is_told_and_the_new_ones_beside_it_go_in() -> None:
    log = new_log()
    imported(lines(ENTRY), log)
    answer, _, memories = imported(lines(ENTRY | {"accessCount": 6}, ENTRY | {"id": "n"}), log)
    assert [one["line"] for one in answer.done.conflicts] == [1]
    assert (answer.done.appended, answer.exit_code, memories["m"].access_count, set(memories)) == (1, 3, 5, {"m", "n"})


def test_a_line_said_twice_counts_once_and_one_that_says_something_else_of_the_same_id_is_told() -> None:
    answer, events, memories = imported(lines(ENTRY, ENTRY, ENTRY | {"content": "pin nothing"}))
    assert (len(events), answer.records, answer.repeated) == (1, 1, 1)
    assert answer.duplicates == [{"line": 3, "memory_id": "m", "first_line": 1}]
    assert (memories["m"].content, answer.exit_code) == (ENTRY["content"], 3)


def test_an_exported_memory_that_no_longer_stood_is_not_brought_back_to_life() -> None:
    answer, events, _ = imported(lines(OURS | {"status": "deleted"}))
    assert (events, answer.skipped, answer.exit_code) == ([], {"deleted": 1}, 0)


def test_a_long_file_goes_in_by_requests_and_progress_tells_its_lines() -> None:
    told: list[int] = []
    log = new_log()
    records = lines(*(ENTRY | {"id": f"m{i}"} for i in range(1_001)))
    answer = import_records(log, records, RecordOptions(owner="ada"), told.append)
    assert (answer.records, answer.done.appended, told) == (1_001, 1_001, [1_000, 1_001])


def test_the_newest_record_is_told_to_the_fraction_of_a_second() -> None:
    whole, later = "2024-01-01T08:00:00Z", "2024-01-01T08:00:00.250000Z"
    told = lines(ENTRY | {"createdAt": later}, ENTRY | {"id": "n", "createdAt": whole})
    assert imported(told)[0].newest == later


def test_the_answer_tells_counts_and_places() -> None:
    answer = imported(lines(ENTRY, ENTRY | {"id": "n", "createdAt": "2023-05-01T00:00:00Z"}))[0].told("ada", ["m"], [])
    partition = partition_of("ada", new_log().partitions)
    assert answer == {
        "owner": "ada",
        "records": 2,
        "shapes": {"ebbinghaus": 2},
        "appended": 2,
        "already_appended": 0,
        "conflicts": [],
        "repeated": 0,
        "duplicates": [],
        "skipped": {},
        "ignored_fields": {},
        "made_ordinary": {},
        "rejections": 0,
        "rejections_left_out": {},
        "said": 0,
        "said_withheld": 0,
        "of_the_log": {},
        "flagged": 0,
        "conflicting": [],
        "associations_left_out": 0,
        "newest_record": "2024-01-01T08:00:00Z",
        "last_position": f"{partition}:2",
        "ids_taken": ["m"],
        "rejected": [],
    }
