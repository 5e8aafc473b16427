"""The metrics of fold workers and MCP servers, on a port that tells nothing else: no token is asked for, nothing of anybody's told.

Small on purpose: a fold worker loads no web framework for it. Connections are few, short, and never kept open.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Thread
from typing import TYPE_CHECKING, Any, Self

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from engramlog_server.api.http.metrics import CLOSENESSES, UsedCollector, of_process
from engramlog_server.api.http.ports import bound
from engramlog_server.consumers.fold.figures import FoldFigures
from engramlog_server.events.errors import BadSetting
from engramlog_server.events.text import is_loopback

if TYPE_CHECKING:
    from engramlog_server.api.application import Application

SETTING = "ENGRAMLOG_METRICS"
MOST_AT_ONCE = 8
"""Scrapes at once; who comes on top is closed."""
SECONDS = 3.0
"""How long a client may keep silent within a request."""
MOST_PORT = 65_535


def ports_of(port: int, processes: int) -> list[int]:
    """The ports of so many processes: one after the other from `port` on, or a free one each where it is 0."""
    if port + processes - 1 > MOST_PORT:
        raise BadSetting(
            f"{SETTING}: got {port} for {processes} workers, a port each from there on; allowed: at most"
            f" {MOST_PORT - processes + 1}",
            setting=SETTING,
            got=port,
        )
    return [port + number if port else 0 for number in range(processes)]


def refuse_taken_ports(host: str, ports: list[int]) -> None:
    """Raise BadSetting for the first of these ports that is taken, before a process is started that would end by it."""
    for port in ports:
        with closing(bound(host, port, SETTING)):
            pass


class MetricsPort:
    """Answers `GET /metrics` with what a registry tells, until `close`. Host names other than this machine's own are refused where
    it listens on this machine alone: a page in a browser cannot ask under a name of its own."""

    def __init__(self, registry: CollectorRegistry, host: str, port: int) -> None:
        self._server = _Server(registry, host, bound(host, port, SETTING))
        self._thread = Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    @property
    def url(self) -> str:
        """Where it is scraped."""
        host, port = self._server.server_address[:2]
        shown = host.decode() if isinstance(host, bytes | bytearray) else str(host)
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/metrics"

    def start(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(SECONDS)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, registry: CollectorRegistry, host: str, listener: socket.socket) -> None:
        super().__init__(listener.getsockname()[:2], _Scrape, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_address = listener.getsockname()[:2]
        self.registry, self.own_only = registry, is_loopback(host)
        self._room = BoundedSemaphore(MOST_AT_ONCE)
        self.server_activate()

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread, where there is room for one more."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that left is nobody's trouble, and a thread's traceback is no line of the log."""


