"""Choices and defaults that a command tells before it loads what they are for. Imports nothing."""

from __future__ import annotations

BUDGET = 1_500
"""Tokens of a prompt's block."""
RULES, MODEL = "rules", "model"
"""What reads turns."""
ASKED_FOR = ("deleted", "merged", "retired", "superseded", "negated")
"""Memories that are left out of an export unless asked for; an import leaves them out again."""
SHAPE_NAMES = ("auto", "lines", "chatgpt", "claude", "openai", "sharegpt")
"""Of exported chats."""
HALVES = ("all", "first", "second")
"""Of labelled pairs."""
TOOLSETS = ("agent", "audit")
"""Of an MCP server: the first where none is named."""
BY_HAND = ("sweep", "review")
"""Lifecycle jobs that run when none is named."""
OWNERS_PAGE, MOST_OWNERS = 100, 1_000
"""Owners of a page, and of the longest."""
MOST_NAME = 256
"""Characters of a beginning of an owner's name."""
