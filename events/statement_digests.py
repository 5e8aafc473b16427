"""The keyed digests of what an event states, as an entry holds them beside its body. Pure.

What a statement's bytes are, and by which rules they were made, is decided outside (`events.envelope`). Whoever lacks the owner's
secret learns from the field how many statements there are, and nothing else; equal statements of one owner have equal digests.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

DIGEST_BYTES = 16
MOST_STATEMENTS = 32
"""Most statements of one event: the field holds 513 bytes at most."""
LEAST_SECRET = 16
MOST_SECRET = 64
_PERSON = b"statement"


class Stated(NamedTuple):
    """What a field tells: by which version of the rules (1 to 255; 0: it states nothing), and a digest a statement."""

    version: int
    digests: tuple[bytes, ...]


NOTHING_STATED = Stated(0, ())


def digest(secret: bytes, statement: bytes) -> bytes:
    """16 bytes that tell this statement of the secret's owner from others: blake2b, keyed, and for statements alone.

    Raises ValueError where the secret has not 16 to 64 bytes: a digest without one would confirm any guess.
    """
    if not LEAST_SECRET <= len(secret) <= MOST_SECRET:
        raise ValueError(f"a secret of {len(secret)} bytes: {LEAST_SECRET} to {MOST_SECRET} are allowed")
    return blake2b(statement, digest_size=DIGEST_BYTES, key=secret, person=_PERSON).digest()


def written(version: int, digests: Sequence[bytes]) -> bytes:
    """The field's bytes: the version, then each digest in its order; empty for no digests.

    Raises ValueError for a version outside 1 to 255, a digest that has not 16 bytes, or more than `MOST_STATEMENTS`.
    """
    if not digests:
        return b""
    if not 1 <= version <= 255:
        raise ValueError(f"version {version} of the statement rules: 1 to 255 are allowed")
    if len(digests) > MOST_STATEMENTS:
        raise ValueError(f"{len(digests)} statements of one event: at most {MOST_STATEMENTS} are allowed")
    for one in digests:
        if len(one) != DIGEST_BYTES:
            raise ValueError(f"a statement's digest of {len(one)} bytes: {DIGEST_BYTES} are allowed")
    return b"".join((bytes((version,)), *digests))


def read(field: bytes) -> Stated:
    """What a field tells. Raises ValueError for bytes that `written` makes of nothing."""
    if not field:
        return NOTHING_STATED
    count, rest = divmod(len(field) - 1, DIGEST_BYTES)
    if rest or not 1 <= count <= MOST_STATEMENTS:
        raise ValueError(
            f"statement digests of {len(field)} bytes: 1 and {DIGEST_BYTES} for each of 1 to {MOST_STATEMENTS} are allowed"
        )
    if not field[0]:
        raise ValueError("statement digests by version 0 of the rules: 1 to 255 are allowed")
    return Stated(field[0], tuple(field[at : at + DIGEST_BYTES] for at in range(1, len(field), DIGEST_BYTES)))
