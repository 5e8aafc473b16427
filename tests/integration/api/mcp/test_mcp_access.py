"""MCP with keys: who may do what by which tool, over HTTP in this process and over standard input and output."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from engramlog_server.api.mcp.connection import Connection, confined_to
from engramlog_server.api.mcp.server import MemoryServer
from engramlog_server.projections.access.keys import make_token
from tests.given.access.mcp_http import asking, posted, served, with_agent
from tests.given.http import HttpStore, created, http_store
from tests.given.mcp import COMMAND, TOOLS, Agent, environment, stdio, talk
from tests.rows import each_row

AGENT = [{"verbs": ["read", "produce", "correct", "delete"], "owners": ["alice", "team/*"]}]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("access") / "store") as found:
        found.told("alice", created("coffee", "I drink coffee"))
        found.told("bob", created("tea", "I drink tea"))
        yield found


def issued(store: HttpStore, principal: str, grants: Any, **more: Any) -> str:
    """A key of this principal."""
    return str(store.application.keys.issue(principal, grants=grants, **more)["key"])


def test_a_key_has_the_tools_of_the_owners_it_covers_and_says_what_it_says_by_its_own_name(store: HttpStore) -> None:
    key = issued(store, "agent-a", AGENT)

    async def day(agent: Agent) -> str:
        assert {one.name for one in (await agent.client.list_tools()).tools} == TOOLS
        said = await agent.remember("I moved to Lisbon")
        assert (await agent.call("search_memories", query="Lisbon"))["results"][0]["id"] == said
        assert (await agent.read("memory://about"))["owner"] == "alice"
        return said

    said = with_agent(served(store.application), key, "alice", day)
    (event,) = [
        one for one in store.application.events.events("alice", memory=said)["events"] if one["type"] == "MemoryCreated"
    ]
    assert event["principal"] == "agent-a"


@each_row(
    ("owner", "status"), [("alice", 200), ("team/x", 200), ("bob", 403), ("nobody-at-all", 403), (":access", 403)]
)
def test_a_key_is_told_no_tools_of_an_owner_it_does_not_cover_whether_or_not_there_is_one(
    store: HttpStore, owner: str, status: int
) -> None:
    key = issued(store, f"k{status}-{len(owner)}", AGENT)
    answer = posted(served(store.application), f"/mcp/{owner}", key)
    assert answer.status_code == status, answer.text
    if status == 403:
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
        assert owner not in answer.text


def test_what_a_key_may_not_do_is_refused_by_the_tool_in_words_for_a_model_and_is_recorded(store: HttpStore) -> None:
    key = issued(store, "reader", [{"verbs": ["read"], "owners": ["alice"]}])

    async def tries(agent: Agent) -> list[str]:
        assert (await agent.call("search_memories", query="coffee"))["results"]
        found = [
            await agent.refused("add_memory", content="I moved"),
            await agent.refused("update_memory", memory_id="coffee", content="tea"),
            await agent.refused("delete_memory", memory_id="coffee"),
            await agent.refused("add_turns", turns=[{"role": "user", "text": "hello"}]),
            await agent.refused("reinforce_memory", memory_id="coffee", outcome="used"),
        ]
        with pytest.raises(Exception, match="a grant of the verb review"):
            await agent.read("memory://inbox")
        return found

    for told, verb in zip(
        with_agent(served(store.application), key, "alice", tries),
        ("produce", "correct", "delete", "produce", "produce"),
        strict=True,
    ):
        assert re.search(f"needed: a grant of the verb {verb}( as \\w+)? on this owner", told), told
        assert "tell the user" in told
        assert "GET /v1/me" not in told
    denied = [one for one in store.application.reads.reads()["reads"] if one["principal"] == "reader"]
    assert {"rememberer.add", "rememberer.edit", "deleter.delete_many"} <= {one["call"] for one in denied}
    assert {one["what"] for one in denied} == {"denied"}


def test_nobody_is_told_anything_without_a_key_by_a_query_or_by_what_was_revoked_or_forged(store: HttpStore) -> None:
    key = issued(store, "revoked", AGENT)
    child = make_token(key, [{"verbs": ["read"], "owners": ["alice"]}], now=int(time.time()), seconds=60)
    app = served(store.application)
    assert posted(app, "/mcp/alice", child).status_code == 200
    assert posted(app, "/mcp/team/x", child).status_code == 403
    forged = f"{child[:-6]}{'A' * 6}"
    assert posted(app, "/mcp/alice", forged).status_code == 401
    assert posted(app, f"/mcp/alice?access_token={key}", None).status_code == 401
    assert posted(app, "/mcp/alice", None).status_code == 401
    assert "error=" not in posted(app, "/mcp/alice", None).headers["www-authenticate"]
    store.application.keys.revoke(key.split("_")[1])
    for shown in (key, child):
        answer = posted(app, "/mcp/alice", shown)
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert "resource_metadata" not in answer.headers["www-authenticate"]
    assert asking(app, lambda client: client.get("/.well-known/oauth-protected-resource/mcp/alice")).status_code == 404


def test_a_server_that_is_confined_to_a_key_looks_at_it_anew_at_each_call(store: HttpStore) -> None:
    key = issued(store, "narrow-agent", [{"verbs": ["read"], "owners": ["alice"]}])
    connection = Connection(lambda: nullcontext(store.application), "alice", who=confined_to(key))

    async def tries(agent: Agent) -> tuple[str, str]:
        assert (await agent.call("search_memories", query="coffee"))["results"]
        may_not = await agent.refused("add_memory", content="I moved")
        await asyncio.to_thread(store.application.keys.revoke, key.split("_")[1])
        return may_not, await agent.refused("search_memories", query="coffee")

    may_not, over = talk(MemoryServer(connection), tries)
    assert "the verb produce" in may_not
    assert "was revoked" in over
    assert key not in may_not + over
    foreign = Connection(lambda: nullcontext(store.application), "bob", who=confined_to(issued(store, "n2", AGENT)))
    assert "may not do this" in talk(MemoryServer(foreign), lambda agent: agent.refused("search_memories", query="tea"))


def test_over_http_a_shared_owner_is_told_to_whoever_s_key_or_token_allows_it(store: HttpStore) -> None:
    reads = {"verbs": ["read"], "owners": ["alice", "bob"]}
    key = issued(store, "of-both", [reads])
    narrow = make_token(key, [{**reads, "owners": ["alice"]}], now=int(time.time()), seconds=60)
    app = served(store.application, also=["bob"])

    async def whose(agent: Agent) -> set[str]:
        found = await agent.call("search_memories", query="I drink", owners=["bob"])
        return {one["metadata"]["owner"] for one in found["results"]}

    async def refused(agent: Agent) -> str:
        return await agent.refused("search_memories", query="I drink", owners=["bob"])

    assert with_agent(app, key, "alice", whose) == {"alice", "bob"}
    assert "may not do this" in with_agent(app, narrow, "alice", refused)
    assert "owners: got 'bob'; allowed" in with_agent(served(store.application), key, "alice", refused)


def test_a_stdio_server_with_a_key_in_its_environment_is_confined_to_it_and_without_one_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with http_store(folder) as found:
        key = issued(found, "stdio-reader", [{"verbs": ["read"], "owners": ["alice"]}])
    command = ("-P", "-m", "engramlog_server.ops.main", "mcp", "--owner", "alice")

    async def tries(agent: Agent) -> str:
        await agent.read("memory://about")
        return await agent.refused("add_memory", content="I moved")

    async def confined() -> str:
        parameters = StdioServerParameters(
            command=sys.executable, args=[*command], env=environment(folder, ENGRAMLOG_KEY=key)
        )
        async with Client(stdio_client(parameters)) as client:
            return await tries(Agent(client))

    assert "needed: a grant of the verb produce" in asyncio.run(confined())
    assert talk(stdio(folder), lambda agent: agent.remember("I moved"))

    async def shared(agent: Agent) -> Any:
        return await agent.call("search_memories", query="tea", owners=["bob"])

    with http_store(folder) as found:
        found.told("bob", created("tea", "I drink tea"))
    told = talk(stdio(folder, arguments=(*COMMAND, "--owner", "alice", "--also", "bob")), shared)
    assert [(one["id"], one["metadata"]["owner"]) for one in told["results"]] == [("tea", "bob")]
