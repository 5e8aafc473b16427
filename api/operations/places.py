"""Where operations stand: paths, and what they may be refused with there."""

from __future__ import annotations

OWNER = "/v1/owners/{owner}"
MEMORIES = f"{OWNER}/memories"
MEMORY = f"{MEMORIES}/{{memory_id}}"
OF_PLACE = (409, 504)
"""A position that does not exist, or is not folded in time."""
OF_MEMORY = (404, *OF_PLACE)
OF_WRITES = (*OF_PLACE, 507)
"""And a store that is full."""
OF_VERBS = (404, *OF_WRITES)
