"""The MCP server as clients meet it: through the SDK's own client, in this process or over a transport."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import TypeAdapter

from engramlog_server.api.application import Application
from engramlog_server.api.mcp.connection import MARK, Connection, WhoAsks, in_hand
from engramlog_server.api.mcp.server import TOOLSETS, MemoryServer
from tests.given.http import SHOWN, TOKEN
from tests.patience import PATIENCE

T = TypeVar("T")
COMMAND = ("-P", "-m", "engramlog_server.ops.main", "mcp")
TOOLS = {
    *("memory_context", "search_memories", "memory_contextual_search", "get_memory_detail"),
    *("add_memory", "add_turns", "update_memory", "delete_memory", "reinforce_memory"),
    *("memory_assess_knowledge", "memory_knowledge_map", "memory_review_due"),
}


@cache
def shapes() -> dict[str, Any]:
    """What each tool of an agent returns."""
    connection = Connection(lambda: nullcontext(cast("Application", None)), "ada")
    return {
        tool.__name__: signature(tool, eval_str=True).return_annotation for tool, _, _ in TOOLSETS["agent"](connection)
    }


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What a server of this folder is started with."""
    return {**os.environ, "ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_REDIS_URL": "", "ENGRAMLOG_TOKEN": TOKEN, **more}


"""What JSON Schema calls a type."""


class Agent:
    """What an agent does with the tools."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """A tool's structured answer; it must not fail."""
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        assert answer.structured_content is not None
        if (shape := shapes().get(tool)) is not None:  # what it returns is what its schema is made of
            told = {name: value for name, value in answer.structured_content.items() if name != MARK}
            assert told.keys() == shape.__annotations__.keys(), tool
            TypeAdapter(shape).validate_python(told, strict=True)
        return answer.structured_content

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """What a tool says where it refuses."""
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error, answer.structured_content
        return str(getattr(answer.content[0], "text", ""))

    async def remember(self, content: str, **arguments: Any) -> str:
        """The key of a new memory."""
        return str((await self.call("add_memory", content=content, **arguments))["id"])

    async def read(self, uri: str) -> Any:
        """A resource, parsed."""
        return json.loads(getattr((await self.client.read_resource(uri)).contents[0], "text", "null"))


def talk(server: Any, talking: Callable[[Agent], Awaitable[T]], mode: str = "auto") -> T:
    """Connect a client to a server, a URL (which it shows the token) or a transport, let it talk, and leave."""

    async def told() -> T:
        async with httpx2.AsyncClient(headers=SHOWN, timeout=PATIENCE) as http:
            reached = streamable_http_client(server, http_client=http) if isinstance(server, str) else server
            async with Client(reached, mode=mode) as client:
                return await talking(Agent(client))

    return asyncio.run(told())


def in_process(
    application: Application,
    owner: str,
    toolset: str = "agent",
    who: WhoAsks = in_hand,
    also: Sequence[str] = (),
) -> MemoryServer:
    """The server of an opened store."""
    return MemoryServer(Connection(lambda: nullcontext(application), owner, who, also), toolset=toolset)


def stdio(
    folder: Path, command: str = sys.executable, arguments: Sequence[str] = (*COMMAND, "--owner", "alice")
) -> Any:
    """The transport of a server process of this folder, over standard input and output."""
    parameters = StdioServerParameters(command=command, args=[*arguments], env=environment(folder))

    @asynccontextmanager
    async def connected() -> AsyncIterator[Any]:
        with (folder.parent / f"{folder.name}.log").open("a") as log:
            async with stdio_client(parameters, errlog=log) as streams:
                yield streams

    return connected()


@contextmanager
def over_http(folder: Path, *arguments: str, token: str = TOKEN) -> Iterator[Callable[[str], str]]:
    """A server process on a free port; gives the URL of an owner. Without a `token` that of the folder is asked for."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", "0", "--json", *arguments],
        env=environment(folder, ENGRAMLOG_TOKEN=token),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        base = str(json.loads(process.stderr.readline())["url"]).rpartition("/")[0]
        yield lambda owner: f"{base}/{quote(owner, safe='')}" if owner else base
    finally:
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, told
    assert json.loads(told.splitlines()[-1])["event"] == "service stopped", told
