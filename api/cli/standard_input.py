"""Words that come from standard input."""

from __future__ import annotations

from engramlog_server.events.errors import refused

MOST_BYTES = 1024 * 1024
"""Of a text or of ids, at the most; a memory holds 64 KiB."""


def text_of(words: str, field: str = "TEXT", allowed: str = "a text in UTF-8 of at most 64 KiB") -> str:
    """The words of an argument, or of standard input where that is `-`, without the newline at its end."""
    if words != "-":
        return words
    from engramlog_server.api.exchange.lines import standard_input

    read = standard_input(field).read(MOST_BYTES + 1)
    if len(read) > MOST_BYTES:
        raise refused(field, f"more than {MOST_BYTES:,} bytes", allowed)
    try:
        return read.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise refused(field, "-", f"{allowed}; byte {error.start:,} is none of it") from None
