"""Spans and metrics for an OpenTelemetry collector, where `OTEL_EXPORTER_OTLP_ENDPOINT` names one and the extra `otel` is there.

Methods of the services of one process are wrapped, and its Prometheus registry is read; the rest of the program knows nothing of
it. Without it nothing is wrapped and no library is loaded. No provider is set for the whole process: libraries that we use would
export paths and messages, which name owners and quote them. A span has what `SPANS` says: no text, owner, or id of a memory.
Names follow the semantic conventions for GenAI, version 0.1.0.

What is to be exported waits in a bounded queue for a thread of its own. One log line tells of a collector that hangs or is away.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from math import inf
from threading import Thread
from time import time_ns
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from engramlog_server.api.choices import program_version
from engramlog_server.consumers.fold.figures import FoldFigures
from engramlog_server.ops.clock import Every, Tell
from engramlog_server.ops.processes.life import new_worker_id

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace import SpanProcessor
    from prometheus_client import CollectorRegistry
    from prometheus_client.samples import Sample
    from starlette.types import ASGIApp, Receive, Scope, Send

    from engramlog_server.api.application import Application
    from engramlog_server.projections.fold.partition import Outcome

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
PROTOCOL: Final = "http/protobuf"
EXPORT_SECONDS: Final = 60.0
"""How often metrics are exported, unless `OTEL_METRIC_EXPORT_INTERVAL` says otherwise."""
CLOSE_SECONDS: Final = 0.4
"""How long the end of a process waits for what is not exported yet; less than a job worker has to end."""
LONGEST_PARENT: Final = 128
"""Characters of a `traceparent`; today's have 55, later versions may have more."""
LONGEST_LINE: Final = 200
COUNT: Final = "gen_ai.memory.record.count"
SECOND: Final = 1_000_000_000


class SpanKind(NamedTuple):
    """What a span around a method is called and has, beside `engramlog.operation`, the store's id, and the kind of an error."""

    name: str
    """Of the conventions, where they know the operation."""
    told: Callable[[tuple[Any, ...], Any], Mapping[str, str | int]]
    """Attributes by the arguments and the answer."""
    standard: bool = True


def _of_job(arguments: tuple[Any, ...], answer: Any) -> Mapping[str, str | int]:
    told = {"engramlog.job": str(arguments[0].args[0])[:LONGEST_LINE]}  # checked: one of the kinds that there are
    return told if answer else {**told, "error.type": "job_failed"}


SPANS: Final[Mapping[str, SpanKind]] = {
    "append": SpanKind("upsert_memory", lambda _arguments, receipts: {"engramlog.events": len(receipts)}),
    "search": SpanKind("search_memory", lambda _arguments, found: {COUNT: len(found["results"])}),
    "context": SpanKind("search_memory", lambda _arguments, block: {COUNT: len(block["injected"])}),
    "job": SpanKind("job", _of_job, standard=False),
}
"""By what an operation is called here; `fold` is made of figures (`TracedFigures`)."""


