"""store.json: which store a folder holds, kept outside Redis so that a server that brings back less is noticed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import redis

from engramlog_server.events.errors import EmbeddedRedisError, StoreMismatch
from engramlog_server.events.redis.server import Product, Release
from engramlog_server.ops.durable import replace_file
from engramlog_server.ops.embedded.socket import connect

STORE_KEY = "engramlog:store"
STORE_ID = "store_id"


class StoreFile(msgspec.Struct, frozen=True, kw_only=True):
    """The store's id, its partitions and their hash tags, and the newest server that opened it, such as Valkey "9.1.2"."""

    store_id: str
    partitions: int
    tags: tuple[str, ...]
    newest_server_version: str
    product: Product = "Redis"
    """Of that server: files of before it was recorded are of Redis."""

    @property
    def newest_server(self) -> Release:
        """The newest server that opened it."""
        return Release(self.product, self.newest_server_version)

    def opened_by(self, release: Release) -> StoreFile:
        """The same store after a server of that release has opened it."""
        newest = release.version
        if release.product == self.product:
            newest = max(self.newest_server_version, newest, key=_numbers)
        return msgspec.structs.replace(self, product=release.product, newest_server_version=newest)


def read_store_file(folder: Path) -> StoreFile | None:
    """store.json, or None when the folder has none. Raises StoreMismatch when it cannot be understood."""
    path = folder / "store.json"
    try:
        store = msgspec.json.decode(path.read_bytes(), type=StoreFile)
        _numbers(store.newest_server_version)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StoreMismatch(
            f"{path} is damaged ({error}); restore it from a backup, or, if this folder surely holds your store, "
            "move the file away: the next start writes it again from the store itself",
            folder=str(folder),
        ) from error
    return store


def holds_store(folder: Path) -> bool:
    """Whether a folder holds a store's name, or anything of its Redis. Raises OSError."""
    return (folder / "store.json").exists() or any(folder.glob("appendonly*"))


def write_store_file(folder: Path, store: StoreFile) -> None:
    """Replace store.json as a whole: after a crash it is the old one or the new one."""
    replace_file(folder / "store.json", msgspec.json.format(msgspec.json.encode(store), indent=2) + b"\n")


def refuse_other_store(folder: Path, socket: Path, store: StoreFile, recovery: str | None = None) -> None:
    """Raise StoreMismatch unless the server behind `socket` holds `store`; `recovery` tells what it cut off its log.

    Raises EmbeddedRedisError when it does not answer.
    """
    try:
        with connect(socket) as client:
            found = client.hget(STORE_KEY, STORE_ID)
    except redis.RedisError as error:
        raise EmbeddedRedisError(
            f"the Redis of {folder} stopped answering ({error}); see {folder / 'redis.log'} and try again",
            folder=str(folder),
        ) from error
    if found == store.store_id:
        return
    holds = f"store {found}" if found else "no store"
    because = f" ({recovery})" if recovery else ""
    raise StoreMismatch(
        f"{folder} should hold store {store.store_id}, but its Redis came back with {holds}{because}; "
        "restore the append-only file from a backup, or begin a new store in another folder",
        folder=str(folder),
        recorded=store.store_id,
        found=found,
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
