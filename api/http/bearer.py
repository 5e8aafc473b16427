"""The bearer token: whoever is on this machine is not trusted for that alone; who shows the token may ask everything.

A loopback port is open to every user of the machine and to every page of every browser on it. The token lies where only one
user can read it (`ops.token`), so to show it is to be that user, or to have been given it.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from starlette.datastructures import Headers

from api.http.problem import Problem, plain_problem
from api.showing import CURL

Admits = Callable[[str], bool]
"""Whether a token that was shown is the one of this service; compares in constant time."""
KNOWN = "engramlog.known"
"""Name in an ASGI scope: whether the request showed the token. Only open paths are ever reached without."""
OPEN_PATHS = frozenset(
    {"/health", "/ready", "/docs", "/docs/page.css", "/docs/page.js", "/docs/request.js", "/v1/openapi.json"}
)
"""What is answered without the token: that the process lives and is ready, and what routes there are. Nothing of anybody."""
READS = frozenset({"GET", "HEAD"})


def nobody(_shown: str) -> bool:
    """Admits nobody: what holds where nothing was said."""
    return False


def is_known(headers: Headers, admits: Admits) -> bool:
    """Whether these headers show the token, in one `Authorization` header and nowhere else."""
    told = headers.getlist("authorization")
    if len(told) != 1:
        return False
    scheme, _, shown = told[0].partition(" ")
    return scheme.lower() == "bearer" and bool(shown) and admits(shown.strip())


def unauthorized(headers: Headers) -> Problem:
    """The refusal, which says where the token is had and never what was shown."""
    shown = "authorization" in headers
    challenge = 'Bearer realm="engramlog"' + (', error="invalid_token"' if shown else "")
    got = "another than this service's token" if shown else "none"
    return plain_problem(
        HTTPStatus.UNAUTHORIZED,
        f"Authorization: got {got}; allowed: Bearer and the token of this service, which `engramlog token` prints:"
        f" {CURL} ...",
        {"www-authenticate": challenge},
    )
