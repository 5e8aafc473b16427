"""Who shows a key, or a token made of one. Pure: the book and the instant are arguments."""

from __future__ import annotations

from collections.abc import Callable
from hmac import compare_digest
from typing import NamedTuple

from projections.access.book import AccessBook, Key
from projections.access.caller import Caller
from projections.access.keys import digest_of, id_in
from projections.access.tokens import TokenRefused, TokenSaid, check_holds, key_named, read_token

SECOND = 1_000_000
ReadToken = Callable[[str, bytes], TokenSaid]
"""What a token says, signed by the key with this public half. Raises TokenRefused."""


class Recognised(NamedTuple):
    """Who it is; or why nobody is recognised, in words for whoever showed it."""

    caller: Caller | None
    got: str = ""
    once: Caller | None = None
    """Whose key it was, where it opens nothing any more."""


UNKNOWN = Recognised(None, "another than this service's token, and no key of this store")


def is_of_a_key(shown: str) -> bool:
    """Whether this is written as a key, or as a token made of one."""
    return id_in(shown) is not None or key_named(shown) is not None


def recognised(book: AccessBook, shown: str, now: int, read: ReadToken = read_token) -> Recognised:
    """Who shows this. `now`: microseconds since 1970. `read` reads a token, or remembers what it read.

    What a key or a token is that opens nothing any more is told to whoever holds it, and to nobody else.
    """
    key_id = id_in(shown)
    if key_id is not None:
        key = book.keys.get(key_id)
        if not compare_digest(digest_of(shown), key.digest if key else "0" * 64) or key is None:
            return UNKNOWN
        return caller_of(book, key, now)
    named = key_named(shown)
    key = None if named is None else book.keys.get(named)
    if key is None:
        return UNKNOWN
    try:
        told = read(shown, key.public)
        check_holds(told, now // SECOND)
    except TokenRefused as error:
        return Recognised(None, str(error))
    found = caller_of(book, key, now)
    if found.caller is None:
        return found._replace(got=f"a token made of {found.got}")
    ends = told.ends * SECOND
    least = ends if key.expires_at is None else min(ends, key.expires_at)
    layers = (book.grants.get(key.principal, ()), told.grants)
    return Recognised(Caller(key.principal, layers, key.key_id, told.subject or "", least))


def caller_of(book: AccessBook, key: Key, now: int) -> Recognised:
    """Who has a key of the book, where it lives."""
    state = key.state(now)
    if state != "live":
        over = "was revoked" if state == "revoked" else "is over"
        gone = Caller(key.principal, ((),), key.key_id)
        return Recognised(None, f"the key {key.key_id}, which {over}", gone)
    return Recognised(Caller(key.principal, (book.grants.get(key.principal, ()),), key.key_id, None, key.expires_at))
