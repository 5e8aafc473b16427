"""Every refusal of the door, with the field, what was got and what is allowed."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import orjson
import pytest

from engramlog_server.events.catalogue import Hit, MemoriesAccessed, MemoryErased, MemoryMentioned, MemoryRevised
from engramlog_server.events.envelope import canonical, decode, encode, prepare
from engramlog_server.events.errors import InvalidBatch, InvalidEvent, RequestTooLarge
from engramlog_server.events.validation import make_event, read_event, read_events
from tests.given.samples import MOMENT, NOW
from tests.long_way import outcome, the_long_way
from tests.rows import each_row

ID = "019cec00-0000-7000-8000-000000000001"
ENVELOPE = {"event_id": ID, "owner": "ann", "occurred_at": "2026-11-22T09:30:00Z", "actor": "user"}
CREATED = {"memory_id": "m1", "content": "likes tea", "category": "fact", "kind": "note", "source": "user"}


def document(event_type: str = "MemoryMentioned", data: dict[str, Any] | None = None, **envelope: Any) -> str:
    data = {"memory_id": "m1"} if data is None else data
    return json.dumps(ENVELOPE | {"type": event_type, "schema_version": 1, "data": data} | envelope)


def refusal(raw: str | bytes) -> InvalidEvent:
    with pytest.raises(InvalidEvent) as caught:
        read_event(raw, now=NOW)
    return caught.value


def created(**fields: Any) -> str:
    return document("MemoryCreated", CREATED | fields)


ACCESS = {"at": "2026-11-22T09:30:00Z", "shown": ["m1", "m2"]}


def looked(accesses: list[dict[str, Any]], via: str = "recall") -> str:
    return document("MemoriesAccessed", {"accesses": accesses, "via": via}, schema_version=2)


REFUSED = {
    "an unknown field": (document(colour="red"), "colour", '"red"', "no such field: unknown fields are refused"),
    "an unknown field inside": (created(mood=1), "data.mood", "1", "no such field: unknown fields are refused"),
    "several missing fields": (
        document("MemoryCreated", {"memory_id": "tea", "content": "I drink tea", "category": "fact"}),
        "data.kind",
        "nothing",
        "a value: the field is required, and so is source",
    ),
    "a mark that nobody sees": (document(owner="bob\u200b"), "owner", '"bob\\u200b"', "no space, control"),
    "a mark that turns the text": (document(owner="\u202ebob"), "owner", '"\\u202ebob"', "no space, control"),
    "a missing field": (document(data={}), "data.memory_id", "nothing", "a value: the field is required"),
    "a missing envelope field": (
        json.dumps({"type": "MemoryMentioned", "data": {"memory_id": "m"}}),
        "event_id",
        "nothing",
        "a value: the field is required",
    ),
    "a naive time": (document(occurred_at="2026-11-22T09:30:00"), "occurred_at", "09:30:00", "with a time zone"),
    "a naive time inside": (
        document("MemoryPurged", {"memory_id": "m", "due_at": "2026-11-22T09:30:00"}),
        "data.due_at",
        "09:30:00",
        "with a time zone",
    ),
    "a number for a time": (document(occurred_at=1_700_000_000), "occurred_at", "1700000000", "RFC 3339"),
    "a number in quotes for a time": (document(occurred_at="1700000000"), "occurred_at", "1700000000", "RFC 3339"),
    "a time without seconds": (document(occurred_at="2026-11-22T09:30Z"), "occurred_at", "09:30Z", "RFC 3339"),
    "too fine a time": (document(occurred_at="2026-11-22T09:30:00.1234567Z"), "occurred_at", "1234567", "six decimals"),
    "a day that is not": (document(occurred_at="2026-02-30T00:00:00Z"), "occurred_at", "02-30", "RFC 3339"),
    "a time before 1900": (document(occurred_at="1899-12-31T23:59:59Z"), "occurred_at", "1899", "from 1900 on"),
    "a time that has no UTC": (
        document(occurred_at="0001-01-01T00:00:00+10:00"),
        "occurred_at",
        "0001",
        "from 1900 on",
    ),
    "a time too far ahead": (
        document(occurred_at="2026-11-22T09:35:00.000001Z"),
        "occurred_at",
        "2026-11-22T09:35:00.000001Z",
        "from 1900-01-01T00:00:00Z to 2026-11-22T09:35:00Z (five minutes ahead of the store's clock)",
    ),
    "NaN": (document(data={"memory_id": "m", "similarity": float("nan")}), "data.similarity", "nan", "a finite number"),
    "infinity": (document(data={"memory_id": "m", "similarity": -1e999}), "data.similarity", "-inf", "a finite number"),
    "infinity under an empty name": (b'{"": Infinity}', "event", "inf", "a finite number"),
    "a lone surrogate": (created(content="\ud800"), "data.content", "lone surrogate", "Unicode text without"),
    "a lone surrogate in a name": (
        document(data={"memory_id": "m", "\udc00": 1}),
        "data",
        "lone surrogate",
        "Unicode text without",
    ),
    "empty content": (created(content=""), "data.content", '""', "not blank"),
    "invisible content": (created(content="\u200b\u2060 \ufeff\x07"), "data.content", '"', "not blank"),
    "a type under another name": (
        created().replace('"type"', '"event_type"'),
        "event_type",
        '"MemoryCreated"',
        "did you mean type?",
    ),
    "blank content": (created(content=" \n\u3000"), "data.content", '"', "not blank"),
    "over-long content": (created(content="x" * 65_537), "data.content", '"xxxx', "at most 64 KiB"),
    "over-long content of wide letters": (created(content="好" * 21_846), "data.content", '"好', "at most 64 KiB"),
    "MemoryErased": (
        document("MemoryErased", {"memory_id": "m", "reason": "r"}),
        "type",
        "MemoryErased",
        "`engramlog erase` alone erases for good; use MemoryDeleted",
    ),
    "an unknown type": (document("MemoryForgotten"), "type", '"MemoryForgotten"', "one of TurnRecorded, "),
    "no type": (json.dumps(ENVELOPE | {"data": {}}), "type", "nothing", "one of TurnRecorded, "),
    "a list for a type": (document(type=["MemoryMentioned"]), "type", "['MemoryMentioned']", "one of TurnRecorded, "),
    "a newer version": (document(schema_version=2), "schema_version", "2", "a whole number from 1 to 1"),
    "version zero": (document(schema_version=0), "schema_version", "0", "a whole number from 1 to 1"),
    "true for a version": (document(schema_version=True), "schema_version", "True", "a whole number from 1 to 1"),
    "no UUID": (document(event_id="42"), "event_id", '"42"', "a UUID as 8-4-4-4-12"),
    "a UUID in another spelling": (document(event_id="urn:" + ID.replace("-", "")), "event_id", '"urn', "8-4-4-4-12"),
    "a sign in a UUID": (document(event_id="+" + ID[1:]), "event_id", '"+19', "8-4-4-4-12"),
    "no UUID for a cause": (document(causation_id="42"), "causation_id", '"42"', "a UUID as 8-4-4-4-12"),
    "no number": (document(data={"memory_id": "m", "similarity": "0.5"}), "data.similarity", '"0.5"', "number"),
    "true for a number": (document(data={"memory_id": "m", "similarity": True}), "data.similarity", "True", "number"),
    "a number too high": (document(data={"memory_id": "m", "similarity": 1.1}), "data.similarity", "1.1", "1 or less"),
    "an unknown word": (created(category="hobby"), "data.category", '"hobby"', "'identity', 'stable_preference'"),
    "a kind with a space": (created(kind="a b"), "data.kind", '"a b"', "a text of the form"),
    "a keyword twice": (created(keywords=["a", "a"]), "data.keywords", "['a', 'a']", "a list without repetitions"),
    "too many keywords": (created(keywords=[f"k{i}" for i in range(51)]), "data.keywords", "['k0'", "at most 50 items"),
    "one source": (
        document("MemoryMerged", {"sources": ["a"], "into": "c", "summary": "s"}),
        "data.sources",
        "['a']",
        "at least 2 items",
    ),
    "a merge into its source": (
        document("MemoryMerged", {"sources": ["a", "b"], "into": "b", "summary": "s"}),
        "data.into",
        "b",
        "a new id that is not one of the sources",
    ),
    "no hits": (document("MemoriesAccessed", {"hits": [], "via": "recall"}), "data.hits", "[]", "at least 1 item"),
    "a bad hit": (
        document(
            "MemoriesAccessed",
            {
                "hits": [{"memory_id": "m", "count": 0, "best_rank": 1, "last_at": "2026-11-22T09:30:00Z"}],
                "via": "recall",
            },
        ),
        "data.hits[0].count",
        "0",
        "1 or more",
    ),
    "nothing shown": (
        document("MemoriesAccessed", {"via": "recall"}),
        "data.accesses",
        "nothing",
        "what was shown: each access by itself: data.accesses, in schema_version 2; sums of them in data.hits",
    ),
    "accesses by themselves in version 1": (
        document("MemoriesAccessed", {"accesses": [ACCESS], "via": "recall"}),
        "data.accesses",
        "schema_version 1",
        "in schema_version 2",
    ),
    "a way of showing that there is not": (
        looked([ACCESS], via="glance"),
        "data.via",
        "glance",
        "'inspection' or 'reveal'",
    ),
    "no access": (looked([]), "data.accesses", "[]", "at least 1 item"),
    "an access that has not been yet": (
        looked([ACCESS, ACCESS | {"at": "2026-11-22T09:35:00.000001Z"}]),
        "data.accesses[1].at",
        "2026-11-22T09:35:00.000001Z",
        "no later than 2026-11-22T09:35:00Z (five minutes ahead of the store's clock)",
    ),
    "a sum of accesses that have not been yet": (
        document(
            "MemoriesAccessed",
            {
                "hits": [{"memory_id": "m", "count": 1, "best_rank": 1, "last_at": "2026-11-22T09:35:00.000001Z"}],
                "via": "recall",
            },
        ),
        "data.hits[0].last_at",
        "2026-11-22T09:35:00.000001Z",
        "no later than 2026-11-22T09:35:00Z (five minutes ahead of the store's clock)",
    ),
    "an access of nothing": (looked([ACCESS | {"shown": []}]), "data.accesses[0].shown", "[]", "at least 1 item"),
    "a memory twice in one answer": (
        looked([ACCESS | {"shown": ["m", "m"]}]),
        "data.accesses[0].shown",
        "['m', 'm']",
        "without repetitions",
    ),
    "more than a search shows": (
        looked([ACCESS | {"shown": [f"m{n}" for n in range(101)]}]),
        "data.accesses[0].shown",
        "m0",
        "at most 100 items",
    ),
    "a rank of none": (looked([ACCESS | {"first": 0}]), "data.accesses[0].first", "0", "1 or more"),
    "a mode that there is not": (
        looked([ACCESS | {"mode": "all"}]),
        "data.accesses[0].mode",
        "all",
        "'review' or 'debug'",
    ),
    "no position of an answer": (
        looked([ACCESS | {"position": "3-1"}]),
        "data.accesses[0].position",
        '"3-1"',
        "a text of the form",
    ),
    "too many accesses": (looked([ACCESS] * 501), "data.accesses", "{'at':", "at most 500 items"),
    "too many memories": (
        looked([ACCESS | {"shown": [f"m{n}-{i}" for i in range(100)]} for n in range(6)]),
        "data.accesses",
        "600 different memories",
        "at most 500 different memories in one event",
    ),
    "too many bytes": (
        looked([ACCESS | {"query": "茶" * 1_000}] * 100),
        "data.accesses",
        "an event of 30",
        "at most 262,144 bytes in one event: more events where there are more",
    ),
    "no position": (
        document("EventDiscarded", {"position": "3-128"}),
        "data.position",
        '"3-128"',
        "a text of the form",
    ),
    "an unknown parameter": (
        document("ParametersChanged", {"parameters": {"alpha": 1}}),
        "data.parameters.alpha",
        "1",
        "a parameter's name: alpha_base, ",
    ),
    "a parameter out of bounds": (
        document("ParametersChanged", {"parameters": {"alpha_base": 11}}),
        "data.parameters.alpha_base",
        "11",
        "a number from 0 to 10",
    ),
    "null for a parameter": (
        document("ParametersChanged", {"parameters": {"alpha_base": None}}),
        "data.parameters.alpha_base",
        "None",
        "a number from 0 to 10",
    ),
    "no parameters": (document("ParametersChanged", {"parameters": {}}), "data.parameters", "{}", "at least 1 item"),
    "a list for an event": ("[1]", "event", "[1]", "a JSON object: the envelope of one event"),
    "a list for data": (document(data=[]), "data", "[]", "an object"),  # type: ignore[arg-type]
    "nothing": ("", "event", '""', "one JSON object in UTF-8"),
    "half an event": (document()[:-1], "event", '"{', "one JSON object in UTF-8"),
    "other than UTF-8": (document().encode("utf-16"), "event", "bytes that are not UTF-8", "one JSON object in UTF-8"),
    "a list too deep to show": ("[" * 1_000 + "]" * 1_000, "event", "too large to show", "a JSON object"),
    "a field too deep to read": (
        document()[:-1] + ', "x": ' + "[" * 1_000 + "]" * 1_000 + "}",
        "event",
        '"{',
        "recursion limit",
    ),
    "NaN in a deep place": (
        document()[:-1] + ', "x": ' + '{"a": ' * 900 + "NaN" + "}" * 901,
        "x.a.a",
        "nan",
        "a finite",
    ),
    "a number of a thousand digits": (document(schema_version=10**999), "event", '"{', "one JSON object"),
}


@each_row("name", REFUSED)
def test_the_door_refuses(name: str) -> None:
    raw, field, got, allowed = REFUSED[name]
    refused = refusal(raw)
    assert refused.field.startswith(field)
    assert got in refused.got
    assert allowed in refused.allowed
    assert refused.message == f"{refused.field}: got {refused.got}; allowed: {refused.allowed}"
    assert refused.context == {"field": refused.field, "got": refused.got, "allowed": refused.allowed}


@each_row("name", REFUSED)
def test_canonical_bytes_are_judged_as_any_others(name: str) -> None:
    raw = REFUSED[name][0]
    try:
        told = canonical(orjson.loads(raw))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return  # there are no canonical bytes of it
    assert outcome(told) == the_long_way(told)


@each_row("field", ["owner", "session_id", "correlation_id", "memory_id", "turn_id"])
@each_row(
    "value",
    ["", " ", "a b", "a\tb", "a\x00", "a\u200b", "{a}", "a}", "a" * 129, "e\u0301", "a,b", "a*", "a\u3000b", "\u2028"],
)
def test_what_is_no_id_is_refused_wherever_an_id_stands(field: str, value: str) -> None:
    inside = field in ("memory_id", "turn_id")
    raw = document(data={"memory_id": "m", field: value}) if inside else document(**{field: value})
    refused = refusal(raw)
    assert refused.field == (f"data.{field}" if inside else field)
    assert "1 to 128 letters or digits of any script (NFC)" in refused.allowed


@each_row("value", ["a", "é", "小明", "ann@example.org", "a/b:c+d-e_f.g", "x" * 128, "हिन्दी", "7"])
def test_letters_and_digits_of_any_script_are_an_id(value: str) -> None:
    assert read_event(document(owner=value), now=NOW).owner == value


def test_a_text_may_be_64_kib_long_to_the_byte() -> None:
    assert read_event(created(content="好" * 21_845 + "x"), now=NOW)
    assert read_event(created(content="x" * 65_536), now=NOW)


@each_row("moment", ["1900-01-01T00:00:00Z", "2026-11-22T09:35:00Z", "2026-11-22T10:35:00+01:00"])
def test_the_bounds_of_occurred_at_are_inside(moment: str) -> None:
    assert read_event(document(occurred_at=moment), now=NOW).owner == "ann"


@each_row("spelling", ["2026-11-22t09:30:00z", "2026-11-22 09:30:00.000Z", "2026-11-22T15:00:00+05:30"])
def test_spellings_of_one_instant_are_one_event(spelling: str) -> None:
    assert read_event(document(occurred_at=spelling), now=NOW) == read_event(document(), now=NOW)


def test_a_default_written_out_is_other_content() -> None:
    """Content is compared as it was sent, so that a release with another default takes no redelivery for a conflict."""
    told, absent = read_event(created(confidence=0.6), now=NOW), read_event(created(), now=NOW)
    assert told.body != absent.body
    assert decode(told.kind, told.body) == decode(absent.kind, absent.body)


def test_the_stored_bytes_are_canonical_json() -> None:
    stored = read_event(document(causation_id=ID.upper(), occurred_at="2026-11-22T10:30:00.5+01:00"), now=NOW).body
    assert stored.decode() == (
        '{"actor":"user","causation_id":"019cec00-0000-7000-8000-000000000001","data":{"memory_id":"m1"},'
        '"event_id":"019cec00-0000-7000-8000-000000000001","occurred_at":"2026-11-22T09:30:00.500000Z","owner":"ann",'
        '"schema_version":1,"type":"MemoryMentioned"}'
    )


def test_a_batch_names_each_bad_event_by_its_index_and_says_that_nothing_was_written() -> None:
    with pytest.raises(InvalidBatch) as caught:
        read_events([document(), document(owner="a b"), document(), "{"], now=NOW)
    assert [(p.context["index"], p.field) for p in caught.value.problems] == [(1, "owner"), (3, "event")]
    assert caught.value.message.startswith("index 1: owner: got ")
    assert caught.value.message.endswith("(and 1 more); nothing of the request was written")
    assert [problem["index"] for problem in caught.value.as_dict()["problems"]] == [1, 3]


def test_a_request_holds_a_thousand_events_at_most() -> None:
    with pytest.raises(RequestTooLarge, match="1001 events; at most 1000"):
        read_events([document()] * 1_001, now=NOW)


def test_where_an_event_came_from_is_part_of_the_refusal() -> None:
    with pytest.raises(InvalidEvent, match=r"^line 7: owner: got "):
        read_event(document(owner=""), now=NOW, line=7)


def make(data: Any, **envelope: Any) -> Any:
    return make_event(data, **({"owner": "ann", "occurred_at": MOMENT, "actor": "user", "now": NOW} | envelope))


@each_row(
    ("data", "envelope", "field"),
    [
        (MemoryMentioned(memory_id="a b"), {}, "data.memory_id"),
        (MemoryMentioned(memory_id="m", similarity=float("nan")), {}, "data.similarity"),
        (MemoryMentioned(memory_id="\ud800"), {}, "data.memory_id"),
        (MemoryMentioned(memory_id="m"), {"occurred_at": datetime(2026, 11, 22)}, "occurred_at"),
        (MemoryMentioned(memory_id="m"), {"occurred_at": MOMENT + timedelta(minutes=6)}, "occurred_at"),
        (
            MemoryMentioned(memory_id="m"),
            {"occurred_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2)))},
            "event",
        ),
        (MemoryMentioned(memory_id="m"), {"actor": "nobody"}, "actor"),
        (MemoryMentioned(memory_id="m"), {"event_id": "42"}, "event_id"),
        (MemoryErased(memory_id="m", reason="r"), {}, "type"),
        (
            MemoriesAccessed(
                hits=(Hit(memory_id="m", count=1, best_rank=1, last_at=datetime(2026, 11, 1)),), via="recall"
            ),
            {},
            "data.hits[0].last_at",
        ),
    ],
)
def test_an_event_made_from_values_is_checked_like_one_from_json(data: Any, envelope: Any, field: str) -> None:
    with pytest.raises(InvalidEvent) as caught:
        make(data, **envelope)
    assert caught.value.field == field
    assert caught.value.message.encode()


def test_an_event_made_from_values_gets_a_fresh_version_7_id_and_ids_in_lower_case() -> None:
    one, other = make(MemoryMentioned(memory_id="m")), make(MemoryMentioned(memory_id="m"))
    assert one.event_id != other.event_id
    assert {one.event_id[14], other.event_id[14]} == {"7"}
    given = make(MemoryMentioned(memory_id="m"), event_id=ID.upper(), causation_id=ID.upper())
    assert (given.event_id, given.causation_id) == (ID, ID)


def test_an_empty_list_that_is_no_default_is_kept() -> None:
    """An absent list leaves the memory's keywords, an empty one clears them."""
    made = make(MemoryRevised(memory_id="m", content="c", keywords=()))
    assert json.loads(encode(made))["data"] == {"memory_id": "m", "content": "c", "keywords": []}
    assert decode("MemoryRevised.1", prepare(made).body).data == made.data
