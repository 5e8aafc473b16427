"""Every tool, resource and prompt of the MCP server, asked by the SDK's own client on an embedded store."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from engramlog_server.api.application import Application
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.server import MemoryServer
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from tests.given.mcp import TOOLS, Agent, in_process, talk

SECRET = "the door's password is Tr0ub4dor&3xyz"


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    settings = Settings(data=tmp_path_factory.mktemp("mcp") / "store", partitions=4)
    with open_application(settings) as opened:
        yield opened


NUMBERS = count(1)


@pytest.fixture
def server(application: Application) -> MemoryServer:
    """A server of an owner of its own."""
    return in_process(application, f"owner-{next(NUMBERS)}")


def test_what_was_added_is_found_with_its_key_score_and_preview(server: MemoryServer) -> None:
    async def talking(agent: Agent) -> Any:
        content = "I drink Longjing tea every morning" + " and think about porcelain" * 20
        key = await agent.remember(content, memory_type="user_preference", category="stable_preference")
        await agent.remember("The kiln is fired on Fridays")
        return key, content, await agent.call("search_memories", query="what tea in the morning?")

    key, content, answer = talk(server, talking)
    (found,) = answer["results"]
    assert found["id"] == key
    assert found["content_preview"] == content[:200]
    assert len(found["summary"]) <= 80
    assert (found["memory_type"], found["metadata"]["category"]) == ("user_preference", "stable_preference")
    assert 0 < found["relevance_score"] <= 1
    assert found["score"] > 0
    assert found["created_at"].endswith("Z")
    assert found["keywords"]
    assert (answer["total_found"], answer["search_strategy_used"]) == (1, "hybrid: words")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, {"a", "b"}),
        ({"memory_types": ["lesson"]}, {"b"}),
        ({"keywords": ["porcelain"]}, {"a"}),
        ({"search_mode": "keyword"}, {"a", "b"}),
        ({"time_range": ["2020-01-01", "2021-01-01"]}, set()),
        ({"time_range": ["yesterday", ""]}, {"a", "b"}),
        ({"limit": 1}, {"a"}),
    ],
)
def test_a_search_can_be_narrowed(server: MemoryServer, arguments: dict[str, Any], found: set[str]) -> None:
    async def talking(agent: Agent) -> Any:
        keys = {
            await agent.remember("kiln kiln: porcelain is fired twice", keywords=["kiln", "porcelain"]): "a",
            await agent.remember("the kiln must cool slowly, over a night", memory_type="lesson"): "b",
        }
        return keys, await agent.call("search_memories", query="kiln", **arguments)

    keys, answer = talk(server, talking)
    assert {keys[one["id"]] for one in answer["results"]} == found


def test_little_relevance_is_said_and_cuts_only_where_it_is_asked_to(server: MemoryServer) -> None:
    async def talking(agent: Agent) -> Any:
        await agent.remember("We moved the workshop to Lisbon after the flood in the old town")
        query = "which place do we live in since the water came, is it Lisbon?"
        shown = await agent.call("search_memories", query=query)
        cut = await agent.call("search_memories", query=query, min_relevance_score=0.9)
        return shown, cut

    shown, cut = talk(server, talking)
    assert len(shown["results"]) == 1
    assert shown["hint"].startswith("none reaches a relevance of 0.6")
    assert (cut["results"], cut["total_found"]) == ([], 0)
    assert "1 memory is less relevant" in cut["hint"]


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("search_memories", {"query": " "}, "query: got ' '"),
        ("search_memories", {}, "query: got nothing"),
        ("search_memories", {"query": "x", "limit": 21}, "limit: got 21"),
        ("search_memories", {"query": "x", "search_mode": "magic"}, "search_mode: got 'magic'"),
        ("search_memories", {"query": "x", "search_mode": "semantic"}, "no embedder counts here"),
        ("search_memories", {"query": "x", "owner": "bob"}, "owner: no such argument"),
        ("search_memories", {"query": "x", "time_range": ["whenever", ""]}, "time_range: got 'whenever'"),
        ("search_memories", {"query": "x", "time_range": ["2026-01-01"]}, "time_range"),
        ("search_memories", {"query": "x", "min_relevance_score": 1.5}, "min_relevance_score: got 1.5"),
        ("memory_contextual_search", {"query": "x", "emotional_filter": "sad"}, "emotional_filter: got 'sad'"),
        ("get_memory_detail", {"memory_id": "nobody"}, "has no memory nobody"),
        ("get_memory_detail", {"memory_id": "no body"}, "memory_id: got 'no body'"),
        ("get_memory_detail", {"memory_id": "nobody", "reasons": True}, "has no memory nobody"),
        ("add_memory", {"content": "  "}, 'content: got "  "'),
        ("add_memory", {"content": "x", "category": "mood"}, "category: got 'mood'"),
        ("add_memory", {"content": "x", "occurred_at": "yesterday"}, "occurred_at: got 'yesterday'"),
        ("add_memory", {"content": "x", "key": " "}, "key: got ' '"),
        ("add_turns", {"turns": []}, "turns"),
        ("add_turns", {"turns": [{"role": "user"}]}, "content, or text as it was called: one of them"),
        ("add_turns", {"turns": [{"role": "user", "content": "x", "text": "y"}]}, "one of them"),
        ("add_turns", {"turns": [{"role": "user", "text": "a", "mood": 1}]}, "mood"),
        ("add_turns", {"turns": [{"role": "user", "text": "a"}, {"role": "user", "text": " "}]}, "turn 2: "),
        ("update_memory", {"memory_id": "nobody", "content": "x"}, "has no memory nobody"),
        ("update_memory", {"memory_id": "a"}, "content: got nothing; allowed: the whole new text"),
        ("update_memory", {"memory_id": "a", "content": "x", "replaced_by": "b"}, "or no_longer_true=true"),
        (
            "update_memory",
            {"memory_id": "a", "no_longer_true": True, "content": "x", "replaced_by": "b"},
            "give one of them",
        ),
        ("update_memory", {"memory_id": "a", "no_longer_true": True, "summary": "x"}, "summary: got"),
        ("reinforce_memory", {"memory_id": "a", "outcome": "mentioned", "turn_id": "t"}, "outcome: got 'mentioned'"),
        ("delete_memory", {"memory_id": "nobody"}, "has no memory nobody"),
        ("reinforce_memory", {"memory_id": "nobody"}, "has no memory nobody"),
        ("reinforce_memory", {"memory_id": "a", "outcome": "luck"}, "outcome: got 'luck'"),
        ("memory_knowledge_map", {"topic": "x", "depth": 9}, "depth: got 9"),
        ("memory_assess_knowledge", {"topic": ""}, "topic: got ''"),
        ("forget_everything", {}, "forget_everything"),
    ],
)
def test_a_wrong_argument_is_refused_in_words_that_say_what_is_allowed(
    server: MemoryServer, tool: str, arguments: dict[str, Any], told: str
) -> None:
    async def talking(agent: Agent) -> str:
        return await agent.refused(tool, **arguments)

    text = talk(server, talking)
    assert told in text
    assert "pydantic" not in text


def test_an_idempotency_key_makes_a_retry_harmless_and_refuses_something_else(server: MemoryServer) -> None:
    async def talking(agent: Agent) -> Any:
        first = await agent.call("add_memory", content="报税截止到四月", key="tax")
        again = await agent.call("add_memory", content="报税截止到四月", key="tax")
        other = await agent.refused("add_memory", content="Taxes are due in May", key="tax")
        turns: Any = [{"role": "user", "text": "hello"}, {"role": "assistant", "text": "hi"}]
        said = await agent.call("add_turns", turns=turns, session="s1", key="talk")
        said_again = await agent.call("add_turns", turns=turns, session="s1", key="talk")
        more = await agent.refused("add_turns", turns=[*turns, turns[0]], session="s1", key="talk")
        return (first, again, other), (said, said_again, more), await agent.read("memory://about")

    (first, again, other), (said, said_again, more), about = talk(server, talking)
    assert (first["created"], again["created"]) == (True, False)
    assert first["id"] == again["id"]
    assert (said["created"], said_again["created"]) == (True, False)
    assert said["turns"] == said_again["turns"]
    assert "something else was said under this one" in other
    assert "something else was said under this one" in more
    assert about["memories"] == 3


def test_deleting_says_until_when_and_how_it_can_be_restored(server: MemoryServer, application: Application) -> None:
    async def talking(agent: Agent) -> Any:
        key = await agent.remember("I live at the harbour")
        deleted = await agent.call("delete_memory", memory_id=key)
        again = await agent.call("delete_memory", memory_id=key)
        update = await agent.refused("update_memory", memory_id=key, content="x")
        found = await agent.call("search_memories", query="harbour", min_relevance_score=0)
        return key, deleted, again, update, found

    key, deleted, again, update, found = talk(server, talking)
    assert deleted["deleted"]
    assert f"engramlog delete --undo {server._connection.owner} {key}" in deleted["message"]
    assert deleted["restorable_until"] in deleted["message"]
    assert not again["deleted"]
    assert "deleted already" in again["message"]
    assert "bring it back first" in update
    assert (found["results"], found["withheld"]) == ([], {"deleted": 1})
    application.restorer.restore(str(server._connection.owner), key)
    assert application.reader.get(str(server._connection.owner), key)["status"] == "live"


def test_history_explanation_and_assessment_give_reasons(server: MemoryServer) -> None:
    async def talking(agent: Agent) -> Any:
        key = await agent.remember("The deployment runs on Tuesdays")
        ended = await agent.call("update_memory", memory_id=key, no_longer_true=True, reason="moved")
        why = await agent.call("get_memory_detail", memory_id=key, reasons=True)
        plain = await agent.call("get_memory_detail", memory_id=key)
        await agent.remember("The deployment runs on Wednesdays now")
        return ended, why, plain, await agent.call("memory_assess_knowledge", topic="deployment")

    ended, why, plain, assessed = talk(server, talking)
    assert (ended["revised"], ended["version"], ended["replaced_by"]) == (False, None, None)
    assert plain["reasons"] is None
    reasons = why["reasons"]
    assert [one["decision"] for one in reasons["changes"]] == ["create", "negate"]
    assert all(one["actor"] for one in reasons["changes"])
    assert reasons["law"] == "weighted"
    assert reasons["factors"]["conflict_penalty"] == pytest.approx(0.3, abs=0.001)
    assert reasons["provenance"][0]["id"] == why["id"]
    assert assessed["confidence"] in ("very_low", "low", "medium", "high")
    assert assessed["evidence"][0]["id"]
    assert assessed["evidence"][0]["score"] > 0


def test_a_secret_is_never_shown_by_any_tool_or_resource(server: MemoryServer) -> None:
    async def talking(agent: Agent) -> list[Any]:
        added = await agent.call("add_memory", content=SECRET)
        key = added["id"]
        answers: list[Any] = [added]
        answers += [await agent.call("get_memory_detail", memory_id=key, reasons=one) for one in (False, True)]
        answers += [
            await agent.call(tool, query="door password", min_relevance_score=0) for tool in ("search_memories",)
        ]
        answers += [await agent.call("memory_contextual_search", query="door password")]
        answers += [await agent.call("memory_context", text="What is the door password?")]
        answers += [await agent.call("memory_assess_knowledge", topic="door password")]
        answers += [await agent.call("memory_knowledge_map", topic="door password")]
        answers += [await agent.call("memory_review_due", min_importance=0)]
        answers += [await agent.read(uri) for uri in ("memory://about", "memory://recent", f"memory://memories/{key}")]
        return answers

    answers = talk(server, talking)
    assert answers[0]["sensitivity"] == 3
    assert "Tr0ub4dor" not in str(answers)


def test_owners_are_isolated_whatever_a_client_says(application: Application) -> None:
    async def writing(agent: Agent) -> str:
        return await agent.remember("Ada hides the key under the pot")

    async def spying(agent: Agent) -> list[Any]:
        return [
            (await agent.call("search_memories", query="key under the pot", min_relevance_score=0))["results"],
            await agent.refused("get_memory_detail", memory_id=key),
            await agent.refused("search_memories", query="key", owner="iso-ada"),
            await agent.refused("delete_memory", memory_id=key),
            (await agent.read("memory://recent"))["memories"],
        ]

    key = talk(in_process(application, "iso-ada"), writing)
    found, detail, named, deleting, recent = talk(in_process(application, "iso-bob"), spying)
    assert (found, recent) == ([], [])
    assert "owner iso-bob has no memory" in detail
    assert "owner iso-bob has no memory" in deleting
    assert "no such argument" in named
    assert application.reader.get("iso-ada", key)["status"] == "live"


def test_resources_tell_of_the_memory_as_a_whole_of_what_is_recent_and_of_one_memory(
    server: MemoryServer, application: Application
) -> None:
    async def talking(agent: Agent) -> Any:
        key = await agent.remember("林在景德镇学陶艺")
        listed = (await agent.client.list_resources()).resources
        templates = (await agent.client.list_resource_templates()).resource_templates
        recent = await agent.read("memory://recent")
        one = await agent.read(recent["memories"][0]["uri"])
        with pytest.raises(Exception, match="has no memory nobody"):
            await agent.read("memory://memories/nobody")
        return key, listed, templates, await agent.read("memory://about"), recent, one

    key, listed, templates, about, recent, one = talk(server, talking)
    assert {resource.uri for resource in listed} == {"memory://about", "memory://recent", "memory://inbox"}
    assert [template.uri_template for template in templates] == ["memory://memories/{+memory_id}"]
    assert (about["owner"], about["memories"]) == (server._connection.owner, 1)
    assert recent["memories"][0]["id"] == key
    assert recent["memories"][0]["score"] > 0
    assert one["content"] == "林在景德镇学陶艺"
    assert application.reader.get(str(server._connection.owner), key, trace=False)["access_count"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ["search_memories", "memory_context", "last time"]),
        ({"language": "zh"}, ["search_memories", "memory_context", "上次"]),
    ],
)
def test_the_prompt_teaches_when_to_search_in_both_languages(
    server: MemoryServer, arguments: dict[str, str], words: list[str]
) -> None:
    async def talking(agent: Agent) -> Any:
        return await agent.client.get_prompt("when_to_search", arguments)

    text = talk(server, talking).messages[0].content.text
    assert [word for word in words if word not in text] == []
    assert {tool for tool in TOOLS if tool.startswith(("search", "add_memory", "negate", "update", "delete"))} <= {
        word.strip("`") for word in text.replace("：", " ").replace("，", " ").replace("。", " ").split()
    } | {word for word in TOOLS if f"`{word}`" in text}


@pytest.mark.parametrize(("name", "language"), [("when_to_search", "fr"), ("when_to_sleep", "en")])
def test_a_prompt_that_there_is_not_is_refused(server: MemoryServer, name: str, language: str) -> None:
    async def talking(agent: Agent) -> Any:
        with pytest.raises(MCPError, match="allowed: when_to_search in en or zh"):
            await agent.client.get_prompt(name, {"language": language})

    talk(server, talking)


def test_a_failure_that_nobody_foresaw_tells_no_internals_and_no_contents() -> None:
    told: list[tuple[str, dict[str, Any]]] = []

    def broken() -> Any:
        raise ZeroDivisionError("internal: /srv/secret, what was said")

    async def talking(agent: Agent) -> Any:
        with pytest.raises(Exception, match="failed unexpectedly") as failed:
            await agent.read("memory://recent")
        return await agent.refused("search_memories", query="what was said"), str(failed.value)

    server = MemoryServer(Connection(broken, "ada"), lambda fact, **facts: told.append((fact, facts)))
    answers = talk(server, talking)
    assert "secret" not in str(answers)
    assert [fact for fact, _ in told] == ["tool failed", "tool failed"]
    assert told[1][1]["error"] == "ZeroDivisionError"
    assert "what was said" not in str(told)


def test_a_store_that_is_away_is_told_in_its_own_words() -> None:
    def away() -> Any:
        raise StoreUnavailable("no connection to Redis; the same request can be sent again safely")

    async def talking(agent: Agent) -> str:
        return await agent.refused("search_memories", query="x")

    assert talk(MemoryServer(Connection(away, "ada")), talking).startswith("no connection to Redis")


def test_no_tool_lifts_what_a_person_rejected(application: Application, server: MemoryServer) -> None:
    async def talking(agent: Agent) -> Any:
        key = await agent.remember("I live in Lisbon")
        application.writer.negate(agent_owner(server), key, never=True, reason="never did")
        return await agent.client.call_tool("reinforce_memory", {"memory_id": key, "outcome": "confirmed"}), key

    told, key = talk(server, talking)
    assert application.reader.get(agent_owner(server), key, trace=False)["status"] != "live", told


def agent_owner(server: MemoryServer) -> str:
    """Whose memories a server's tools are about."""
    return server._connection.owner
