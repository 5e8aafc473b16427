"""Who may do what in this store, and who looked at what: events of the store's own owners, whose names begin with `:`.

They are told by verbs of access alone (`events.door.of_the_store`), change no memory, and are read by `projections.access`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import Actor, Count, Reading, Reason, Sensitivity, Time, Trust

Verb = Literal[
    "produce", "read", "correct", "delete", "review", "debug", "reveal", "replay", "audit", "operate", "admin"
]
Looked = Literal["reveal", "export", "debug", "past", "denied"]
"""What of reading is recorded: a secret shown, an export, a look at what is hidden, another's past, and what was refused."""
KEY_ID_RULE = "8 letters a to z and digits"
PRINCIPAL_RULE = "1 to 64 letters of any script, digits and . _ @ / -, a letter or a digit first"
OWNERS_RULE = "an owner's name, the beginning of names before /* (team/*), or * for all"
MOST_GRANTS = 32
MOST_PATTERNS = 100
KeyId = Annotated[str, Field(pattern=r"^[a-z0-9]{8}$", description=KEY_ID_RULE)]
Principal = Annotated[str, Field(pattern=r"^[\p{L}\p{N}][\p{L}\p{N}_.@/\-]{0,63}$", description=PRINCIPAL_RULE)]
Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="64 hexadecimal digits, small letters")]
Pattern = Annotated[str, Field(min_length=1, max_length=128, description=OWNERS_RULE)]
Number = Annotated[int, Field(ge=1, le=1_000_000)]


class Grant(Shape, frozen=True, kw_only=True):
    """What may be done to which owners: all of it must fit one grant."""

    verbs: Annotated[tuple[Verb, ...], Field(min_length=1, max_length=11)]
    owners: Annotated[tuple[Pattern, ...], Field(min_length=1, max_length=MOST_PATTERNS)]
    modes: Annotated[tuple[Reading, ...], Field(min_length=1, max_length=3)] = ("normal",)
    """By which memories are read."""
    sensitivity: Sensitivity = 2
    """The most sensitive memories that are told; a secret (3) only by `reveal`."""
    actors: Annotated[tuple[Actor, ...], Field(max_length=5)] = ("user", "assistant")
    """For whom its holder may speak."""
    trust: Trust = "asserted"
    """The most that its holder's word reaches; of several grants the least counts, whoever he speaks about."""


class KeyIssued(Shape, frozen=True, kw_only=True):
    """A key is made for a principal. Kept are its public key and its SHA-256, never the key."""

    number: Number
    key_id: KeyId
    principal: Principal
    public: Hex
    digest: Hex
    expires_at: Time | None = None
    reason: Reason = ""


class KeyRevoked(Shape, frozen=True, kw_only=True):
    """From here on a key, and every token made of it, opens nothing."""

    number: Number
    key_id: KeyId
    reason: Reason = ""


class GrantsSet(Shape, frozen=True, kw_only=True):
    """From here on these are all of a principal's grants; none: it may do nothing."""

    number: Number
    principal: Principal
    grants: Annotated[tuple[Grant, ...], Field(max_length=MOST_GRANTS)] = ()
    reason: Reason = ""


class ReadRecorded(Shape, frozen=True, kw_only=True):
    """Somebody looked at what is recorded when it is looked at, or was refused. Holds no contents."""

    principal: Principal
    key_id: KeyId | None = None
    token: Annotated[str, Field(max_length=128)] | None = None
    """What a token made of the key calls its bearer."""
    what: Looked
    call: Annotated[str, Field(max_length=64)]
    """What was asked: a service and its method."""
    whose: Annotated[str, Field(max_length=128)] | None = None
    """The owner that was asked about; None: the store."""
    times: Count = 1
    """So often since the record before: what is refused again and again is told once in a while."""
