"""The store's own owners, and the ids of what is said under them. Pure.

What is said of keys and grants is numbered from 1 without a gap, and its event's id is made of its number. So whoever folds it asks
for the next number and has all of it, wherever it lies in its partition; and of two who say something at once one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
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
    "WordsErasure": ERASURES,
}
"""Each type that is said of the store itself, and under whom."""
SYSTEM_OWNERS = frozenset(SYSTEM_TYPES.values())
LABEL_BYTES = 32
_SPACE = UUID("6b0d3f3e-64a5-5d0a-9d53-6b1f0a3f7c11")


def label_of(store_id: str, owner: str) -> str:
    """What an owner is called where its name must not stand: 64 hexadecimal digits. Who knows the name knows it again."""
    return blake2b(
        owner.encode("utf-8", "surrogatepass"), digest_size=LABEL_BYTES, key=store_id.encode()[:64]
    ).hexdigest()


def access_id(number: int) -> str:
    """The id of the event of access with this number: a UUID of version 5."""
    return str(uuid5(_SPACE, f"{ACCESS} {number}"))
