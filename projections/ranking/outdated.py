"""What a search does with what no longer holds: it leaves normal mode, brings nothing to mind, and lends its match. Pure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.memory.columns import Columns, Rows
from engramlog_server.projections.memory.corrections import GONE
from engramlog_server.projections.ranking import conversation_meaning
from engramlog_server.projections.ranking.brought import admits_shown
from engramlog_server.projections.ranking.conversation_weights import WEIGHTS
from engramlog_server.projections.ranking.ranked import Ranked
from engramlog_server.projections.ranking.rankings import text_score
from engramlog_server.projections.ranking.running import RunningSearch
from engramlog_server.projections.ranking.successors import Vacated, vacated
from engramlog_server.projections.views.corrected import leaving, strengths

MOST_ROUNDS = 3
"""How often is looked whether what took the place of what left leaves too."""

INDEPENDENT = ("text", "overlap")
"""Rankings under which no memory's score depends on which others are shown."""


def without_corrected(this: RunningSearch, rank: Callable[[RunningSearch], Ranked]) -> tuple[RunningSearch, Vacated]:
    """The search and its ranking without what leaves normal mode as corrected: what is withheld lends nothing to others."""
    first = ranked = rank(this)
    gone = np.zeros(0, dtype=np.int64)
    for _ in range(MOST_ROUNDS if this.asked.mode == "normal" else 0):
        leaves = _corrected(this, ranked.rows)
        if not leaves.size:
            break
        gone, this = np.concatenate([gone, leaves]), this.without(leaves, "corrected")
        if this.request.ranking in INDEPENDENT:
            break
        ranked = rank(this)
    return this, vacated(first, gone, ranked)


def _corrected(this: RunningSearch, ranked: Rows) -> Rows:
    """What matches, or is ranked, and leaves normal mode: all that the question asks of it was corrected."""
    strong = strengths(this.view) == GONE
    if not strong.any():
        return np.zeros(0, dtype=np.int64)
    found = np.zeros(strong.size, dtype=bool)
    found[ranked] = found[this.matches.rows] = True
    return leaving(this.view, np.flatnonzero(found & strong & this.seen.shown).tolist(), this.asked_words)


def admits(this: RunningSearch) -> Callable[[int], bool]:
    """Whether a row may be brought to mind: what the mode shows, but what leaves it as corrected."""
    shown = admits_shown(this.seen)
    if this.asked.mode != "normal":
        return shown
    return lambda row: shown(row) and not leaving(this.view, [row], this.asked_words).size


def lending(this: RunningSearch) -> Scores:
    """What is negated and matches, by words or by meaning, with the score that it lends to what replaced it."""
    matches, conflict = this.matches, this.view.columns.conflict
    negated = np.flatnonzero(conflict[matches.rows] >= Columns.KEEP)
    rows, bm25 = matches.rows[negated], matches.scores[negated]
    if this.reading is None:
        return Scores(rows, text_score(this.view, bm25), [])
    worth = np.zeros(len(this.view.columns))
    if this.request.search_mode != "semantic":
        worth[rows] = WEIGHTS.text * bm25 / max(float(matches.scores.max(initial=0.0)), 1e-9)
    if this.sense is not None:
        near = conversation_meaning.nearness_of_withheld(
            this.query, this.reading, this.sense, this.seen.shown, conflict >= Columns.KEEP
        )
        share = 1.0 if this.request.search_mode == "semantic" else near.share
        worth *= 1.0 - share
        worth[near.rows] += WEIGHTS.meaning * share * near.values
    rows = np.flatnonzero(worth)
    return Scores(rows, worth[rows], [])
