"""The socket in the data folder by which programs of its user find the service, whatever port it has, or where it has none.

The folder is its user's alone, so whoever listens here is his process. A port of this machine anybody may take first: a client
that trusted one would show the folder's token to whoever listens there.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Event as Flag
from time import monotonic

from ops.embedded.folder import unusable
from ops.embedded.wanted import is_used, is_wanted, wanting

NAME = "api.sock"
LOCK = "engramlog.api"
AGAIN_SECONDS = 0.05
"""Between two tries to have it."""
LONGEST = 100
"""Bytes of a socket's path; the kernel takes 107 (Linux) or 103 (macOS)."""


class FolderSocket:
    """A claimed socket: nobody else serves the folder while it is open, and nobody is let in before somebody listens on it."""

    def __init__(self, folder: Path, lock: int) -> None:
        """Of a folder whose lock is held. Raises OSError where the socket cannot be made."""
        self.path = folder / NAME
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lock = lock
        try:
            self.path.unlink(missing_ok=True)  # whoever left it is gone: the lock is ours
            _bind(self.listener, folder)
            self.path.chmod(0o600)
            self._made = _identity(self.path)
        except BaseException:
            self.listener.close()
            raise

    @classmethod
    def claim(cls, folder: Path) -> FolderSocket | None:
        """The folder's socket, or None while another process has it. Raises UnusableFolder where it cannot be made."""
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return cls(folder, lock)
            except BlockingIOError:
                os.close(lock)
                return None
            except BaseException:
                os.close(lock)
                raise
        except OSError as error:
            raise unusable(folder, error) from error

    @classmethod
    def claim_once_left(cls, folder: Path, told: Flag, seconds: float) -> FolderSocket | None:
        """The folder's socket; a service that a client started leaves it to us, for so many seconds at most or until `told`.

        None where it is not left: an `up` has it. Raises UnusableFolder where it cannot be made.
        """
        until = monotonic() + seconds
        with wanting(folder):
            while (claimed := cls.claim(folder)) is None and monotonic() < until:
                if told.wait(AGAIN_SECONDS):
                    break
        return claimed

    def is_there(self) -> bool:
        """Whether it can still be found: somebody may have removed it."""
        return _identity(self.path) == self._made

    def release(self) -> None:
        """Let others have the folder: nobody finds this socket any more. Idempotent."""
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)

    def close(self) -> None:
        """Take it away, and let others have the folder. Idempotent."""
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
        listener.bind(f"/proc/self/fd/{within}/{NAME}")  # a short name of the same; where there is no /proc, an OSError
    finally:
        os.close(within)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Stay:
    """Tells when a service that was started for clients is to end."""

    def __init__(self, folder: Path, socket: FolderSocket, idle_seconds: float) -> None:
        self._folder = folder
        self._socket = socket
        self._idle_seconds = idle_seconds

    def over(self, unasked_seconds: Callable[[], float]) -> str | None:
        """Why it is to end now; None while it stays. `unasked_seconds`: since the last request was over, 0 during one."""
        if is_wanted(self._folder):
            return "an `engramlog up` wants the store"
        if not self._socket.is_there():
            return f"{self._socket.path} was removed: nobody can find this service any more"
        if unasked_seconds() > self._idle_seconds and not is_used(self._folder):
            return f"nobody has asked for {self._idle_seconds:g} s"
        return None