class _Scrape(BaseHTTPRequestHandler):
    timeout = SECONDS
    server: _Server

    def do_GET(self) -> None:
        """The metrics, at the one path there is."""
        if self.server.own_only and not is_loopback(_host(self.headers.get("host", ""))):
            self._answer(HTTPStatus.FORBIDDEN, b"this port is for this machine alone\n")
        elif self.path.partition("?")[0] != "/metrics":
            self._answer(HTTPStatus.NOT_FOUND, b"metrics are at /metrics\n")
        else:
            self._answer(HTTPStatus.OK, generate_latest(self.server.registry), CONTENT_TYPE_LATEST)

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        for name, value in (
            ("content-type", kind),
            ("content-length", str(len(body))),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """What the server is called in answers."""
        return "engramlog"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the library calls it
        """Nothing: a scrape every few seconds is no fact."""


def _host(told: str) -> str:
    """The name in a Host header, without its port."""
    return told[1 : told.find("]")] if told.startswith("[") else told.partition(":")[0]


def worker_registry(figures: FoldFigures) -> CollectorRegistry:
    """All that a fold worker tells."""
    registry = CollectorRegistry()
    of_process(registry, "worker")
    registry.register(FoldCollector(figures))
    return registry


class FoldCollector(Collector):
    """One family a figure, all of this worker since it began."""

    def __init__(self, figures: FoldFigures) -> None:
        self._figures = figures

    def describe(self) -> Iterator[Metric]:
        """The names are told when scraped."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Read where they stand; nothing is asked of the store."""
        told = self._figures
        yield GaugeMetricFamily("engramlog_fold_partitions", "Partitions that this worker folds.", value=told.held)
        yield CounterMetricFamily("engramlog_fold_events", "Events that this worker folded.", value=told.events)
        yield CounterMetricFamily("engramlog_fold_commits", "Commits that this worker wrote.", value=told.commits)
        yield CounterMetricFamily(
            "engramlog_fold_drops",
            "How often this worker dropped what it had not written: a commit was refused, or Redis did not answer.",
            value=told.stops,
        )
        yield GaugeMetricFamily(
            "engramlog_fold_last_commit_timestamp_seconds",
            "When this worker's newest commit was answered, by Redis's clock; 0 before any.",
            value=told.last_commit,
        )
        yield HistogramMetricFamily(
            "engramlog_fold_seconds",
            "From the append of an event to the answer of the commit that folded it.",
            buckets=told.latency.cumulative(),
            sum_value=told.latency.sum,
        )
        yield HistogramMetricFamily(
            "engramlog_fold_weight",
            "Weights of memories just after an event changed them, by the weighted law, unclipped.",
            buckets=told.weights.cumulative(),
            sum_value=told.weights.sum,
        )
        counted = CounterMetricFamily(
            "engramlog_fold_figures",
            "Effects of folded events; each event counts once for a figure.",
            labels=["figure"],
        )
        for figure, count in told.tally.counts.items():
            counted.add_metric([figure], count)
        yield counted
        answers = told.answers
        yield CounterMetricFamily(
            "engramlog_fold_answers",
            "Answers whose prompt had memories, as this worker folded them; each turn counts once.",
            value=answers.answers,
        )
        reported = CounterMetricFamily(
            "engramlog_fold_answer_outcomes",
            "Answers whose task was reported, by the first report: task_success or task_failure.",
            labels=["outcome"],
        )
        for outcome, count in answers.outcomes.items():
            reported.add_metric([outcome], count)
        yield reported


ANSWERED, REFUSED, UNKNOWN = "answered", "refused", "none"


class ToolMetrics:
    """What one MCP server tells. Tools that there are not are counted under one name, whatever they were called."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        of_process(self.registry, "mcp")
        self._calls = Counter(
            "engramlog_tool_calls", "Calls of tools by MCP clients.", ["tool", "outcome"], registry=self.registry
        )
        self._closeness = Histogram(
            "engramlog_injected_closeness",
            "How close memories that a search brought into a recorded block are to what the block was asked for, 0 to 1.",
            buckets=CLOSENESSES,
            registry=self.registry,
        )
        self._known = frozenset[str]()
        self._used: UsedCollector | None = None
        self.on_open: Callable[[Application], None] = lambda _application: None
        """Given each application that is watched."""

    def know(self, tools: Iterable[str]) -> None:
        """These tools there are; each is told as 0 until it is called."""
        self._known = frozenset(tools)
        for tool in self._known:
            self._calls.labels(tool, ANSWERED)

    def called(self, tool: str, *, answered: bool) -> None:
        """A client called a tool."""
        self._calls.labels(tool if tool in self._known else UNKNOWN, ANSWERED if answered else REFUSED).inc()

    def watch(self, application: Application) -> None:
        """Count what this application injects and finds in memory."""
        application.contexts.on_injected = self._closeness.observe
        self.on_open(application)
        if self._used is not None:  # of a store that was opened anew
            self.registry.unregister(self._used)
        self._used = UsedCollector(application.cache_counts)
        self.registry.register(self._used)


@contextmanager
def tool_metrics(place: tuple[str, int], tell: Any) -> Iterator[ToolMetrics]:
    """The metrics of an MCP server, told at a host and port for as long as this lasts. Raises BadSetting where that is taken."""
    metrics = ToolMetrics()
    port = MetricsPort(metrics.registry, *place).start()
    tell("metrics served", url=port.url)
    try:
        yield metrics
    finally:
        port.close()
