"""Words that come from standard input."""

from __future__ import annotations

import sys

from events.errors import refused

MOST_BYTES = 1024 * 1024
"""Read from standard input at the most; a memory holds 64 KiB."""


def text_of(words: str) -> str:
    """The words of an argument, or of standard input where that is `-`, without the newline at its end."""
    if words != "-":
        return words
    read = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(read) > MOST_BYTES:
        raise refused("TEXT", f"more than {MOST_BYTES:,} bytes", "a text of at most 64 KiB")
    try:
        return read.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise refused("TEXT", "-", f"a text in UTF-8 on standard input ({error})") from None
