"""New ids and names hide nothing; old ones are left alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engramlog_server.api.choices import decoded_id, encoded_id
from engramlog_server.events.catalogue import MemoryCreated, MemoryDeleted, MemoryMerged, TurnRecorded
from engramlog_server.events.envelope import micros
from engramlog_server.events.errors import InvalidEvent
from engramlog_server.events.validation import NO_PATH, make_event, trouble_with
from tests.rows import each_row

AT = datetime(2026, 1, 5, tzinfo=UTC)
NOW = micros(AT)


def made(data: Any, **envelope: Any) -> Any:
    return make_event(data, **({"owner": "ada", "occurred_at": AT, "actor": "user", "now": NOW} | envelope))


def memory(**fields: Any) -> MemoryCreated:
    return MemoryCreated(
        **({"memory_id": "m1", "content": "x", "category": "fact", "kind": "note", "source": "user"} | fields)
    )


def turn(**fields: Any) -> TurnRecorded:
    return TurnRecorded(**({"turn_id": "t1", "role": "user", "text": "x"} | fields))


@each_row(
    ("field", "data", "envelope"),
    [
        ("data.memory_id", memory(memory_id="m\ufe0f1"), {}),
        ("data.memory_id", memory(memory_id="m\u3164"), {}),
        ("data.turn_id", turn(turn_id="t\u115f1"), {}),
        ("owner", memory(), {"owner": "ada\u034f"}),
        ("owner", turn(), {"owner": "ad\U000e0101a"}),
        ("session_id", turn(), {"session_id": "s\u180b1"}),
        ("data.speaker", turn(speaker="Bob\u202e"), {}),
        ("data.speaker", turn(speaker="Bob\u200b"), {}),
        ("data.project", memory(project="p\x1b[31m"), {}),
        ("data.task", memory(task="t\u3164"), {}),
    ],
)
def test_a_new_id_or_name_that_hides_something_is_refused_and_the_character_named(
    field: str, data: Any, envelope: dict[str, Any]
) -> None:
    with pytest.raises(InvalidEvent) as refused:
        made(data, **envelope)
    assert refused.value.context["field"] == field
    assert "U+" in refused.value.message
    assert refused.value.message.isprintable()


@each_row("owner", ["ａｄａ", "ﬁn", "ⅷ", "ada①", "㍿"])
def test_a_new_id_that_nfkc_writes_otherwise_is_refused(owner: str) -> None:
    with pytest.raises(InvalidEvent, match="owner"):
        made(turn(), owner=owner)


@each_row("dots", [".", ".."])
@each_row("way", ["owner", "session_id", "data.turn_id", "data.memory_id", "data.into"])
def test_a_new_id_that_no_path_can_hold_is_refused(way: str, dots: str) -> None:
    data: Any = {
        "data.turn_id": turn(turn_id=dots),
        "data.memory_id": memory(memory_id=dots),
        "data.into": MemoryMerged(sources=("a", "b"), into=dots, summary="x"),
    }.get(way, turn())
    with pytest.raises(InvalidEvent) as refused:
        made(data, **({way: dots} if "." not in way else {}))
    assert refused.value.context["field"] == way
    assert refused.value.message == f"{way}: got {dots}; allowed: {NO_PATH}"


@each_row("old", [".", ".."])
def test_what_is_old_and_no_path_can_hold_goes_on_by_the_doors_that_have_none(old: str) -> None:
    assert made(MemoryDeleted(memory_id=old), owner=old).data.memory_id == old
    assert made(memory(), owner=old, actor="system").owner == old


@each_row("dotted", ["...", ".a", "a.", "a..b", "../a", "./", "..-"])
def test_dots_beside_anything_else_make_ids(dotted: str) -> None:
    assert made(memory(memory_id=dotted), owner=dotted).owner == dotted


@each_row("name", ["王芳", "Zoë", "Владимир", "אבי", "می‌خواهم", "क्‍ष", "Ada ❤️", "👨‍👩‍👧", "José María", "O'Brien"])
def test_peoples_names_are_no_trouble(name: str) -> None:
    assert made(turn(speaker=name)).data.speaker == name


@each_row("owner", ["ada", "王芳", "Владимир", "zoë", "team/ada@x+1", "раssword"])
def test_letters_of_any_script_make_ids(owner: str) -> None:
    assert made(turn(), owner=owner).owner == owner


def test_what_is_old_is_deleted_under_its_old_id() -> None:
    assert made(MemoryDeleted(memory_id="m\ufe0f1"), owner="ada\u034f").data.memory_id == "m\ufe0f1"


def test_a_job_carries_on_for_an_owner_with_an_old_id() -> None:
    assert made(memory(), owner="ada\u034f", actor="system").owner == "ada\u034f"


@each_row("actor", ["system", "judge"])
def test_a_job_carries_on_for_a_speaker_with_an_old_name(actor: str) -> None:
    assert made(memory(speaker="Ann\nobey", source="judge"), actor=actor).data.speaker == "Ann\nobey"


def test_the_rule_says_which_character_and_where() -> None:
    trouble = trouble_with("ab\u200bc")
    assert trouble is not None
    assert trouble.allowed == "no character that shows nothing: U+200B ZERO WIDTH SPACE is character 3"


@each_row("value", ["m1", "王芳", "m\ufe0f1", "a\u3164b", "m-1:2@x/y+z"])
def test_an_id_is_shown_so_that_it_can_be_asked_for(value: str) -> None:
    shown = encoded_id(value)
    assert (decoded_id(shown), trouble_with(shown)) == (value, None)
