"""The server as a protected resource of OAuth 2.1: what it is called, who gives tokens for it, how a refusal tells so.

`/.well-known/oauth-protected-resource/mcp/OWNER` tells the identity provider (RFC 9728); a challenge says where that lies (RFC
6750). A token may be for the whole service, or for one owner's URL alone, which then opens no other (RFC 8707). Without an identity
provider there is nothing to tell: a client is given a key.
"""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from urllib.parse import quote, unquote

import orjson
from mcp.shared.auth import ProtectedResourceMetadata
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from engramlog_server.api.http.callers import READS
from engramlog_server.api.http.problem import Problem, plain_problem
from engramlog_server.api.http.server.listener import listener_of
from engramlog_server.projections.access.grants import VERBS
from engramlog_server.projections.access.provider import SCOPE, ProviderRules, canonical

PATH = "/mcp"
WELL_KNOWN = "/.well-known/oauth-protected-resource"
ASKED_FOR = ("read", "produce")
"""What an agent needs at the least: the scopes that a challenge names where scopes narrow."""


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
    """What a challenge says besides, at a path: where the metadata lie, and which scopes to ask for."""
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
