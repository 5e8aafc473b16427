"""The text of a key, and what the store keeps of it. Pure but for making one.

`egl_<8 letters and digits>_<43 characters>_<6 hexadecimal digits>`: its id, 32 random bytes as base64url, and what tells a slip.
The bytes are the seed of an Ed25519 key. The store keeps the public key, so that what the seed signs is known again, and the
SHA-256 of the text; a random secret needs no slow hash.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PREFIX = "egl_"
SEED_BYTES = 32
_ID_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_KEY = re.compile(r"egl_([a-z0-9]{8})_([A-Za-z0-9_-]{43})_([0-9a-f]{6})", re.ASCII)


class MadeKey(NamedTuple):
    """A key, told once, and what is kept of it."""

    key_id: str
    text: str
    public: str
    """64 hexadecimal digits."""
    digest: str
    """SHA-256 of the text, 64 hexadecimal digits."""

    def __repr__(self) -> str:
        """Without the key."""
        return f"MadeKey(key_id={self.key_id!r})"


def make_key(chance: Callable[[int], bytes]) -> MadeKey:
    """A new key. `chance`: gives so many random bytes."""
    key_id = "".join(_ID_LETTERS[one % len(_ID_LETTERS)] for one in chance(8))
    seed = chance(SEED_BYTES)
    body = f"{PREFIX}{key_id}_{urlsafe_b64encode(seed).rstrip(b'=').decode()}"
    text = f"{body}_{_check(body)}"
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return MadeKey(key_id, text, public.hex(), digest_of(text))


def id_in(shown: str) -> str | None:
    """The id of a key that was shown; None where it is the text of none."""
    found = _KEY.fullmatch(shown)
    if found is None or not compare_digest(_check(shown[: -len(found[3]) - 1]), found[3]):
        return None
    return found[1]


def seed_of(text: str) -> bytes:
    """The seed of a key. Raises ValueError where the text is none."""
    found = _KEY.fullmatch(text)
    if found is None or id_in(text) is None:
        raise ValueError("a key of Engramlog, egl_... as `engramlog key new` told it once")
    return urlsafe_b64decode(found[2] + "=")


def digest_of(text: str) -> str:
    """What the store keeps of a key's text: SHA-256, 64 hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _check(body: str) -> str:
    return sha256(body.encode()).hexdigest()[:6]
