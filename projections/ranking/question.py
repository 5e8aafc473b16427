"""A question while it is searched for: its vectors, how it was understood, what matches it, and what replaced a match. Pure.

What is current comes first: a memory that replaced another stands above it, and is found in the old one's words. The lift is a part
of the score of its own, `current`, so that a result still tells why it stands where it stands. Where the mode withholds what was
replaced, its match counts for what replaced it: asking in the old words finds the correction. What leaves normal mode because all
that is asked of it was corrected gives up its place: what holds now stands above all that it stood above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from engramlog_server.projections.embedding.encoders import ratings
from engramlog_server.projections.embedding.meaning import EmbeddedQuestion, KnownVectors, Sense
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.contradiction.change import Alike
from engramlog_server.projections.language.contradiction.relation import interrupts
from engramlog_server.projections.language.keywords import asked_words
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.language.times.bounds import bounded
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags, Visibility, visibility
from engramlog_server.projections.memory.columns import BELOW, Correction, Rows
from engramlog_server.projections.memory.kind import is_statement
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.ranking.conversation import QuestionReading, read_question
from engramlog_server.projections.ranking.rankings import Direct, Plan, Ranked, best, direct_hits
from engramlog_server.projections.ranking.search_request import BY_MEANING, FOLLOWING, Filter, SearchRequest
from engramlog_server.projections.shapes import MeaningCompared
from engramlog_server.projections.views.query import ViewQuery, asked_for, corrections_of, strengths
from engramlog_server.projections.views.view import OwnerView

ViewHeld = Callable[[], AbstractContextManager[OwnerView]]
"""Gives an owner's view, held for the length of the block."""


@dataclass(slots=True)
class MeantQuestion:
    """A question of one call, as far as it is compared by meaning."""

    text: str
    compares: bool = True
    """False: it is to go by words."""
    alone: bool = False
    """Whether meaning alone is asked for: then what keeps it from being compared is raised."""
    past: bool = False
    """Whether it is about a past, where another embedder may have counted than today."""
    hidden: str | None = None
    """Why no embedder may see it."""
    embedded: dict[str, EmbeddedQuestion | str] = field(default_factory=dict)
    """Its vectors, by the name of the embedder that was asked; a text where it gave none: why."""
    told: MeaningCompared | None = None
    """What is to be told of it where there is no sense: why not, or that nothing has vectors yet."""


class Senses(Protocol):
    """A question's vectors, and beside them an owner's."""

    alike: Alike
    """How near texts are to each other."""

    def ask(self, owner: str, question: MeantQuestion, parameter: Callable[[], str], view: ViewHeld) -> None:
        """Ask for a question's vectors before any view is held, so that none waits for them, where it is known of whom.

        `parameter` tells the owner's parameter `embedder`, as it is now; `view` gives the owner's view where only that tells what
        counts, and the model is to be loaded.
        """

    def unused(self, parameter: str) -> str:
        """Why this process will not use what an owner's parameter names; empty where it will, or it names none."""

    def sense(self, view: OwnerView, owner: str, question: MeantQuestion) -> Sense | None:
        """The sense of a question under the model that counts for the view; None where there is nothing to compare it with.

        Raises EmbedderFailed or BadSetting where meaning alone was asked for. The caller holds the view's lock.
        """

    def stands_out(self, view: OwnerView, owner: str, text: str) -> float | None:
        """How far a text stands above idle ones (`projections.embedding.meaning`); None if nothing is compared.

        The caller holds the view's lock.
        """

    def known_vectors(self, view: OwnerView, owner: str) -> KnownVectors | None:
        """The whole vectors that a view's rows have; None where none are kept. The caller holds the view's lock."""


NO_SCORES = Scores(np.zeros(0, dtype=np.int64), np.zeros(0), [])
MOST_EXPLAINED = 100
"""Rows up to which explaining each is quicker than scoring all."""


