"""The socket in the data folder by which programs of its user find the service, whatever its port, or without one.

Only its user can write to the folder, so the process that listens here is the user's. Any program may take a port of this machine
first: a client that trusted a port would show the folder's token to a stranger.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Event as Flag
from time import monotonic

from engramlog_server.ops.embedded.folder import unusable
from engramlog_server.ops.embedded.lock import is_used, is_wanted, try_lock, wanting
from engramlog_server.ops.embedded.socket import inode_of

NAME = "api.sock"
LOCK = "engramlog.api"
AGAIN_SECONDS = 0.05
"""Seconds between two tries to claim it."""
LONGEST = 100
"""Bytes of a socket's path; the kernel takes 107 (Linux) or 103 (macOS)."""


class FolderSocket:
    """A claimed socket: no other process serves the folder while it is open."""

    def __init__(self, folder: Path, lock: int) -> None:
        """`lock`: the folder's lock, which is held. Raises OSError if the socket cannot be made."""
        self.path = folder / NAME
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lock = lock
        try:
            self.path.unlink(missing_ok=True)  # the process that left it is gone: the lock is ours
            _bind(self.listener, folder)
            self.path.chmod(0o600)
            self._made = inode_of(self.path)
        except BaseException:
            self.listener.close()
            raise

    @classmethod
    def claim(cls, folder: Path) -> FolderSocket | None:
        """The folder's socket; None while another process has it. Raises EmbeddedRedisError if it cannot be made."""
        lock = try_lock(folder, LOCK)
        if lock is None:
            return None
        try:
            return cls(folder, lock)
        except BaseException as error:
            os.close(lock)
            if isinstance(error, OSError):
                raise unusable(folder, error) from error
            raise

    @classmethod
    def claim_once_left(cls, folder: Path, told: Flag, seconds: float) -> FolderSocket | None:
        """The folder's socket, once a service that a client started has left it: within so many seconds, or until `told` is set.

        None if it is not left, because an `up` has it. Raises UnusableFolder if it cannot be made.
        """
        until = monotonic() + seconds
        with wanting(folder):
            while (claimed := cls.claim(folder)) is None and monotonic() < until:
                if told.wait(AGAIN_SECONDS):
                    break
        return claimed

    def is_there(self) -> bool:
        """Whether the socket is still in the folder."""
        return inode_of(self.path) == self._made

    def release(self) -> None:
        """Release the folder for other processes. Idempotent."""
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)

    def close(self) -> None:
        """Remove the socket and release the folder. Idempotent."""
        self.listener.close()
        if self._lock >= 0 and self.is_there():
            self.path.unlink(missing_ok=True)
        self.release()


def _bind(listener: socket.socket, folder: Path) -> None:
    if len(os.fsencode(folder / NAME)) <= LONGEST:
        listener.bind(str(folder / NAME))
        return
    within = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        listener.bind(f"/proc/self/fd/{within}/{NAME}")  # a short name of the same; without /proc an OSError
    finally:
        os.close(within)


class Stay:
    """Decides when a service that a client started ends: after a while without requests, or if an `up` wants the store."""

    def __init__(self, folder: Path, socket: FolderSocket, idle_seconds: float) -> None:
        self._folder = folder
        self._socket = socket
        self._idle_seconds = idle_seconds

    def over(self, unasked_seconds: Callable[[], float]) -> str | None:
        """Why it ends now; None while it stays. `unasked_seconds`: since the last request ended, 0 during one."""
        if is_wanted(self._folder):
            return "an `engramlog up` wants the store"
        if not self._socket.is_there():
            return f"{self._socket.path} was removed: nobody can find this service any more"
        if unasked_seconds() > self._idle_seconds and not is_used(self._folder):
            return f"nobody has asked for {self._idle_seconds:g} s"
        return None
