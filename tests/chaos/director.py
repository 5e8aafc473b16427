"""The direction of a run: who works, who dies where and when. Drawn from the seed; the timing is the machine's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Generic, TypeVar

from tests.chaos.attendants import Stopwatch
from tests.chaos.cast import Actor, Server
from tests.chaos.fate import DIE, SLEEP
from tests.chaos.ledger import Ledger
from tests.patience import PATIENCE

WORKER = "tests.chaos.faulty_worker"
REBUILD = "tests.chaos.faulty_rebuild"
WORKER_POINTS = ("between prefetch and commit", "before a commit", "commit sent", "after a commit", "during a retry")
REBUILD_POINTS = ("before a commit", "after a commit", "before a switch", "after a switch")


BLOWS = (*["worker killed"] * 3, *["worker stopped"] * 2, *["server killed"] * 2, *["rebuild"] * 3)
LEAST_ACKNOWLEDGED = 1_100
"""So many events a run acknowledges at least, however slow the machine."""

T = TypeVar("T")


class Deck(Generic[T]):
    """Cards in a drawn order; each is drawn once before any comes again, so that a short run has some of all."""

    def __init__(self, cards: Sequence[T], rng: Random) -> None:
        self._cards = list(cards)
        self._rng = rng
        self._left: list[T] = []

    def draw(self) -> T:
        """The next card."""
        if not self._left:
            self._left = self._rng.sample(self._cards, len(self._cards))
        return self._left.pop()


@dataclass(frozen=True, slots=True)
class Plan:
    """A run: how long, how much, and the seed it is drawn from."""

    seed: int
    seconds: float
    partitions: int = 4
    owners: int = 24
    producers: int = 3
    workers: int = 3
    lease_ms: int = 1_000
    mutant: str = ""
    """One of `faulty_worker.SCRIPTS`; "" is the commit as it is."""


class Director:
    """Starts the workers, breaks things, starts them again. Everything happens in the thread that calls `act`."""

    def __init__(self, plan: Plan, server: Server, watch: Stopwatch, ledger: Ledger, folder: Path) -> None:
        self._plan = plan
        self._server = server
        self._watch = watch
        self._ledger = ledger
        self._folder = folder
        self._rng = rng = Random(f"{plan.seed}:director")
        self._blows = Deck(BLOWS, rng)
        self._fates = Deck([("", ""), ("", ""), *product(WORKER_POINTS, (DIE, SLEEP))], rng)
        self._rebuild_fates = Deck([("", ""), *product(REBUILD_POINTS, (DIE, SLEEP))], rng)
        self.workers: list[Actor] = []
        self._points: dict[Actor, str] = {}
        """Actor -> the named point of its fate."""
        self._wakes: dict[Actor, float] = {}
        """Sleeping actor -> when it is woken."""
        self._rebuild: Actor | None = None
        self.rebuilds = folder / "rebuilds.log"
        self.struck: Counter[str] = Counter()

    def act(self, until: float) -> None:
        """Break things until `until` (monotonic), and longer on a machine so slow that not everything was met by then."""
        next_blow = monotonic() + 1.5
        while monotonic() < until or (not self._met_all() and monotonic() < until + PATIENCE):
            self._keep_the_cast()
            if monotonic() >= next_blow:
                next_blow = monotonic() + self._rng.uniform(0.2, 1.2)
                self._blow()
            sleep(0.02)

    def _met_all(self) -> bool:
        kinds = {kind.partition(": ")[0] for kind in self.struck}
        switched = self.rebuilds.exists() and b'"build switched"' in self.rebuilds.read_bytes()
        acknowledged = sum(line.acknowledged for line in list(self._ledger.lines))
        wanted = {"worker killed", "worker stopped past its lease", "server killed"}
        named = any(not kind.endswith(": at random") for kind in self.struck)
        return switched and acknowledged >= LEAST_ACKNOWLEDGED and wanted <= kinds and named

    def logs(self) -> list[Path]:
        """What the cast wrote."""
        return sorted(self._folder.glob("*.log"))

    def settle(self) -> None:
        """Wake who sleeps (a stale commit may still come), end everybody, and let two sound workers finish."""
        for actor in self._everybody():
            actor.wake()
        sleep(0.5)
        for actor in self._everybody():
            actor.end(3.0)  # one may meet its fate only now, and sleep
        self.workers = [self._worker() for _ in range(2)]
        self._rebuild = None

    def close(self) -> None:
        """End everybody."""
        for actor in self._everybody():
            actor.kill()

    def _everybody(self) -> list[Actor]:
        return [*self.workers, *([self._rebuild] if self._rebuild else [])]

    def _count(self, kind: str) -> None:
        self.struck[kind] += 1
        self._watch.struck(kind)

    def _worker(self, *fate: str) -> Actor:
        arguments = ["--url", self._server.url, "--lease-ms", str(self._plan.lease_ms), "--mutant", self._plan.mutant]
        return Actor(WORKER, *arguments, *fate, log=self._folder / "workers.log")

    def _drawn_fate(self, deck: Deck[tuple[str, str]]) -> tuple[str, list[str]]:
        """A named point and the arguments that make an actor meet it; sometimes none."""
        point, fate = deck.draw()
        if not point:
            return "", []
        passes = 1 if point.startswith("during") or "switch" in point else self._rng.randint(1, 60)
        return point, ["--fate", fate, "--at", point, "--passes", str(passes)]

    def _keep_the_cast(self) -> None:
        """Replace the dead, deal with sleepers."""
        for actor in list(self.workers):
            if actor.code is not None:
                if not actor.killed:
                    self._count(f"worker killed: {self._points[actor]}")
                self.workers.remove(actor)
                self._wakes.pop(actor, None)
            elif actor.halted:
                self._tend_sleeper(actor)
        while len(self.workers) < self._plan.workers:
            point, fate = self._drawn_fate(self._fates)
            older = ["--older"] if self._rng.random() < 0.25 else []
            actor = self._worker(*fate, *older)
            self._points[actor] = point
            self.workers.append(actor)
        if self._rebuild is not None:
            self._tend_rebuild(self._rebuild)

    def _tend_sleeper(self, actor: Actor) -> None:
        """One that fell asleep at its named point: past its lease, or the server dies meanwhile, or it dies itself."""
        if actor not in self._wakes:
            point = self._points[actor]
            self._wakes[actor] = monotonic() + self._past_a_lease()
            chance = self._rng.random()
            if chance < 0.4:
                self._kill_server(point)
                self._wakes[actor] = monotonic() + self._rng.uniform(0.0, 0.2)
            elif chance < 0.6:
                actor.kill()
                self._count(f"worker killed: {point}")
            else:
                self._count(f"worker stopped past its lease: {point}")
        elif monotonic() >= self._wakes[actor]:
            actor.wake()
            del self._wakes[actor]

    def _past_a_lease(self) -> float:
        return self._plan.lease_ms / 1_000 * self._rng.uniform(1.3, 2.5)

    def _tend_rebuild(self, actor: Actor) -> None:
        if actor.halted:
            self._kill_server(self._points[actor])
            actor.wake()
        elif actor.code is not None:
            if actor.code < 0:
                self._count(f"rebuild killed: {self._points[actor]}")
            self._rebuild = None

    def _kill_server(self, when: str) -> None:
        self._count(f"server killed: {when}")
        self._server.kill()
        sleep(self._rng.uniform(0.0, 0.1))
        self._server.start()

    def _blow(self) -> None:
        """One fault at no named point, or a rebuild begins."""
        awake = [one for one in self.workers if one.code is None and one not in self._wakes and not one.halted]
        blow = self._blows.draw()
        if blow == "server killed":
            self._kill_server("at random")
        elif blow == "rebuild":
            self._begin_rebuild()
        elif awake:
            actor = self._rng.choice(awake)
            if blow == "worker killed":
                actor.kill()
                self._count("worker killed: at random")
            else:
                actor.stop()
                self._wakes[actor] = monotonic() + self._past_a_lease()
                self._count("worker stopped past its lease: at random")

    def _begin_rebuild(self) -> None:
        if self._rebuild is None:
            point, fate = self._drawn_fate(self._rebuild_fates)
            arguments = ["--url", self._server.url, "--lease-ms", str(self._plan.lease_ms)]
            self._rebuild = Actor(REBUILD, *arguments, *fate, log=self.rebuilds)
            self._points[self._rebuild] = point
