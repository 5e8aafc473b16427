"""A Redis of our own that loads a file of another, and tells all that it holds, unpacked.

Strings in an RDB are packed by LZF, so what lies in one cannot be found by looking at its bytes. It is loaded as a replica would,
which drops nothing whose time is over, and told by the replication protocol without packing: nothing is written to a disk. A file
that lies on this machine is not copied; one that comes out of an archive lies in memory meanwhile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import AF_UNIX, socket

import redis

from engramlog_server.events.redis.client import connect
from engramlog_server.events.redis.wire import StoreClient
from engramlog_server.ops.embedded import launch
from engramlog_server.ops.embedded.binary import RedisBinary
from engramlog_server.ops.embedded.socket import url_of

MAGICS = (b"REDIS", b"VALKEY")
"""What an RDB begins with; digits of its version follow."""
GROWS = 6
"""Times its size that a file may take in memory: what is left of a machine's memory is asked for it."""
LOAD_SECONDS = 3_600.0
ANSWER_SECONDS = 600.0
LOOK_SECONDS = 0.02
CHUNK = 1 << 20
_LOADED = b"DB loaded from disk"
"""What Redis notes once it has loaded a file."""
_MARK_BYTES = 40
_FALLBACK = "/tmp"  # noqa: S108 - the folder below it is private
_LONGEST = 60
"""Characters of a folder in which a socket's path is short enough."""


class NotLoaded(Exception):
    """A file that could not be loaded; says why, and nothing of what is in it."""


def is_rdb(head: bytes) -> bool:
    """Whether a file that begins so is an RDB, or an append-only file with one in front."""
    return any(head.startswith(one) and head[len(one) : len(one) + 3].isdigit() for one in MAGICS)


@contextmanager
def loaded(path: Path, size: int, binary: RedisBinary) -> Iterator[Scratch]:
    """A Redis that has loaded an RDB, or what an append-only file has in front; it ends with the `with`. Raises NotLoaded."""
    if (there := _memory()) is not None and size * GROWS > there:
        raise NotLoaded(f"it may need {size * GROWS:,} bytes of memory to be loaded, and {there:,} are free here")
    folder = Path(tempfile.mkdtemp(prefix="el-", dir=None if len(tempfile.gettempdir()) < _LONGEST else _FALLBACK))
    try:
        (folder / "dump.rdb").symlink_to(path)
        scratch = Scratch(folder, binary)
        try:
            scratch.wait()
            yield scratch
        except (redis.RedisError, OSError) as error:
            raise NotLoaded(f"{binary.release} could not tell what is in it ({type(error).__name__})") from None
        finally:
            scratch.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Scratch:
    """A running Redis."""

    def __init__(self, folder: Path, binary: RedisBinary) -> None:
        self._socket, self._log, self._binary, self._folder = folder / "s", folder / "log", binary, folder
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(folder),
            "dbfilename": "dump.rdb",
            "save": "",
            "appendonly": "no",
            "rdbcompression": "no",
            "repl-diskless-sync": "yes",
            "repl-diskless-sync-delay": "0",
            "client-output-buffer-limit": "replica 0 0 0",
            "slave-read-only": "yes",
            "maxmemory": "0",
            "logfile": str(self._log),
            "loglevel": "notice",
            "enable-debug-command": "yes",
        }
        words = [part for name, value in options.items() for part in (f"--{name}", *_values(name, value))]
        # As a replica, of nobody who answers: a primary drops at once what has expired.
        words += ["--replicaof", "127.0.0.1", "1"]
        launcher = [sys.executable, "-I", "-S", str(launch.__file__), str(os.getpid())]
        self._process = subprocess.Popen(
            [*launcher, str(binary.path), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            umask=0o077,
        )

    def client(self) -> StoreClient:
        """A client of it."""
        return connect(url_of(self._socket), timeout=ANSWER_SECONDS)

    def wait(self) -> None:
        """Wait until it has loaded; from then on it is a primary that lets nothing expire by itself. Raises NotLoaded."""
        end = time.monotonic() + LOAD_SECONDS
        while True:
            if self._process.poll() is not None:
                raise NotLoaded(f"{self._binary.release} does not load it: it is damaged, or of a newer server")
            with suppress(redis.RedisError, OSError), self.client() as client:
                client.ping()
                break
            if time.monotonic() > end:
                raise NotLoaded(f"it was not loaded within {LOAD_SECONDS:,.0f} s")
            time.sleep(LOOK_SECONDS)
        if _LOADED not in self._log.read_bytes():  # a file that it does not find it takes for none
            raise NotLoaded(f"{self._binary.release} did not find it: it went meanwhile, or cannot be read")
        with self.client() as client:
            client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
            client.execute_command("REPLICAOF", "NO", "ONE")

    def told(self) -> Iterator[bytes]:
        """All that it holds as an RDB whose strings are not packed, in chunks. Raises NotLoaded, OSError."""
        with socket(AF_UNIX) as line:
            line.settimeout(ANSWER_SECONDS)
            line.connect(str(self._socket))
            line.sendall(b"SYNC\r\n")
            with line.makefile("rb") as file:
                head = file.readline()
                while head in (b"\n", b"\r\n"):
                    head = file.readline()
                if head.startswith(b"$EOF:"):
                    yield from _until(file, head[5 : 5 + _MARK_BYTES])
                elif head.startswith(b"$"):
                    yield from _so_many(file, int(head[1:]))
                else:
                    raise NotLoaded(f"{self._binary.release} does not tell what is in it")

    def saved(self) -> Path:
        """Have it write what it holds now; where that lies, until it ends. Raises NotLoaded, redis.RedisError."""
        with self.client() as client:
            client.config_set("rdbcompression", "yes")
            client.save()
        path = self._folder / "dump.rdb"
        if path.is_symlink():
            raise NotLoaded(f"{self._binary.release} did not write it anew")
        return path

    def end(self) -> None:
        """End it: it holds nothing that is to be kept."""
        self._process.kill()
        self._process.wait()


def _values(name: str, value: str) -> list[str]:
    return value.split() if name == "client-output-buffer-limit" else [value]


def _until(file: object, mark: bytes) -> Iterator[bytes]:
    kept = b""
    while chunk := file.read1(CHUNK):  # type: ignore[attr-defined]
        kept += chunk
        if kept.endswith(mark):
            yield kept[: -len(mark)]
            return
        yield kept[:-_MARK_BYTES]
        kept = kept[-_MARK_BYTES:]
    raise NotLoaded("Redis broke off while it told what is in it")


def _so_many(file: object, size: int) -> Iterator[bytes]:
    while size > 0:
        chunk: bytes = file.read1(min(CHUNK, size))  # type: ignore[attr-defined]
        if not chunk:
            raise NotLoaded("Redis broke off while it told what is in it")
        size -= len(chunk)
        yield chunk


def _memory() -> int | None:
    """Bytes of memory that are free on this machine; None where it does not tell."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1_024
    return None
