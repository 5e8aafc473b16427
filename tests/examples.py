"""How many examples a property is tried with: all of them, and of the quick profiles (`make test` and `make test-ci`) a third."""

from __future__ import annotations

from hypothesis import settings

FULL_EXAMPLES, QUICK_EXAMPLES = 100, 34
"""For a property that names no number of its own."""


def examples(count: int) -> int:
    """How many of these the profile in force tries, at least 5: a module calls it while it is imported."""
    return max(min(count, 5), count * settings.default.max_examples // FULL_EXAMPLES)
