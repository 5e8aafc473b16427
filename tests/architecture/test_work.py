"""Every route, tool and resource has a class of work, and runs where that class runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from inspect import iscoroutinefunction
from typing import Any, cast
from unittest.mock import MagicMock

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from engramlog_server.api.admission import Admission
from engramlog_server.api.application import Application
from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.document import FILES
from engramlog_server.api.http.routing import AdmittedRoute, LazyRoute, new_router
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.server import MemoryServer, admitted
from engramlog_server.api.work import Work


@pytest.fixture(scope="module")
def app() -> FastAPI:
    """The HTTP face of an application of which nothing is asked."""
    return create_app(cast("Application", MagicMock()))


def routes_of(app: FastAPI) -> Iterator[tuple[str, str, Any]]:
    """Method, path and route of everything that is answered, made now if it is made late; HEAD is answered as GET."""
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        for method in (context.methods or set()) - {"HEAD"}:
            yield method, str(context.path), route.route if isinstance(route, LazyRoute) else route


def test_every_route_that_takes_a_thread_asks_for_admission(app: FastAPI) -> None:
    routes = list(routes_of(app))
    assert len(routes) > 80
    unasked = [(method, path) for method, path, route in routes if not isinstance(route, AdmittedRoute)]
    assert {path for _, path in unasked} == {"/", "/docs", "/console/{file:path}", "/v1/openapi.json", *FILES}
    assert [path for _, path, route in routes if not iscoroutinefunction(route.endpoint)] == []


def test_a_route_without_a_class_stops_the_application_from_starting() -> None:
    def endpoint() -> None: ...

    with pytest.raises(LookupError, match=r"/v1/new has no class of work: mark its endpoint with `takes`"):
        new_router().get("/v1/new")(endpoint)


def test_tools_and_resources_run_in_the_lane_of_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes: dict[str, Work] = {}

    def noted(function: Any, work: Work, admission: Admission) -> Any:
        lanes[function.__name__] = work
        return admitted(function, work, admission)

    monkeypatch.setattr("engramlog_server.api.mcp.server.admitted", noted)
    for toolset in ("agent", "audit"):
        MemoryServer(Connection(lambda: nullcontext(cast("Application", None)), "ada"), toolset=toolset)
    folds = {"uses", "answers", "answer", "replay", "compare", "diff"}
    heavy = {name for name, work in lanes.items() if work is Work.HEAVY}
    assert heavy == {"memory_knowledge_map", *(f"audit_{name}" for name in folds)}
    assert {name for name, work in lanes.items() if work is Work.WATCH} == {"audit_status", "audit_alarms"}
    assert len(lanes) == 35
    assert set(lanes.values()) == {Work.LIGHT, Work.HEAVY, Work.WATCH}
