"""What lies in a data folder beside Redis's own files, and that the folder is its user's alone.

store.json      which store this is and the newest server that opened it, its product and version (`ops.embedded.aof`)
server.json     who runs Redis on the folder now; only a hint, for the locks decide (`ops.embedded.lock`)
redis.log       the server's log, from which recovery and failures are told
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Literal

import msgspec

from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.events.redis.server import Product
from engramlog_server.events.text import UNREADABLE
from engramlog_server.ops.durable import OTHERS, replace_file
from engramlog_server.ops.embedded.disk import full_disk_text

Role = Literal["up", "shared", "command"]
"""What runs the server: `engramlog up`, a process that lives long and lets others join it meanwhile, or one command."""


class ServerFile(msgspec.Struct, frozen=True, kw_only=True):
    """server.json: the running server's pid, socket and release, for what it runs, and the pid that started it."""

    pid: int
    socket: str
    role: Role
    ready: bool
    started_by: int
    version: str
    product: Product


def prepare_folder(folder: Path, *, create: bool) -> Path:
    """The folder as a resolved path, made (mode 0700) when missing and `create`.

    Raises EmbeddedRedisError when it cannot serve.
    """
    try:
        folder = folder.expanduser().resolve()
        if folder.exists() and not folder.is_dir():
            raise EmbeddedRedisError(f"{folder} is a file, not a data folder; name a folder", folder=str(folder))
        if not folder.exists() and not create:
            raise EmbeddedRedisError(
                f"there is no data folder {folder}; start `engramlog up` on it once, or name the right one",
                folder=str(folder),
            )
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise unusable(folder, error) from error
    return folder


class UnusableFolder(EmbeddedRedisError):
    """The data folder cannot be made, read or written: bad input, since ENGRAMLOG_DATA names it."""

    status = 422
    exit_code = 2


def unusable(folder: Path, error: Exception) -> EmbeddedRedisError:
    """The error of a folder that cannot be made, read or written."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EmbeddedRedisError(
            f"the data folder {folder} cannot be used: {reason}{full_disk_text(folder)}", folder=str(folder)
        )
    return UnusableFolder(
        f"the data folder {folder} cannot be used: {reason}; make it writable for this user, or name another folder",
        folder=str(folder),
    )


def read_server_file(folder: Path) -> ServerFile | None:
    """server.json, or None when there is none that can be understood: it is only a hint."""
    try:
        return msgspec.json.decode((folder / "server.json").read_bytes(), type=ServerFile)
    except (FileNotFoundError, *UNREADABLE):
        return None


def write_server_file(folder: Path, server: ServerFile) -> None:
    """Replace server.json as a whole, so that a reader never sees half of it."""
    replace_file(folder / "server.json", msgspec.json.encode(server) + b"\n")


def remove_server_file(folder: Path) -> None:
    """Say that nobody runs Redis here; only the holder of the folder's lock may."""
    (folder / "server.json").unlink(missing_ok=True)


OURS = frozenset({"store.json", "engramlog.owner", "token"})
"""Files by which a folder is known as a data folder."""


def private_folder(folder: Path, *, changes: bool = True) -> tuple[Path, str | None]:
    """The folder as a resolved path, made where it is missing, of mode 0700; and what was mended, in a sentence.

    A folder that others could enter is closed to them where it is a data folder or empty. Raises UnusableFolder where it is
    another user's, holds what others may use (they would be locked out), or holds what others could have put there; and where
    nothing can be made or written there. Without `changes` nothing is made or closed: only whether that would go is looked at.
    """
    try:
        folder = folder.expanduser().resolve()
        if folder.exists() and not folder.is_dir():
            raise UnusableFolder(f"{folder} is a file, not a data folder; name a folder", folder=str(folder))
        if not changes:
            _refuse_unwritable(folder)
            if not folder.exists():
                return folder, None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        mode = stat.S_IMODE(found.st_mode)
        if not mode & OTHERS:
            return folder, None
        if found.st_uid != os.geteuid():
            raise UnusableFolder(
                f"the data folder {folder} belongs to user {found.st_uid} and others can enter it ({mode:04o}); name a folder"
                " of this user",
                folder=str(folder),
            )
        names = set(os.listdir(folder))  # noqa: PTH208 - names are all that is asked for
        if mode & stat.S_ISVTX or (names and not names & OURS):
            raise UnusableFolder(
                f"others can enter the data folder {folder} ({mode:04o}), and it holds other things than a store; name a"
                f" folder of its own, or close this one: chmod 700 {folder}",
                folder=str(folder),
            )
        planted = bool(names and mode & 0o022)
        if not planted:
            if changes:
                folder.chmod(0o700)
            planted = not names and any(one.lstat().st_uid != os.geteuid() for one in folder.iterdir())
        if planted:
            raise UnusableFolder(
                f"others could write to the data folder {folder} ({mode:04o}), so that what lies in it may be theirs: look"
                f" through it, then close it (chmod 700 {folder}), or name another folder",
                folder=str(folder),
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise unusable(folder, error) from error
    return folder, f"others could enter the data folder {folder} ({mode:04o}); it is closed to them now (0700)"


def _refuse_unwritable(folder: Path) -> None:
    """Raise OSError where the folder, or one that it is to be made in, takes nothing of this user."""
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))
