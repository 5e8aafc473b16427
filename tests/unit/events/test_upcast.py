"""Events of older versions are read as if written today, step by step."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.events.catalogue import LATEST_VERSION
from engramlog_server.events.envelope import UPCASTERS, upcast
from tests.rows import each_row


def split_name(document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 to 2 of a made-up event: one field becomes two."""
    first, _, last = document["data"].pop("name").partition(" ")
    return document | {"data": document["data"] | {"first": first, "last": last}}


def add_language(document: dict[str, Any]) -> dict[str, Any]:
    """Version 2 to 3: a field with a value that older events all had."""
    return document | {"data": document["data"] | {"language": "en"}}


STEPS = {("Met", 1): split_name, ("Met", 2): add_language}
THIRD = {"first": "Ann", "last": "Lee", "language": "en"}


@each_row(
    ("version", "data", "expected"),
    [
        (1, {"name": "Ann Lee"}, THIRD),
        (2, {"first": "Ann", "last": "Lee"}, THIRD),
        (3, {"first": "Ann", "last": "Lee", "language": "fr"}, THIRD | {"language": "fr"}),
    ],
)
def test_an_event_takes_every_step_from_its_version_to_the_latest(version: int, data: Any, expected: Any) -> None:
    document = {"type": "Met", "schema_version": version, "data": dict(data)}
    assert upcast("Met", version, document, STEPS, {"Met": 3}) == {"type": "Met", "schema_version": 3, "data": expected}


def test_a_missing_step_is_an_error_and_never_skipped() -> None:
    with pytest.raises(KeyError, match="2"):
        upcast("Met", 1, {"data": {"name": "Ann Lee"}}, {("Met", 1): split_name}, {"Met": 3})


def test_there_is_an_upcaster_for_every_older_version() -> None:
    needed = {(name, version) for name, latest in LATEST_VERSION.items() for version in range(1, latest)}
    assert set(UPCASTERS) == needed
