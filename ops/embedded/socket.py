"""The unix socket of a private Redis: where it lies, and how to talk to whoever listens there."""

from __future__ import annotations

import hashlib
import os
import socket as sockets
import stat
import tempfile
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.events.redis.client import DRIVER

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
