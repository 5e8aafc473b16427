"""The MCP server over HTTP in this process, as callers with keys and tokens of their own meet it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from engramlog_server.api.application import Application
from engramlog_server.api.http.callers import Callers
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.http import audiences, create_app
from engramlog_server.api.mcp.server import MemoryServer
from engramlog_server.projections.access.provider import ProviderRules
from tests.given.http import admits
from tests.given.mcp import Agent
from tests.patience import PATIENCE

T = TypeVar("T")
BASE = "http://127.0.0.1:8734"
ASKS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPTS = {"accept": "application/json, text/event-stream"}


def served(
    application: Application, toolset: str = "agent", provider: Any = None, also: Sequence[str] = ()
) -> Callable[[], Any]:
    """Puts the server over HTTP together, as `ops.processes.mcp_http` does; once for each run of it."""
    return lambda: _served(application, toolset, provider, also)


def _served(application: Application, toolset: str, provider: Any, also: Sequence[str]) -> Any:
    connection = Connection(lambda: nullcontext(application), None, also=also)
    callers = Callers(
        admits, book=application.access_follower.book, clock=application.log.now, provider=provider, audiences=audiences
    )
    rules: ProviderRules | None = None if provider is None else provider.rules
    return create_app(MemoryServer(connection, toolset=toolset), connection, admits, callers, rules)


def asking(build: Callable[[], Any], work: Callable[[httpx2.AsyncClient], Awaitable[T]], shown: str | None = None) -> T:
    """What comes of work with a client of an application of its own that shows this."""

    async def done() -> T:
        app = build()
        headers = ACCEPTS | ({} if shown is None else {"authorization": f"Bearer {shown}"})
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url=BASE, headers=headers, timeout=PATIENCE) as client:
            mcp = app
            while not hasattr(mcp, "router"):
                mcp = mcp._app
            async with mcp.router.lifespan_context(mcp):
                return await work(client)

    return asyncio.run(done())


def with_agent(build: Callable[[], Any], shown: str, owner: str, talking: Callable[[Agent], Awaitable[T]]) -> T:
    """What an agent comes to that shows this."""

    async def work(client: httpx2.AsyncClient) -> T:
        async with Client(streamable_http_client(f"{BASE}/mcp/{owner}", http_client=client)) as agent:
            return await talking(Agent(agent))

    return asking(build, work, shown)


def posted(build: Callable[[], Any], path: str, shown: str | None, **more: Any) -> httpx2.Response:
    """The answer to a request for the tools."""
    return asking(build, lambda client: client.post(path, json=ASKS, **more), shown)
