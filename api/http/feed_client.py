"""One reader of an owner's change feed: what it asked for of the past, what waits for it, and how it ends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from projections.fold.changelog import Entry
    from projections.redis.changelog import Mark
    from projections.redis.view import Tail
    from projections.views.telling import Telling

SLOW = "too slow"


class FeedChange(NamedTuple):
    """What one event changed."""

    number: int
    """How many events of the owner were folded before it."""
    seq: int
    entries: tuple[Entry, ...]
    told: Telling
    """What the log holds of the event beside."""


class Client:
    """One reader of an owner's feed; lives on the event loop."""

    def __init__(self, owner: str, partition: int, bound: int) -> None:
        self.owner = owner
        self.partition = partition
        self.backlog: deque[FeedChange] = deque()
        """What it asked for of the past, a page at a time."""
        self.mark: Mark | None = None
        """Where the rest of the past is read from; None where there is none."""
        self.last = ""
        """Position of the last change it was sent."""
        self.ended: str | None = None
        self._since = 0
        self._queue: deque[FeedChange] = deque()
        self._bound = bound
        self._wake = asyncio.Event()

    def begin(self, past: Sequence[FeedChange], last: str, since: int, mark: Mark | None = None) -> None:
        """`past` first, and what lies between a mark and `since`; then what is offered from the event number `since` on."""
        self.last, self._since = last, since
        self.go_on(past, mark)

    def go_on(self, past: Sequence[FeedChange], mark: Mark | None) -> None:
        """With a page of the past, and where the next one begins."""
        if self.ended is None:
            self.backlog.extend(one for one in past if one.number < self._since)
            self.mark = None if mark is None or mark.number >= self._since else mark

    def offer(self, change: FeedChange) -> bool:
        """Queue a change; False where that ended the client, which has taken too little."""
        if self.ended or change.number < self._since:
            return True
        if len(self._queue) >= self._bound:
            self.end(SLOW)
            return False
        self._queue.append(change)
        self._wake.set()
        return True

    def end(self, reason: str) -> None:
        """No more changes: what waits is dropped, so that the last id is that of what was sent."""
        if self.ended is None:
            self.ended = reason
            self._queue.clear()
            self.backlog.clear()
            self.mark = None
            self._wake.set()

    async def next(self, patience: float) -> FeedChange | None:
        """The next change; None after `patience` seconds without any, and at the end."""
        if self.backlog:
            return self.backlog.popleft()
        if not self._queue and self.ended is None:
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), patience)
            except TimeoutError:
                return None
        return self._queue.popleft() if self._queue else None


Told = Mapping[int, "Telling"]
"""Seq -> what the log holds of the event beside its entries."""


def changes_of(tail: Tail, since: int, told: Told) -> list[FeedChange]:
    """The changes of the events from number `since` on, in the order of folding; events that changed nothing are left out."""
    from projections.views.telling import UNTOLD

    number = {seq: index for index, seq in enumerate(tail.seqs, tail.start)}
    grouped = ((seq, tuple(entries)) for seq, entries in groupby(tail.entries, key=lambda entry: entry.seq))
    return [
        FeedChange(number[seq], seq, entries, told.get(seq, UNTOLD)) for seq, entries in grouped if number[seq] >= since
    ]


def past_of(tail: Tail, after: int | None, told: Told) -> tuple[list[FeedChange], int]:
    """What a client gets of the past, and the seq that it has already seen."""
    if after is None:
        return [], tail.seqs[-1] if tail.seqs else 0
    if after in tail.seqs:
        since = tail.start + tail.seqs.index(after) + 1
    else:  # no event of this owner, but a position that some answer told: everything that may have come later
        since = next((i for i, seq in enumerate(tail.seqs, tail.start) if seq > after), tail.start + len(tail.seqs))
    return changes_of(tail, since, told), after
