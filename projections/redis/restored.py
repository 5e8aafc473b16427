"""What a store that was restored from a backup says of itself, and that it takes nothing new until it is taken over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NotRequired, TypedDict

import msgspec

from engramlog_server.events.errors import StoreMismatch
from engramlog_server.events.partitions import RESTORED, STORE_KEY, LogKeys
from engramlog_server.events.redis.wire import Wire


class RestoredTold(TypedDict):
    """What a store was restored from."""

    backup: str
    moment: str
    at: str
    events: int
    taken_over: NotRequired[str | None]
    reason: NotRequired[str | None]


BACKED_UP = "backed_up"
"""The field of a store that tells when its last backup was made, as an instant, its id, and whether its keys were saved."""
WITH_KEYS = "keys"
STORE_RESTORED = "store_restored"
"""The alarm of such a store."""


class FromBackup(msgspec.Struct, frozen=True, kw_only=True):
    """What a store was restored from. It stays once the store is taken over."""

    backup: str
    """The id of the backup."""
    moment: str
    """Up to when the backup tells, as an instant."""
    at: str
    """When the restore began."""
    heads: tuple[int, ...]
    """By partition the seq of the newest event that came with it."""
    taken_over: str | None = None
    """When an operator took the store over; None until then."""
    reason: str | None = None
    """Why, as was said then."""

    @property
    def stands(self) -> bool:
        """Whether the store still takes nothing new."""
        return self.taken_over is None

    @property
    def events(self) -> int:
        """How many came with the backup."""
        return sum(self.heads)

    @property
    def text(self) -> str:
        """One sentence, without anybody's words."""
        many = f"{self.events:,} event{'' if self.events == 1 else 's'}"
        told = f"restored from backup {self.backup}, which tells up to {self.moment} ({many})"
        if self.taken_over is not None:
            return f"{told}; taken over {self.taken_over}"
        return (
            f"{told}: a copy, and not the original. It answers, and takes nothing new until `engramlog backup take-over`; what the"
            " original said since is not in it"
        )

    @property
    def told(self) -> RestoredTold:
        """The same, JSON-ready."""
        return {
            "backup": self.backup,
            "moment": self.moment,
            "at": self.at,
            "events": self.events,
            "taken_over": self.taken_over,
            "reason": self.reason,
        }


def restored_by(raw: bytes | None) -> FromBackup | None:
    """What the field of a store tells. Raises msgspec.MsgspecError where that cannot be read."""
    return None if raw is None else msgspec.json.decode(raw, type=FromBackup)


def backed_up_at(raw: bytes) -> datetime | None:
    """When a store's last backup was made, by what it tells; None where that cannot be read."""
    try:
        told = datetime.fromisoformat(raw.decode("ascii").partition(" ")[0])
    except ValueError:
        return None
    return told if told.tzinfo is not None else None


def backed_up_with_keys(raw: bytes) -> bool:
    """Whether the keys were saved along with it."""
    return raw.endswith(f" {WITH_KEYS}".encode())


def refuse_copy(restored: FromBackup | None, what: str) -> None:
    """Raise StoreMismatch where a store was restored and nobody took it over: it must not pass for the original."""
    if restored is not None and restored.stands:
        raise StoreMismatch(f"{what}: this store was {restored.text}. Nothing was changed", backup=restored.backup)


def still_stands(wire: Wire) -> bool:
    """Whether the store takes nothing new as it stands now. Raises StoreError."""
    found = restored_by(wire.call("HGET", STORE_KEY, RESTORED))
    return found is not None and found.stands


def take_over(wire: Wire, tags: Sequence[str], restored: FromBackup, at: str, reason: str | None) -> FromBackup:
    """Have every partition take what is new again, and the store say since when. Can be done again where it was killed."""
    wire.answers([["HDEL", LogKeys(tag).meta, RESTORED] for tag in tags])
    taken = msgspec.structs.replace(restored, taken_over=at, reason=reason)
    wire.call("HSET", STORE_KEY, RESTORED, msgspec.json.encode(taken))
    return taken
