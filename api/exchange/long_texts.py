"""Turns whose text is longer than an event may hold: left out and counted, or cut where that is asked for."""

from __future__ import annotations

from api.choices import WAYS
from events.errors import refused
from events.vocabulary import MAX_TEXT_BYTES

SHOWN_PLACES = 20
"""So many places of long turns are told; the rest is counted."""
MARK = "…"
"""What a cut text ends with."""


def check_way(value: str, field: str = "long_turns") -> str:
    """The way, or InputError."""
    if value not in WAYS:
        raise refused(field, value, " or ".join(WAYS))
    return value


def is_long(text: str) -> bool:
    """Whether a text takes more UTF-8 than an event may hold, 64 KiB. A text that UTF-8 cannot carry is for validation."""
    return len(text) * 4 > MAX_TEXT_BYTES and len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES


def beginning(text: str) -> str:
    """The text cut to 64 KiB of UTF-8 at a whole character, with a mark at its end."""
    room = MAX_TEXT_BYTES - len(MARK.encode())
    return text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore").rstrip() + MARK