@dataclass(frozen=True, slots=True)
class RunningSearch:
    """One search as it is understood: what is asked of which view, what it shows, and what matches."""

    asked: ViewQuery
    query: str
    request: SearchRequest
    sense: Sense | None
    """None where meaning is not asked for, or cannot be compared."""
    seen: Visibility
    allowed: Filter
    reading: QuestionReading | None
    """The question as the conversation ranking understands it, under that ranking."""
    matches: Scores
    asked_words: frozenset[str]
    """The words that tell what the question is about, without names and days that the ranking knows."""
    long_ago: frozenset[int] = frozenset()
    """Rows that are shown although age alone withholds them."""

    @property
    def view(self) -> OwnerView:
        """The view that is asked."""
        return self.asked.view

    def without(self, rows: Rows, reason: str) -> RunningSearch:
        """The same, but that these rows are withheld for a reason."""
        return replace(self, seen=self.seen.without(rows, reason)) if rows.size else self

    def showing(self, rows: Flags) -> RunningSearch:
        """The same search where these rows are shown too."""
        return _read(self, self.seen.showing(rows))

    def recalling(self, rows: Rows, before: Visibility) -> RunningSearch:
        """The same search, in which of what was withheld `before` these rows alone are shown, as long ago: others have no name."""
        there, now = before.shown, self.seen
        told = replace(now, shown=now.shown & there, reasons=np.where(there, now.reasons, before.reasons))
        recalled = np.zeros(there.size, dtype=bool)
        recalled[rows] = True
        seen, reading = told.showing(recalled), self.reading
        if reading is not None and reading.speakers:
            said_by = self.view.conversation.speaker[: there.size][seen.shown]
            reading = reading._replace(speakers=[one for one in reading.speakers if (said_by == one).any()])
        return replace(self, seen=seen, reading=reading, long_ago=frozenset(rows.tolist()))


def understood(asked: ViewQuery, query: str, request: SearchRequest, sense: Sense | None) -> RunningSearch:
    """A question read by an owner's view, under its ranking and filters."""
    view, now, mode = asked
    seen = visibility(view.columns, view.law, now, view.parameters, mode)
    if request.search_mode == "keyword" or request.ranking not in BY_MEANING:
        sense = None
    allowed = Filter(view, request.filters, seen.weights)
    matches = NO_SCORES if request.ranking == "conversation" else view.matches(query)
    return _read(RunningSearch(asked, query, request, sense, seen, allowed, None, matches, asked_words(query)), seen)


def part_understood(whole: RunningSearch, part: str) -> RunningSearch:
    """A part of a question by its words; `whole` as it was understood, which tells what is shown and let through."""
    return _read(replace(whole, query=part, sense=None), whole.seen)


def _read(this: RunningSearch, seen: Visibility) -> RunningSearch:
    """The search with its question read where these rows are shown: who is not shown has no name."""
    if this.request.ranking != "conversation":
        return replace(this, seen=seen)
    by_meaning = this.sense is not None
    reading = read_question(this.view, this.query, this.asked.now, seen.shown, by_meaning=by_meaning)
    words = asked_words(this.query) - (set(tokens(this.query)) - set(reading.sequence))
    return replace(this, seen=seen, reading=reading, matches=reading.matches, asked_words=words)


def direct(this: RunningSearch) -> Direct:
    """What matches by words, is shown and passes the filters."""
    return direct_hits(this.view, this.matches, this.seen.shown, this.allowed)


def plain_bm25(this: RunningSearch, rows: Rows) -> Floats:
    """Plain BM25 of rows by all words of the query, whatever the ranking counts; 0 where none matches."""
    if this.reading is not None and rows.size <= MOST_EXPLAINED:
        ids = [this.view.columns.memories[int(row)].id for row in rows]
        return np.array([sum(terms.values()) for terms in this.view.explain(this.query, ids)])
    matches = this.matches if this.reading is None else this.view.matches(this.query)
    scores = np.zeros(len(this.view.columns))
    scores[matches.rows] = matches.scores
    found: Floats = scores[rows]
    return found


class Ranking(NamedTuple):
    """Everything that answers a question, before it is cut into pages."""

    this: RunningSearch
    ranked: Ranked
    replaced: Mapping[int, list[str]]
    """Row -> ids of the memories that it replaced and that match."""
    plan: Plan = Plan()
    """How the question was taken apart."""

    @property
    def follows(self) -> bool:
        """Whether what is current stands first in it."""
        return self.this.request.ranking in FOLLOWING


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
