"""OpenTelemetry where it is off, and what a registry of Prometheus's becomes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from engramlog_server.ops.telemetry import ENDPOINT, mirrored, telemetry_of
from tests.places import ROOT

NOWHERE = "http://127.0.0.1:9"
LOADS = """
import sys
from engramlog_server.ops import telemetry, worker
assert telemetry.telemetry_of("worker", print) is None
print([name for name in sys.modules if name.startswith(("opentelemetry.exporter", "google", "requests"))])
"""


@pytest.fixture(autouse=True)
def _of_no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (ENDPOINT, "OTEL_SDK_DISABLED", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        monkeypatch.delenv(name, raising=False)


def test_without_an_endpoint_nothing_is_exported_told_or_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("environment", "there", "told"),
    [
        ({"OTEL_SDK_DISABLED": "TRUE"}, True, []),
        ({}, False, ["engramlog[otel]"]),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, True, ["got 'grpc'; allowed: http/protobuf"]),
        ({"OTEL_BSP_MAX_QUEUE_SIZE": "-3"}, True, ["max_queue_size"]),
    ],
)
def test_it_is_off_where_it_cannot_or_shall_not_export_and_says_why_once(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], there: bool, told: list[str]
) -> None:
    for name, value in {ENDPOINT: NOWHERE, **environment}.items():
        monkeypatch.setenv(name, value)
    if not there:
        monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    reasons: list[str] = []

    def tell(fact: str, *, reason: str, **_facts: Any) -> None:
        assert fact == "telemetry disabled"
        reasons.append(reason)

    assert telemetry_of("api", tell) is None
    assert len(reasons) == len(told)
    assert all(part in reason for part, reason in zip(told, reasons, strict=True))


def test_headers_that_cannot_be_read_are_told_without_what_they_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, NOWHERE)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "a-password-without-a-name")
    told: list[str] = []
    exported = telemetry_of("api", lambda fact, **facts: told.append(f"{fact}: {facts}"))
    assert exported is not None
    exported.close()
    assert len(told) == 1
    assert told[0].startswith("telemetry misconfigured: ")
    assert "a-password" not in told[0]


def test_a_registry_is_told_under_the_same_names_with_what_lies_between_bounds() -> None:
    registry = CollectorRegistry()
    Counter("asked", "How often.", ["by"], registry=registry).labels("http").inc(3)
    Gauge("open", "Now.", registry=registry).set(2.5)
    Histogram("seconds", "Long.", ["by"], buckets=(1, 2), registry=registry)  # no labels yet: nothing to tell
    spread = Histogram("sizes", "Large.", ["by"], buckets=(1, 2), registry=registry)
    for by, value in (("a", 0.5), ("a", 1.5), ("a", 9.0), ("b", 2.0)):
        spread.labels(by).observe(value)
    found = mirrored(registry, None, 7)
    told = {one.name: one for one in found.resource_metrics[0].scope_metrics[0].metrics}
    assert told.keys() == {"asked", "open", "sizes"}
    (asked,) = told["asked"].data.data_points
    assert (asked.value, asked.attributes, asked.start_time_unix_nano) == (3, {"by": "http"}, 7)
    assert told["asked"].data.is_monotonic
    assert [one.value for one in told["open"].data.data_points] == [2.5]
    a, b = sorted(told["sizes"].data.data_points, key=lambda one: one.attributes["by"])
    assert (a.explicit_bounds, a.bucket_counts, a.count, a.sum) == ([1, 2], [1, 1, 1], 3, 11)
    assert (b.bucket_counts, b.count, b.sum) == ([0, 1, 0], 1, 2)
