"""One embedded store opened in this process, and events told to it in the words of `tests.given.events`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from engramlog_server.api.application import Application
from engramlog_server.events.catalogue import MemoryDeleted
from engramlog_server.events.envelope import Prepared, canonical, new_event_id, prepare_body, utc_text
from engramlog_server.events.partitions import partition_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.memory.record import DAY
from tests.given.events import Told, at, made_ready, moment


def day(number: float) -> str:
    """The instant so many days after the start of every story, as people write it."""
    return utc_text(moment(number))


class Store:
    """An application and what tests ask of it; every test takes an owner of its own."""

    def __init__(self, application: Application) -> None:
        self.app = application
        self.reader, self.writer = application.reader, application.writer
        self.replayer, self.operator = application.replayer, application.operator
        self._owners = (f"owner-{number}" for number in count(1))

    @property
    def yesterday(self) -> float:
        """The day number of yesterday: for what must be fresh in the present."""
        return (self.app.log.now() - at(0)) / DAY - 1

    def owner(self) -> str:
        """An owner about whom nothing is known."""
        return next(self._owners)

    def tell(self, owner: str, *events: Told) -> str:
        """Append these events, have them folded, and give the position of the last one."""
        receipts = self.writer.append_all([self.prepared(owner, told) for told in events])
        self.writer.settle(receipts)
        told = {one.data.memory_id: at(one.day) for one in events if isinstance(one.data, MemoryDeleted)}
        self.app.views.deletions.add(owner, told, 0)  # as if a sweep had looked when it was told
        assert receipts[-1].position is not None
        return receipts[-1].position

    def prepared(self, owner: str, told: Told) -> Prepared:
        """One event, ready to append."""
        return made_ready(told, owner, self.app.log.now(), new_event_id())

    def poison(self, owner: str) -> str:
        """Append an event of a version that this release does not know, as a newer one would; gives its position."""
        event_id = new_event_id()
        document = {"event_id": event_id, "type": "MemoryCreated", "schema_version": 9, "owner": owner, "data": {}}
        receipts = self.app.log.append([prepare_body(event_id, "MemoryCreated", 9, owner, canonical(document))])
        self.writer.settle(receipts)
        assert receipts[0].position is not None
        return receipts[0].position

    def delete(self, owner: str, memory_id: str) -> dict[str, Any]:
        """What deleting one memory did; raises where nothing can change it."""
        answer = self.app.deleter.delete_many(owner, [memory_id])
        if answer.refusal is not None:
            raise answer.refusal
        return answer.as_effects()

    def restore(self, owner: str, memory_id: str) -> dict[str, Any]:
        """What restoring one memory did."""
        return self.app.restorer.restore(owner, memory_id)

    def head(self, owner: str) -> int:
        """How many events the owner's partition holds."""
        return self.app.log.head(partition_of(owner, self.app.log.partitions))

    def flushed(self) -> None:
        """Append and fold the accesses that searches left."""
        self.writer.settle(self.app.accesses.flush())

    def found(self, owner: str, query: str, **asked: Any) -> list[str]:
        """Ids of the memories found, best first; leaves no trace."""
        return [one["id"] for one in self.reader.search(owner, query, trace=False, **asked)["results"]]

    def listed(self, owner: str, mode: str = "normal", **asked: Any) -> set[str]:
        """Ids of the memories that a mode shows."""
        return {one["id"] for one in self.reader.list(owner, mode=mode, **asked)["memories"]}

    def withheld(self, owner: str, query: str, **asked: Any) -> dict[str, int]:
        """How many matches were withheld, by reason."""
        told = self.reader.search(owner, query, trace=False, **asked)["withheld"]
        return {one["reason"]: one["count"] for one in told}


@contextmanager
def embedded_store(folder: Path, **settings: Any) -> Iterator[Store]:
    """A store on an embedded Redis in this folder."""
    with open_application(Settings(data=folder, redis_url=None, **settings)) as application:
        yield Store(application)
