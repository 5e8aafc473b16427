"""The shapes of answers, for OpenAPI and the tests that hold the answers to them. They may gain fields, never lose any."""

from __future__ import annotations

from api.http.shapes.log import EXAMPLE_EFFECT_OF_MERGE, EXAMPLE_EVENT, Appended, Effects, History
from api.http.shapes.memories import Detail, Found, Listing, Provenance, Replayed, Why
from api.http.shapes.store import (
    DeadOwner,
    DeadOwners,
    Discarded,
    Health,
    OwnerStats,
    Ready,
    Retried,
    StoreStats,
    StoreStatus,
)

__all__ = [
    "EXAMPLE_EFFECT_OF_MERGE",
    "EXAMPLE_EVENT",
    "Appended",
    "DeadOwner",
    "DeadOwners",
    "Detail",
    "Discarded",
    "Effects",
    "Found",
    "Health",
    "History",
    "Listing",
    "OwnerStats",
    "Provenance",
    "Ready",
    "Replayed",
    "Retried",
    "StoreStats",
    "StoreStatus",
    "Why",
]
