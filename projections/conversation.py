"""The conversation ranking: BM25 of a turn's own text, and what its place in the conversation says. Pure; ADR 0015.

    score = sum over terms of weight * value            every value lies in [0, 1]

First every memory that matches, or stands beside one that does, or was said on a day that the question names, is scored
roughly, and the best go on; then all terms are computed for these. How long and how even the owner's turns are, and whether
speakers take turns at all, decides how much length and neighbours count: it is read off the memories, not set.

Only what the mode shows counts: a withheld memory lends nothing to its neighbours, to its session, or to the scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from projections.conversation_dates import date_fit
from projections.conversation_index import ASSISTANT, NONE, ConversationIndex
from projections.conversation_question import Heard
from projections.conversation_terms import Stage, over_best, term_values
from projections.conversation_weights import ADMITTING, SETTINGS, WEIGHTS
from projections.laws.law import Floats
from projections.modes import Flags
from projections.ranked import Ranked, added, best
from projections.search_index import Rows
from projections.view import OwnerView

_LAST = 1e-9
"""Share of the thread in the rough score: what only the thread reaches goes on after everything else."""


def rank(view: OwnerView, heard: Heard, shown: Flags, standing: Floats, wished: Callable[[int], bool] | None) -> Ranked:
    """What answers a question among the rows that are shown and wished for; `standing`: the weight of every row."""
    index, size = view.conversation, len(view.columns)
    own = np.zeros(size + 1)
    own[heard.matches.rows] = heard.matches.scores
    own[:-1] *= shown
    own = over_best(own)
    members = np.flatnonzero(shown & index.member[:size])
    dated = np.zeros(size)
    if heard.days or heard.span:
        said = view.columns.created_at[members]
        dated[members] = date_fit(heard.days, heard.span, said, view.parameters.time_zone, SETTINGS.dates)
    rows = _candidates(index, heard, own, dated, members, wished)
    with_assistant = bool((index.role[members] == ASSISTANT).any())
    values = term_values(view, heard, Stage(index, rows, own, dated, with_assistant))
    admitted = np.zeros(rows.size, dtype=bool)
    for name in ADMITTING:
        if name in values:
            admitted |= values[name] > 0
    held = np.maximum(standing[rows], 0.0)
    values["weight"] = held / (1.0 + held)
    weights = asdict(WEIGHTS)
    # Rounded before they are added, so that what is told adds up to the score that is told.
    parts = {
        name: np.round(weights[name] * value[admitted], 6)
        for name, value in values.items()
        if weights[name] * value.any()
    }
    return Ranked(rows[admitted], added(parts, int(admitted.sum())), parts, {})


def _candidates(
    index: ConversationIndex,
    heard: Heard,
    own: Floats,
    dated: Floats,
    members: Rows,
    wished: Callable[[int], bool] | None,
) -> Rows:
    """The members that go on, ascending: best by a rough score of their own text, their neighbours' and their day."""
    rough = own[:-1] + SETTINGS.first_date * dated
    if heard.dialogue:
        matched = np.flatnonzero(own)
        before, after = index.previous[matched], index.next[matched]
        far = np.where(after != NONE, index.next[after], NONE)
        # A row is the neighbour of one row on each side, so that none is added to twice.
        shares = ((before, SETTINGS.first_neighbours), (after, SETTINGS.first_neighbours), (far, _LAST))
        for rows, share in shares:
            there = rows != NONE
            rough[rows[there]] += share * own[matched[there]]
    rows = members[rough[members] > 0]
    if wished is not None:
        rows = np.array([row for row in rows.tolist() if wished(row)], dtype=np.int64)
    return np.sort(rows[best(rough[rows], rows, SETTINGS.candidates)])
