"""docs/events.md tells of every event and every field, with the bounds that the door holds to."""

from __future__ import annotations

import re
from pathlib import Path

from events.catalogue import EVENT_TYPES
from events.entry import LOCAL
from events.schema import FieldRow, data_fields, envelope_fields
from events.standing import BRINGERS, CLAIMS, PATHS, TRUSTED, Speaker, reach
from tests.rows import each_row

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "events.md").read_text()
SECTIONS = dict(re.findall(r"^## (\S.*?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))


def lines(rows: list[FieldRow]) -> list[str]:
    return [f"| `{row.path}` | {'yes' if row.required else 'no'} | {row.allowed} |" for row in rows]


def field_lines(section: str) -> list[str]:
    return [line for line in SECTIONS[section].splitlines() if line.startswith("| `")]


@each_row("event_type", EVENT_TYPES)
def test_every_event_has_a_section_with_exactly_its_fields(event_type: str) -> None:
    assert field_lines(event_type) == lines(data_fields(event_type))


def test_the_envelope_is_told_field_by_field() -> None:
    assert field_lines("The envelope") == lines(envelope_fields())


def test_who_may_be_claimed_is_told_as_the_door_has_it() -> None:
    told = [line for line in SECTIONS["How an event comes in"].splitlines() if line.startswith("| ")][1:]
    assert [line for line in told if not line.startswith("| ---")] == [
        f"| {PATHS[path]} | {BRINGERS[kind]} | {', '.join(f'`{actor}`' for actor in actors)} |"
        for (path, kind), actors in CLAIMS.items()
    ]


def test_how_far_a_word_goes_by_each_path_is_told() -> None:
    told = (Path(__file__).resolve().parents[3] / "docs" / "trust.md").read_text()
    for (path, kind), most in TRUSTED.items():
        speaker = Speaker(path, {"side": LOCAL, "job": "job:sweep", "model": "job:extract model:m"}[kind])
        assert reach("user", speaker) == reach("operator", speaker) == most
        others = {reach(one, speaker) for one in ("assistant", "judge", "system")}
        assert f"| {PATHS[path]} | {BRINGERS[kind]} | {most} | {' '.join(others)} |" in told
    assert set(TRUSTED) == set(CLAIMS)
