"""Spans and metrics of running services: what is in them and what never is, whose trace they join, and collectors that hang."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from engramlog_server.events.errors import AccessDenied, InputError
from engramlog_server.ops.clock import silent
from engramlog_server.ops.telemetry import ENDPOINT, Telemetry, TraceParent
from engramlog_server.projections.access.caller import Caller
from tests.given.http import HttpStore, app_of, client_of, created, http_store
from tests.given.mcp import Agent, in_process, talk
from tests.integration.live import wait_until
from tests.integration.ops.test_up import EVENT, Up, get, post, running

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
NAMED = f"00-{TRACE}-{PARENT}-01"
OWNER, TEXT, MEMORY = "zebulon", "I keep saffron in the cupboard", "saffron-id"
HOSTILE = ["", "00", f"00-{'0' * 32}-{PARENT}-01", f"ff-{TRACE}-{PARENT}-01", f"{NAMED}-{'x' * 9_000}", "\u00e9" * 55]
SECRET = (OWNER, "saffron", "cupboard", MEMORY)


class World:
    """A service in this process, and the spans that it made."""

    def __init__(self, http: HttpStore) -> None:
        self.http, self.exporter = http, InMemorySpanExporter()
        self.telemetry = Telemetry("api", SimpleSpanProcessor(self.exporter), None, silent)
        self.telemetry.of_store("the-store")
        self.telemetry.watch(http.application)
        app = app_of(http.application)
        app.add_middleware(TraceParent)
        self.client = client_of(app)

    def spans(self) -> list[ReadableSpan]:
        """Those that ended since it was asked last."""
        found = list(self.exporter.get_finished_spans())
        self.exporter.clear()
        return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with http_store(tmp_path_factory.mktemp("telemetry") / "data") as http:
        world = World(http)
        http.told(OWNER, created(MEMORY, TEXT))
        yield world


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def search(world: World, **headers: bytes) -> list[ReadableSpan]:
    world.spans()
    answer = world.client.get(f"/v1/owners/{OWNER}/search", params={"query": "saffron"}, headers=headers)
    assert answer.json()["results"]
    return [one for one in world.spans() if one.name == "search_memory"]


def test_append_search_and_context_make_spans_by_the_conventions_and_none_tells_of_anybody(world: World) -> None:
    world.spans()
    world.http.told(OWNER, created("other-saffron", f"{TEXT} too"))
    world.client.get(f"/v1/owners/{OWNER}/search", params={"query": "saffron"})
    world.client.post(f"/v1/owners/{OWNER}/context", json={"text": "Where do I keep the saffron?", "related": "always"})
    spans = world.spans()
    by = {attributes(one)["engramlog.operation"]: one for one in spans}
    assert by.keys() == {"append", "search", "context"}
    store = {"gen_ai.memory.store.id": "the-store"}
    told = {"gen_ai.operation.name": "upsert_memory", "engramlog.operation": "append", "engramlog.events": 1}
    assert (by["append"].name, attributes(by["append"])) == ("upsert_memory", store | told)
    assert attributes(by["search"])["gen_ai.operation.name"] == "search_memory"
    assert attributes(by["search"])["gen_ai.memory.record.count"] >= 1
    assert attributes(by["context"])["gen_ai.operation.name"] == "search_memory"
    inner = [one for one in spans if one.parent is not None and one.parent.span_id == by["context"].context.span_id]
    assert [attributes(one)["engramlog.operation"] for one in inner] == ["search"]
    written = "".join(one.to_json() for one in spans)
    assert not [word for word in SECRET if word in written]


def test_an_error_is_told_by_its_kind_and_never_in_its_words(world: World) -> None:
    world.spans()
    with pytest.raises(InputError, match="saffron"):
        world.http.application.reader.search(OWNER, "saffron", mode="saffron")
    (span,) = world.spans()
    assert attributes(span)["error.type"] == "InputError"
    assert (span.status.status_code.name, span.status.description, span.events) == ("ERROR", None, ())


def test_a_caller_with_a_key_is_refused_as_without_spans(world: World) -> None:
    confined = world.http.application.for_(Caller("nobody", ((),), "a-key"))
    world.spans()
    with pytest.raises(AccessDenied):
        confined.reader.search(OWNER, query="saffron")
    assert not [one for one in world.spans() if one.name == "search_memory"]


def test_over_http_spans_join_the_trace_that_a_request_names(world: World) -> None:
    (span,) = search(world, traceparent=NAMED.encode(), tracestate=b"rojo=1", baggage=b"user=saffron")
    assert f"{span.context.trace_id:032x}" == TRACE
    assert span.parent is not None
    assert f"{span.parent.span_id:016x}" == PARENT
    assert not span.context.trace_state


@pytest.mark.parametrize("hostile", HOSTILE)
def test_over_http_what_is_no_trace_is_ignored(world: World, hostile: str) -> None:
    (span,) = search(world, traceparent=hostile.encode())
    assert span.parent is None
    assert f"{span.context.trace_id:032x}" != TRACE


@pytest.mark.parametrize("named", [NAMED, *HOSTILE, 5, [NAMED, NAMED], {"a": 1}, None])
def test_over_mcp_spans_join_the_trace_of_meta_and_ignore_what_is_none(world: World, named: Any) -> None:
    async def talking(agent: Agent) -> Any:
        return await agent.client.call_tool("search_memories", {"query": "saffron"}, meta={"traceparent": named})

    world.spans()
    assert not talk(in_process(world.http.application, OWNER), talking).is_error
    spans = [one for one in world.spans() if one.name == "search_memory"]
    assert spans
    if named == NAMED:
        assert {f"{one.context.trace_id:032x}" for one in spans} == {TRACE}
        assert all(one.parent is not None and f"{one.parent.span_id:016x}" == PARENT for one in spans)
    elif isinstance(named, str):
        assert not any(f"{one.context.trace_id:032x}" == TRACE for one in spans if len(named) < 55)


class Collector(ThreadingHTTPServer):
    """Takes what is exported by OTLP over HTTP."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Exported)
        self.bodies: list[tuple[str, bytes]] = []

    def spans(self) -> list[tuple[str, dict[str, Any]]]:
        """Every span, with the component that made it and its attributes."""
        found = []
        for batch in self._of("/v1/traces", ExportTraceServiceRequest):
            for one in batch.resource_spans:
                component = _plain(one.resource.attributes)["engramlog.component"]
                found += [(component, _plain(span.attributes)) for scope in one.scope_spans for span in scope.spans]
        return found

    def metrics(self) -> set[tuple[str, str]]:
        """The component and the name of each."""
        return {
            (_plain(one.resource.attributes)["engramlog.component"], metric.name)
            for batch in self._of("/v1/metrics", ExportMetricsServiceRequest)
            for one in batch.resource_metrics
            for scope in one.scope_metrics
            for metric in scope.metrics
        }

    def _of(self, path: str, kind: Any) -> list[Any]:
        return [kind.FromString(body) for where, body in list(self.bodies) if where == path]


