"""What a memory is where nobody says so, on every face."""

from __future__ import annotations

from typing import Final

KIND: Final = "fact"
"""What the judge writes on statements that it extracts: so the same said again is known again."""
CATEGORY: Final = "fact"
