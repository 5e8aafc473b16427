"""What several faces show in the same way: sentences, and ids, of which an old one may hold what no terminal and no model shows."""

from __future__ import annotations

from urllib.parse import quote, unquote

from engramlog_server.events.text import HIDDEN

CURL = "curl -H @<(engramlog token --header)"
"""How to show the token: as a file, never on a command line, which every user of the machine reads (`ps`)."""
UNKNOWN = "owner {owner} has no events; `engramlog status --owners --search PART` finds owners by a part of the name"
"""Most often the name is spelled otherwise."""


def encoded_id(value: str) -> str:
    """An id as it can be shown and asked for again: what is hidden in it percent-encoded. No id holds a `%` of its own."""
    if value.isascii():
        return value
    return HIDDEN.sub(lambda found: quote(found[0]), value)


def decoded_id(value: str) -> str:
    """An id that may be percent-encoded, as it is: an old one may hold what no terminal and no model shows."""
    return unquote(value) if "%" in value else value
