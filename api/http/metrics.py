"""Prometheus metrics of one API process: what this process did, and the store's state read when it is scraped.

A family is either of this process, or of the store, which its help begins to say: those are the same from every process of a store,
so that over several processes the former are summed, and of the latter the largest is taken.
"""

from __future__ import annotations

import platform
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from engramlog_server.api.admission import NAMES, Lane
from engramlog_server.api.choices import program_version
from engramlog_server.events.alarms import KNOWN
from engramlog_server.events.partitions import PASSING

if TYPE_CHECKING:
    from engramlog_server.api.services.capacity import AppendOnlyFile, DiskRoom, Kept


def of_process(registry: CollectorRegistry, component: str) -> None:
    """Have a registry tell `engramlog_build_info` and `process_*` of this process. `component`: as its log lines have it."""
    from engramlog_server.projections.fold.owner import PROJECTION_VERSION

    told = {
        "component": component,
        "version": program_version(),
        "python": platform.python_version(),
        "projection": str(PROJECTION_VERSION),
    }
    Gauge("engramlog_build_info", "1, with what this process is of.", list(told), registry=registry).labels(**told).set(
        1
    )
    ProcessCollector(registry=registry)


KEPT_SECONDS = 1.0
"""How long what was read is kept, so that many scrapers cost what one costs."""
MOST_SECONDS = 4.0
"""How long a scrape waits for the store, less than the ten seconds that Prometheus waits for a scrape."""
LATE = "late"
"""Counted beside the parts: the store did not answer in time."""
Read = Callable[[], Any]


@dataclass
class StoreRead:
    """What one look at the store brought, by part; a part that could not be read is missing."""

    parts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    at: float = float("-inf")
    """When it was read, by a steady clock."""


class Scrape:
    """Reads parts of the store, in a thread of its own: a Redis that hangs holds no scrape longer than `most_seconds`.

    What comes late is for the next scrape. Safe for threads; at most one look at a time.
    """

    def __init__(self, parts: Mapping[str, Read], *, most_seconds: float = MOST_SECONDS) -> None:
        self._parts = dict(parts)
        self._most_seconds = most_seconds
        self._changed = Condition()
        self._kept: StoreRead | None = None
        self._looking = False
        self.errors: Counts[str] = Counts(dict.fromkeys((*self._parts, LATE), 0))
        """How often each part could not be read."""

    def read(self) -> StoreRead:
        """What stands now, or did within the last second; empty where the store did not answer in time."""
        end = monotonic() + self._most_seconds
        with self._changed:
            while not self._is_fresh():
                if not self._looking:
                    self._looking = True
                    Thread(target=self._look, name="scrape", daemon=True).start()
                if not self._changed.wait(max(end - monotonic(), 0.0)) and monotonic() >= end:
                    self.errors[LATE] += 1
                    return StoreRead(seconds=self._most_seconds)
            assert self._kept is not None
            return self._kept

    def _is_fresh(self) -> bool:
        return self._kept is not None and monotonic() - self._kept.at <= KEPT_SECONDS

    def _look(self) -> None:
        began, found = monotonic(), StoreRead()
        for name, read in self._parts.items():
            try:
                found.parts[name] = read()
            except Exception:  # noqa: BLE001 - whatever it is, the other parts are told, and that this one is missing
                with self._changed:
                    self.errors[name] += 1
        found.at = monotonic()
        found.seconds = found.at - began
        with self._changed:
            self._kept, self._looking = found, False
            self._changed.notify_all()


