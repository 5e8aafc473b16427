"""Long ago: what a question matches strongly by its words, though its age alone withholds it. Pure.

A match is strong where it holds, or stands beside a turn that holds, at least a share of the weight of the question's rarest
words. Words that nobody used count too: a question about what was never told is strong nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np

from projections.index.conversation_index import NONE
from projections.language.scripts import begins_with_han
from projections.language.text import tokens
from projections.laws.law import Floats
from projections.laws.modes import Flags, withheld_by_age
from projections.memory.columns import Columns, Rows
from projections.ranking.conversation_weights import WEIGHTS
from projections.ranking.ranked import Ranked, best
from projections.ranking.running import RunningSearch
from projections.ranking.search_request import FOLLOWING
from projections.ranking.successors import Lifted
from projections.views.view import OwnerView

RAREST = 4
"""So many of a question's words, the rarest, are what it is about: a long one need not be matched whole."""
LEAST_MEMORIES = 200
"""How rare a word is, is told as of at least so many memories: among three every word is in a third of all."""
LOOKED_AT = 50
"""Best texts by which is told whether anything matches strongly."""
LEAST_SHARE = 0.2
"""A match is strong from this share of the weight of the question's rarest words."""
NEAR = 0.7
"""A fresh match that holds as much of the question and has this share of the score ranks higher."""
MOST = 10
"""Memories of long ago in one answer."""
BELOW = 1e-6
"""By how much a match of long ago stands below a fresh one that is as good."""
OF_THE_DAY = 0.5 * WEIGHTS.date
"""Part of the score from which on a memory is of the day that a question names."""

Rank = Callable[[RunningSearch], tuple[RunningSearch, Lifted]]
"""Ranks a search; what leaves it as corrected is withheld in the search that it gives back."""


class QuestionWords(NamedTuple):
    """What a question is about, by its words."""

    terms: list[str]
    rarity: Floats
    """Of each term, above 0."""
    whole: float
    """Rarity of the rarest together."""


def with_long_ago(this: RunningSearch, rank: Rank) -> tuple[RunningSearch, Lifted]:
    """The search as `rank` ranks it, with what is long ago where that matches strongly."""
    old = aged(this)
    if old is None:
        return rank(this)
    opened, lifted = rank(this.showing(old.rows))
    ranked, rows = recalled(opened, old, lifted.ranked, lifted.replaced)
    return opened.recalling(rows, this.seen), lifted._replace(ranked=ranked)


class Aged(NamedTuple):
    """What age alone withholds of an owner's memories, where a search may bring it in."""

    rows: Flags
    words: QuestionWords
    every: bool
    """Whether all that matches is asked for, not only what matches strongly."""


def aged(this: RunningSearch) -> Aged | None:
    """What may be brought in; None where the mode, the owner or the request wants none, and where nothing matches so."""
    parameters, every = this.view.parameters, bool(this.request.include_faded)
    if this.asked.mode != "normal" or this.request.include_faded is False:
        return None
    if not every and not (parameters.long_ago and this.request.ranking in FOLLOWING):
        return None
    rows = withheld_by_age(this.view.columns, this.seen)
    if not rows.any():
        return None
    words = question_words(this)
    if not every and not _names_a_day(this):
        there = rows[this.matches.rows] | (this.view.columns.conflict[this.matches.rows] >= Columns.KEEP)
        matched = this.matches.rows[there]
        looked_at = matched[best(this.matches.scores[there], matched, LOOKED_AT)]
        if not (held(this.view, words, looked_at) >= LEAST_SHARE).any():
            return None
    return Aged(rows, words, every)


def _names_a_day(this: RunningSearch) -> bool:
    """Whether the question names a time: what was said then is what it asks for, whatever its words."""
    return this.reading is not None and bool(this.reading.times.phrases)


