"""The client's questions are made of the application's operations: what lies there is what is made, and each verb answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from api.operations import answers
from engramlog import Memory
from engramlog import answers as told
from engramlog.results import Result
from tests.given.client import Service, connected, new_owner, service
from tests.made.client_source import BY_HAND, FOLDER, SOURCES, VERBS, formatted
from tests.rows import each_row

GIVEN: dict[str, tuple[Any, ...]] = {
    "partition_events": (3,),
    "assess": ("coffee",),
    "map": ("coffee",),
    "diff": ("2026-01-01",),
    "restore_many": (["item"],),
    "above": ("coffee", "item", "what does she drink?"),
    "define_synonym": ("coffee", "brew"),
    "grade": ("coffee", 4),
    "accept": ("item",),
    "amend": ("item", "I drink tea"),
    "reject": ("item",),
    "answer": ("t1",),
    "make_key": ("support",),
    "set_grants": ("support", [{"verbs": ["read"], "owners": ["*"]}]),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("store")) as one:
        yield one


@each_row("name", SOURCES)
def test_what_the_client_has_is_what_is_made_of_the_operations(name: str) -> None:
    made, lies = formatted(SOURCES[name]()), Path(FOLDER, name).read_text("utf-8")
    assert lies == made, "run `make client`"


@each_row("name", [name for name, one in VERBS.items() if one.answer not in BY_HAND])
def test_a_made_verb_answers_with_every_field_in_its_place(running: Service, name: str) -> None:
    """Nothing that the service tells is left beside the answer's own fields."""
    owner = new_owner()
    with connected("sync", running.url, owner=owner) as memory:
        made = memory.add("I drink coffee every morning", memory_id="coffee", keywords=["coffee"]).id
        if name == "bring_back":
            memory.set_aside(session="s1")
        proposed = {
            "type": "MemoryCreated",
            "actor": "assistant",
            "trust": "proposed",
            "occurred_at": "2026-01-05T08:00:00Z",
        }
        data = {
            "memory_id": "item",
            "content": "I drink tea",
            "category": "fact",
            "kind": "fact",
            "source": "assistant",
        }
        memory.append([proposed | {"data": data}])
        if name in ("answers", "answer"):
            memory.context("What do I drink every morning?", session="s1", turn_id="t1", threshold=0.0)
            turn = {"turn_id": "t1", "role": "user", "text": "What do I drink every morning?"}
            told_at = {"actor": "user", "occurred_at": "2026-01-05T08:00:00Z", "session_id": "s1"}
            memory.append([told_at | {"type": "TurnRecorded", "data": turn}])
    operation = VERBS[name]
    arguments = GIVEN.get(name, (made,) if "memory_id" in operation.subject else ())
    named = {"owner": owner} if "owner" in operation.subject else {}
    named |= {"profile": "ebbinghaus"} if name == "choose_profile" else {}
    named |= {"ids": [made]} if name == "instants" else {}
    named |= {"session": "s1"} if name in ("set_aside", "bring_back") else {}
    named |= {"without_actors": ["assistant"], "dry_run": True} if name == "retract" else {}
    with connected("sync", running.url) as memory:
        if name == "check_heads":
            arguments = (memory.heads().line,)
        if name == "revoke_key":
            arguments = (memory.make_key("lost").key_id,)
        answer = getattr(memory, name)(*arguments, **named)
    assert isinstance(answer, Result)
    assert type(answer).__name__ == operation.answer
    assert list(_left_over(answer)) == []


def _left_over(answer: BaseModel, where: str = "") -> Iterator[str]:
    yield from (f"{where}{name}" for name in answer.model_extra or {})
    for name in type(answer).model_fields:
        value = getattr(answer, name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, BaseModel):
                yield from _left_over(one, f"{where}{name}.")


@each_row("name", sorted({one.answer for one in VERBS.values()} - BY_HAND))
def test_an_answer_of_the_client_has_the_fields_of_the_service_s(name: str) -> None:
    service_s: type[BaseModel] = getattr(answers, name)
    assert set(getattr(told, name).model_fields) == set(service_s.model_fields)


def test_a_call_without_a_key_is_sent_again_under_the_same_one(running: Service) -> None:
    """A lost answer is asked for again; the service knows the call by the key that the client made for it."""
    owner, keys = new_owner(), list[str]()
    with connected("sync", running.url, owner=owner) as memory:
        assert isinstance(memory, Memory)
        memory.add("I drink coffee", memory_id="coffee")
        plan = type(memory).grade._plan(memory.scope, "coffee", 4)
        first = next(plan)
        keys += [first.body.decode()]
        again = plan.send(None)  # no answer came
        while not hasattr(again, "body"):
            again = plan.send(None)
        keys += [again.body.decode()]
    assert keys[0] == keys[1]
    assert '"key":' in keys[0]
