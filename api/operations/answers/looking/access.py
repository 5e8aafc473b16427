"""Shapes of who may do what, and of who looked at what."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, exampled

_GRANT: Example = {
    "verbs": ["read", "produce"],
    "owners": ["alice", "team/*"],
    "modes": ["normal"],
    "sensitivity": 2,
    "actors": ["user", "assistant"],
    "trust": "asserted",
}
_KEY: Example = {
    "key_id": "k7m2p9qa",
    "state": "live",
    "issued_at": "2026-11-22T09:30:00Z",
    "expires_at": None,
    "revoked_at": None,
    "digest": "5f0c" * 16,
}
_SAID: Example = {
    "position": "2:1",
    "recorded_at": "2026-11-22T09:30:00Z",
    "event": "KeyIssued",
    "principal": "support",
    "key": "k7m2p9qa",
    "by": "local",
    "reason": "",
}
_READ: Example = {
    "position": "1:9",
    "recorded_at": "2026-11-22T09:30:00Z",
    "principal": "support",
    "key_id": "k7m2p9qa",
    "token": "alice@example.org",
    "what": "denied",
    "call": "reader.list",
    "whose": "bob",
    "times": 1,
}


class GrantHeld(BaseModel):
    """What may be done to which owners."""

    model_config = exampled(_GRANT)

    verbs: list[str]
    owners: list[str]
    modes: list[str]
    sensitivity: int
    actors: list[str]
    trust: str


class WhoAsks(BaseModel):
    """Who asks, and what he may do."""

    model_config = exampled(
        {
            "principal": "support",
            "key": "k7m2p9qa",
            "token": None,
            "unlimited": False,
            "grants": [_GRANT],
            "narrowed_to": None,
            "expires_at": None,
        }
    )

    principal: str = Field(description="Whose name stands beside each event that he brings.")
    key: str | None = Field(description="The key's id; null for the token of the folder.")
    token: str | None = Field(description="What a token made of the key calls its bearer.")
    unlimited: bool = Field(description="Whether he may do everything, as whoever has the folder's token may.")
    grants: list[GrantHeld]
    narrowed_to: list[GrantHeld] | None = Field(description="What a token asks for besides: both must let do it.")
    expires_at: str | None


class KeyKnown(BaseModel):
    """A key, without what opens anything."""

    model_config = exampled(_KEY)

    key_id: str
    state: Literal["live", "expired", "revoked"]
    issued_at: str
    expires_at: str | None
    revoked_at: str | None
    digest: str = Field(description="SHA-256 of its text.")


class PrincipalKnown(BaseModel):
    """Somebody with keys or grants."""

    model_config = exampled({"principal": "support", "keys": [_KEY], "grants": [_GRANT]})

    principal: str
    keys: list[KeyKnown]
    grants: list[GrantHeld]


class AccessSaid(BaseModel):
    """One event of access."""

    model_config = exampled(_SAID)

    position: str
    recorded_at: str
    event: str
    principal: str | None
    key: str | None
    by: str | None = Field(description="Who said so.")
    reason: str


class AccessTold(BaseModel):
    """Who may do what, and what was said of it."""

    model_config = exampled(
        {
            "at": "2026-11-22T09:30:00Z",
            "principals": [{"principal": "support", "keys": [_KEY], "grants": [_GRANT]}],
            "events": [_SAID],
        }
    )

    at: str
    principals: list[PrincipalKnown]
    events: list[AccessSaid] = Field(description="What was said until then, oldest first.")


class KeyMade(BaseModel):
    """A key, told once."""

    model_config = exampled(
        {
            "key": "egl_k7m2p9qa_...",
            "key_id": "k7m2p9qa",
            "principal": "support",
            "expires_at": None,
            "grants": [_GRANT],
            "position": "2:1",
        }
    )

    key: str = Field(description="What is shown as Bearer; nobody can be told it again.")
    key_id: str
    principal: str
    expires_at: str | None
    grants: list[GrantHeld]
    position: str


class KeyRevokedTold(BaseModel):
    """A key that opens nothing."""

    model_config = exampled({"key_id": "k7m2p9qa", "principal": "support", "revoked": True, "position": "2:3"})

    key_id: str
    principal: str
    revoked: bool = Field(description="false: it was revoked before.")
    position: str | None


class GrantsTold(BaseModel):
    """What a principal may do from here on."""

    model_config = exampled({"principal": "support", "grants": [_GRANT], "position": "2:4"})

    principal: str
    grants: list[GrantHeld]
    position: str | None = Field(description="null: it was so already.")


class ReadTold(BaseModel):
    """Somebody looked, or was refused."""

    model_config = exampled(_READ)

    position: str
    recorded_at: str | None
    principal: str | None
    key_id: str | None
    token: str | None
    what: Literal["reveal", "export", "debug", "past", "denied"] | None
    call: str | None
    whose: str | None
    times: int = Field(description="So often since it was told last; more than 1 of refusals alone.")


class ReadsTold(BaseModel):
    """A page of what was looked at."""

    model_config = exampled({"reads": [_READ], "next": None, "position": "1:9"})

    reads: list[ReadTold]
    next: str | None
    position: str
