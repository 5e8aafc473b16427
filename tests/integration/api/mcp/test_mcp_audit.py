"""The toolset of auditors: the answers of the routes, secrets withheld, nothing changed and no trace left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from engramlog_server.api.mcp.connection import MARK, marked
from engramlog_server.ops.main import main
from tests.acceptance.helpers.store import Store, day
from tests.given.events import created, mentioned, negated
from tests.given.http import app_of, client_of
from tests.given.mcp import Agent, in_process, talk
from tests.given.said import injected, said

SECRET = "the door's password is Tr0ub4dor&3xyz"
EVER_CHANGING = {"at", "used_memory", "memory", "workers", "at_seconds", "uptime"}
TIMES = {"as_of": day(4), "known": None}
MOMENT = {**TIMES, "at": day(9)}


@pytest.fixture(scope="module")
def http(store: Store) -> Iterator[TestClient]:
    with client_of(app_of(store.app)) as client:
        yield client


@pytest.fixture
def owner(store: Store) -> str:
    named = store.owner()
    store.tell(named, created("I like coffee", "m1"), created("I like green tea", "m2", 1), created(SECRET, "s", 1))
    store.tell(
        named, mentioned("m1", 2), negated("m2", 3, reason="no more"), created("I like coffee and cake", "m3", 3)
    )
    store.tell(named, said("t1", "What do I like?", day=3), injected("m1", turn_id="t1", day=3))
    return named


def asked_by(store: Store, owner: str, tool: str, /, **arguments: Any) -> dict[str, Any]:
    async def talking(agent: Agent) -> dict[str, Any]:
        return await agent.call(tool, **arguments)

    return talk(in_process(store.app, owner, "audit"), talking)


def given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


SAME: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "audit_search": (
        {"query": "coffee", "mode": "debug", **MOMENT},
        "/search",
        {"query": "coffee", "mode": "debug", "limit": 10, "trace": False, **MOMENT},
    ),
    "audit_list": ({"mode": "debug", **MOMENT}, "/memories", {"mode": "debug", "limit": 50, **MOMENT}),
    "audit_get": ({"memory_id": "m1", **MOMENT}, "/memories/m1", {"trace": False, **MOMENT}),
    "audit_why": (
        {"memory_id": "m2", "limit": 2, **MOMENT},
        "/memories/m2/why",
        {"limit": 2, "order": "newest", **MOMENT},
    ),
    "audit_history": (
        {"memory_id": "m2", "limit": 3, **TIMES},
        "/memories/m2/history",
        {"limit": 3, "order": "newest", **TIMES},
    ),
    "audit_events": (
        {"types": ["MemoryCreated"], "limit": 2, **TIMES},
        "/events",
        {"types": ["MemoryCreated"], "limit": 2, "order": "newest", **TIMES},
    ),
    "audit_provenance": ({"memory_id": "m2", **TIMES}, "/memories/m2/provenance", TIMES),
    "audit_uses": ({"memory_id": "m1", **TIMES}, "/memories/m1/uses", {"limit": 20, **TIMES}),
    "audit_answers": ({"session": "s1", **TIMES}, "/answers", {"session": "s1", "limit": 20, **TIMES}),
    "audit_answer": ({"turn_id": "t1", **TIMES}, "/answers/t1", TIMES),
    "audit_associations": ({"memory_id": "m1", **TIMES}, "/memories/m1/associations", {"depth": 1, **TIMES}),
    "audit_facts": (TIMES, "/facts", {"limit": 50, **TIMES}),
    "audit_compare": ({"limit": 5, **MOMENT}, "/compare", {"limit": 5, **MOMENT}),
    "audit_stats": (MOMENT, "/stats", MOMENT),
    "audit_diff": (
        {"since": day(2.5), "until": day(4), "line": "happened", "queries": ["green tea"]},
        "/diff",
        {"since": day(2.5), "until": day(4), "line": "happened", "queries": "green tea", "limit": 20},
    ),
}
"""Tools, with arguments, and the route that answers the same: path under the owner, and query."""
OF_THE_STORE = {"audit_laws": "/v1/laws", "audit_alarms": "/v1/alarms", "audit_status": "/v1/status"}


def without(answer: Any, names: set[str]) -> Any:
    if isinstance(answer, dict):
        return {name: without(value, names) for name, value in answer.items() if name not in names}
    return [without(one, names) for one in answer] if isinstance(answer, list) else answer


@pytest.mark.parametrize("tool", SAME)
def test_an_auditor_is_told_what_the_route_tells(store: Store, http: TestClient, owner: str, tool: str) -> None:
    arguments, path, query = SAME[tool]
    told = asked_by(store, owner, tool, **given(arguments))
    answer = http.get(f"/v1/owners/{owner}{path}", params=given(query))
    assert (answer.status_code, told.keys()) == (200, answer.json().keys() | {MARK})
    assert told == marked(answer.json())


@pytest.mark.parametrize("tool", OF_THE_STORE)
def test_an_operator_is_told_what_the_route_tells(store: Store, http: TestClient, owner: str, tool: str) -> None:
    told, answer = asked_by(store, owner, tool), http.get(OF_THE_STORE[tool]).json()
    assert without(told, EVER_CHANGING).keys() == {*without(answer, EVER_CHANGING), MARK}
    assert told.get("partitions") == marked(answer).get("partitions")
    assert told.get("laws") == marked(answer).get("laws")


def test_what_would_differ_is_told_as_by_the_route(store: Store, http: TestClient, owner: str) -> None:
    asked = {"without_actors": ["user"], "queries": ["coffee"], "limit": 5, **given(TIMES)}
    told = asked_by(store, owner, "audit_replay", parameters=["user_factor=1.3"], **asked)
    body = {"parameters": {"user_factor": 1.3}, **asked}
    assert told == marked(http.post(f"/v1/owners/{owner}/replay", json=body).json())


def test_every_tool_of_an_auditor_is_compared_with_a_route(store: Store, owner: str) -> None:
    assert {*SAME, *OF_THE_STORE, "audit_replay"} == {tool.name for tool in listed(store, owner, "audit")}


def listed(store: Store, owner: str, toolset: str) -> list[Any]:
    async def talking(agent: Agent) -> list[Any]:
        return list((await agent.client.list_tools()).tools)

    return talk(in_process(store.app, owner, toolset), talking)


def everything(store: Store, owner: str) -> list[dict[str, Any]]:
    """What every tool tells, as of now."""

    async def talking(agent: Agent) -> list[dict[str, Any]]:
        calls: list[tuple[str, dict[str, Any]]] = [(tool, dict(arguments)) for tool, (arguments, _, _) in SAME.items()]
        calls += [("audit_replay", {"queries": ["coffee"]}), *((tool, {}) for tool in OF_THE_STORE)]
        calls += [("audit_get", {"memory_id": "s"}), ("audit_search", {"query": "password", "mode": "debug"})]
        now = {"as_of", "known", "at"}
        return [await agent.call(tool, **{k: v for k, v in asked.items() if k not in now}) for tool, asked in calls]

    return talk(in_process(store.app, owner, "audit"), talking)


def test_no_tool_of_an_auditor_moves_a_weight_or_leaves_a_trace(store: Store, owner: str) -> None:
    def stands() -> Any:
        store.flushed()
        shown = store.reader.list(owner, mode="debug", at=day(30))["memories"]
        return store.head(owner), shown, [store.reader.get(owner, one["id"], trace=False, at=day(30)) for one in shown]

    before = stands()
    everything(store, owner)
    everything(store, owner)
    assert stands() == before


def test_no_tool_of_an_auditor_takes_an_owner_or_writes(store: Store, owner: str) -> None:
    tools = listed(store, owner, "audit")
    assert all(tool.annotations.read_only_hint and not tool.annotations.destructive_hint for tool in tools)
    assert [tool.name for tool in tools if "owner" in tool.input_schema["properties"]] == []
    assert {tool.name for tool in tools}.isdisjoint(tool.name for tool in listed(store, owner, "agent"))


WRONG: dict[str, Callable[[], dict[str, Any]]] = {
    "audit_list": lambda: {"limit": 101},
    "audit_get": lambda: {"memory_id": "nobody"},
    "audit_history": lambda: {"order": "sideways"},
    "audit_why": lambda: {"memory_id": "m1", "as_of": "some day"},
    "audit_replay": lambda: {"parameters": ["colour=red"]},
    "audit_search": lambda: {"query": "tea", "owner": "bob"},
}


@pytest.mark.parametrize("tool", WRONG)
def test_what_an_auditor_asks_wrongly_is_refused_by_name(store: Store, owner: str, tool: str) -> None:
    async def talking(agent: Agent) -> str:
        return await agent.refused(tool, **WRONG[tool]())

    told = talk(in_process(store.app, owner, "audit"), talking)
    (name, value) = list(WRONG[tool]().items())[-1]
    assert name in told or str(value) in told


def test_a_toolset_that_is_not_there_is_refused_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--owner", "alice", "--tools", "everything"]) == 2
    assert "tools: got 'everything'; allowed: agent or audit" in capsys.readouterr().err
