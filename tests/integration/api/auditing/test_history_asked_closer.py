"""A history asked closer: only what happened or was recorded then, only some kinds, and in another law's numbers."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.api.work import Patience, with_patience
from engramlog_server.events.errors import DeadlineExceeded, InputError
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.redis.history import MomentLimits, RedisPast
from tests.acceptance.helpers.store import Store, day
from tests.given.events import (
    accessed,
    created,
    deleted,
    mentioned,
    negated,
    parameters,
    profile,
    purged,
    reinforced,
    revised,
)
from tests.rows import each_row

SOON = MomentLimits(least=1, fold=1, every=3)
NEVER = MomentLimits(least=1 << 40)


@pytest.fixture(scope="module")
def ada(store: Store) -> str:
    """Tea and coffee over forty days: reinforced, negated, late, under another law and other parameters, deleted and purged."""
    owner = store.owner()
    store.tell(owner, created("I like tea", "tea"), created("I like coffee", "coffee", day=1))
    store.tell(owner, profile("ebbinghaus", day=2), reinforced("tea", 3, outcome="task_success"))
    for number in range(4, 20):
        store.tell(owner, mentioned("tea" if number % 2 else "coffee", number))
    store.tell(owner, negated("coffee", 20), reinforced("tea", 12, outcome="task_failure"))
    store.tell(owner, parameters(day=21, user_factor=1.5), accessed("tea", day=22))
    store.tell(owner, created("The gate code is nice", "gone", 23), revised("I like green tea", "tea", 24))
    store.tell(owner, deleted("gone", 25), purged("gone", 60), mentioned("gone", 61), mentioned("tea", 30))
    return owner


def changes(store: Store, owner: str, memory_id: str | None = None, **asked: Any) -> list[dict[str, Any]]:
    return [dict(one) for one in store.reader.history(owner, memory_id, **asked)["changes"]]


def paged(store: Store, owner: str, memory_id: str | None = None, **asked: Any) -> list[dict[str, Any]]:
    """The same, page by page."""
    found, cursor = list[dict[str, Any]](), None
    while True:
        page = store.reader.history(owner, memory_id, cursor=cursor, limit=3, **asked)
        found += [dict(one) for one in page["changes"]]
        cursor = page["next"]
        if cursor is None:
            return found


@each_row("limits", [SOON, NEVER], ids=["from kept moments", "from the first event"])
@each_row("law", list(LAWS))
@each_row("order", ["oldest", "newest"])
@each_row("memory_id", [None, "tea", "gone"])
def test_pages_in_a_law_s_numbers_are_the_whole_in_them_wherever_the_fold_begins(
    store: Store, ada: str, limits: MomentLimits, law: str, order: str, memory_id: str | None
) -> None:
    whole = changes(store, ada, law=law)
    of = [one for one in whole if memory_id in (None, one["memory"])]
    store.app.views.moments.limits = limits
    found = paged(store, ada, memory_id, law=law, order=order)
    store.app.views.moments.limits = MomentLimits()
    assert found == (of if order == "oldest" else of[::-1])


def test_a_law_changes_the_numbers_alone(store: Store, ada: str) -> None:
    numbers = {"law", "old_weight", "new_weight", "delta", "factors"}
    stored, told = changes(store, ada), changes(store, ada, law="tiered")
    assert [{name: one[name] for name in one.keys() - numbers} for one in told] == [
        {name: one[name] for name in one.keys() - numbers} for one in stored
    ]
    assert {one["law"] for one in told} == {"tiered"}
    assert changes(store, ada, law="weighted") == stored


@each_row("past", [{"as_of": day(10)}, {"as_of": day(26)}])
@each_row("law", ["ebbinghaus", "weighted"])
def test_a_past_is_told_in_a_law_s_numbers_as_it_was_then(
    store: Store, ada: str, past: dict[str, str], law: str
) -> None:
    found = paged(store, ada, law=law, **past)
    happened = [one["position"] for one in changes(store, ada) if one["time"] <= next(iter(past.values()))]
    assert [one["position"] for one in found] == happened
    assert found == changes(store, ada, law=law, **past)


def test_a_position_s_past_ends_there_with_the_same_numbers(store: Store, ada: str) -> None:
    whole = changes(store, ada, law="consolidating")
    for limits in (SOON, NEVER):
        store.app.views.moments.limits = limits
        assert changes(store, ada, law="consolidating", as_of=whole[9]["position"]) == whole[:10]
        assert changes(store, ada, law="consolidating", known=whole[9]["position"]) == whole[:10]
    store.app.views.moments.limits = MomentLimits()


def test_later_pages_begin_at_moments_that_earlier_ones_kept(
    store: Store, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.app.views.moments.limits = SOON
    begun = list[int]()
    begin = RedisPast.begin

    def noted(self: RedisPast, *asked: Any, **more: Any) -> Any:
        start, head = begin(self, *asked, **more)
        begun.append(start.upto)
        return start, head

    monkeypatch.setattr(RedisPast, "begin", noted)
    paged(store, ada, law="tiered")
    store.app.views.moments.limits = MomentLimits()
    assert begun[0] == 0
    assert begun[-1] > 10


def test_why_tells_its_changes_in_a_law_s_numbers(store: Store, ada: str) -> None:
    told = store.reader.why(ada, "tea", law="ebbinghaus")
    assert told["changes"] == changes(store, ada, "tea", law="ebbinghaus")
    page = store.reader.why(ada, "tea", law="ebbinghaus", limit=2)
    following = store.reader.history(ada, "tea", law="ebbinghaus", limit=2, cursor=page["next"])
    assert following["changes"] == told["changes"][2:4]


@each_row(
    ("asked", "kept"),
    [
        ({"kinds": ["negate"]}, lambda one: one["decision"] == "negate"),
        (
            {"kinds": ["negate", "MemoryMentioned"]},
            lambda one: one["event"] == "MemoryMentioned" or one["decision"] == "negate",
        ),
        ({"since": day(5)}, lambda one: one["time"] >= day(5)),
        ({"until": day(12)}, lambda one: one["time"] <= day(12)),
        ({"since": "2024-01-06", "until": "2024-01-06"}, lambda one: one["time"].startswith("2024-01-06")),
        (
            {"since": day(5), "kinds": ["reinforce"], "law": "tiered"},
            lambda one: one["time"] >= day(5) and one["decision"] == "reinforce",
        ),
    ],
)
@each_row("order", ["oldest", "newest"])
@each_row("memory_id", [None, "tea"])
def test_filters_and_pages_compose(
    store: Store, ada: str, asked: dict[str, Any], kept: Any, order: str, memory_id: str | None
) -> None:
    whole = [one for one in changes(store, ada, memory_id, law=asked.get("law")) if kept(one)]
    assert paged(store, ada, memory_id, order=order, **asked) == (whole if order == "oldest" else whole[::-1])


def test_what_was_recorded_from_one_instant_to_another_is_a_run_of_positions(store: Store, ada: str) -> None:
    whole = changes(store, ada)
    times = [one["recorded_at"] for one in whole]
    since, until = times[5], times[12]
    asked = {"recorded_since": since, "recorded_until": until}
    assert changes(store, ada, **asked) == [one for one in whole if since <= one["recorded_at"] <= until]
    assert paged(store, ada, order="newest", **asked) == changes(store, ada, **asked)[::-1]
    assert changes(store, ada, recorded_until="2001-01-01") == []
    assert changes(store, ada, recorded_since="2199-01-01") == []


def test_the_lines_cross_where_something_came_late(store: Store, ada: str) -> None:
    (late,) = (one for one in changes(store, ada) if one["event"] == "MemoryReinforced" and one["time"] == day(12))
    asked = {"until": day(12), "recorded_since": late["recorded_at"]}
    assert changes(store, ada, **asked) == [late]


@each_row(
    ("asked", "field"),
    [
        ({"since": day(5), "until": day(4)}, "until"),
        ({"recorded_since": "2024-02-02", "recorded_until": "2024-02-01"}, "recorded_until"),
        ({"since": "2024-02-30"}, "since"),
        ({"until": "yesterday"}, "until"),
        ({"recorded_until": "12:30"}, "recorded_until"),
        ({"kinds": ["negated"]}, "kinds"),
        ({"law": "gravity"}, "law"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_its_name(store: Store, ada: str, asked: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        store.reader.history(ada, **asked)
    assert refused.value.as_dict()["field"] == field


@each_row("other", [{"law": "tiered"}, {"kinds": ["negate"]}, {"since": day(1)}])
def test_a_cursor_of_another_question_is_refused(store: Store, ada: str, other: dict[str, Any]) -> None:
    cursor = store.reader.history(ada, limit=2)["next"]
    with pytest.raises(InputError) as refused:
        store.reader.history(ada, limit=2, cursor=cursor, **other)
    assert refused.value.as_dict()["field"] == "cursor"


def test_a_fold_for_a_law_ends_at_its_deadline(store: Store, ada: str) -> None:
    patience = Patience()
    patience.begin(-1)
    with with_patience(patience), pytest.raises(DeadlineExceeded):
        store.reader.history(ada, law="ebbinghaus")


def test_an_owner_in_quarantine_is_told_up_to_where_it_stands(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created(), mentioned(day=1))
    store.poison(owner)
    answer = store.reader.history(owner, law="ebbinghaus")
    assert answer["quarantined"]["position"]
    assert [one["new_weight"] for one in answer["changes"]] == [1.0, 0.87]
