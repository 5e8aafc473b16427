"""A key store in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from secrets import token_bytes
from uuid import uuid4

from engramlog_server.events.keys import (
    SALTS_BYTES,
    KeyStore,
    Wiped,
    has_words,
    new_name,
    read_wiped,
    wiped_value,
)


class MemoryKeys:
    """A `KeyStore` of one process."""

    place = "memory"

    def __init__(self) -> None:
        self.id = uuid4().hex
        self.held: dict[bytes, bytes] = {}
        self.pairs: dict[int, bytes] = {}

    def opened(self, _store_id: str, _make: bool) -> KeyStore:
        """Opens it."""
        return self

    def read(self, names: Sequence[bytes]) -> dict[bytes, bytes]:
        """See `KeyStore`."""
        return {name: self.held[name] for name in names if name in self.held}

    def new_name(self) -> bytes:
        """See `KeyStore`."""
        return new_name(1)

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

    def take(self, count: int) -> list[tuple[int, bytes]]:
        """See `KeyStore`."""
        made = [(len(self.pairs) + number, token_bytes(SALTS_BYTES)) for number in range(1, count + 1)]
        self.pairs.update(made)
        return made

    def put_salts(self, salts: Mapping[int, bytes]) -> None:
        """See `KeyStore`."""
        self.pairs.update(salts)

    def salts(self, ids: Sequence[int]) -> dict[int, bytes]:
        """See `KeyStore`."""
        return {one: self.pairs[one] for one in ids if one in self.pairs}

    def wipe(self, entries: Mapping[int, Wiped]) -> int:
        """See `KeyStore`."""
        whole = {one: value for one, value in self.salts(list(entries)).items() if has_words(value)}
        self.pairs.update({one: wiped_value(value, entries[one]) for one, value in whole.items()})
        return len(whole)

    def wiped(self) -> Iterator[tuple[int, Wiped]]:
        """See `KeyStore`."""
        for one, value in sorted(self.pairs.items()):
            if (found := read_wiped(value)) is not None:
                yield one, found

    def delete_salts(self, ids: Collection[int]) -> int:
        """See `KeyStore`."""
        return sum(self.pairs.pop(one, None) is not None for one in ids)

    def salt_ids(self, before: int) -> Iterator[int]:
        """See `KeyStore`."""
        yield from (one for one in sorted(self.pairs) if one < before)

    def erasures(self) -> set[bytes] | None:
        """See `KeyStore`."""
        return None

    def add_erasures(self, lines: Collection[bytes]) -> None:
        """See `KeyStore`."""

    def server(self) -> str | None:
        """See `KeyStore`."""
        return None

    def close(self) -> None:
        """See `KeyStore`."""
