"""The MCP server as a process: over standard input and output and over HTTP, killed, restarted, beside other commands."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from engramlog_server.ops.main import main
from tests.given.http import SHOWN
from tests.given.mcp import COMMAND, TOOLS, Agent, environment, over_http, stdio, talk
from tests.patience import PATIENCE


def listed(folder: Path, owner: str) -> list[str]:
    """The memories of an owner, by a command beside the server."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", "list", owner, "--json"],
        env=environment(folder),
        capture_output=True,
        check=True,
    )
    return [one["memory"] for one in json.loads(done.stdout)["memories"]]


async def _a_day_with_it(agent: Agent) -> list[str]:
    """Every tool once; what it wrote down."""
    client = agent.client
    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
    tea = await agent.remember("我早上喝龙井茶", memory_type="user_preference", key="tea")
    turns: Any = [{"role": "user", "text": "I moved to Porto last week"}, {"role": "assistant", "text": "How is it?"}]
    said = (await agent.call("add_turns", turns=turns, session="s1"))["turns"]
    found = (await agent.call("search_memories", query="龙井"))["results"]
    assert [one["id"] for one in found] == [tea]
    for tool in ("get_memory_detail", "reinforce_memory"):
        assert (await agent.call(tool, memory_id=tea))["id"] == tea
    for tool in ("memory_assess_knowledge", "memory_knowledge_map"):
        assert (await agent.call(tool, topic="Porto"))["topic"] == "Porto"
    assert (await agent.call("memory_contextual_search", query="Porto"))["results"]
    assert (await agent.call("memory_review_due"))["memories"] == []
    assert (await agent.call("update_memory", memory_id=tea, content="我早上喝西湖龙井"))["revised"]
    assert (await agent.call("update_memory", memory_id=said[0], no_longer_true=True, reason="moved"))["changes"]
    assert (await agent.call("delete_memory", memory_id=said[1]))["deleted"]
    assert "query: got nothing" in await agent.refused("search_memories")
    assert (await agent.read("memory://about"))["memories"] >= 1
    assert (await client.get_prompt("when_to_search", {"language": "zh"})).messages
    return ["我早上喝西湖龙井"]


def test_every_tool_works_over_standard_input_and_output_as_the_printed_configuration_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "store"
    monkeypatch.setenv("ENGRAMLOG_DATA", str(folder))
    assert main(["mcp", "--owner", "林/alice", "--config"]) == 0
    printed = json.loads(capsys.readouterr().out)["mcpServers"]["memory"]
    written = talk(stdio(folder, printed["command"], printed["args"]), _a_day_with_it, "legacy")
    assert [memory for memory in listed(folder, "林/alice") if memory in written] == written
    assert "Traceback" not in (tmp_path / "store.log").read_text()


def test_every_tool_works_over_http_and_owners_by_their_urls_are_isolated(tmp_path: Path) -> None:
    async def nothing(agent: Agent) -> Any:
        assert (await agent.call("search_memories", query="龙井 Porto", min_relevance_score=0))["results"] == []
        return await agent.read("memory://about")

    with over_http(tmp_path / "store") as url:
        written = talk(url("林/alice"), _a_day_with_it)
        for mode in ("auto", "legacy"):
            about = talk(url("bob"), nothing, mode)
            assert (about["owner"], about["memories"]) == ("bob", 0)
        assert talk(f"{url('')}/林/alice", lambda agent: agent.read("memory://about"))["owner"] == "林/alice"
        told = httpx2.post(url(""), json={}, headers=SHOWN, timeout=PATIENCE).json()
        assert (told["status"], told["field"]) == (422, "owner")
        assert "/mcp/alice" in told["detail"]
        # A command beside the server joins it; it need not wait until the server ends.
        assert listed(tmp_path / "store", "林/alice") == written


def test_a_client_of_the_printed_configuration_is_answered_over_http_and_one_that_shows_no_token_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: Any = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    folder = tmp_path / "store"
    monkeypatch.setenv("ENGRAMLOG_DATA", str(folder))
    monkeypatch.delenv("ENGRAMLOG_TOKEN", raising=False)
    with over_http(folder, token="") as url:
        port = url("").split(":")[2].partition("/")[0]
        assert main(["mcp", "--http", "--config", "--owner", "alice", "--port", port]) == 0
        entry = json.loads(capsys.readouterr().out)["mcpServers"]["memory"]
        for headers, status in ((entry["headers"], True), ({}, False), (SHOWN, False)):
            answer = httpx2.post(entry["url"], json=asked, headers=headers | {"accept": "application/json"})
            assert (answer.status_code != 401) == status, answer.text
            assert ("www-authenticate" in answer.headers) != status


def test_http_refuses_other_hosts_other_sites_and_requests_without_an_owner(tmp_path: Path) -> None:
    asked: Any = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with (
        over_http(tmp_path / "store", "--owner", "alice") as url,
        httpx2.Client(headers=SHOWN, timeout=PATIENCE) as client,
    ):
        post = client.post
        assert post(url("alice"), json=asked, headers={"host": "evil.example:80"}).status_code == 421
        assert post(url("alice"), json=asked, headers={"origin": "http://evil.example"}).status_code == 403
        assert post(url("alice"), content="x", headers={"content-type": "text/plain"}).status_code == 415
        assert "alice, the owner of this server" in post(url("bob"), json=asked).json()["detail"]
        assert post(url("a b"), json=asked).status_code == 422
        assert post(url("").replace("/mcp", "/elsewhere"), json=asked).status_code == 404
        assert talk(url(""), lambda agent: agent.read("memory://about"))["owner"] == "alice"


