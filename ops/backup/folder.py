"""The folder of a backup: private, whole or not there. Files are packed by gzip, and read in bounded memory, through no link."""

from __future__ import annotations

import fcntl
import gzip
import os
import re
import shutil
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EAGAIN
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, NamedTuple

from engramlog_server.consumers.backup.rows import BackupRow, DamagedRows, RowKind, frame, rows
from engramlog_server.events.errors import InputError, StoreUnavailable
from engramlog_server.ops.backup.manifest import (
    MOST_BYTES,
    NAMES,
    BackupFile,
    BackupManifest,
    DamagedManifest,
    read_manifest,
)
from engramlog_server.ops.durable import sync_folder
from engramlog_server.ops.embedded.private_file import OTHERS

LEVEL = 3
"""Of gzip: level 6 takes twice the time, and makes files 6 % smaller."""
CHUNK = 1 << 20
MAKING = ".making"
"""What the name of a backup ends with that is being made, behind a dot before it."""
ABOUT = b"engramlog backup"
ALLOWED = "a folder that `engramlog backup make` wrote, with all of its files"
_PART = re.compile(r"partition-\d{4}\.rows\.gz")
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, DamagedRows)


class BackupUnusable(InputError):
    """A backup cannot be used: a file of it is missing, damaged, another's, a link, or of a newer release. Nothing was written."""


class _Hashed:
    """A file of which every byte that passes is hashed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._hash, self.bytes = file, sha256(), 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def write(self, chunk: Any) -> int:
        self._hash.update(chunk)
        self.bytes += len(chunk)
        return self._file.write(chunk)

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self._hash.update(chunk)
        self.bytes += len(chunk)
        return chunk

    def flush(self) -> None:
        self._file.flush()


class RowsOut:
    """A file of rows that is being written."""

    def __init__(self, path: Path, about: Sequence[bytes]) -> None:
        """Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
        self._hashed, self._raw = _Hashed(self._file), 0
        self._packed = gzip.GzipFile("", "wb", LEVEL, self._hashed, mtime=0)
        self.put(RowKind.ABOUT, [ABOUT, *about])

    def put(self, kind: RowKind, parts: Sequence[bytes]) -> None:
        """Write a row. Raises OSError."""
        self.write(frame(kind, parts))

    def write(self, raw: bytes) -> None:
        """Write rows as bytes. Raises OSError."""
        self._packed.write(raw)
        self._raw += len(raw)

    def end(self) -> BackupFile:
        """The file on disk, and what it is known by. Raises OSError."""
        self._packed.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return BackupFile(bytes=self._hashed.bytes, sha256=self._hashed.sha256, raw=self._raw)

    def close(self) -> None:
        """Leave it as it is."""
        with suppress(OSError):
            self._file.close()


class _Bounded:
    """What comes out of a packed file, up to as many bytes as its manifest tells."""

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file, self._most, self.bytes = file, most, 0

    def read(self, size: int, /) -> bytes:
        parts = list[bytes]()
        while size and (chunk := self._file.read(min(size, CHUNK))):
            parts.append(chunk)
            size -= len(chunk)
            self.bytes += len(chunk)
            if self.bytes > self._most:
                raise DamagedRows(f"unpacks to more than the {self._most:,} bytes that its manifest tells")
        return b"".join(parts)


