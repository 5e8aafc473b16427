"""Reading whole tables in pages, for verification: nothing blocks Redis, what stands all the while comes at least once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from engramlog_server.events.redis.wire import Argument, Wire

PAGE = 500
TABLES_AT_ONCE = 32


def pairs(wire: Wire, key: str) -> Iterator[tuple[bytes, bytes]]:
    """Fields and values of a hash."""
    for page in _pages(wire, "HSCAN", key):
        yield from zip(page[::2], page[1::2], strict=True)


def tables(wire: Wire, keys: Sequence[str]) -> Iterator[tuple[str, list[tuple[bytes, bytes]]]]:
    """Each of these hashes with its fields and values; the first pages of several are asked for at once."""
    for at in range(0, len(keys), TABLES_AT_ONCE):
        some = keys[at : at + TABLES_AT_ONCE]
        for key, (cursor, first) in zip(
            some, wire.answers([["HSCAN", key, 0, "COUNT", PAGE] for key in some]), strict=True
        ):
            pages = chain([first], _pages(wire, "HSCAN", key, cursor=cursor) if cursor != b"0" else ())
            yield key, [pair for page in pages for pair in zip(page[::2], page[1::2], strict=True)]


def members(wire: Wire, key: str) -> Iterator[tuple[bytes, bytes]]:
    """Members and scores of a sorted set, scores as Redis writes them."""
    for page in _pages(wire, "ZSCAN", key):
        yield from zip(page[::2], page[1::2], strict=True)


def elements(wire: Wire, key: str) -> Iterator[bytes]:
    """Members of a set."""
    for page in _pages(wire, "SSCAN", key):
        yield from page


def keys_like(wire: Wire, pattern: str) -> Iterator[tuple[bytes, bytes]]:
    """Keys and their types."""
    seen: set[bytes] = set()
    for page in chain.from_iterable(_pages(one, "SCAN", None, "MATCH", pattern) for _, one in wire.servers()):
        fresh = [key for key in page if key not in seen]
        seen.update(fresh)
        if fresh:
            yield from zip(fresh, wire.pipeline([["TYPE", key] for key in fresh]), strict=True)


def _pages(wire: Wire, command: str, key: str | None, *more: Argument, cursor: bytes = b"0") -> Iterator[list[bytes]]:
    while True:
        cursor, page = wire.call(command, *([] if key is None else [key]), cursor, *more, "COUNT", PAGE)
        yield page
        if cursor == b"0":
            return