def telemetry_of(component: str, tell: Tell) -> Telemetry | None:
    """What exports this process's spans and metrics as the environment says; None where it is off."""
    told = {name: os.environ.get(name, "").strip() for name in (ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL")}
    if not told[ENDPOINT] or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    if (protocol := told["OTEL_EXPORTER_OTLP_PROTOCOL"] or PROTOCOL) != PROTOCOL:
        tell("telemetry disabled", reason=f"OTEL_EXPORTER_OTLP_PROTOCOL: got {protocol[:40]!r}; allowed: {PROTOCOL}")
        return None
    logger = logging.getLogger("opentelemetry")
    logger.propagate, logger.handlers = False, [_Once(tell, "telemetry misconfigured")]
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        spans = None if _unwanted("TRACES") else BatchSpanProcessor(OTLPSpanExporter())
        metrics = None if _unwanted("METRICS") else OTLPMetricExporter()
        telemetry = Telemetry(component, spans, metrics, tell)
    except ImportError:
        tell("telemetry disabled", reason=f"{ENDPOINT} is set, but the extra is missing: pip install 'engramlog[otel]'")
    except (ValueError, OSError) as error:  # of a variable; nobody goes without memory for it
        tell("telemetry disabled", reason=str(error)[:LONGEST_LINE])
    else:
        logger.handlers = [_Once(tell, "telemetry not exported")]
        return telemetry
    return None


def _unwanted(signal: str) -> bool:
    return os.environ.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() == "none"


class _Once(logging.Handler):
    """Tells the first trouble of the libraries as this fact, and no other."""

    def __init__(self, tell: Tell, fact: str) -> None:
        super().__init__(logging.WARNING)
        self._tell: Tell | None = tell
        self._fact = fact

    def emit(self, record: logging.LogRecord) -> None:
        """Tell it, unless some was told. Of headers, which may hold a password, only what is wrong with them."""
        tell, self._tell = self._tell, None
        reason = str(record.msg) if record.name.startswith("opentelemetry.util") else record.getMessage()
        if tell is not None:
            tell(self._fact, reason=reason[:LONGEST_LINE], advice="nothing more is logged about it")


class Telemetry:
    """What one process exports. Safe for threads."""

    def __init__(self, component: str, spans: SpanProcessor | None, metrics: MetricExporter | None, tell: Tell) -> None:
        """`component`: as of log lines. `spans`: takes them; `metrics`: exports them; None: none."""
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider

        ours = {"service.name": "engramlog", "service.version": program_version(), "engramlog.component": component}
        own = Resource({**ours, "service.instance.id": new_worker_id()})
        self._resource = own.merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=self._resource, shutdown_on_exit=False)
        if spans is not None:
            self._provider.add_span_processor(spans)
        self._tracer = self._provider.get_tracer("engramlog", program_version())
        self._store: dict[str, str] = {}
        self._exporter = metrics
        self._tell = tell
        self._mirroring: Every | None = None
        self._wrapped: dict[tuple[Callable[..., Any], str], Callable[..., Any]] = {}

    def of_store(self, store_id: str) -> None:
        """The store of whatever is told from now on."""
        self._store = {"gen_ai.memory.store.id": store_id}

    def watch(self, application: Application) -> None:
        """Have appends, searches and blocks of an application make spans from now on."""
        for part, method, operation in (
            (application.log, "append", "append"),
            (application.reader, "search", "search"),
            (application.contexts, "context", "context"),
        ):
            self.wrap(part, method, operation)

    def wrap(self, part: object, method: str, operation: str) -> None:
        """Have calls of a method of this object make spans of an operation."""
        key = (getattr(type(part), method), operation)
        if key not in self._wrapped:
            self._wrapped[key] = self._around(*key)
        setattr(part, method, MethodType(self._wrapped[key], part))

    def _around(self, method: Callable[..., Any], operation: str) -> Callable[..., Any]:
        from opentelemetry.trace import StatusCode

        kind = SPANS[operation]
        fixed = {"engramlog.operation": operation}
        if kind.standard:
            fixed["gen_ai.operation.name"] = kind.name

        @wraps(method)
        def traced(part: object, *arguments: Any, **given: Any) -> Any:
            with self._tracer.start_as_current_span(
                kind.name, attributes=self._store | fixed, record_exception=False, set_status_on_exception=False
            ) as span:
                try:
                    answer = method(part, *arguments, **given)
                except Exception as error:
                    span.set_attribute("error.type", type(error).__name__)  # its message may quote somebody
                    span.set_status(StatusCode.ERROR)
                    raise
                told = kind.told(arguments, answer)
                span.set_attributes(told)
                if "error.type" in told:
                    span.set_status(StatusCode.ERROR)
                return answer

        return traced

    def folded(self, seconds: float, events: int) -> None:
        """A commit was answered just now, so many seconds after the oldest of its events was appended."""
        now = time_ns()
        attributes: dict[str, str | int] = {**self._store, "engramlog.operation": "fold", "engramlog.events": events}
        self._tracer.start_span("fold", start_time=now - int(seconds * SECOND), attributes=attributes).end(now)

    def mirror(self, registry: CollectorRegistry) -> None:
        """Export what a registry tells, as often as the environment says, until `close`."""
        exporter, began = self._exporter, time_ns()
        if exporter is None:
            return

        def export() -> None:
            exporter.export(mirrored(registry, self._resource, began))

        self._mirroring = Every(_interval(), export, "telemetry", self._tell, at_once=False, at_end=export).start()

    def close(self) -> None:
        """Export what waits, for `CLOSE_SECONDS` at most."""
        ending = Thread(target=self._provider.shutdown, name="telemetry", daemon=True)
        ending.start()
        if self._mirroring is not None:
            self._mirroring.stop(CLOSE_SECONDS / 2)
        ending.join(CLOSE_SECONDS / 2)


def _interval() -> float:
    try:
        told = float(os.environ.get("OTEL_METRIC_EXPORT_INTERVAL", "")) / 1_000
    except ValueError:
        return EXPORT_SECONDS
    return told if 0 < told < inf else EXPORT_SECONDS


class TracedFigures(FoldFigures):
    """Figures of a fold worker that make a span of each commit.

    It lasts from the append of the oldest event to the answer of the commit; no event says whose trace it belongs to.
    """

    def __init__(self, telemetry: Telemetry) -> None:
        super().__init__()
        self._telemetry = telemetry

    def committed(self, outcome: Outcome) -> None:
        """See `FoldFigures.committed`."""
        super().committed(outcome)
        if outcome.recorded and self.last_commit:
            waited = self.last_commit - min(outcome.recorded) / 1_000_000
            self._telemetry.folded(max(waited, 0.0), outcome.events)


def mirrored(registry: CollectorRegistry, resource: Any, began: int) -> Any:
    """What a registry tells now, as OpenTelemetry has it, under the same names; `began`: since when it counts, in nanoseconds."""
    from opentelemetry.sdk.metrics import export
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    now, cumulative, metrics = time_ns(), export.AggregationTemporality.CUMULATIVE, []
    for family in registry.collect():
        samples = [one for one in family.samples if not one.name.endswith("_created")]
        data: Any
        if family.type == "histogram":
            data = export.Histogram(list(_spread(samples, began, now)), cumulative)
        else:
            points = [export.NumberDataPoint(one.labels, began, now, one.value) for one in samples]
            is_count = family.type == "counter"
            data = export.Sum(points, cumulative, is_monotonic=True) if is_count else export.Gauge(points)
        if samples:
            metrics.append(export.Metric(family.name, family.documentation, "", data))
    scope = export.ScopeMetrics(InstrumentationScope("engramlog", program_version()), metrics, "")
    return export.MetricsData([export.ResourceMetrics(resource, [scope], "")])


def _spread(samples: Iterable[Sample], began: int, now: int) -> Iterator[Any]:
    """One point for each set of labels. Prometheus counts what is at most a bound, OpenTelemetry what lies between two."""
    from opentelemetry.sdk.metrics.export import HistogramDataPoint

    found: dict[frozenset[tuple[str, str]], list[Sample]] = {}
    for one in samples:
        found.setdefault(frozenset(one.labels.items() - {("le", one.labels.get("le", ""))}), []).append(one)
    for labels, told in found.items():
        upto = sorted((float(one.labels["le"]), int(one.value)) for one in told if one.name.endswith("_bucket"))
        total = next(one.value for one in told if one.name.endswith("_sum"))
        counts = [count - before for (_, count), (_, before) in zip(upto, [(0.0, 0), *upto], strict=False)]
        bounds, unknown = [bound for bound, _ in upto if bound != inf], cast("float", None)
        yield HistogramDataPoint(dict(labels), began, now, sum(counts), total, counts, bounds, unknown, unknown)


class TraceParent:
    """An ASGI application whose spans are children of the one that a request names in `traceparent`.

    What is none is ignored, and so are `tracestate` and `baggage`. Over MCP the SDK reads `_meta`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, within the trace that is named."""
        from opentelemetry.context import attach, detach
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        told = [value for name, value in scope.get("headers", ()) if name == b"traceparent"]
        if len(told) != 1 or len(told[0]) > LONGEST_PARENT:
            await self._app(scope, receive, send)
            return
        token = attach(TraceContextTextMapPropagator().extract({"traceparent": told[0].decode("latin-1")}))
        try:
            await self._app(scope, receive, send)
        finally:
            detach(token)
