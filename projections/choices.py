"""Choices and defaults that a face tells before it loads what they are for. Imports nothing."""

from __future__ import annotations

from typing import Final

RANKINGS = ("conversation", "text", "published", "overlap", "associative")
SEARCH_MODES = ("keyword", "semantic", "hybrid")
MAX_RESULTS = 100
"""Of one search."""
WORKING_MESSAGES = 30
"""Messages of a session that working memory holds: 15 rounds (seed 003)."""
LEAST_WEIGHT = 0.3
"""Associations weaker than this are not followed in a map."""
MOST_NODES = 36
"""Of a map: as many as can be read on a page."""
VIEW_BYTES = 1 << 30
"""About how much views may take together, and how much one of them: the least recently asked leave first, and whose own is larger
is refused."""

VERBS_OF_ACCESS = {
    "produce": "bring events: turns, memories, mentions, imports",
    "read": "ask: search, lists, one memory, why it weighs what it weighs, the block for a prompt, the feed",
    "correct": "say what is so: edit, negate, confirm, merge, set sources aside, retract",
    "delete": "delete and restore memories, clean up",
    "review": "answer what waits for a person, and grade reviews",
    "debug": "see what stopped an owner, with the events that are parked",
    "reveal": "see texts of secrets; each look is recorded",
    "replay": "read a history under other laws and parameters, or without some of it",
    "audit": "see the events of the log, what stood in prompts, who said what; of all owners also who looked at what",
    "operate": "see how the store does, clear alarms, let parked events go on",
    "admin": "make and revoke keys, and say who may do what; of all owners alone",
}
"""What each verb of a grant lets do."""

KIND: Final = "fact"
"""What a memory is where nobody says so. The judge writes it on what it extracts: so the same said again is known again."""
CATEGORY: Final = "fact"
"""The category of a memory where nobody says so."""
