"""Looking through files and folders, and through what is packed in them: tar, gzip, bzip2 and xz, one in another, as streams.

What Redis wrote is looked at as it lies, which finds all that an append-only file tells in plain commands, and loaded besides
(`ops.erasing.scratch`), for an RDB packs what it holds. What is packed by anything else, or breaks off, is told as not reached.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, Protocol

import msgspec
import redis

from events.text.unreadable import UNREADABLE
from ops.embedded.binary import RedisBinary
from ops.erasing.in_redis import RedisLook
from ops.erasing.needles import Needles
from ops.erasing.probes import Probes
from ops.erasing.report import AuditReport
from ops.erasing.scratch import NotLoaded, is_rdb, loaded, most_loaded

CHUNK = 1 << 20
HEAD_BYTES = 512
DEEP = 5
"""How many packings may lie one in another."""
MOST_UNPACKED = 1 << 40
"""Bytes that one file may unpack to."""
INSIDE = " > "
_TAR_MARK, _TAR_AT = b"ustar", 257
_PACKED: dict[bytes, str] = {
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x04\x22\x4d\x18": "lz4",
    b"Rar!": "rar",
    b"age-encryption.org/": "age",
    b"-----BEGIN AGE ENC": "age",
    b"-----BEGIN PGP MES": "OpenPGP",
    b"Salted__": "OpenSSL",
    b"LRZI": "lrzip",
    b"\x1f\x9d": "compress",
    b"hsqs": "squashfs",
}
_STREAMS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file, mode="rb"),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, gzip.BadGzipFile, ValueError)
_REJECTIONS = re.compile(r"\.?rejections.*\.jsonl.*")


class Readable(Protocol):
    """What is read from its beginning on."""

    def read(self, size: int = -1, /) -> bytes:
        """So many bytes at most; none at the end."""
        ...


class FileLook:
    """Looks through files; each is looked through once, by whatever name it is come upon."""

    def __init__(self, probes: Probes, needles: Needles, report: AuditReport, binary: RedisBinary | None) -> None:
        """`binary`: what loads files of Redis; where there is none they are told as not reached."""
        self._probes, self._needles, self._report = probes, needles, report
        self._binary = binary
        self._done = set[tuple[int, int]]()
        self._unpacked = 0

    def redis_look(self, where: str, client: redis.Redis) -> RedisLook:
        """What looks through a Redis for the same."""
        return RedisLook(where, client, self._probes, self._needles, self._report)

    def look(self, path: Path) -> None:
        """Look through a file, or a folder and all below it. Raises nothing."""
        where, before, files = self._report.path_of(str(path)), self._needles.looked, 0
        try:
            found = path.stat()
        except OSError as error:
            self._report.unreached(where, f"it cannot be looked at: {error.strerror}")
            return
        if stat.S_ISDIR(found.st_mode):
            for one in self._below(path):
                files += self._file(one)
        elif stat.S_ISREG(found.st_mode):
            files += self._file(path.resolve())
        else:
            self._report.unreached(where, "it is no file and no folder")
        self._report.looked(where, files, self._needles.looked - before)

    def _below(self, folder: Path) -> Iterator[Path]:
        def unread(error: OSError) -> None:
            told = self._report.path_of(str(error.filename))
            self._report.unreached(told, f"the folder cannot be read: {error.strerror}")

        for at, folders, files in os.walk(folder, onerror=unread):
            for name in sorted(files):
                yield Path(at, name)
            for name in folders:
                if (below := Path(at, name)).is_symlink():
                    self._link(below)
            folders.sort()

    def _link(self, path: Path) -> None:
        self._report.unreached(
            self._report.path_of(str(path)), "it is a link, which is not followed: name what it leads to"
        )

    def _file(self, path: Path) -> int:
        """Look through one file; how many were looked through."""
        where = self._report.path_of(str(path))
        try:
            found = path.lstat()
            if stat.S_ISLNK(found.st_mode):
                if not path.exists() or (path.stat().st_dev, path.stat().st_ino) not in self._done:
                    self._link(path)
                return 0
            if not stat.S_ISREG(found.st_mode):
                return 0  # sockets and pipes hold nothing
            if (found.st_dev, found.st_ino) in self._done:
                return 0
            self._done.add((found.st_dev, found.st_ino))
            with path.open("rb") as file:
                self._unpacked = 0
                self._named(where, path.name)
                self._stream(where, path.name, file, 0, path)
        except OSError as error:
            self._report.unreached(where, f"it cannot be read: {error.strerror or type(error).__name__}")
            return 0
        return 1

    def _named(self, where: str, name: str) -> None:
        """What its name alone tells."""
        raw = name.encode("utf-8", "surrogateescape")
        self._report.hits(where, "", self._needles.in_value(raw))

    def _stream(self, where: str, name: str, file: Readable, deep: int, path: Path | None = None) -> None:
        """Look through what a file, or a part of one, holds. `path`: where it lies as it is. Raises OSError."""
        peeked = _Peeked(file)
        head = peeked.head
        if (how := next((how for mark, how in _PACKED.items() if head.startswith(mark)), None)) is not None:
            self._report.unreached(where, f"it is packed or encrypted by {how}: unpack it and name what comes out")
            return
        opened = next((one for mark, one in _STREAMS.items() if head.startswith(mark)), None)
        is_tar = head[_TAR_AT : _TAR_AT + len(_TAR_MARK)] == _TAR_MARK
        if (opened or is_tar) and deep >= DEEP:
            self._report.unreached(where, f"more than {DEEP} packings lie one in another: unpack it")
        elif opened is not None:
            inner = name.rpartition(".")[0] or name
            with self._whole(where), opened(peeked) as unpacked:
                self._stream(where, inner, unpacked, deep + 1)
        elif is_tar:
            with self._whole(where), tarfile.open(fileobj=peeked, mode="r|") as archive:  # type: ignore[call-overload]
                for member in archive:
                    self._member(where, archive, member, deep)
        elif is_rdb(head):
            self._rdb(where, peeked, path)
        else:
            self._plain(where, name, peeked)

    @contextmanager
    def _whole(self, where: str) -> Iterator[None]:
        """What is packed in a file must be read to its end, or it is told as not reached."""
        try:
            yield
        except _BROKEN as error:
            self._report.unreached(where, f"what is packed in it is damaged or breaks off ({type(error).__name__})")
        except OSError as error:
            if error.errno is not None:
                raise
            self._report.unreached(where, "what is packed in it is damaged or breaks off")

    def _member(self, where: str, archive: tarfile.TarFile, member: tarfile.TarInfo, deep: int) -> None:
        name = member.name.rpartition("/")[2]
        inside = f"{where}{INSIDE}{self._report.path_of(member.name)}"
        self._report.hits(inside, "", self._needles.in_value(member.name.encode("utf-8", "surrogateescape")))
        if member.isfile() and (file := archive.extractfile(member)) is not None:
            self._stream(inside, name, file, deep + 1)

    def _plain(self, where: str, name: str, file: Readable) -> None:
        chunks = self._passing(where, name, self._chunks(where, file))
        self._report.hits(where, "", self._needles.in_stream(chunks))

    def _passing(self, where: str, name: str, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The same chunks of a file that Redis did not pack, looked at besides as they pass."""
        if not _REJECTIONS.fullmatch(name):
            yield from chunks
            return
        lines = _Lines(self._probes.owner)
        yield from lines.passed(chunks)
        self._report.found(where, "", "rejection", lines.found)

    def _chunks(self, where: str, file: Readable) -> Iterator[bytes]:
        while chunk := file.read(CHUNK):
            self._unpacked += len(chunk)
            if self._unpacked > MOST_UNPACKED:
                self._report.unreached(where, f"more than {MOST_UNPACKED:,} bytes come out of it")
                return
            yield chunk

    def _rdb(self, where: str, file: Readable, path: Path | None) -> None:
        """What Redis wrote: as it lies, and as it is loaded."""
        if path is not None:
            chunks = self._passing(where, path.name, self._chunks(where, file))
            self._report.hits(where, "", self._needles.in_stream(chunks))
            self._load(where, path, path.stat().st_size)
            return
        room = most_loaded()
        with _in_memory() as (kept, lies):  # one that comes out of an archive lies in no file of its own
            chunks = self._passing(where, "", _written(self._chunks(where, file), kept, room))
            self._report.hits(where, "", self._needles.in_stream(chunks))
            kept.flush()
            size = os.fstat(kept.fileno()).st_size
            if room is not None and size > room:
                why = f"it is larger than the {room:,} bytes that can be loaded out of an archive here: unpack it"
                self._report.unreached(where, f"Redis packs what is in it, and {why}")
            else:
                self._load(where, lies, size)

    def _load(self, where: str, path: Path, size: int) -> None:
        if self._binary is None:
            self._report.unreached(
                where, "Redis packs what is in it, and no redis-server is at hand that could load it"
            )
            return
        inside = f"{where}{INSIDE}loaded"
        try:
            with loaded(path, size, self._binary) as scratch:
                self._report.hits(inside, "", self._needles.in_stream(scratch.told()))
                with scratch.client() as client:
                    self.redis_look(inside, client).look()
        except NotLoaded as error:
            self._report.unreached(where, f"Redis packs what is in it, and it was not loaded: {error}")


