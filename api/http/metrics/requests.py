"""Counting requests by route and status. The outermost of what a request passes: who was refused counts too.

No label has a path or a word of a caller: a request that no route took is of the route `none`, one of an unknown method `other`.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from prometheus_client import Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.metrics.registry import Metrics

TAKEN = "engramlog.taken"
"""Where in a request's scope the route that took it writes its path, in braces; there where somebody counts."""


def taken_by(scope: Mapping[str, Any], route: str) -> None:
    """Note which route took a request."""
    taken = scope.get(TAKEN)
    if taken is not None:
        taken.append(route)


NONE, OTHER = "none", "other"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
CLOSED = 499
"""Told as the status where the client was gone before it was answered."""


class Measured:
    """ASGI middleware around all else."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._requests, self._seconds = metrics.requests, metrics.request_seconds
        self._counters: dict[tuple[str, str, int], Counter] = {}
        self._clocks: dict[tuple[str, str], Histogram] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and count once it is over."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, answered = perf_counter(), list[tuple[int, float]]()
        taken: list[str] = []
        scope[TAKEN] = taken

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered.append((message["status"], perf_counter()))
            await send(message)

        try:
            await self._app(scope, receive, told)
        except Exception:
            if not answered:
                answered.append((500, perf_counter()))
            raise
        finally:
            status, at = answered[0] if answered else (CLOSED, perf_counter())
            method = scope["method"] if scope["method"] in METHODS else OTHER
            self._count(method, taken[0] if taken else NONE, status, at - began)

    def _count(self, method: str, route: str, status: int, seconds: float) -> None:
        counter = self._counters.get((method, route, status))
        if counter is None:  # kept, for to find a label's series takes longer than to count
            counter = self._counters[method, route, status] = self._requests.labels(method, route, str(status))
        clock = self._clocks.get((method, route))
        if clock is None:
            clock = self._clocks[method, route] = self._seconds.labels(method, route)
        counter.inc()
        clock.observe(seconds)
