"""A store that was restored and is nobody's yet: no job decides anything on it until somebody takes it over."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from events.errors import StoreError
from ops.store import OpenStore
from projections.redis.restored import still_stands

LOOK_SECONDS = 1.0


class CopyWatch:
    """Looks whether a restored store was taken over meanwhile."""

    def __init__(self, store: OpenStore, begin: Callable[[], None]) -> None:
        """`begin`: what waits until then; it is called at once where the store is no such copy."""
        self._store, self._begin = store, begin
        restored = store.identity.restored
        self.stands = restored is not None and restored.stands
        """Whether it is nobody's yet, as it was last seen."""
        self._next = monotonic() + LOOK_SECONDS
        if not self.stands:
            begin()

    def tend(self) -> None:
        """Look, when it is time."""
        if not self.stands or monotonic() < self._next:
            return
        self._next = monotonic() + LOOK_SECONDS
        with suppress(StoreError), self._store.wires.wire() as wire:
            self.stands = still_stands(wire)
        if not self.stands:
            self._begin()
