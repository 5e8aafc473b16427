"""Where the key store of a store is, by the settings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engramlog_server.events.encryption.key_store import KeyStore, OpenKeyStore
from engramlog_server.ops.durable import store_file

if TYPE_CHECKING:
    from engramlog_server.ops.settings import Settings

NAME = "keys.db"
"""The file of a store in its data folder; a store in a Redis of one's own has its id in the name."""


def keys_of(settings: Settings) -> OpenKeyStore:
    """What opens the key store of these settings."""
    return partial(_opened, settings)


def key_file_of(settings: Settings, store_id: str) -> Path | None:
    """The file of the key store; None if a Redis has the keys."""
    if settings.keys is None:
        return store_file(settings.data, NAME, None if settings.redis_url is None else store_id)
    return None if "://" in settings.keys else Path(settings.keys).expanduser()


def _opened(settings: Settings, store_id: str, make: bool) -> KeyStore:
    path = key_file_of(settings, store_id)
    if path is None:
        from engramlog_server.ops.keys.server import RedisKeyStore  # noqa: PLC0415 - most stores have a file

        assert settings.keys is not None
        return RedisKeyStore(settings.keys, store_id, make=make, timeout=settings.redis_timeout)
    from engramlog_server.ops.keys.file import FileKeyStore  # noqa: PLC0415 - commands on open stores do not load it

    return FileKeyStore(path, make=make)
