"""Shapes of what is told of access: plain mappings, as JSON has them."""

from __future__ import annotations

from typing import TypedDict


class ToldGrant(TypedDict):
    """A grant, whole."""

    verbs: list[str]
    owners: list[str]
    modes: list[str]
    sensitivity: int
    actors: list[str]
    trust: str


class ToldCaller(TypedDict):
    """Who asks, and what he may do."""

    principal: str
    key: str | None
    token: str | None
    unlimited: bool
    grants: list[ToldGrant]
    narrowed_to: list[ToldGrant] | None
    expires_at: str | None


class ToldKey(TypedDict):
    """A key, without what opens anything."""

    key_id: str
    state: str
    issued_at: str
    expires_at: str | None
    revoked_at: str | None
    digest: str


class ToldPrincipal(TypedDict):
    """Somebody with keys or grants."""

    principal: str
    keys: list[ToldKey]
    grants: list[ToldGrant]


class ToldAccessEvent(TypedDict):
    """One thing that was said of access."""

    position: str
    recorded_at: str
    event: str
    principal: str | None
    key: str | None
    by: str | None
    reason: str


class ToldAccess(TypedDict):
    """Who may do what, and what was said of it."""

    at: str
    principals: list[ToldPrincipal]
    events: list[ToldAccessEvent]


class IssuedKey(TypedDict):
    """A key, told once."""

    key: str
    key_id: str
    principal: str
    expires_at: str | None
    grants: list[ToldGrant]
    position: str | None


class RevokedKey(TypedDict):
    """A key that opens nothing."""

    key_id: str
    principal: str
    revoked: bool
    position: str | None


class GrantsOf(TypedDict):
    """What a principal may do from here on."""

    principal: str
    grants: list[ToldGrant]
    position: str | None


class ToldRead(TypedDict):
    """Somebody looked, or was refused."""

    position: str
    recorded_at: str | None
    principal: str | None
    key_id: str | None
    token: str | None
    what: str | None
    call: str | None
    whose: str | None
    times: int


class ToldReads(TypedDict):
    """A page of them."""

    reads: list[ToldRead]
    next: str | None
    position: str
