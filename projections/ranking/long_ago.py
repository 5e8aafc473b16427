"""Long ago: matches that normal mode withholds only because of their age. Pure.

A search includes them unless the request or the owner's parameter `long_ago` says no: an imported history of years gets answers.
They are ranked like all other matches, and marked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from projections.laws.modes import Flags, withheld_by_age
from projections.ranking.running import RunningSearch
from projections.ranking.search_request import FOLLOWING
from projections.ranking.successors import Lifted

Rank = Callable[[RunningSearch], tuple[RunningSearch, Lifted]]
"""Ranks a search; what leaves it as corrected is withheld in the search that it gives back."""


def with_long_ago(this: RunningSearch, rank: Rank) -> tuple[RunningSearch, Lifted]:
    """The search as `rank` ranks it, with the matches that only their age hides."""
    old = _aged(this)
    if old is None:
        return rank(this)
    opened, lifted = rank(this.showing(old))
    rows = lifted.ranked.rows
    return opened.recalling(rows[old[rows]], this.seen), lifted


def _aged(this: RunningSearch) -> Flags | None:
    """Which rows only their age withholds; None if there are none, or if the mode, the owner or the request excludes them."""
    asked = this.request.include_faded
    default = this.view.parameters.long_ago and this.request.ranking in FOLLOWING
    if this.asked.mode != "normal" or not (default if asked is None else asked):
        return None
    rows = withheld_by_age(this.view.columns, this.seen)
    return rows if np.any(rows) else None
