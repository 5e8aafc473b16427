"""Many instants by a store: each is what `get` and `list` tell of it, on both lines; and what is told to nobody stays so."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.api.services.instants import MOST_MARKS
from engramlog_server.events.envelope import utc_text
from engramlog_server.events.errors import InputError, NotFound
from engramlog_server.projections.laws.modes import MODES
from tests.acceptance.helpers.store import Store, day
from tests.given.events import (
    Told,
    accessed,
    created,
    deleted,
    in_session,
    mentioned,
    merged,
    moment,
    negated,
    profile,
    purged,
    revised,
    set_aside,
    shown,
)
from tests.rows import each_row

IDS = ["coffee", "tea", "both", "paris", "rome", "pw"]
ASKED = "what do I drink in the morning?"
LIFE: list[list[Told]] = [
    [
        in_session(created("I drink coffee every morning", "coffee", day=1), "s1"),
        in_session(created("I live in Paris", "paris", day=2), "s2"),
        created("my password is hunter2", "pw", day=2),
    ],
    [
        created("I drink tea every morning", "tea", day=20),
        mentioned("paris", 21),
        negated("coffee", 18, resolution="latest_wins", replaced_by="tea"),
        shown("tea", "coffee", day=22, via="recall"),
    ],
    [
        mentioned("coffee", 3),
        created("I live in Rome", "rome", day=11),
        profile("ebbinghaus", day=12),
        revised("I live in Rome by the river", of="rome", day=30),
        deleted("paris", 31),
        set_aside("s1", day=33),
        merged("tea", "rome", into="both", day=35),
    ],
]
"""Each batch is recorded after the one before; much of it came late."""


@pytest.fixture(scope="module")
def life(store: Store) -> tuple[str, list[str]]:
    """An owner of whom all of it was told, and the position of each batch."""
    owner = store.owner()
    return owner, [store.tell(owner, *batch) for batch in LIFE]


def asked(store: Store, owner: str, **wanted: Any) -> dict[str, Any]:
    return dict(store.app.instants.instants(owner, **wanted))


def got(store: Store, owner: str, memory_id: str, **times: Any) -> Any:
    try:
        return store.reader.get(owner, memory_id, trace=False, **times)
    except NotFound:
        return None


def check(store: Store, owner: str, told: dict[str, Any], moved: str, **held: Any) -> None:
    """Each instant of an answer is what other questions tell of it."""
    rows, mode = told["rows"], told["mode"]
    for number, instant in enumerate(told["instants"]):
        times = {moved: instant, **held}
        listed = store.reader.list(owner, mode=mode, limit=1_000, **times)["memories"]
        names = [one["id"] for one in listed if one["id"] in {row["id"] for row in rows}]
        ranks = {row["ranks"][number]: row["id"] for row in rows if row["ranks"][number] is not None}
        assert [ranks[place] for place in sorted(ranks)] == names
        for row in rows:
            one = got(store, owner, row["id"], **times)
            assert row["weights"][number] == (None if one is None else one["weight"])
            why = row["withheld"][number]
            assert (why is None) == (one is None or row["id"] in names)
            if why is not None and told["reasons"][why] != "sensitive":
                counts = {left["reason"] for left in store.reader.list(owner, mode=mode, **times)["withheld"]}
                assert told["reasons"][why] in counts


@each_row("mode", MODES)
def test_each_instant_on_either_line_is_what_get_and_list_tell(
    store: Store, life: tuple[str, list[str]], mode: str
) -> None:
    owner, (first, second, _) = life
    span = {"since": day(0), "until": day(60), "points": 13, "ids": IDS, "mode": mode}
    told = asked(store, owner, **span)
    assert (told["line"], told["ranked_by"], told["unknown"]) == ("happened", "activated", [])
    check(store, owner, told, "as_of")
    for known in (first, second):
        told = asked(store, owner, known=known, **span)
        assert ("tea" in told["unknown"]) == (known == first)
        check(store, owner, told, "as_of", known=known)


def test_at_the_place_of_a_question_its_ranks_are_those_of_the_search(store: Store) -> None:
    owner, now = store.owner(), store.yesterday
    store.tell(
        owner,
        created("I drink coffee every morning", "coffee", day=now - 90),
        created("I drink tea every morning", "tea", day=now - 30),
        negated("coffee", now - 29, resolution="latest_wins", replaced_by="tea"),
        created("早上我喝龙井茶", "longjing", day=now - 10),
        created("The kiln is behind the church", "kiln", day=now - 9),
    )
    for ranking in ("conversation", "text"):
        told = asked(store, owner, query=ASKED, ids=["coffee", "kiln"], ranking=ranking, points=40)
        at = told["exact_now"]
        found = store.reader.search(owner, ASKED, limit=100, trace=False, ranking=ranking)["results"]
        again = asked(store, owner, query=ASKED, ids=["coffee", "kiln"], ranking=ranking, until=at, points=40)
        ranks = {row["id"]: row["ranks"][-1] for row in again["rows"] if row["ranks"][-1] is not None}
        assert sorted(ranks, key=ranks.__getitem__) == [one["id"] for one in found if one["id"] in ranks]
        assert set(ranks) >= {one["id"] for one in found}
        rows = {row["id"]: row for row in told["rows"]}
        assert told["ranked_by"] == "score"
        assert rows["coffee"]["ranks"][5] == 1, "before the tea it answered the question"
        assert rows["coffee"]["ranks"][-1] is None
        assert told["reasons"][rows["coffee"]["withheld"][-1]] == "superseded"
        assert rows["kiln"]["scores"] == [None] * 40
        weights = [one for one in rows["kiln"]["weights"] if one is not None]
        assert weights, "it is weighed although it matches nothing"


def test_no_word_of_what_is_secret_deleted_rejected_or_purged_is_told(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner,
        created("my password is hunter2", "pw", day=1),
        created("I live in Paris", "deleted", day=1),
        created("I live in Nice", "purged", day=1),
        created("I live in Rome", "rejected", day=1),
        created("I live in Porto", "stays", day=1),
        deleted("deleted", 5),
        deleted("purged", 5),
        purged("purged", day=40, due=40),
    )
    store.app.writer.negate(owner, "rejected", never=True)
    ids = ["pw", "deleted", "purged", "rejected", "stays"]
    for mode in MODES:
        told = asked(store, owner, query="where do I live? hunter2", ids=ids, mode=mode, points=9)
        texts = {row["id"]: row["text"] for row in told["rows"]}
        assert "hunter2" not in str(told["rows"])
        assert "Nice" not in str(told)
        assert texts["purged"] is None
        assert texts["stays"] == "I live in Porto"
        assert [texts["deleted"], texts["rejected"]] == (
            ["I live in Paris", "I live in Rome"] if mode == "debug" else [None, None]
        )
        (row,) = (row for row in told["rows"] if row["id"] == "purged")
        assert row["weights"] == row["ranks"] == [None] * 9
    assert "hunter2" not in str(asked(store, owner, query="my password is hunter2", points=2)["query"])


def test_it_tells_the_events_that_named_its_rows_and_how_many_are_left_out(
    store: Store, life: tuple[str, list[str]]
) -> None:
    owner = life[0]
    told = asked(store, owner, ids=["coffee"], until=day(60), points=2)
    assert [one["event"] for one in told["marks"]] == [
        "MemoryCreated",
        "MemoryMentioned",
        "MemoryNegated",
        "MemoriesAccessed",
    ]
    assert all(one["ids"] == ["coffee"] for one in told["marks"])
    mark = told["marks"][1]
    assert mark["time"] == utc_text(moment(3))
    assert mark["recorded_at"] > told["marks"][2]["recorded_at"], "it came late"
    event = store.app.events.events(owner, limit=100)["events"]
    assert {one["position"] for one in told["marks"]} <= {one["position"] for one in event}
    many = store.owner()
    store.tell(many, created("I drink tea", "tea"), *(accessed("tea", day=1 + n / 100) for n in range(MOST_MARKS)))
    store.tell(many, mentioned("tea", 90))
    told = asked(store, many, ids=["tea"], points=2)
    assert (len(told["marks"]), told["marks_left_out"]) == (MOST_MARKS, 2)
    assert told["marks"][-1]["event"] == "MemoryMentioned", "what was only shown is left out first"


def test_what_nobody_knows_is_named_and_the_rest_is_told(store: Store, life: tuple[str, list[str]]) -> None:
    told = asked(store, life[0], ids=["nobody", "tea", "没有"], until=day(60), points=3)
    assert (told["unknown"], [row["id"] for row in told["rows"]]) == (["nobody", "没有"], ["tea"])
    empty = asked(store, "an-owner-without-any", ids=["tea"], points=2)
    assert (empty["rows"], empty["unknown"], empty["marks"]) == ([], ["tea"], [])
    assert empty["instants"][0] == empty["instants"][1]


def test_it_leaves_no_trace(store: Store, life: tuple[str, list[str]]) -> None:
    before = store.head(life[0])
    asked(store, life[0], query=ASKED)
    store.flushed()
    assert store.head(life[0]) == before


@each_row(
    ("wanted", "field"),
    [
        ({}, "ids"),
        ({"ids": []}, "ids"),
        ({"ids": ["a"] * 201}, "ids"),
        ({"ids": [""]}, "ids"),
        ({"ids": ["a\x00b"]}, "ids"),
        ({"ids": ["x" * 10_000]}, "ids"),
        ({"query": " "}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"query": "\ud800"}, "query"),
        ({"query": "tea", "results": 0}, "results"),
        ({"query": "tea", "results": 101}, "results"),
        ({"query": "tea", "ranking": "overlap"}, "ranking"),
        ({"query": "tea", "ranking": "best"}, "ranking"),
        ({"query": "tea", "search_mode": "semantic"}, "search_mode"),
        ({"ids": ["tea"], "points": 1}, "points"),
        ({"ids": ["tea"], "points": 241}, "points"),
        ({"ids": [f"m{number}" for number in range(101)], "points": 240}, "points"),
        ({"ids": ["tea"], "mode": "all"}, "mode"),
        ({"ids": ["tea"], "law": "gravity"}, "law"),
        ({"ids": ["tea"], "order": "score"}, "order"),
        ({"ids": ["tea"], "line": "said"}, "line"),
        ({"ids": ["tea"], "since": "yesterday"}, "since"),
        ({"ids": ["tea"], "since": "2024-01-01"}, "since"),
        ({"ids": ["tea"], "until": "2024-01-01T00:00:00"}, "until"),
        ({"ids": ["tea"], "since": "2024-02-01T00:00:00Z", "until": "2024-01-01T00:00:00Z"}, "until"),
        ({"ids": ["tea"], "as_of": "2024-02-01"}, "as_of"),
        ({"ids": ["tea"], "line": "known", "known": "2024-02-01"}, "known"),
        ({"ids": ["tea"], "line": "known", "as_of": "soon"}, "as_of"),
        ({"ids": ["tea"], "after": "here"}, "after"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_the_name_of_its_field(
    store: Store, life: tuple[str, list[str]], wanted: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as refusal:
        asked(store, life[0], **wanted)
    assert refusal.value.context["field"] == field
