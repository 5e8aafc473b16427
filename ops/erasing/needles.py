"""What is looked for after an erasure, and the search for all of it at once, through streams of any length in bounded memory. Pure.

The automaton is `ahocorasick_rs`, which the rules of sensitivity search by too: 2,000 needles through 208 MB took 1.2 s of CPU, and
an alternation of `re` 83 s for a tenth of that.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ahocorasick_rs import BytesAhoCorasick

Kind = Literal["word", "secret", "line", "salt", "derived", "vector"]
CARRY_BYTES = 64 << 10
"""What of a stream is kept while its next bytes come: a needle may lie across, and what zlib packed is read from its beginning."""
STEP_BYTES = 4 * CARRY_BYTES
"""What of a stream is looked at in one step at least."""
UNPACKED_BYTES = 4 << 20
"""What one packed value gives at most."""
DEEP = 3
"""How often values are unpacked: what RQ keeps of a result is packed twice."""
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_\-\s]{16,}={0,2}\s*\Z")
Hits = Counter[Kind]
_NONE = Hits()
"""Of the many values in which there is nothing; never added to."""


def forms_of_key(raw: bytes) -> list[bytes]:
    """How bytes that are no text may stand: raw, in hexadecimal digits, in base64 of both alphabets at all three places."""
    forms = [raw, raw.hex().encode(), raw.hex().upper().encode()]
    for shift in range(3):  # the letters that are of nothing but these bytes
        start, end = -(-8 * shift // 6), 8 * (shift + len(raw)) // 6
        forms += [coded(b"\0" * shift + raw)[start:end] for coded in (b64encode, urlsafe_b64encode)]
    return list(dict.fromkeys(forms))


class Needles:
    """Many needles, each of a kind."""

    def __init__(self, needles: Sequence[tuple[Kind, bytes]]) -> None:
        """`needles`: up to some thousands, none empty, none longer than 4,096 bytes."""
        self._kinds = [kind for kind, _ in needles]
        self._longest = max((len(one) for _, one in needles), default=1)
        self._shortest = min((len(one) for _, one in needles), default=1)
        self._any = BytesAhoCorasick([one for _, one in needles]) if needles else None
        self.looked = 0
        """Bytes that were looked at, unpacked ones too."""

    def __len__(self) -> int:
        return len(self._kinds)

    def __repr__(self) -> str:
        """Without any of them."""
        return f"Needles({len(self)})"

    def in_value(self, raw: bytes, deep: int = DEEP) -> Hits:
        """How often needles stand in bytes that are at hand as a whole, also where they are packed by zlib or in base64."""
        self.looked += len(raw)
        if len(raw) < self._shortest:
            return _NONE
        found = self._hits(raw, 0)
        if deep:
            for inner in _unpacked(raw):
                found = found + self.in_value(inner, deep - 1)
        return found

    def in_stream(self, chunks: Iterable[bytes]) -> Hits:
        """The same of a stream that comes in chunks of whatever length. What zlib packed is followed for 64 KiB at least."""
        found, kept = Hits(), b""
        for chunk in _gathered(chunks):
            self.looked += len(chunk)
            whole = kept + chunk
            found += self._hits(whole, len(kept))
            settled = max(len(whole) - CARRY_BYTES, 0)
            found += self._packed(whole, settled)
            kept = whole[settled:]
        return found + self._packed(kept, len(kept))

    def which(self, raw: bytes) -> set[int]:
        """The numbers of those needles that stand in bytes as they are, from 0 on in the order in which they were given."""
        found = () if self._any is None else self._any.find_matches_as_indexes(raw, overlapping=True)
        return {number for number, _, _ in found}

    def _packed(self, whole: bytes, until: int) -> Hits:
        """What is packed by zlib from a place before `until` on."""
        found = Hits()
        for head in _ZLIB.finditer(whole, 0, min(until + 1, len(whole))):
            if head.start() < until and (inner := _inflated(whole[head.start() : head.start() + CARRY_BYTES])):
                found += self.in_value(inner, DEEP - 1)
        return found

    def _hits(self, raw: bytes, after: int) -> Hits:
        """Needles that end behind a place."""
        if self._any is None:
            return _NONE
        start = max(after - self._longest, 0)
        hits = self._any.find_matches_as_indexes(raw[start:] if start else raw, overlapping=True)
        return Hits(self._kinds[at] for at, _, end in hits if end + start > after) if hits else _NONE


def _gathered(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Small chunks joined: each step costs as much as what is kept is long."""
    some, size = list[bytes](), 0
    for chunk in chunks:
        some.append(chunk)
        size += len(chunk)
        if size >= STEP_BYTES:
            yield b"".join(some)
            some, size = [], 0
    if size:
        yield b"".join(some)


def _unpacked(raw: bytes) -> Iterator[bytes]:
    if raw[:1] == b"\x78":
        if inner := _inflated(raw):
            yield inner
    elif _BASE64.match(raw):
        text = b"".join(raw.split()).rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        try:
            yield b64decode(text + b"=" * (-len(text) % 4), validate=True)
        except NotBase64:
            return


def _inflated(raw: bytes) -> bytes:
    """What zlib packed there, as far as it goes; nothing where it packed nothing."""
    try:
        return zlib.decompressobj().decompress(raw, UNPACKED_BYTES)
    except zlib.error:
        return b""
