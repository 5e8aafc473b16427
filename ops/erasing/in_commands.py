"""Commands as they stand in an append-only file: what they write under an owner's own keys, sealed, is opened and searched.

What Redis holds no more stands there until the file is written anew. It is sought where it lies, so that what stands before it, as
the packed beginning of a file of Redis 6.2, or behind a part that is damaged, hinders nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ops.erasing.own_values import OwnValues
from ops.erasing.probes import Probes

MOST_COMMAND = 64 << 20
"""Bytes of one command that are kept while it passes by; what is longer is told."""
_BULK = re.compile(rb"\$(\d{1,10})\r\n")
_KEY_BYTES = 4_096
"""More than a key of ours has."""


class OwnCommands:
    """What passes by of one file."""

    def __init__(self, probes: Probes, values: OwnValues, opened: Callable[[bytes], None]) -> None:
        """`opened`: told what was opened."""
        owner, tag = re.escape(probes.owner.encode()), re.escape(b"{%b}:" % probes.tag.encode())
        build = rb"v\d+(?:\.\d+)?:"
        own = rb"%b(?:st|log|tail|past):%b|ve[cp]:[^:\r\n]*:%b|%b(?:own|q)|wl" % (build, owner, owner, build)
        self._key = re.compile(rb"\$\d{1,5}\r\n(%b(?:%b))\r\n" % (tag, own))
        self._values, self._opened = values, opened
        self.unread = 0
        """Commands that are longer than is kept, or that break off."""

    def passed(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The same chunks."""
        rest = b""
        for chunk in chunks:
            rest = self._taken(rest + chunk)
            yield chunk
        self._taken(rest, at_end=True)

    def _taken(self, raw: bytes, *, at_end: bool = False) -> bytes:
        """Take the whole commands; what of the end may be the beginning of another."""
        at = 0
        while found := self._key.search(raw, at):
            told, end = _arguments(raw, found.end())
            if end is None:
                if not at_end and len(raw) - found.start() <= MOST_COMMAND:
                    return raw[found.start() :]
                end = found.end() + sum(len(b"$%d\r\n%b\r\n" % (len(one), one)) for one in told)
                self.unread += end < len(raw)
            self._take(found[1].decode("utf-8", "replace"), told)
            at = end
        return raw[max(at, len(raw) - _KEY_BYTES) :]

    def _take(self, key: str, told: list[bytes]) -> None:
        opens = self._values.opener(key)
        for field, value in zip([b"", *told], told, strict=False):
            found = [*self._values.left(key, field, value)]
            if opens is not None:
                found += opens(field, value)
            elif self._values.is_own_field(key, field):
                found += self._values.in_field(key, value)
            for one in found:
                self._opened(one)


def _arguments(raw: bytes, at: int) -> tuple[list[bytes], int | None]:
    """Those that stand behind a key, and where they end; None where the bytes end before them."""
    told = list[bytes]()
    while found := _BULK.match(raw, at):
        end = found.end() + int(found[1])
        if end + 2 > len(raw):
            return told, None
        told.append(raw[found.end() : end])
        at = end + 2
    rest = raw[at : at + 16]
    return told, None if not rest or (rest[:1] == b"$" and b"\r\n" not in rest) else at
