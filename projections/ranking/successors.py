"""What is current comes first: a memory that replaced another stands above it, and is found in the old one's words. Pure.

The lift is a part of the score of its own, `current`, so that a result still tells why it stands where it stands. Where the mode
withholds what was replaced, its match counts for what replaced it: asking in the old words finds the correction. What leaves
normal mode because all that is asked of it was corrected gives up its place: what holds now stands above all that it stood above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.embedding.likeness import ratings
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.contradiction.relation import interrupts
from engramlog_server.projections.language.times.bounds import bounded
from engramlog_server.projections.memory.columns import BELOW, Correction, Rows
from engramlog_server.projections.memory.kind import is_statement
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.ranking.question import RunningSearch
from engramlog_server.projections.ranking.ranked import Ranked, best
from engramlog_server.projections.views.query import asked_for, corrections_of, strengths

ABOVE = 1e-6
"""By how much what is current stands above what it replaced."""
MOST = 200
"""Corrected memories that are looked at, the best matches first."""
EQUALLY = 0.2
"""The share of the older score that the newer of two statements has to reach, to stand above the older one."""
FIRST = 5
"""The best matches: among them a newer statement stands above an older one, if both may contradict or it reports a change."""
REPORTS, IMAGINES, NEAR = 0.4, 0.3, 0.3
"""Its least rating as a report, its most as imagined (`change.Rating`), and its least cosine to the older one."""
MOST_LOOKED_AT = 30
"""Of the best matches, for what one of them interrupts."""
MOST_ROUNDS = 4
"""How often is looked whether what was lifted stands above others' corrections in its turn."""


class Lifted(NamedTuple):
    """A ranking with what is current above what it replaced."""

    ranked: Ranked
    replaced: dict[int, list[str]]
    """Row -> ids of the memories that it replaced and that match."""


class Vacated(NamedTuple):
    """A ranking without what leaves it as corrected, and the places that that had."""

    ranked: Ranked
    places: Mapping[int, float]
    """Row that left -> its score, or what stands above all that the row stood above."""


def vacated(first: Ranked, gone: Rows, ranked: Ranked) -> Vacated:
    """`first`: the ranking with the rows that leave, `ranked`: without them."""
    if not gone.size:
        return Vacated(ranked, {})
    size = 1 + max(int(first.rows.max(initial=0)), int(ranked.rows.max(initial=0)), int(gone.max()))
    before = np.full(size, -np.inf)
    before[first.rows] = first.scores
    had = before[ranked.rows]
    order = np.argsort(had)
    most = np.maximum.accumulate(np.concatenate([[-np.inf], ranked.scores[order]]))
    over = most[np.searchsorted(had[order], before[gone])] + ABOVE
    there = before[gone] > -np.inf
    scores = np.round(np.maximum(over, before[gone])[there], 6)
    places = dict(zip(gone[there].tolist(), scores.tolist(), strict=True))
    stays = ~np.isin(ranked.rows, gone)
    return Vacated(ranked if stays.all() else ranked.only(stays), places)


def with_successors(this: RunningSearch, vacated: Vacated, found: Scores) -> Lifted:
    """What holds now above what it corrects. `found`: what is negated and withheld, with the score that it lends."""
    ranked, strong = vacated.ranked, strengths(this.view)
    standing = np.flatnonzero(strong[ranked.rows] >= BELOW)
    worths = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True)) | dict(vacated.places)
    bounds = [*interrupted(this, ranked), *_may_be_outdated(this, ranked), *_before_a_change(this, ranked)]
    if not worths and not standing.size and not bounds:
        return Lifted(ranked, {})
    worths |= dict(zip(ranked.rows[standing].tolist(), ranked.scores[standing].tolist(), strict=True))
    lift = _Lift(this, ranked)
    corrected = sorted(worths, key=lambda row: (-worths[row], row))[:MOST]
    moves = [(row, *one) for row in corrected for one in lift.current(row)]
    moves += [(old, new, False) for old, new in bounds]
    for _ in range(MOST_ROUNDS):
        lifted = [lift.above(old, worths.get(old, 0.0), new, brings=brings) for old, new, brings in moves]
        if not any(lifted):
            break
    return Lifted(lift.lifted(), lift.replaced)


def interrupted(this: RunningSearch, ranked: Ranked) -> Iterator[tuple[int, int]]:
    """Rows of two matches, of which the first is to stand below the second.

    What holds for a time only stands above what it interrupts until then, and below it afterwards. Nothing is withheld for it.
    """
    memories, zone, now = this.view.columns.memories, this.view.parameters.time_zone, this.asked.now
    rows = ranked.rows[best(ranked.scores, ranked.rows, MOST_LOOKED_AT)].tolist()
    best_rows = [(row, memories[row]) for row in rows]
    found = [(row, memory, bounded(memory.content, memory.worded_at, zone)) for row, memory in best_rows]
    others = [(row, memory) for row, memory, bound in found if bound is None]
    for row, memory, bound in found:
        if bound is None:
            continue
        is_over = bound.until <= now
        for other, known in others:
            if (is_over or known.worded_at <= memory.worded_at) and interrupts(bound.rest, known.content):
                yield (row, other) if is_over else (other, row)


