"""The store's own owners, and the ids of what is said under them. Pure.

What is said of keys and grants is numbered from 1 without a gap, and its event's id is made of its number. So whoever folds it asks
for the next number and has all of it, wherever it lies in its partition; and of two who say something at once one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID, uuid5

ACCESS = ":access"
"""Under whom keys and grants stand."""
READS = ":reads"
"""Under whom it stands who looked at what."""
ERASURES = ":erasures"
"""Under whom it stands what was erased for good, and why."""
SYSTEM_TYPES: Mapping[str, str] = {
    "KeyIssued": ACCESS,
    "KeyRevoked": ACCESS,
    "GrantsSet": ACCESS,
    "ReadRecorded": READS,
    "OwnerErasure": ERASURES,
}
"""Each type that is said of the store itself, and under whom."""
SYSTEM_OWNERS = frozenset(SYSTEM_TYPES.values())
_SPACE = UUID("6b0d3f3e-64a5-5d0a-9d53-6b1f0a3f7c11")


def access_id(number: int) -> str:
    """The id of the event of access with this number: a UUID of version 5."""
    return str(uuid5(_SPACE, f"{ACCESS} {number}"))
