"""Links for new memories, soon after they are written, as the daily job would make them.

The caller keeps the seq up to which a partition was folded at the last run; it only saves time. Memories that are revised or
restored later, and those that a run leaves out, wait for the daily job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
from engramlog_server.consumers.jobs.owner_texts import live_build
from engramlog_server.events.redis.scan import pairs
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.lifecycle import Decision
from engramlog_server.projections.lifecycle.joining import links_of
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.sealed import cipher_of
from engramlog_server.projections.redis.store import read_owner, read_record
from engramlog_server.projections.views.view import OwnerView

LINK = "link"
MANY = 200
"""With more new memories of one owner, all are compared at once as by the daily job, which is less work."""
PAGE = 500
MOST_PAGES = 5
"""Pages of changed memories that are searched for new ones; an owner with more counts as having many."""


class NewMemories(NamedTuple):
    """An owner's new memories."""

    owner: str
    ids: tuple[str, ...]
    many: bool
    """Whether there are more than `MANY`; `ids` is empty then."""


class LinkingJob:
    """Links new memories of one store."""

    def __init__(self, wire: Wire, tags: Sequence[str], lifecycle: LifecycleJobs) -> None:
        self._wire = wire
        self._tags = tags
        self._lifecycle = lifecycle

    def new(self, partition: int, since: int) -> Iterator[NewMemories]:
        """The owners of a partition with new memories after a seq, by name. Raises StoreError, DamagedState."""
        keys = live_build(self._wire, self._tags[partition])
        for owner in owners_since(self._wire, keys, since):
            found = self._new_of(keys, owner, since)
            if found.many or found.ids:
                yield found

    def _new_of(self, keys: BuildKeys, owner: str, since: int) -> NewMemories:
        """New memories among those that changed last, searched until one changed before `since`."""
        ids, cipher = list[str](), cipher_of(self._wire, keys, owner)
        for page in range(MOST_PAGES):
            names = self._wire.call("ZREVRANGE", keys.changes(owner), page * PAGE, (page + 1) * PAGE - 1)
            raws = self._wire.call("HMGET", keys.records(owner), *names) if names else []
            changed = [
                memory
                for name, raw in zip(names, raws, strict=True)
                if raw and (memory := read_record(keys, owner, name.decode(), raw, cipher)).changed_seq > since
            ]
            ids += [memory.id for memory in changed if memory.created_seq > since]
            if len(ids) > MANY:
                return NewMemories(owner, (), True)
            if len(names) < PAGE or not changed:
                return NewMemories(owner, tuple(ids), False)
        return NewMemories(owner, (), True)

    def link(self, new: NewMemories, go_on: Callable[..., None]) -> int:
        """Link new memories; returns the number of appended links. Raises as `LifecycleJobs.carry_out`."""
        if new.many:
            return self._lifecycle.carry_out(new.owner, (LINK,), on_progress=go_on, check=go_on).appended
        planner = partial(_planned, ids=new.ids, go_on=go_on)
        return self._lifecycle.carry_out_plan(new.owner, planner, on_progress=go_on, check=go_on).appended


def owners_since(wire: Wire, keys: BuildKeys, since: int) -> list[str]:
    """The owners of a partition with events after a seq, by name. Raises StoreError, DamagedState."""
    owners = ((name.decode(), raw) for name, raw in pairs(wire, keys.owners))
    return sorted({owner for owner, raw in owners if read_owner(keys, owner, raw).seq > since})


def folded_to(wire: Wire, tag: str) -> int:
    """The seq up to which a partition is folded."""
    return int(wire.call("HGET", live_build(wire, tag).checkpoint, "seq") or 0)


def _planned(view: OwnerView, now: int, *, ids: Sequence[str], go_on: Callable[..., None]) -> list[Decision]:
    return links_of(view, ids, now, go_on)
