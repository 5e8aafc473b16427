"""The book of access: what the events of keys and grants fold into, at the newest of them or at any instant. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from engramlog_server.events.catalogue import Grant, GrantsSet, KeyIssued, KeyRevoked
from engramlog_server.events.envelope import micros

KeyState = Literal["live", "expired", "revoked"]
MOST_LIVE = 2
"""Keys of a principal that live at once: the one in use, and the one that takes its place."""


class Key(NamedTuple):
    """A key as the store knows it."""

    key_id: str
    principal: str
    public: bytes
    digest: str
    issued_at: int
    """Microseconds since 1970, as all times here."""
    expires_at: int | None = None
    revoked_at: int | None = None

    def state(self, now: int) -> KeyState:
        """What it is at an instant."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and now >= self.expires_at else "live"


@dataclass(frozen=True, slots=True)
class AccessBook:
    """Who has which keys and grants, after so many events."""

    number: int = 0
    """Of the last event that it holds."""
    keys: Mapping[str, Key] = field(default_factory=dict)
    grants: Mapping[str, tuple[Grant, ...]] = field(default_factory=dict)

    def after(self, data: Any, at: int) -> AccessBook:
        """The book after one more event of an instant. An event about an unknown key changes nothing."""
        return self.after_all([(data, at)])

    def after_all(self, said: Iterable[tuple[Any, int]]) -> AccessBook:
        """The same after several, in order."""
        keys, grants, number = dict(self.keys), dict(self.grants), self.number
        for data, at in said:
            number = data.number
            if isinstance(data, KeyIssued):
                ends = None if data.expires_at is None else micros(data.expires_at)
                key = Key(data.key_id, data.principal, bytes.fromhex(data.public), data.digest, at, ends)
                keys.setdefault(data.key_id, key)
            elif isinstance(data, KeyRevoked):
                found = keys.get(data.key_id)
                if found is not None and found.revoked_at is None:
                    keys[data.key_id] = found._replace(revoked_at=at)
            elif isinstance(data, GrantsSet):
                grants[data.principal] = data.grants
        return AccessBook(number, keys, grants)

    def live(self, principal: str, now: int) -> list[Key]:
        """The keys of a principal that live."""
        return [one for one in self.keys.values() if one.principal == principal and one.state(now) == "live"]

    @property
    def principals(self) -> list[str]:
        """Everybody who has, or had, a key or a grant, by name."""
        return sorted({*self.grants, *(one.principal for one in self.keys.values())})
