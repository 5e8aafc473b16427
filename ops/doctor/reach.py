"""Reaching a store to look at it: nothing is made or repaired, and a store that cannot be reached is reported as such.

Where nothing runs on a data folder its private Redis is started for as long as it is looked at, as every command does.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engramlog_server.events.errors import EngramlogError, StoreError, StoreMismatch
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.client import connect
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import await_loaded, refuse_kind
from engramlog_server.events.redis.wire import StoreClient, Wire, WirePool, open_wire
from engramlog_server.ops.clock import now_micros
from engramlog_server.ops.doctor.permissions import folder_of, is_safe_to_open
from engramlog_server.ops.embedded.server import EmbeddedRedis, find_redis_server, open_folder
from engramlog_server.ops.embedded.socket import url_of
from engramlog_server.ops.embedded.store import holds_store
from engramlog_server.ops.keys.master import master_of
from engramlog_server.ops.keys.place import keys_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import silent
from engramlog_server.projections.redis.create import StoreIdentity, known_identity, read_identity

SECONDS = 5.0
"""How long a check, or an answer of Redis, is waited for."""
OPENING_SECONDS = 15.0
"""How long another process that uses the folder is waited for, or a server that loads without getting on."""
FIRST = "`engramlog up` or the first write makes it; nothing was made now"


class NothingToCheck(StoreMismatch):
    """There is no store where the settings say."""

    exit_code = 3


@dataclass(slots=True)
class ReachedStore:
    """A store that was reached, as far as it was."""

    settings: Settings
    folder: Path | None
    """The data folder of an embedded store."""
    client: StoreClient | None = None
    """None where Redis was not reached."""
    embedded: EmbeddedRedis | None = None
    identity: StoreIdentity | None = None
    """None if it could not be read."""
    trouble: EngramlogError | None = None
    """Why Redis was not reached, or the store not opened."""

    def wire(self) -> Wire:
        """A connection of one's own. Raises StoreError where Redis was not reached."""
        return open_wire(self.reached)

    @property
    def reached(self) -> StoreClient:
        """The client. Raises StoreError where Redis was not reached."""
        if self.client is None:
            raise StoreError("Redis was not reached")
        return self.client

    @property
    def known(self) -> StoreIdentity:
        """The identity. Raises StoreError where it could not be read."""
        if self.identity is None:
            raise StoreError("the store could not be opened")
        return self.identity

    @property
    def opened(self) -> StoreIdentity:
        """The same of a store that was opened, so that what is sealed can be read. Raises StoreError where it was not."""
        if self.trouble is not None:
            raise StoreError("the store could not be opened")
        return self.known

    def log(self) -> RedisEventLog:
        """The log, for reading. Raises StoreError where the store was not opened."""
        return RedisEventLog(self.reached, self.opened.tags, own_clock=now_micros)


@contextmanager
def reach(
    settings: Settings,
    *,
    on_wait: Callable[[str], None] | None = None,
    loading_seconds: float = OPENING_SECONDS,
    may_be_new: bool = False,
) -> Iterator[ReachedStore]:
    """The store of these settings as far as it can be reached. Raises NothingToCheck if there is none.

    `loading_seconds`: how long a Redis of one's own may load without getting on. `may_be_new`: one that holds no store yet is
    reached too, with neither identity nor trouble.
    """
    if settings.redis_url is not None:
        reached = ReachedStore(settings, None)
        try:
            _open(reached, settings.redis_url, on_wait, loading_seconds, may_be_new=may_be_new)
            yield reached
        finally:
            _close(reached)
        return
    folder = folder_of(settings)
    reached = ReachedStore(settings, folder)
    embedded = _served(reached, folder, on_wait)
    if embedded is None:
        yield reached
        return
    with embedded:
        reached.embedded = embedded
        try:
            _open(reached, url_of(embedded.socket_path), on_wait)
            if embedded.recovery and reached.client is not None:  # recorded, since only this start knows it
                by = f"{socket.gethostname()}-{os.getpid()}"
                RedisAlarms(WirePool(reached.client), by, silent).raised("log_cut", "", embedded.recovery)
            yield reached
        finally:
            _close(reached)


def _served(reached: ReachedStore, folder: Path, on_wait: Callable[[str], None] | None) -> EmbeddedRedis | None:
    """The folder's Redis; None if it cannot be opened, for the reason in `reached`. Raises NothingToCheck."""
    settings = reached.settings
    try:
        exists = folder.exists()
        is_safe = exists and is_safe_to_open(folder)
        is_there = exists and (not is_safe or holds_store(folder))
    except OSError as error:
        reached.trouble = StoreError(f"the data folder {folder} cannot be read: {error.strerror}")
        return None
    if not is_there:
        raise NothingToCheck(f"{folder} holds no store yet (ENGRAMLOG_DATA): {FIRST}", folder=str(folder))
    if not is_safe:
        reached.trouble = StoreError("the data folder is not this user's alone, so nothing in it was opened")
        return None
    try:
        return open_folder(
            folder,
            "command",
            binary=find_redis_server(settings.redis_server),
            maxmemory=settings.redis_maxmemory,
            wait_seconds=OPENING_SECONDS,
            on_wait=on_wait,
            create=False,
        )
    except EngramlogError as error:
        reached.trouble = error
    except OSError as error:
        reached.trouble = StoreError(f"the data folder {folder} cannot be used: {error.strerror}")
    return None


def _open(
    reached: ReachedStore,
    url: str,
    on_wait: Callable[[str], None] | None,
    loading_seconds: float = OPENING_SECONDS,
    *,
    may_be_new: bool = False,
) -> None:
    """Read which store it is, and have what opens it begin. Raises NothingToCheck."""
    settings = reached.settings
    try:
        master = master_of(settings, reached.folder)
        client = connect(url, timeout=min(settings.redis_timeout, SECONDS), master=master, keys=keys_of(settings))
        wire = open_wire(client)
        try:
            if reached.embedded is None:
                await_loaded(wire, loading_seconds, on_wait)
                refuse_kind(wire, "ENGRAMLOG_REDIS_URL")
            reached.client = client
            reached.identity = read_identity(wire)
            if reached.identity is None and not may_be_new:
                raise NothingToCheck(f"this Redis holds no store yet (ENGRAMLOG_REDIS_URL): {FIRST}")
            known_identity(wire)
        finally:
            wire.close()
            if reached.client is None:
                client.close()
    except NothingToCheck:
        raise
    except EngramlogError as error:
        reached.trouble = error


def _close(reached: ReachedStore) -> None:
    if reached.client is not None:
        reached.client.close()
