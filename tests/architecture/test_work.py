"""Every route, tool and resource has a class of work, and runs where that class runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import nullcontext
from inspect import iscoroutinefunction
from typing import Any, cast
from unittest.mock import MagicMock

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from api.application import Application
from api.http.admitted import AdmittedRoute, LazyRoute
from api.http.app import create_app
from api.mcp.connection import Connection
from api.mcp.server import MemoryServer
from api.work.classes import RESOURCES, ROUTES, TOOLS, Work, work_of_route


@pytest.fixture(scope="module")
def app() -> FastAPI:
    """The HTTP face of an application of which nothing is asked."""
    return create_app(cast("Application", MagicMock()))


@pytest.fixture(scope="module")
def auditing() -> MemoryServer:
    """The MCP face of the same, for auditors."""
    return MemoryServer(Connection(lambda: nullcontext(cast("Application", None)), "ada"), toolset="audit")


@pytest.fixture(scope="module")
def server() -> MemoryServer:
    """The MCP face of the same."""
    return MemoryServer(Connection(lambda: nullcontext(cast("Application", None)), "ada"))


def routes_of(app: FastAPI) -> Iterator[tuple[str, str, Any]]:
    """Method, path and route of everything that is answered, made now if it is made late; HEAD is answered as GET."""
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        for method in (context.methods or set()) - {"HEAD"}:
            yield method, str(context.path), route.route if isinstance(route, LazyRoute) else route


def test_every_route_has_a_class_of_work_and_every_class_stands_for_a_route(app: FastAPI) -> None:
    assert {(method, path) for method, path, _ in routes_of(app)} == set(ROUTES)


def test_every_route_that_takes_a_thread_asks_for_admission(app: FastAPI) -> None:
    unasked = [
        (method, path)
        for method, path, route in routes_of(app)
        if ROUTES[method, path] is not Work.FREE and not isinstance(route, AdmittedRoute)
    ]
    assert unasked == []


def test_no_endpoint_takes_a_thread_of_the_pool_that_nobody_bounds(app: FastAPI) -> None:
    assert [path for _, path, route in routes_of(app) if not iscoroutinefunction(route.endpoint)] == []


def test_a_route_without_a_class_stops_the_application_from_starting() -> None:
    with pytest.raises(LookupError, match=r"GET /v1/new has no class of work: say in api/work/classes\.py"):
        work_of_route("GET", "/v1/new")


def test_every_tool_and_resource_has_a_class_of_work(server: MemoryServer, auditing: MemoryServer) -> None:
    async def named() -> tuple[set[str], set[str]]:
        tools = {tool.name for tool in [*await server.list_tools(), *await auditing.list_tools()]}
        resources = {str(one.uri) for one in await server.list_resources()}
        return tools, resources | {one.uri_template for one in await server.list_resource_templates()}

    tools, resources = asyncio.run(named())
    assert tools == set(TOOLS)
    assert resources == set(RESOURCES)
