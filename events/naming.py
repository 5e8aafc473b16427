"""Ids that are made of an owner's words: the same words give the same id, and without the owner's secret nobody confirms a guess.

Pure.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from engramlog_server.events.entry import SECRET_BYTES, keyed
from engramlog_server.events.errors import StoreMismatch

_PURPOSE = b"id of words"
_VERSION_8 = 0x8000 << 64 | 0x8 << 60
_PLACES_8 = ~(0xF000 << 64 | 0xC << 60)


class Naming(NamedTuple):
    """By what ids are made of one owner's words."""

    owner: str
    secret: bytes
    """Empty where the owner has none: an owner without events."""

    def __repr__(self) -> str:
        """Without the secret: what is told of an error or a test goes further than the store."""
        return f"Naming(owner={self.owner!r})"

    def made(self, use: str, *parts: str) -> str:
        """A version 8 UUID of these words for one use; other owners, uses and words have others.

        Raises StoreMismatch where the owner has no secret, or one that nothing made.
        """
        if len(self.secret) != SECRET_BYTES:
            raise StoreMismatch(
                f"the secret of owner {self.owner!r} has {len(self.secret)} bytes, {SECRET_BYTES} are allowed: no id is made of its"
                " words; bring back the backup that has the right one, and see `engramlog verify`"
            )
        words = b"".join(len(one).to_bytes(8, "big") + one for one in map(str.encode, (use, *parts)))
        number = int.from_bytes(keyed(self.secret, _PURPOSE, words, 16), "big")
        return str(UUID(int=number & _PLACES_8 | _VERSION_8))
