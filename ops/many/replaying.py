"""Replaying all owners of a store: in parts of some owners each, by one process or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from consumers.verify.scan import pairs
from events.door.of_the_store import SYSTEM_OWNERS
from events.partitions import LogKeys
from ops.many.journal import Journal, OwnersDone
from ops.processes.shares import PartitionTask, do_all, process_count
from projections.fold.builds import BuildKeys
from projections.reports.many.moved import MODE, OrderMoved, StoreMoved

if TYPE_CHECKING:
    from api.application import Application
    from api.requests.whole import WholeAsked
    from api.services.auditing.replaying_all import StoreReplayer
    from events.redis.wire import Wire
    from ops.settings import Settings
    from ops.store import OpenStore

OWNERS_A_PART = 50
"""Owners that are done in one go: as much is done again after a kill, by each process."""
Advance = Callable[[int, int], None]


@contextmanager
def replayer_of(settings: Settings) -> Iterator[StoreReplayer]:
    """Who replays owners of the store of these settings."""
    from ops.wiring import open_application  # noqa: PLC0415 - a process that verifies joins no application

    with open_application(settings) as application:
        yield replayer_on(application)


def replayer_on(application: Application) -> StoreReplayer:
    """Who replays owners, on an application that is open."""
    from api.services.auditing.replaying_all import StoreReplayer  # noqa: PLC0415 - as above

    views = application.views
    return StoreReplayer(application.reader, application.replayer.refolder, application.log.partitions, views.passing)


def replay_all(
    store: OpenStore,
    replayer: StoreReplayer,
    asked: WholeAsked,
    journal: Journal,
    *,
    processes: int | None = None,
    advance: Advance = lambda _done, _all: None,
) -> dict[str, Any]:
    """How the reading of the whole store would change; JSON-ready. Raises what `do_all` raises; what is done is kept."""
    began, total = monotonic(), StoreMoved(questions={text: OrderMoved() for text in asked.queries})
    for one in journal.done:
        total.add(one.moved)
    before = total.owners
    events, many = _size(store)
    count = process_count(processes, store.identity.partitions, events)
    tasks = _tasks(store, asked, journal)
    done = do_all("replay", store.client, store.told, tasks, count, _silent, _quiet, lambda: replayer)
    with closing(done) as parts:
        advance(total.owners, max(many, total.owners))
        for part in parts:
            assert part.moved is not None
            assert part.owners is not None
            journal.add(OwnersDone(part.partition, *part.owners, part.moved))
            total.add(part.moved)
            advance(total.owners, max(many, total.owners))
    return {
        "set": asked.parameters,
        "profile": asked.profile,
        "strikes": asked.strikes,
        "alone": asked.alone,
        "mode": MODE,
        "limit": asked.limit,
        "as_of": asked.as_of,
        "known": asked.known,
        "at": asked.at,
        **msgspec.to_builtins(total),
        "done_before": before,
        "processes": count,
        "seconds": round(monotonic() - began, 3),
    }


def _size(store: OpenStore) -> tuple[int, int]:
    """How many events the log holds, and how many owners there are, about: the system's own are among them."""
    wire, tags = store.wire(), store.identity.tags
    try:
        heads = wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in tags])
        owners = wire.answers([["HLEN", BuildKeys(tag, _live(wire, tag)).owners] for tag in tags])
    finally:
        wire.close()
    return sum(int(head or 0) for head in heads), sum(owners)


def _live(wire: Wire, tag: str) -> str:
    """The build of a partition that is read."""
    return (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode()


def _tasks(store: OpenStore, asked: WholeAsked, journal: Journal) -> Iterator[PartitionTask]:
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
