"""How often a process that ends soon, or folds, looks for garbage: seldom, for what it makes it needs, or it goes by itself."""

from __future__ import annotations

import gc

OBJECTS = 150_000
"""New objects after which garbage is looked for first: a search makes 110,000, imports most of them, and none is garbage."""


def look_seldom() -> None:
    """For the rest of this process."""
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
