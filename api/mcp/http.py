"""The same server over streamable HTTP: `/mcp/OWNER`, one connection for each owner's URL.

No sessions: each request stands for itself, so that a restarted server goes on answering. The guard is that of the HTTP
face (`api.http.guard`), and every request shows who sends it. Whoever may do nothing to an owner is told no tools of it.

The server is a protected resource of OAuth 2.1: `/.well-known/oauth-protected-resource/mcp/OWNER` says which identity provider
gives tokens for it (RFC 9728), and a challenge says where that is (RFC 6750). A token may be for the whole service, or for one
owner's URL alone, which then opens no other (RFC 8707). Without an identity provider a client is given a key.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from http import HTTPStatus
from urllib.parse import quote, unquote

import orjson
from anyio.to_thread import run_sync
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.auth import ProtectedResourceMetadata
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from engramlog_server.api.admission import UNBOUNDED, Buckets, Rates
from engramlog_server.api.checks import check_owner
from engramlog_server.api.http.callers import READS, Admits, Callers, caller_in
from engramlog_server.api.http.guard import MCP, Bodies, Guard
from engramlog_server.api.http.problem import Problem, plain_problem, problem_of
from engramlog_server.api.http.serve import listener_of
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.server import MemoryServer
from engramlog_server.events.errors import EngramlogError, refused
from engramlog_server.projections.access.caller import VERBS
from engramlog_server.projections.access.provider import SCOPE, ProviderRules, canonical


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


PATH = "/mcp"
WELL_KNOWN = "/.well-known/oauth-protected-resource"
ASKED_FOR = ("read", "produce")
"""The least scopes for an agent. A challenge names them if scopes narrow access."""


def is_metadata(method: str, path: str) -> bool:
    """Whether this asks what the resource is, which is answered without a token."""
    return method in READS and (path == WELL_KNOWN or path.startswith(f"{WELL_KNOWN}/"))


def audiences(path: str, rules: ProviderRules) -> Collection[str]:
    """Whom a token may be for at a path: the service, all that it serves by MCP, or the owner of this very URL."""
    found = {canonical(rules.audience)}
    base = _base_of(rules)
    if base is not None and (path == PATH or path.startswith(f"{PATH}/")):
        owner = unquote(path.removeprefix(PATH).removeprefix("/"))
        names = {"", path.removeprefix(PATH), f"/{quote(owner)}", f"/{quote(owner, safe='')}"}
        found |= {canonical(f"{base}{PATH}{name}") for name in names}
    return found


def challenged(rules: ProviderRules | None, scope: Scope, path: str) -> str:
    """Parameters of a challenge for a path: the address of the metadata, and the scopes to request."""
    if rules is None:
        return ""
    where = path if path == PATH or path.startswith(f"{PATH}/") else ""
    told = f', resource_metadata="{_base(rules, scope)}{WELL_KNOWN}{where}"'
    return told if rules.scope_claim is None else f'{told}, scope="{" ".join(f"{SCOPE}{one}" for one in ASKED_FOR)}"'


def insufficient(rules: ProviderRules | None, scope: Scope, path: str, name: str) -> Problem:
    """The refusal of a caller who may do nothing to the owner of a path; it does not say whether there is such an owner."""
    return plain_problem(
        HTTPStatus.FORBIDDEN,
        f"access: {name} has no grant for this owner; needed: a grant, which the operator of this store can give",
        {"www-authenticate": f'Bearer realm="engramlog", error="insufficient_scope"{challenged(rules, scope, path)}'},
    )


class Described:
    """Answers what the resource is, and hands everything else on."""

    def __init__(self, app: ASGIApp, rules: ProviderRules | None) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The metadata, or whatever the application answers."""
        if scope["type"] != "http" or not is_metadata(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        await self._told(scope)(scope, receive, send)

    def _told(self, scope: Scope) -> Response:
        where = scope["path"].removeprefix(WELL_KNOWN)
        if self._rules is None or (where and where != PATH and not where.startswith(f"{PATH}/")):
            return plain_problem(
                HTTPStatus.NOT_FOUND,
                "there is no identity provider for this: ask with `Authorization: Bearer` and a key of this store",
            )
        scopes = None if self._rules.scope_claim is None else [f"{SCOPE}{one}" for one in VERBS]
        metadata = ProtectedResourceMetadata.model_validate(
            {
                "resource": f"{_base(self._rules, scope)}{where}",
                "authorization_servers": [self._rules.issuer],
                "scopes_supported": scopes,
                "resource_name": "Engramlog",
            }
        )
        told = metadata.model_dump(mode="json", exclude_none=True)
        return Response(orjson.dumps(told), media_type="application/json")


def _base(rules: ProviderRules, scope: Scope) -> str:
    """The service's own address: as its audience says, else as it was asked, by a Host that the guard let pass."""
    scheme = "https" if listener_of(scope).public else scope["scheme"]  # whatever a proxy asks us by
    return _base_of(rules) or f"{scheme}://{Headers(scope=scope).get('host', '')}"


def _base_of(rules: ProviderRules) -> str | None:
    told = canonical(rules.audience)
    return told.removesuffix(PATH) if told.startswith(("http://", "https://")) else None
