"""The verb `context` against the running service, of both kinds of client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engramlog import InputError
from tests.given.client import KINDS, Service, connected, new_owner, owner_of, proxy, service
from tests.rows import each_row

COFFEE, ASKS = "I drink coffee every morning", "What do I drink in the morning?"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("context")) as opened:
        yield opened


@pytest.fixture(params=KINDS)
def memory(request: pytest.FixtureRequest, running: Service) -> Iterator[Any]:
    """A client of an owner of its own."""
    with connected(request.param, running.url) as client:
        yield client.of(new_owner())


@pytest.mark.parametrize(("said", "asks"), [(COFFEE, ASKS), ("我每天早上喝咖啡", "我早上喝什么？")])
def test_a_memory_is_in_one_part_of_the_block_with_its_handle(memory: Any, said: str, asks: str) -> None:
    added = memory.add(said)
    own, related = memory.context(asks), memory.context(asks, stable_budget=0, trace=False)
    assert [(one.kind, one.id, one.text) for one in own.parts.profile] == [("memory", added.id, said)]
    assert (own.injected, own.recorded["status"]) == ([added.id], "appended")
    assert (own.parts.retrieved, own.block) == ([], f"{own.stable}\n{own.turn}")
    assert f"- [{own.parts.profile[0].handle}] " in own.stable
    assert own.tokens <= own.budget == 1_500
    assert [one.id for one in related.parts.retrieved] == [added.id]
    assert (related.stable, f"- [{own.parts.profile[0].handle}] " in related.turn) == ("", True)


def test_the_conversation_so_far_stands_in_it_and_the_turn_itself_does_not(memory: Any) -> None:
    messages = [("t1", "user", "My sister lives in Oslo"), ("t2", "assistant", "How far north!"), ("t3", "user", ASKS)]
    memory.add([{"id": one, "role": role, "content": text} for one, role, text in messages], session="s1")
    told = memory.context(ASKS, session="s1")
    assert ([one.id for one in told.parts.remembered], told.turn_id) == (["t1", "t2"], "t3")
    assert memory.context(ASKS, session="s1", messages=0).parts.remembered == []


def test_for_one_turn_it_is_recorded_once_and_without_trace_never(memory: Any, running: Service) -> None:
    memory.add(COFFEE)
    trace = [
        memory.context(ASKS, turn_id=turn, trace=kept) for turn, kept in (("t1", False), ("t2", None), ("t2", None))
    ]
    assert [one.recorded["status"] for one in trace] == ["off", "appended", "already"]
    uses = running.http.application.uses.uses(
        owner_of(memory), trace[0].injected[0], after=trace[1].recorded["position"]
    )
    assert [use["turn_id"] for use in uses["uses"]] == ["t2"]


@each_row("kind", KINDS)
def test_sent_again_after_a_lost_answer_it_is_recorded_once(kind: str, running: Service) -> None:
    owner = new_owner()
    with proxy(running.url) as between, connected(kind, between.url, owner=owner) as memory:
        added = memory.add(COFFEE)
        between.fates = ["lose"]
        told = memory.context(ASKS)
    assert (told.injected, told.recorded["status"]) == ([added.id], "already")
    uses = running.http.application.uses.uses(owner, added.id, after=told.recorded["position"])
    assert len(uses["uses"]) == 1


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("text", {"text": " "}),
        ("budget", {"budget": 79}),
        ("language", {"language": "fr"}),
        ("related", {"related": "maybe"}),
    ],
)
def test_what_cannot_be_is_refused_by_name(memory: Any, field: str, given: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refusal:
        memory.context(**({"text": ASKS} | given))
    assert refusal.value.field == field
