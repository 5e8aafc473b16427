"""docs/events.md tells of every event and every field, with the bounds that the door holds to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from events.catalogue import EVENT_TYPES
from events.entry import LOCAL
from events.parameters import DEFAULTS
from events.schema import FieldRow, data_fields, envelope_fields
from events.standing import BRINGERS, CLAIMS, PATHS, TRUSTED, Speaker, reach
from events.vocabulary import ID_RULE, TEXT_RULE, TIME_RULE, WORD_RULE
from projections.laws.spaced import OUTCOME_GRADES
from projections.memory.record import MAX_EDGES, MAX_FACTS

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


P = DEFAULTS
EFFECTS = [
    (
        "MemoryCreated",
        f"begins at {P.initial_stability:g} h, at {P.manual_stability:g} h",
        f"from {P.promotion_importance:g} on a reviewer is asked (tiered), from {P.core_importance} on the tier is core",
    ),
    (
        "MemoriesAccessed",
        f"times {P.reinforce_recall} (`via` association {P.reinforce_association})",
        f"to {P.promotion_importance:g}",
        f"grows by {P.co_hit_boost}",
    ),
    (
        "MemoryReinforced",
        f"`used` {P.reinforce_used}, `task_success` {P.reinforce_task_success}",
        f"`manual_review` {P.reinforce_manual_review}, `task_failure` {P.reinforce_task_failure}",
        f"adds {P.use_boost} to the importance",
        f"{P.boost_daily_limit} in any 24 h",
        f"at {P.core_importance} the memory becomes core",
        f"graded {OUTCOME_GRADES['task_success']}, `task_failure` one graded {OUTCOME_GRADES['task_failure']}",
        f"grows by {P.used_edge_boost}",
    ),
    ("MemoryKept", f"importance is {P.decay_review_importance}", f"under {P.kept_review_importance}"),
    ("MemoryDeleted", f"kept for {P.deleted_kept_days:g} days"),
    ("MemoriesLinked", f"the {MAX_EDGES} strongest"),
    ("FactAsserted", f"the {MAX_FACTS} newest"),
]


@pytest.mark.parametrize("told", EFFECTS, ids=lambda told: told[0])
def test_the_figures_of_what_an_event_does_are_the_defaults(told: tuple[str, ...]) -> None:
    assert [phrase for phrase in told[1:] if phrase not in SECTIONS[told[0]]] == []


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
