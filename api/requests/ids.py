"""Ids as they can be shown and asked for: an old one may hold what no terminal and no model shows."""

from __future__ import annotations

from urllib.parse import quote, unquote

from events.text.invisible import HIDDEN


def encoded_id(value: str) -> str:
    """An id as it can be shown and asked for again: what is hidden in it percent-encoded. No id holds a `%` of its own."""
    if value.isascii():
        return value
    return HIDDEN.sub(lambda found: quote(found[0]), value)


def decoded_id(value: str) -> str:
    """An id that may be percent-encoded, as it is: an old one may hold what no terminal and no model shows."""
    return unquote(value) if "%" in value else value