class _Exported(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        self.server.bodies.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_told: Any) -> None:
        pass


def _plain(attributes: Any) -> dict[str, Any]:
    return {one.key: one.value.string_value or one.value.int_value for one in attributes}


@contextmanager
def up_with(folder: Path, endpoint: str, **more: str) -> Iterator[Up]:
    told = {
        ENDPOINT: endpoint,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "OTEL_METRIC_EXPORT_INTERVAL": "500",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        **more,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        with running(folder, "--workers", "1") as up:
            yield up


def test_a_running_service_exports_what_it_folds_and_runs_and_the_metrics_that_prometheus_has(tmp_path: Path) -> None:
    collector = Collector()
    Thread(target=collector.serve_forever, daemon=True).start()
    with closing(collector.socket), up_with(tmp_path / "data", f"http://127.0.0.1:{collector.server_port}") as up:
        receipt = post(up, [EVENT])["receipts"][0]
        get(up, f"/v1/owners/alice/search?query=coffee&after={receipt['position']}")
        made = {("api", "append"), ("api", "search"), ("worker", "fold"), ("lifecycle", "job")}
        wait_until(lambda: made <= {(component, told["engramlog.operation"]) for component, told in collector.spans()})
        jobs = {told["engramlog.job"] for _, told in collector.spans() if "engramlog.job" in told}
        assert jobs <= {"upkeep", "daily", "extract", "sessions", "judge", "embed"}
        stores = {told["gen_ai.memory.store.id"] for _, told in collector.spans()}
        assert stores == {up.facts("redis started")[0]["store"]}
        with urlopen(Request(f"{up.ready()}/metrics", headers=up.shown())) as answer:
            families = text_string_to_metric_families(answer.read().decode())
            ours = {one.name for one in families if one.samples and one.name.startswith("engramlog_")}
            ours = {one for one in ours if not one.endswith("_created")}
        wait_until(lambda: ("worker", "engramlog_fold_seconds") in collector.metrics())
        assert ours <= {name for _, name in collector.metrics()}
        up.process.send_signal(signal.SIGTERM)
        assert up.process.wait() == 0
        sent = b"".join(body for _, body in collector.bodies)
        assert not [word for word in (b"alice", b"coffee", b"m1") if word in sent]
        assert not up.facts("telemetry not exported")
    collector.shutdown()


def test_a_collector_that_hangs_keeps_no_request_and_no_end_waiting_and_one_line_tells_of_it(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:  # takes connections, and never answers
        with up_with(tmp_path / "data", f"http://127.0.0.1:{silent.getsockname()[1]}") as up:
            up.ready()
            wait_until(
                lambda: (
                    post(up, [EVENT])
                    and {one["component"] for one in up.facts("telemetry not exported")} >= {"api", "worker"}
                )
            )
            began = time.monotonic()
            url, shown = f"{up.ready()}/v1/owners/alice/search?query=coffee", up.shown()
            for _ in range(20):
                with urlopen(Request(url, headers=shown)) as answer:
                    assert "results" in json.load(answer)
            assert time.monotonic() - began < 20  # twenty exports that wait would take as many seconds, and retries
            told = [one["component"] for one in up.facts("telemetry not exported")]
            assert len(told) == len(set(told))
            up.process.send_signal(signal.SIGTERM)
            assert up.process.wait() == 0
            assert not up.facts("service interrupted")
            assert "Traceback" not in up.log.read_text()
