"""One redis-server on a port of loopback, in a folder that outlives its process: killed, stopped and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.chaos.cast import wait_until
from tests.given.clusters.ports import HOST
from tests.servers import LAUNCHER

if TYPE_CHECKING:
    from tests.given.access.certificates import Pair

ANSWER_SECONDS = 10.0
IN_USE = "Address already in use"
EMPTY = '""'


class PortTaken(Exception):
    """Somebody else took the port between its choice and the start of the server."""


class PortServer:
    """A redis-server with these settings. It dies with the thread that starts it (`ops/embedded/launch.py`)."""

    def __init__(
        self,
        binary: Path,
        folder: Path,
        port: int,
        settings: Mapping[str, str],
        *,
        password: str = "",
        pair: Pair | None = None,
    ) -> None:
        """`pair`: the certificate by which it speaks TLS, and nothing else."""
        self.binary = binary
        self.folder = folder
        self.port = port
        self.host = HOST
        self.password = password
        self.log = folder / "log"
        self.settings = dict(settings)
        """What it is started with."""
        self.pair = pair
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        folder.mkdir(parents=True)
        self._client = self.client()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address})"

    @property
    def address(self) -> str:
        """host:port."""
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int:
        """Of its process, which runs or is stopped."""
        assert self._process is not None, f"{self} has no process"
        return self._process.pid

    @property
    def lives(self) -> bool:
        """Whether it has a process, a stopped one too."""
        return self._process is not None and self._process.poll() is None

    @property
    def answers(self) -> bool:
        """Whether it lives and is not stopped."""
        return self.lives and not self._stopped

    def client(self, *, seconds: float = ANSWER_SECONDS) -> redis.Redis:
        """A client of this one server, which retries nothing and follows nothing."""
        told: dict[str, Any] = {} if self.pair is None else {"ssl": True, "ssl_ca_certs": str(self.pair.chain)}
        return redis.Redis(
            self.host,
            self.port,
            password=self.password or None,
            protocol=2,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=Retry(NoBackoff(), 0),
            **told,
        )

    def ask(self, *words: Any) -> Any:
        """The answer to a command, as redis-py gives it. Raises redis.RedisError."""
        return self._client.execute_command(*words)

    def hang_up(self) -> None:
        """Be connected to it no more, until it is asked again."""
        self._client.connection_pool.disconnect()

    def info(self, section: str) -> dict[str, Any]:
        """What INFO tells, by name."""
        return dict(self._client.info(section))

    def start(self) -> None:
        """Start it on its folder, and wait until it has loaded. Raises PortTaken, and AssertionError with its log."""
        assert not self.lives, f"{self} runs already"
        file = self.folder / "redis.conf"
        file.write_text("".join(f"{name} {value or EMPTY}\n" for name, value in self.settings.items()))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", LAUNCHER, str(os.getpid()), self.binary, file],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,  # Ctrl-C is for whoever started it
            )
        wait_until(self._serves, f"{self} serves")

    def _serves(self) -> bool:
        """Whether it answers and has loaded what it had."""
        assert self._process is not None
        ended = self._process.poll()
        if ended is not None:
            self._process = None
            told = self.log.read_text("utf-8", "replace")[-2000:]
            if IN_USE in told:
                raise PortTaken(f"{self}: {told}")
            raise AssertionError(f"{self} ended with {ended}: {told}")
        with suppress(redis.ConnectionError, redis.TimeoutError):
            return bool(self._client.ping())  # it refuses while it loads, as a kind of ConnectionError
        return False

    def kill(self) -> None:
        """SIGKILL, by its own process id; stopped or not. What is open to it is closed."""
        self._client.connection_pool.disconnect()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process, self._stopped = None, False

    def pause(self) -> None:
        """SIGSTOP: its connections stay open, and it reads nothing. Returns once it stands still."""
        os.kill(self.pid, signal.SIGSTOP)
        wait_until(self._stands_still, f"{self} stands still")
        self._stopped = True

    def _stands_still(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None

    def resume(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)
        self._stopped = False

    def close(self) -> None:
        """End it for good. Idempotent."""
        self.kill()
        self._client.close()
