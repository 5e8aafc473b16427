"""What every request passes before a route sees it: who may call, and how its path is read.

The API is for this machine alone, and on it for who shows the token: the Host must be this service (`api.http.origin`), the
Origin too where a browser tells one, and all but a few paths that tell nothing of anybody ask for it (`api.http.bearer`).
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.bearer import KNOWN, READS, Admits, is_known, unauthorized
from api.http.origin import OWN_HEADER, refused_place
from api.http.problem import Problem, plain_problem
from api.http.server.loopback import is_loopback
from events.errors import BadSetting

JSON_TYPES = frozenset({"application/json"})
LINES_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines"})


def check_host(host: str) -> None:
    """Raise BadSetting for any address that others could reach: there are no access keys yet."""
    if not is_loopback(host):
        raise BadSetting(
            f"ENGRAMLOG_HOST: got {host!r}; allowed: 127.0.0.1, ::1 or localhost. There are no access keys yet, so the API must"
            " not be reached from other machines",
            setting="ENGRAMLOG_HOST",
            got=host,
            allowed="127.0.0.1, ::1 or localhost",
        )


def media_type(headers: Headers) -> str:
    """The content type without its parameters, in lower case."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


class Guard:
    """ASGI middleware around the application. Paths that are `open_paths` are read without the token."""

    def __init__(self, app: ASGIApp, *, admits: Admits, open_paths: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._admits = admits
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on with the path as it was sent."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})  # there is none, and none gets past
            return
        headers = Headers(scope=scope)
        path, known = _path_as_sent(scope), is_known(headers, self._admits)
        refusal = refused_place(scope, headers) or self._refused_stranger(scope, path, known, headers)
        refusal = refusal or self._refused_body(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, _plainly(send))
            return
        await self._app({**scope, "path": path, KNOWN: known}, receive, _plainly(send))

    def _refused_stranger(self, scope: Scope, path: str, known: bool, headers: Headers) -> Problem | None:
        if known or (path in self._open_paths and scope["method"] in READS):
            return None
        return unauthorized(headers)

    def _refused_body(self, scope: Scope, headers: Headers) -> Problem | None:
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if not has_body and (scope["method"] in READS or headers.get(OWN_HEADER)):
            return None
        if media_type(headers) not in JSON_TYPES | LINES_TYPES:
            bare = "" if has_body else "; without a body the header Engramlog-Request: 1 will do"
            return plain_problem(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                f"Content-Type: got {headers.get('content-type', 'none')[:80]!r}; allowed: application/json"
                f" (POST /v1/events also: application/x-ndjson){bare}",
            )
        return None


def _plainly(send: Send) -> Send:
    """`send` whose answers are what they say they are, and are kept by nobody on the way."""

    async def plainly(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["x-content-type-options"] = "nosniff"
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return plainly


def _path_as_sent(scope: Scope) -> str:
    """The path still percent-encoded. A server decodes it whole, which makes `%2F` inside an id look like a separator."""
    raw = scope.get("raw_path")
    return raw.decode("ascii", "replace") if raw else quote(scope["path"])
