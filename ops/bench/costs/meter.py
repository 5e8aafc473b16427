"""The cost of a piece of work: clock, CPU of this process, CPU of the server's main thread, bytes of its append-only file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple, Self

from ops.bench.server import BenchServer


class Cost(NamedTuple):
    """Seconds, seconds of CPU, seconds of CPU, bytes."""

    wall: float = 0.0
    client: float = 0.0
    server: float = 0.0
    aof: float = 0.0

    @property
    def cpu(self) -> float:
        """Seconds of CPU of both."""
        return self.client + self.server

    def less(self, other: Cost) -> Cost:
        """What is left without another's server time and bytes: what the client and the clock took was told apart already."""
        return self._replace(server=max(self.server - other.server, 0.0), aof=max(self.aof - other.aof, 0.0))


class Meter:
    """Started before a piece of work and stopped after it: two questions to the server, whatever lies between."""

    def __init__(self, server: BenchServer) -> None:
        self._server = server
        self._before: tuple[float, float, float, float] = (0.0,) * 4

    def __enter__(self) -> Self:
        self._before = (*_of(self._server), process_time(), perf_counter())
        return self

    def __exit__(self, *_: object) -> None:
        wall, client = perf_counter() - self._before[3], process_time() - self._before[2]
        server, aof = _of(self._server)
        self.cost = Cost(wall, client, server - self._before[0], aof - self._before[1])


def cost_of(server: BenchServer, work: Callable[[], object]) -> Cost:
    """What a call costs."""
    with Meter(server) as watch:
        work()
    return watch.cost


def _of(server: BenchServer) -> tuple[float, float]:
    """Seconds of CPU of the server's main thread so far, and bytes written or about to be written to its append-only file, 0 where
    it keeps none."""
    cpu: Any = server.client.info("cpu")
    kept: Any = server.client.info("persistence")
    seconds = float(cpu["used_cpu_user_main_thread"]) + float(cpu["used_cpu_sys_main_thread"])
    return seconds, float(kept.get("aof_current_size", 0)) + float(kept.get("aof_buffer_length", 0))


class Costs(NamedTuple):
    """Ours against a limit, round by round, of so many events with bodies of so many bytes in the mean."""

    what: dict[str, Any]
    """What was measured, as the row tells it: set of texts, traffic and so on."""
    events: int
    body: float
    ours: Sequence[Cost]
    limit: Sequence[Cost]
    at_least: float | None = None
    aim: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: microseconds and bytes an event, medians of the rounds; `ratio` is by CPU, client and server together."""
        ratios = [limit.cpu / ours.cpu for ours, limit in zip(self.ours, self.limit, strict=True)]
        clocks = [limit.wall / ours.wall for ours, limit in zip(self.ours, self.limit, strict=True)]
        aof = self._each(self.ours, "aof") / 1e6
        return {
            **self.what,
            "events": self.events,
            "rounds": len(self.ours),
            "client_us": round(self._each(self.ours, "client"), 2),
            "client_us_min": round(min(one.client for one in self.ours) / self.events * 1e6, 2),
            "server_us": round(self._each(self.ours, "server"), 2),
            "aof_bytes": round(aof),
            "body_bytes": round(self.body),
            "aof_to_body": round(aof / self.body, 2),
            "limit_client_us": round(self._each(self.limit, "client"), 2),
            "limit_server_us": round(self._each(self.limit, "server"), 2),
            "limit_aof_bytes": round(self._each(self.limit, "aof") / 1e6),
            "ratio": _figure(median(ratios)),
            "ratio_min": _figure(min(ratios)),
            "ratio_max": _figure(max(ratios)),
            "ratio_clock": _figure(median(clocks)),
            "at_least": self.at_least,
            "aim": self.aim,
        }

    def _each(self, costs: Sequence[Cost], field: str) -> float:
        return float(median(getattr(one, field) for one in costs)) / self.events * 1e6


def _figure(ratio: float) -> float:
    return float(f"{ratio:.3g}")
