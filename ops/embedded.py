"""The private Redis of a data folder: one real server, on a unix socket, that lives exactly as long as we do.

`open_folder` tells the story: whoever owns the folder's lock starts the server; a command that meets a running `up` uses its
server; everyone else waits. A folder whose store would come back older, emptier or other than recorded is refused.
"""

from __future__ import annotations

import atexit
import os
import socket as sockets
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

import msgspec
import redis

from events.errors import EmbeddedRedisError, StoreMismatch
from ops.embedded_aof import (
    AofFiles,
    aof_files,
    last_lines,
    recovery_told,
    refuse_what_cannot_be_read,
    start_failure,
    torn_file,
)
from ops.embedded_binary import RedisBinary, find_redis_server, release_of
from ops.embedded_folder import (
    Role,
    ServerFile,
    StoreFile,
    prepare_folder,
    read_server_file,
    read_store_file,
    remove_server_file,
    remove_socket,
    socket_path,
    unusable,
    write_server_file,
    write_store_file,
)
from ops.embedded_lock import FolderLock
from ops.embedded_process import Patience, ServerPlan, ServerProcess, connect, default_maxmemory

__all__ = [
    "EmbeddedRedis",
    "RedisBinary",
    "StoreFile",
    "find_redis_server",
    "open_folder",
    "read_store_file",
    "write_store_file",
]

STORE_KEY = "engramlog:store"
STORE_ID = "store_id"


class EmbeddedRedis:
    """An open data folder: where its server listens, and whether it is ours. Made by `open_folder`, ended by `close`."""

    def __init__(
        self, folder: Path, running: ServerFile, server: ServerProcess | None, lock: FolderLock | None
    ) -> None:
        self.folder = folder
        self.socket_path = Path(running.socket)
        self.pid = running.pid
        self.version = running.version
        self.recovery: str | None = None
        """What was cut off a torn log at this start, for the log and the user; None when nothing."""
        self._running, self._server, self._lock = running, server, lock
        self._closing = False
        atexit.register(self.close)

    @property
    def owned(self) -> bool:
        """Whether we started the server; False when we use that of a running `up`."""
        return self._server is not None

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The server's process, when it is ours."""
        return self._server.popen if self._server else None

    def died(self) -> str | None:
        """Why the server is gone, with its last log lines; None while it runs or when we have closed it. Never blocks."""
        if self._closing or (not self._server.ended if self._server else _listens(self.socket_path)):
            return None
        log = self._server.log_text() if self._server else (self.folder / "redis.log").read_text(errors="replace")
        code = self._server.popen.returncode if self._server else None
        how = "" if code is None else f" by signal {-code}" if code < 0 else f" with exit code {code}"
        said = "\n  ".join(["", *last_lines(log)])
        return f"redis-server (pid {self.pid}) of {self.folder} ended{how}; its last log lines:{said}"

    def record_store(self, store_id: str, partitions: int, tags: Iterable[str]) -> None:
        """Write store.json once the store exists in Redis, or take over one found there; to be called at every opening.

        The order makes a crash harmless: Redis answers with the id only after it has fsynced it, and a store without store.json
        is recorded by the next opening. Cheap when nothing changed. Only from here on is an `up` on a new folder ready for others.
        Raises StoreMismatch when the server, or an earlier store.json, holds another store.
        """
        recorded = read_store_file(self.folder)
        expected = StoreFile(
            store_id=store_id,
            partitions=partitions,
            tags=tuple(tags),
            newest_server_version=_newest(recorded.newest_server_version if recorded else None, self.version),
        )
        if recorded is not None and msgspec.structs.replace(
            recorded, newest_server_version=""
        ) != msgspec.structs.replace(expected, newest_server_version=""):
            raise StoreMismatch(
                f"{self.folder / 'store.json'} records store {recorded.store_id} with {recorded.partitions} partitions, not {store_id} "
                f"with {partitions}; one folder holds one store: name another folder",
                folder=str(self.folder),
            )
        _refuse_other_store(self.folder, self.socket_path, expected, None)
        if recorded != expected:
            write_store_file(self.folder, expected)
        self._set_ready(ready=True)

    def close(self, timeout: float = 10.0) -> None:
        """End our server in order (SIGKILL after `timeout` seconds) and give the folder back. Idempotent.

        Nothing acknowledged is lost either way. The server of an `up` that we only use is left alone.
        """
        if self._closing:
            return
        self._closing = True
        atexit.unregister(self.close)
        if self._server is None or self._lock is None:
            return
        try:
            if not self._server.ended:
                self._set_ready(ready=False)
            self._server.stop(timeout)
            remove_server_file(self.folder)
            remove_socket(self.folder, self.socket_path)
        finally:
            self._lock.release()

    def _set_ready(self, *, ready: bool) -> None:
        if self._server is not None and self._running.ready != ready:
            self._running = msgspec.structs.replace(self._running, ready=ready)
            write_server_file(self.folder, self._running)

    def __enter__(self) -> EmbeddedRedis:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_folder(
    folder: Path,
    role: Role,
    *,
    binary: RedisBinary | None = None,
    maxmemory: int | None = None,
    wait_seconds: float = 60.0,
    on_wait: Callable[[str], None] | None = None,
    now: Callable[[], float] = time.monotonic,
    create: bool = True,
) -> EmbeddedRedis:
    """The private Redis of `folder`, serving and loaded: our own, or for a `command` that of a running `up`.

    `wait_seconds` bounds the wait for whoever else uses the folder, and the time without progress of a server that loads;
    `on_wait` hears in a sentence what is waited for, whenever that changes. `maxmemory` is in bytes (default: half of the memory);
    `binary` defaults to `find_redis_server()`; `create` makes a missing folder.

    Raises EmbeddedRedisError when the folder cannot serve, stays in use, has another `up`, or its server does not start (with the
    damaged file and the cure), and StoreMismatch when the store would come back older, emptier or other than store.json says.
    """
    folder = prepare_folder(folder, create=create)
    patience = Patience(wait_seconds, on_wait, now)
    while (lock := FolderLock.try_own(folder)) is None:
        running = read_server_file(folder)
        if running is not None and running.role == "up" and _answers(running):
            if role == "up":
                raise EmbeddedRedisError(
                    f"`engramlog up` (pid {running.started_by}) already runs on {folder}; stop it or use another folder",
                    folder=str(folder),
                    pid=running.started_by,
                )
            if running.ready:
                return _join(folder, running)
        patience.wait(*_in_use(folder, running))
    patience.renew()
    try:
        lock.take_server(patience)
        return _start(folder, role, lock, binary or find_redis_server(), maxmemory or default_maxmemory(), patience)
    except BaseException as error:
        lock.release()
        if isinstance(error, OSError):
            raise unusable(folder, error) from error
        raise


