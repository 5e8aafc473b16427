"""A process that stays lets go of what another erased: views, keys that it had opened, words in its caches.

An erasure is seen by two things that lie in Redis: the head of `:erasures`, and the live build of a partition, which an erasure
folds again. Processes that `up` can replace are replaced; it itself empties its caches and gives free memory back to the system.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Final

from engramlog_server.events.errors import StoreError
from engramlog_server.events.keys import is_tombstone
from engramlog_server.events.partitions import ERASURES, LogKeys, partition_of
from engramlog_server.events.redis.secrets import read_lines
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.clock import Every
from engramlog_server.ops.erasure.fence_list import ALARM, FenceList
from engramlog_server.ops.processes.life import give_back
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.projections.language.text import empty_caches
from engramlog_server.projections.redis.store import slices

LOOK_SECONDS: Final = 5.0
AT_ONCE = 1_000
_STEP, _SMALL = 16, 512
"""Sizes of Python's own small blocks."""
_HEAD = 33
"""Bytes that a bytes object takes besides what is in it."""
_FILL = 4 << 20
"""Bytes that are overwritten of each size."""


class ErasedWatch:
    """Looks whether something was erased of which this process may hold words."""

    def __init__(self, store: OpenStore, settings: Settings, on_erased: Callable[[], object] = lambda: None) -> None:
        """`on_erased`: called when a partition was folded without the words, rather once too often."""
        self._store, self._on_erased = store, on_erased
        self._list = FenceList.of(settings, store.identity.store_id)
        self._listed: bytes | None = None
        """The head of `:erasures` up to which this host's list is complete."""
        self._erasures: bytes | None = None
        self._builds: list[bytes | None] | None = None

    def every(self) -> Every:
        """Look every few seconds. To be started."""

        def check() -> None:
            with suppress(StoreError):  # the next look finds them; questions about them are refused meanwhile
                self.look()

        return Every(LOOK_SECONDS, check, "erased", at_once=True)

    def look(self) -> None:
        """Let go of what was erased since the last look, and complete this host's list. Raises StoreError."""
        forget_erased(self._store)
        tags = self._store.identity.tags
        with closing(open_wire(self._store.client)) as wire:
            heads = LogKeys(tags[partition_of(ERASURES, len(tags))]).heads
            erasures, *builds = wire.answers(
                [["HGET", heads, ERASURES], *(["HGET", LogKeys(tag).meta, "live"] for tag in tags)]
            )
        self._let_go(erasures, builds)
        if erasures != self._listed:
            self._list.share(self._store.client.seals.keys)
            self._listed = erasures

    def _let_go(self, erasures: bytes | None, builds: list[bytes | None]) -> None:
        tags = self._store.identity.tags
        before, self._builds = self._builds, builds
        if before is None or before == builds:
            return
        anew = {number for number, build in enumerate(builds) if build != before[number]}
        for owner in self._store.views.held_owners():
            if partition_of(owner, len(tags)) in anew:
                self._store.views.forget(owner)
        # One that began before this process, or was gone on with, says nothing new: its alarm stands until it ends.
        if erasures != self._erasures or any(one.name == ALARM for one in self._store.alarms.standing()):
            self._erasures = erasures
            clean_memory()
            self._on_erased()


def forget_erased(store: OpenStore) -> list[str]:
    """Let go of everything of owners who were erased; returns them. Raises StoreError."""
    seals, tags = store.client.seals, store.identity.tags
    held, gone = {*store.views.held_owners(), *seals.held_owners()}, list[str]()
    if not held:
        return gone
    with closing(open_wire(store.client)) as wire:
        for some in slices(sorted(held), AT_ONCE):
            gone += [owner for owner, line in read_lines(wire, tags, some).items() if is_tombstone(line)]
    for owner in gone:
        store.views.forget(owner)
        seals.forget(owner)
        store.log.forget(owner)
    return gone


def clean_memory() -> None:
    """Empty caches that may hold words, overwrite Python's free small blocks, and give free memory back to the system: tenths of a
    second. Larger blocks were overwritten when they were freed (`overwrite_freed_memory`)."""
    empty_caches()
    gc.collect()
    for size in range(3 * _STEP, _SMALL + 1, _STEP):
        _overwrite(size)
    give_back()


def _overwrite(size: int) -> None:
    """Fill free blocks of a size with zeros: an allocator hands out what was freed before it asks for new memory."""
    held = [bytes(size - _HEAD) for _ in range(_FILL // size)]
    held.clear()
