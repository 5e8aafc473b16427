"""Laws of the door: what a schema allows comes in and reads back the same; whatever else comes is refused in words."""

from __future__ import annotations

import json
import random
import re
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION, PRINCIPAL_RULE, SEALED_ONLY
from engramlog_server.events.envelope import AnyEvent, Prepared, decode, encode, event_class
from engramlog_server.events.errors import InputError, InvalidBatch, InvalidEvent
from engramlog_server.events.partitions import ACCESS, SYSTEM_TYPES, access_id
from engramlog_server.events.schema import json_schema
from engramlog_server.events.standing import FIRM, PERSONS
from engramlog_server.events.text import VISIBLE
from engramlog_server.events.validation import DOTS, adapter, make_event, read_event, read_events, ready, trouble_with
from engramlog_server.events.vocabulary import (
    EARLIEST,
    ID_RULE,
    MAX_METADATA_BYTES,
    MAX_METADATA_NAMES,
    METADATA_RULE,
    MOST_WHOLE,
    TEXT_RULE,
    TIME_RULE,
    URI_RULE,
    WORD_RULE,
    check_id,
)
from tests.examples import examples
from tests.given.samples import MOMENT, NOW
from tests.long_way import outcome, the_long_way
from tests.rows import each_row

OPEN_TYPES = [name for name in EVENT_TYPES if name not in SEALED_ONLY]
Document = dict[str, Any]

ids = (
    st.text(st.one_of(st.sampled_from("abcXYZ019-_.:@/+"), st.sampled_from("äéß小明мя")), min_size=1, max_size=128)
    | st.just("x" * 128)
).filter(lambda one: one not in DOTS)  # fmt: skip
zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(EARLIEST.replace(tzinfo=None), MOMENT.replace(tzinfo=None)).map(lambda t: t.replace(tzinfo=UTC))
times = st.builds(lambda moment, zone: moment.astimezone(zone).isoformat(), instants, zones)
plain_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
names = st.text(st.characters(categories=["L", "Nd", "P", "Zs"]), min_size=1, max_size=40).filter(
    lambda name: trouble_with(name, normal=False) is None
)
OPERATORS = frozenset(
    [
        "MemoryPromoted", "ParametersChanged", "SensitivitySet", "MemoryPurged", "TurnsExtracted", "EventDiscarded",
        "GroundChanged", "SensitivityRaised", "ValueRejected", "ValueReadmitted",
        "SourceSetAside", "SourceBroughtBack",
        "ReviewSettled",
    ]
)  # fmt: skip
"""Of these no schema says who may say them; an operator may say all."""
NEW_NAMES = frozenset(["speaker", "project", "task", "tool"])
plain_values = (
    plain_text
    | st.booleans()
    | st.integers(-MOST_WHOLE, MOST_WHOLE)
    | st.floats(allow_nan=False, allow_infinity=False)
)  # fmt: skip
NAMED: dict[str, st.SearchStrategy[Any]] = {
    ID_RULE: ids,
    TEXT_RULE: plain_text.filter(VISIBLE.search) | st.just("好" * 21_845),
    TIME_RULE: times,
    WORD_RULE: st.text(st.sampled_from("abzXY09_-./:+小明"), min_size=1, max_size=64),
    PRINCIPAL_RULE: st.text(st.sampled_from("abzXY09小明"), min_size=1, max_size=1).flatmap(
        lambda first: st.text(st.sampled_from("abz09_.@/-小明"), max_size=63).map(lambda rest: first + rest)
    ),
    URI_RULE: st.uuids().map(lambda one: f"https://例.org/{one}"),  # each once, which a schema cannot say
    METADATA_RULE: st.dictionaries(ids.map(lambda one: one[:20]), plain_values, max_size=5),
}


