"""The processes of the fault test: a Redis with an append-only file, and Python processes that can be killed or stopped.

Each dies with the thread that started it (`ops/embedded/launch.py`), stopped ones too, so a broken test leaves nothing.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import redis

from engramlog_server.events.redis.server import connect
from engramlog_server.ops.embedded.process import find_redis_server
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "ops" / "embedded" / "launch.py"


def wait_until(holds: Callable[[], bool], what: str | Callable[[], str], seconds: float = PATIENCE) -> None:
    """Wait for a condition. Raises AssertionError naming `what` after `seconds` without it."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"{what if isinstance(what, str) else what()}: not within {seconds:g} s")
        time.sleep(0.01)


def _launch(command: list[str], log: Path, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), *command],
            cwd=ROOT,
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )


class Server:
    """A redis-server that writes every acknowledged command to disk, in a folder that outlives it."""

    def __init__(self, folder: Path, name: str = "redis", *, port: int = 0, binary: Path | None = None) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        self.port = port
        self.log = self.folder / "log"
        self._sockets = Path(tempfile.mkdtemp(prefix="el-", dir="/tmp"))  # a socket's path holds 107 bytes at most
        self.socket = self._sockets / "s"
        self._process: subprocess.Popen[bytes] | None = None
        found = find_redis_server(str(binary) if binary else None)
        self.release = found.release
        self._binary = found.path

    @property
    def url(self) -> str:
        """What `events.redis.server.connect` takes."""
        return f"unix://{self.socket}"

    def client(self, timeout: float = 10.0) -> redis.Redis:
        """A client as the product makes it."""
        return connect(self.url, timeout=timeout)

    def start(self, seconds: float = 20.0) -> None:
        """Start it on its folder and wait until it serves; a torn tail is cut first, by a server that nobody else reaches."""
        self._process = self._launched(self.socket, "no")
        wait_until(lambda: self._serves() or self._refused(), f"redis-server on {self.folder}", seconds)
        if self._refused():
            apart = self.socket.with_name("apart")
            self._process = self._launched(apart, "yes")
            wait_until(lambda: self._serves(apart), f"redis-server on {self.folder}, cutting its tail", seconds)
            self.kill()
            self._process = self._launched(self.socket, "no")
            wait_until(self._serves, f"redis-server on {self.folder}, its tail cut", seconds)

    def _launched(self, socket: Path, cut_torn_tail: str) -> subprocess.Popen[bytes]:
        settings = {
            "port": str(self.port), "bind": "127.0.0.1", "unixsocket": str(socket), "dir": str(self.folder),
            "save": "", "appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no",
            "aof-load-truncated": cut_torn_tail, "repl-diskless-sync": "yes", "repl-diskless-sync-delay": "0",
        }  # fmt: skip
        options = [part for name, value in settings.items() for part in (f"--{name}", value)]
        return _launch([str(self._binary), *options], self.log)

    def _refused(self) -> bool:
        """Whether it ended at once, for the tail of its file."""
        assert self._process is not None
        if self._process.poll() is None:
            return False
        told = self.log.read_text()[-2000:]
        assert "Unexpected end of file" in told, f"redis-server ended: {told}"
        return True

    def _serves(self, socket: Path | None = None) -> bool:
        try:
            with connect(f"unix://{socket or self.socket}", timeout=2.0) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def kill(self) -> None:
        """SIGKILL, by its own process id."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def pid(self) -> int:
        """Of its process, which lives."""
        assert self._process is not None
        return self._process.pid

    @property
    def file(self) -> Path:
        """The append-only file that grows."""
        return max(self.folder.glob("appendonlydir/*.incr.aof"))

    def size(self) -> int:
        """Bytes of the file: what is acknowledged now lies before this, what comes later behind."""
        return self.file.stat().st_size

    def come_back_shorter(self, size: int) -> None:
        """Kill it, cut its file to `size` bytes (as a disk that lied would have it) and start it again."""
        self.kill()
        with self.file.open("r+b") as file:
            file.truncate(size)
        self.start()

    def close(self) -> None:
        """End it and remove its socket."""
        self.kill()
        shutil.rmtree(self._sockets, ignore_errors=True)


class Actor:
    """A Python process of the cast; `fate` tells what it was started to meet."""

    def __init__(
        self, module: str, *arguments: str, log: Path, fate: str = "", environment: dict[str, str] | None = None
    ) -> None:
        self.fate = fate
        self.log = log
        self._start = log.stat().st_size if log.exists() else 0
        self._process = _launch([sys.executable, "-P", "-m", module, *arguments], log, environment)
        self.killed = False
        """Whether we killed it: else it was its fate, or its end."""

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Exit code once it has ended; the negative signal number where a signal ended it."""
        return self._process.poll()

    @property
    def halted(self) -> bool:
        """Whether it is stopped (by itself at its named point, or by us)."""
        if self.code is not None:
            return False
        return os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None

    def stop(self) -> None:
        """SIGSTOP: it sleeps, its connections stay open."""
        self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self.code is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL, by its own process id."""
        if self.code is None:
            self.killed = True
            self._process.kill()
            self._process.wait()

    def end(self, seconds: float = 10.0) -> None:
        """SIGTERM, which hands over in order; SIGKILL when it does not heed it."""
        if self.code is None:
            self._process.terminate()
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()

    def told(self) -> str:
        """What it wrote to its log."""
        with self.log.open("rb") as log:
            log.seek(self._start)
            return log.read().decode("utf-8", "replace")
