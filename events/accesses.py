"""What an event says of memories that were shown: its bounds, and how it is read, as sums or each access by itself."""

from __future__ import annotations

from engramlog_server.events.catalogue import MemoriesAccessed
from engramlog_server.events.standing import Objection

MOST_ACCESSES = 500
"""Accesses in one event."""
MOST_MEMORIES = 500
"""Different memories that the accesses of one event name: as many as it may load and change when it is folded."""
MOST_BYTES = 256 * 1024
"""Bytes of an event that holds accesses, its envelope too."""
LOOKING = frozenset({"inspection", "reveal"})
"""Ways of showing that a person looks by: recorded, and no law hears of them."""
_BY_ITSELF = "each access by itself: data.accesses, in schema_version 2; sums of them in data.hits"


def shown_in(data: MemoriesAccessed) -> tuple[str, ...]:
    """The memories that were shown, each once, in the order in which they were first; a block's profile is no access."""
    ids = [hit.memory_id for hit in data.hits]
    for one in data.accesses:
        ids += one.shown
    return tuple(dict.fromkeys(ids))


def profile_in(data: MemoriesAccessed) -> tuple[str, ...]:
    """The memories that stood in a block as who the user is: told in every prompt, which is no access."""
    return () if data.block is None or data.block.stable is None else data.block.stable.profile


def problem_with_accesses(data: MemoriesAccessed, version: int, size: int) -> Objection | None:
    """Why validation does not take these accesses, in an event of a schema version and of so many bytes; or None."""
    if not data.hits and not data.accesses and not profile_in(data):
        return Objection("data.accesses", "nothing", f"what was shown: {_BY_ITSELF}")
    if not data.accesses:
        return None
    if version < 2:
        return Objection("data.accesses", f"schema_version {version}", _BY_ITSELF)
    memories = len({memory_id for one in data.accesses for memory_id in one.shown})
    if memories > MOST_MEMORIES:
        allowed = f"at most {MOST_MEMORIES} different memories in one event: more events where there are more"
        return Objection("data.accesses", f"{memories:,} different memories", allowed)
    if size > MOST_BYTES:
        allowed = f"at most {MOST_BYTES:,} bytes in one event: more events where there are more"
        return Objection("data.accesses", f"an event of {size:,} bytes", allowed)
    return None
