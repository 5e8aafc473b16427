"""The folder of a backup, its manifest, and `engramlog backup check FOLDER`: all of it read and proved, without a store.

The folder is private, and whole or not there. Files are packed by gzip, and read in bounded memory, through no link.
"""

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
from typing import IO, Annotated, Any, NamedTuple

import msgspec

from engramlog_server.consumers.backup import BackupRow, DamagedRows, HeldEntry, LogProof, RowKind, frame, rows
from engramlog_server.events.errors import DamagedState, InputError, LogGap, StoreUnavailable
from engramlog_server.events.partitions import MAX_PARTITIONS
from engramlog_server.events.text import UNREADABLE
from engramlog_server.ops.durable import OTHERS, sync_path
from engramlog_server.ops.keys.backup import KeysUnusable, check_keys, known_keys

LEVEL = 3
"""Of gzip: level 6 takes twice the time, and makes files 6 % smaller."""
CHUNK = 1 << 20
MAKING = ".making"
"""What the name of a backup ends with that is being made, behind a dot before it."""
ABOUT = b"engramlog backup"
ALLOWED = "a folder that `engramlog backup make` wrote, with all of its files"
MANIFEST, STORE = "manifest.json", "store.rows.gz"
_PART = re.compile(r"partition-\d{4}\.rows\.gz")
_THIS_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, DamagedRows)


class BackupUnusable(InputError):
    """A backup cannot be used: a file of it is missing, damaged, another's, a link, or of a newer release. Nothing was written."""


class _Hashed:
    """A file that hashes every byte it reads or writes."""

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
    """The unpacked bytes of a file, up to the number in its manifest."""

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
        return self._rows(part_name(number), one.file, one.tag)

    def store(self) -> Iterator[tuple[BackupRow, bytes]]:
        """The rows of what is of no partition."""
        return self._rows(STORE, self.manifest.store, "")

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


def part_name(number: int) -> str:
    """The file of a partition: named by number alone, so a manifest leads nowhere."""
    return f"partition-{number:04}.rows.gz"


def about(backup: str, store_id: str, tag: str) -> list[bytes]:
    """The first row of a file, after `ABOUT`."""
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
    with _plain(path / MANIFEST) as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise _unusable(path / MANIFEST, f"has more than {MOST_BYTES:,} bytes")
    try:
        manifest = read_manifest(raw)
    except DamagedManifest as error:
        raise _unusable(path / MANIFEST, str(error)) from None
    return BackupFolder(path, manifest, _open_to_others(path, found, manifest))


def _open_to_others(path: Path, folder: os.stat_result, manifest: BackupManifest) -> bool:
    """A folder that nobody else can enter keeps others from its files, whatever their modes are."""
    if not stat.S_IMODE(folder.st_mode) & OTHERS and folder.st_uid == os.geteuid():
        return False
    names = [MANIFEST, STORE, *(part_name(number) for number in range(len(manifest.parts)))]
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
        descriptor = _claimed(beside)
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        _drop_unfinished(path.parent, beside)
        yield beside
        sync_path(beside)
        probe("before it has its name")
        if os.path.lexists(path):
            raise _no_place(path, "which is there by now")
        beside.rename(path)
        sync_path(path.parent)
        probe("after it has its name")
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        with suppress(OSError):
            shutil.rmtree(beside)
        os.close(descriptor)


def _claimed(beside: Path) -> int:
    """The folder to write into, empty, and this process's alone as long as the descriptor is open. What a killed process left in it
    goes. Raises OSError, BlockingIOError where another process writes there."""
    with suppress(FileExistsError):
        beside.mkdir(0o700)
    descriptor = os.open(beside, _THIS_FOLDER)
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


def _drop_unfinished(folder: Path, mine: Path) -> None:
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
        descriptor = os.open(path, _THIS_FOLDER)
    except OSError as error:
        return f"cannot be opened ({error.strerror})"
    try:
        if not all(_is_ours(one.name) for one in path.iterdir()):
            return "holds more than a backup"
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not path.name.endswith(MAKING):
            path = path.rename(path.with_name(f".{path.name}{MAKING}"))
        shutil.rmtree(path)
        sync_path(path.parent)
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
        descriptor = os.open(folder.path, _THIS_FOLDER)
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
    return name in (MANIFEST, STORE) or _PART.fullmatch(name) is not None


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


BACKUP_FORMAT = 1
MOST_BYTES = 4 << 20
"""Bytes of a manifest: one of 1,024 partitions takes half a megabyte."""
_Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 62))]
_Tag = Annotated[str, msgspec.Meta(pattern=r"^e[0-9]{1,7}\Z")]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-zA-Z-]{1,64}\Z")]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


