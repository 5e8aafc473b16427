"""The bearer token: whoever is on this machine is not trusted for that alone; who shows the token may ask everything.

A loopback port is open to every user of the machine and to every page of every browser on it. The token lies where only one
user can read it (`ops.token`), so to show it is to be that user, or to have been given it.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from starlette.datastructures import Headers

from api.http.access.sessions import SESSION_PREFIX
from api.http.problem import Problem, plain_problem
from api.http.server.listener import CONSOLE_PAGE
from api.showing import CURL

Admits = Callable[[str], bool]
"""Whether a token that was shown is the one of this service; compares in constant time. Where its token can become another one
it has `in_force`, too: what tells that in force from others, None where nobody is admitted."""
KNOWN = "engramlog.known"
"""Name in an ASGI scope: whether the request showed the token. Only open paths are ever reached without."""
CONSOLE_FILES = "/console/"
"""How the address of each of the console's files begins."""
OPEN_PATHS = frozenset(
    {
        *("/health", "/ready", "/docs", "/docs/page.css", "/docs/page.js", "/docs/request.js", "/v1/openapi.json"),
        CONSOLE_PAGE,
    }
)
"""What is answered without the token: that the process lives and is ready, what routes there are, and the console's page, which
holds nothing. Nothing of anybody."""
OPEN_POST, MOST_OPEN = "/v1/console/session", 10_240
"""The one thing that a stranger may send: a code that works once, or a key or token of this store; and of how many bytes its
body may be."""
UNATTENDED = "engramlog-unattended"
"""The header by which a page says that it asks by itself: nobody touched it for a minute."""
READS = frozenset({"GET", "HEAD"})


def is_open(method: str, path: str) -> bool:
    """Whether this is answered without the token."""
    if method in READS:
        return path in OPEN_PATHS or path.startswith(CONSOLE_FILES)
    return method == "POST" and path == OPEN_POST


def in_force_of(admits: Admits) -> Callable[[], bytes | None]:
    """What tells which token is in force."""
    told = getattr(admits, "in_force", None)
    return told if callable(told) else lambda: b""


def nobody(_shown: str) -> bool:
    """Admits nobody: what holds where nothing was said."""
    return False


def is_known(headers: Headers, admits: Admits) -> bool:
    """Whether these headers show the token, in one `Authorization` header and nowhere else."""
    shown = shown_in(headers)
    return shown is not None and admits(shown)


def shown_in(headers: Headers) -> str | None:
    """What is shown as a token; None where nothing is, or more than one thing."""
    told = headers.getlist("authorization")
    if len(told) != 1:
        return None
    scheme, _, shown = told[0].partition(" ")
    return shown.strip() if scheme.lower() == "bearer" and shown else None


def unauthorized(
    headers: Headers, got: str = "", more: str = "", *, why: str | None = None, keys_alone: bool = False
) -> Problem:
    """The refusal, which says where a token is had and never what was shown. `got`: what it was, where that is known; `more`: what
    the challenge says besides.

    `why`: of a session of a key, what became of the key. `keys_alone`: the store's own token opens nothing here, as from other
    machines.
    """
    shown = "authorization" in headers
    challenge = 'Bearer realm="engramlog"' + (', error="invalid_token"' if shown else "") + more
    got = (got or "another than this service's token") if shown else "none"
    if (shown_in(headers) or "").startswith(SESSION_PREFIX) and why is None:
        got = "a session that is over (`engramlog console` opens a new one)"
    if keys_alone:
        got = got.replace("another than this service's token, and no key of this store", "no key of this store")
        return plain_problem(
            HTTPStatus.UNAUTHORIZED,
            f"Authorization: got {got}; allowed: Bearer and a key of this store, or a token made of one",
            {"www-authenticate": challenge},
        )
    return plain_problem(
        HTTPStatus.UNAUTHORIZED,
        f"Authorization: got {got}; allowed: Bearer and a key of this store, or its token, which `engramlog token` prints:"
        f" {CURL} ...",
        {"www-authenticate": challenge},
        **({} if why is None else {"reason": why}),
    )
