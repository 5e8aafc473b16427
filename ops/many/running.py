"""Work on all owners of a store: in parts of some owners each, gone on with where a run was killed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from consumers.verify.scan import pairs
from events.door.of_the_store import SYSTEM_OWNERS
from events.partitions import LogKeys
from ops.many.journal import Journal, OwnersDone
from ops.processes.shares import OfOwners, PartitionDone, PartitionTask, Work, do_all, process_count
from projections.fold.builds import BuildKeys

if TYPE_CHECKING:
    from api.requests.whole import AnyAsked
    from events.redis.wire import Wire
    from ops.store import OpenStore
    from projections.reports.many.kinds import AnyFigures

OWNERS_A_PART = 50
"""Owners that are done in one go: as much is done again after a kill, by each process."""
Advance = Callable[[int, int], None]


class Executor(Protocol):
    """Does parts of a store's owners, here or elsewhere."""

    @property
    def told(self) -> dict[str, Any]:
        """By how many, and where: JSON-ready."""
        ...

    def do(self, work: Work, tasks: Iterable[PartitionTask]) -> Generator[PartitionDone, None, None]:
        """Each part as it is done, in any order, and once. Closed, it ends what is under way. Raises the first error."""
        ...


class Processes:
    """This process, or several of this machine."""

    def __init__(self, store: OpenStore, asked: int | None, of_owners: Callable[[], OfOwners]) -> None:
        """`asked`: how many somebody wants; as many as pay otherwise. `of_owners`: who does it where it is this one."""
        self._store, self._of_owners = store, of_owners
        self.count = process_count(asked, store.identity.partitions, _events(store))

    @property
    def told(self) -> dict[str, Any]:
        """By how many."""
        return {"processes": self.count, "dask": None}

    def do(self, work: Work, tasks: Iterable[PartitionTask]) -> Generator[PartitionDone, None, None]:
        """See `Executor`; raises what `do_all` raises."""
        store = self._store
        return do_all(work, store.client, store.told, tasks, self.count, _silent, _quiet, self._of_owners)


def all_owners(
    store: OpenStore,
    work: Work,
    asked: AnyAsked,
    total: AnyFigures,
    journal: Journal,
    executor: Executor,
    *,
    advance: Advance = lambda _done, _all: None,
) -> dict[str, Any]:
    """Add up what all owners give, beginning with `total`, of nobody; JSON-ready, with how it was done.

    Raises what the executor raises; what is done is kept.
    """
    began = monotonic()
    for one in journal.done:
        total.add(one.figures)
    before, many = total.owners, _owners(store)
    done = executor.do(work, _tasks(store, asked, journal))
    with closing(done) as parts:
        advance(total.owners, max(many, total.owners))
        for part in parts:
            assert part.figures is not None
            assert part.owners is not None
            journal.add(OwnersDone(part.partition, *part.owners, part.figures))
            total.add(part.figures)
            advance(total.owners, max(many, total.owners))
    return {
        **total.told(),
        "done_before": before,
        **executor.told,
        "seconds": round(monotonic() - began, 3),
    }


def _events(store: OpenStore) -> int:
    """How many events the log holds."""
    wire = store.wire()
    try:
        return sum(
            int(head or 0) for head in wire.answers([["HGET", LogKeys(t).meta, "head"] for t in store.identity.tags])
        )
    finally:
        wire.close()


def _owners(store: OpenStore) -> int:
    """How many owners there are, about: the system's own are among them."""
    wire = store.wire()
    try:
        return sum(wire.answers([["HLEN", BuildKeys(tag, _live(wire, tag)).owners] for tag in store.identity.tags]))
    finally:
        wire.close()


def _live(wire: Wire, tag: str) -> str:
    """The build of a partition that is read."""
    return (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode()


def _tasks(store: OpenStore, asked: AnyAsked, journal: Journal) -> Iterator[PartitionTask]:
    """What is left to be done, some owners at a time: the names of one partition are in memory at once."""
    for partition, tag in enumerate(store.identity.tags):
        for run in journal.left(partition, _names(store, tag)):
            for at in range(0, len(run), OWNERS_A_PART):
                yield PartitionTask(partition, tag, owners=list(run[at : at + OWNERS_A_PART]), asked=asked)


def _names(store: OpenStore, tag: str) -> list[str]:
    """The names of a partition's owners in order, but for those of the system's own.

    Of the build that is read now: a rebuild may have switched since another partition was looked at, and the old one goes.
    """
    wire = store.wire()
    try:
        found = {name.decode() for name, _ in pairs(wire, BuildKeys(tag, _live(wire, tag)).owners)}
    finally:
        wire.close()
    return sorted(found - SYSTEM_OWNERS)


def _silent(_partition: int, _at: int, _of: int) -> None:
    """Parts are small: how many owners are done is told."""


def _quiet(_told: str) -> None:
    """Nobody is waited for."""
