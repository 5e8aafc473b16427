"""The lines of a file, or of a pipe.

Of a pipe the first line comes before the store is opened; of an export all of it, since whoever writes it holds the same store.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from io import SEEK_END, BytesIO
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from engramlog_server.events.errors import InputError, refused

BEGINNINGS: Final = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
CURES: Final = {"gzip": " (`gunzip -c FILE | engramlog ... -`)", "UTF-16": " (`iconv -f UTF-16 -t UTF-8 FILE`)"}
LOOKED_AT: Final = 4_096
"""Bytes of the first line that are looked at."""


def no_text(line: bytes) -> str | None:
    """What a file looks like whose first line cannot be text in UTF-8; None where it may be."""
    for beginning, kind in BEGINNINGS.items():
        if line.startswith(beginning) and (len(beginning) > 2 or kind != "UTF-16" or b"\0" in line):
            return kind
    head = line[:LOOKED_AT]
    if b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)  # of mostly ASCII in UTF-16, every other byte is none
    return "UTF-16" if min(even, odd) == 0 and max(even, odd) * 4 >= len(head) // 2 else "binary"


IN_MEMORY = 8 * 1024 * 1024
"""Bytes of lines that are kept in memory; more are kept in a file without a name, of this user alone."""
SPOOLED = 1024 * 1024 * 1024
"""Bytes of lines that are kept at all: what comes after them is read while the store is open."""
PIECE = 64 * 1024
Look = Callable[[Iterator[bytes], bool], None]
"""Looks at lines, and is told whether they are all that come."""


def standard_input(field: str) -> IO[bytes]:
    """Standard input in bytes. Raises InputError where the process has none."""
    if sys.stdin is None:
        raise refused(field, "-", "a standard input that is open")
    return sys.stdin.buffer


@contextmanager
def open_lines(
    file: str, longest: int = -1, whole: bool = False, look: Look | None = None, archive: bool = False
) -> Iterator[Iterator[bytes]]:
    """The lines of a file, or of standard input for `-`. Raises InputError where it cannot be read, also half-way.

    A line longer than `longest` bytes comes in pieces, so that one line never fills the memory. A byte order mark is passed over.
    Of what is no file on a disk the first line is waited for: a store is opened after it. `whole`: all of it is, as of an
    export, which may hold the same store until it is written. `look`: at all lines before the first is yielded; of a pipe with
    `whole`, at those that are kept. What it raises, this raises. `archive`: a ZIP is not refused.
    """
    allowed = ("zip",) if archive else ()
    with ExitStack() as closing:
        try:
            stream = standard_input("file") if file == "-" else closing.enter_context(Path(file).open("rb"))
            on_disk = file != "-" and Path(file).is_file()
            early = None if on_disk else (spooled if whole else first_line)(file, stream, longest)
            streams = [stream] if early is None else [closing.enter_context(early), stream]
        except (OSError, ValueError) as error:
            raise _unreadable(file, error) from None
        if look is not None and (on_disk or (early is not None and whole)):
            size = streams[0].seek(0, SEEK_END)
            streams[0].seek(0)
            look(_lines(file, streams[:1], longest, allowed), on_disk or size < SPOOLED)
            streams[0].seek(0)
        yield _lines(file, streams, longest, allowed)


@contextmanager
def again(file: str) -> Iterator[Iterator[bytes]]:
    """The lines of a file for a look before it is read; none of standard input and of pipes, which are read once."""
    if file == "-" or not Path(file).is_file():
        yield iter(())
        return
    with open_lines(file) as lines:
        yield lines


def _lines(file: str, streams: list[IO[bytes]], longest: int, allowed: tuple[str, ...]) -> Iterator[bytes]:
    try:
        lines = chain.from_iterable(iter(partial(one.readline, longest), b"") for one in streams)
        first = next(lines, b"").removeprefix(codecs.BOM_UTF8)
        if (kind := no_text(first)) is not None and kind not in allowed:
            raise InputError(
                f"file: got {file!r}: not UTF-8 text, looks like {kind}; allowed: JSON in UTF-8{CURES.get(kind, '')}",
                field="file",
                got=kind,
            )
        yield first
        yield from lines
    except OSError as error:
        raise _unreadable(file, error) from None


def _unreadable(file: str, error: OSError | ValueError) -> InputError:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return InputError(f"file: got {file!r}; allowed: a file that can be read, or - ({why})", field="file", got=file)


def first_line(file: str, stream: IO[bytes], longest: int = -1) -> IO[bytes]:
    """The first line alone; the rest is still in the pipe. Raises InputError where nothing comes, and OSError."""
    if not (line := stream.readline(longest)):
        raise _nothing(file)
    return BytesIO(line)


def _nothing(file: str) -> InputError:
    return refused("file", file, "at least one line; it is empty, so the program that writes it may have failed")


@contextmanager
def spooled(file: str, stream: IO[bytes], longest: int = -1) -> Iterator[IO[bytes]]:
    """All that comes of a pipe, up to the line's end after `SPOOLED` bytes; the rest is still in the pipe.

    A line longer than `longest` bytes may be cut there. Raises InputError where nothing comes, and OSError.
    """
    with SpooledTemporaryFile(IN_MEMORY) as kept:
        while kept.tell() < SPOOLED and (piece := stream.read(PIECE)):
            kept.write(piece)
        if not kept.tell():
            raise _nothing(file)
        kept.write(stream.readline(longest))
        kept.seek(0)
        yield kept


def count_lines(file: str) -> int | None:
    """How many lines a file has; unknown for standard input and pipes."""
    if file == "-" or not Path(file).is_file():
        return None
    with Path(file).open("rb") as stream:
        return sum(1 for _ in stream)