def of_schema(schema: Document, definitions: Document) -> st.SearchStrategy[Any]:
    """Values that a JSON Schema allows."""
    if "$ref" in schema:
        return of_schema(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return st.one_of(*(of_schema(one, definitions) for one in schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    if schema.get("description") in NAMED:
        return NAMED[schema["description"]]
    return _of_type(schema, definitions)


def _of_type(schema: Document, definitions: Document) -> st.SearchStrategy[Any]:
    match schema["type"]:
        case "object":
            fields = {name: of_schema(field, definitions) for name, field in schema["properties"].items()}
            # New names hide nothing, which a schema cannot say.
            fields |= {name: names if name == "tool" else st.none() | names for name in NEW_NAMES & fields.keys()}
            must = schema.get("required", [next(iter(fields))])
            optional = {name: value for name, value in fields.items() if name not in must}
            return st.fixed_dictionaries({name: fields[name] for name in must}, optional=optional)
        case "array":
            items = of_schema(schema["items"], definitions)
            low, high = schema.get("minItems", 0), schema["maxItems"]
            return st.lists(items, min_size=low, max_size=min(high, low + 3), unique=schema.get("uniqueItems", False))
        case "number":
            low = schema.get("minimum", schema.get("exclusiveMinimum"))
            floats = st.floats(low, schema["maximum"], exclude_min="exclusiveMinimum" in schema)
            return floats | st.just(int(schema["maximum"]))
        case "integer":
            return st.integers(schema["minimum"], schema["maximum"])
        case "null" | "boolean" as kind:
            return st.none() if kind == "null" else st.booleans()
    if "IANA" in schema.get("description", ""):
        return st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York"])
    if schema.get("format") == "uuid":
        return st.uuids().map(str) | st.uuids().map(lambda one: str(one).upper())
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True)
    return st.text(
        st.characters(exclude_categories=["Cs"]), min_size=schema.get("minLength", 0), max_size=schema["maxLength"]
    )


@cache
def documents(event_type: str) -> st.SearchStrategy[Document]:
    """Envelopes that the schema of a type allows, at times that the door lets in."""
    schema = json_schema(event_type)
    envelopes = of_schema(schema | {"properties": schema["properties"] | {"occurred_at": TIMES}}, schema["$defs"])
    return (
        envelopes.filter(lambda one: _no_schema_says(event_type, one["data"]))
        .map(by_whom_it_may_be_said)
        .map(not_the_stores_own)
    )


def not_the_stores_own(one: Document) -> Document:
    """The same of an owner that no schema tells from the store's own names; of these where the type is theirs."""
    if (whose := SYSTEM_TYPES.get(one["type"])) is not None:
        named = {"event_id": access_id(one["data"]["number"])} if whose == ACCESS else {}
        return one | {"owner": whose} | named
    return one | {"owner": f"a{one['owner'][1:]}"} if one["owner"].startswith(":") else one


def _no_schema_says(event_type: str, data: Document) -> bool:
    """Whether the door has nothing against data that a schema allows."""
    if event_type == "MemoryMerged":
        return data["into"] not in data["sources"]
    if event_type == "MemoriesAccessed":
        return bool(data.get("hits") or data.get("accesses"))
    return True


def by_whom_it_may_be_said(one: Document) -> Document:
    """The same where a schema cannot say what is allowed.

    By an operator what only he may say; of the version that knows all fields.
    """
    if LATEST_VERSION[one["type"]] > 1:
        one = one | {"schema_version": LATEST_VERSION[one["type"]]}  # older ones: tests/unit/events
    firm = one["type"] == "MemoryCreated" and FIRM & {one["data"].get("tier"), one["data"]["kind"]}
    said = one | {"actor": "operator"} if firm or one["type"] in OPERATORS else one
    claims_more = said.get("trust") == "asserted" and said["actor"] not in PERSONS
    return said | {"trust": "inferred"} if claims_more else said


TIMES = {"type": "string", "description": TIME_RULE}
any_document = st.sampled_from(OPEN_TYPES).flatmap(documents)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def let_in(raw: bytes | str) -> Prepared | None:
    """What the door made of it, or None where it refused; anything but an InputError goes through."""
    try:
        return read_event(raw, now=NOW)
    except InputError as refusal:
        assert refusal.message.encode()
        assert isinstance(refusal, InvalidEvent)
        assert "\n" not in refusal.message
        assert all(len(part) > 0 for part in (refusal.field, refusal.got, refusal.allowed))
        return None


def checked_event(event_type: str, raw: str) -> AnyEvent:
    """The event as pydantic read it at the door."""
    checked = adapter(event_type).validate_json(raw)
    event: AnyEvent = msgspec.convert(checked, event_class(event_type), from_attributes=True)
    return event


@each_row("event_type", OPEN_TYPES)
def test_what_a_schema_allows_comes_in_and_reads_back_with_the_same_values(event_type: str) -> None:
    @settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
    @given(document=documents(event_type))
    def holds(document: Document) -> None:
        raw = json.dumps(document)
        prepared = read_event(raw, now=NOW)
        event = decode(prepared.kind, prepared.body)
        assert event == checked_event(event_type, raw)
        assert (event.event_id, event.owner) == (document["event_id"].lower(), document["owner"])
        assert event.occurred_at == datetime.fromisoformat(document["occurred_at"])
        assert (prepared.event_id, prepared.owner) == (event.event_id, event.owner)

    holds()


@each_row("event_type", OPEN_TYPES)
def test_an_event_made_from_values_is_the_event_read_from_its_own_json(event_type: str) -> None:
    @settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow])
    @given(document=documents(event_type))
    def holds(document: Document) -> None:
        sent = checked_event(event_type, json.dumps(document))
        made = make_event(
            sent.data,
            owner=sent.owner,
            occurred_at=sent.occurred_at,
            actor=sent.actor,
            now=NOW,
            event_id=document["event_id"],
            session_id=sent.session_id,
            causation_id=document.get("causation_id"),
            correlation_id=sent.correlation_id,
            trust=sent.trust,
        )
        assert made == sent
        assert ready(made) == read_event(encode(made), now=NOW)

    holds()


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same JSON with the fields of every object in another order."""
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        return {name: shuffled(value[name], chance) for name in names}
    return [shuffled(one, chance) for one in value] if isinstance(value, list) else value


@given(any_document, zones, st.randoms(use_true_random=False), st.sampled_from([None, 1, "\t"]))
def test_order_of_fields_time_zone_and_case_of_uuids_do_not_make_another_event(
    document: Document, zone: timezone, chance: random.Random, indent: int | str | None
) -> None:
    other = shuffled(document, chance)
    other["occurred_at"] = datetime.fromisoformat(document["occurred_at"]).astimezone(zone).isoformat(" ")
    for name in ("event_id", "causation_id"):
        if document.get(name):
            other[name] = document[name].swapcase()
    if other.get("schema_version") == 1 and chance.random() < 0.5:
        del other["schema_version"]
    assert read_event(json.dumps(other, indent=indent), now=NOW) == read_event(json.dumps(document), now=NOW)


@given(st.binary(max_size=200) | st.text(st.characters(), max_size=200))
def test_whatever_bytes_come_the_door_refuses_in_words(raw: bytes | str) -> None:
    assert let_in(raw) is None


@given(any_json)
def test_whatever_json_comes_the_door_refuses_in_words(value: Any) -> None:
    assert let_in(json.dumps(value)) is None


@settings(max_examples=examples(300))
@given(any_document, any_json, st.randoms(use_true_random=False))
def test_a_valid_event_with_one_value_replaced_is_refused_in_words_or_can_be_decoded(
    document: Document, value: Any, chance: random.Random
) -> None:
    place: Any = document
    while True:
        name = chance.choice(list(place))
        if not isinstance(place[name], dict) or not place[name] or chance.random() < 0.2:
            break
        place = place[name]
    place[name] = value
    prepared = let_in(json.dumps(document))
    if prepared is not None:
        assert decode(prepared.kind, prepared.body).event_id == prepared.event_id


@given(any_document, st.text(min_size=1, max_size=20), any_json, st.booleans())
def test_an_unknown_field_is_refused_wherever_it_stands(
    document: Document, name: str, value: Any, inside: bool
) -> None:
    place = document["data"] if inside else document
    if document["type"] != "ParametersChanged" and name not in json.dumps(document):
        place[name] = value
        assert let_in(json.dumps(document)) is None


@settings(max_examples=examples(50))
@given(st.lists(st.tuples(any_document, st.booleans()), min_size=1, max_size=4))
def test_a_batch_names_exactly_its_bad_events_by_index(items: list[tuple[Document, bool]]) -> None:
    raws = [json.dumps(document | ({"actor": "nobody"} if bad else {})) for document, bad in items]
    bad = [index for index, (_, is_bad) in enumerate(items) if is_bad]
    if not bad:
        assert read_events(raws, now=NOW) == [read_event(raw, now=NOW) for raw in raws]
        return
    with pytest.raises(InvalidBatch) as refusal:
        read_events(raws, now=NOW)
    assert [problem.context["index"] for problem in refusal.value.problems] == bad
    assert {problem.field for problem in refusal.value.problems} == {"actor"}


def twice(document: Document, chance: random.Random) -> str:
    """The same document with one name of one object written twice, the second time as it is meant."""
    struck = chance.choice([document, document["data"]])
    name = chance.choice(sorted(struck))
    first = chance.choice(["5", "null", '"other"', r'"\u0022\u0022"', "{}", '["a", "b"]'])

    def written(one: Any) -> str:
        if not isinstance(one, dict):
            return hidden(json.dumps(one, ensure_ascii=chance.random() < 0.5), chance)
        members = [f"{json.dumps(key)}{chance.choice(['', ' '])}: {written(item)}" for key, item in one.items()]
        return f"{{{', '.join([f'{json.dumps(name)}: {first}', *members] if one is struck else members)}}}"

    return written(document)


def hidden(text: str, chance: random.Random) -> str:
    """Quotation marks within texts as the escape that hides them from whoever counts, most of the time."""
    return re.sub(r'(?<!\\)((?:\\\\)*)\\"', r"\1\\u0022", text) if chance.random() < 0.7 else text


@given(any_document, st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
def test_a_name_twice_in_one_object_is_refused_however_it_is_hidden(
    document: Document, chance: random.Random, quoting: bool
) -> None:
    """Readers keep the last or the first, so that a proxy in front would have looked at another event."""
    if quoting and "content" in document["data"]:
        document = document | {"data": document["data"] | {"content": 'she said "yes" and "no" \\'}}
    read_event(hidden(json.dumps(document), chance), now=NOW)
    with pytest.raises(InvalidEvent, match="the same name twice in one object; allowed: each name once"):
        read_event(twice(document, chance), now=NOW)


nested = (
    st.lists(st.integers(), max_size=2) | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2) | st.none()
)
any_metadata = st.dictionaries(
    st.text(max_size=12) | st.integers(0, 40).map("n{}".format),
    st.text(max_size=400) | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | nested,
    max_size=40,
)


@given(told=any_metadata)
def test_metadata_comes_in_exactly_where_it_is_small_and_plain(told: Document) -> None:
    document = {
        "event_id": "018f3c1e-7b2a-7000-8000-000000000001",
        "type": "MemoryCreated",
        "owner": "ann",
        "occurred_at": "2026-01-01T00:00:00Z",
        "actor": "user",
        "data": {"memory_id": "m", "content": "x", "category": "fact", "kind": "fact", "source": "user", "metadata": told},
    }  # fmt: skip
    try:
        canonical_size = len(orjson.dumps(told))
    except TypeError:  # a surrogate
        canonical_size = MAX_METADATA_BYTES + 1
    small = len(told) <= MAX_METADATA_NAMES and canonical_size <= MAX_METADATA_BYTES
    plain = all(
        isinstance(one, str | float) or (isinstance(one, int) and abs(one) <= MOST_WHOLE) for one in told.values()
    )
    named = all(map(_is_id, told))
    assert (let_in(json.dumps(document)) is not None) == (small and plain and named)


def _is_id(name: str) -> bool:
    try:
        return check_id(name) == name
    except PydanticCustomError:
        return False


@each_row("event_type", OPEN_TYPES)
def test_what_is_read_at_once_is_what_the_long_way_reads(event_type: str) -> None:
    @settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
    @given(
        document=documents(event_type),
        more=any_json,
        where=st.sampled_from(["", "data", "replace"]),
        chance=st.randoms(),
    )
    def holds(document: Document, more: Any, where: str, chance: random.Random) -> None:
        raws = [json.dumps(document), read_event(json.dumps(document), now=NOW).body]
        spoilt = json.loads(raws[1])
        if where == "replace":
            spoilt["data"][chance.choice(sorted(spoilt["data"]))] = more
        else:
            (spoilt["data"] if where else spoilt)["more"] = more
        for raw in (
            *raws,
            json.dumps(spoilt, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"),
        ):
            assert outcome(raw) == the_long_way(raw)

    holds()
