"""Master keys that this process holds itself: one wraps, all unwrap, so that a key can be replaced while a store is used. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from secrets import token_bytes
from typing import TYPE_CHECKING

from engramlog_server.events.encryption.cipher import NONCE_BYTES, invalid_tag, new_aes
from engramlog_server.events.encryption.seals import Wrapped
from engramlog_server.events.errors import KeyUnavailable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
FILE_MARK = b"\x01"
"""What a line begins with that a key ring wrapped; a key service's begins with another byte."""
ID_BYTES = 8


def key_id(key: bytes) -> str:
    """16 hexadecimal digits by which a master key is told, and nothing of it."""
    return sha256(b"engramlog master key\0" + key).hexdigest()[: 2 * ID_BYTES]


class KeyRing:
    """A `MasterKey` of one or more keys of 32 bytes; the last one wraps."""

    def __init__(self, keys: Sequence[bytes], chance: Callable[[int], bytes] = token_bytes) -> None:
        """Raises ValueError where there is no key, or one has another length."""
        if not keys or any(len(one) != KEY_BYTES for one in keys):
            raise ValueError(f"a master key has {KEY_BYTES} bytes, and a ring at least one key")
        self._keys = {bytes.fromhex(key_id(one)): one for one in keys}
        self._current = bytes.fromhex(key_id(keys[-1]))
        self._chance = chance
        self._ciphers: dict[bytes, AESGCM] = {}

    @property
    def name(self) -> str:
        """See `MasterKey.name`."""
        return self._current.hex()

    @property
    def names(self) -> list[str]:
        """Every key that it can unwrap with."""
        return [one.hex() for one in self._keys]

    def wrap(self, secrets: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """See `MasterKey.wrap`."""
        found = list[bytes]()
        for about, secret in secrets:
            nonce = self._chance(NONCE_BYTES)
            wrapped = self._cipher(self._current).encrypt(nonce, secret, about)
            found.append(FILE_MARK + self._current + nonce + wrapped)
        return found

    def unwrap(self, lines: Sequence[Wrapped]) -> list[bytes | KeyUnavailable]:
        """See `MasterKey.unwrap`."""
        return [self._unwrapped(one) for one in lines]

    def wrapped_by(self, line: bytes) -> str | None:
        """See `MasterKey.wrapped_by`."""
        return line[1 : 1 + ID_BYTES].hex() if line[:1] == FILE_MARK else None

    def is_current(self, line: bytes) -> bool:
        """See `MasterKey.is_current`."""
        return line[: 1 + ID_BYTES] == FILE_MARK + self._current

    def _unwrapped(self, one: Wrapped) -> bytes | KeyUnavailable:
        about, line = one
        if line[:1] != FILE_MARK:
            return KeyUnavailable("it was not wrapped by a key file, but by a key service", passes=False)
        by, nonce = line[1 : 1 + ID_BYTES], line[1 + ID_BYTES : 1 + ID_BYTES + NONCE_BYTES]
        if by not in self._keys:
            held = ", ".join(self.names)
            return KeyUnavailable(f"it was wrapped under master key {by.hex()}; held are {held}", passes=False)
        try:
            return self._cipher(by).decrypt(nonce, line[1 + ID_BYTES + NONCE_BYTES :], about)
        except (invalid_tag(), ValueError):
            return KeyUnavailable(
                "it does not open: the line was changed, or is of another store or owner", passes=False
            )

    def _cipher(self, by: bytes) -> AESGCM:
        found = self._ciphers.get(by)
        if found is None:
            found = self._ciphers[by] = new_aes()(self._keys[by])
        return found
