"""One server per data folder, by two locks that the kernel gives back when their holders die.

`engramlog.owner` is held by the process that runs the server and by nobody else. `engramlog.lock` is taken after it and
handed to redis-server (and so to its rewrite children): it is held as long as anything writes to the folder. Whoever
holds the first and cannot get the second therefore knows, without trusting any pid, that an orphaned server is still
there.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.ops.embedded.folder import read_server_file, unusable
from engramlog_server.ops.embedded.process import ProgressBound
from engramlog_server.ops.embedded.socket import shut_down

OWNER = "engramlog.owner"


class FolderLock:
    """Both locks of a folder; `server_fd` is the descriptor that redis-server inherits. Held until `release`."""

    def __init__(self, folder: Path, owner_fd: int) -> None:
        self.folder = folder
        self.server_fd = -1
        self._owner_fd = owner_fd

    @classmethod
    def try_own(cls, folder: Path) -> FolderLock | None:
        """The owner's lock, or None while it is another's. Raises EmbeddedRedisError for a folder not writable."""
        descriptor = _try_lock(folder, OWNER)
        if descriptor is None:
            return None
        with suppress(OSError):  # a full disk: it is for those alone who wait for us, to know for whom
            os.ftruncate(descriptor, os.pwrite(descriptor, str(os.getpid()).encode(), 0))
        return cls(folder, descriptor)

    def take_server(self, patience: ProgressBound) -> None:
        """Take the server's lock too, ending an orphaned server first.

        On Linux an orphan is already being killed by the kernel and this waits for its last breath; elsewhere it is
        shut down through its own socket. A rewrite child that outlives its server holds the lock until it notices: also
        waited for.
        Raises EmbeddedRedisError when it does not end in time.
        """
        while True:
            descriptor = _try_lock(self.folder, "engramlog.lock")
            if descriptor is not None:
                self.server_fd = descriptor
                return
            orphan = read_server_file(self.folder)
            if orphan is not None:
                shut_down(Path(orphan.socket), orphan.pid)
            who = f"pid {orphan.pid}" if orphan else "of unknown pid"
            patience.wait(
                f"waiting for an orphaned redis-server ({who}) to leave {self.folder}",
                f"an orphaned redis-server ({who}) still holds {self.folder}; end it and try again",
            )

    def release(self) -> None:
        """Give both locks back, the server's first. Idempotent."""
        for descriptor in (self.server_fd, self._owner_fd):
            if descriptor >= 0:
                os.close(descriptor)
        self.server_fd = self._owner_fd = -1


def _try_lock(folder: Path, name: str) -> int | None:
    try:
        descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unusable(folder, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        os.close(descriptor)
        raise _without_locks(folder, error) from error
    return descriptor


def _without_locks(folder: Path, error: OSError) -> EmbeddedRedisError:
    return EmbeddedRedisError(
        f"{folder} cannot be locked ({error.strerror}); put the data folder on a local file system", folder=str(folder)
    )


def owner_told(folder: Path) -> str:
    """Which process owns a folder, as it wrote down itself."""
    try:
        told = (folder / OWNER).read_bytes()[:20]
    except OSError:
        told = b""
    return f"pid {told.decode()}" if told.isdigit() else "of unknown pid"


def is_owned(folder: Path) -> bool:
    """Whether a process owns a folder that is there; nothing is made, and nobody kept from it for longer than the look.

    Raises EmbeddedRedisError where its file system knows no locks.
    """
    for path, flags in ((folder, os.O_RDONLY | os.O_DIRECTORY), (folder / OWNER, os.O_RDWR)):
        try:
            descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise unusable(folder, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError as error:
            raise _without_locks(folder, error) from error
        finally:
            os.close(descriptor)
    return False
