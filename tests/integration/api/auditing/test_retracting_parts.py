"""Retracting: its reach, and that the present then stands as the replay showed, as far as it claims; whole, once, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.api.checks import come_in_by
from engramlog_server.events.catalogue import MemoryMentioned, MemoryPromoted
from engramlog_server.events.envelope import decode, derived_id
from engramlog_server.events.errors import ConcurrencyError, InputError, KeyTaken, OwnerQuarantined
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.standing import Speaker
from engramlog_server.events.validation import make_event, ready
from engramlog_server.projections.decide.commands import EVENT
from engramlog_server.projections.reports.retraction import ACT
from tests.acceptance.helpers.store import Store
from tests.examples import examples
from tests.given.events import (
    Told,
    asserted,
    brought_back,
    created,
    deleted,
    in_session,
    mentioned,
    merged,
    moment,
    negated,
    parameters,
    profile,
    restored,
    retracted,
    revised,
    set_aside,
)
from tests.given.histories import FIRST, events
from tests.given.said import said
from tests.integration.api.auditing.test_striking_owners import drawn, turn
from tests.rows import each_row


def looked(store: Store, owner: str, **named: Any) -> dict[str, Any]:
    answer: dict[str, Any] = store.app.retracter.retract(owner, dry_run=True, **named)
    return answer


def done(store: Store, owner: str, reach: str, **named: Any) -> dict[str, Any]:
    answer: dict[str, Any] = store.app.retracter.retract(owner, reach=reach, reason="it was not Ann", **named)
    return answer


def as_shown(store: Store, owner: str) -> set[str]:
    """Ids of what normal mode shows now."""
    return {one["id"] for one in store.reader.list(owner, limit=1_000)["memories"]}


def place(store: Store, owner: str, kind: str, number: int = 0) -> str:
    """Where an event of a type stands."""
    found = dict.fromkeys(one["position"] for one in store.reader.history(owner)["changes"] if one["event"] == kind)
    return list(found)[number]


def lately(store: Store, story: list[Told], days: float = 10) -> list[Told]:
    """The same as told in the last days: what is long ago shows on no side, and an idle clock that begins anew would count."""
    return [replace(one, day=one.day + store.yesterday - days) for one in story]


CLAIMED: dict[str, tuple[list[Told], dict[str, Any], list[str]]] = {
    "a memory": ([created("coffee", "a"), created("tea", "b")], {"without": "MemoryCreated"}, ["MemoryDeleted"]),
    "a turn": (
        [*turn("t1", "I drink tea", 1), drawn("drinks tea", "tea", 2, "t1"), created("x", "b")],
        {"without_turns": ["t1"]},
        ["MemoryDeleted", "MemoryDeleted"],
    ),
    "a merge": (
        [created("coffee", "a"), created("tea", "b"), merged("a", "b", into="ab", day=1)],
        {"without": "MemoryMerged"},
        ["MemoryUnmerged"],
    ),
    "a merge of merges": (
        [
            *(created(f"I like {one}", one) for one in ("coffee", "tea", "milk")),
            merged("coffee", "tea", into="two", day=1),
            merged("two", "milk", into="three", day=2),
        ],
        {"without": "MemoryMerged"},
        ["MemoryUnmerged", "MemoryUnmerged"],
    ),
    "a deletion": ([created("coffee", "a"), deleted("a", 1)], {"without": "MemoryDeleted"}, ["MemoryRestored"]),
    "a restoration": (
        [created("coffee", "a"), deleted("a", 1), restored("a", 2)],
        {"without": "MemoryRestored"},
        ["MemoryDeleted"],
    ),
    "a revision": (
        [created("I like coffee", "a"), revised("I like rum", "a", 1)],
        {"without": "MemoryRevised"},
        ["MemoryRevised"],
    ),
    "a law": ([created("coffee", "a"), profile("tiered", 1)], {"without": "ProfileChosen"}, ["ProfileChosen"]),
    "parameters": (
        [created("coffee", "a"), parameters(1, user_factor=1.3)],
        {"without": "ParametersChanged"},
        ["ParametersChanged"],
    ),
    "a triple": ([created("coffee", "a"), asserted("a", day=1)], {"without": "FactAsserted"}, ["FactRetracted"]),
    "a triple taken back": (
        [created("coffee", "a"), asserted("a", day=1), retracted("a", day=2)],
        {"without": "FactRetracted"},
        ["FactAsserted"],
    ),
    "a source set aside": (
        [in_session(created("coffee", "a")), set_aside("s1", 1)],
        {"without": "SourceSetAside"},
        ["SourceBroughtBack"],
    ),
    "a source brought back": (
        [in_session(created("coffee", "a")), set_aside("s1", 1), brought_back("s1", 2)],
        {"without": "SourceBroughtBack"},
        ["SourceSetAside"],
    ),
    "a session": (
        [*turn("t1", "I drink tea", 1), drawn("drinks tea", "tea", 2, "t1"), created("coffee", "b")],
        {"without_sessions": ["s1"]},
        ["SourceSetAside"],
    ),
    "an actor": (
        [created("coffee", "a"), created("advice", "b", actor="assistant")],
        {"without_actors": ["assistant"]},
        ["SourceSetAside"],
    ),
}


@each_row("name", CLAIMED)
def test_what_is_claimed_stands_then_as_the_replay_showed(store: Store, name: str) -> None:
    story, named, undoes = CLAIMED[name]
    owner = store.owner()
    store.tell(owner, *lately(store, story))
    named = {"without": [place(store, owner, named["without"])]} if isinstance(named.get("without"), str) else named
    shown = {
        one["id"]: one["replayed"] is not None and one["replayed"]["shown"]
        for one in store.replayer.replay(owner, mode="normal", **named)["differences"]
    }
    told = looked(store, owner, **named)
    assert [one["event"] for one in told["undoes"]] == undoes
    assert (told["remains"], told["not_undone"]) == ([], [])
    answer = done(store, owner, told["reach"], **named)
    assert [one["event"] for one in answer["changes"] if one["decision"] == "ignored"] == []
    after = as_shown(store, owner)
    assert {one: one in after for one in shown} == shown
    again = store.replayer.replay(owner, mode="normal", **named)
    assert {one["id"] for one in again["differences"] if one["replayed"] and one["replayed"]["shown"]} == set()


def test_what_has_no_inverse_is_said_and_stays(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner, created("coffee", "a"), negated("a", 1), mentioned("a", 2, actor="judge"), said("t9", "alone", day=3)
    )
    where = [place(store, owner, kind) for kind in ("MemoryNegated", "MemoryMentioned")]
    told = looked(store, owner, without=where, without_turns=["t9"])
    assert told["undoes"] == []
    assert {one["kind"]: one["events"] for one in told["not_undone"]} == {
        "MemoryNegated": 1,
        "MemoryMentioned": 1,
        "TurnRecorded": 1,
    }
    assert all(one["why"].startswith("cannot be undone by an event: ") for one in told["not_undone"])
    assert [(one["id"], "is_negated" in one["fields"]) for one in told["remains"]] == [("a", True)]
    head = store.head(owner)
    assert done(store, owner, told["reach"], without=where, without_turns=["t9"])["changes"] == []
    assert store.head(owner) == head


def test_an_act_is_one_act_and_is_carried_out_once(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *turn("t1", "I drink tea", 1), drawn("drinks tea", "tea", 2, "t1"), created("x", "b", 1))
    told = looked(store, owner, without_turns=["t1"], without_sources=["user"])
    answer = done(store, owner, told["reach"], without_turns=["t1"], without_sources=["user"])
    partition, first = parse_position(answer["changes"][0]["position"])
    written = [decode(one.kind, one.body) for one in store.app.log.read(partition, first - 1, 10) if one.owner == owner]
    assert {one.type for one in written} == {"MemoryDeleted"}
    assert {one.data.reason for one in written} == {"it was not Ann"}
    (call,) = {one.correlation_id for one in written}
    assert call is not None
    of_turn = next(one.event_id for one in written if one.data.memory_id == "t1")
    causes = {one.data.memory_id: one.causation_id for one in written}
    assert causes == {"t1": None, "b": None, "tea": of_turn}
    head = store.head(owner)
    again = done(store, owner, told["reach"], without_turns=["t1"], without_sources=["user"])
    assert (again["again"], again["position"], store.head(owner)) == (True, answer["position"], head)
    assert again["changes"] == answer["changes"]
    back = store.restore(owner, "t1")
    assert [one["id"] for one in back["also"]] == ["tea"]


def test_what_was_undone_and_came_back_can_be_undone_again(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a"), in_session(created("tea", "b"), "s7"))
    where = [place(store, owner, "MemoryCreated")]
    for undo, named in (
        (lambda: store.restore(owner, "a"), {"without": where}),
        (lambda: store.app.sources.bring_back(owner, session="s7"), {"without_sessions": ["s7"]}),
    ):
        first = looked(store, owner, **named)
        done(store, owner, first["reach"], **named)
        undo()
        second = looked(store, owner, **named)
        assert second["reach"] != first["reach"]
        answer = done(store, owner, second["reach"], **named)
        assert (answer["again"], len(answer["changes"])) == (False, 1)


def test_another_reach_than_was_looked_at_is_refused_with_the_new_one(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *turn("t1", "I drink tea", 1))
    told = looked(store, owner, without_turns=["t1"])
    store.tell(owner, created("nothing to do with it", "other", 1))
    assert looked(store, owner, without_turns=["t1"])["reach"] == told["reach"]
    store.tell(owner, drawn("drinks tea", "tea", 2, "t1"))
    head = store.head(owner)
    with pytest.raises(ConcurrencyError) as refused:
        done(store, owner, told["reach"], without_turns=["t1"])
    assert (refused.value.status, store.head(owner)) == (409, head)
    new = looked(store, owner, without_turns=["t1"])
    assert refused.value.context["reach"] == new["reach"]
    assert done(store, owner, new["reach"], without_turns=["t1"])["undoes_total"] == 2


@each_row(
    ("named", "field"),
    [
        ({"without": ["0:1"]}, "reach"),
        ({"reach": "x" * 32}, "without"),
        ({"without_turns": ["t1"], "reach": "x" * 32, "actor": "assistant"}, "actor"),
        ({"without_turns": ["t1"], "reach": "x" * 32, "actor": "judge"}, "actor"),
    ],
)
def test_a_person_says_it_and_says_what(store: Store, named: dict[str, Any], field: str) -> None:
    owner = store.owner()
    store.tell(owner, *turn("t1", "I drink tea", 1))
    if "without" in named:
        named = {"without": [place(store, owner, "MemoryCreated")]}
    with pytest.raises(InputError, match=f"^{field}: got "):
        store.app.retracter.retract(owner, **named)


def test_no_agent_undoes_anything(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *turn("t1", "I drink tea", 1))
    with pytest.raises(InputError, match=r"^actor: got "):
        come_in_by("mcp", looked, store, owner, without_turns=["t1"])


def sent_under(store: Store, owner: str, event_id: str, actor: str, path: Any, call: str | None = None) -> None:
    """Somebody's event under an id that he chose."""
    made = make_event(
        MemoryMentioned(memory_id="b"),
        owner=owner,
        occurred_at=moment(1),
        actor=actor,
        now=store.app.log.now(),
        event_id=event_id,
        correlation_id=call,
        by=Speaker(path),
    )
    store.writer.append_all([ready(made, Speaker(path))])


