"""The metrics of a fold worker: its figures (`consumers.fold.figures`), under the names that Prometheus is told."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from engramlog_server.api.http.metrics import of_process
from engramlog_server.consumers.fold.figures import FoldFigures


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
            "engramlog_fold_figures", "What folded events did, each event once a figure.", labels=["figure"]
        )
        for figure, count in told.tally.counts.items():
            counted.add_metric([figure], count)
        yield counted
