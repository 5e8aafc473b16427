"""AES-256-GCM under keys that are made of an owner's secret: bodies of events one by one, and values that are written anew.

Pure: secrets and salts are arguments. `cryptography` is loaded by the first use, since most commands seal nothing.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from engramlog_server.events.sealing.compression import NotExpanded, compressed, expanded

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

BODY_MARK = b"\x01"
"""What a sealed body begins with; one that lies open is JSON, and begins with `{`."""
VALUE_MARK = b"\xc1"
"""What a sealed value begins with: the one byte that MessagePack never writes."""
NONCE_BYTES = 12
TAG_BYTES = 16
SALT_BYTES = 16
NO_SALT = bytes(SALT_BYTES)
"""What stands in the table of salts for an entry that lies open, or whose words were erased."""
_BODY_NONCE = bytes(NONCE_BYTES)
"""A body's key is of its salt alone and seals nothing else, so its nonce need not differ."""
_OF_BODY, _OF_VALUE, _OF_NONCE = b"sealed body", b"sealed value", b"sealed nonce"


class NotOpened(ValueError):
    """Sealed bytes that this key does not open: they were changed, moved, or sealed under another."""


def body_about(
    store: bytes,
    raw_id: bytes,
    owner: str,
    kind: str,
    principal: bytes,
    level: bytes,
    digests: bytes,
    committed: bytes,
) -> bytes:
    """Associated data of a sealed body: all that the door knew of the event. `level`: level and trust as in the entry.

    None of the parts runs into another: those of the same length stand last, the others have theirs before them. Seq and recorded
    time are given when it is appended, after it was sealed; the chain binds them.
    """
    return _often(store, owner, kind, principal, level) + _measured(digests) + raw_id + committed


@lru_cache(maxsize=4_096)
def _often(store: bytes, owner: str, kind: str, principal: bytes, level: bytes) -> bytes:
    return b"".join(map(_measured, (store, owner.encode(), kind.encode(), principal, level)))


def _measured(part: bytes) -> bytes:
    return len(part).to_bytes(4, "big") + part


def seal_body(secret: bytes, key_salt: bytes, about: bytes, salt: bytes, body: bytes, dictionary: bytes) -> bytes:
    """A body as it is stored: with the salt of its commitment, and compressed with a dictionary; 33 bytes longer than that.

    `key_salt`: 16 random bytes that no other body has; without them it cannot be opened. The commitment has a salt of its own,
    which is sealed too: whoever has a copy of the store could confirm a guess of the body by it.
    """
    plain = salt + compressed(body, dictionary)
    return BODY_MARK + new_aes()(_body_key(secret, key_salt)).encrypt(_BODY_NONCE, plain, about)


def open_body(secret: bytes, key_salt: bytes, about: bytes, sealed: bytes, dictionary: bytes) -> tuple[bytes, bytes]:
    """The salt of its commitment, and the body that was sealed. Raises NotOpened."""
    try:
        found = new_aes()(_body_key(secret, key_salt)).decrypt(_BODY_NONCE, sealed[len(BODY_MARK) :], about)
    except (invalid_tag(), ValueError):
        raise NotOpened("a body does not open under its owner's secret and its salt") from None
    try:
        return found[:SALT_BYTES], expanded(found[SALT_BYTES:], dictionary)
    except NotExpanded as error:
        raise NotOpened(str(error)) from None


def _body_key(secret: bytes, key_salt: bytes) -> bytes:
    return blake2b(key_salt, digest_size=32, key=secret, person=_OF_BODY).digest()


class ValueCipher:
    """Seals values of one owner that are derived and written anew: records, states, change logs, vectors, moments."""

    __slots__ = ("_cipher", "_nonce_key", "secret")

    def __init__(self, secret: bytes) -> None:
        """`secret`: of the owner, 32 bytes."""
        self.secret = secret
        self._cipher: AESGCM | None = None
        self._nonce_key = blake2b(b"", digest_size=32, key=secret, person=_OF_NONCE).digest()

    def seal(self, place: bytes, value: bytes) -> bytes:
        """A value as it is stored, 29 bytes longer. `place`: what it is, and where it lies; it opens nowhere else.

        The same value at the same place is the same bytes: what compares stored values goes on to, and nothing else is told by
        it. The nonce is a keyed hash of place and value, so no two values share one.
        """
        nonce = blake2b(
            len(place).to_bytes(4, "big") + place + value, digest_size=NONCE_BYTES, key=self._nonce_key
        ).digest()
        return VALUE_MARK + nonce + self._aes_of_values().encrypt(nonce, value, place)

    def open(self, place: bytes, stored: bytes) -> bytes:
        """The value that was sealed; one that lies open is itself. Raises NotOpened."""
        if stored[:1] != VALUE_MARK:
            return stored
        end = 1 + NONCE_BYTES
        try:
            return self._aes_of_values().decrypt(stored[1:end], stored[end:], place)
        except (invalid_tag(), ValueError):
            raise NotOpened("a value does not open under its owner's secret") from None

    def _aes_of_values(self) -> AESGCM:
        if self._cipher is None:
            self._cipher = new_aes()(blake2b(b"", digest_size=32, key=self.secret, person=_OF_VALUE).digest())
        return self._cipher


@lru_cache(maxsize=1)
def new_aes() -> type[AESGCM]:
    """The class of `cryptography`."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - see the file's first lines

    return AESGCM


@lru_cache(maxsize=1)
def invalid_tag() -> type[Exception]:
    """What it raises where nothing opens."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - see the file's first lines

    return InvalidTag
