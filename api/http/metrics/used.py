"""How often this process found in memory what it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector


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
            "What was asked of a cache: an owner's view (memory, file, loaded) or a question's vectors (memory, computed).",
            labels=["cache", "found"],
        )
        for (cache, found), count in self._caches().items():
            asked.add_metric([cache, found], count)
        yield asked