def _in_use(folder: Path, running: ServerFile | None) -> tuple[str, str]:
    """What to say while the folder is another's, and when it stays so."""
    if running is None:
        return (
            f"waiting for another process to leave {folder}",
            f"{folder} stays locked by another process; end it and try again",
        )
    if running.role == "up":
        who = f"`engramlog up` (pid {running.started_by})"
        return (
            f"waiting for {who} on {folder} to be ready",
            f"{who} on {folder} did not get ready; see {folder / 'redis.log'}",
        )
    who = f"a command (pid {running.started_by})"
    return (
        f"waiting for {who} to finish with {folder}",
        f"{who} still uses {folder}; wait for it or end it, then try again",
    )


def _answers(running: ServerFile) -> bool:
    """Whether the server named by server.json is really there: the file may be left over from a killed owner."""
    try:
        with connect(Path(running.socket)) as client:
            return bool(client.info("server")["process_id"] == running.pid)
    except redis.RedisError:
        return False


def _join(folder: Path, running: ServerFile) -> EmbeddedRedis:
    store = read_store_file(folder)
    if store is not None:
        _refuse_other_store(folder, Path(running.socket), store, None)
    return EmbeddedRedis(folder, running, None, None)


def _start(
    folder: Path, role: Role, lock: FolderLock, binary: RedisBinary, maxmemory: int, patience: Patience
) -> EmbeddedRedis:
    """Start the server of a folder that is ours alone, and check that it brought back what the folder recorded."""
    remove_server_file(folder)
    for scratch in [*folder.glob("temp-rewriteaof-*.aof"), *folder.glob("temp-*.rdb")]:
        scratch.unlink(missing_ok=True)  # of a killed rewrite; none is running, for it would hold the lock
    store = read_store_file(folder)
    refuse_what_cannot_be_read(folder, binary, store)
    before = aof_files(folder)
    plan = ServerPlan(binary, folder, socket_path(folder), maxmemory, lock.server_fd, before.only_last_can_be_cut)
    server, running = _boot(plan, role, before, patience)
    try:
        if store is not None:
            recovery = recovery_told(server.log_text(), before)
            _refuse_other_store(folder, plan.socket, store, recovery)
            newest = _newest(store.newest_server_version, binary.version)
            if newest != store.newest_server_version:
                write_store_file(folder, msgspec.structs.replace(store, newest_server_version=newest))
        opened = EmbeddedRedis(folder, running, server, lock)
        opened.recovery = recovery_told(server.log_text(), before)
        opened._set_ready(ready=store is not None)
    except BaseException:
        _abandon(server)
        raise
    return opened


def _boot(plan: ServerPlan, role: Role, before: AofFiles, patience: Patience) -> tuple[ServerProcess, ServerFile]:
    """A server that serves. Raises EmbeddedRedisError, with no server left behind, when it refuses or does not get on."""
    server = ServerProcess(plan)
    try:
        running = ServerFile(
            pid=server.pid,
            socket=str(plan.socket),
            role=role,
            ready=False,
            started_by=os.getpid(),
            version=plan.binary.version,
        )
        write_server_file(plan.folder, running)
        if server.wait_until_ready(before.size, patience):
            return server, running
    except BaseException:
        _abandon(server)
        raise
    _abandon(server)
    log = server.log_text()
    if not plan.cut_torn_tail and torn_file(log) == before.last:
        leave = ServerPlan(plan.binary, plan.folder, plan.socket, plan.maxmemory, plan.lock_fd, cut_torn_tail=True)
        return _boot(leave, role, before, patience)
    raise start_failure(plan.folder, plan.binary, before, log)


def _abandon(server: ServerProcess) -> None:
    """Leave nothing behind of a server that did not work out."""
    server.stop(timeout=10.0)
    remove_server_file(server.plan.folder)
    remove_socket(server.plan.folder, server.plan.socket)


def _refuse_other_store(folder: Path, socket: Path, store: StoreFile, recovery: str | None) -> None:
    """Raise StoreMismatch unless the server behind `socket` holds `store`."""
    with connect(socket) as client:
        found = client.hget(STORE_KEY, STORE_ID)
    if found == store.store_id:
        return
    holds = f"store {found}" if found else "no store"
    raise StoreMismatch(
        f"{folder} should hold store {store.store_id}, but its Redis came back with {holds}{f' ({recovery})' if recovery else ''}; "
        "restore the append-only file from a backup, or begin a new store in another folder",
        folder=str(folder),
        recorded=store.store_id,
        found=found,
    )


def _newest(one: str | None, other: str) -> str:
    return one if one is not None and release_of(one) > release_of(other) else other


def _listens(path: Path) -> bool:
    with sockets.socket(sockets.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
