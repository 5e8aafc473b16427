"""Strikes as the service takes them: by event, turn, session, source and who brought it; what follows, and what stays."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from engramlog_server.events.catalogue import Ground
from engramlog_server.events.envelope import derived_id, new_event_id, prepare
from engramlog_server.events.errors import InputError
from engramlog_server.events.validation import make_event
from tests.acceptance.helpers.store import Store, day
from tests.given.events import (
    Told,
    compressed,
    created,
    deleted,
    in_session,
    mentioned,
    merged,
    moment,
    negated,
    purged,
    shown,
)
from tests.given.said import injected, said
from tests.rows import each_row

NOW = day(30)


def turn(turn_id: str, text: str, when: float, session: str = "s1") -> list[Told]:
    """A turn, recorded and as a memory."""
    kept = created(text, turn_id, when, kind="episode", source_turns=(turn_id,))
    return [said(turn_id, text, day=when, session=session), in_session(kept, session)]


def drawn(text: str, of: str, when: float, *turns: str, **data: Any) -> Told:
    return created(text, of, when, actor="judge", source="judge", source_turns=turns, **data)


def replayed(store: Store, owner: str, **asked: Any) -> dict[str, Any]:
    answer: dict[str, Any] = store.replayer.replay(owner, at=asked.pop("at", NOW), **asked)
    return answer


def gone(answer: dict[str, Any]) -> list[str]:
    return [one["id"] for one in answer["differences"] if one["replayed"] is None]


@pytest.fixture(scope="module")
def owner(store: Store) -> str:
    """Two turns in two sessions, and what was made of them."""
    name = store.owner()
    grounded = created("the plan", "plan", 3, grounds=(Ground(uri="file:///plan.md", digest="sha256:00000001"),))
    store.tell(
        name,
        *turn("t1", "I drink tea", 1),
        *turn("t2", "I live in Paris", 2, "s2"),
        drawn("drinks tea", "tea", 3, "t1"),
        drawn("lives in Paris", "paris", 3, "t1", "t2"),
        created("lives in Rome", "rome", 3),
        replace(grounded, actor="assistant"),
        negated("rome", 4, turn_id="t1"),
        merged("tea", "paris", into="both", day=5),
        mentioned("both", 6),
        said("r1", "noted", "assistant", day=7, reply_to="t1"),
        injected("tea", turn_id="t2", day=8),
        compressed("tag", of="rome", day=9),
        shown("tea", "rome", day=9),
    )
    return name


def test_a_turn_is_struck_with_what_was_decided_from_it_and_the_rest_is_told(store: Store, owner: str) -> None:
    answer = replayed(store, owner, without_turns=["t1"], queries=["tea"], mode="normal")
    struck = [(one["event"], one["memory"], one["because"], one["of"]) for one in answer["struck"]]
    assert struck == [
        ("TurnRecorded", None, "named", "t1"),
        ("MemoryCreated", "t1", "named", "t1"),
        ("MemoryCreated", "tea", "source_turns", "t1"),
        ("MemoryNegated", "rome", "of_turn", "t1"),
        ("MemoryMerged", "both", "merges", "tea"),
    ]
    assert [(one["memory"], one["because"], one["of"]) for one in answer["stays"]] == [("paris", "other_turns", "t2")]
    assert [(one["kind"], one["events"]) for one in answer["without_effect"]] == [
        ("MemoryMentioned", 1),
        ("MemoriesAccessed", 1),
    ]
    assert {one["kind"]: one["events"] for one in answer["in_its_light"]} == {
        "reply": 1,
        "MemoryCompressed": 1,
        "access": 1,
    }
    assert gone(answer) == ["t1", "tea", "both"]
    assert {one["id"]: one["replayed"]["status"] for one in answer["differences"] if one["replayed"]}["paris"] == "live"
    assert answer["struck_because"] == {"named": 2, "source_turns": 1, "of_turn": 1, "merges": 1}


def test_events_are_named_by_position_as_by_id_and_twice_is_once(store: Store, owner: str) -> None:
    (entry,) = [one for one in store.reader.history(owner, "rome")["changes"] if one["decision"] == "negate"]
    by_place, by_id, both = (
        replayed(store, owner, without=names)
        for names in ([entry["position"]], [entry["event_id"].upper()], [entry["position"], entry["event_id"]])
    )
    assert [one["id"] for one in by_place["differences"]] == ["rome"]
    assert by_place["differences"] == by_id["differences"] == both["differences"]
    assert by_place["struck"][0]["of"] == entry["position"]
    assert both["struck_total"] == 1


@each_row(
    ("named", "field"),
    [
        ({"without": [derived_id("nobody")]}, "without"),
        ({"without_turns": ["t9"]}, "without_turns"),
        ({"without_sessions": ["s1", "s9"]}, "without_sessions"),
        ({"without_sources": ["import"]}, "without_sources"),
        ({"without_principals": ["agent-9"]}, "without_principals"),
        ({"without_correlations": ["c9"]}, "without_correlations"),
        ({"without_models": ["qwen3:8b"]}, "without_models"),
        ({"without_actors": ["somebody"]}, "without_actors"),
        ({"profile": "heavy"}, "profile"),
        ({"queries": [f"q{n}" for n in range(21)]}, "queries"),
        ({"queries": [" "]}, "query"),
        ({"most": 0}, "most"),
    ],
)
def test_what_is_named_in_vain_is_refused_by_name(store: Store, owner: str, named: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=f"^{field}: got "):
        replayed(store, owner, **named)


def test_what_is_named_in_vain_is_refused_with_what_there_is(store: Store) -> None:
    owner = store.owner()
    turns = [said(f"t{n}", f"note {n}", day=n, session=f"session_{n}") for n in range(1, 10)]
    store.tell(owner, *turns)
    brought(store, owner, created("milk", "milk", 1), "qwen3:8b")
    refusals = {
        "without_sessions": ("sesion_3", r"session_3.* and 4 more$"),
        "without_principals": ("qwen3:8b", " model:qwen3:8b$"),
        "without_models": ("qwen", ": qwen3:8b$"),
    }
    for field, (named, told) in refusals.items():
        with pytest.raises(InputError, match=f"^{field}: got '{named}'; allowed: .*{told}"):
            replayed(store, owner, **{field: [named]})


def test_a_position_of_another_owner_is_refused(store: Store, owner: str) -> None:
    head = store.tell(store.owner(), created())
    partition = int(replayed(store, owner)["position"].split(":")[0])
    while True:
        other = store.owner()
        head = store.tell(other, created())
        if int(head.split(":")[0]) != partition:
            break
    with pytest.raises(InputError, match=r"without: got .*a position of this owner"):
        replayed(store, owner, without=[head])
    while int(head.split(":")[0]) != partition:
        head = store.tell(store.owner(), created())
    with pytest.raises(InputError, match=f"without: got '{head}'"):
        replayed(store, owner, without=[head])


def brought(store: Store, owner: str, told: Told, principal: str | None = None, **envelope: Any) -> str:
    """One event with more of an envelope, perhaps decided by a model; gives its id."""
    event_id = new_event_id()
    made = make_event(
        told.data,
        owner=owner,
        occurred_at=moment(told.day),
        actor=told.actor,
        now=store.app.log.now(),
        event_id=event_id,
        **envelope,
    )
    store.writer.settle(store.writer.append_all([prepare(made)._replace(model=principal)]))
    return event_id


def test_who_brought_it_its_model_its_cause_and_its_correlation_are_struck_by(store: Store) -> None:
    owner = store.owner()
    first = brought(store, owner, created("coffee", "a"))
    brought(store, owner, created("by a model", "b", 1, actor="judge"), "qwen3:8b")
    brought(store, owner, created("of one call", "c", 1), correlation_id="call-1")
    cause = brought(store, owner, created("a cause", "d", 1))
    brought(store, owner, created("an effect", "e", 1), causation_id=cause)
    principal = store.app.log.principal
    assert gone(replayed(store, owner, without_models=["qwen3:8b"])) == ["b"]
    assert gone(replayed(store, owner, without_principals=[f"{principal} model:qwen3:8b"])) == ["b"]
    assert gone(replayed(store, owner, without_principals=[principal])) == ["a", "c", "d", "e"]
    assert gone(replayed(store, owner, without_correlations=["call-1"])) == ["c"]
    answer = replayed(store, owner, without=[cause])
    assert gone(answer) == ["d", "e"]
    assert [one["because"] for one in answer["struck"]] == ["named", "caused"]
    assert gone(replayed(store, owner, without=[first])) == ["a"]


def test_lists_are_told_in_pages_with_their_totals(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *(created(f"note {n}", f"m{n}") for n in range(7)))
    answer = replayed(store, owner, without_actors=["user"], most=3, offset=3)
    assert [(one["id"], one["memory"]) for one in answer["differences"]] == [(f"m{n}", f"note {n}") for n in (3, 4, 5)]
    assert [one["memory"] for one in answer["struck"]] == ["m3", "m4", "m5"]
    assert (answer["total"], answer["struck_total"], answer["offset"]) == (7, 7, 3)


def test_no_word_of_what_is_hidden_is_told_and_none_is_found_by(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner,
        created("the PIN of my card is 4821", "pin", sensitivity=3),
        created("the gate opens with heather", "gate"),
        created("green tea", "tea"),
        deleted("gate", 1),
        purged("gate", 40, due=40),
    )
    (purge,) = [one for one in store.reader.history(owner, "gate")["changes"] if one["event"] == "MemoryPurged"]
    answer = replayed(store, owner, at=day(50), without=[purge["position"]], queries=["4821", "heather"], mode="debug")
    told = json.dumps(answer).replace('"query": "4821"', "").replace('"query": "heather"', "")
    told = told.replace('"text": "4821"', "")
    assert [word for word in ("4821", "heather") if word in told] == []
    assert [(one["before"], one["after"]) for one in answer["questions"]] == [([], []), ([], [])]


def test_a_replay_moves_nothing_and_appends_nothing(store: Store, owner: str) -> None:
    before = store.head(owner), store.reader.list(owner, mode="debug", at=NOW)
    replayed(store, owner, without_sessions=["s1"], queries=["tea", "Paris"])
    store.app.retracter.retract(owner, without_sessions=["s1"], dry_run=True, queries=["tea"])
    store.flushed()
    assert (store.head(owner), store.reader.list(owner, mode="debug", at=NOW)) == before
