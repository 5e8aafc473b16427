"""What decides today about the words of a page's events: the memories that they name, retracted turns, sources set aside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from engramlog_server.api.services.reading import Reader
from engramlog_server.api.work.patience import current_check, weigh
from engramlog_server.events.catalogue import MemoriesAccessed
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.events.errors import OwnerTooLarge
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.memory.deletion_view import forgotten_turns
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.sources import Asides
from engramlog_server.projections.memory.working_memory import Turn, set_aside_among
from engramlog_server.projections.redis.said import all_said
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.event_words import OwnerToday, event_of


class OwnersToday:
    """The same of each owner of a page, asked for once."""

    def __init__(self, views: RedisViews, reader: Reader, events: Iterable[Stored]) -> None:
        self._views, self._reader = views, reader
        self._named: defaultdict[str, set[str]] = defaultdict(set)
        for one in events:
            if (event := event_of(one)) is not None and not _is_silent(event):
                self._named[one.owner].update(names(event.data))
        self.of = cache(self._of)

    def _of(self, owner: str) -> OwnerToday:
        found = self._views.told_records(owner, self._named[owner])

        def get(memory_id: str) -> Memory | None:
            if memory_id not in self._named[owner]:  # what another was merged into
                self._named[owner].add(memory_id)
                found.update(self._views.told_records(owner, [memory_id]))
            return found.get(memory_id)

        asides = self._views.glance(owner)[0].state.asides
        forgotten, turns = (lambda: self._forgotten(owner)), (lambda: turns_aside(self._views, owner, asides))
        return OwnerToday(get, cache(forgotten), asides, cache(turns))

    def _forgotten(self, owner: str) -> frozenset[str] | None:
        try:
            with self._reader.snapshot(owner) as today:
                return forgotten_turns(today.view.columns)
        except OwnerTooLarge:
            return None


def _is_silent(event: AnyEvent) -> bool:
    """Whether it names memories, up to thousands, and holds no word of which they could decide."""
    data = event.data
    return isinstance(data, MemoriesAccessed) and not (data.query or any(one.query for one in data.accesses))


def turns_aside(views: RedisViews, owner: str, asides: Asides) -> frozenset[str]:
    """An owner's turns of sources that are set aside. Reads all that was said to the owner."""
    weigh(views.applied(partition_of(owner, views.partitions), [owner])[0])
    said = all_said(views, owner, current_check())
    return frozenset(one.turn_id for one in said if isinstance(one, Turn) and set_aside_among([one], asides))
