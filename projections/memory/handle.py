"""Handles: short names of memories and turns, the same for an id for ever. Pure.

A handle is six letters and digits of a digest of the id. Two of 10,000 ids share one with a probability of about 5 %; who names a
shared handle gets an error that lists both ids.
"""

from __future__ import annotations

import re
from base64 import b32encode
from functools import lru_cache
from hashlib import blake2b

LENGTH = 6
_SHAPE = re.compile(r"[a-z2-7]{6}")


@lru_cache(maxsize=1 << 16)
def handle_of(memory_id: str) -> str:
    """The handle of an id: six characters of a to z and 2 to 7. An id that is as short as a handle is its own."""
    if len(memory_id) <= LENGTH:
        return memory_id
    digest = blake2b(memory_id.encode("utf-8", "surrogatepass"), digest_size=5).digest()
    return b32encode(digest)[:LENGTH].decode().lower()


def is_handle(text: str) -> bool:
    """Whether a text has the shape of a handle."""
    return _SHAPE.fullmatch(text) is not None
