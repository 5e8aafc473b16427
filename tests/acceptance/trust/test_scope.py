"""scope.*: what is one owner's is never told to another."""

from __future__ import annotations

from typing import Any, cast

import pytest
from fastapi import FastAPI

from engramlog.errors import EngramlogError
from tests.acceptance.trust.doors import DOORS, READERS, Doors, Reads, silent_about
from tests.given.access.everybody import ROUTES
from tests.given.client import connected
from tests.given.http import created

SAID = "I keep a hedgehog named Zuleika in the red cabin."


@pytest.mark.parametrize("door", DOORS)
def test_scope_cross_tenant_absent(doors: Doors, door: str) -> None:
    """The best match is another owner's: absent, not merely low."""
    theirs, mine, asked = doors.owner(), doors.owner(), "Who keeps a hedgehog in the red cabin?"
    doors.remember(door, theirs, SAID)
    doors.remember(door, mine, "I keep bees")
    assert silent_about(doors.told(mine, asked), ["Zuleika"]) == []
    found = doors.told(theirs, asked)
    assert [place for place, text in found.items() if "Zuleika" not in text] == ["http facts"], "its owner finds it"


@pytest.mark.parametrize("reader", READERS)
def test_scope_background_respects_boundary(doors: Doors, reader: Reads) -> None:
    """Two owners with overlapping texts, every job run, caches warm: nothing that is derived mixes them."""
    one, other = doors.owner(), doors.owner()
    shared = "I live in Faro."
    doors.say("http", one, shared, "I own a canoe.", session="s")
    doors.say("http", other, shared, "I own a tractor.", session="s")
    for _ in range(2):
        for owner in (one, other):
            doors.extract(owner, reader)
            doors.jobs(owner)
            doors.told(owner, "what do I own")
    for owner, own, foreign in ((one, "canoe", "tractor"), (other, "tractor", "canoe")):
        told = doors.told(owner, "what do I own")
        assert silent_about(told, [foreign]) == []
        assert silent_about(told, [own]), "each still has its own"
        assert own in str(doors.memories(owner))
        assert foreign not in str(doors.memories(owner, "debug"))


OWN, FOREIGN = "I keep bees in the orchard.", SAID
REFUSED = (401, 403, 404)
SCOPES = {"another's": None, "every": "*", "empty": "", "of a path": "..%2F"}
"""What stands where the owner is named; None: the other one's name."""


def test_scope_caller_cannot_widen(doors: Doors) -> None:
    """With a key of one owner's, another is named, or all, or none, or a memory of another: refused or confined, on every face."""
    mine, theirs = doors.owner(), doors.owner()
    own, foreign = doors.remember("http", mine, OWN), doors.remember("http", theirs, FOREIGN)
    shown = {"authorization": f"Bearer {doors.key(mine)}", "engramlog-request": "1"}

    def works() -> bool:
        answer = doors.running.http.client.get(f"/v1/owners/{mine}/memories/{own}", headers=shown)
        return answer.status_code == 200 and OWN in answer.text

    widened = []
    for method, path in routes(doors):
        for what, named in SCOPES.items():
            filled = path.format_map(Filled(owner=theirs if named is None else named, memory_id=foreign))
            answer = doors.running.http.client.request(method, filled, headers=shown, **asked_of(method, path))
            if answer.status_code not in REFUSED or FOREIGN in answer.text:
                widened.append(f"{method} {path}, {what}: {answer.status_code}")
            assert works(), f"after {method} {path} the own call works"
        if "{memory_id}" in path:
            filled = path.format_map(Filled(owner=mine, memory_id=foreign))
            answer = doors.running.http.client.request(method, filled, headers=shown, **asked_of(method, path))
            if FOREIGN in answer.text or answer.status_code == 200:
                widened.append(f"{method} {path}, a foreign memory: {answer.status_code}")
    for path in ("/v1/owners", "/v1/dead", "/v1/status", "/v1/stats"):
        answer = doors.running.http.client.get(path, headers=shown)
        if theirs in answer.text:
            widened.append(f"GET {path}, no owner named: {answer.status_code}")
    event = created("widened", "I was here", owner=theirs)
    if doors.running.http.client.post("/v1/events", json=[event], headers=shown).status_code not in REFUSED:
        widened.append("POST /v1/events, another's")
    with connected("sync", doors.running.url, owner=mine, token=doors.key(mine)) as memory:
        for verb in ("get_all", "facts", "stats"):
            try:
                told = str(getattr(memory.of(theirs), verb)().as_dict())
            except EngramlogError:
                continue
            widened.append(f"client {verb}: {told[:40]}")
        assert OWN in str(memory.get_all().as_dict())
    assert widened == []


def test_scope_caller_cannot_widen_by_a_tool_or_a_memory_id(doors: Doors) -> None:
    """An agent is of one owner: no tool takes another, and the id of another's memory names nothing."""
    mine, theirs = doors.owner(), doors.owner()
    own, foreign = doors.remember("mcp", mine, OWN), doors.remember("mcp", theirs, FOREIGN)
    tools = doors.tools(mine)
    assert not [name for name, takes in tools.items() if {"owner", "owners"} & set(takes)], "no tool takes an owner"
    for name, what in (("search_memories", "query"), ("memory_contextual_search", "query"), ("memory_context", "text")):
        told = doors.answered(mine, name, {what: "Who keeps a hedgehog?", "owners": [theirs]})
        assert ("Zuleika" in told, "owners: got" in told) == (False, True), name
    named = {name: [one for one in takes if one.endswith(("key", "id"))] for name, takes in tools.items()}
    assert named["delete_memory"], "some take a memory's id"
    for name, takes in tools.items():
        given = dict.fromkeys(named[name], foreign) | {one: "red cabin" for one in ("query", "text") if one in takes}
        assert "Zuleika" not in doors.answered(mine, name, given), name
    assert silent_about(doors.told(mine, "Who keeps a hedgehog in the red cabin?"), ["Zuleika"]) == []
    assert OWN in doors.answered(mine, "search_memories", {"query": "bees"}), "its own is found"
    assert {own} <= set(doors.memories(mine))
    assert doors.memories(theirs) == {foreign: FOREIGN}, "nothing of the other's changed"


class Filled(dict[str, str]):
    """Names of a path; what it does not know is some text."""

    def __missing__(self, name: str) -> str:
        return "x"


def routes(doors: Doors) -> list[tuple[str, str]]:
    """Every route that names an owner."""
    document = cast("FastAPI", doors.running.http.client.app).openapi()
    paths = ((path, told) for path, told in document["paths"].items() if "{owner}" in path and "feed" not in path)
    return [(method.upper(), path) for path, told in paths for method in told]


def asked_of(method: str, path: str) -> dict[str, Any]:
    """What a route takes, so that nothing but the owner stands in its way."""
    case = ROUTES[f"{method} {path}"]
    return {"params": dict(case.query)} if case.body is None else {"json": case.body}
