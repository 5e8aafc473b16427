"""The private Redis of a data folder: one real server, on a unix socket, that lives exactly as long as we do.

`open_folder` tells the story: whoever owns the folder's lock starts the server; a command that meets a running `up`
uses its server; everyone else waits. A folder whose store would come back older, emptier or other than recorded is
refused.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import redis

from engramlog_server.events.errors import EmbeddedRedisError, StoreMismatch
from engramlog_server.events.redis.server import Release
from engramlog_server.ops.embedded.aof import (
    Cut,
    StoreFile,
    aof_files,
    cut_text,
    last_lines,
    read_store_file,
    recovery_text,
    refuse_other_store,
    refuse_what_cannot_be_read,
    start_failure,
    torn_file,
    write_store_file,
)
from engramlog_server.ops.embedded.disk import full_disk_text
from engramlog_server.ops.embedded.folder import (
    Role,
    ServerFile,
    prepare_folder,
    read_server_file,
    remove_server_file,
    unusable,
    write_server_file,
)
from engramlog_server.ops.embedded.lock import FolderLock, is_owned, may_be_used, owner_text, using, wanting
from engramlog_server.ops.embedded.process import (
    KeptSocket,
    ProgressBound,
    RedisBinary,
    ServerPlan,
    ServerProcess,
    answers,
    connect,
    default_maxmemory,
    find_redis_server,
    listens,
    read_log,
    remove_socket,
    socket_path,
)

__all__ = [
    "EmbeddedRedis",
    "RedisBinary",
    "StoreFile",
    "find_redis_server",
    "open_folder",
    "read_store_file",
    "write_store_file",
]


class EmbeddedRedis:
    """An open data folder: where its server listens and whether it is ours. `open_folder` makes it, `close` ends it.

    The process must not fork while it is open: the child would keep the folder locked.
    """

    def __init__(
        self,
        folder: Path,
        running: ServerFile,
        server: ServerProcess | None,
        lock: FolderLock | None,
        used: int | None = None,
    ) -> None:
        """`used`: what keeps the server of a process there that would leave once nobody asks (`ops.embedded.lock`)."""
        self.folder = folder
        self.socket_path = Path(running.socket)
        self.pid = running.pid
        self.release = Release(running.product, running.version)
        self.recovery: str | None = None
        """What was cut off a torn log at this start, for the log and the user; None when nothing."""
        self._running, self._server, self._lock, self._used = running, server, lock, used
        self._kept_socket = KeptSocket(folder, self.socket_path) if server is not None else None
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
        """Why the server is gone, with its last log lines; None while it runs or once we have closed it."""
        if self._closing or (not self._server.ended if self._server else listens(self.socket_path)):
            return None
        log = self._server.log_text() if self._server else read_log(self.folder / "redis.log")
        code = self._server.popen.returncode if self._server else None
        how = "" if code is None else f" by signal {-code}" if code < 0 else f" with exit code {code}"
        said = "\n  ".join(["", *last_lines(log)])
        return f"redis-server (pid {self.pid}) of {self.folder} ended{how}; its last log lines:{said}{full_disk_text(self.folder)}"

    def tend_socket(self) -> str | None:
        """Put the socket's file back where somebody removed it; says so then. To be called now and again by who started the server.

        Raises EmbeddedRedisError where it cannot be put back: nobody new can reach the server.
        """
        found = self._kept_socket.tend() if self._kept_socket is not None and not self._closing else "there"
        if found == "there":
            return None
        what = f"the socket of the private Redis, {self.socket_path}, was removed or replaced"
        if found == "lost":
            raise EmbeddedRedisError(
                f"{what}, and cannot be put back: nobody can reach the store. Nothing acknowledged is lost; run it again, and keep"
                " cleaners of temporary files off that folder",
                folder=str(self.folder),
            )
        return f"{what}; it was put back"

    def record_store(self, store_id: str, partitions: int, tags: Iterable[str]) -> None:
        """Write store.json once the store exists in Redis, or take over one found there; to be called at every opening.

        The order makes a crash harmless: Redis answers with the id only after it has fsynced it, and a store without
        store.json is recorded by the next opening. Cheap when nothing changed. Only from here on is an `up` on a new
        folder ready for others.
        Raises StoreMismatch when the server, or an earlier store.json, holds another store.
        """
        recorded = read_store_file(self.folder)
        newest = recorded.newest_server if recorded else self.release
        expected = StoreFile(
            store_id=store_id,
            partitions=partitions,
            tags=tuple(tags),
            newest_server_version=newest.version,
            product=newest.product,
        ).opened_by(self.release)
        if recorded is not None and recorded.opened_by(self.release) != expected:
            raise StoreMismatch(
                f"{self.folder / 'store.json'} records store {recorded.store_id} of {recorded.partitions} partitions, "
                f"not {store_id} of {partitions}; a folder holds one store for good: name another folder",
                folder=str(self.folder),
            )
        refuse_other_store(self.folder, self.socket_path, expected)
        if recorded != expected:
            write_store_file(self.folder, expected)
        self._set_ready()

    def close(self, timeout: float = 10.0) -> None:
        """End our server in order (SIGKILL after `timeout` seconds) and give the folder back. Idempotent.

        Nothing acknowledged is lost either way. The server of an `up` that we only use is left alone.
        """
        if self._closing:
            return
        self._closing = True
        atexit.unregister(self.close)
        if self._used is not None:
            os.close(self._used)
        if self._server is None or self._lock is None:
            return
        try:
            remove_server_file(self.folder)  # first, so that nobody comes to a server that goes
            self._server.stop(timeout)
            remove_socket(self.folder, self.socket_path)
        finally:
            self._lock.release()

    def _set_ready(self) -> None:
        if self._server is not None and not self._running.ready:
            self._running = msgspec.structs.replace(self._running, ready=True)
            write_server_file(self.folder, self._running)

    def __enter__(self) -> Self:
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
    """The private Redis of `folder`, serving and loaded: our own, or that of a running `up` or `shared` process.

    An `up` joins nobody: it waits for a `shared` one to leave.

    `wait_seconds` bounds the wait for whoever else uses the folder, and the time without progress of a server that
    loads; `on_wait` hears in a sentence what is waited for, whenever that changes. `maxmemory` is in bytes (default:
    half of the memory); `binary` defaults to `find_redis_server()`; `create` makes a missing folder.

    Raises EmbeddedRedisError when the folder cannot serve, stays in use, has another `up`, or its server does not start
    (with the damaged file and the cure), and StoreMismatch when the store would come back older, emptier or other than
    store.json says.
    """
    folder = prepare_folder(folder, create=create)
    patience = ProgressBound(wait_seconds, on_wait, now)
    with wanting(folder) if role == "up" else nullcontext():
        lock = _owned(folder, role, patience)
    if isinstance(lock, ServerFile):
        return _join(folder, lock, role)
    patience.renew()
    try:
        lock.take_server(patience)
        binary = binary or find_redis_server()
        return _start(folder, role, lock, patience, binary=binary, maxmemory=maxmemory or default_maxmemory())
    except BaseException as error:
        lock.release()
        if isinstance(error, OSError):
            raise unusable(folder, error) from error
        raise


def _owned(folder: Path, role: Role, patience: ProgressBound) -> FolderLock | ServerFile:
    """The folder's lock once it is ours, or the server that is to be joined. Raises EmbeddedRedisError where it stays in use."""
    while (lock := FolderLock.try_own(folder)) is None:
        running = read_server_file(folder)
        if running is not None and running.role != "command" and answers(Path(running.socket), running.pid):
            if role == running.role == "up":
                raise _already(folder, running)
            if running.ready and role != "up":
                return running
        patience.wait(*_in_use(folder, running))
    return lock


