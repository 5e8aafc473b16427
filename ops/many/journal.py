"""What of a run over all owners is done, in a file of its own: the same command goes on where it was killed.

A line of JSON says what is asked, each further one what some owners gave: it counts once it is on disk, and whole. Owners that
came since, between two that are done, are left to the next run. A run that comes to its end leaves no file; one that was killed
leaves names of owners and counts.
"""

from __future__ import annotations

import fcntl
import os
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from events.errors import InputError, StoreUnavailable
from ops.embedded.private_file import NotPrivate, not_private
from ops.many.release import release
from projections.reports.many.kinds import AnyFigures

MOST_BYTES = 256 * 1024 * 1024
"""Of a journal: fifty owners take some 2 KB."""


class OwnersDone(msgspec.Struct):
    """Owners of a partition from the first to the last, both among them, and what they gave."""

    partition: int
    first: str
    last: str
    figures: AnyFigures


class _Begun(msgspec.Struct):
    """The first line."""

    journal: int
    work: str
    store: str
    asked: str
    release: str
    """Another release may read the same otherwise; see `ops.many.release`."""


class Journal:
    """Held for the length of a `with`, by its file. Raises InputError where another run holds it, StoreUnavailable where it cannot
    be used."""

    def __init__(self, folder: Path, work: str, store_id: str, asked: bytes, *, anew: bool = False) -> None:
        """`asked`: all that is asked, in bytes that are the same where it is. `anew`: what was done before does not count."""
        self._begun = _Begun(1, work, store_id, sha256(asked).hexdigest(), release())
        self.path = folder / f"{work}-{self._begun.asked[:16]}-{store_id[:8]}.jsonl"
        self._anew = anew
        self._descriptor = -1
        self.done: list[OwnersDone] = []

    def __enter__(self) -> Self:
        try:
            self.path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            self._descriptor = self._held()
            self._begin()
        except BlockingIOError:
            raise InputError(
                f"all: the same is being done already (its journal {self.path} is held); allowed: one at a time",
                field="all",
            ) from None
        except (OSError, NotPrivate) as error:
            self._let_go()
            raise self._unusable(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:  # all is done and told
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
        self._let_go()

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

    def _held(self) -> int:
        """The file, open and locked. A run that ended meanwhile took its file away: then it is another one."""
        while True:
            descriptor = os.open(
                self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600
            )
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                links = _checked(descriptor)
            except BaseException:
                os.close(descriptor)
                raise
            if links:
                return descriptor
            os.close(descriptor)

    def _begin(self) -> None:
        """Take in what was done, and cut off what does not count."""
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            whole = 0 if self._anew else self._take(file.read().split(b"\n")[:-1])
        os.ftruncate(self._descriptor, whole)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        if not whole:
            _write(self._descriptor, msgspec.json.encode(self._begun) + b"\n")

    def _take(self, lines: Sequence[bytes]) -> int:
        """Take in what was done, up to a line that says nothing; the bytes of that: 0 where there is nothing, or of something
        else."""
        whole = 0
        with suppress(msgspec.MsgspecError):
            for number, line in enumerate(lines):
                if number:
                    self.done.append(msgspec.json.decode(line, type=OwnersDone))
                elif msgspec.json.decode(line, type=_Begun) != self._begun:
                    break
                whole += len(line) + 1
        return whole

    def _let_go(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _unusable(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(f"what is done cannot be kept in {self.path}: {error}", file=str(self.path))


def _checked(descriptor: int) -> int:
    """How many names the file has. Raises NotPrivate where others may have written it, or it is too large."""
    found = os.fstat(descriptor)
    if (wrong := not_private(found)) is not None:
        raise NotPrivate(wrong)
    if found.st_size > MOST_BYTES:
        raise NotPrivate(f"is larger than {MOST_BYTES:,} bytes")
    return found.st_nlink


def _write(descriptor: int, line: bytes) -> None:
    """All of it, on disk."""
    while line:
        line = line[os.write(descriptor, line) :]
    os.fsync(descriptor)