def test_a_slash_before_or_after_an_owner_is_refused_and_reaches_nobody_elses_memories(tmp_path: Path) -> None:
    asked: Any = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with over_http(tmp_path / "store") as url:
        base = url("")
        for path in ("/alice/", "//alice", "//", "/alice//"):
            told = httpx2.post(f"{base}{path}", json=asked, headers=SHOWN, timeout=PATIENCE).json()
            assert (told["status"], told["field"]) == (422, "owner"), path
            assert "/mcp/alice" in told["detail"]
        assert talk(url("alice/"), lambda agent: agent.read("memory://about"))["owner"] == "alice/"


def _server_of(folder: Path) -> int | None:
    try:
        return int(json.loads((folder / "server.json").read_bytes())["started_by"])
    except (FileNotFoundError, ValueError):
        return None


async def _killed_after(folder: Path, seconds: float, content: str) -> None:
    """A server that is killed so long after it was asked to remember something; whatever it answers is lost."""
    async with Client(stdio(folder)) as client:
        await client.call_tool("search_memories", {"query": "x"})
        pid = _server_of(folder)
        assert pid is not None
        asking = asyncio.create_task(
            client.call_tool("add_memory", {"content": content, "key": content}, read_timeout_seconds=PATIENCE)
        )
        await asyncio.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
        await asyncio.wait([asking])
        asking.exception()


def test_a_write_that_a_kill_broke_off_is_there_once_after_a_retry_under_the_same_key(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    contents = ["while it was written", "after it was written"]

    async def again(agent: Agent) -> None:
        for content in contents * 2:
            await agent.call("add_memory", content=content, key=content)

    for seconds, content in zip((0.005, 0.2), contents, strict=True):
        asyncio.run(_killed_after(folder, seconds, content))
    talk(stdio(folder), again)
    assert sorted(listed(folder, "alice")) == sorted(contents)


def test_two_clients_share_a_folder_and_the_second_goes_on_when_the_first_leaves(tmp_path: Path) -> None:
    folder = tmp_path / "store"

    async def telling() -> Any:
        async with Client(stdio(folder)) as second:
            async with Client(stdio(folder)) as first:
                await Agent(first).remember("the first was here")
                found = await Agent(second).call("search_memories", query="first")
            # The server of the store went with the first client.
            return found, await Agent(second).call("search_memories", query="first")

    found, later = asyncio.run(telling())
    assert [one["summary"] for one in found["results"]] == ["the first was here"]
    assert [one["id"] for one in later["results"]] == [one["id"] for one in found["results"]]


def test_standard_output_carries_the_protocol_alone_and_a_server_that_is_told_to_stop_closes_in_order(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "store"
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--owner", "alice"],
        env=environment(folder, ENGRAMLOG_LOG_LEVEL="debug"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    hello: Any = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call: Any = {"name": "add_memory", "arguments": {"content": "said before the end"}}
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        "no message at all, but private words",
        {"jsonrpc": "2.0", "id": "half", "method": "tools/call", "params": {"name": "private words \ud800"}},
        {"jsonrpc": "2.0", "id": 3, "method": "prompts/get", "params": {"name": "private words"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
    answers = [json.loads(process.stdout.readline())]
    while answers[-1].get("id") != 2:
        answers.append(json.loads(process.stdout.readline()))
    assert {answer["jsonrpc"] for answer in answers} == {"2.0"}
    (half,) = (answer["error"] for answer in answers if answer["id"] == "half")
    assert half["code"] == -32700
    assert "surrogate" in half["message"]
    assert "private" not in half["message"]
    assert answers[0]["result"]["serverInfo"]["name"] == "engramlog"
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE)  # with its standard input open: where that ends too, either may end it first
    rest, told = process.communicate(timeout=PATIENCE)
    assert b"private words" not in told
    assert (rest, process.returncode) == (b"", 128 + signal.SIGTERM)
    assert _server_of(folder) is None
    assert listed(folder, "alice") == ["said before the end"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "owner: got nothing; allowed: --owner OWNER"),
        (("--owner", "a b"), "owner: got 'a b'"),
        (("--http", "--owner", "a b"), "owner: got 'a b'"),
    ],
)
def test_a_server_without_an_owner_that_can_be_does_not_start(
    words: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", *words]) == 2
    said = capsys.readouterr()
    assert told in said.err
    assert said.out == ""


def test_no_other_command_pays_for_the_import() -> None:
    imports = "import sys, engramlog_server.ops.main, engramlog_server.api.cli.main"
    code = f"{imports}; print([name for name in sys.modules if name.split('.')[0] == 'mcp'])"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


@pytest.mark.parametrize(
    ("module", "late"), [("ops.processes.mcp", ("redis", "numpy", "fastapi")), ("api.http.app", ("redis", "numpy"))]
)
def test_a_server_loads_what_opens_and_reads_a_store_when_it_is_first_asked(module: str, late: tuple[str, ...]) -> None:
    code = f"import sys, engramlog_server.{module}; print([name for name in {late} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"
