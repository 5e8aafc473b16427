"""AES-256-GCM over blocks that are too large to be had twice: sealed in pieces as they are written, opened where they lie. Pure.

    mark (8 bytes) | nonce (12) | tag (16) | zero (4) | the block, encrypted

Its head has 40 bytes, so that what is read at multiples of 8 bytes in the block is so in the file. The tag is known last, so it is
written into the head once the rest stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from secrets import token_bytes
from typing import IO, Any

from engramlog_server.events.sealing.cipher import NONCE_BYTES, TAG_BYTES, NotOpened, invalid_tag

HEAD_BYTES = 40
PIECE = 1 << 20
"""Bytes that are sealed or opened at once."""
_MARK_BYTES = 8
_TAG_AT = _MARK_BYTES + NONCE_BYTES
Bytes = bytes | bytearray | memoryview


class SealedBlock:
    """A block that is sealed while it is written."""

    def __init__(self, mark: bytes, key: bytes, about: bytes, pieces: Sequence[Bytes]) -> None:
        """`mark`: 8 bytes by which it is known what this is; `key`: 32 bytes; `about`: what it is bound to."""
        self._mark, self._key, self._about, self._pieces = mark, key, about, pieces

    @property
    def size(self) -> int:
        """Bytes that are written."""
        return HEAD_BYTES + sum(map(len, self._pieces))

    def write(self, file: IO[bytes]) -> None:
        """Write it to a file from where that stands, which must be able to go back. Raises OSError."""
        nonce, start = token_bytes(NONCE_BYTES), file.tell()
        sealing: Any = _cipher(self._key, nonce).encryptor()
        sealing.authenticate_additional_data(self._mark + self._about)
        file.write(bytes(HEAD_BYTES))
        for piece in self._pieces:
            with memoryview(piece) as whole:
                for at in range(0, len(whole), PIECE):
                    file.write(sealing.update(whole[at : at + PIECE]))
        sealing.finalize()
        file.seek(start)
        file.write((self._mark + nonce + sealing.tag).ljust(HEAD_BYTES, b"\0"))


def open_block(mark: bytes, key: bytes, about: bytes, block: bytearray) -> memoryview:
    """Open a block where it lies; what is behind its head. Raises NotOpened, after which the bytes tell nothing."""
    if len(block) < HEAD_BYTES or block[:_MARK_BYTES] != mark:
        raise NotOpened("it is no sealed block of this kind")
    nonce, tag = bytes(block[_MARK_BYTES:_TAG_AT]), bytes(block[_TAG_AT : _TAG_AT + TAG_BYTES])
    opening: Any = _cipher(key, nonce, tag).decryptor()
    opening.authenticate_additional_data(mark + about)
    body = memoryview(block)[HEAD_BYTES:]
    for start in range(0, len(body), PIECE):
        body[start : start + PIECE] = opening.update(body[start : start + PIECE])
    try:
        opening.finalize()
    except invalid_tag():
        raise NotOpened("a sealed block does not open under this key") from None
    return body


def _cipher(key: bytes, nonce: bytes, tag: bytes | None = None) -> Any:
    algorithm, mode, cipher = _classes()
    return cipher(algorithm(key), mode(nonce, tag))


@lru_cache(maxsize=1)
def _classes() -> tuple[Any, Any, Any]:
    """AES, GCM and what joins them, of `cryptography`: loaded by the first use, since most commands seal nothing."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415 - see above

    return algorithms.AES, modes.GCM, Cipher
