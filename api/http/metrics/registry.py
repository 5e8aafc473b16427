"""Prometheus metrics of one API process: what this process did, and the store's state read when it is scraped.

A family is either of this process, or of the store, which its help begins to say: those are the same from every process of a store,
so that over several processes the former are summed, and of the latter the largest is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from api.http.metrics.build import of_process
from api.http.metrics.scrape import Scrape
from api.http.metrics.store import StoreCollector, StoreReadings
from api.http.metrics.used import UsedCollector
from api.work.buckets import NAMES
from api.work.lane import Lane

SEARCH_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5)
"""Seconds; 0.2 is the published target for the 95th percentile."""
APPEND_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)
CLOSENESSES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class MetricSources(NamedTuple):
    """Where figures are read that others keep. All by name."""

    store: StoreReadings
    caches: Callable[[], Mapping[tuple[str, str], int]] = dict
    """How often something was asked of a cache, by its name and what came of it."""


class Metrics:
    """The registry of one application: nothing is global, so two applications in a process do not meet."""

    def __init__(self, told: MetricSources) -> None:
        self.registry = CollectorRegistry()
        of_process(self.registry, "api")
        self.search_seconds = Histogram(
            "engramlog_search_seconds",
            "Time to answer a search, without HTTP.",
            buckets=SEARCH_BUCKETS,
            registry=self.registry,
        )
        self.append_seconds = Histogram(
            "engramlog_append_seconds",
            "Time in which the log took a request of events, by whichever face it came: until they are on disk.",
            buckets=APPEND_BUCKETS,
            registry=self.registry,
        )
        self.append_events = Counter(
            "engramlog_append_events",
            "Events received at POST /v1/events, by the status of their receipt.",
            ["status"],
            registry=self.registry,
        )
        self.closeness = Histogram(
            "engramlog_injected_closeness",
            "How close memories that a search brought into a recorded block are to what the block was asked for, 0 to 1.",
            buckets=CLOSENESSES,
            registry=self.registry,
        )
        self.requests = Counter(
            "engramlog_http_requests",
            "Requests answered, by method, route and status; route none: no route has the path, or nobody may ask.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "engramlog_http_request_seconds",
            "From the head of a request to the head of its answer.",
            ["method", "route"],
            buckets=REQUEST_BUCKETS,
            registry=self.registry,
        )
        self.feed_clients = Gauge("engramlog_feed_clients", "Change feeds being read.", registry=self.registry)
        self.feed_closed = Counter(
            "engramlog_feed_closed",
            "Change feeds that the server ended, by reason.",
            ["reason"],
            registry=self.registry,
        )
        self.console_sessions = Gauge(
            "engramlog_console_sessions", "Sessions of the console that are open.", registry=self.registry
        )
        self.console_codes_refused = Counter(
            "engramlog_console_codes_refused",
            "Codes of the console that opened nothing, by reason; limited: too many others did.",
            ["reason"],
            registry=self.registry,
        )
        self.refused = Counter(
            "engramlog_refused_questions",
            "Questions answered 429 since their owner, or all together, had as many in hand as allowed; by class of work.",
            ["work"],
            registry=self.registry,
        )
        self.refused_requests = Counter(
            "engramlog_refused_requests",
            "Requests refused before a route saw them, by reason; connections, files: no more could be open.",
            ["reason"],
            registry=self.registry,
        )
        self.limited = Counter(
            "engramlog_limited_requests",
            "Requests answered 429 since a principal took more than a key may; by what there was too much of.",
            ["what"],
            registry=self.registry,
        )
        for what in NAMES:
            self.limited.labels(what)  # told as 0 until the first
        self._lanes = Gauge(
            "engramlog_questions", "Questions in hand, by class of work.", ["work", "state"], registry=self.registry
        )
        self.registry.register(UsedCollector(told.caches))
        self.registry.register(StoreCollector(Scrape(told.store)))

    def watch_lanes(self, lanes: Iterable[Lane]) -> None:
        """Tell from now on how many questions run and wait in each of these."""
        for lane in lanes:
            self.refused.labels(lane.name)  # told as 0 until the first
            self._lanes.labels(lane.name, "running").set_function(partial(getattr, lane, "running"))
            self._lanes.labels(lane.name, "waiting").set_function(partial(getattr, lane, "waiting"))

    def text(self) -> bytes:
        """Everything in the Prometheus text format."""
        return generate_latest(self.registry)
