"""AES-256-GCM under keys that are made of an owner's secret: bodies of events one by one, and values that are written anew.

Pure: secrets and salts are arguments. `cryptography` is loaded by the first use, since most commands seal nothing.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import TYPE_CHECKING

from engramlog_server.events.encryption.compression import NotExpanded, compressed, expanded

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

BODY_MARK = b"\x02"
"""What a sealed body begins with; one that lies open is JSON, and begins with `{`."""
VALUE_MARK = b"\xc1"
"""What a sealed value begins with: the one byte that MessagePack never writes."""
NONCE_BYTES = 12
TAG_BYTES = 16
SALT_BYTES = 16
_HEAD = Struct(">cQH")
"""Of a sealed body: its mark, the id of its salts, how many bytes its skeleton takes."""
_SKELETON, _WORDS = b"\0skeleton", b"\0words"
_PARTED, _WHOLE = b"\0", b"\1"
"""How the skeleton's part begins: words follow in a part of their own, or the event has none."""
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


def seal_body(
    secret: bytes,
    salts: tuple[int, bytes],
    about: bytes,
    salt: bytes,
    parts: tuple[bytes, bytes],
    dictionary: bytes,
) -> bytes:
    """A body as it is stored, in two parts that are sealed under keys of their own: its skeleton and its words.

    `salts`: their id, then 16 random bytes for each part; without them it cannot be opened, and without those of the words only the
    skeleton opens. `parts`: the body, and its skeleton: the body without words. `salt`: of the commitment; it is sealed too,
    because whoever has a copy of the store could confirm a guess of the body by it.
    """
    number, keys = salts
    body, skeleton = parts
    is_whole = skeleton == body
    plain = _WHOLE + salt + compressed(body, dictionary) if is_whole else _PARTED + compressed(skeleton, dictionary)
    head = _HEAD.pack(BODY_MARK, number, len(plain) + TAG_BYTES)
    first = _sealed(secret, keys[:SALT_BYTES], about + _SKELETON + head, plain)
    if is_whole:
        return head + first
    words = salt + compressed(body, dictionary + skeleton)
    return head + first + _sealed(secret, keys[SALT_BYTES:], about + _WORDS + head, words)


def salts_id(sealed: bytes) -> int:
    """The id of the salts of a sealed body; 0 of one that is cut off."""
    return int(_HEAD.unpack_from(sealed)[1]) if len(sealed) >= _HEAD.size else 0


def open_body(
    secret: bytes, keys: bytes, about: bytes, sealed: bytes, dictionary: bytes, *, has_words: bool = True
) -> tuple[bytes, bytes]:
    """The salt of its commitment, and the body that was sealed; of one whose words were erased nothing, and its skeleton.

    `keys`: the salts, that of the skeleton first. `has_words`: whether that of the words is there. Raises NotOpened.
    """
    if len(sealed) < _HEAD.size:
        raise NotOpened("a body is cut off")
    head, size = sealed[: _HEAD.size], _HEAD.unpack_from(sealed)[2]
    first, words = sealed[_HEAD.size : _HEAD.size + size], sealed[_HEAD.size + size :]
    plain = _unsealed(secret, keys[:SALT_BYTES], about + _SKELETON + head, first)
    try:
        if plain[:1] == _WHOLE and not words:
            return plain[1 : 1 + SALT_BYTES], expanded(plain[1 + SALT_BYTES :], dictionary)
        skeleton = expanded(plain[1:], dictionary)
        if not has_words and plain[:1] == _PARTED:
            return b"", skeleton
        found = _unsealed(secret, keys[SALT_BYTES : 2 * SALT_BYTES], about + _WORDS + head, words)
        return found[:SALT_BYTES], expanded(found[SALT_BYTES:], dictionary + skeleton)
    except NotExpanded as error:
        raise NotOpened(str(error)) from None


def _sealed(secret: bytes, salt: bytes, about: bytes, plain: bytes) -> bytes:
    return new_aes()(_body_key(secret, salt)).encrypt(_BODY_NONCE, plain, about)


def _unsealed(secret: bytes, salt: bytes, about: bytes, sealed: bytes) -> bytes:
    try:
        return new_aes()(_body_key(secret, salt)).decrypt(_BODY_NONCE, sealed, about)
    except (invalid_tag(), ValueError):
        raise NotOpened("a body does not open under its owner's secret and its salts") from None


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
