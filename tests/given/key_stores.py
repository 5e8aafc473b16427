"""A key store that all sealed stores of a test process share: a file that ends with the process."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from engramlog_server.events.keys import KeyStore, OpenKeyStore
from engramlog_server.events.redis.wire import StoreClient
from engramlog_server.ops.keys.store import FileKeyStore


@lru_cache(maxsize=1)
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="engramlog-keys-")


def shared_keys(_store_id: str, _make: bool) -> KeyStore:
    """Opens it, for a client of any store."""
    return FileKeyStore(Path(_folder().name) / "keys.db", make=True)


def keys_in(client: StoreClient) -> OpenKeyStore:
    """Opens the key store that a client has open."""

    def opened(_store_id: str, _make: bool) -> KeyStore:
        return FileKeyStore(Path(client.seals.keys.place), make=False)

    return opened