class BackupFolder(NamedTuple):
    """A backup on disk, whose manifest was read."""

    path: Path
    manifest: BackupManifest
    open_to_others: bool
    """Whether others could read, or change, any of it."""

    def part(self, number: int) -> Iterator[tuple[BackupRow, bytes]]:
        """The rows of a partition, and their bytes. Raises BackupUnusable, at the end too where the file was changed."""
        one = self.manifest.parts[number]
        return self._rows(NAMES.part(number), one.file, one.tag)

    def store(self) -> Iterator[tuple[BackupRow, bytes]]:
        """The rows of what is of no partition."""
        return self._rows(NAMES.store, self.manifest.store, "")

    def unusable(self, name: str, what: str) -> BackupUnusable:
        """An error about one of its files."""
        return _unusable(self.path / name, what)

    def _rows(self, name: str, told: BackupFile, tag: str) -> Iterator[tuple[BackupRow, bytes]]:
        with _plain(self.path / name) as file:
            size = os.fstat(file.fileno()).st_size
            hashed = _Hashed(file)
            unpacked = _Bounded(gzip.GzipFile(fileobj=hashed, mode="rb"), told.raw)
            try:
                found = rows(unpacked)
                self._refuse_other(name, next(found, None), tag)
                if size != told.bytes:
                    raise self.unusable(name, f"has {size:,} bytes; its manifest tells {told.bytes:,}")
                yield from found
            except _BROKEN as error:
                raise self.unusable(name, f"is not what was written: {error}") from None
            except OSError as error:
                raise self.unusable(name, f"cannot be read ({error.strerror or error})") from None
            while hashed.read(CHUNK):  # what lies behind the packed end counts too
                pass
            if unpacked.bytes != told.raw or hashed.sha256 != told.sha256:
                raise self.unusable(name, "is not what was written: its hash is another than its manifest tells")

    def _refuse_other(self, name: str, first: tuple[BackupRow, bytes] | None, tag: str) -> None:
        mine = about(self.manifest.backup, self.manifest.store_id, tag)
        if first is None or first[0].kind is not RowKind.ABOUT or first[0].parts[:1] != [ABOUT]:
            raise self.unusable(name, "is no file of a backup")
        if first[0].parts[1:] != mine:
            told = b" ".join(first[0].parts[1:4])[:120].decode("utf-8", "backslashreplace")
            raise self.unusable(name, f"is of another backup, store or partition ({told})")


def about(backup: str, store_id: str, tag: str) -> list[bytes]:
    """What the first row of a file tells, behind what it is."""
    return [backup.encode(), store_id.encode(), tag.encode()]


def open_backup(path: Path) -> BackupFolder:
    """A backup's folder with its manifest. Raises BackupUnusable."""
    path = path.expanduser().absolute()
    try:
        found = path.lstat()
    except OSError as error:
        raise _unusable(path, f"cannot be looked at ({error.strerror})") from None
    if not stat.S_ISDIR(found.st_mode):
        raise _unusable(path, "is no folder, or is a link")
    with _plain(path / NAMES.manifest) as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise _unusable(path / NAMES.manifest, f"has more than {MOST_BYTES:,} bytes")
    try:
        manifest = read_manifest(raw)
    except DamagedManifest as error:
        raise _unusable(path / NAMES.manifest, str(error)) from None
    return BackupFolder(path, manifest, _open_to_others(path, found, manifest))


def _open_to_others(path: Path, folder: os.stat_result, manifest: BackupManifest) -> bool:
    """A folder that nobody else can enter keeps others from its files, whatever their modes are."""
    if not stat.S_IMODE(folder.st_mode) & OTHERS and folder.st_uid == os.geteuid():
        return False
    names = [NAMES.manifest, NAMES.store, *(NAMES.part(number) for number in range(len(manifest.parts)))]
    with suppress(OSError):
        return any(stat.S_IMODE((path / name).lstat().st_mode) & OTHERS for name in names)
    return True


