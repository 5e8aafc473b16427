"""What an owner has under keys of its own in a Redis, and opening it by the secret that was noted."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import unquote_to_bytes

import msgspec

from events.redis.wordless import open_left
from events.sealing.cipher import NONCE_BYTES, TAG_BYTES, VALUE_MARK, NotOpened, ValueCipher
from events.text.unreadable import UNREADABLE
from ops.erasing.probes import Probes
from projections.fold.changelog import chunks_of
from projections.fold.owner import OwnerState
from projections.redis.sealed import (
    CHANGES,
    MOMENT,
    PIECES,
    REASON,
    RECORD,
    SEALED_REASON,
    SYNONYMS,
    VECTOR,
    place,
)

_OF_OWNER = re.compile(
    r"\{[^}]*\}:(?:v\d+(?:\.\d+)?:(st|log|tail|chg|idx|past|park)|(vec|vep):([^:]*)):(.*)", re.DOTALL
)
_WITH_OWNERS = re.compile(r"\{[^}]*\}:(?:v\d+(?:\.\d+)?:(own|q)|del|(?:ven|vea):.*)", re.DOTALL)
_LEFT = re.compile(r"\{[^}]*\}:wl")
LEAST_SEALED = len(VALUE_MARK) + NONCE_BYTES + TAG_BYTES
_SYNONYMS_AT = OwnerState.__struct_fields__.index("synonyms")
Opener = Callable[[bytes, bytes], Iterator[bytes]]
"""Gives what of a field and its value opens."""


class OwnValues:
    """An owner's own keys and fields, and what opens of them."""

    def __init__(self, probes: Probes) -> None:
        self.cipher = ValueCipher(probes.secret)
        self._owner = probes.owner
        self._field = probes.owner.encode()
        self.shut = 0
        """Sealed values of the owner's own that did not open."""

    def opener(self, key: str) -> Opener | None:
        """Of a key that is the owner's own; None where it is not."""
        found = _OF_OWNER.fullmatch(key)
        if found is None or found[4] != self._owner:
            return None
        owner, what, vectors, model = self._owner, found[1], found[2], found[3]
        if what in ("log", "tail"):
            return lambda _field, value: (
                opened for one in _chunks(value) for opened in self.open(place(CHANGES, owner), one)
            )
        if vectors:
            kind, named = (VECTOR if vectors == "vec" else PIECES), unquote_to_bytes(model)
            return lambda field, value: self.open(place(kind, owner, named + b"\0" + field), value)
        if what in ("st", "past"):
            kind = RECORD if what == "st" else MOMENT
            return lambda field, value: self.open(place(kind, owner, field), value)
        return lambda _field, _value: iter(())  # ids and numbers, which lie open

    def is_own_field(self, key: str, field: bytes) -> bool:
        """Whether a hash has owners for its fields, and this is the owner's."""
        return field == self._field and _WITH_OWNERS.fullmatch(key) is not None

    def in_field(self, key: str, value: bytes) -> Iterator[bytes]:
        """What opens of the value of the owner's own field: its synonyms, and why it stands still."""
        found = _WITH_OWNERS.fullmatch(key)
        kind = found[1] if found is not None else None
        if kind is not None:
            what, sealed = (SYNONYMS, _in_state(value)) if kind == "own" else (REASON, _in_quarantine(value))
            for one in sealed:
                yield from self.open(place(what, self._owner), one)

    def left(self, key: str, field: bytes, value: bytes) -> Iterator[bytes]:
        """What is left of an entry of the owner's whose words were erased; nothing of others."""
        if _LEFT.fullmatch(key) and field.isdigit():
            with suppress(NotOpened):
                yield open_left(self.cipher, self._owner, int(field), value)

    def open(self, where: bytes, value: bytes) -> Iterator[bytes]:
        """What a sealed value holds; nothing where it does not open, or lies open."""
        if value[:1] != VALUE_MARK or len(value) < LEAST_SEALED:  # a name of a vector may begin so too
            return
        try:
            opened = self.cipher.open(where, value)
        except NotOpened:
            self.shut += 1
        else:
            yield opened


def _chunks(value: bytes) -> list[bytes]:
    try:
        return list(chunks_of(value))
    except (ValueError, IndexError):
        return []


def _in_state(state: bytes) -> list[bytes]:
    """The sealed synonyms in an owner's state. Other bytes there are digests, which begin as they will."""
    try:
        told = msgspec.msgpack.decode(state)
    except UNREADABLE:
        return []
    found = told[_SYNONYMS_AT] if isinstance(told, list) and len(told) > _SYNONYMS_AT else None
    return [found] if isinstance(found, bytes) else []


def _in_quarantine(quarantine: bytes) -> list[bytes]:
    """The sealed reason for which an owner stands still."""
    try:
        told = msgspec.msgpack.decode(quarantine)
        some = told if isinstance(told, list) else []
        return [b64decode(one[1:], validate=True) for one in some if isinstance(one, str) and one[:1] == SEALED_REASON]
    except (*UNREADABLE, NotBase64):
        return []
