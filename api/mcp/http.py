"""The same server over streamable HTTP: `/mcp/OWNER`, one connection for each owner's URL.

No sessions: each request stands for itself, so that a restarted server goes on answering. The guard is that of the HTTP
face (`api.http.guard`), and every request shows who sends it. Whoever may do nothing to an owner is told no tools of it.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import unquote

from anyio.to_thread import run_sync
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from engramlog_server.api.http.callers import Admits, Callers, caller_in
from engramlog_server.api.http.guard import MCP, Bodies, Guard
from engramlog_server.api.http.problem import problem_of
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.resource import PATH, Described, challenged, insufficient, is_metadata
from engramlog_server.api.mcp.server import MemoryServer
from engramlog_server.api.requests.checks import check_owner
from engramlog_server.api.work.admission import UNBOUNDED, Buckets, Rates
from engramlog_server.events.errors import EngramlogError, refused
from engramlog_server.projections.access.provider import ProviderRules


def create_app(
    server: MemoryServer,
    connection: Connection,
    admits: Admits,
    callers: Callers | None = None,
    rules: ProviderRules | None = None,
    rates: Rates = UNBOUNDED,
) -> ASGIApp:
    """The ASGI application. It opens nothing itself; what it stands on is its caller's. `rules`: of the provider's tokens. `rates`:
    what a key may take."""
    served = server.streamable_http_app(
        streamable_http_path=f"{PATH}/{{owner:path}}",
        json_response=True,
        stateless_http=True,
        max_request_body_size=MCP.size,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard does it
    )
    return Guard(
        Described(_Owned(served, connection, rules), rules),
        callers=callers or Callers(admits),
        is_open=is_metadata,
        challenged=partial(challenged, rules),
        buckets=Buckets(rates),
        bodies=Bodies(limits=lambda _path: MCP),
    )


class _Owned:
    """Reads the owner from the path: as it was sent, so that a `/` inside an owner may be `%2F` or itself."""

    def __init__(self, app: ASGIApp, connection: Connection, rules: ProviderRules | None) -> None:
        self._app = app
        self._connection = connection
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (scope["path"] == PATH or scope["path"].startswith(f"{PATH}/")):
            try:
                refusal = await self._refused(scope)
                scope = scope if refusal else {**scope, "path": self._path(scope["path"])}
            except EngramlogError as error:
                refusal = problem_of(error)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _refused(self, scope: Scope) -> Response | None:
        """The refusal of who may do nothing to the owner of a path, whether or not there is one."""
        caller = caller_in(scope)
        if caller is None:
            return insufficient(self._rules, scope, scope["path"], "nobody")
        if caller.is_unlimited:
            return None
        owner = _named(scope["path"]) or self._connection.owner
        if owner is None or caller.may_anything(check_owner(owner)):
            return None
        await run_sync(self._connection.denied, caller, owner)
        return insufficient(self._rules, scope, scope["path"], caller.name)

    def _path(self, sent: str) -> str:
        """The path with the owner whom it names in it, decoded."""
        named = _named(sent)
        with self._connection.told(check_owner(named) if named else None):
            return f"{PATH}/{named or self._connection.owner}"


def _named(sent: str) -> str:
    """The owner that a path names, decoded; empty where it names none."""
    written = sent.removeprefix(PATH).removeprefix("/")
    if written.startswith("/") or written.endswith("/"):
        # An owner may begin or end with "/", but who writes `/mcp/alice/` means alice, and must not get another's store.
        raise refused(
            "owner", written, "a path without / before or after the owner: /mcp/alice; %2F for a / of its own"
        )
    return unquote(written)
