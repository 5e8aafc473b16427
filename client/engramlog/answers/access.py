"""Keys, grants, reads, and sessions of the console."""

from __future__ import annotations

from typing import Literal

from engramlog.answers.base import Result


class GrantHeld(Result):
    """A grant: verbs and the owners they apply to."""

    verbs: list[str]
    owners: list[str]
    modes: list[str]
    sensitivity: int
    actors: list[str]
    trust: str


class WhoAsks(Result):
    """The caller and its rights."""

    principal: str
    """Recorded with each event that the caller brings."""
    key: str | None
    """The key's id; null for the token of the folder."""
    token: str | None
    """The name that a token made from the key gives its bearer."""
    unlimited: bool
    """Whether the caller may do everything, as with the folder's token."""
    grants: list[GrantHeld]
    narrowed_to: list[GrantHeld] | None
    """Further limits of a token; key and token must both allow a request."""
    expires_at: str | None


class KeyKnown(Result):
    """A key, without what opens anything."""

    key_id: str
    state: Literal["live", "expired", "revoked"]
    issued_at: str
    expires_at: str | None
    revoked_at: str | None
    digest: str
    """SHA-256 of its text."""


class PrincipalKnown(Result):
    """Somebody with keys or grants."""

    principal: str
    keys: list[KeyKnown]
    grants: list[GrantHeld]


class AccessSaid(Result):
    """One event of access."""

    position: str
    recorded_at: str
    event: str
    principal: str | None
    key: str | None
    by: str | None
    """Who said so."""
    reason: str


class AccessTold(Result):
    """Keys and grants of every principal, and the events that set them."""

    at: str
    principals: list[PrincipalKnown]
    events: list[AccessSaid]
    """Events of access until then, oldest first."""


class KeyMade(Result):
    """A new key; it is shown only once."""

    key: str
    """Send it as `Authorization: Bearer`; it cannot be shown again."""
    key_id: str
    principal: str
    expires_at: str | None
    grants: list[GrantHeld]
    position: str


class KeyRevokedTold(Result):
    """A key that opens nothing."""

    key_id: str
    principal: str
    revoked: bool
    """false: it was revoked before."""
    position: str | None


class GrantsTold(Result):
    """Rights of a principal from now on."""

    principal: str
    grants: list[GrantHeld]
    position: str | None
    """null: it was so already."""


class ReadTold(Result):
    """Somebody looked, or was refused."""

    position: str
    recorded_at: str | None
    principal: str | None
    key_id: str | None
    token: str | None
    what: Literal["reveal", "export", "debug", "past", "denied"] | None
    call: str | None
    whose: str | None
    times: int
    """How often since the last such event; more than 1 only for refusals."""


class ReadsTold(Result):
    """A page of recorded reads and refusals."""

    reads: list[ReadTold]
    next: str | None
    position: str


class ConsoleCode(Result):
    """A code that opens the console once."""

    code: str
    ends_in: int
    """Seconds until it is over."""
    page: str | None
    """Address of the console for a browser; null if this service has no port."""


class ConsoleCodeState(Result):
    """What became of a code."""

    state: Literal["waits", "used", "over", "unknown"]


class ConsoleSession(Result):
    """A session, and how long it lasts."""

    token: str
    """To be shown as `Authorization: Bearer ...`. It is shown only once, and ends with this process."""
    ends_in: int
    """Seconds until it ends, however much it is used."""
    idle_seconds: int
    """It ends earlier if it is not used for so many seconds."""


class ConsoleSessionEnded(Result):
    """Whether a session was ended."""

    ended: bool
    """False where something else than a session was shown."""