class DamagedManifest(Exception):
    """A manifest cannot be read; a sentence without its subject."""


class BackupFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a backup."""

    bytes: _Count
    sha256: _Hash
    raw: _Count
    """Bytes of its rows, unpacked."""


class BackupPart(msgspec.Struct, frozen=True, kw_only=True):
    """A partition's log in a backup."""

    tag: _Tag
    head: _Count
    """Seq of the newest entry."""
    newest: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{32})?\Z")]
    """Id of its event, in hexadecimal; empty where there is none."""
    chain: _Hash
    """The chain there."""
    folded: _Count
    """Up to where the chain was held against what the store had folded."""
    entries: _Hash
    """SHA-256 over the rows of all entries."""
    file: BackupFile


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup says of itself."""

    format: int
    backup: _Name
    release: _Text
    store_id: _Name
    log_format: _Text
    parameter_set: _Text
    sealed: bool
    moment: _Text
    """Redis's clock when the heads were read."""
    made_at: _Text
    """When it was whole, by the clock of the machine."""
    store: BackupFile
    parts: Annotated[list[BackupPart], msgspec.Meta(min_length=1, max_length=MAX_PARTITIONS)]

    @property
    def events(self) -> int:
        """How many entries it holds."""
        return sum(one.head for one in self.parts)

    @property
    def files(self) -> list[BackupFile]:
        """All of its files but the manifest."""
        return [self.store, *(one.file for one in self.parts)]


class _Bound(msgspec.Struct, frozen=True):
    """A manifest in its file, with its hash."""

    sha256: str
    manifest: msgspec.Raw


class _Format(msgspec.Struct, frozen=True):
    """Read first: a newer format may have other fields."""

    format: int


def write_manifest(told: BackupManifest) -> bytes:
    """As a file."""
    raw = msgspec.json.encode(told)
    return msgspec.json.encode(_Bound(sha256(raw).hexdigest(), msgspec.Raw(raw))) + b"\n"


def read_manifest(raw: bytes) -> BackupManifest:
    """What a file tells. Raises DamagedManifest."""
    try:
        bound = msgspec.json.decode(raw, type=_Bound)
        inner = bytes(bound.manifest)
        told = msgspec.json.decode(inner, type=_Format)
    except UNREADABLE as error:
        raise DamagedManifest(f"is no manifest of a backup ({error})") from None
    if told.format > BACKUP_FORMAT:
        raise DamagedManifest(
            f"is of format {told.format}, of a newer release; this one knows format {BACKUP_FORMAT}: use the release that made it"
        )
    if sha256(inner).hexdigest() != bound.sha256:
        raise DamagedManifest("is not what was written: its own hash is another")
    try:
        found = msgspec.json.decode(inner, type=BackupManifest)
    except UNREADABLE as error:
        raise DamagedManifest(f"is no manifest of a backup ({error})") from None
    if len({one.tag for one in found.parts}) != len(found.parts):
        raise DamagedManifest("names a partition twice")
    for name, instant in (("moment", found.moment), ("made_at", found.made_at)):
        if not _INSTANT.fullmatch(instant):
            raise DamagedManifest(f"has no instant in {name}")
    return found


Progress = Callable[[int, int], None]
EVERY, PAGE_BYTES = 500, 4 << 20
"""Entries that are proved, and laid, together; and bytes of them, with one entry more at most."""
MOST_FIELDS, MOST_FIELD = 64, 1 << 20
"""Fields of a store, and bytes of one; there are eight, and the longest tells 1,024 partitions."""
_STORE_ROWS = {RowKind.STORE: 2, RowKind.DELETION: 3, RowKind.ACCEPTED: 2, RowKind.MODELS: 3}


class BackupChecked(NamedTuple):
    """What a backup is, once all of it was proved."""

    folder: str
    backup: str
    store_id: str
    moment: str
    made_at: str
    release: str
    sealed: bool
    events: int
    bytes: int
    raw_bytes: int
    open_to_others: bool
    heads: list[dict[str, Any]]
    """Partition, seq and chain, as kept heads have them."""
    incomplete: str | None
    """Why nobody could open all of it; None of a store that lies open, or where its keys are at hand."""


def check_backup(
    folder: BackupFolder, on_progress: Progress = lambda _done, _all: None, keys: Path | None = None
) -> BackupChecked:
    """Prove every file of a backup: its hash, that no entry is missing, every body against its commitment, the chain; and look
    whether a file of keys covers it.

    Raises BackupUnusable, which names the file.
    """
    told, done = folder.manifest, 0
    store_fields(folder)
    for number in range(len(told.parts)):
        for page in entries_of(folder, number, lambda _row: None):
            done += len(page)
            on_progress(done, told.events)
    return BackupChecked(
        str(folder.path),
        told.backup,
        told.store_id,
        told.moment,
        told.made_at,
        told.release,
        told.sealed,
        told.events,
        sum(one.bytes for one in told.files),
        sum(one.raw for one in told.files),
        folder.open_to_others,
        [
            {"partition": number, "seq": one.head, "chain": one.chain}
            for number, one in enumerate(told.parts)
            if one.head
        ],
        _missing_keys(told, keys) if told.sealed else None,
    )