class _Peeked:
    """A stream whose beginning was looked at."""

    def __init__(self, file: Readable) -> None:
        self._file, self.head = file, b""
        while len(self.head) < HEAD_BYTES and (more := file.read(HEAD_BYTES - len(self.head))):
            self.head += more
        self._left = self.head

    def read(self, size: int = -1, /) -> bytes:
        """As of a file; never fewer than are there, for what unpacks it asks for whole heads."""
        parts = [self._left if size < 0 else self._left[:size]]
        self._left = b"" if size < 0 else self._left[size:]
        wanted = size - len(parts[0])
        while (size < 0 or wanted > 0) and (more := self._file.read(wanted if size >= 0 else CHUNK)):
            parts.append(more)
            wanted -= len(more)
        return b"".join(parts)


class _Lines:
    """Counts lines of an owner in a file of kept rejections that passes by."""

    def __init__(self, owner: str) -> None:
        self.found = 0
        self._owner = owner

    def passed(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The same chunks."""
        rest = b""
        for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            self.found += sum(map(self._is_mine, lines))
            rest = rest[:CHUNK]
            yield chunk
        self.found += self._is_mine(rest)

    def _is_mine(self, line: bytes) -> bool:
        try:
            return bool(line) and msgspec.json.decode(line, type=_Owned).owner == self._owner
        except UNREADABLE:
            return False


class _Owned(msgspec.Struct):
    """What is asked of a line."""

    owner: str = ""


def _written(chunks: Iterator[bytes], file: IO[bytes], most: int | None) -> Iterator[bytes]:
    """The same chunks, which are written to a file until that is larger than `most`."""
    size = 0
    for chunk in chunks:
        if most is None or size <= most:
            file.write(chunk)
        size += len(chunk)
        yield chunk


@contextmanager
def _in_memory() -> Iterator[tuple[IO[bytes], Path]]:
    """A file of this process, and a path by which others of this user may open it: in memory where the system knows such files."""
    if hasattr(os, "memfd_create") and (own := Path(f"/proc/{os.getpid()}/fd")).is_dir():
        with open(os.memfd_create("engramlog"), "w+b") as file:  # noqa: PTH123 - it is a descriptor
            yield file, own / str(file.fileno())
    else:
        with NamedTemporaryFile() as named:
            yield named.file, Path(named.name)
