"""What every request passes before a route sees it: who may call, how much it may send, and how its path is read.

Until access keys exist the API is for this machine alone. A web page of any site can make a browser on this machine send
requests to 127.0.0.1, so a loopback socket is not enough: the Host must be loopback (DNS rebinding) and so must the Origin,
where a browser tells one (cross-site requests).
"""

from __future__ import annotations

from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.problem import Problem, plain_problem
from events.errors import BadSetting

MAX_BODY = 64 * 1024 * 1024
"""Most bytes of a request's body."""
JSON_TYPES = frozenset({"application/json"})
LINES_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines"})


def is_loopback(host: str) -> bool:
    """Whether a host name, without its port, is this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


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
    """ASGI middleware around the application."""

    def __init__(self, app: ASGIApp, max_body: int = MAX_BODY) -> None:
        self._app = app
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on with the path as it was sent and a counted body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app({**scope, "path": _path_as_sent(scope)}, self._counted(receive), send)

    def _refusal(self, headers: Headers) -> Problem | None:
        if not is_loopback(_host_of(headers.get("host", ""))):
            return plain_problem(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"Host: got {headers.get('host', 'none')!r}; allowed: 127.0.0.1, [::1] or localhost with the port",
            )
        origin = headers.get("origin")
        if origin is not None and not is_loopback(urlsplit(origin).hostname or ""):
            return plain_problem(HTTPStatus.FORBIDDEN, f"Origin: got {origin!r}; allowed: pages of this machine")
        if origin is None and headers.get("sec-fetch-site") == "cross-site" and "sec-fetch-user" not in headers:
            return plain_problem(
                HTTPStatus.FORBIDDEN, "Sec-Fetch-Site: got 'cross-site'; allowed: pages of this machine"
            )
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._max_body:
            return plain_problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, self._too_large(f"{length} bytes"))
        has_body = length != "0" or "transfer-encoding" in headers
        if has_body and media_type(headers) not in JSON_TYPES | LINES_TYPES:
            return plain_problem(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                f"Content-Type: got {headers.get('content-type', 'none')!r}; allowed: application/json"
                " (POST /v1/events also: application/x-ndjson)",
            )
        return None

    def _too_large(self, got: str) -> str:
        return f"a body of {got}; at most {self._max_body} bytes are allowed: send fewer events at a time"

    def _counted(self, receive: Receive) -> Receive:
        """`receive` that raises 413 once more came than is allowed, whatever was announced."""
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_body:
                raise HTTPException(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, self._too_large(f"more than {received - 1} bytes")
                )
            return message

        return counted


def _host_of(header: str) -> str:
    """The host of a Host header without its port; "" for what is none."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def _path_as_sent(scope: Scope) -> str:
    """The path still percent-encoded. A server decodes it whole, which makes `%2F` inside an id look like a separator."""
    raw = scope.get("raw_path")
    return raw.decode("ascii", "replace") if raw else quote(scope["path"])
