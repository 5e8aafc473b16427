"""docs/events.md tells of every event and every field, with the bounds that the door holds to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from events.catalogue import EVENT_TYPES
from events.schema import FieldRow, data_fields, envelope_fields
from events.vocabulary import ID_RULE, TEXT_RULE, TIME_RULE, WORD_RULE

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "events.md").read_text()
SECTIONS = dict(re.findall(r"^## (\S.*?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))


def lines(rows: list[FieldRow]) -> list[str]:
    return [f"| `{row.path}` | {'yes' if row.required else 'no'} | {row.allowed} |" for row in rows]


def field_lines(section: str) -> list[str]:
    return [line for line in SECTIONS[section].splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("event_type", EVENT_TYPES)
def test_every_event_has_a_section_with_exactly_its_fields_and_what_folding_it_does(event_type: str) -> None:
    assert field_lines(event_type) == lines(data_fields(event_type))
    assert re.search(r"^\*Folding it:\* \S.{20,}", SECTIONS[event_type], re.MULTILINE)


def test_the_envelope_is_told_field_by_field() -> None:
    assert field_lines("The envelope") == lines(envelope_fields())


def test_no_section_tells_of_an_event_that_does_not_exist() -> None:
    around = {"How an event comes in", "Values", "The envelope", "Where events lie in Redis"}
    assert set(SECTIONS) == set(EVENT_TYPES) | around


@pytest.mark.parametrize("rule", [ID_RULE, TEXT_RULE, TIME_RULE, WORD_RULE])
def test_the_rules_of_values_are_told_once(rule: str) -> None:
    assert SECTIONS["Values"].count(rule) == 1
