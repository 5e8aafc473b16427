"""Folding a partition into a build that nobody reads yet: window by window, each written in pieces (ADR 0066)."""

from __future__ import annotations

from typing import Any

from consumers.fold.folder import PartitionFolder
from events.errors import DamagedState
from projections.fold.partition import Outcome, seal
from projections.fold.window import LIMITS, Window, WindowLimits

CACHED_BYTES = 256 * 1024 * 1024
"""Of the records a folder keeps, about: as many fewer as events are longer."""


class WindowFolder(PartitionFolder):
    """Folds as `PartitionFolder` does, and writes each owner once a window. `close` writes what is open."""

    def __init__(self, *given: Any, limits: WindowLimits = LIMITS, **more: Any) -> None:
        super().__init__(*given, **more)
        self._limits = limits
        self._window = Window(self.checkpoint, limits)
        self._cached_memories = self._most
        self._bytes = self._events = 0

    @property
    def at(self) -> int:
        """The seq up to which is folded, written or not."""
        return self._window.seq

    def fold(self) -> None:
        """Fold what was prepared; writes where a window is full, or more records are cached than may. Raises as `prepare` does.

        Nobody in hand leaves the cache: `prepare` loaded what all of these events reach, and nothing else.
        """
        decoded, self._ready = self._ready, ()
        in_hand = {stored.owner for stored, _ in decoded}
        self._events += len(decoded)
        self._bytes += sum(len(stored.body) for stored, _ in decoded)
        self._probe("between prefetch and commit")
        while decoded:
            taken, ripe = self._window.feed(self._owners, decoded, base=self._base, on_failure=self._told)
            decoded = decoded[taken:]
            if ripe is not None:
                self._put_piece(self._window.take(next(iter(ripe.owners))), last=False)
            if self._window.full:
                self._write()
            elif decoded and ripe is None:
                self._write()
                self._commit(self._discard(decoded))
                decoded = decoded[1:]
                self._window = Window(self.checkpoint, self._limits)
        self._count(in_hand)
        if self._cached > self._most and self._window.past_pieces:
            self._write()
            self._evict(len(in_hand))

    def close(self) -> None:
        """Write all that is folded; the checkpoint stands at its end. Raises as `prepare` does."""
        self._write()
        self._evict(0)

    def _write(self) -> None:
        if not self._window.open:
            return
        if not self._window.past_pieces:
            keys = self.lease.keys
            raise DamagedState(
                f"what a killed rebuild left of build {keys.build} of partition {{{keys.tag}}} cannot be gone on with:"
                " `engramlog rebuild --drop-left` drops it, and the next rebuild begins anew",
                partition=keys.tag,
                build=keys.build,
            )
        waiting: Outcome | None = None
        for piece in self._window.pieces():
            if waiting is not None:
                self._put_piece(waiting, last=False)
            waiting = piece
        if waiting is not None:
            self._put_piece(waiting, last=True)
        self._window = Window(self.checkpoint, self._limits)
        self._most = min(self._cached_memories, CACHED_BYTES * self._events // max(self._bytes, 1))

    def _put_piece(self, piece: Outcome, *, last: bool) -> None:
        before, window = self.checkpoint, self._window
        sealed = seal(before, piece, self._owners)
        if not last:
            reach, reached = (window.seq, window.head) if window.past_pieces else (before.reach, before.reached)
            told = sealed.checkpoint._replace(
                seq=before.seq, head=before.head, pieces=before.pieces + 1, reach=reach, reached=reached
            )
            sealed = sealed._replace(checkpoint=told)
        self._put(piece, sealed)
