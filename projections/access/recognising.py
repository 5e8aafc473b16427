"""Recognising the caller of a key, or of a token made of one. Pure: the book and the instant are arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hmac import compare_digest
from typing import Literal, NamedTuple

from engramlog_server.projections.access.book import AccessBook, Key
from engramlog_server.projections.access.caller import Caller
from engramlog_server.projections.access.keys import (
    OVER,
    NotSigned,
    TokenRefused,
    TokenSaid,
    check_holds,
    digest_of,
    id_in,
    key_named,
    read_token,
)

SECOND = 1_000_000
ReadToken = Callable[[str, bytes], TokenSaid]
"""The claims of a token signed by the key with this public half. Raises TokenRefused."""
Why = Literal["unknown", "over", "revoked"]
"""Why no caller is recognised, by name."""


class Recognised(NamedTuple):
    """The caller; or why none is recognised, in words for the holder of the key or token."""

    caller: Caller | None
    got: str = ""
    why: Why = "unknown"
    once: Caller | None = None
    """The caller of a key that is no longer valid."""


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
    return UNKNOWN if key is None else _by_token(book, key, shown, now, read)


def _by_token(book: AccessBook, key: Key, shown: str, now: int, read: ReadToken) -> Recognised:
    """The caller of a token that claims to be made of a key."""
    try:
        told = read(shown, key.public)
        check_holds(told, now // SECOND)
    except NotSigned:  # reported as an unknown key: a forged token learns nothing of keys
        return UNKNOWN
    except TokenRefused as error:
        return Recognised(None, str(error), "over" if str(error) == OVER else "unknown")
    found = caller_of(book, key, now)
    if found.caller is None:
        return found._replace(got=f"a token made of {found.got}")
    ends = told.ends * SECOND
    least = ends if key.expires_at is None else min(ends, key.expires_at)
    layers = (book.grants.get(key.principal, ()), told.grants)
    return Recognised(Caller(key.principal, layers, key.key_id, told.subject or "", least))


def as_of_now(book: Callable[[], AccessBook], caller: Caller, now: int) -> Caller | None:
    """A caller recognised earlier, with its grants now; None: it has none. `book` is not asked for unlimited callers."""
    if caller.layers is None:
        return caller
    if caller.ends is not None and now >= caller.ends:
        return None
    if caller.key_id is not None:
        return still(book(), caller, now).caller
    return replace(caller, layers=(book().grants.get(caller.name, ()), *caller.layers[1:]))


def caller_of(book: AccessBook, key: Key, now: int) -> Recognised:
    """The caller of a key in the book, if the key is live."""
    state = key.state(now)
    if state != "live":
        gone = Caller(key.principal, ((),), key.key_id)
        if state == "revoked":
            return Recognised(None, f"the key {key.key_id}, which was revoked", "revoked", gone)
        return Recognised(None, f"the key {key.key_id}, which is over", "over", gone)
    return Recognised(Caller(key.principal, (book.grants.get(key.principal, ()),), key.key_id, None, key.expires_at))


def still(book: AccessBook, caller: Caller, now: int) -> Recognised:
    """Who was recognised before by a key, or by a token made of one, as the book has him now. `now`: microseconds since 1970.

    What he showed is not asked for again: a key's text and a token's signature do not change, what they open does.
    """
    key = None if caller.key_id is None else book.keys.get(caller.key_id)
    if key is None:
        return UNKNOWN
    found = caller_of(book, key, now)
    if found.caller is None or caller.token is None:
        return found
    if caller.ends is not None and now >= caller.ends:
        return Recognised(None, f"a token of the key {key.key_id}, which is over", "over")
    layers = (book.grants.get(key.principal, ()), *(caller.layers or ())[1:])
    return Recognised(replace(caller, layers=layers))
