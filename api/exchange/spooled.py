"""What comes of a pipe is read before the store is opened: whoever writes it may hold the same store until all is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO

from events.errors import refused

IN_MEMORY = 8 * 1024 * 1024
"""Bytes of lines that are kept in memory; more are kept in a file without a name, of this user alone."""
SPOOLED = 1024 * 1024 * 1024
"""Bytes of lines that are kept at all: what comes after them is read while the store is open."""
PIECE = 64 * 1024


@contextmanager
def spooled(file: str, stream: IO[bytes], longest: int = -1) -> Iterator[IO[bytes]]:
    """All that comes of a pipe, up to the line's end after `SPOOLED` bytes; the rest is still in the pipe.

    A line longer than `longest` bytes may be cut there. Raises InputError where nothing comes, and OSError.
    """
    with SpooledTemporaryFile(IN_MEMORY) as kept:
        while kept.tell() < SPOOLED and (piece := stream.read(PIECE)):
            kept.write(piece)
        if not kept.tell():
            raise refused("file", file, "lines; nothing came before its end: what writes them may have failed")
        kept.write(stream.readline(longest))
        kept.seek(0)
        yield kept
