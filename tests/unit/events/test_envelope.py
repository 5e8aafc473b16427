"""Stored events read back, ids derived, instants spelled."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from engramlog_server.events.catalogue import EVENT_TYPES, MemoryMentioned, MemoryPromoted
from engramlog_server.events.envelope import (
    decode,
    derived_id,
    from_micros,
    micros,
    new_event_id,
    prepare_body,
    utc_text,
)
from engramlog_server.events.errors import UndecodableEvent
from tests.given.samples import MOMENT, mention, side_events
from tests.rows import each_row


def test_a_prepared_event_knows_its_key_its_owner_and_whether_it_moves_a_head() -> None:
    moving, access, turn, tool = mention(1), *side_events()
    assert moving.raw_id.hex() == moving.event_id.replace("-", "")
    assert (moving.owner, moving.kind) == ("ann", "MemoryMentioned.1")
    assert [e.moves_head for e in (moving, access, turn, tool)] == [True, False, False, False]
    assert [e.is_access for e in (moving, access, turn, tool)] == [False, True, False, False]


def test_every_event_but_five_moves_its_owners_head() -> None:
    still = {name for name in EVENT_TYPES if not prepare_body(derived_id("x"), name, 1, "ann", b"{}").moves_head}
    assert still == {"MemoriesAccessed", "TurnRecorded", "ToolResultRecorded", "MemoriesRevealed", "ReadRecorded"}


def test_a_stored_event_reads_back() -> None:
    event = decode("MemoryMentioned.1", mention(1).body)
    assert (event.owner, event.occurred_at, event.data) == ("ann", MOMENT, MemoryMentioned(memory_id="m1"))


def test_from_is_read_under_its_name_in_the_log() -> None:
    body = b'{"actor":"judge","data":{"from":"fact","memory_id":"m","to":"core"},"event_id":"019cec00-0000-7000-8000-000000000001","occurred_at":"2026-11-22T09:30:00Z","owner":"ann","schema_version":1,"type":"MemoryPromoted"}'  # noqa: E501
    assert decode("MemoryPromoted.1", body).data == MemoryPromoted(memory_id="m", from_="fact", to="core")


@each_row(
    ("kind", "body"),
    [
        ("MemoryForgotten.1", b"{}"),
        ("MemoryMentioned.2", mention(1).body),
        ("MemoryMentioned.0", mention(1).body),
        ("MemoryMentioned", mention(1).body),
        ("MemoryMentioned.\u00b2", mention(1).body),
        ("", b""),
        ("MemoryMentioned.1", b""),
        ("MemoryMentioned.1", mention(1).body[:-1]),
        ("MemoryMentioned.1", b"[]"),
        ("MemoryMentioned.1", b"{}"),
        ("MemoryMentioned.1", mention(1).body.replace(b'"m1"', b"1")),
        ("MemoryMentioned.1", mention(1).body.replace(b"2026", b"20x6")),
        ("MemoryMentioned.1", b"[" * 5_000),
        ("MemoryPromoted.1", b"[]"),
        ("MemoryPromoted.1", b"7"),
        ("MemoryPromoted.1", b'{"data": 7}'),
        ("MemoryPromoted.1", b'{"data": {}}'),
    ],
)
def test_stored_bytes_that_cannot_be_read_say_of_which_kind_they_are(kind: str, body: bytes) -> None:
    with pytest.raises(UndecodableEvent) as caught:
        decode(kind, body)
    assert caught.value.context == {"kind": kind}
    assert repr(kind) in caught.value.message


@each_row("before", [b'{"actor"', b'{"memory_id"'])
def test_a_field_that_this_release_does_not_know_is_passed_over_by_nobody(before: bytes) -> None:
    body = mention(1).body
    assert body.count(before) == 1
    with pytest.raises(UndecodableEvent, match="unknown field"):
        decode("MemoryMentioned.1", body.replace(before, before.replace(b"{", b'{"aaa":1,')))


def test_the_same_parts_give_the_same_id_and_their_borders_count() -> None:
    assert derived_id("merge", "ann", "m1") == derived_id("merge", "ann", "m1")
    assert len({derived_id("a", "b"), derived_id("ab"), derived_id("a", "b", ""), derived_id("b", "a")}) == 4
    assert derived_id("a")[14] == "5"


def test_fresh_ids_are_version_7_and_ordered_by_time() -> None:
    ids = [new_event_id() for _ in range(50)]
    assert len(set(ids)) == 50
    assert ids == sorted(ids)
    assert {one[14] for one in ids} == {"7"}


@each_row("moment", [datetime(1900, 1, 1, tzinfo=UTC), MOMENT, MOMENT + timedelta(microseconds=1)])
def test_instants_become_microseconds_and_back_exactly(moment: datetime) -> None:
    assert from_micros(micros(moment)) == moment
    assert micros(moment.astimezone(timezone(timedelta(hours=-7)))) == micros(moment)


def test_instants_beyond_the_calendar_are_held_at_its_ends() -> None:
    assert (from_micros(10**18).year, from_micros(-(10**18)).year) == (9999, 1)


def test_instants_are_spelled_in_utc() -> None:
    assert utc_text(datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))) == "2025-12-31T23:00:00Z"
    assert utc_text(datetime(2026, 1, 1, microsecond=5, tzinfo=UTC)) == "2026-01-01T00:00:00.000005Z"
