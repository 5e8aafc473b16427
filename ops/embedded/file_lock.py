"""A lock file that several processes take in turn."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path


class FileLock:
    """The lock beside a file, held for the length of a `with`. Raises OSError where it cannot be had."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{path.name}.lock")
        self._descriptor = -1

    def __enter__(self) -> None:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            os.close(self._descriptor)
