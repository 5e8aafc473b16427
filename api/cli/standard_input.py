"""Standard input. It is read before the store is opened: whoever writes it may hold the same store until all is written."""

from __future__ import annotations

import sys
from typing import IO

from events.errors import refused

MOST_BYTES = 1024 * 1024
"""Of a text or of ids, at the most; a memory holds 64 KiB."""


def standard_input(field: str) -> IO[bytes]:
    """Standard input in bytes. Raises InputError where the process has none."""
    if sys.stdin is None:
        raise refused(field, "-", "a standard input that is open")
    return sys.stdin.buffer


def text_of(words: str, field: str = "TEXT", allowed: str = "a text of at most 64 KiB") -> str:
    """The words of an argument, or of standard input where that is `-`, without the newline at its end."""
    if words != "-":
        return words
    read = standard_input(field).read(MOST_BYTES + 1)
    if len(read) > MOST_BYTES:
        raise refused(field, f"more than {MOST_BYTES:,} bytes", allowed)
    try:
        return read.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise refused(field, "-", f"text in UTF-8 on standard input ({error})") from None