def _already(folder: Path, running: ServerFile) -> EmbeddedRedisError:
    return EmbeddedRedisError(
        f"`engramlog up` (pid {running.started_by}) already runs on {folder}; stop it or name another",
        folder=str(folder),
        pid=running.started_by,
    )


def look_into_folder(folder: Path, binary: RedisBinary) -> str | None:
    """What an `up` would wait for on a folder; None where it could begin at once. Nothing is made, started or kept.

    Raises what `open_folder` raises where an `up` could not have it: another one runs there, or `binary` cannot read it.
    """
    folder = folder.expanduser().resolve()
    if not folder.exists():
        return None
    running = read_server_file(folder) if is_owned(folder) else None
    if running is not None and running.role == "up" and answers(Path(running.socket), running.pid):
        raise _already(folder, running)
    refuse_what_cannot_be_read(folder, binary, read_store_file(folder))
    return None if running is None and not is_owned(folder) else _in_use(folder, running)[0]


def _in_use(folder: Path, running: ServerFile | None) -> tuple[str, str]:
    """What to say while the folder is another's, and when it stays so."""
    if running is None:
        who = f"another process ({owner_text(folder)})"
        return (
            f"{who} is using {folder}; waiting for it to exit",
            f"{folder} stays locked by {who}; end it and try again",
        )
    if running.role == "shared":
        return (
            (
                f"`engramlog mcp`, or a service that a client started (pid {running.started_by}), is using {folder}; waiting"
                " for it to exit"
            ),
            f"`engramlog mcp` (pid {running.started_by}) is at work in {folder}; end it, or try again once it has been idle",
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


def _join(folder: Path, running: ServerFile, role: Role) -> EmbeddedRedis:
    store = read_store_file(folder)
    if store is not None:
        refuse_other_store(folder, Path(running.socket), store)
    return EmbeddedRedis(folder, running, None, None, using(folder) if role == "command" else None)


def _start(
    folder: Path, role: Role, lock: FolderLock, patience: ProgressBound, *, binary: RedisBinary, maxmemory: int
) -> EmbeddedRedis:
    """Start the server of a folder that is ours alone, and check that it brought back what the folder recorded."""
    remove_server_file(folder)
    for scratch in [*folder.glob("temp-rewriteaof-*.aof"), *folder.glob("temp-*.rdb")]:
        scratch.unlink(missing_ok=True)  # of a killed rewrite; none is running, for it would hold the lock
    store = read_store_file(folder)
    refuse_what_cannot_be_read(folder, binary, store)
    plan = ServerPlan(binary, folder, socket_path(folder), maxmemory, lock.server_fd)
    serving = start_server(plan, role, patience)
    try:
        if store is not None:
            refuse_other_store(folder, serving.server.plan.socket, store, serving.recovery)
            if store.opened_by(binary.release) != store:
                write_store_file(folder, store.opened_by(binary.release))
        opened = EmbeddedRedis(folder, serving.running, serving.server, lock)
        opened.recovery = serving.recovery
        if role != "command":
            may_be_used(folder)
        if store is not None:
            opened._set_ready()
    except BaseException:
        abandon(serving.server)
        raise
    return opened


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that serves, what server.json says of it, and what was cut off its log at this start."""

    server: ServerProcess
    running: ServerFile
    recovery: str | None


def start_server(plan: ServerPlan, role: Role, patience: ProgressBound) -> RunningServer:
    """The folder's server, loaded and with a sound log; `plan.cut_torn_tail` and `plan.socket` are decided here.

    Redis 7.0.15 cuts a log that breaks off inside a command of a script behind the last whole command, and leaves the script's
    MULTI open in the file; Valkey 9.1.2 cuts before the MULTI (tried). What is written next lands inside an open MULTI: at the
    following load single writes are gone although they were acknowledged, or the script's first half comes to life. A log that
    ends in an open MULTI is cut before it, though. So after such a cut the server is started again before anybody may write,
    until a load finds nothing to cut.

    Raises EmbeddedRedisError, with no server left behind, when it refuses the log or does not get on.
    """
    cuts: list[Cut] = []
    checked = False
    while True:
        before = aof_files(plan.folder)
        # Where the folder's path is too long for a socket, its run-time folder went with the server before.
        plan = replace(plan, cut_torn_tail=checked or before.only_last_can_be_cut, socket=socket_path(plan.folder))
        server = ServerProcess(plan)
        try:
            running = _say_who_runs(server, role)
            ready = server.wait_until_ready(before.size, patience)
        except BaseException:
            abandon(server)
            raise
        log = server.log_text()
        cut = cut_text(log, before)
        if ready and (cut is None or cut.whole_scripts):
            _take_back_the_leave(plan)
            return RunningServer(server, running, recovery_text([*cuts, cut] if cut else cuts))
        abandon(server)
        if cut is not None and aof_files(plan.folder).sizes != before.sizes:
            # Also a server that ended: it cuts a log of Redis 6.2 that it has just taken over, then stumbles on the next.
            cuts.append(cut)
        elif not checked and torn_file(log) == before.last:
            checked = True  # every file before the torn one was loaded whole, so leave to cut cannot touch them
        else:
            raise start_failure(plan.folder, plan.binary, before, log)


def _take_back_the_leave(plan: ServerPlan) -> None:
    """The leave to cut was for this start, which told what it cut; receipts go by what CONFIG says (`events.redis.durability`)."""
    with suppress(redis.RedisError), connect(plan.socket) as client:
        client.config_set("aof-load-truncated", "no")


def abandon(server: ServerProcess) -> None:
    """End a server that is not to serve, and leave nothing of it behind."""
    server.stop(timeout=10.0)
    remove_server_file(server.plan.folder)
    remove_socket(server.plan.folder, server.plan.socket)


def _say_who_runs(server: ServerProcess, role: Role) -> ServerFile:
    plan = server.plan
    running = ServerFile(
        pid=server.pid,
        socket=str(plan.socket),
        role=role,
        ready=False,
        started_by=os.getpid(),
        version=plan.binary.release.version,
        product=plan.binary.release.product,
    )
    write_server_file(plan.folder, running)
    return running
