"""The key store: where a sealed store keeps its owners' keys and the salts of its entries, apart from the Redis of its log. Pure.

An owner's line in Redis is only the name of its key. The key store maps that name to the key, wrapped under the master key. A
sealed entry holds the id of its two salts, one for its skeleton and one for its words. So no copy of Redis opens anything, and an
older copy of Redis brings nothing back that was deleted.

Salts are reserved in blocks, because a commit for each append would cost several times the append. A process may keep a reserved
block for `POOL_SECONDS`. Salts older than `UNUSED_SECONDS` that no entry has, and keys that no owner has, are removed by a job.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from secrets import token_bytes
from struct import Struct
from threading import Lock
from typing import NamedTuple, Protocol
from uuid import UUID

from engramlog_server.events.entry import SECRET_BYTES

NAME_MARK = b"\x02"
NAME_BYTES = 17
"""Length of a key's name: the mark, when it was drawn, random bytes. A secret has 32 bytes, and a tombstone begins with
a zero byte."""
_SECOND_BYTES = 5
KEYS_FIELD = "keys"
"""The field of the store that holds the id of its key store."""
ID_BYTES = 16
"""Random bytes of a key store's id, which is written in hexadecimal digits."""


def new_name(second: int) -> bytes:
    """A name that no other key has. It begins with the second in which it is drawn, counted from 1970."""
    return NAME_MARK + second.to_bytes(_SECOND_BYTES) + token_bytes(NAME_BYTES - 1 - _SECOND_BYTES)


def second_of(name: bytes) -> int:
    """The second in which a name was drawn."""
    return int.from_bytes(name[1 : 1 + _SECOND_BYTES])


def is_name(line: bytes) -> bool:
    """Whether an owner's line is the name of a key."""
    return len(line) == NAME_BYTES != SECRET_BYTES and line[:1] == NAME_MARK


ID_SHIFT = 20
"""An id of salts is the second in which they were reserved, shifted by so many bits, and a number."""
POOL_SECONDS = 3_600
UNUSED_SECONDS = 30 * 86_400
"""Long enough for an operator to bring back a log that lost its newest entries."""
SALTS_BYTES = 32
"""Length of the salts of an entry that has its words: 16 for its skeleton, 16 for its words."""
_WIPED = Struct(">16s16sHQ")
"""Salts of an entry whose words were erased: the salt of its skeleton, the erasure, partition and seq."""


class Wiped(NamedTuple):
    """Which entry lost its words by which erasure."""

    erasure: str
    partition: int
    seq: int


def wiped_value(salts: bytes, wiped: Wiped) -> bytes:
    """The part that stays of the salts of an entry whose words are erased."""
    return _WIPED.pack(salts[:16], UUID(wiped.erasure).bytes, wiped.partition, wiped.seq)


def read_wiped(value: bytes) -> Wiped | None:
    """By what an entry lost its words; None if it has them."""
    if len(value) != _WIPED.size:
        return None
    _, erasure, partition, seq = _WIPED.unpack(value)
    return Wiped(str(UUID(bytes=erasure)), partition, seq)


def has_words(value: bytes) -> bool:
    """Whether salts open the words of an entry too."""
    return len(value) == SALTS_BYTES


LEAST_BLOCK, MOST_BLOCK = 8, 512
"""Salts that are reserved at once: twice as many each time, up to the most."""
Salts = list[tuple[int, bytes]]


class SaltPool:
    """Salts that a process reserved ahead, so that an append waits for no commit of its own. Salts of an old block are left to the
    job that removes unused ones. Safe for threads."""

    def __init__(self, reserve: Callable[[int], Salts], second: Callable[[], int]) -> None:
        """`second`: seconds since 1970, now."""
        self._reserve, self._second, self._lock = reserve, second, Lock()
        self._salts, self._block, self._since = Salts(), LEAST_BLOCK, 0

    def take(self, count: int) -> Salts:
        """So many; each is given once. Raises StoreUnavailable."""
        with self._lock:
            salts = self._salts
            if not 0 <= self._second() - self._since < POOL_SECONDS:  # ids may be ahead of a clock that was put right
                salts = []
            if len(salts) < count:
                self._since = self._since if salts else self._second()
                salts = salts + self._reserve(max(count, self._block))
                self._block = min(2 * self._block, MOST_BLOCK)
            self._salts = salts[count:]
            return salts[:count]


class KeyStore(Protocol):
    """Keys by their names, salts by their ids. Safe for threads. All methods raise StoreUnavailable if it cannot be used."""

    @property
    def id(self) -> str:
        """32 hexadecimal digits, drawn when the key store was made."""
        ...

    @property
    def place(self) -> str:
        """Its place, for people; without a password."""
        ...

    def read(self, names: Sequence[bytes]) -> dict[bytes, bytes]:
        """The wrapped keys of those names that have one."""
        ...

    def new_name(self) -> bytes:
        """A name that no other key has, drawn now."""
        ...

    def put(self, keys: Mapping[bytes, bytes]) -> None:
        """Store wrapped keys under their names; durable when this returns."""
        ...

    def replace(self, keys: Mapping[bytes, tuple[bytes, bytes]]) -> int:
        """Store another wrapping, by name (present, new), of keys that are wrapped as given; the number of keys replaced."""
        ...

    def delete(self, names: Collection[bytes]) -> int:
        """Delete keys, also from the files of the key store; the number of keys that were there."""
        ...

    def every(self) -> Iterator[tuple[bytes, bytes]]:
        """All names and wrapped keys."""
        ...

    def take(self, count: int) -> list[tuple[int, bytes]]:
        """Salts for so many entries with their ids, which nobody else gets; durable when this returns."""
        ...

    def put_salts(self, salts: Mapping[int, bytes]) -> None:
        """Store salts of a backup under their ids; durable when this returns."""
        ...

    def salts(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The salts with these ids, or what stays of them."""
        ...

    def wipe(self, entries: Mapping[int, Wiped]) -> int:
        """Delete the words' salts, also from the files of the key store, where they are there; the number deleted. A Redis writes
        its files again at each call, so name all entries of an erasure in one call."""
        ...

    def wiped(self) -> Iterator[tuple[int, Wiped]]:
        """All salts that lost the words', ascending, in pages."""
        ...

    def delete_salts(self, ids: Collection[int]) -> int:
        """Delete both salts with these ids, also from the files of the key store; the number deleted. One call, as `wipe`."""
        ...

    def salt_ids(self, before: int) -> Iterator[int]:
        """All ids of salts below this one, ascending."""
        ...

    def erasures(self) -> set[bytes] | None:
        """Lines of the list of erasures, which hosts share here; None if it is a file, because one host has that."""
        ...

    def add_erasures(self, lines: Collection[bytes]) -> None:
        """Add lines to that list; durable when this returns."""
        ...

    def server(self) -> str | None:
        """The run id of its Redis; None if it is a file."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


OpenKeyStore = Callable[[str, bool], KeyStore]
"""Opens the key store of a store by the store's id; makes an absent one only if the second argument is true.

Raises StoreMismatch if it is absent, StoreUnavailable if it cannot be used."""
