"""The same server over streamable HTTP: `/mcp/OWNER`, on this machine alone, one connection for each owner's URL.

No sessions: each request stands for itself, so that a restarted server goes on answering. The guard is that of the HTTP
face (`api.http.guard`), and every request shows the token.
"""

from __future__ import annotations

from urllib.parse import unquote

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.bearer import Admits
from api.http.bodies import Bodies
from api.http.guard import Guard
from api.http.limits import MCP
from api.http.problem import problem_of
from api.mcp.connection import Connection
from api.mcp.server import MemoryServer
from api.requests.checks import check_owner
from events.errors import EngramlogError, refused

PATH = "/mcp"


def create_app(server: MemoryServer, connection: Connection, admits: Admits) -> ASGIApp:
    """The ASGI application. It opens nothing itself; what it stands on is its caller's."""
    served = server.streamable_http_app(
        streamable_http_path=f"{PATH}/{{owner:path}}",
        json_response=True,
        stateless_http=True,
        max_request_body_size=MCP.size,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard does it
    )
    return Guard(Bodies(_Owned(served, connection), limits=lambda _path: MCP), admits=admits)


class _Owned:
    """Reads the owner from the path: as it was sent, so that a `/` inside an owner may be `%2F` or itself."""

    def __init__(self, app: ASGIApp, connection: Connection) -> None:
        self._app = app
        self._connection = connection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (scope["path"] == PATH or scope["path"].startswith(f"{PATH}/")):
            try:
                scope = {**scope, "path": self._path(scope["path"])}
            except EngramlogError as error:
                await problem_of(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _path(self, sent: str) -> str:
        """The path with the owner whom it names in it, decoded."""
        written = sent.removeprefix(PATH).removeprefix("/")
        if written.startswith("/") or written.endswith("/"):
            # An owner may begin or end with "/", but who writes `/mcp/alice/` means alice, and must not get another's store.
            raise refused(
                "owner", written, "a path without / before or after the owner: /mcp/alice; %2F for a / of its own"
            )
        named = unquote(written)
        with self._connection.told(check_owner(named) if named else None):
            return f"{PATH}/{named or self._connection.owner}"
