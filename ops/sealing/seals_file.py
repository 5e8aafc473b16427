"""The file of a store's seals on disk: private, whole or not there, never through a link, and one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

from engramlog_server.events.errors import InputError, KeyUnavailable, StoreMismatch, StoreUnavailable
from engramlog_server.events.sealing.seals import MasterKey, Wrapped
from engramlog_server.ops.durable import FileLock, replace_file, sync_folder
from engramlog_server.ops.embedded.private_file import NotPrivate, open_private
from engramlog_server.ops.sealing.seals_format import (
    CommonSeals,
    DamagedSeals,
    PartitionSeals,
    SealsHeader,
    about_key,
    read_common,
    read_header,
    read_partitions,
)

SETTING = "ENGRAMLOG_SEALS_BACKUP"
TURN_SECONDS = 60.0
"""How long another save of the same file is waited for: a save takes less than a second for 100,000 events."""
ALLOWED = "a file that `engramlog backup seals` wrote, this user's alone (0600)"

_T = TypeVar("_T")


class SealsUnusable(InputError):
    """A file of seals cannot be used: missing, a link, open to others, damaged, or no such file."""


class SavedSeals(NamedTuple):
    """What the header of a file tells."""

    header: SealsHeader
    size: int
    """Bytes of the file."""


def look_at_seals(path: Path) -> SavedSeals:
    """What the header of a file of seals tells; no key is needed. Raises SealsUnusable."""
    with _opened(path) as file:
        header, _ = _told(path, lambda: read_header(file))
        return SavedSeals(header, os.fstat(file.fileno()).st_size)


def known_seals(path: Path) -> SavedSeals | None:
    """The same; None where there is none. Raises SealsUnusable."""
    return look_at_seals(path) if os.path.lexists(path) else None


class OpenSeals:
    """A file of seals that is open, and its key."""

    def __init__(self, path: Path, file: IO[bytes], header: SealsHeader, raw: bytes, key: bytes) -> None:
        self.path, self.header = path, header
        self._file, self._raw, self._key = file, raw, key
        self._start = file.tell()

    def partitions(self) -> Iterator[PartitionSeals]:
        """Each partition's, from the first on. Raises SealsUnusable."""
        self._file.seek(self._start)
        found = read_partitions(self._file, self.header, self._raw, self._key)
        while (one := _told(self.path, lambda: next(found, None))) is not None:
            yield one

    def common(self) -> CommonSeals:
        """What is of no partition, once all were read. Raises SealsUnusable."""
        return _told(self.path, lambda: read_common(self._file, self.header, self._raw, self._key))


@contextmanager
def open_seals(path: Path, master: MasterKey) -> Iterator[OpenSeals]:
    """A file of seals with what opens it. Raises SealsUnusable, StoreMismatch under another master key, KeyUnavailable where that
    cannot be had now."""
    with _opened(path) as file:
        header, raw = _told(path, lambda: read_header(file))
        line = _told(path, lambda: header.wrapped)
        (key,) = master.unwrap([Wrapped(about_key(header.store_id, header.save), line)])
        if isinstance(key, KeyUnavailable):
            if key.passes:
                raise key
            raise StoreMismatch(
                f"the seals in {path} cannot be opened: they were saved under another master key, or their header was changed"
                f" ({key.message}); nothing was changed",
                file=str(path),
            )
        yield OpenSeals(path, file, header, raw, key)


@contextmanager
def in_turn(path: Path, seconds: float = TURN_SECONDS) -> Iterator[None]:
    """One save of a file at a time: who comes later reads the store later. Raises StoreUnavailable, also where one before does not
    end."""
    lock = FileLock(path, seconds)
    try:
        lock.__enter__()
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        yield
    finally:
        lock.__exit__()


def replace_seals(path: Path, write: Callable[[IO[bytes]], None]) -> int:
    """Write a file of seals in place of the one before, on disk when this returns: a reader, and a crash, finds the one or the
    other. Gives its size. Raises StoreUnavailable: then the one before stays."""
    try:
        size = replace_file(path, write, keep_name=False)
        with suppress(PermissionError):  # a folder that may be written to and not read
            sync_folder(path.parent)
    except OSError as error:
        raise _unwritten(path, error) from error
    return size


def drop_left(path: Path) -> None:
    """Remove what killed saves of this file left beside it; under its lock. Raises StoreUnavailable."""
    try:
        for one in path.parent.glob(f".{escape(path.name)}.*"):
            if len(one.name) == len(path.name) + 18:
                one.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritten(path, error) from error


def refuse_place(path: Path, data: Path | None, field: str) -> Path:
    """The file as a whole path. Raises InputError where none could be written there, or where each copy of the data folder would
    take it along."""
    with suppress(RuntimeError):  # of nobody who is known here: as it is written, and so no folder
        path = path.expanduser()
    path = path.absolute()
    folder = path.parent
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):  # noqa: PTH112 - raises at no name
        raise InputError(
            f"{field}: got {str(path)!r}; allowed: a file in a folder that is there and that this user may write to",
            field=field,
        )
    if data is not None and folder.resolve().is_relative_to(data.expanduser().resolve()):
        raise InputError(
            f"{field}: got {str(path)!r}, in the data folder; allowed: a file outside of it, else each copy of the folder holds the"
            " seals too",
            field=field,
        )
    return path


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        descriptor = open_private(path)
    except NotPrivate as error:
        raise _unusable(path, error.what) from None
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _told(path: Path, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except DamagedSeals as error:
        raise _unusable(path, str(error)) from None
    except OSError as error:
        raise _unusable(path, f"cannot be read ({error.strerror})") from None


def _unusable(path: Path, what: str) -> SealsUnusable:
    return SealsUnusable(f"file: got {str(path)!r}, which {what}; allowed: {ALLOWED}", field="file", file=str(path))


def _unwritten(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"the seals cannot be saved in {path}: {error.strerror}", file=str(path))
