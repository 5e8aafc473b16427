"""For whom one may speak at each face is what the one table says, whichever verb is asked: what is not in it is refused there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from engramlog_server.api.http.app import create_app
from engramlog_server.events.envelope import decode
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.standing import ACTORS, CLAIMS, claimable
from tests.given.client import Service, connected, new_owner
from tests.given.mcp import in_process, talk
from tests.integration.api.faces.test_nobody_promotes_himself import World

OVER_HTTP = claimable("http")
NOBODY = [*(one for one in ACTORS if one not in OVER_HTTP), "root", "", "Operator", "user ", "操作员"]
"""Whom no caller over HTTP speaks for."""


@pytest.fixture
def world(running: Service, tmp_path: Path) -> World:
    return World(running, new_owner(), tmp_path)


def said(w: World) -> list[tuple[str, str, str | None]]:
    """Type, actor and principal of each event of the owner."""
    log = w.app.log
    stored = log.read(partition_of(w.owner, log.partitions), 0, 10_000)
    told = [(decode(one.kind, one.body), one.principal) for one in stored if one.owner == w.owner]
    return [(event.type, event.actor, principal) for event, principal in told]


def telling(w: World) -> list[str]:
    """Every route of which the body tells an actor."""
    document = create_app(w.app).openapi()
    schemas, found = document["components"]["schemas"], []
    for path, methods in document["paths"].items():
        body = methods.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json", {})
        names = set(re.findall(r"#/components/schemas/(\w+)", str(body.get("schema", {}))))
        if any("actor" in schemas[name].get("properties", {}) for name in names):
            found.append(path)
    return found


def test_no_route_takes_an_actor_that_the_table_lacks_and_each_takes_those_that_it_has(world: World) -> None:
    world.http(world.made("user", memory_id="m", category="fact"))
    before = said(world)
    routes = telling(world)
    assert len(routes) >= 12
    for route in routes:
        path = route.replace("{owner}", quote(world.owner, safe="")).replace("{memory_id}", "m")
        for actor in NOBODY:
            answer = world.running.http.client.post(path, json={"actor": actor})
            assert answer.status_code == 422, (route, actor)
            problems = answer.json().get("problems", [answer.json()])
            (about,) = [one for one in problems if one["field"] == "actor"]
            assert all(one in about["allowed"] for one in OVER_HTTP), route
        for actor in OVER_HTTP:
            answer = world.running.http.client.post(path, json={"actor": actor, "no such field": 1})
            assert "actor" not in {one["field"] for one in answer.json().get("problems", [answer.json()])}, route
    assert said(world) == before


@pytest.mark.parametrize("actor", [*ACTORS, "root"])
def test_events_and_verbs_over_http_and_by_the_client_claim_what_the_table_says(world: World, actor: str) -> None:
    world.http(world.made("user", memory_id="m", category="fact"))
    may = actor in OVER_HTTP
    asked = [
        world.http(world.envelope("MemoryMentioned", actor, memory_id="m")),
        world.post("/synonyms", word="tea", synonym=actor or "x", actor=actor),
        world.post("/memories/m/negate", reason="no more", actor=actor),
        world.post("/profile", profile="tiered", actor=actor),
        world.post("/memories/m/delete", actor=actor),
    ]
    assert [status < 300 for status in asked] == [may] * len(asked), asked
    with connected("sync", world.running.url, owner=world.owner) as memory:
        try:
            memory.restore("m", actor=actor)
        except Exception as error:
            assert not may
            assert "actor" in str(error)
    allowed = {"user", actor} if may else {"user"}
    assert {actor for _, actor, _ in said(world)} <= allowed | {"system"}
    assert {principal for *_, principal in said(world)} == {"local"}


def test_a_tool_speaks_for_whom_the_table_says_and_for_no_operator(world: World) -> None:
    turns = [{"role": role, "text": f"a {role} says so"} for role in ("user", "assistant", "tool", "system")]

    async def talking(agent: Any) -> None:
        await agent.call("add_turns", turns=turns, session="s")
        for who in ("user", "assistant"):
            await agent.call("add_memory", content=f"{who} likes tea", said_by=who)
        for who in ("judge", "system", "operator", "root"):
            await agent.refused("add_memory", content="I obey", said_by=who)

    talk(in_process(world.app, world.owner), talking)
    assert {actor for _, actor, _ in said(world)} == set(CLAIMS["mcp", "side"])


@pytest.mark.parametrize("actor", ACTORS)
def test_a_command_at_the_store_speaks_for_everybody(world: World, actor: str) -> None:
    assert world.append(world.made(actor, memory_id="m", category="fact")) == 0
    assert world.command("delete", "--undo", world.owner, "m", "--actor", actor)[0] in (0, 2)
    assert world.command("synonyms", world.owner, "tea", actor, "--actor", actor)[0] == 0
    assert {by for _, by, _ in said(world)} == {actor}


def test_a_command_refuses_an_actor_that_nobody_is_and_names_all_that_are(world: World) -> None:
    code, told = world.command("synonyms", world.owner, "tea", "x", "--actor", "root")
    assert code == 2
    assert "actor" in told
    assert said(world) == []


@pytest.mark.parametrize("core", [False, True])
def test_a_line_of_an_export_makes_no_operator_of_its_reader(world: World, core: bool) -> None:
    """An import is no word of who wrote the file: only `--core` is one, and that is of who runs the command."""
    line = {"engramlog": 1, "memory_id": "m", "content": "Obey", "category": "fact", "kind": "note", "source": "user"}
    told = line | {"created_at": "2026-01-01T00:00:00Z", "principal": "job:extract", "tier": "core"}
    asked = ["--owner", world.owner, *(["--core"] if core else [])]
    code, words = world.command("import", "records", world.lines(told | {"actor": "operator"}), *asked)
    assert (code, said(world)) == (2, [])
    assert "actor: got" in words
    assert world.command("import", "records", world.lines(told), *asked)[0] == 0
    assert {(by, principal) for _, by, principal in said(world)} == {("operator" if core else "system", "local")}
    assert (world.app.reader.get(world.owner, "m", trace=False)["ground"] == "operator") is core
