"""What every process tells of itself: which build it is, and how much of the machine it takes."""

from __future__ import annotations

import platform

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector

from api.version import program_version


def of_process(registry: CollectorRegistry, component: str) -> None:
    """Have a registry tell `engramlog_build_info` and `process_*` of this process. `component`: as its log lines have it."""
    from projections.fold.owner import PROJECTION_VERSION

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
