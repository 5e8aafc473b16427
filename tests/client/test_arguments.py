"""What is given in the wrong shape is refused before anything is sent, and every refusal names what the caller wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engramlog import AsyncMemory, InputError, Memory
from engramlog.client import Verb, Verbs
from tests.given.client import KINDS, Proxy, connected, new_owner
from tests.rows import each_row


@pytest.fixture(params=KINDS)
def memory(request: pytest.FixtureRequest, between: Proxy) -> Iterator[Any]:
    """A client of an owner of its own, through the proxy."""
    with connected(request.param, between.url) as client:
        yield client.of(new_owner())


Call = Callable[[Any], Any]
SHAPES: dict[str, tuple[Call, str]] = {
    "metadata of a search": (lambda memory: memory.search("tea", metadata="page"), "metadata"),
    "a list as metadata of a search": (lambda memory: memory.search("tea", metadata=["page"]), "metadata"),
    "a value of metadata": (lambda memory: memory.search("tea", metadata={"page": [4]}), "metadata.page"),
    "nothing as a value": (lambda memory: memory.search("tea", metadata={"page": None}), "metadata.page"),
    "kinds": (lambda memory: memory.search("tea", kinds="fact"), "kinds"),
    "bytes": (lambda memory: memory.search("tea", categories=b"fact"), "categories"),
    "a number": (lambda memory: memory.search("tea", tags=5), "tags"),
    "include": (lambda memory: memory.export(include="deleted"), "include"),
    "jobs": (lambda memory: memory.cleanup(jobs="merge"), "jobs"),
    "without": (lambda memory: memory.replay(without="MemoryNegated"), "without"),
    "parameters": (lambda memory: memory.replay(parameters="user_factor"), "parameters"),
    "tags that are added": (lambda memory: memory.add("tea", tags="drinks"), "tags"),
    "names that are no tags": (lambda memory: memory.add("tea", tags={"drinks": 1}), "tags"),
    "metadata that is added": (lambda memory: memory.add("tea", metadata="page"), "metadata"),
    "a ground": (lambda memory: memory.add("tea", grounds=["https://example.org"]), "grounds[0]"),
    "roles": (lambda memory: memory.add([{"role": "user", "content": "tea"}], remember="user"), "remember"),
    "a content that is nothing to read": (lambda memory: memory.add(5), "content"),
    "a message that is none": (lambda memory: memory.add({"role": "user", "content": "tea"}), "content"),
    "tags of an edit": (lambda memory: memory.edit("coffee", "tea", tags="drinks"), "tags"),
    "sources": (lambda memory: memory.merge("coffee"), "sources"),
    "events": (lambda memory: memory.append("{}"), "events"),
    "an event": (lambda memory: memory.append(["{}"]), "events[0]"),
    "heads": (lambda memory: memory.append([], expected_heads=[1]), "expected_heads"),
}


@each_row("case", SHAPES)
def test_one_thing_where_several_are_asked_for_is_refused_and_nothing_is_sent(
    memory: Any, between: Proxy, case: str
) -> None:
    call, field = SHAPES[case]
    with pytest.raises(InputError) as refusal:
        call(memory)
    error = refusal.value
    assert (error.field, between.asked) == (field, [])
    assert error.got is not None
    assert error.allowed is not None
    assert str(error).startswith(f"{field}: got ")


@each_row("value", ["x" * 10_000, list("x" * 10_000)], ids=["text", "list"])
def test_a_refusal_tells_the_beginning_of_a_long_value(memory: Any, value: Any) -> None:
    with pytest.raises(InputError) as refusal:
        memory.search("tea", **{"kinds" if isinstance(value, str) else "metadata": value})
    assert 80 < len(str(refusal.value)) < 250


def test_several_may_come_in_any_shape_that_holds_several(memory: Any) -> None:
    one = memory.add("I drink tea", tags={"drinks"}, keywords=(word for word in ["tea"]), source_turns=None)
    for tags in (["drinks"], ("drinks",), {"drinks"}, (tag for tag in ["drinks"]), {"drinks": 1}.keys()):
        assert [found.id for found in memory.search("tea", tags=tags, kinds=None).results] == [one.id]


NAMES: dict[str, tuple[Call, str]] = {
    "since of curves": (lambda memory: memory.curves("coffee", since="once"), "since"),
    "until of curves": (lambda memory: memory.curves("coffee", until="once"), "until"),
    "since of chats": (lambda memory: memory.import_chats([], since="once"), "since"),
    "a parameter": (lambda memory: memory.replay(parameters={"mood": 1}), "parameters mood"),
    "a level": (lambda memory: memory.set_sensitivity("coffee", 9, reason="asked"), "level"),
    "a query": (lambda memory: memory.search(None), "query"),
    "a kind": (lambda memory: memory.add("tea", kind=""), "kind"),
}


@each_row("case", NAMES)
def test_a_refusal_of_the_service_names_the_argument_as_the_verb_calls_it(memory: Any, case: str) -> None:
    call, field = NAMES[case]
    memory.add("I drink coffee", memory_id="coffee")
    with pytest.raises(InputError) as refusal:
        call(memory)
    assert refusal.value.field == field
    assert f"{field}: " in str(refusal.value)


def test_both_clients_have_the_same_door_for_every_verb() -> None:
    verbs = [name for name in dir(Verbs) if isinstance(getattr(Verbs, name), Verb)]
    assert verbs
    assert all(getattr(Memory, name) is getattr(AsyncMemory, name) for name in verbs)
