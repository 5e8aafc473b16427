"""Which way a request came, and what is answered on it: through a declared proxy, by TLS, or on this machine.

Operating stands apart: what is about the store as a whole is answered on no listener that others reach, whatever key is shown.
"""

from __future__ import annotations

import re
from functools import cache
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import Scope

from api.access.needs import NEEDS
from api.http.problem import Problem, plain_problem
from api.http.server.listener import Listener
from api.operations.definition import Operation
from api.operations.groups import ALL
from projections.access.grants import OF_THE_STORE

FORWARDED: Final = frozenset(
    {"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"}
)
"""Headers of a request that somebody else made."""
ASIDE: Final = (
    *("/metrics", "/v1/command"),
    *("/v1/console/codes", "/v1/console/codes/state"),
)
"""Operating too, but made of no operation: figures, and ways in for who shows the folder's token. Sessions are not among it:
whoever has a key opens one from anywhere."""


def refused_way(scope: Scope, headers: Headers, listener: Listener) -> Problem | None:
    """The refusal of whoever did not come through the declared proxy (403), or not by TLS up to it (421)."""
    if not listener.public:
        if listener.direct and not FORWARDED.isdisjoint(headers.keys()):
            return plain_problem(
                HTTPStatus.FORBIDDEN,
                "Forwarded: got a request that somebody passed on; allowed: one that comes from this machine itself, or by the"
                " port that is open to others",
            )
        return None
    if not listener.proxies:
        return None
    peer = scope.get("client") or ("none", 0)
    if not listener.trusts(str(peer[0])):
        return plain_problem(
            HTTPStatus.FORBIDDEN,
            f"address: got {peer[0]}; allowed: a proxy that ENGRAMLOG_TRUSTED_PROXIES declares",
        )
    told = headers.getlist("x-forwarded-proto")
    if len(told) != 1 or told[0].strip().lower() != "https":
        got = repr(told[0][:20]) if len(told) == 1 else f"{len(told)} of them"
        return plain_problem(
            HTTPStatus.MISDIRECTED_REQUEST,
            f"X-Forwarded-Proto: got {got}; allowed: https, once: the proxy has to be asked by TLS, and to say so",
        )
    return None


def refused_operating(path: str, listener: Listener) -> Problem | None:
    """The refusal of what is about the store as a whole, where that is not answered. `path`: as it was sent."""
    if listener.operates or not any(one.fullmatch(path) for one in _operating()):
        return None
    return plain_problem(
        HTTPStatus.FORBIDDEN,
        f"path: got {path[:80]!r}; allowed: on the operating listener alone: the socket api.sock in the service's data folder,"
        " or the port ENGRAMLOG_OPERATE",
    )


def is_operating(operation: Operation) -> bool:
    """Whether an operation is about the store as a whole, or repairs it."""
    need = NEEDS.get(operation.call)
    if need is None:
        return False
    if operation.call.startswith("operator.dead"):
        return True
    if need.about == "anybody" and "{owner}" not in operation.path:
        return not OF_THE_STORE.isdisjoint(need.also({}))
    return need.about == "store" and need.verb in OF_THE_STORE


def operating_paths() -> tuple[str, ...]:
    """The paths of all that is operating, in braces."""
    return (*ASIDE, *dict.fromkeys(one.path for one in ALL if is_operating(one)))


@cache
def _operating() -> tuple[re.Pattern[str], ...]:
    return tuple(compile_path(one)[0] for one in operating_paths())
