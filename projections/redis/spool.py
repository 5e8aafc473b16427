"""An owner's records as of one moment, read in pages and laid into a file without a name: whoever writes them out holds a page.

Of a sealed store what comes to the disk is encrypted under a key that this process alone holds, and that goes with it.
Secrets are held in memory, and come to no disk; so is what has words of what is secret or gone. Whatever else has words of others
waits, by its id, until all that it may name was met.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import pairwise
from secrets import token_bytes
from tempfile import SpooledTemporaryFile
from weakref import finalize

import numpy as np
import numpy.typing as npt

from events.errors import OutputCut
from events.sealing.cipher import NONCE_BYTES, new_aes
from projections.fold.owner import OwnerState
from projections.memory.kind import has_words_of_others
from projections.memory.record import SECRET, Memory, decode_memory
from projections.memory.twins import keys_of, values_of
from projections.redis.named import Named

MEMORY_BYTES = 8 << 20
"""Up to so many bytes are held in memory."""
PAGE = 500


class Spool:
    """Records in their stored bytes, to be read in the order of their creation once `settle` was called. For one thread."""

    def __init__(self, *, sealed: bool = False) -> None:
        """`sealed`: whether what comes to the disk must not lie open there."""
        self._sealing = new_aes()(token_bytes(32)) if sealed else None
        self.state = OwnerState()
        self.negated = set[bytes]()
        """Values of what is negated: others that say the same read otherwise."""
        self._key = token_bytes(16)
        self._file = SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115 - goes when nobody holds the spool
        finalize(self, self._file.close)
        self._end = 0
        self._held = dict[int, bytes]()
        self._ids, self._created, self._seqs = array("Q"), array("q"), array("q")
        self._places, self._sizes = array("q"), array("L")
        self._named = Named(self._short)
        self._waiting: list[str] = []
        self._hidden: npt.NDArray[np.uint64] | None = None
        """Ids of what has words of what is secret or gone; None while records are met."""
        self._order: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._sorted: npt.NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
        self._rows: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def meet(self, memory: Memory, raw: bytes) -> None:
        """Lay a record down as `put` does, unless it has words of others: that is to be fetched and put once all were met."""
        if has_words_of_others(memory):
            self._named.put(memory)
            self._waiting.append(memory.id)
        else:
            self.put(memory, raw)

    def waiting(self) -> Sequence[str]:
        """Ids of what was met and not laid down. Nothing more is met after this."""
        self._hidden = self._named.ids_of_accounts(secret=True)
        return self._waiting

    def put_waiting(self, memory: Memory, raw: bytes) -> None:
        """Lay down what was waiting: on the disk where nothing that it has words of hides them."""
        short = self._short(memory.id)
        self._lay(memory, raw, self._hidden is None or bool(np.isin(np.uint64(short), self._hidden)))

    def put(self, memory: Memory, raw: bytes) -> None:
        """Lay a record down; of one id the last counts. Raises OutputCut where there is no room for it."""
        self._named.put(memory)
        self._lay(memory, raw, has_words_of_others(memory))

    def _lay(self, memory: Memory, raw: bytes, hidden: bool) -> None:
        row = len(self._ids)
        self._ids.append(self._short(memory.id))
        self._created.append(memory.created_at)
        self._seqs.append(memory.created_seq)
        self._places.append(self._end)
        if memory.negated_at is not None:
            self.negated.update(values_of(memory))
        if memory.sensitivity >= SECRET or hidden:
            self._held[row] = raw
            self._sizes.append(len(raw))
            return
        laid = raw if self._sealing is None else self._sealing.encrypt(_nonce(row), raw, None)
        self._sizes.append(len(laid))
        try:
            self._file.write(laid)
        except OSError as error:
            raise self._without_room(error) from None
        self._end += len(laid)

    def _without_room(self, error: OSError) -> OutputCut:
        with suppress(OSError):  # what is in its buffer has no room either
            self._file.close()
        return OutputCut(
            f"there is no room to lay {len(self._ids):,} memories down before they are written ({error.strerror}): nothing was"
            " written; TMPDIR names another folder"
        )

    def settle(self) -> None:
        """Nothing more comes. Raises as `put`: what was laid down last comes to the disk only now."""
        try:
            self._file.flush()
        except OSError as error:
            raise self._without_room(error) from None
        ids = np.frombuffer(self._ids, dtype=np.uint64) if self._ids else np.zeros(0, dtype=np.uint64)
        backwards, first = np.unique(ids[::-1], return_index=True)
        self._sorted, self._rows = backwards, (len(ids) - 1 - first).astype(np.int64)
        created, seqs = (np.array(one, dtype=np.int64) for one in (self._created, self._seqs))
        last = np.sort(self._rows)
        self._order = last[np.lexsort((seqs[last], created[last]))]
        self._by_id(created[self._order], seqs[self._order])

    def _by_id(self, created: npt.NDArray[np.int64], seqs: npt.NDArray[np.int64]) -> None:
        """Memories of one instant and one event stand by their ids."""
        parted = (np.diff(created) != 0) | (np.diff(seqs) != 0)
        ends = [0, *(np.flatnonzero(parted) + 1).tolist(), len(self._order)] if not parted.all() else []
        for start, end in pairwise(ends):
            if end - start > 1:
                rows = self._order[start:end].tolist()
                self._order[start:end] = sorted(rows, key=lambda row: self._read(row).id)

    def __len__(self) -> int:
        return len(self._order)

    def row(self, memory_id: str) -> int | None:
        """Where a memory stands; None where there is none of that id."""
        short = self._short(memory_id)
        at = int(np.searchsorted(self._sorted, np.uint64(short)))
        return int(self._rows[at]) if at < len(self._sorted) and int(self._sorted[at]) == short else None

    def get(self, memory_id: str) -> Memory | None:
        """A memory as it was folded."""
        row = self.row(memory_id)
        return None if row is None else self._read(row)

    def pages(self, rows: npt.NDArray[np.int64] | None = None) -> Iterator[tuple[list[int], list[Memory]]]:
        """The memories as they were folded, oldest first, with their rows; of some rows only, in their order."""
        order = self._order if rows is None else rows
        for start in range(0, len(order), PAGE):
            page = order[start : start + PAGE].tolist()
            yield page, [self._read(row) for row in page]

    def deciding(self, rejected: Iterable[str]) -> npt.NDArray[np.bool_]:
        """By row: what decides how sensitive accounts are for the sake of others. `rejected`: ids of what reads so."""
        ids = self._named.deciding(rejected)
        return (
            np.isin(np.frombuffer(self._ids, dtype=np.uint64), ids) if len(ids) else np.zeros(self.rows, dtype=np.bool_)
        )

    def is_in_memory(self, memory_id: str) -> bool:
        """Whether a record came to no disk."""
        return self.row(memory_id) in self._held

    @property
    def in_memory(self) -> int:
        """How many records are held in memory whole."""
        return len(self._held)

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """All rows, oldest memory first."""
        return self._order

    @property
    def rows(self) -> int:
        """One more than the highest row."""
        return len(self._ids)

    def saying(self, watched: set[bytes]) -> Iterable[Memory]:
        """Those memories that say, or were drawn from, one of these."""
        for _, page in self.pages() if watched else ():
            yield from (memory for memory in page if not watched.isdisjoint(keys_of(memory)))

    def _read(self, row: int) -> Memory:
        raw = self._held.get(row)
        if raw is None:
            self._file.seek(self._places[row])
            raw = self._file.read(self._sizes[row])
            if self._sealing is not None:
                raw = self._sealing.decrypt(_nonce(row), raw, None)
        return decode_memory(raw)

    def _short(self, memory_id: str) -> int:
        return int.from_bytes(blake2b(memory_id.encode(), digest_size=8, key=self._key).digest(), "little")


def _nonce(row: int) -> bytes:
    """Of a row's record: a row is laid down once, and the key is the spool's own."""
    return row.to_bytes(NONCE_BYTES, "big")


class Spooled:
    """Ids that were chosen of a spool, by row."""

    def __init__(self, spool: Spool, chosen: npt.NDArray[np.bool_]) -> None:
        self._spool, self._chosen = spool, chosen

    def __contains__(self, memory_id: object, /) -> bool:
        row = self._spool.row(memory_id) if isinstance(memory_id, str) else None
        return row is not None and bool(self._chosen[row])
