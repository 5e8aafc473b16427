"""A lock file that several processes take in turn."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

LOOK_SECONDS = 0.05


class FileLock:
    """The lock beside a file, held for the length of a `with`. Raises OSError where it cannot be had."""

    def __init__(self, path: Path, seconds: float | None = None) -> None:
        """`seconds`: for how long it is waited for; None: without end."""
        self._path = path.with_name(f".{path.name}.lock")
        self._seconds = seconds
        self._descriptor = -1

    def __enter__(self) -> None:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        if self._seconds is None:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            return
        end = monotonic() + self._seconds
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if monotonic() >= end:
                    os.close(self._descriptor)
                    raise
                sleep(LOOK_SECONDS)

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            os.close(self._descriptor)
