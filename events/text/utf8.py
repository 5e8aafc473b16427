"""Bytes that are no UTF-8, in words: an error tells where, and prints none of them."""

from __future__ import annotations


def bytes_told(raw: bytes | str) -> str | None:
    """The words for a line that is no UTF-8, with where; None where it is."""
    try:
        _ = raw.decode() if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as error:
        return f"bytes that are not UTF-8, from byte {error.start + 1} on"
    return None
