"""What lies on this machine: folders, files and sockets, links not followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from ops.doctor.deciding import permissions
from ops.doctor.deciding.permissions import FileEntry, Kind
from ops.doctor.finding import CheckFinding
from ops.owned import is_ours
from ops.sealing.key_file import KeyFileUnusable, read_key_file
from ops.sealing.master import key_in
from ops.settings import Settings
from ops.token_file import TokenFileUnusable, read_token

MOST_ENTRIES = 10_000
_KINDS: dict[int, Kind] = {
    stat.S_IFDIR: "folder",
    stat.S_IFREG: "file",
    stat.S_IFLNK: "link",
    stat.S_IFSOCK: "socket",
}


def entry(path: Path) -> FileEntry | None:
    """What a name is; None where there is none. Raises OSError."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "other")
    return FileEntry(path, kind, found.st_uid, stat.S_IMODE(found.st_mode))


def below(folder: Path) -> Iterator[FileEntry]:
    """All that lies in a folder and below, links not followed; what goes meanwhile is left out. Raises OSError."""
    for found in sorted(os.scandir(folder), key=lambda one: one.name):
        one = None
        with suppress(PermissionError):
            one = entry(folder / found.name)
        if one is None:
            continue
        yield one
        if one.kind == "folder":
            with suppress(FileNotFoundError, PermissionError):
                yield from below(one.path)


def folder_of(settings: Settings) -> Path:
    """The data folder, links followed. Raises OSError, RuntimeError for links in a circle."""
    return settings.data.expanduser().resolve()


def look_at_folder(settings: Settings) -> list[CheckFinding]:
    """The data folder itself."""
    told = settings.data.expanduser().absolute()
    return [permissions.data_folder(told, entry(folder_of(settings)), os.geteuid())]


def look_at_token(settings: Settings) -> list[CheckFinding]:
    """The API's token."""
    trouble, there = None, False
    if settings.token is None:
        try:
            there = read_token(folder_of(settings)) is not None
        except TokenFileUnusable as error:
            trouble = error.message
    return [permissions.token(there, trouble, given=settings.token is not None)]


def look_at_key(settings: Settings) -> list[CheckFinding]:
    """The file of the master key, where there is one."""
    path = key_in(folder_of(settings) if settings.redis_url is None else None, settings)
    if path is None:
        return []
    try:
        read_key_file(path)
    except KeyFileUnusable as error:
        return [permissions.key_file(path, error.message)]
    return [permissions.key_file(path, None)]


def look_at_files(settings: Settings) -> list[CheckFinding]:
    """What lies in the data folder."""
    folder = folder_of(settings)
    if not folder.is_dir():
        return []
    found = list(islice(below(folder), MOST_ENTRIES + 1))
    return permissions.kept_files(folder, found[:MOST_ENTRIES], os.geteuid(), cut=len(found) > MOST_ENTRIES)


def look_elsewhere(settings: Settings) -> list[CheckFinding]:
    """Folders of ours that lie outside of the data folder."""
    told = {"ENGRAMLOG_REJECTIONS": settings.rejections}
    paths = {name: path.expanduser() for name, path in told.items() if path is not None}
    return [permissions.kept_elsewhere(name, path, entry(path.resolve()), os.geteuid()) for name, path in paths.items()]


def look_at_socket(socket: Path) -> list[CheckFinding]:
    """The socket of the private Redis."""
    return [permissions.socket(entry(socket), os.geteuid(), closed=is_ours(socket.parent, stat.S_ISDIR))]