@contextmanager
def _plain(path: Path) -> Iterator[IO[bytes]]:
    """A plain file, by its own name. Raises BackupUnusable."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        raise _unusable(path, f"cannot be read ({error.strerror}), or is a link") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _unusable(path, "is no plain file")
    with os.fdopen(descriptor, "rb") as file:
        yield file


def refuse_destination(path: Path, data: Path | None) -> Path:
    """The folder that is to be made, as a whole path. Raises InputError where none could be, or each copy of the data folder would
    take it along."""
    with suppress(RuntimeError):
        path = path.expanduser()
    path = path.absolute()
    if os.path.lexists(path):
        raise _no_place(path, "which is there already")
    parent = path.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise _no_place(path, "whose folder is not there, or cannot be written to")
    if data is not None and parent.resolve().is_relative_to(data.expanduser().resolve()):
        raise _no_place(path, "in the data folder, which is lost with it")
    return path


@contextmanager
def made_whole(path: Path, probe: Callable[[str], None]) -> Iterator[Path]:
    """A folder to write a backup into; under its own name once all of it is on disk. One that is left in the middle is not there.

    What killed ones left there goes. Raises StoreUnavailable.
    """
    beside = path.with_name(f".{path.name}{MAKING}")
    try:
        descriptor = _taken(beside)
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        _drop_left(path.parent, beside)
        yield beside
        sync_folder(beside)
        probe("before it has its name")
        if os.path.lexists(path):
            raise _no_place(path, "which is there by now")
        beside.rename(path)
        sync_folder(path.parent)
        probe("after it has its name")
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        with suppress(OSError):
            shutil.rmtree(beside)
        os.close(descriptor)


def _taken(beside: Path) -> int:
    """The folder to write into, empty, and this process's alone as long as the descriptor is open. What a killed process left in it
    goes. Raises OSError, BlockingIOError where another process writes there."""
    with suppress(FileExistsError):
        beside.mkdir(0o700)
    descriptor = os.open(beside, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(EAGAIN, "another backup is being made under this name") from None
        if os.fstat(descriptor).st_ino != beside.stat().st_ino:
            raise BlockingIOError(EAGAIN, "another backup was made under this name just now")
        beside.chmod(0o700)
        for one in beside.iterdir():
            one.unlink()
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _drop_left(folder: Path, mine: Path) -> None:
    """Remove what killed processes left of backups in a folder: what holds a backup's files alone, and nobody writes to. What
    cannot be removed stays."""
    for one in folder.glob(f".*{MAKING}"):
        if one != mine:
            drop_backup(one)


def drop_backup(path: Path) -> str | None:
    """Remove a folder that holds a backup's files alone, and that nobody writes to or reads under a lock. Gives why it stays.

    It loses its name first: what a kill leaves of it is no backup, and goes with the next that is made beside it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return f"cannot be opened ({error.strerror})"
    try:
        if not all(_is_ours(one.name) for one in path.iterdir()):
            return "holds more than a backup"
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not path.name.endswith(MAKING):
            path = path.rename(path.with_name(f".{path.name}{MAKING}"))
        shutil.rmtree(path)
        sync_folder(path.parent)
    except BlockingIOError:
        return "is being checked or restored"
    except OSError as error:
        return f"cannot be removed ({error.strerror})"
    finally:
        os.close(descriptor)
    return None


@contextmanager
def held(folder: BackupFolder) -> Iterator[BackupFolder]:
    """Keep a backup from going with a rotation, for the length of a `with`. Raises BackupUnusable where it goes already. Where it
    cannot be locked, as on some that are mounted, nothing keeps it."""
    try:
        descriptor = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _unusable(folder.path, f"cannot be opened ({error.strerror})") from None
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        if not folder.path.exists():
            raise _unusable(folder.path, "went with a rotation just now")
        yield folder
    finally:
        os.close(descriptor)


def _is_ours(name: str) -> bool:
    return name in (NAMES.manifest, NAMES.store) or _PART.fullmatch(name) is not None


def write_file(path: Path, raw: bytes) -> None:
    """A private file that is new, on disk when this returns. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())


def _unusable(path: Path, what: str) -> BackupUnusable:
    return BackupUnusable(
        f"backup: got {str(path)!r}, which {what}; allowed: {ALLOWED}. Nothing was written",
        field="backup",
        file=str(path),
    )


def _no_place(path: Path, what: str) -> InputError:
    return InputError(
        f"destination: got {str(path)!r}, {what}; allowed: a name that is not taken, in a folder that this user may write to,"
        " outside of the data folder",
        field="destination",
    )


def _unwritten(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"the backup cannot be written to {path}: {error.strerror or error}", file=str(path))
