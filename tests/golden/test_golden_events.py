"""One stored event of every version that was ever written, in the bytes of its day: every later release still reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION, SEALED_ONLY
from engramlog_server.events.envelope import decode, encode, fingerprint
from engramlog_server.events.schema import data_fields, envelope_fields
from engramlog_server.events.validation import read_event
from tests.given.samples import NOW
from tests.rows import each_row

FOLDER = Path(__file__).parent / "events"
KINDS = [f"{name}.{version}" for name, latest in LATEST_VERSION.items() for version in range(1, latest + 1)]
CURRENT = [f"{name}.{version}" for name, version in LATEST_VERSION.items()]

NO_MORE = {"MemoryPromoted", "TurnsExtracted"}
"""What logs hold of an actor from whom the door takes it no more; it is read and folded as ever."""


LATER = {"trust"}
"""Fields of the envelope that came after most of these: one at least has each."""


def stored(kind: str) -> bytes:
    return (FOLDER / f"{kind}.json").read_bytes().removesuffix(b"\n")


def paths(value: Any, prefix: str = "") -> set[str]:
    """Every field's path in a document, as `FieldRow.path` writes it."""
    if isinstance(value, list):
        return set().union(*(paths(one, prefix.removesuffix(".") + "[].") for one in value))
    if not isinstance(value, dict):
        return set()
    return set().union(*({prefix + name} | paths(inner, f"{prefix}{name}.") for name, inner in value.items()))


def test_there_is_a_stored_event_of_every_type_and_version_and_none_of_anything_else() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(KINDS)


@each_row("kind", KINDS)
def test_a_stored_event_is_still_read(kind: str) -> None:
    document = json.loads(stored(kind))
    event = decode(kind, stored(kind))
    assert isinstance(event.data, EVENT_TYPES[document["type"]])
    assert (event.event_id, event.owner, event.type) == (document["event_id"], document["owner"], document["type"])
    assert event.schema_version == LATEST_VERSION[event.type]


@each_row("kind", CURRENT)
def test_a_stored_event_of_the_latest_version_loses_no_value_when_read(kind: str) -> None:
    assert encode(decode(kind, stored(kind))) == stored(kind)


@each_row("kind", CURRENT)
def test_a_stored_event_of_the_latest_version_uses_every_field_there_is(kind: str) -> None:
    document = json.loads(stored(kind))
    fields = {row.path for row in data_fields(document["type"]) if not row.path.startswith("parameters.")}
    used = {path for path in paths(document["data"]) if not path.startswith(("parameters.", "metadata."))}
    assert used == fields
    assert set(document) | LATER == {row.path for row in envelope_fields()} | LATER


def test_each_later_field_of_the_envelope_is_in_one_of_them() -> None:
    assert set().union(*(set(json.loads(stored(kind))) & LATER for kind in CURRENT)) == LATER


@each_row("kind", [kind for kind in CURRENT if kind.partition(".")[0] not in SEALED_ONLY | NO_MORE])
def test_the_door_makes_the_stored_bytes_of_what_it_is_sent(kind: str) -> None:
    prepared = read_event(json.dumps(json.loads(stored(kind)), indent=1), now=NOW)
    assert (prepared.kind, prepared.body) == (kind, stored(kind))


def test_the_fingerprint_of_stored_bytes_is_that_of_their_day() -> None:
    """A release that hashes otherwise would take every redelivery of an older event for a conflict."""
    body = read_event(stored("MemoryMentioned.1"), now=NOW).body
    assert fingerprint(bytes(range(32)), body).hex() == "09a132d46aa8d0a4"
