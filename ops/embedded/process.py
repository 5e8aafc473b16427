"""A redis-server of ours as a process: started so that it dies with us, waited for until it serves, ended in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import redis

from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.ops.embedded.binary import RedisBinary
from engramlog_server.ops.embedded.disk import LOCK, UNLOCK, look
from engramlog_server.ops.embedded.socket import connect

_LOG_KEPT = 1 << 20
"""Bytes of redis.log beyond which a start puts it aside as redis.log.1."""


class NotInTime(EmbeddedRedisError):
    """Another process did not leave, or a server did not get on, within the time that is waited."""


class ProgressBound:
    """Waiting with a bound: `seconds` without progress, told through `on_wait` whenever what we wait for changes."""

    def __init__(self, seconds: float, on_wait: Callable[[str], None] | None, now: Callable[[], float]) -> None:
        self._seconds, self._on_wait, self._now = seconds, on_wait, now
        self._deadline = now() + seconds
        self._told: str | None = None

    def renew(self) -> None:
        """Something moved: the bound counts anew from here."""
        self._deadline = self._now() + self._seconds

    def wait(self, waiting_for: str | None, given_up: str) -> None:
        """Sleep a moment; None is not told. Raises NotInTime with `given_up` when the bound has passed."""
        if self._now() >= self._deadline:
            raise NotInTime(f"{given_up} (waited {self._seconds:g} s)")
        if waiting_for not in {None, self._told} and self._on_wait is not None:
            self._on_wait(waiting_for)
        self._told = waiting_for
        time.sleep(0.03)


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """What a server is started with; `cut_torn_tail` is the leave to drop an unfinished write at the end of its log."""

    binary: RedisBinary
    folder: Path
    socket: Path
    maxmemory: int
    lock_fd: int
    cut_torn_tail: bool = False

    @property
    def log(self) -> Path:
        """The log file of every server of this folder."""
        return self.folder / "redis.log"

    def command(self) -> list[str]:
        """The server's command line, ours in front: become the server only after having tied it to our life."""
        given = {
            "dir": str(self.folder),
            "unixsocket": str(self.socket),
            "logfile": str(self.log),
            "maxmemory": str(self.maxmemory),
            "aof-load-truncated": "yes" if self.cut_torn_tail else "no",
            "min-replicas-to-write": str(LOCK if look(self.folder).is_at_its_end else UNLOCK),
        }
        options = [part for name, value in given.items() for part in (f"--{name}", value)]
        launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py")), str(os.getpid())]
        return [*launcher, str(self.binary.path), str(Path(__file__).with_name("redis.conf")), *options]


class ServerProcess:
    """One started redis-server.

    The kernel kills it when the *thread* that started it ends, so a thread of its own starts it and then waits for it:
    whoever opens the folder may end its own thread before. The server has its own session, so Ctrl-C reaches only us.
    """

    def __init__(self, plan: ServerPlan) -> None:
        """Start it. Raises EmbeddedRedisError when the operating system refuses."""
        self.plan = plan
        self._ended = threading.Event()
        if plan.log.exists() and plan.log.stat().st_size > _LOG_KEPT:
            plan.log.replace(plan.log.with_name("redis.log.1"))
        self._log_start = plan.log.stat().st_size if plan.log.exists() else 0
        started: Future[subprocess.Popen[bytes]] = Future()
        threading.Thread(target=self._keep, args=(started,), name="redis-server-keeper", daemon=True).start()
        try:
            self.popen = started.result()
        except (OSError, ValueError) as error:
            raise EmbeddedRedisError(f"{plan.binary.path} could not be started on {plan.folder}: {error}") from error

    def _keep(self, started: Future[subprocess.Popen[bytes]]) -> None:
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            with os.fdopen(os.open(self.plan.log, flags, 0o600), "ab") as log:
                os.fchmod(log.fileno(), 0o600)  # as an earlier release made it others could read it
                process = subprocess.Popen(
                    self.plan.command(),
                    cwd=self.plan.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(self.plan.lock_fd,),
                    start_new_session=True,
                    umask=0o077,
                )
        except (OSError, ValueError) as error:
            started.set_exception(error)
            return
        started.set_result(process)
        process.wait()
        self._ended.set()

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self.popen.pid

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._ended.is_set()

    def log_text(self) -> str:
        """What this server wrote to its log, from its start on."""
        return read_log(self.plan.log, self._log_start)

    def wait_until_ready(self, size: int, patience: ProgressBound) -> bool:
        """Wait until it answers PING and has loaded its log of `size` bytes; False when it ended instead.

        The bound of `patience` counts from the last byte loaded: a long log is waited for as long as the server gets
        on.
        Raises EmbeddedRedisError when it does not get on.
        """
        loaded = -1
        with connect(self.plan.socket) as client:
            while not self.ended:
                try:
                    client.ping()
                except redis.RedisError:
                    before, loaded = loaded, max(loaded, _loaded_bytes(client))
                    if loaded > before:
                        patience.renew()
                else:
                    return True
                percent = min(99, 100 * loaded // max(size, 1))
                patience.wait(
                    f"loading {_amount(size)} of {self.plan.folder} ({percent} %)" if loaded >= 0 else None,
                    f"redis-server (pid {self.pid}) on {self.plan.folder} does not get on; see {self.plan.log}",
                )
        return False

    def stop(self, timeout: float) -> None:
        """End it: SHUTDOWN, which writes out the log, and SIGKILL after `timeout` seconds. Returns when it is gone."""
        if self.ended:
            return
        try:
            with connect(self.plan.socket, timeout) as client:
                client.shutdown(nosave=True)
        except redis.RedisError:
            # Not listening yet, or busy in a script: SIGTERM works for the first, SIGKILL below for both.
            self.popen.send_signal(signal.SIGTERM)
        if not self._ended.wait(timeout):
            self.popen.kill()
            self._ended.wait()


def read_log(path: Path, start: int = 0) -> str:
    """A log from byte `start` on; "" when it is gone."""
    try:
        with path.open("rb") as log:
            log.seek(start)
            return log.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def _loaded_bytes(client: redis.Redis) -> int:
    """Bytes of its log that a loading server has read; -1 when it does not say."""
    try:
        return int(client.info("persistence").get("loading_loaded_bytes", -1))
    except redis.RedisError:
        return -1


def _amount(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"


def default_maxmemory() -> int:
    """Half of the memory in bytes that this machine, or the container's limit where one is set, allows."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = [Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")]
    told = [limit.read_text().strip() for limit in limits if limit.is_file()]
    return min([physical, *(int(limit) for limit in told if limit.isdigit())]) // 2
