"""The data folder is its user's alone: in it lie the store, the socket of its Redis and the API's token."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from engramlog_server.ops.embedded.folder import UnusableFolder, unusable
from engramlog_server.ops.embedded.private_file import OTHERS

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