class UsedCollector(Collector):
    """The caches of a process, which count by themselves."""

    def __init__(self, caches: Callable[[], Mapping[tuple[str, str], int]]) -> None:
        self._caches = caches

    def describe(self) -> Iterator[Metric]:
        """The names are told when scraped."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """One family."""
        asked = CounterMetricFamily(
            "engramlog_cache_questions",
            "Lookups in a cache: an owner's view (memory, file, loaded) or a question's vectors (memory, computed).",
            labels=["cache", "found"],
        )
        for (cache, found), count in self._caches().items():
            asked.add_metric([cache, found], count)
        yield asked


STATUS, KEPT = "status", "kept"
"""The parts of a scrape: `operator.status`, and `supervision.kept`."""
StoreReadings = Mapping[str, Callable[[], Any]]
OF_STORE = "Store: "


def readings(status: Callable[[], Mapping[str, Any]], kept: Callable[[], Kept]) -> StoreReadings:
    """What is read of a store for a scrape, by part."""
    return {STATUS: status, KEPT: kept}


class StoreCollector(Collector):
    """One family a figure."""

    def __init__(self, scrape: Scrape) -> None:
        self._scrape = scrape

    def describe(self) -> Iterator[Metric]:
        """The names are told when scraped: registering asks no store."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """What was read, and how reading it went."""
        found = self._scrape.read()
        status, kept = found.parts.get(STATUS), found.parts.get(KEPT)
        yield _gauge("engramlog_up", "Whether the store answers this process.", float(status is not None))
        yield _gauge("engramlog_scrape_seconds", "Seconds that reading the store for this scrape took.", found.seconds)
        errors = CounterMetricFamily(
            "engramlog_scrape_errors",
            "How often a part of the store could not be read for a scrape; its figures are missing then. late: not in time.",
            labels=["part"],
        )
        for part, count in sorted(self._scrape.errors.items()):
            errors.add_metric([part], count)
        yield errors
        if status is not None:
            yield from _of_status(status)
            yield _info(status, kept)
        if kept is not None:
            yield from _of_aof(kept.aof)
            yield from _of_disk(kept.disk, kept.trouble)


def _gauge(name: str, told: str, value: float | None) -> Metric:
    """A figure of its own; without a sample where it is not known."""
    return GaugeMetricFamily(name, told, value=value) if value is not None else GaugeMetricFamily(name, told, labels=[])


def _store(name: str, told: str, value: float | None) -> Metric:
    return _gauge(name, OF_STORE + told, value)


def _counter(name: str, told: str, value: float) -> Metric:
    return CounterMetricFamily(name, OF_STORE + told, value=value)


def _by(name: str, told: str, label: str, values: Iterable[tuple[str, float | None]]) -> Metric:
    """A figure by one label; without a sample where it is not known."""
    family = GaugeMetricFamily(name, OF_STORE + told, labels=[label])
    for value, count in values:
        if count is not None:
            family.add_metric([value], count)
    return family


def _info(status: Mapping[str, Any], kept: Kept | None) -> Metric:
    family = GaugeMetricFamily(
        "engramlog_store_info", f"{OF_STORE}1, with its id, its partitions and its server's product and version.",
        labels=["store", "partitions", "redis"],
    )  # fmt: skip
    redis = "unknown" if kept is None else kept.server
    away = sum(len(one["partitions"]) for one in status.get("unreachable") or ())
    family.add_metric([status["store_id"], str(len(status["partitions"]) + away), redis], 1)
    return family


def _of_all_partitions(status: Mapping[str, Any]) -> Iterator[Metric]:
    """Sums over all partitions: nothing of them while some cannot be reached, for a count of fewer would look like a loss."""
    partitions, inboxes = status["partitions"], status["inboxes"]
    yield _counter("engramlog_events", "events in the log.", status["events"])
    folded = status["events"] - status["lag"]
    yield _counter(
        "engramlog_folded_events", "events of the log that are folded, by the live builds' checkpoints.", folded
    )
    yield _store("engramlog_memories", "memories in the live builds.", status["memories"])
    quarantined = sum(len(partition["quarantined"]) for partition in partitions)
    yield _store("engramlog_quarantined_owners", "owners whose fold has stopped.", quarantined)
    yield _store("engramlog_inbox_waiting", "things that wait for a person.", inboxes["waiting"])
    yield _store("engramlog_inbox_full_owners", "owners whose inbox is full.", inboxes["full"])
    said_again = "events that say what a person rejected, and so changed nothing."
    yield _counter("engramlog_refused_events", said_again, status["refused"])


def _nodes(told: Sequence[Mapping[str, Any]]) -> Iterator[Metric]:
    """Each server that holds the store: one Redis, or the primaries of a Cluster."""

    def of_each(name: str, what: str, field: Callable[[Mapping[str, Any]], float | None]) -> Metric:
        return _by(name, what, "node", ((one["name"], field(one)) for one in told))

    yield of_each("engramlog_node_up", "whether the server answers.", lambda one: float(one["reachable"]))
    yield of_each("engramlog_node_used_bytes", "memory that it uses.", lambda one: one["used_bytes"])
    share = "the share of its maxmemory that it uses; nothing where it has none."
    yield of_each("engramlog_node_used_share", share, lambda one: one["used_share"])
    linked = "replicas that are linked to it and up to date."
    online = "online"
    yield of_each(
        "engramlog_node_replicas",
        linked,
        lambda one: sum(replica["state"] == online for replica in one["replicas"]) if one["reachable"] else None,
    )


def _of_status(status: Mapping[str, Any]) -> Iterator[Metric]:
    partitions, away = status["partitions"], status.get("unreachable") or ()
    lasting = sum(not worker.get(PASSING) for worker in status["workers"])
    yield _store("engramlog_workers", "fold workers that live, without those that end with a command.", lasting)
    yield from _sealing(status.get("sealing"))
    yield from _nodes(status.get("nodes") or ())
    yield _store(
        "engramlog_partitions_unreachable",
        "partitions of which nothing can be read, since the node of the Cluster that holds them is away.",
        sum(len(one["partitions"]) for one in away),
    )
    if not away:
        yield from _of_all_partitions(status)
    numbers = [str(partition["partition"]) for partition in partitions]

    def of_each(name: str, told: str, values: Iterable[float | None]) -> Metric:
        return _by(name, told, "partition", zip(numbers, values, strict=True))

    yield of_each("engramlog_lag_events", "events appended but not yet folded.", (one["lag"] for one in partitions))
    yield of_each(
        "engramlog_checkpoint_age_seconds",
        "how long the oldest event that is not folded has waited; 0 if all is folded, absent if the log does not show it.",
        (one["checkpoint_age"] for one in partitions),
    )
    held = (float(one["holder"] is not None) for one in partitions)
    yield of_each("engramlog_partition_held", "whether a worker folds the partition.", held)
    yield from _lifecycle(status["lifecycle"])
    yield _alarms(status["alarms"])
    yield from _accesses(status["accesses"])
    memory = status["memory"]
    yield _store("engramlog_redis_used_bytes", "memory that Redis uses.", memory.get("used_bytes"))
    yield _store("engramlog_redis_max_bytes", "Redis's maxmemory; nothing where it has none.", memory.get("max_bytes"))
    yield _store(
        "engramlog_events_until_full", "about how many events still fit into Redis.", memory.get("events_until_full")
    )
    if "backed_up" not in (status.get("unread") or ()):
        made = _seconds(status.get("backed_up")) or 0.0
        yield _store(
            "engramlog_last_backup_timestamp_seconds", "the moment of the last backup; 0 where none was made.", made
        )


def _sealing(told: Mapping[str, Any] | None) -> Iterator[Metric]:
    """Whether contents are sealed; where they are, whether the master key can be had, and who stands still for want of his."""
    if told is None:
        return
    yield _store("engramlog_sealed", "whether contents are sealed.", float(told["on"]))
    if told["on"]:
        yield _store(
            "engramlog_master_key_reachable", "whether the master key can be had.", float(bool(told["reachable"]))
        )
        locked = "owners whose fold has stopped because their keys cannot be reached."
        yield _store("engramlog_locked_owners", locked, told["owners_locked"])


def _alarms(standing: Sequence[Mapping[str, Any]]) -> Metric:
    """How many alarms stand, by name: those of the table are told as 0 too, so that a rule can look at them before they are."""
    told = GaugeMetricFamily("engramlog_alarms", f"{OF_STORE}active alarms.", labels=["name", "severity"])
    counts = Counts(alarm["name"] for alarm in standing)
    for name in sorted(KNOWN.keys() | counts.keys()):
        told.add_metric([name, KNOWN[name].severity if name in KNOWN else "warning"], counts[name])
    return told


def _accesses(told: Mapping[str, int]) -> Iterator[Metric]:
    """What this server recorded of what it showed, what waits, and what was lost; and what any process lost."""
    recorded, waiting, dropped = (told.get(name, 0) for name in ("recorded", "waiting", "dropped"))
    yield CounterMetricFamily("engramlog_accesses_recorded", "Accesses that this server appended.", value=recorded)
    blocks = "Blocks for prompts whose memories this server recorded as injected."
    yield CounterMetricFamily("engramlog_blocks_recorded", blocks, value=told.get("blocks", 0))
    yield _gauge("engramlog_accesses_waiting", "Accesses that wait for the next append.", waiting)
    yield CounterMetricFamily("engramlog_accesses_dropped", "Accesses that this server lost.", value=dropped)
    lost = "accesses that any process lost since the alarm of it was last cleared."
    yield _store("engramlog_accesses_lost", lost, told.get("lost", 0))


def _lifecycle(told: Mapping[str, Any]) -> Iterator[Metric]:
    """Whether the lifecycle jobs are scheduled, how many wait, run or have failed, and when each last ran through.

    Nothing of them where their queue is silent, but that it is.
    """
    yield _store("engramlog_lifecycle_up", "whether the queue of jobs answers.", float(told.get("problem") is None))
    led = float(told.get("leader") is not None)
    yield _store("engramlog_lifecycle_leader", "whether somebody schedules the lifecycle jobs.", led)
    states = ("queued", "running", "failed", "refused")
    jobs = ((state, told.get(state)) for state in states)
    yield _by("engramlog_lifecycle_jobs", "lifecycle jobs, by state.", "state", jobs)
    done: Mapping[str, Any] = told.get("done") or {}

    def by_job(name: str, what: str, values: Iterable[tuple[str, float | None]]) -> Metric:
        return _by(name, what, "kind", values)  # `job` is a word of Prometheus's own

    yield by_job(
        "engramlog_job_last_success_timestamp_seconds",
        "when a job that is scheduled last ran through, of the partition that waits longest; nothing where it never did.",
        ((job, _seconds(one["oldest"])) for job, one in done.items()),
    )
    yield by_job(
        "engramlog_job_waiting_since_timestamp_seconds",
        "since when the partition waits for a job that waits longest: where it never had it done, from when it is scheduled.",
        ((job, _seconds(one.get("waiting_since"))) for job, one in done.items()),
    )
    slowest = ((job, one["seconds"]) for job, one in done.items())
    yield by_job("engramlog_job_seconds", "what a job's last run took, of the slowest partition.", slowest)
    every = ((job, one["every_minutes"] * 60.0) for job, one in done.items())
    yield by_job("engramlog_job_every_seconds", "how often a job is due.", every)
    stopped: Mapping[str, str] = told.get("stopped") or {}
    halted = ((job, float(job in stopped)) for job in sorted(done.keys() | stopped.keys()))
    yield by_job(
        "engramlog_job_stopped", "whether a job stopped when it last ran, such as by a model that is down.", halted
    )


def _seconds(instant: str | None) -> float | None:
    return None if instant is None else datetime.fromisoformat(instant).timestamp()


def _of_aof(aof: AppendOnlyFile) -> Iterator[Metric]:
    yield _store("engramlog_aof_enabled", "whether Redis writes an append-only file.", float(aof.enabled))
    yield _store("engramlog_aof_bytes", "size of the append-only file.", aof.bytes)
    yield _store("engramlog_aof_base_bytes", "its size after the last rewrite.", aof.base_bytes)
    yield _store("engramlog_aof_write_ok", "whether the last write to it and its fsync succeeded.", float(aof.write_ok))
    yield _store("engramlog_aof_rewrite_ok", "whether its last rewrite succeeded.", float(aof.rewrite_ok))
    yield _store("engramlog_aof_rewriting", "whether it is being rewritten.", float(aof.rewriting))
    yield _store("engramlog_aof_rewrite_seconds", "what its last rewrite took.", aof.rewrite_seconds)
    delayed = "writes that waited for an fsync in the background since Redis started."
    yield _counter("engramlog_aof_delayed_fsyncs", delayed, aof.delayed_fsyncs)


def _of_disk(disk: DiskRoom | None, trouble: str | None) -> Iterator[Metric]:
    """The disk of the data folder, of a server of ours alone: that of a Redis of one's own is elsewhere."""
    told = None if disk is None and trouble is None else float(disk is not None)
    yield _store(
        "engramlog_disk_up", "whether the data folder's disk can be looked at; nothing of a Redis elsewhere.", told
    )
    yield _store("engramlog_disk_free_bytes", "free on the data folder's disk.", disk and disk.free)
    yield _store("engramlog_disk_bytes", "size of that disk.", disk and disk.total)
    wanted = "what should be free on it, so that the next rewrite has room."
    yield _store("engramlog_disk_wanted_bytes", wanted, disk and disk.wanted)


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
        registry = self.registry = CollectorRegistry()
        of_process(registry, "api")
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        histogram = partial(Histogram, registry=registry)
        told_of = "Time to answer a search, without HTTP."
        self.search_seconds = histogram("engramlog_search_seconds", told_of, buckets=SEARCH_BUCKETS)
        told_of = "Time in which the log took a request of events, by whichever face it came: until they are on disk."
        self.append_seconds = histogram("engramlog_append_seconds", told_of, buckets=APPEND_BUCKETS)
        told_of = "Events received at POST /v1/events, by the status of their receipt."
        self.append_events = counter("engramlog_append_events", told_of, ["status"])
        told_of = "How close memories that a search brought into a recorded block are to what the block was asked for, 0 to 1."
        self.closeness = histogram("engramlog_injected_closeness", told_of, buckets=CLOSENESSES)
        told_of = (
            "Requests answered, by method, route and status; route none: no route has the path, or nobody may ask."
        )
        self.requests = counter("engramlog_http_requests", told_of, ["method", "route", "status"])
        told_of, by = "From the head of a request to the head of its answer.", ["method", "route"]
        self.request_seconds = histogram("engramlog_http_request_seconds", told_of, by, buckets=REQUEST_BUCKETS)
        self.feed_clients = gauge("engramlog_feed_clients", "Change feeds being read.")
        told_of = "Change feeds that the server ended, by reason."
        self.feed_closed = counter("engramlog_feed_closed", told_of, ["reason"])
        self.console_sessions = gauge("engramlog_console_sessions", "Sessions of the console that are open.")
        told_of = "Codes of the console that opened nothing, by reason; limited: too many others did."
        self.console_codes_refused = counter("engramlog_console_codes_refused", told_of, ["reason"])
        told_of = "Questions answered 429 since their owner, or all together, had as many in hand as allowed; by class of work."
        self.refused = counter("engramlog_refused_questions", told_of, ["work"])
        told_of = "Requests refused before a route saw them, by reason; connections, files: no more could be open."
        self.refused_requests = counter("engramlog_refused_requests", told_of, ["reason"])
        told_of = "Requests answered 429 since a principal took more than a key may; by what there was too much of."
        self.limited = counter("engramlog_limited_requests", told_of, ["what"])
        for what in NAMES:
            self.limited.labels(what)  # told as 0 until the first
        self._lanes = gauge("engramlog_questions", "Questions in hand, by class of work.", ["work", "state"])
        registry.register(UsedCollector(told.caches))
        registry.register(StoreCollector(Scrape(told.store)))

    def watch_lanes(self, lanes: Iterable[Lane]) -> None:
        """Tell from now on how many questions run and wait in each of these."""
        for lane in lanes:
            self.refused.labels(lane.name)  # told as 0 until the first
            self._lanes.labels(lane.name, "running").set_function(partial(getattr, lane, "running"))
            self._lanes.labels(lane.name, "waiting").set_function(partial(getattr, lane, "waiting"))

    def text(self) -> bytes:
        """Everything in the Prometheus text format."""
        return generate_latest(self.registry)
