"""The metrics of an MCP server: which tools its clients call, and how close to the question is what it put into prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram

from engramlog_server.api.application import Application
from engramlog_server.api.http.metrics import CLOSENESSES, UsedCollector, of_process
from engramlog_server.ops.metrics.port import MetricsPort

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
        if self._used is not None:  # of a store that was opened anew
            self.registry.unregister(self._used)
        self._used = UsedCollector(application.cache_counts)
        self.registry.register(self._used)


@contextmanager
def tool_metrics(place: tuple[str, int], tell: Any) -> Iterator[ToolMetrics]:
    """The metrics of an MCP server, told at a host and port for as long as this lasts. Raises BadSetting where that is taken."""
    metrics = ToolMetrics()
    port = MetricsPort(metrics.registry, *place).start()
    tell("metrics told", url=port.url)
    try:
        yield metrics
    finally:
        port.close()
