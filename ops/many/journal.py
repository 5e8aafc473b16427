"""What of a run over all owners is done, in a file of its own: the same command goes on where it was killed.

A line of JSON says what is asked, each further one what some owners gave: it counts once it is on disk. A line that was torn does
not count. Owners that came since, between two that are done, are left to the next run.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from events.errors import InputError, StoreUnavailable
from ops.embedded.file_lock import FileLock
from ops.embedded.private_file import NotPrivate, open_private
from projections.reports.many.moved import StoreMoved

MOST_BYTES = 256 * 1024 * 1024
"""Of a journal: a million owners take some 10 MB."""


class OwnersDone(msgspec.Struct):
    """Owners of a partition from the first to the last, both among them, and what they gave."""

    partition: int
    first: str
    last: str
    moved: StoreMoved


class _Begun(msgspec.Struct):
    """The first line."""

    journal: int
    work: str
    store: str
    asked: str


class Journal:
    """Held for the length of a `with`. Raises InputError where another run holds it, StoreUnavailable where it cannot be used."""

    def __init__(self, folder: Path, work: str, store_id: str, asked: bytes, *, anew: bool = False) -> None:
        """`asked`: all that is asked, in bytes that are the same where it is. `anew`: what was done before does not count."""
        self._begun = _Begun(1, work, store_id, sha256(asked).hexdigest())
        self.path = folder / f"{work}-{self._begun.asked[:16]}-{store_id[:8]}.jsonl"
        self._lock = FileLock(self.path, seconds=0.0)
        self._anew = anew
        self._descriptor = -1
        self.done: list[OwnersDone] = []

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.__enter__()
        except BlockingIOError:
            raise InputError(
                f"all: the same is being done already (its journal {self.path} is held); allowed: one at a time",
                field="all",
            ) from None
        except OSError as error:
            raise self._unusable(error) from error
        try:
            self._open()
        except BaseException:
            self._lock.__exit__()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        if kind is None:  # all is done and told
            self.path.unlink(missing_ok=True)
        self._lock.__exit__()

    def add(self, one: OwnersDone) -> None:
        """Write down what some owners gave. Raises StoreUnavailable."""
        try:
            _write(self._descriptor, msgspec.json.encode(one) + b"\n")
        except OSError as error:
            raise self._unusable(error) from error
        self.done.append(one)

    def left(self, partition: int, names: Sequence[str]) -> list[Sequence[str]]:
        """What is not done of a partition's owners, whose names are in order: runs between those that are."""
        spans = sorted((one.first, one.last) for one in self.done if one.partition == partition)
        found, at = list[Sequence[str]](), 0
        for first, last in spans:
            begin = bisect_left(names, first, at)
            found.append(names[at:begin])
            at = bisect_left(names, last, begin)
            at += at < len(names) and names[at] == last
        found.append(names[at:])
        return [run for run in found if run]

    def _open(self) -> None:
        try:
            if self._anew:
                self.path.unlink(missing_ok=True)
            raw = self._read()
            lines = raw.split(b"\n")
            whole = sum(len(line) + 1 for line in lines[:-1])
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            if not self._take(lines[:-1]):
                whole = 0
            os.ftruncate(self._descriptor, whole)
            os.lseek(self._descriptor, 0, os.SEEK_END)
            if not whole:
                _write(self._descriptor, msgspec.json.encode(self._begun) + b"\n")
        except (OSError, NotPrivate) as error:
            if self._descriptor >= 0:
                os.close(self._descriptor)
            raise self._unusable(error) from error

    def _read(self) -> bytes:
        if not self.path.exists() and not self.path.is_symlink():
            return b""
        descriptor = open_private(self.path)
        try:
            if os.fstat(descriptor).st_size > MOST_BYTES:
                raise NotPrivate(f"is larger than {MOST_BYTES:,} bytes")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(MOST_BYTES)
        finally:
            os.close(descriptor)

    def _take(self, lines: Sequence[bytes]) -> bool:
        """Take in what was done; False where there is nothing, or of something else."""
        try:
            if not lines or msgspec.json.decode(lines[0], type=_Begun) != self._begun:
                return False
            self.done = [msgspec.json.decode(line, type=OwnersDone) for line in lines[1:]]
        except msgspec.MsgspecError:
            self.done = []
            return False
        return True

    def _unusable(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(f"what is done cannot be kept in {self.path}: {error}", file=str(self.path))


def _write(descriptor: int, line: bytes) -> None:
    """All of it, on disk."""
    while line:
        line = line[os.write(descriptor, line) :]
    os.fsync(descriptor)