def test_who_knows_a_reach_cannot_take_the_ids_of_its_act(store: Store) -> None:
    """They are made with the owner's secret: whoever reads the digest, and a store's code, sends what he likes."""
    owner, other = store.owner(), store.owner()
    store.tell(owner, created("coffee", "a"), created("tea", "b"))
    store.tell(other, created("tea", "b"))
    named: dict[str, Any] = {"without": [place(store, owner, "MemoryCreated")]}
    reach = looked(store, owner, **named)["reach"]
    told = store.app.log.naming(other).made("retract", reach, EVENT)
    for event_id in (derived_id("retract", owner, reach, EVENT), told):
        sent_under(store, owner, event_id, "assistant", "http")
    assert looked(store, owner, **named)["reach"] == reach
    answer = done(store, owner, reach, **named)
    assert (answer["again"], [one["memory"] for one in answer["undoes"]]) == (False, ["a"])
    assert len(answer["changes"]) == 1
    head = store.head(owner)
    assert (done(store, owner, reach, **named)["again"], store.head(owner)) == (True, head)


@each_row(
    ("actor", "path"),
    [("assistant", "http"), ("user", "mcp"), ("user", "terminal")],
    ids=["agent", "tool", "other call"],
)
def test_what_somebody_sent_under_the_id_of_an_act_is_not_told_as_done(store: Store, actor: str, path: Any) -> None:
    """A producer chooses the ids of its events, and who holds a copy of the store counts out which ones an act will have."""
    owner = store.owner()
    store.tell(owner, created("coffee", "a"), created("tea", "b"))
    named: dict[str, Any] = {"without": [place(store, owner, "MemoryCreated")]}
    reach = looked(store, owner, **named)["reach"]
    naming = store.app.log.naming(owner)
    call = None if path == "terminal" else naming.made("retract", reach, ACT)
    sent_under(store, owner, naming.made("retract", reach, EVENT), actor, path, call)
    with pytest.raises(KeyTaken, match="something else was said"):
        done(store, owner, reach, **named)


