"""Where operations stand: paths, and what they may be refused with there."""

from __future__ import annotations

OWNER = "/v1/owners/{owner}"
MEMORIES = f"{OWNER}/memories"
MEMORY = f"{MEMORIES}/{{memory_id}}"
OF_PLACE = (409, 504, 507)
"""A position that does not exist, or is not folded in time; an owner with more memories than a process loads."""
OF_MEMORY = (404, *OF_PLACE)
OF_WRITES = OF_PLACE
"""And a store that is full."""
OF_VERBS = (404, *OF_WRITES)
