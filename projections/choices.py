"""Choices and defaults that a face tells before it loads what they are for. Imports nothing."""

from __future__ import annotations

from typing import Final

RANKINGS = ("conversation", "text", "published", "overlap", "associative")
SEARCH_MODES = ("keyword", "semantic", "hybrid")
MAX_RESULTS = 100
"""Of one search."""
WORKING_MESSAGES = 30
"""Messages of a session that working memory holds: 15 rounds (seed 003)."""
AGED = ("compressed", "under_threshold")
"""Reasons for which a memory is withheld only because it is old."""
LEAST_WEIGHT = 0.3
"""Associations weaker than this are not followed in a map."""
MOST_NODES = 36
"""Of a map: as many as can be read on a page."""
VIEW_BYTES = 1 << 30
"""About how much views may take together, and how much one of them: the least recently asked leave first, and whose own is larger
is refused."""

VERBS_OF_ACCESS = {
    "produce": "write events: turns, memories, mentions, imports",
    "read": "search, list, get and explain memories; get context blocks and the feed",
    "correct": "edit, negate, confirm and merge memories; set sources aside; retract",
    "delete": "delete and restore memories, clean up",
    "review": "answer inbox items, and grade reviews",
    "debug": "see why the fold of an owner stopped, with the waiting events",
    "reveal": "show the texts of secrets; each time is recorded",
    "replay": "replay a history under other laws and parameters, or without some events",
    "audit": "see events, prompts and their sources; with all owners also the access log",
    "operate": "see the state of the store, clear alarms, retry quarantined events",
    "admin": "make and revoke keys, and set grants; only with all owners",
}
"""What each verb of a grant lets do."""

KIND: Final = "fact"
"""What a memory is where nobody says so. The judge writes it on what it extracts: so the same said again is known again."""
CATEGORY: Final = "fact"
"""The category of a memory where nobody says so."""
