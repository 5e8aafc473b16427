"""The simulation held against real runs: `python -P -m tests.simulated [idle|flowing|worker|primary ...]`. Prints a table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from tests.simulated.scenes import Rows, flowing, idle, on_many, on_one, primary_killed, worker_killed

Row = tuple[str, str, float, float]


def _idle(seconds: float) -> Iterator[tuple[str, Rows, Rows]]:
    for partitions, workers in ((16, 1), (256, 3), (1_024, 1), (1_024, 3), (1_024, 8)):
        with on_one(partitions, workers) as place:
            yield f"one Redis, {partitions} partitions, {workers} idle", *idle(place, seconds)
    with on_many(256, 3, replicas=0) as place:
        yield "three nodes, 256 partitions, 3 idle", *idle(place, seconds)


def _flowing(seconds: float) -> Iterator[tuple[str, Rows, Rows]]:
    for partitions, workers, rate in ((16, 1, 300.0), (16, 3, 300.0), (16, 3, 1_000.0), (256, 1, 300.0)):
        with on_one(partitions, workers) as place:
            yield f"one Redis, {partitions} partitions, {workers} workers", *flowing(place, rate, seconds)
    with on_many(48, 3, replicas=0) as place:
        yield "three nodes, 48 partitions, 3 workers", *flowing(place, 300.0, seconds)


def _worker(seconds: float) -> Iterator[tuple[str, Rows, Rows]]:
    with on_one(16, 3) as place:
        yield "one Redis, 16 partitions, 3 workers, one killed", *worker_killed(place, 200.0, seconds)


def _primary(seconds: float) -> Iterator[tuple[str, Rows, Rows]]:
    with on_many(16, 3, replicas=1) as place:
        yield "3 + 3 nodes, 16 partitions, 3 workers, a primary killed", *primary_killed(place, 200.0, seconds)


SCENES: dict[str, Callable[[float], Iterator[tuple[str, Rows, Rows]]]] = {
    "idle": _idle,
    "flowing": _flowing,
    "worker": _worker,
    "primary": _primary,
}


def rows(names: Sequence[str], seconds: float) -> Iterator[Row]:
    """Scene, what, real, simulated."""
    for scene, real, simulated in chain.from_iterable(SCENES[name](seconds) for name in names):
        yield from ((scene, what, value, simulated[what]) for what, value in real.items())


def main() -> int:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -P -m tests.simulated", description=__doc__)
    parser.add_argument("scenes", nargs="*", choices=[*SCENES, []], default=[], help="all unless told")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long each is looked at")
    options = parser.parse_args()
    print("| scene | | real | simulated | deviation |\n| --- | --- | --- | --- | --- |")
    for scene, what, real, simulated in rows(options.scenes or list(SCENES), options.seconds):
        off = f"{simulated / real - 1:+.0%}" if real else ""
        print(f"| {scene} | {what} | {real:.3g} | {simulated:.3g} | {off} |", flush=True)
    load = Path("/proc/loadavg").read_text().split()[0]
    print(f"\nload at the end: {load}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
