"""Locks of a data folder that the kernel gives back when their holders die: who runs its server, who wants it, who uses it.

`engramlog.owner` is held by the process that runs the server and by nobody else. `engramlog.lock` is taken after it and
handed to redis-server (and so to its rewrite children): it is held as long as anything writes to the folder. Whoever
holds the first and cannot get the second therefore knows, without trusting any pid, that an orphaned server is still
there.

`engramlog.wanted` is held, by several at once, while an `up` waits for the folder: a service that only serves clients ends then.
`engramlog.used` is held while commands use the folder's Redis: that service stays.

The unix socket of a private Redis: where it lies, and how to talk to whoever listens there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.ops.embedded.folder import read_server_file, unusable
from engramlog_server.ops.embedded.process import ProgressBound, shut_down

OWNER, WANTED, USED = "engramlog.owner", "engramlog.wanted", "engramlog.used"


def try_lock(folder: Path, name: str) -> int | None:
    """A descriptor that holds a lock of a folder alone; None while another holds it. Raises EmbeddedRedisError."""
    descriptor = _opened(folder, name, os.O_CREAT)
    try:
        if _locked(folder, descriptor, fcntl.LOCK_EX):
            return descriptor
    except EmbeddedRedisError:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _opened(folder: Path, name: str, create: int = 0) -> int:
    try:
        return os.open(folder / name, os.O_RDWR | create | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise unusable(folder, error) from error


def _locked(folder: Path, descriptor: int, kind: int) -> bool:
    """Whether it is held now. Raises EmbeddedRedisError where the file system knows no locks."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise EmbeddedRedisError(
            f"{folder} cannot be locked ({error.strerror}); put the data folder on a local file system",
            folder=str(folder),
        ) from error
    return True


class FolderLock:
    """Both locks of a folder; `server_fd` is the descriptor that redis-server inherits. Held until `release`."""

    def __init__(self, folder: Path, owner_fd: int) -> None:
        self.folder = folder
        self.server_fd = -1
        self._owner_fd = owner_fd

    @classmethod
    def try_own(cls, folder: Path) -> FolderLock | None:
        """The owner's lock, or None while it is another's. Raises EmbeddedRedisError for a folder not writable."""
        descriptor = try_lock(folder, OWNER)
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
        while (descriptor := try_lock(self.folder, "engramlog.lock")) is None:
            orphan = read_server_file(self.folder)
            if orphan is not None:
                shut_down(Path(orphan.socket), orphan.pid)
            who = f"pid {orphan.pid}" if orphan else "of unknown pid"
            patience.wait(
                f"an orphaned redis-server ({who}) is using {self.folder}; waiting for it to exit",
                f"an orphaned redis-server ({who}) still holds {self.folder}; end it and try again",
            )
        self.server_fd = descriptor

    def release(self) -> None:
        """Give both locks back, the server's first. Idempotent."""
        for descriptor in (self.server_fd, self._owner_fd):
            if descriptor >= 0:
                os.close(descriptor)
        self.server_fd = self._owner_fd = -1


def owner_text(folder: Path) -> str:
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
            if not _locked(folder, descriptor, fcntl.LOCK_SH):
                return True
        finally:
            os.close(descriptor)
    return False


@contextmanager
def wanting(folder: Path) -> Iterator[None]:
    """Want the folder for the length of a `with`. Raises EmbeddedRedisError where nothing can be written there."""
    descriptor = _shared(folder, WANTED, os.O_CREAT)
    try:
        yield
    finally:
        os.close(descriptor)


def using(folder: Path) -> int | None:
    """Use the folder's server until the descriptor is closed; None where no file for that was made. Makes nothing."""
    with suppress(EmbeddedRedisError):
        return _shared(folder, USED)
    return None


def may_be_used(folder: Path) -> None:
    """Make the file by which commands say that they use the server; on a full disk there is none, and nobody is waited for."""
    with suppress(EmbeddedRedisError):
        os.close(_shared(folder, USED, os.O_CREAT))


def is_wanted(folder: Path) -> bool:
    """Whether anybody wants the folder now. Never waits."""
    return _is_held(folder, WANTED)


def is_used(folder: Path) -> bool:
    """Whether any command uses the folder's server now. Never waits."""
    return _is_held(folder, USED)


def _shared(folder: Path, name: str, create: int = 0) -> int:
    descriptor = _opened(folder, name, create)
    with suppress(OSError):  # a file system without locks: its own refusal follows
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def _is_held(folder: Path, name: str) -> bool:
    try:
        descriptor = _opened(folder, name)
        try:
            return not _locked(folder, descriptor, fcntl.LOCK_EX)
        finally:
            os.close(descriptor)
    except EmbeddedRedisError:
        return False
