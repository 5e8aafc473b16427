"""A key store in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from uuid import uuid4

from engramlog_server.events.sealing.key_store import KeyStore


class MemoryKeys:
    """A `KeyStore` of one process."""

    place = "memory"

    def __init__(self) -> None:
        self.id = uuid4().hex
        self.held: dict[bytes, bytes] = {}

    def opened(self, _store_id: str, _make: bool) -> KeyStore:
        """Opens it."""
        return self

    def read(self, names: Sequence[bytes]) -> dict[bytes, bytes]:
        """See `KeyStore`."""
        return {name: self.held[name] for name in names if name in self.held}

    def put(self, keys: Mapping[bytes, bytes]) -> None:
        """See `KeyStore`."""
        self.held.update(keys)

    def replace(self, keys: Mapping[bytes, tuple[bytes, bytes]]) -> int:
        """See `KeyStore`."""
        fit = {name: new for name, (old, new) in keys.items() if self.held.get(name) == old}
        self.held.update(fit)
        return len(fit)

    def delete(self, names: Collection[bytes]) -> int:
        """See `KeyStore`."""
        return sum(self.held.pop(name, None) is not None for name in names)

    def every(self) -> Iterator[tuple[bytes, bytes]]:
        """See `KeyStore`."""
        yield from dict(self.held).items()

    def server(self) -> str | None:
        """See `KeyStore`."""
        return None

    def close(self) -> None:
        """See `KeyStore`."""
