"""Interleaved rounds: A B A B ..., medians of the rounds' ratios. Seconds by themselves say more about the machine."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

Timed = Callable[[], float]
"""Prepares what it needs, then gives the seconds that the measured part took."""


class Target(NamedTuple):
    """What a ratio should be: `least` is required, `aim` is hoped for."""

    least: float | None = None
    aim: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Ours against a limit, over rounds of one run."""

    what: str
    limit: str
    unit: str
    """What is counted, such as events."""
    count: int
    """Units in one round."""
    rounds: tuple[tuple[float, float], ...]
    """(seconds of ours, seconds of the limit), round by round."""
    target: Target = Target()  # noqa: RUF009 - immutable

    @property
    def ratios(self) -> list[float]:
        """Our speed as a share of the limit's, round by round."""
        return [limit / ours for ours, limit in self.rounds]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: the median ratio, its spread, and both speeds."""
        ours, limit = (median(column) for column in zip(*self.rounds, strict=True))
        found = self.ratios
        return {
            "what": self.what,
            "limit": self.limit,
            "ratio": _figure(median(found)),
            "ratio_min": _figure(min(found)),
            "ratio_max": _figure(max(found)),
            "at_least": self.target.least,
            "aim": self.target.aim,
            "rounds": len(self.rounds),
            "unit": self.unit,
            "count": self.count,
            "ours_per_second": round(self.count / ours),
            "limit_per_second": round(self.count / limit),
            "microseconds_each": round(ours / self.count * 1e6, 2),
        }


def _figure(ratio: float) -> float:
    """Three significant digits: a small ratio is still one."""
    return float(f"{ratio:.3g}")


def interleave(rounds: int, ours: Timed, limit: Timed) -> tuple[tuple[float, float], ...]:
    """Both in turn, so many times; garbage of one is not collected at the other's cost."""
    found = []
    for _ in range(rounds):
        with quiet():
            mine = ours()
        with quiet():
            found.append((mine, limit()))
    return tuple(found)


@contextmanager
def quiet() -> Iterator[None]:
    """The benchmark's own data, which no worker or producer has, is kept from the garbage collector meanwhile."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def seconds(work: Callable[[], object]) -> float:
    """How long a call takes."""
    start = perf_counter()
    work()
    return perf_counter() - start
