"""`engramlog bench scale`: what an event costs by the size of the store, the number of primaries and that of fold workers."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median
from threading import current_thread, main_thread
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ops.bench.scale import again, idle
from ops.bench.scale.flat import compared
from ops.bench.scale.growing import PARTITIONS, SLICES, Grown, grow
from ops.bench.scale.servers import ONE, THREE, WITH_REPLICAS, Nodes, ServerLayout, servers
from ops.bench.scale.sharing import Folded, evenness, fold_again
from ops.bench.scale.sizes import KINDS, measure_sizes
from ops.bench.scale.traffic import LOT, SKEW, Traffic, owners_of
from ops.bench.texts.sets import SETS

Rows = list[dict[str, Any]]
ROUNDS_UP_TO = 200_000
"""Stores of more events are filled once, and their slices stand for rounds."""
COSTS = ("append_us", "redis_us", "replicas_us", "fold_us", "aof_bytes", "redis_bytes")
_LAST = 3
"""Slices at the end of a large store that are compared."""


class ScaleAsked(NamedTuple):
    """What is measured."""

    scales: Sequence[int]
    """Events of a store, the fewest first."""
    workers: Sequence[int]
    partitions: Sequence[int]
    """Of the stores that an idle worker holds."""
    idle_seconds: float
    by_text: int
    """Events of each set of texts."""
    sets: Sequence[str] = tuple(SETS)
    rounds: int = 5
    texts: str = "talk"
    redis_server: str | None = None


USUAL = ScaleAsked((100_000, 1_000_000), (1, 2, 3), (16, 64, 256, 1_024), 5.0, 5_000)
SMALL = ScaleAsked((600,), (1, 2), (16,), 0.3, 200, ("talk",), rounds=1)
"""To see that it runs."""


class StoreKind(NamedTuple):
    """A layout, with a store that lies open or is sealed, and of whom one hears."""

    layout: ServerLayout
    sealed: bool = False
    at_once: int | None = None
    """Owners who speak at a time, and then others do; None: all, at any time."""

    def told(self, events: int) -> dict[str, Any]:
        """What a row begins with."""
        at_once = self.at_once or owners_of(events)
        return {"layout": self.layout.name, "sealed": self.sealed, "events": events, "owners_at_once": at_once}


KINDS_IN_ROUNDS = (StoreKind(ONE), StoreKind(THREE), StoreKind(WITH_REPLICAS), StoreKind(ONE, sealed=True))
KINDS_ONCE = (StoreKind(ONE), StoreKind(THREE))


def in_turn(plan: ScaleAsked, events: int) -> Sequence[StoreKind]:
    """One Redis with as many owners at a time as the smallest store has in all, where a store has more."""
    at_once = owners_of(min(plan.scales))
    return [StoreKind(ONE, at_once=at_once)] if at_once < owners_of(events) else []


def kinds_of(plan: ScaleAsked, events: int) -> Sequence[StoreKind]:
    """Every kind of store that is filled with so many events."""
    return [*(KINDS_IN_ROUNDS if events <= ROUNDS_UP_TO else KINDS_ONCE), *in_turn(plan, events)]


class Scale:
    """One run; keeps what it found."""

    def __init__(self, plan: ScaleAsked, say: Callable[[str], None], advance: Callable[[int], None]) -> None:
        self._plan, self._say, self._advance = plan, say, advance
        self.grown: dict[tuple[int, StoreKind], list[Grown]] = {}
        self.folded: dict[tuple[int, StoreKind, int], list[Folded]] = {}
        self.sizes: Rows = []
        self.again: Rows = []
        self.version = ""

    def at(self, events: int) -> None:
        """A store of so many events, in rounds where it is small; every kind of it in turn."""
        kinds = kinds_of(self._plan, events)
        if events <= ROUNDS_UP_TO:
            with ExitStack() as stack:
                open_ = {kind: stack.enter_context(self._servers(kind)) for kind in kinds}
                for number in range(self._plan.rounds):
                    for kind, nodes in open_.items():
                        self._round(kind, nodes, events, number, is_last=number == self._plan.rounds - 1)
        else:
            for kind in kinds:
                with self._servers(kind) as nodes:
                    self._round(kind, nodes, events, 0, is_last=True)

    @contextmanager
    def _servers(self, kind: StoreKind) -> Iterator[Nodes]:
        with servers(kind.layout, self._plan.redis_server) as nodes:
            yield nodes

    def _round(self, kind: StoreKind, nodes: Nodes, events: int, number: int, *, is_last: bool) -> None:
        self.version = nodes.version
        told = f"{events:,} events, {kind.layout.name}{', sealed' if kind.sealed else ''}"
        self._say(f"{told}: growing")
        traffic = Traffic(owners_of(events), self._plan.texts, seed=number, ids=f"m{number}-", at_once=kind.at_once)
        slices = SLICES if events > ROUNDS_UP_TO else 1
        found = grow(nodes, traffic, events, sealed=kind.sealed, slices=slices, advance=self._advance)
        self.grown.setdefault((events, kind), []).append(found)
        if kind.at_once is not None:
            return
        if is_last:
            self._say(f"{told}: weighing")
            self.sizes.append(kind.told(events) | _sizes(nodes, events, traffic.owners))
        if kind in KINDS_ONCE:
            for workers in self._plan.workers:
                self._say(f"{told}: folding again, {workers} workers")
                again_ = fold_again(nodes, events, workers, sealed=kind.sealed)
                self.folded.setdefault((events, kind, workers), []).append(again_)
                self._advance(events)
        if is_last and kind.layout is ONE:
            self._say(f"{told}: reading again")
            self.again.append(kind.told(events) | _again(nodes, events, sealed=kind.sealed))

    def flat(self) -> Rows:
        """Every comparison: by size, within the largest store, by workers, by primaries."""
        small, large = min(self._plan.scales), max(self._plan.scales)
        rows: Rows = []
        for kind in (*KINDS_ONCE, *in_turn(self._plan, large)):
            before, after = self.grown[small, kind._replace(at_once=None)], self.grown[large, kind]
            few = "" if kind.at_once is None else f", {kind.at_once:,} owners at a time"
            if large > small:
                told = f"{large:,} events for {small:,}{few}, {kind.layout.name}"
                rows += [compared(cost, told, _costs(before, cost), _costs(after, cost)) for cost in _compared(kind)]
            slices = [one for grown in after for one in grown.slices]
            if len(slices) >= 2 * _LAST:
                told = f"the last {_LAST} of {len(slices)} parts of {large:,} events for the first {_LAST}{few}, {kind.layout.name}"
                first, last = slices[:_LAST], slices[-_LAST:]
                rows += [
                    compared(cost, told, [getattr(one, cost) for one in first], [getattr(one, cost) for one in last])
                    for cost in _compared(kind)
                ]
        for events in self._plan.scales:
            rows += self._by_primaries(events)
            rows += self._by_workers(events)
        return rows

    def _by_primaries(self, events: int) -> Rows:
        told = {
            THREE: f"three primaries for one, {events:,} events",
            WITH_REPLICAS: f"a replica each for none, {events:,} events",
        }
        base = {THREE: StoreKind(ONE), WITH_REPLICAS: StoreKind(THREE)}
        return [
            compared(cost, of, _costs(self.grown[events, base[layout]], cost), _costs(found, cost))
            for layout, of in told.items()
            if (found := self.grown.get((events, StoreKind(layout))))
            for cost in ("append_us", "redis_us", "fold_us", "redis_bytes")
        ]

    def _by_workers(self, events: int) -> Rows:
        least, most = min(self._plan.workers), max(self._plan.workers)
        return [
            compared(
                cost,
                f"{most} workers for {least}, {events:,} events folded at once, {kind.layout.name}",
                [getattr(one, cost) for one in self.folded[events, kind, least]],
                [getattr(one, cost) for one in self.folded[events, kind, most]],
            )
            for kind in KINDS_ONCE
            if most > least and (events, kind, most) in self.folded
            for cost in ("fold_us", "redis_us")
        ]


def _compared(kind: StoreKind) -> Sequence[str]:
    return [cost for cost in COSTS if cost != "replicas_us" or kind.layout.replicas]


def _costs(found: Sequence[Grown], cost: str) -> list[float]:
    return [one.each(cost) for one in found]


def _sizes(nodes: Nodes, events: int, owners: int) -> dict[str, Any]:
    found = measure_sizes(nodes, events)
    each = {f"{kind}_bytes": round(found.kinds[kind] / events, 1) for kind in KINDS}
    return {
        **each,
        "rest_bytes": round(found.rest / events, 1),
        "keys": found.keys,
        "owners": owners,
        "memories": found.memories,
        "owner_bytes": round(found.kinds["owners"] / owners),
        "memory_bytes": round(found.kinds["records"] / max(found.memories, 1)),
        "largest_stream": found.largest_stream,
        "resident_to_used": round(found.resident / found.used, 3),
    }


def _again(nodes: Nodes, events: int, *, sealed: bool) -> dict[str, Any]:
    (node,) = nodes.primaries
    proved = again.prove(nodes, sealed=sealed)
    first = again.restart(node)
    written = again.rewrite(node)
    second = again.restart(node)
    return {
        "rebuild_us": round(proved.rebuild_us, 2),
        "verify_us": round(proved.verify_us, 2),
        "file_bytes": first.file,
        "ready_seconds": round(first.seconds, 2),
        "ready_cpu": round(first.cpu, 2),
        "ready_us": round(first.cpu / events * 1e6, 2),
        "rewritten_bytes": written.after,
        "rewritten_ready_seconds": round(second.seconds, 2),
        "rewritten_ready_us": round(second.cpu / events * 1e6, 2),
        "fork_us": written.fork_us,
        "copied_bytes": written.copied,
    }


@contextmanager
def _cleared_at_sigterm() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does: what servers kept goes, which may be gigabytes."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def measure(plan: ScaleAsked, console: Console) -> dict[str, Any]:
    """All of it, with a bar where somebody looks. Raises EmbeddedRedisError."""
    with _cleared_at_sigterm():
        return _measured(plan, console)


def _measured(plan: ScaleAsked, console: Console) -> dict[str, Any]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("bench scale", total=_events(plan))
        run = Scale(plan, lambda told: bar.update(task, description=told), lambda more: bar.update(task, advance=more))
        for events in plan.scales:
            run.at(events)
        texts = _by_text(plan)
        bar.update(task, description="idle workers, and workers that go")
        idles, stands = _beside(plan)
    return {
        "redis": run.version,
        "traffic": {
            "texts": plan.texts, "skew": SKEW, "at_a_time": LOT, "partitions": PARTITIONS,
            "largest_owner": {str(one): round(Traffic(owners_of(one), plan.texts).largest, 3) for one in plan.scales},
        },
        "growth": [
            kind.told(events) | _grown(found) for (events, kind), found in run.grown.items()
        ],
        "slices": [
            kind.told(events) | {name: round(value, 2) for name, value in one._asdict().items() if name != "events"}
            for (events, kind), found in run.grown.items()
            if len(found[0].slices) > 1
            for one in found[0].slices
        ],
        "workers": [
            kind.told(events) | _folded(workers, found) for (events, kind, workers), found in run.folded.items()
        ],
        "sizes": run.sizes,
        "texts": texts,
        "again": run.again,
        "idle": idles,
        "standstill": stands,
        "flat": run.flat(),
    }  # fmt: skip


def _beside(plan: ScaleAsked) -> tuple[Rows, dict[str, Any]]:
    found = list[idle.Idle]()
    stands = idle.FoldStandstill([], [])
    for layout in (ONE, THREE):
        with servers(layout, plan.redis_server) as nodes:
            found += [idle.idle(nodes, partitions, plan.idle_seconds) for partitions in plan.partitions]
            if layout is ONE:
                stands = idle.standstill(nodes, plan.texts, plan.rounds)
    told = {name: [round(one, 2) for one in sorted(seconds)] for name, seconds in stands._asdict().items()}
    return idle.as_rows(found), told


def _by_text(plan: ScaleAsked) -> Rows:
    """What an event takes by what people say, in stores that lie open and in sealed ones."""
    rows: Rows = []
    for kind in (StoreKind(ONE), StoreKind(ONE, sealed=True)):
        with servers(kind.layout, plan.redis_server) as nodes:
            for texts in plan.sets:
                traffic = Traffic(owners_of(plan.by_text), texts)
                found = grow(nodes, traffic, plan.by_text, sealed=kind.sealed, slices=1)
                told = kind.told(plan.by_text) | {"texts": texts, "body_bytes": round(found.body, 1)}
                costs = {cost: round(found.each(cost), 2) for cost in COSTS}
                rows.append(told | costs | _sizes(nodes, plan.by_text, traffic.owners))
    return rows


def _events(plan: ScaleAsked) -> int:
    """Events that will have been appended or folded again at the end."""
    total = 0
    for events in plan.scales:
        rounds, kinds = plan.rounds if events <= ROUNDS_UP_TO else 1, kinds_of(plan, events)
        again_ = sum(len(plan.workers) for kind in kinds if kind in KINDS_ONCE)
        total += rounds * events * (len(kinds) + again_)
    return total


def _grown(found: Sequence[Grown]) -> dict[str, Any]:
    each = {cost: round(median(_costs(found, cost)), 2) for cost in (*COSTS, "clock_us")}
    spans = {cost: [round(one(_costs(found, cost)), 2) for one in (min, max)] for cost in ("redis_us", "fold_us")}
    most = max(one.worker_bytes for grown in found for one in grown.slices)
    return {
        "rounds": len(found),
        **each,
        "redis_us_span": spans["redis_us"],
        "fold_us_span": spans["fold_us"],
        "body_bytes": round(found[0].body, 1),
        "worker_bytes": most,
    }


def _folded(workers: int, found: Sequence[Folded]) -> dict[str, Any]:
    fold = [one.fold_us for one in found]
    return {
        "workers": workers,
        "rounds": len(found),
        "fold_us": round(median(fold), 2),
        "fold_us_span": [round(min(fold), 2), round(max(fold), 2)],
        "redis_us": round(median(one.redis_us for one in found), 2),
        "partitions": list(found[-1].partitions),
        "largest_share": round(median(evenness(one.shares) for one in found), 3),
    }
