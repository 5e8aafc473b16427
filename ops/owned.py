"""Whether a file, folder or socket is this user's alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

OTHERS = 0o077
"""What nobody else may have of it."""


def is_ours(path: Path, kind: Callable[[int], bool]) -> bool:
    """Whether this very name is of the kind (`stat.S_ISDIR` ...), belongs to this user and is closed to all others."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return kind(found.st_mode) and found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & OTHERS