def _may_be_outdated(this: RunningSearch, ranked: Ranked) -> Iterator[tuple[int, int]]:
    """Of two matches that may contradict each other the older and the newer, if the question asks for both about equally."""
    columns, places = this.view.columns, best(ranked.scores, ranked.rows, MOST)
    scores = dict(zip(ranked.rows[places].tolist(), ranked.scores[places].tolist(), strict=True))
    for at, (new, score) in enumerate(scores.items()):
        memory = columns.memories[new]
        for old in map(columns.row, memory.conflicts):
            if (
                old is not None
                and old in scores
                and columns.memories[old].worded_at < memory.worded_at
                and (at < FIRST or score >= EQUALLY * scores[old])
            ):
                yield old, new


def _before_a_change(this: RunningSearch, ranked: Ranked) -> Iterator[tuple[int, int]]:
    """Of two statements of one speaker among the best matches the older one, and the newer one that reports a change."""
    sense, memories = this.sense, this.view.columns.memories
    if sense is None:
        return
    places = best(ranked.scores, ranked.rows, FIRST)
    scores = dict(zip(ranked.rows[places].tolist(), ranked.scores[places].tolist(), strict=True))
    rows = [row for row in scores if sense.known[row] and is_statement(memories[row])]
    vectors = sense.wholes[rows]
    rated = ratings(vectors, sense.model)
    if rated is None:
        return
    for new, (reports, imagines), vector in zip(rows, rated.tolist(), vectors, strict=True):
        if reports < REPORTS or imagines > IMAGINES:
            continue
        for old, nearness in zip(rows, (vectors @ vector).tolist(), strict=True):
            if (
                nearness >= NEAR
                and memories[old].worded_at < memories[new].worded_at
                and memories[old].speaker == memories[new].speaker
                and scores[new] >= EQUALLY * scores[old]
            ):
                yield old, new


class _Lift:
    """A ranking while rows are lifted."""

    def __init__(self, this: RunningSearch, ranked: Ranked) -> None:
        self._this, self._ranked = this, ranked
        self._place = {row: at for at, row in enumerate(ranked.rows.tolist())}
        self._wanted: dict[int, float] = {}
        self.replaced: dict[int, list[str]] = {}

    def current(self, row: int) -> Iterator[tuple[int, bool]]:
        """Rows that say what holds now in place of a row, and whether each is brought in where it is not ranked."""
        corrections = corrections_of(self._this.view, row)
        asked = asked_for(self._this.view, row, corrections, self._this.asked_words)
        for one in corrections:
            if one.now is not None:
                yield from self._rows_of(row, one, asked=one in asked)

    def _rows_of(self, row: int, correction: Correction, *, asked: bool) -> Iterator[tuple[int, bool]]:
        this, columns, now = self._this, self._this.view.columns, correction.now
        assert now is not None
        new = columns.row(now.id)
        if new is not None and this.seen.shown[new] and now.sensitivity < SECRET and this.allowed.passes(new):
            if asked or new in self._place:
                told = self.replaced.setdefault(new, [])
                told += [one for one in (columns.memories[row].id,) if one not in told]
            yield new, asked
        for turn in now.source_turns if asked else ():
            said = columns.row(turn)
            if said is not None and said in self._place and not corrections_of(this.view, said):
                # A turn that is corrected itself is lifted above no other: two could correct each other.
                yield said, False

    def above(self, old: int, worth: float, new: int, *, brings: bool) -> bool:
        """Have a row stand above a corrected one; whether anything moved. `worth`: of one that is not ranked, what it lends."""
        least = round(self._score(old) + ABOVE if old in self._place else worth, 6)
        if new == old or (new not in self._place and not brings):
            return False
        if (new in self._place or new in self._wanted) and self._score(new) >= least:
            return False
        self._wanted[new] = least
        return True

    def _score(self, row: int) -> float:
        own = float(self._ranked.scores[self._place[row]]) if row in self._place else 0.0
        return max(own, self._wanted.get(row, 0.0))

    def lifted(self) -> Ranked:
        """The ranking with the part `current`; rows that did not match by themselves are added."""
        ranked, wanted = self._ranked, self._wanted
        missing = [row for row in wanted if row not in self._place]
        current = np.zeros(ranked.rows.size + len(missing))
        for row, score in wanted.items():
            if row in self._place:
                own = float(ranked.scores[self._place[row]])
                current[self._place[row]] = max(0.0, round(score - own, 6))
        current[ranked.rows.size :] = [wanted[row] for row in missing]
        if not current.any():
            return ranked
        zeros = np.zeros(len(missing))
        parts = {name: np.concatenate([part, zeros]) for name, part in ranked.parts.items()} | {"current": current}
        scores = np.concatenate([ranked.scores, zeros]) + current
        return Ranked(np.concatenate([ranked.rows, np.array(missing, dtype=np.int64)]), scores, parts, ranked.ways)
