"""What a process that stays lets go of, once an owner was erased by another: views, and keys that it had opened."""

from __future__ import annotations

from threading import Event as Flag
from threading import Thread
from typing import Final

from events.errors import StoreError
from events.redis.secrets import read_lines
from events.redis.wire import Wire
from events.sealing.seals import is_tombstone
from ops.store import OpenStore
from projections.redis.store import slices

LOOK_SECONDS: Final = 5.0
AT_ONCE = 1_000


class ErasedWatch:
    """Has a thread look, each few seconds, whether one of the owners of whom this process holds anything was erased."""

    def __init__(self, store: OpenStore, seconds: float = LOOK_SECONDS) -> None:
        self._store = store
        self._seconds = seconds
        self._over = Flag()
        self._thread: Thread | None = None

    def start(self) -> ErasedWatch:
        """Begin to look, in a store whose owners can be erased."""
        if self._store.client.seals.is_on:
            self._thread = Thread(target=self._run, name="erased owners", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """Look no more; waits until a look has ended."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def look(self) -> list[str]:
        """Let go of everything of owners who were erased; gives who they are. Raises StoreError."""
        store = self._store
        seals, tags = store.client.seals, store.identity.tags
        held, gone = {*store.views.held_owners(), *seals.held_owners()}, list[str]()
        if not held:
            return gone
        wire = Wire(store.client)
        try:
            for some in slices(sorted(held), AT_ONCE):
                gone += [owner for owner, line in read_lines(wire, tags, some).items() if is_tombstone(line)]
        finally:
            wire.close()
        for owner in gone:
            store.views.forget(owner)
            seals.forget(owner)
            store.log.forget(owner)
        return gone

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            try:
                self.look()
            except StoreError:
                continue  # the next look finds them; whoever asks meanwhile is refused
