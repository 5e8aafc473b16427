"""The client's questions are made of the application's operations: what lies there is what is made, and each verb answers."""

from __future__ import annotations

from engramlog import Memory
from tests.given.client import Service, connected, new_owner
from tests.made.client_source import ANSWERS, FILE, answers, formatted, questions


def test_what_the_client_has_is_what_is_made_of_the_operations() -> None:
    assert FILE.read_text("utf-8") == formatted(questions()), "run `make client`"


def test_every_answer_is_listed() -> None:
    assert ANSWERS.read_text("utf-8") == formatted(answers(), ANSWERS), "run `make client`"


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
