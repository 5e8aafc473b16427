"""The store's figures for Prometheus, read when it is scraped. Their help begins with "Store:": all processes tell the same.

What could not be read is missing, and counted in `engramlog_scrape_errors_total`; a store that does not answer is `engramlog_up 0`.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.http.metrics.scrape import Scrape
from api.services.auditing.supervision import AppendOnlyFile, DiskRoom, Kept
from events.alarms import KNOWN
from events.partitions import PASSING

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
        yield _gauge("engramlog_scrape_seconds", "What reading the store for this took.", found.seconds)
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
        "engramlog_store_info", f"{OF_STORE}1, with its id, its partitions and its Redis's version.",
        labels=["store", "partitions", "redis"],
    )  # fmt: skip
    redis = "unknown" if kept is None else kept.redis_version
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
    yield _store("engramlog_quarantined_owners", "owners whose fold stands still.", quarantined)
    yield _store("engramlog_inbox_waiting", "things that wait for a person.", inboxes["waiting"])
    yield _store("engramlog_inbox_full_owners", "owners of whom as much waits for a person as may.", inboxes["full"])
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
        "how long the oldest event that is not folded has waited; 0 where all is folded, nothing where the log does not tell.",
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
        locked = "owners whose fold stands still for want of their keys."
        yield _store("engramlog_locked_owners", locked, told["owners_locked"])


def _alarms(standing: list[dict[str, Any]]) -> Metric:
    """How many alarms stand, by name: those of the table are told as 0 too, so that a rule can look at them before they are."""
    told = GaugeMetricFamily("engramlog_alarms", f"{OF_STORE}alarms that stand.", labels=["name", "severity"])
    counts = Counts(alarm["name"] for alarm in standing)
    for name in sorted(KNOWN.keys() | counts.keys()):
        told.add_metric([name, KNOWN[name].severity if name in KNOWN else "warning"], counts[name])
    return told


def _accesses(told: Mapping[str, int]) -> Iterator[Metric]:
    """What this server recorded of what it showed, what waits, and what was lost; and what any process lost."""
    recorded, waiting, dropped = (told.get(name, 0) for name in ("recorded", "waiting", "dropped"))
    yield CounterMetricFamily("engramlog_accesses_recorded", "Accesses that this server appended.", value=recorded)
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
    yield _by("engramlog_lifecycle_jobs", "lifecycle jobs, by where they stand.", "state", jobs)
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
