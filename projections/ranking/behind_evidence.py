"""A pattern stands below the best of what it was made of: what was said is found before what is said of it. Pure."""

from __future__ import annotations

import numpy as np

from engramlog_server.projections.index.correction_index import CorrectionIndex
from engramlog_server.projections.ranking.ranked import Ranked
from engramlog_server.projections.ranking.running import RunningSearch

BELOW = 2e-6
"""By how much: so that they differ when told to six decimals."""
PART = "pattern"
"""What a result calls it: what its score is less by."""


def behind_evidence(this: RunningSearch, ranked: Ranked) -> Ranked:
    """The ranking with each pattern below the best match among its evidence and the turns of that; where none matches, as it is."""
    columns = this.view.columns
    patterns = this.view.index(CorrectionIndex).patterns
    if not patterns:
        return ranked
    place = {row: at for at, row in enumerate(ranked.rows.tolist())}
    less = np.zeros(ranked.rows.size)
    for row in patterns.keys() & place.keys():
        pieces = [at for at in map(columns.row, patterns[row]) if at is not None]
        turns = [columns.row(turn) for at in pieces for turn in columns.memories[at].source_turns]
        found = [float(ranked.scores[place[at]]) for at in (*pieces, *turns) if at in place and at != row]
        if found and ranked.scores[place[row]] > max(found) - BELOW:
            less[place[row]] = round(max(found) - BELOW - float(ranked.scores[place[row]]), 6)
    if not less.any():
        return ranked
    return Ranked(ranked.rows, ranked.scores + less, {**ranked.parts, PART: less}, ranked.ways)
