"""Matches that normal mode withholds because of their age alone or, if a search asks for proposals, until a person confirms them.

A search includes them unless the request or the owner's parameter `long_ago` says no: an imported history of years gets answers.
They are ranked like all other matches, and marked. Pure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engramlog_server.projections.laws.modes import REASONS, Flags, withheld_by_age
from engramlog_server.projections.ranking.running import RunningSearch
from engramlog_server.projections.ranking.search_request import FOLLOWING
from engramlog_server.projections.ranking.successors import Lifted

Rank = Callable[[RunningSearch], tuple[RunningSearch, Lifted]]
"""Ranks a search; what leaves it as corrected is withheld in the search that it gives back."""


def with_long_ago(this: RunningSearch, rank: Rank) -> tuple[RunningSearch, Lifted]:
    """The search as `rank` ranks it, with the matches that only their age hides, and with proposals if they are asked for."""
    old = _opened(this)
    if old is None:
        return rank(this)
    opened, lifted = rank(this.showing(old))
    rows = lifted.ranked.rows
    return opened.recalling(rows[old[rows]], this.seen), lifted


def _opened(this: RunningSearch) -> Flags | None:
    """Rows that are shown although the mode withholds them; None if there are none."""
    if this.asked.mode != "normal":
        return None
    asked, rows = this.request.include_faded, np.zeros(this.seen.shown.size, dtype=bool)
    if (this.view.parameters.long_ago and this.request.ranking in FOLLOWING) if asked is None else asked:
        rows |= withheld_by_age(this.view.columns, this.seen)
    if this.request.proposals:
        rows |= this.seen.reasons == REASONS.index("proposed")
    return rows if rows.any() else None