def _missing_keys(told: BackupManifest, path: Path | None) -> str | None:
    """Why a backup of the keys does not open all of a backup, in a sentence; None if it does."""
    try:
        found = None if path is None or known_keys(path) is None else check_keys(path)
    except KeysUnusable as error:
        return error.message
    if found is None:
        return "its keys are not at hand: without what `engramlog backup keys` wrote nobody opens it"
    heads = [one.head for one in told.parts]
    if found.store_id != told.store_id or len(found.heads) != len(heads):
        return f"{path} holds the keys of store {found.store_id}, and this is of {told.store_id}"
    if newer := sum(max(head - covered, 0) for head, covered in zip(heads, found.heads, strict=True)):
        return f"{path} was saved at {found.saved_at}, and does not open the {newer:,} newest of its events"
    return None


def entries_of(folder: BackupFolder, number: int, on_row: Callable[[BackupRow], None]) -> Iterator[list[HeldEntry]]:
    """The entries of a partition in pages, each proved as it passes; other rows go to `on_row`. Raises BackupUnusable."""
    part, name = folder.manifest.parts[number], part_name(number)
    proof, page, size = LogProof(part.tag), list[HeldEntry](), 0
    try:
        for row, raw in folder.part(number):
            if row.kind is RowKind.ENTRY and len(row.parts) > 1:
                page.append(HeldEntry(row.parts[0], row.parts[1:]))
                size += len(raw)
                if len(page) == EVERY or size >= PAGE_BYTES:
                    proof.take(page)
                    yield page
                    page, size = [], 0
                if proof.seq + len(page) > part.head:
                    raise folder.unusable(name, f"has more than the {part.head:,} entries that its manifest tells")
            elif _PART_ROWS.get(row.kind) == len(row.parts):
                on_row(row)
            else:
                raise folder.unusable(name, "has a row that no file of a partition has")
        proof.take(page)
    except (LogGap, DamagedState) as error:
        raise folder.unusable(name, f"is not what was written: {error.message}") from None
    if (proof.seq, proof.chain.hex(), proof.digest, proof.newest.hex()) != (
        part.head,
        part.chain,
        part.entries,
        part.newest,
    ):
        raise folder.unusable(
            name,
            f"ends at entry {proof.seq} with the chain {proof.chain.hex()[:16]}..., and its manifest tells another",
        )
    if page:
        yield page


def rows_of_store(folder: BackupFolder) -> Iterator[BackupRow]:
    """What is of no partition. Raises BackupUnusable."""
    for row, _ in folder.store():
        if _STORE_ROWS.get(row.kind) != len(row.parts):
            raise folder.unusable(STORE, "has a row that no such file has")
        if row.kind is RowKind.DELETION and not (
            row.parts[0].isdigit() and int(row.parts[0]) < len(folder.manifest.parts)
        ):
            raise folder.unusable(STORE, "tells of a partition that its manifest has not")
        yield row


def store_fields(folder: BackupFolder) -> dict[bytes, bytes]:
    """The store's own fields, which say what the manifest says. Reads all of the file. Raises BackupUnusable."""
    found = dict[bytes, bytes]()
    for row in rows_of_store(folder):
        if row.kind is RowKind.STORE:
            found[row.parts[0]] = row.parts[1]
            if len(found) > MOST_FIELDS or max(map(len, row.parts)) > MOST_FIELD:
                raise folder.unusable(STORE, "has more, or longer, fields of a store than there are")
    told = folder.manifest
    try:
        tags = msgspec.json.decode(found.get(b"tags", b""), type=list[str])
    except UNREADABLE:
        tags = []
    mine = {
        b"store_id": told.store_id,
        b"format": told.log_format,
        b"parameter_set": told.parameter_set,
        b"partitions": str(len(told.parts)),
    }
    wrong = [name for name, value in mine.items() if found.get(name) != value.encode()]
    if wrong or tags != [one.tag for one in told.parts] or (b"sealed" in found) != told.sealed:
        name = wrong[0].decode() if wrong else "tags or sealed"
        raise folder.unusable(STORE, f"tells another {name} than its manifest")
    return found


_PART_ROWS = {RowKind.SECRET: 2, RowKind.READMITTED: 2, RowKind.GONE: 1}
