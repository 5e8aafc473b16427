"""Having positions folded before a question is answered: by the workers of a store, or by this process where none lives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from engramlog_server.api.work import current_check
from engramlog_server.consumers.fold.presence import LEASE_MS, live_workers
from engramlog_server.events.errors import NotYetFolded
from engramlog_server.events.partitions import PASSING, LogKeys
from engramlog_server.events.redis.durability import refuse_gap
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Wire, WirePool
from engramlog_server.ops.clock import Tell
from engramlog_server.ops.processes.life import new_worker_id
from engramlog_server.ops.store import OpenStore
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys, version_of
from engramlog_server.projections.redis.store import read_live_checkpoint

if TYPE_CHECKING:
    from engramlog_server.consumers.fold.worker import FoldWorker

STALLED_SECONDS = 30.0
"""How long a command waits while nothing at all is folded."""
GAP_SECONDS = 0.5
"""How long a command waits in vain before it looks whether this release can fold at all."""
LEFTOVER_SECONDS = LEASE_MS / 1_000 + 1.0
"""How long a command tries to fold what others left while nothing at all moves."""
SLICE_SECONDS = 0.25
"""How long it folds by itself before it looks again at what is reached and who else is there."""


class FoldCatchUp:
    """Waits until positions are folded: by the store's workers, or by itself where none lives. Safe for threads."""

    def __init__(self, store: OpenStore, tell: Tell) -> None:
        self._store = store
        self._tell = tell
        self._wires = WirePool(store.client)
        self._worker: FoldWorker | None = None
        self._folding = Lock()

    def __call__(self, until: Mapping[int, int]) -> None:
        """Returns when every partition named is folded up to its seq. Raises NotYetFolded where nothing moves any more.

        LogGap where that is because a log is not whole, DamagedState where a checkpoint is gone, NotYetFolded at once where this
        release folds other builds, and what the question in hand ends for.
        """
        check, goal = current_check(), sum(until.values())
        last, stalled_at, looked_at, pause = dict[int, int](), 0.0, 0.0, 0.001
        while True:
            with self._wires.wire() as wire:
                reached = self._checkpoints(wire, until)
                others = bool(lasting_workers(wire))
            missing = {partition: seq for partition, seq in until.items() if reached[partition] < seq}
            if others or not missing:
                self.close()  # nobody else should wait for leases that this process needs no more
            if not missing:
                return
            check(goal - sum(seq - reached[partition] for partition, seq in missing.items()), goal)
            if reached != last:
                last, stalled_at = reached, monotonic() + STALLED_SECONDS
                looked_at = monotonic() + GAP_SECONDS
            elif monotonic() > looked_at:
                looked_at = monotonic() + GAP_SECONDS
                self._refuse_what_cannot(missing)
            if monotonic() > stalled_at:
                raise NotYetFolded(
                    f"nothing was folded for {STALLED_SECONDS:g} s; see `engramlog status`", checkpoints=reached
                )
            if others:
                sleep(pause)
                pause = min(pause * 2, 0.05)
            else:
                self._fold(missing)

    def _refuse_what_cannot(self, partitions: Iterable[int]) -> None:
        with self._wires.wire() as wire:
            for partition in partitions:
                tag = self._store.identity.tags[partition]
                refuse_gap(wire, tag)
                live = (wire.call("HGET", LogKeys(tag).meta, "live") or FIRST_BUILD.encode()).decode()
                if version_of(live) != PROJECTION_VERSION:
                    raise NotYetFolded(
                        f"partition {partition} was folded by another release, as version {version_of(live)}, and this one folds"
                        f" version {PROJECTION_VERSION}: `engramlog rebuild` folds it again",
                        build=live,
                    )
                read_live_checkpoint(wire, BuildKeys(tag, live))

    def fold_leftovers(self, on_wait: Callable[[str], None] | None = None) -> None:
        """Fold what a process that died left in the log, on a server that is this process's own; as far as that goes.

        Leases and presence of the dead run out within `LEASE_MS`; whatever does not move for longer is left to operators.
        """
        heads = {partition: self._store.log.head(partition) for partition in range(self._store.identity.partitions)}
        last, stalled_at = dict[int, int](), 0.0
        while True:
            with self._wires.wire() as wire:
                reached = self._checkpoints(wire, heads)
            missing = {partition: seq for partition, seq in heads.items() if reached[partition] < seq}
            if reached != last:
                last, stalled_at = reached, monotonic() + LEFTOVER_SECONDS
            if not missing or monotonic() > stalled_at:
                self.close()
                return
            if on_wait is not None:
                on_wait(
                    f"folding {sum(missing.values()) - sum(reached[p] for p in missing):,} events left by another process"
                )
            self._fold(missing)

    def tend(self, partition: int) -> None:
        """Have what operators ask of a partition carried out at once, where no lasting worker does it."""
        with self._wires.wire() as wire:
            if lasting_workers(wire):
                return
        self.close()  # a new worker looks for requests first
        self._fold({partition: self._store.log.head(partition)})
        self.close()

    def _checkpoints(self, wire: Wire, until: Mapping[int, int]) -> dict[int, int]:
        tags, found = self._store.identity.tags, dict[int, int]()
        for partition in until:
            live = (wire.call("HGET", LogKeys(tags[partition]).meta, "live") or b"").decode()
            found[partition] = int(wire.call("HGET", BuildKeys(tags[partition], live).checkpoint, "seq") or 0)
        return found

    def _fold(self, until: Mapping[int, int]) -> None:
        with self._folding:
            if self._worker is None:
                from engramlog_server.consumers.fold.worker import FoldWorker  # noqa: PLC0415 - what is folded already needs none

                facts = {PASSING: True}
                tags = self._store.identity.tags
                self._worker = FoldWorker(
                    self._store.client, tags, new_worker_id(), tell=self._tell, facts=facts, alarms=self._store.alarms
                )
            self._worker.drain(until, SLICE_SECONDS)

    def close(self) -> None:
        """Hand over what this process folded."""
        with self._folding:
            worker, self._worker = self._worker, None
            if worker is not None:
                worker.hand_over()

    def end(self) -> None:
        """The same, and close its connections: it is not used any more."""
        self.close()
        self._wires.close()


def workers_of(wire: Wire) -> dict[str, dict[str, Any]]:
    """The fold workers that live now."""
    return live_workers(wire, redis_ms(wire), LEASE_MS)


def lasting_workers(wire: Wire) -> dict[str, dict[str, Any]]:
    """The fold workers that live now and stay: not those of a command that folds what it appended."""
    return {name: facts for name, facts in workers_of(wire).items() if not facts.get(PASSING)}
