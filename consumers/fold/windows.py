"""Folding a partition into a build that nobody reads yet: window by window, each written in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from engramlog_server.consumers.fold.folder import PartitionFolder
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.redis.gap import refuse_holes
from engramlog_server.projections.fold.partition import (
    Decoded,
    Outcome,
    WorkingOwner,
    decode_all,
    discarded_position,
    encode_outcome,
    named_memories,
)
from engramlog_server.projections.fold.window import LIMITS, Window, WindowLimits, is_discard
from engramlog_server.projections.redis.store import all_loaded, load_owners, load_secrets

CACHED_BYTES = 256 * 1024 * 1024
"""Of the records a folder keeps, about: as many fewer as events are longer."""


class WindowFolder(PartitionFolder):
    """Reads a window, then folds and writes it owner by owner. `close` writes what is open.

    `between`: called between groups of a window, of which one takes seconds: whoever holds a lease renews it.
    """

    def __init__(
        self, *given: Any, limits: WindowLimits = LIMITS, between: Callable[[], None] = lambda: None, **more: Any
    ) -> None:
        super().__init__(*given, **more)
        self._limits, self._between = limits, between
        self._window = Window(self.checkpoint, limits)
        self._read: Sequence[Stored] = ()
        self._cached_memories = self._most
        self._bytes = self._events = 0

    @property
    def at(self) -> int:
        """The seq up to which is read, written or not."""
        return self._window.seq

    def prepare(self, stored: Sequence[Stored]) -> None:
        """Take what follows on what was read. Raises LogGap where seqs are missing: then the folder must be dropped."""
        self._read = [one for one in stored if one.seq > self.at]
        refuse_holes(self._read, self.at, self.lease.keys.tag)

    def fold(self) -> None:
        """Read what was prepared into the window; folds and writes it where it is full. Raises FoldError or StoreError."""
        stored, self._read = self._read, ()
        self._probe("between prefetch and commit")
        passing = False
        while stored:
            stored = stored[self._window.read(stored, passing=passing) :]
            passing = False
            if self._window.full:
                self._write()
            elif stored and is_discard(stored[0]):
                passing = not self._discarded(stored[0])
                stored = stored if passing else stored[1:]

    def close(self) -> None:
        """Write all that was read; the checkpoint stands at its end. Raises as `fold` does."""
        if self._window.open:
            self._write()
        self._evict(0)

    def _discarded(self, stored: Stored) -> bool:
        """Whether a discard is of a parked event, and was folded: what its owner has before it is folded first."""
        name, decoded = stored.owner, decode_all(self._opened([stored]))
        if discarded_position(decoded[0][1]) is None:
            return False
        for piece in self._folded(self._window.groups(name)):
            self._put_piece(piece, last=False)
        self._load_for(decoded)
        owner = self._owners[name]
        if owner.quarantine is None or stored.seq <= owner.parked_to:
            return False
        self._write()
        self._load_for(decoded)  # it may have left the cache
        self._commit(self._discard(decoded))
        self._window = Window(self.checkpoint, self._limits)
        return True

    def _write(self) -> None:
        """Fold and write all that was read. The last piece moves the checkpoint, so each waits for the next."""
        window = self._window
        if not window.past_pieces:
            keys = self.lease.keys
            raise DamagedState(
                f"what a killed rebuild left of build {keys.build} of partition {{{keys.tag}}} cannot be gone on with:"
                " `engramlog rebuild --drop-left` drops it, and the next rebuild begins anew",
                partition=keys.tag,
                build=keys.build,
            )
        if not window.open:
            return
        self._events += window.events
        self._bytes += window.size
        for piece in self._folded(window.groups()):
            self._put_piece(piece, last=False)
        self._put_piece(window.outcome(), last=True)
        self._window = Window(self.checkpoint, self._limits)
        self._most = min(self._cached_memories, CACHED_BYTES * self._events // max(self._bytes, 1))

    def _folded(self, groups: Iterable[list[Stored]]) -> Iterable[Outcome]:
        """Groups folded one after another, piece by piece; each piece is put before the next is asked for."""
        for group in groups:
            decoded = decode_all(self._opened(group))
            in_hand = self._load_for(decoded)
            yield from self._window.pieces(self._owners, decoded, base=self._base, on_failure=self._told)
            self._count(in_hand)
            self._evict(len(in_hand))
            self._between()

    def _load_for(self, decoded: Sequence[Decoded]) -> dict[str, None]:
        """Load whom these events are about, and what they reach; gives their names."""
        names = dict.fromkeys(stored.owner for stored, _ in decoded)
        self._let_go_of_erased(names)
        if self._whole:
            for name in names:
                if name not in self._owners:
                    self._owners[name] = WorkingOwner()
        else:
            wanted = named_memories(decoded)
            if not all_loaded(wanted, self._owners):
                self._lane.settle()  # what is asked of Redis must not be on its way to it
                load_owners(self._load, self.lease.keys, wanted, self._owners)
        load_secrets(self._load, self.lease.keys, self._owners, names)
        return names

    def _put_piece(self, piece: Outcome, *, last: bool) -> None:
        before, window = self.checkpoint, self._window
        encoded = encode_outcome(before, piece, self._owners)
        if not last:
            reach, reached = (window.seq, window.head) if window.past_pieces else (before.reach, before.reached)
            told = encoded.checkpoint._replace(
                seq=before.seq, head=before.head, pieces=before.pieces + 1, reach=reach, reached=reached
            )
            encoded = encoded._replace(checkpoint=told)
        self._put(piece, encoded)
