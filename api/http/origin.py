"""Where a request comes from, as far as it says: to this service by a name of its own, and from no page but this service's.

A web page of any site, and of any other port of this machine, can make a browser send requests to 127.0.0.1. The Host tells a
page that had its name led here (DNS rebinding), the Origin and Sec-Fetch-Site tell whose page asks, and what changes
something must be of a kind that no page can send elsewhere without being asked first (CORS preflight; there is no CORS here).
"""

from __future__ import annotations

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import Scope

from api.http.problem import Problem, plain_problem
from api.http.server.listener import OF_THIS_MACHINE, Listener
from events.text.origins import Origin, is_loopback, place_of

CONSOLE_PAGE = "/"
"""Where the page of the console is."""
OWN_HEADER = "engramlog-request"
"""A header that no page may send elsewhere unasked: what a request that changes something has where it has no JSON body."""


def refused_place(scope: Scope, headers: Headers, listener: Listener = OF_THIS_MACHINE) -> Problem | None:
    """The refusal of a request that was not meant for this service (421), or that another's page sends (403)."""
    told = headers.getlist("host")
    scheme = "https" if listener.public else scope["scheme"]  # in clear it comes from a declared proxy alone
    host = place_of(f"{scheme}://{told[0]}") if len(told) == 1 else None
    server = scope.get("server") or ("", None)
    if host is None or not _is_asked_for(host, server[1], listener):
        names = "a name of ENGRAMLOG_PUBLIC_NAMES" if listener.public else "127.0.0.1, [::1] or localhost"
        return plain_problem(
            HTTPStatus.MISDIRECTED_REQUEST,
            f"Host: got {_short(told)}; allowed: {names} with the port of this service",
        )
    origins = headers.getlist("origin")
    if origins and (len(origins) > 1 or place_of(origins[0]) != host):
        return plain_problem(
            HTTPStatus.FORBIDDEN, f"Origin: got {_short(origins)}; allowed: the pages of this service alone"
        )
    site = headers.get("sec-fetch-site", "none")
    if site not in ("none", "same-origin") and not _followed(scope, headers):
        return plain_problem(
            HTTPStatus.FORBIDDEN, f"Sec-Fetch-Site: got {_short([site])}; allowed: the pages of this service alone"
        )
    return None


def _is_asked_for(host: Origin, own_port: int | None, listener: Listener) -> bool:
    if listener.public:
        return listener.answers_to(host.host, host.port, own_port)
    return _is_own(host.host) and own_port in (None, host.port)


def _is_own(host: str) -> bool:
    """Whether a Host names this machine alone, in the one spelling that its address has."""
    return is_loopback(host) and (":" not in host or host == "::1")


def _followed(scope: Scope, headers: Headers) -> bool:
    """Whether somebody followed a link of another page to here; to the console's page also one that followed itself: a file that
    leads on, a mail program. That page holds nothing, and what it is given stands behind the `#`, which is not sent."""
    if scope["method"] != "GET" or headers.get("sec-fetch-mode") != "navigate":
        return False
    to_console = scope["path"] == CONSOLE_PAGE and headers.get("sec-fetch-dest") == "document"
    return to_console or headers.get("sec-fetch-user") == "?1"


def _short(told: list[str]) -> str:
    return repr(told[0][:80]) if len(told) == 1 else "none" if not told else f"{len(told)} of them"
