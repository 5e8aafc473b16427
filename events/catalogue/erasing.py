"""What was erased for good, and why: events of the store's own owner `:erasures`. Nothing in them tells who it was.

They are told by `engramlog erase` alone (`events.door.of_the_store`), change no memory, and are read by `ops.erasing`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engramlog_server.events.catalogue.access import Hex
from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import Count, Reason

Ground = Literal[
    "consent_withdrawn",
    "no_longer_needed",
    "objection",
    "unlawful",
    "legal_obligation",
    "child",
    "contract_ended",
    "other",
]
"""On what ground a person is forgotten: those of the GDPR, article 17 (1), the end of a contract, or another."""
POSITION_RULE = "a position: partition:seq"
ErasureId = Annotated[
    str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", description="a UUID in small letters")
]


class OwnerErasure(Shape, frozen=True, kw_only=True):
    """An owner is being erased, or was, or may be spoken of again. `label`: of its name under the store's id, by which who knows
    the name knows it again."""

    erasure: ErasureId
    step: Literal["began", "ended", "readmitted"]
    label: Hex
    ground: Ground
    reason: Reason = ""
    events: Count = 0
    """How many of its entries of the log can be read by nobody any more."""
    until: Annotated[str, Field(pattern=r"^[0-9]{1,4}:[0-9]{1,19}$", description=POSITION_RULE)] | None = None
    """Up to where the partition's log was folded anew without it."""
    chain: Hex | None = None
    """The log's chain there, which no erasure changes."""
    unproven: Count = 0
    """How many places could not be seen to from there."""


class WordsErasure(Shape, frozen=True, kw_only=True):
    """Memories of an owner, and the turns that say them, are losing their words for good, or lost them. `label`: as in
    `OwnerErasure`."""

    erasure: ErasureId
    step: Literal["began", "ended"]
    label: Hex
    ground: Ground
    reason: Reason = ""
    memories: Count = 0
    events: Count = 0
    """How many entries of the log have no words any more."""
    entries: Hex | None = None
    """SHA-256 of their positions, one a line, in the order of the log."""
    until: Annotated[str, Field(pattern=r"^[0-9]{1,4}:[0-9]{1,19}$", description=POSITION_RULE)] | None = None
    """Up to where the partition's log was folded anew."""
    chain: Hex | None = None
    """The log's chain there, which no erasure changes."""
    unproven: Count = 0
    """How many places could not be seen to from there."""
