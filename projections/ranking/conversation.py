"""The conversation ranking: BM25 of a turn's own text, and what its place in the conversation says. Pure.

    score = sum over terms of weight * value            every value lies in [0, 1]

First every memory that matches, or stands beside one that does, or was said on a day that the question names, is scored
roughly, and the best go on; then all terms are computed for these. How long and how even the owner's turns are, and whether
speakers take turns at all, decides how much length and neighbours count: it is read off the memories, not set.

Only what the mode shows counts: a withheld memory lends nothing to its neighbours, to its session, or to the scale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.index.conversation_index import ASSISTANT, NONE, ConversationIndex
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.conversation_dates import date_fit
from engramlog_server.projections.ranking.conversation_meaning import meaning_values, meant, only_meant
from engramlog_server.projections.ranking.conversation_question import QuestionReading
from engramlog_server.projections.ranking.conversation_terms import Stage, lessened, over_best, term_values
from engramlog_server.projections.ranking.conversation_weights import ADMITTING, SETTINGS, TERM_WEIGHTS
from engramlog_server.projections.ranking.ranked import Ranked, added, best
from engramlog_server.projections.views.view import OwnerView

_LAST = 1e-9
"""Share of the thread in the rough score: what only the thread reaches goes on after everything else."""
_LITTLE = 1e-6
"""Text over the best from which on the thread's share in the rough score is nothing beside it."""


class Asking(NamedTuple):
    """What the ranking compares beside text."""

    query: str
    sense: Sense
    alone: bool
    """Whether meaning counts in place of text, not beside it."""


def rank(
    view: OwnerView,
    reading: QuestionReading,
    shown: Flags,
    standing: Floats,
    allowed: Callable[[Rows], Flags] | None,
    asking: Asking | None = None,
) -> Ranked:
    """What answers a question among the rows that are shown and wished for; `standing`: the weight of every row."""
    index, size = view.conversation, len(view.columns)
    own, matched, there = np.zeros(size + 1), reading.matches.rows, shown & index.member[:size]
    own[matched] = over_best(reading.matches.scores * shown[matched])
    dated = np.zeros(size)
    if reading.times.phrases:
        members = np.flatnonzero(there)
        said = view.columns.created_at[members]
        dated[members] = date_fit(reading.times, said, SETTINGS.dates)
    found = None
    if asking is not None:
        members, sense = np.flatnonzero(there), asking.sense
        found = only_meant(view, reading, members, sense) if asking.alone else None
        found = found or meant(view, asking.query, reading, own, members, sense)
        own, matched = found.own, np.flatnonzero(found.own[:-1])
    rows = _candidates(index, reading, own, dated, there, matched, allowed)
    with_assistant = bool((there & (index.role[:size] == ASSISTANT)).any())
    stage = Stage(index, rows, own, dated, with_assistant, there)
    values = term_values(view, reading, stage)
    if found is not None:
        values = lessened(values, found.beside) | meaning_values(reading, stage, found)
    if asking is not None and asking.alone:
        values |= {"phrase": np.zeros(rows.size), "focus": own[rows] ** 2}
    admitted = np.zeros(rows.size, dtype=bool)
    for name in ADMITTING:
        if name in values:
            admitted |= values[name] > 0
    held = np.maximum(standing[rows], 0.0)
    values["weight"] = held / (1.0 + held)
    # Rounded before they are added, so that what is told adds up to the score that is told.
    table = np.array([TERM_WEIGHTS[name] for name in values])[:, None] * np.array(list(values.values()))
    told = np.round(table[:, admitted], 6)
    parts = {name: part for name, part, some in zip(values, told, table.any(axis=1), strict=True) if some}
    return Ranked(rows[admitted], added(parts, told.shape[1]), parts, {})


def _candidates(
    index: ConversationIndex,
    reading: QuestionReading,
    own: Floats,
    dated: Floats,
    there: Flags,
    matched: Rows,
    allowed: Callable[[Rows], Flags] | None,
) -> Rows:
    """The members that go on, ascending: best by a rough score of their own text, their neighbours' and their day."""
    reached = _reached(index, reading, own, matched, every=allowed is not None)
    rows = np.flatnonzero(there & (reached | (dated > 0)))
    rough = own[rows] + SETTINGS.first_date * dated[rows]
    if reading.dialogue:
        before, after = index.previous[rows], index.next[rows]
        far = np.where(before != NONE, index.previous[before], NONE)
        for beside, share in ((after, SETTINGS.first_neighbours), (before, SETTINGS.first_neighbours), (far, _LAST)):
            rough += share * own[beside]  # no row is the last place, which is 0
    kept = rough > 0
    if allowed is not None:
        kept[kept] = allowed(rows[kept])
    rows, rough = rows[kept], rough[kept]
    return np.sort(rows[best(rough, rows, SETTINGS.candidates)])


def _reached(index: ConversationIndex, reading: QuestionReading, own: Floats, matched: Rows, *, every: bool) -> Flags:
    """Whether text can bring a row among those that go on, unless `every` row that it reaches at all is asked for.

    As many as go on score at least as much as the last of as many texts, and twice the best of a row and its neighbours is the
    most that it scores: where all three have less than half of that, the row need not be looked at.
    """
    flags = np.zeros(own.size, dtype=bool)
    text = own[matched]
    if text.size > SETTINGS.candidates and not every:
        least = np.partition(text, text.size - SETTINGS.candidates)[text.size - SETTINGS.candidates]
        matched = matched[text >= (0.49 * least if least > _LITTLE else 0)]
    flags[matched] = True
    if reading.dialogue:
        before, after = index.previous[matched], index.next[matched]
        for beside in (before, after, np.where(after != NONE, index.next[after], NONE)):
            flags[beside] = True
    return flags[:-1]
