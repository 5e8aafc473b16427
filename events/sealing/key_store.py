"""The key store: where a sealed store keeps its owners' keys, apart from the Redis of its log. Pure.

An owner's line in Redis is only the name of its key. The key store maps that name to the key, wrapped under the master key. So no
copy of Redis holds a key, and an older copy of Redis cannot bring back a key that was deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from secrets import token_bytes
from typing import Protocol

from engramlog_server.events.entry import SECRET_BYTES

NAME_MARK = b"\x02"
NAME_BYTES = 17
"""Of a key's name: the mark and 16 random bytes. A secret has 32 bytes, and a tombstone begins with a zero byte."""
KEYS_FIELD = "keys"
"""The field of the store that holds the id of its key store."""
ID_BYTES = 16
"""Random bytes of a key store's id, which is written in hexadecimal digits."""


def new_name() -> bytes:
    """A name that no other key has."""
    return NAME_MARK + token_bytes(NAME_BYTES - 1)


def is_name(line: bytes) -> bool:
    """Whether an owner's line is the name of a key."""
    return len(line) == NAME_BYTES != SECRET_BYTES and line[:1] == NAME_MARK


class KeyStore(Protocol):
    """Keys by their names. All methods raise StoreUnavailable if the key store cannot be used. Safe for threads."""

    @property
    def id(self) -> str:
        """32 hexadecimal digits, drawn when the key store was made."""
        ...

    @property
    def place(self) -> str:
        """Where it is, for people; without a password."""
        ...

    def read(self, names: Sequence[bytes]) -> dict[bytes, bytes]:
        """The wrapped keys of those names that have one."""
        ...

    def put(self, keys: Mapping[bytes, bytes]) -> None:
        """Store wrapped keys under new names; durable when this returns."""
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

    def server(self) -> str | None:
        """The run id of its Redis; None if it is a file."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


OpenKeyStore = Callable[[str, bool], KeyStore]
"""Opens the key store of a store by the store's id; makes an absent one only if the second argument is true.

Raises StoreMismatch if it is absent, StoreUnavailable if it cannot be used."""
