"""What is left of an event whose words were erased: every field of every event is one that goes or one that stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION
from engramlog_server.events.envelope import WORDS, AnyEvent, decode, encode, is_wordless, skeleton_of, without_words
from engramlog_server.events.schema import data_fields, envelope_fields
from engramlog_server.projections.reports.erasure import words_in
from tests.given.events import stored
from tests.given.histories import histories
from tests.rows import each_row

GOLDEN = Path(__file__).parents[2] / "golden" / "events"
ENVELOPE = {
    "event_id", "type", "schema_version", "owner", "occurred_at", "actor", "data", "session_id", "causation_id",
    "correlation_id", "trust",
}  # fmt: skip
"""None of it holds words: ids, times, and closed lists."""
_OF_THE_STORE = {"erasure", "step", "label", "ground", "reason", "events", "until", "chain", "unproven"}
STAYS: dict[str, set[str]] = {
    "TurnRecorded": {"turn_id", "role", "reply_to"},
    "ToolResultRecorded": {"tool", "turn_id"},
    "MemoryCreated": {
        "memory_id", "category", "kind", "source", "modality", "tier", "importance", "confidence", "emotion",
        "sensitivity", "verified", "source_turns", "corrects", "summarises", "imported", "imported.access_count",
        "imported.last_accessed_at", "imported.updated_at", "imported.strength", "imported.stability",
        "imported.last_reinforced_at", "imported.reinforce_count", "imported.decay_rate", "imported.mention_count",
        "imported.consolidation_score", "imported.associations", "imported.associations[].memory_id",
        "imported.associations[].weight", "imported.associations[].link",
    },
    "MemoryMentioned": {"memory_id", "similarity", "turn_id", "modality"},
    "MemoryNegated": {"memory_id", "resolution", "replaced_by", "turn_id"},
    "MemoriesAccessed": {
        "hits", "hits[].memory_id", "hits[].count", "hits[].best_rank", "hits[].last_at", "via", "turn_id", "together",
        "accesses", "accesses[].at", "accesses[].shown", "accesses[].first", "accesses[].position", "accesses[].mode",
        "accesses[].read_at", "block", "block.at", "block.upto", "block.budget", "block.tokens", "block.language",
        "block.digest", "block.asked", "block.messages", "block.threshold", "block.searches", "block.sensitive",
        "block.proactive", "block.include_faded", "block.trust", "block.retrieved", "block.retrieved[].memory_id",
        "block.retrieved[].level", "block.retrieved[].closeness", "block.retrieved[].long_ago", "block.stable",
        "block.stable.budget", "block.stable.language", "block.stable.profile",
    },
    "MemoryReinforced": {"memory_id", "outcome", "from_memory", "turn_id"},
    "MemoryMerged": {"sources", "into"},
    "MemoryUnmerged": {"into"},
    "MemoryRevised": {"memory_id"},
    "MemoryCompressed": {"memory_id", "level", "due_at"},
    "MemoryPromoted": {"memory_id", "from", "to", "due_at"},
    "MemoryKept": {"memory_id", "due_at"},
    "MemoryDeleted": {"memory_id", "policy", "due_at"},
    "MemoryRestored": {"memory_id"},
    "MemoryPurged": {"memory_id", "due_at"},
    "MemoryErased": {"memory_id", "reason", "erasure"},
    "MemoriesLinked": {"a", "b", "weight", "link"},
    "FactAsserted": {"evidence", "negation", "degree"},
    "FactRetracted": {"evidence", "negation", "degree"},
    "SynonymDefined": {"keyword", "synonym", "similarity"},
    "ReviewGraded": {"memory_id", "grade"},
    "ProfileChosen": {"profile"},
    "ParametersChanged": {"parameters"},
    "EventDiscarded": {"position", "reason"},
    "TurnsExtracted": {"up_to", "turns", "by", "prompt", "requests", "input_tokens", "output_tokens", "by_rules"},
    "SensitivitySet": {"memory_id", "level"},
    "MemoriesRevealed": {"memory_ids", "by", "face"},
    "GroundChanged": {"memory_id"},
    "SensitivityRaised": {"memory_id", "level", "rules"},
    "ValueRejected": {"values", "rules", "memory_id", "until", "turns"},
    "ValueReadmitted": {"values", "rules", "memory_id"},
    "SourceSetAside": {"session", "principal", "actor", "reason"},
    "SourceBroughtBack": {"session", "principal", "actor", "reason"},
    "ReviewSettled": {"memory_id", "waiting", "verdict"},
    "KeyIssued": {"number", "key_id", "principal", "public", "digest", "expires_at", "reason"},
    "KeyRevoked": {"number", "key_id", "reason"},
    "GrantsSet": {
        "number", "principal", "grants", "grants[].verbs", "grants[].owners", "grants[].modes", "grants[].sensitivity",
        "grants[].actors", "grants[].trust", "reason",
    },
    "ReadRecorded": {"principal", "key_id", "token", "what", "call", "whose", "times"},
    "OwnerErasure": _OF_THE_STORE | {"line"},
    "WordsErasure": _OF_THE_STORE | {"memories", "entries"},
}  # fmt: skip
"""By type of event: the fields that an erasure leaves. Synonyms, and why a source was set aside or an event was dropped, are about
no memory; what is said of the store itself names nobody's memories."""
GOES_WITHIN = {"MemoriesAccessed": {"accesses[].query"}}
MARK = "琥珀 amber lamp"