def question_words(this: RunningSearch) -> QuestionWords:
    """The words of a question, and those like them, with how rare they are among the owner's memories."""
    asked = dict.fromkeys(tokens(this.query), 1.0) if this.reading is None else this.reading.terms
    counted = asked if this.reading is None else this.reading.counted
    few = max(0.0, log((LEAST_MEMORIES + 1) / (len(this.view.columns) + 1)))
    pairs = any(len(term) > 1 and begins_with_han(term) for term in asked)  # then single characters only repeat these
    said = {term: times for term, times in counted.items() if not (pairs and len(term) == 1 and begins_with_han(term))}
    rarity = {term: min(times, 1.0) * (this.view.idf(term) + few) for term, times in said.items()}
    rarest = sorted(rarity[term] for term in asked if term in rarity)[-RAREST:]
    return QuestionWords(list(rarity), np.array(list(rarity.values())), sum(rarest))


def held(view: OwnerView, words: QuestionWords, rows: Rows) -> Floats:
    """Share, 0 to 1, of what a question is about that each row's own text holds, shape (len(rows),)."""
    if not rows.size or not words.terms:
        return np.zeros(rows.size)
    said = view.conversation.found(rows, words.terms)
    there = np.zeros((len(words.terms), rows.size), dtype=bool)
    there[said.places, said.columns] = True
    share: Floats = np.minimum(words.rarity @ there / words.whole, 1.0)
    return share


def held_nearby(view: OwnerView, words: QuestionWords, rows: Rows) -> Floats:
    """The same of a row or of the turns beside it: the answer need not repeat the question."""
    share, index = held(view, words, rows), view.conversation
    before, after = index.previous[rows], index.next[rows]
    for beside in (before, after, np.where(before != NONE, index.previous[before], NONE)):
        there = np.flatnonzero(beside != NONE)
        share[there] = np.maximum(share[there], held(view, words, beside[there]))
    return share


class Recalled(NamedTuple):
    """A ranking in which what is long ago has its place, and which rows that is."""

    ranked: Ranked
    rows: Rows


def recalled(this: RunningSearch, old: Aged, ranked: Ranked, replaced: Mapping[int, Sequence[str]]) -> Recalled:
    """What of the aged is brought into a ranking of everything, and lowered below what is fresh and as good.

    What replaced a strong match is brought in for it.
    """
    places = np.flatnonzero(old.rows[ranked.rows])
    most = places.size if old.every else max(5 * MOST, LOOKED_AT)
    order = places[best(ranked.scores[places], ranked.rows[places], most)]
    rows = ranked.rows[order]
    share = held_nearby(this.view, old.words, rows)
    for at in np.flatnonzero(np.isin(rows, list(replaced))):
        known = (this.view.columns.row(memory_id) for memory_id in replaced[int(rows[at])])
        former = np.array([row for row in known if row is not None], dtype=np.int64)
        share[at] = max(share[at], held(this.view, old.words, former).max(initial=0.0))
    kept = np.ones(rows.size, dtype=bool)
    if not old.every:
        strong = share >= LEAST_SHARE
        strong |= ranked.parts.get("date", np.zeros(ranked.rows.size))[order] >= OF_THE_DAY
        kept &= strong
        kept &= np.cumsum(kept) <= MOST
    lowered = np.zeros(ranked.rows.size)
    lowered[order[kept]] = _lowered(this, old, ranked, order[kept], share[kept])
    left = ~old.rows[ranked.rows]
    left[order[kept]] = True
    parts = {name: part[left] for name, part in ranked.parts.items()} | {"long_ago": lowered[left]}
    return Recalled(Ranked(ranked.rows[left], (ranked.scores + lowered)[left], parts, ranked.ways), rows[kept])


def _lowered(this: RunningSearch, old: Aged, ranked: Ranked, order: Rows, share: Floats) -> Floats:
    """By how much each is lowered, from 0 down: below the fresh matches that hold as much of the question and come near it."""
    fresh = np.flatnonzero(~old.rows[ranked.rows])
    said, scores = held(this.view, old.words, ranked.rows[fresh]), ranked.scores[fresh]
    found = np.zeros(order.size)
    for at, (own, whole) in enumerate(zip(ranked.scores[order], share, strict=True)):
        as_good = scores[(said >= whole - BELOW) & (scores >= NEAR * own)]
        found[at] = round(min(0.0, as_good.min(initial=np.inf) - BELOW - own), 6)
    return found