def test_what_takes_more_than_one_request_is_refused_and_a_whole_session_is_one_event(store: Store) -> None:
    owner = store.owner()
    notes = [in_session(created(f"note {n}", f"m{n}", store.yesterday), "s1") for n in range(1_001)]
    store.tell(owner, *notes[:500])
    store.tell(owner, *notes[500:])
    with pytest.raises(InputError, match="without: got 'what takes 1,001 events to undo'"):
        looked(store, owner, without_sources=["user"])
    told = looked(store, owner, without_sessions=["s1"])
    assert (told["undoes_total"], told["goes"]["total"], len(told["goes"]["ids"])) == (1, 1_001, 100)


def test_an_owner_who_stands_still_is_told_and_not_undone(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a"))
    where = [place(store, owner, "MemoryCreated")]
    stuck = store.poison(owner)
    told = looked(store, owner, without=where)
    assert told["quarantined"]["position"] == stuck
    with pytest.raises(OwnerQuarantined, match=stuck):
        done(store, owner, told["reach"], without=where)
    store.operator.dead_discard(owner, stuck, "a test")


def test_core_memories_go_where_their_own_events_are_named(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner,
        *turn("t1", "call me Ann", 1),
        Told(drawn("is called Ann", "name", 2, "t1").data, 2, "judge"),
        Told(created("a rule", "rule", tier="core").data, 3, "operator"),
        Told(MemoryPromoted(memory_id="name", to="core"), 4, "operator"),
    )
    told = looked(store, owner, without_turns=["t1"])
    assert [one["memory"] for one in told["undoes"]] == ["t1"]
    assert "core and system memories stay" in str([one["why"] for one in told["not_undone"]])
    (rule,) = [one["position"] for one in store.reader.history(owner, "rule")["changes"]]
    assert [one["memory"] for one in looked(store, owner, without=[rule])["undoes"]] == ["rule"]


# --- whatever was told


stories = st.lists(st.builds(in_session, events, st.sampled_from([None, "s1"])), max_size=16)


@settings(max_examples=examples(20))
@given(
    stories,
    st.sampled_from(
        [{"without_sessions": ["s1"]}, {"without_sources": ["user"]}, {"without": 0}, {"without": 3}, {"without": 9}]
    ),
)
def test_whatever_is_struck_the_present_then_stands_as_the_replay_but_for_what_is_told(
    store: Store, story: list[Told], named: dict[str, Any]
) -> None:
    owner = store.owner()
    flat = [replace(one, old=True) for one in lately(store, [*FIRST, *story], 85)]
    positions = [store.tell(owner, one) for one in flat]
    number = named.get("without")
    named = {"without": [positions[number % len(positions)]]} if isinstance(number, int) else named
    if named == {"without_sessions": ["s1"]} and not any(one.extra.get("session_id") for one in flat):
        return
    try:
        told = looked(store, owner, **named)
    except InputError:  # a position that was parked, or dropped
        return
    then = store.replayer.replay(owner, mode="normal", **named)
    moved = {one["id"]: one["replayed"] for one in then["differences"]}
    shown = {one for one, side in moved.items() if side is not None and side["shown"]}
    before = as_shown(store, owner)
    done(store, owner, told["reach"], **named)
    after, remains = as_shown(store, owner), {one["id"] for one in told["remains"]}
    assert ((before - moved.keys()) | shown) - remains == after - remains
    assert (set(told["goes"]["ids"]), set(told["comes_back"]["ids"])) == (before - after, after - before)


def test_what_a_deletion_rejected_is_taken_up_again_with_what_it_deleted(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("the kiln fires at 1240 degrees", "kiln", store.yesterday))
    store.app.deleter.delete_many(owner, ["kiln"], never=True)
    where = [place(store, owner, "MemoryDeleted")]
    told = looked(store, owner, without=where)
    assert sorted(one["event"] for one in told["undoes"]) == ["MemoryRestored", "ValueReadmitted"]
    assert (told["comes_back"]["ids"], told["remains"], told["not_undone"]) == (["kiln"], [], [])
    done(store, owner, told["reach"], without=where)
    assert as_shown(store, owner) == {"kiln"}


def test_a_synonym_goes_but_for_one_that_is_known_to_all(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("the kiln broke", "kiln", store.yesterday))
    store.app.synonyms.define(owner, "oven", "kiln")
    where = [place(store, owner, "SynonymDefined")]
    assert store.found(owner, "oven") == ["kiln"]
    told = looked(store, owner, without=where, queries=["oven"])
    assert [(one["before"], one["after"]) for one in told["questions"]] == [(["kiln"], [])]
    done(store, owner, told["reach"], without=where)
    assert store.found(owner, "oven") == []


def test_how_far_it_is_is_told_of_the_look_and_of_the_act(store: Store) -> None:
    owner, told = store.owner(), list[tuple[int, int]]()
    store.tell(owner, *turn("t1", "I drink tea", 1, "s1"), *turn("t2", "I drink ale", 2, "s2"))
    watch = {"on_progress": lambda *at: told.append(at)}
    reach = looked(store, owner, without_sessions=["s2"], **watch)["reach"]
    events = told[-1][1] // 2
    assert told[-1] == (2 * events, 2 * events)
    assert [at for at, _ in told] == sorted(at for at, _ in told)
    told.clear()
    done(store, owner, reach, without_sessions=["s2"], **watch)
    assert told[-1] == (2 * events, 2 * events)
