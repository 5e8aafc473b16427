"""Prometheus metrics of one process: what this process did, and the store's state read when it is scraped.

With several API processes each scrape sees one of them; the store's figures are the same from all.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.work.lane import Lane
from events.alarms import KNOWN
from events.errors import EngramlogError

KEPT_SECONDS = 1.0
"""How long the store's figures are kept, so that many scrapers cost what one costs."""
SEARCH_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5)
"""Seconds; 0.2 is the published target for the 95th percentile."""
Status = Callable[[], dict[str, Any]]


class Metrics:
    """The registry of one application: nothing is global, so two applications in a process do not meet."""

    def __init__(self, status: Status) -> None:
        self.registry = CollectorRegistry()
        self.search_seconds = Histogram(
            "engramlog_search_seconds",
            "Time to answer a search, without HTTP.",
            buckets=SEARCH_BUCKETS,
            registry=self.registry,
        )
        self.append_events = Counter(
            "engramlog_append_events",
            "Events received, by the status of their receipt.",
            ["status"],
            registry=self.registry,
        )
        self.feed_clients = Gauge("engramlog_feed_clients", "Change feeds being read.", registry=self.registry)
        self.feed_closed = Counter(
            "engramlog_feed_closed",
            "Change feeds that the server ended, by reason.",
            ["reason"],
            registry=self.registry,
        )
        self.refused = Counter(
            "engramlog_refused_questions",
            "Questions answered 429 since their owner, or all together, had as many in hand as allowed; by class of work.",
            ["work"],
            registry=self.registry,
        )
        self._lanes = Gauge(
            "engramlog_questions", "Questions in hand, by class of work.", ["work", "state"], registry=self.registry
        )
        self.registry.register(StoreCollector(status))

    def watch_lanes(self, lanes: Iterable[Lane]) -> None:
        """Tell from now on how many questions run and wait in each of these."""
        for lane in lanes:
            self.refused.labels(lane.name)  # told as 0 until the first
            self._lanes.labels(lane.name, "running").set_function(partial(getattr, lane, "running"))
            self._lanes.labels(lane.name, "waiting").set_function(partial(getattr, lane, "waiting"))

    def text(self) -> bytes:
        """Everything in the Prometheus text format."""
        return generate_latest(self.registry)


class StoreCollector(Collector):
    """The store's figures from `operator.status()`, read when scraped. A store that does not answer is `engramlog_up 0`."""

    def __init__(self, status: Status) -> None:
        self._status = status
        self._lock = Lock()
        self._kept: tuple[float, dict[str, Any] | None] | None = None

    def _now(self) -> dict[str, Any] | None:
        with self._lock:
            if self._kept is None or monotonic() - self._kept[0] > KEPT_SECONDS:
                try:
                    status = self._status()
                except EngramlogError:
                    status = None
                self._kept = (monotonic(), status)
            return self._kept[1]

    def describe(self) -> Iterator[Metric]:
        """The names are told when scraped: registering asks no store."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """One family a figure."""
        status = self._now()
        yield GaugeMetricFamily("engramlog_up", "Whether the store answers.", value=float(status is not None))
        if status is None:
            return
        yield CounterMetricFamily("engramlog_events", "Events in the log.", value=status["events"])
        yield GaugeMetricFamily("engramlog_memories", "Memories in the live builds.", value=status["memories"])
        yield GaugeMetricFamily("engramlog_workers", "Fold workers that live.", value=len(status["workers"]))
        quarantined = sum(len(partition["quarantined"]) for partition in status["partitions"])
        yield GaugeMetricFamily("engramlog_quarantined_owners", "Owners whose fold stands still.", value=quarantined)
        inboxes = status["inboxes"]
        yield GaugeMetricFamily("engramlog_inbox_waiting", "Things that wait for a person.", value=inboxes["waiting"])
        yield GaugeMetricFamily(
            "engramlog_inbox_full_owners", "Owners of whom as much waits for a person as may.", value=inboxes["full"]
        )
        said_again = "Events that say what a person rejected, and so changed nothing."
        yield CounterMetricFamily("engramlog_refused_events", said_again, value=status["refused"])
        lag = GaugeMetricFamily("engramlog_lag_events", "Events appended but not yet folded.", labels=["partition"])
        for partition in status["partitions"]:
            lag.add_metric([str(partition["partition"])], partition["lag"])
        yield lag
        yield from _lifecycle(status["lifecycle"])
        yield _alarms(status["alarms"])
        yield from _accesses(status["accesses"])
        memory = status["memory"]
        if memory.get("used_bytes") is not None:
            yield GaugeMetricFamily("engramlog_redis_used_bytes", "Memory that Redis uses.", value=memory["used_bytes"])
        if memory.get("max_bytes") is not None:
            yield GaugeMetricFamily("engramlog_redis_max_bytes", "Redis's maxmemory.", value=memory["max_bytes"])


def _alarms(standing: list[dict[str, Any]]) -> Metric:
    """How many alarms stand, by name: those of the table are told as 0 too, so that a rule can look at them before they are."""
    told = GaugeMetricFamily("engramlog_alarms", "Alarms that stand.", labels=["name", "severity"])
    counts = Counts(alarm["name"] for alarm in standing)
    for name in sorted(KNOWN.keys() | counts.keys()):
        told.add_metric([name, KNOWN[name].severity if name in KNOWN else "warning"], counts[name])
    return told


def _accesses(told: dict[str, int]) -> Iterator[Metric]:
    """What this server recorded of what it showed, what waits, and what was lost."""
    recorded, waiting, dropped = (told.get(name, 0) for name in ("recorded", "waiting", "dropped"))
    yield CounterMetricFamily("engramlog_accesses_recorded", "Accesses that this server appended.", value=recorded)
    yield GaugeMetricFamily("engramlog_accesses_waiting", "Accesses that wait for the next append.", value=waiting)
    yield CounterMetricFamily("engramlog_accesses_dropped", "Accesses that this server lost.", value=dropped)


def _lifecycle(told: dict[str, Any]) -> Iterator[Metric]:
    """Whether the lifecycle jobs are scheduled, and how many wait, run or have failed; nothing where their queue is silent."""
    led = float(told.get("leader") is not None)
    yield GaugeMetricFamily("engramlog_lifecycle_leader", "Whether somebody schedules the lifecycle jobs.", value=led)
    jobs = GaugeMetricFamily("engramlog_lifecycle_jobs", "Lifecycle jobs, by where they stand.", labels=["state"])
    for state in ("queued", "running", "failed", "refused"):
        if told.get(state) is not None:
            jobs.add_metric([state], told[state])
    yield jobs
