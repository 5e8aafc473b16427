"""Time and chance, the only place where they are read: everything else takes them from an `Edge`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

_DERIVED = UUID("5f0f2b52-6d0a-5c8e-9b61-3f1f6c1f5d0a")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _micros() -> int:
    return time.time_ns() // 1_000


@dataclass(frozen=True, slots=True)
class Edge:
    """A clock (microseconds since 1970 UTC) and a source of random bytes; tests give their own."""

    now: Callable[[], int] = _micros
    random_bytes: Callable[[int], bytes] = os.urandom

    def new_id(self) -> str:
        """A fresh time-ordered UUID, version 7 (RFC 9562)."""
        return uuid7(self.now(), self.random_bytes(10))

    def chance(self) -> float:
        """A number in [0, 1)."""
        return int.from_bytes(self.random_bytes(4)) / 2**32


def uuid7(micros: int, entropy: bytes) -> str:
    """The version 7 UUID of an instant and ten random bytes."""
    value = (micros // 1_000) << 80 | int.from_bytes(entropy[:10])
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(UUID(int=value))


def derived_id(*parts: str) -> str:
    """The same version 5 UUID for the same parts, always."""
    return str(uuid5(_DERIVED, "\x1f".join(parts)))


def instant(micros: int) -> str:
    """RFC 3339 in UTC of microseconds since 1970."""
    return (_EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "Z")


def spelled(moment: datetime | str | None) -> str | None:
    """An instant as the service reads it: an aware date-time is spelled out, a text goes as it is."""
    return moment.isoformat() if isinstance(moment, datetime) else moment