def golden(event_type: str) -> tuple[str, dict[str, Any]]:
    """The stored event of a type that uses every field there is."""
    kind = f"{event_type}.{LATEST_VERSION[event_type]}"
    return kind, json.loads((GOLDEN / f"{kind}.json").read_text("utf-8"))


def marked(value: Any) -> Any:
    """The same shape with the mark in place of every word."""
    if isinstance(value, str):
        return MARK
    if isinstance(value, list):
        return [marked(one) for one in value]
    return {name: marked(one) for name, one in value.items()} if isinstance(value, dict) else value


def of_marks(event_type: str) -> AnyEvent:
    """An event of this type in which everything that goes is the mark."""
    kind, document = golden(event_type)
    data = document["data"]
    for field in WORDS[event_type].keys() & data.keys():
        data[field] = marked(data[field])
    for access in data.get("accesses", ()):
        access["query"] = MARK
    return decode(kind, json.dumps(document, ensure_ascii=False).encode())


@each_row("event_type", EVENT_TYPES)
def test_somebody_decided_of_every_field_whether_it_holds_words(event_type: str) -> None:
    fields = {row.path for row in data_fields(event_type) if not row.path.startswith("parameters.")}
    goes = set(WORDS.get(event_type, ())) | GOES_WITHIN.get(event_type, set())
    assert goes <= fields
    assert not goes & STAYS[event_type]
    within = tuple(f"{field}{way}" for field in goes for way in (".", "["))
    assert {field for field in fields - goes if not field.startswith(within)} == STAYS[event_type]


def test_what_stands_around_the_data_stays_and_no_type_is_left_out() -> None:
    assert set(EVENT_TYPES) == set(STAYS)
    assert set(EVENT_TYPES) >= set(WORDS)
    assert {row.path for row in envelope_fields()} == ENVELOPE


@each_row("event_type", WORDS)
def test_nothing_of_what_was_said_is_left_and_the_event_is_still_one(event_type: str) -> None:
    said = of_marks(event_type)
    assert MARK in encode(said).decode()
    assert set(words_in(said)) == {MARK}
    assert not is_wordless(said)
    left = without_words(said)
    body = encode(left)
    assert MARK not in body.decode()
    assert "琥珀" not in body.decode()
    assert decode(golden(event_type)[0], body) == left
    assert is_wordless(left)
    assert not any(words_in(left))
    assert without_words(left) == left


@each_row("event_type", EVENT_TYPES)
def test_all_that_stays_is_as_it_was(event_type: str) -> None:
    kind, document = golden(event_type)
    event = decode(kind, json.dumps(document).encode())
    without = without_words(event)
    assert skeleton_of(kind, encode(event)) == encode(without)
    left = json.loads(encode(without))
    for goes in WORDS.get(event_type, ()):
        document["data"].pop(goes, None)
        left["data"].pop(goes, None)
    for one in document["data"].get("accesses", ()):
        one.pop("query", None)
    assert left == document


@each_row("event_type", [name for name in EVENT_TYPES if name not in WORDS])
def test_an_event_without_words_is_itself(event_type: str) -> None:
    kind, document = golden(event_type)
    event = decode(kind, json.dumps(document).encode())
    assert without_words(event) is event
    assert is_wordless(event)


def _same(event: AnyEvent, left: AnyEvent) -> bool:
    others = [name for name in msgspec.structs.fields(type(event)) if name.name != "data"]
    told: Callable[[AnyEvent], list[Any]] = lambda one: [getattr(one, field.name) for field in others]  # noqa: E731
    return told(event) == told(left)


@given(st.data())
def test_of_any_event_its_envelope_stays_and_taking_words_out_twice_is_taking_them_out_once(
    data: st.DataObject,
) -> None:
    for one in stored(data.draw(histories)):
        event = decode(one.kind, one.body)
        left = without_words(event)
        assert _same(event, left)
        assert is_wordless(left)
        assert decode(one.kind, encode(left)) == left
        assert skeleton_of(one.kind, one.body) == encode(left)
        kept = set(STAYS[event.type])
        before, after = (json.loads(encode(each))["data"] for each in (event, left))
        assert {name: value for name, value in before.items() if name in kept - {"accesses"}} == {
            name: value for name, value in after.items() if name in kept - {"accesses"}
        }
