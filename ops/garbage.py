"""How often a process looks for garbage: seldom if it starts, ends soon, or folds, because it needs what it makes."""

from __future__ import annotations

import gc

OBJECTS = 150_000
"""New objects after which garbage is looked for first: a search makes 110,000, imports most of them, and none is garbage."""


USUAL = gc.get_threshold()


def look_seldom() -> None:
    """Until `started`, or for the rest of this process."""
    gc.set_threshold(OBJECTS, *USUAL[1:])


def started() -> None:
    """From here on as Python does, but not among what the start made: modules and classes stay until the end."""
    gc.freeze()
    gc.set_threshold(*USUAL)
