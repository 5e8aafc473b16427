"""How far a memory can be trusted, in one word: its state. Pure (docs/explanation/trust.md)."""

from __future__ import annotations

from typing import Final

from engramlog_server.events.errors import refused
from engramlog_server.events.trust import ORDER, TRUSTS
from engramlog_server.projections.memory.record import Memory

DISPUTED: Final = "disputed"
REJECTED: Final = "rejected"
LEAST = TRUSTS[1:]
"""What may be demanded at least."""


def trust_told(memory: Memory) -> str:
    """Its state: rejected, proposed, disputed, else how far whoever said it is trusted.

    Disputed: a lower source would change it, and a person has not answered; or it was negated, and nobody knows for sure.
    """
    if memory.rejected_seq is not None:
        return REJECTED
    doubted = memory.negated_at is not None and memory.resolution == "weight_balance"
    return DISPUTED if memory.trust and (memory.waiting or doubted) else TRUSTS[memory.trust]


def check_trust(told: str | None) -> int:
    """The least that is demanded, as records have it; 0 for nothing. Raises InputError."""
    if told is None:
        return 0
    if told not in LEAST:
        raise refused("trust", told, ", ".join(LEAST))
    return ORDER[told]
