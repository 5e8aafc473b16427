"""The data folder of this user: where it is, and whether what lies in it can only be his."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path


def data_folder() -> Path:
    """Where `engramlog up` keeps its data, by the same rules."""
    told = os.environ.get("ENGRAMLOG_DATA")
    if told:
        return Path(told).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "engramlog"
    base = os.environ.get("XDG_DATA_HOME", "").strip()  # a relative one counts for nothing (XDG Base Directory, 0.8)
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share") / "engramlog"


def is_private(folder: Path) -> bool:
    """Whether it is a folder of this user that nobody else can write to, so that what lies in it is his."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def make_private(folder: Path) -> bool:
    """Whether it is private; an empty one of this user is closed to all others first, as the service would do it."""
    with suppress(OSError):
        if folder.stat().st_uid == os.geteuid() and not any(folder.iterdir()):
            folder.chmod(0o700)
            if any(one.lstat().st_uid != os.geteuid() for one in folder.iterdir()):
                return False  # put there just before
    return is_private(folder)


def not_by_others(path: Path) -> bool:
    """Whether nobody but this user and root can change the file, or put another in its place. `path` must be resolved."""
    return all(_safe(place, above=place != path) for place in (path, *path.parents))


def _safe(place: Path, *, above: bool) -> bool:
    try:
        found = place.lstat()
    except OSError:
        return False
    if found.st_uid not in (0, os.geteuid()):
        return False
    if above and found.st_mode & stat.S_ISVTX:
        return True  # as /tmp: others may put things beside, and touch nothing of ours
    own_group = found.st_gid in (0, os.getegid())
    return not found.st_mode & (stat.S_IWOTH | (0 if own_group else stat.S_IWGRP))
