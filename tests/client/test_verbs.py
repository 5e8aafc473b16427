"""Every verb against the running service, of both kinds of client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engramlog import InputError, NotFound
from tests.given.client import Service, connected, new_owner, owner_of, proxy


@pytest.fixture
def memory(running: Service) -> Iterator[Any]:
    """A client of an owner of its own."""
    with connected("sync", running.url) as client:
        yield client.of(new_owner())


def ids(found: Any) -> list[str]:
    return [one.id for one in found.results]


def test_a_conversation_becomes_turns_and_memories_of_the_roles_to_remember(memory: Any) -> None:
    messages = [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "My sister lives in Oslo", "name": "Lin", "id": "t1"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": [{"type": "text", "text": "Oslo is cold in winter"}], "id": "t2"},
    ]
    added = memory.add(messages, session="s1", remember=("user", "assistant"))
    details = [memory.get(one) for one in added.ids]
    assert (added.ids, added.turns[1:]) == (["t1", "t2"], ["t1", "t2"])
    assert [(one.content, one.kind, one.source, one.speaker, one.source_turns) for one in details] == [
        ("My sister lives in Oslo", "episode", "user", "Lin", ["t1"]),
        ("Oslo is cold in winter", "episode", "assistant", "assistant", ["t2"]),
    ]
    assert ids(memory.search("Oslo", session="s1", speaker="Lin")) == ["t1"]


def test_what_the_assistant_said_is_a_turn_and_by_default_no_memory(memory: Any) -> None:
    said = [("user", "My sister lives in Oslo"), ("assistant", "Oslo is cold")]
    added = memory.add([{"role": role, "content": text} for role, text in said])
    assert (len(added.turns), [one.memory for one in memory.get_all().memories]) == (2, ["My sister lives in Oslo"])


def test_a_conversation_that_makes_one_memory_tells_its_id_and_one_of_several_does_not(memory: Any) -> None:
    one = memory.add([{"role": "user", "content": "My sister lives in Oslo"}])
    two = memory.add([{"role": "user", "content": text} for text in ("I drink tea", "I like rain")])
    assert ([one.id], two.id, len(two.ids)) == (one.ids, None, 2)


def test_turns_alone_make_no_memory(memory: Any) -> None:
    added = memory.add([{"role": "user", "content": "My sister lives in Oslo"}], remember=())
    assert (added.ids, len(added.turns), memory.get_all().total) == ([], 1, 0)


def test_what_is_negated_leaves_and_its_correction_stands_for_it(memory: Any) -> None:
    old = memory.add("I drink coffee", category="identity", project="home", speaker="Lin")
    effects = memory.negate(old.id, correction="I drink tea", reason="said so", turn_id="D4:7")
    new = memory.get(effects.replaced_by)
    assert (new.content, new.category, new.project, new.speaker, new.corrects, new.source_turns) == (
        "I drink tea",
        "identity",
        "home",
        "Lin",
        old.id,
        ["D4:7"],
    )
    decided = {(one.decision, one.memory) for one in effects.changes}
    assert {("create", new.id), ("negate", old.id)} < decided
    assert [one.id for one in memory.get_all().memories] == [effects.replaced_by]
    assert memory.get(old.id).successor == effects.replaced_by


@pytest.mark.parametrize("verb", ["get", "why", "delete", "restore", "confirm", "reinforce", "negate", "unmerge"])
def test_an_unknown_memory_is_not_found_and_nothing_is_written(memory: Any, running: Service, verb: str) -> None:
    memory.add("I drink coffee")
    with pytest.raises(NotFound) as problem:
        getattr(memory, verb)("tea")
    assert (problem.value.status, problem.value.error) == (404, "NotFound")
    assert [event for event, _ in running.log(owner_of(memory))] == ["MemoryCreated"]


def test_a_refusal_names_field_value_and_what_is_allowed(memory: Any) -> None:
    with pytest.raises(InputError) as refusal:
        memory.search("coffee", mode="all")
    error = refusal.value
    assert (error.status, error.field, error.got, error.allowed) == (422, "mode", "all", "normal, review, debug")


def test_all_memories_come_page_after_page(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog.reading.PAGE", 2)
    added = [memory.add(f"Cup number {number} is blue").id for number in range(5)]
    assert [one.id for one in memory.get_all().memories] == added[::-1]
    assert [one.id for one in memory.get_all(limit=2, offset=1).memories] == [added[3], added[2]]


def test_what_is_told_of_a_quarantined_owner_waits_and_says_so(memory: Any, running: Service) -> None:
    owner = owner_of(memory)
    kept = [memory.add(text).id for text in ("I drink coffee", "I drink tea")]
    stuck = running.poison(owner)
    added, negated, gone = memory.add("I drink milk"), memory.negate(kept[0]), memory.delete_all(owner=owner)
    assert [one.quarantined["position"] for one in (added, negated)] == [stuck, stuck]
    assert (added.changes, negated.changes, gone.deleted, sorted(gone.waiting)) == ([], [], [], sorted(kept))
    assert memory.get_all().quarantined["position"] == stuck


def test_a_history_of_many_pages_is_read_whole(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    added = memory.add("I drink coffee")
    for _ in range(4):
        memory.reinforce(added.id)
    whole = memory.history(added.id).changes
    monkeypatch.setattr("engramlog.reading.PAGE", 2)
    paged = memory.history(added.id)
    assert (paged.changes, paged.next, len(whole)) == (whole, None, 5)


def test_what_a_call_did_is_told_however_much_came_after_it(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog.events.NEWEST", 2)
    key = "said-once"
    first = memory.add("I drink coffee", memory_id="coffee", key=key)
    for _ in range(5):
        memory.reinforce("coffee")
    assert memory.add("I drink coffee", memory_id="coffee", key=key).changes == first.changes != []


def test_each_verb_about_one_memory_is_one_request(running: Service) -> None:
    verbs = {"edit": ("I drink much coffee",), "mention": (), "confirm": (), "negate": (), "reinforce": ()}
    with proxy(running.url) as between, connected("sync", between.url, owner=new_owner()) as memory:
        memory.add("I drink coffee", memory_id="coffee")
        between.asked.clear()
        for verb, told in verbs.items():
            getattr(memory, verb)("coffee", *told)
        asked = [(method, path.rpartition("/")[2]) for method, path, _ in between.asked]
    assert asked == [("POST", verb) for verb in verbs]


def test_saying_what_a_memory_says_already_writes_nothing(memory: Any, running: Service) -> None:
    memory.add("I drink coffee", memory_id="coffee")
    done = memory.edit("coffee", "I drink coffee")
    assert (done.revised, done.version, done.changes) == (False, 1, [])
    assert [event for event, _ in running.log(owner_of(memory))] == ["MemoryCreated"]
