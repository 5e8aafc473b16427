"""The conversation ranking: BM25 of a turn's own text, and what its place in the conversation says. Pure.

    score = sum over terms of weight * value            every value lies in [0, 1]

First every memory that matches, or stands beside one that does, or was said on a day that the question names, is scored
roughly, and the best go on; then all terms are computed for these. How long and how even the owner's turns are, and whether
speakers take turns at all, decides how much length and neighbours count: it is read off the memories, not set.

Only what the mode shows counts: a withheld memory lends nothing to its neighbours, to its session, or to the scale.

Meaning, how near each row is to the question, is mixed with what its text says:

    nearness = (p + m) / 2                                             p alone where the embedder gives no pieces
    p = (cosine of the wholes - floor) / (best - floor)                floor: mean + half a standard deviation of the rows;
                                                                       cosines: without what all of a model's vectors share
    m = (best match per word - mean) / (best - mean)                   of the candidates by text and p, weighted by rarity
    relevance = (1 - share) * text + share * nearness, over the best

    window = the same m of a row with the rows beside it               in talk of short turns: the best match of any of the three

Relevance takes the place of text wherever a row's place in the conversation lends it; a share of 0 is the ranking by text. It
falls with the rows that have no vectors, guessed at by their text, and with the letters of the question that nothing reads. In
talk of short turns `thread` and `phrase` count less: `window` and `asked` tell better what goes on from a match.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.embedding.meaning import LEAST_LENGTH, EmbeddedQuestion, JoinedPieces, Sense, Vectors
from engramlog_server.projections.embedding.use import MODEL as USE
from engramlog_server.projections.index.conversation_index import ASSISTANT, NONE, USER, ConversationIndex
from engramlog_server.projections.language.questions import PREFERS, STANDING, asks_advice
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.conversation_terms import (
    ADMITTING,
    SETTINGS,
    TERM_WEIGHTS,
    QuestionReading,
    Stage,
    Values,
    asked_values,
    date_fit,
    lessened,
    over_best,
    term_values,
)
from engramlog_server.projections.ranking.ranked import Ranked, added, best
from engramlog_server.projections.views.view import OwnerView


class WholeShares(NamedTuple):
    """The most that a model's whole vectors count against text."""

    dialogue: float
    """Where speakers take turns: what a row is worth, its neighbours have too, and so has what is wrong about it ..."""
    notes: float
    """... and elsewhere."""


@dataclass(frozen=True, slots=True)
class MeaningSettings:
    """What is fixed in the mix; none is an owner's parameter."""

    share: float = 0.5
    """The most that meaning counts against text, where the embedder gives pieces ..."""
    whole_share: float = 0.4
    """... and where it gives wholes only."""
    measured: Mapping[str, WholeShares] = field(default_factory=lambda: {USE: WholeShares(0.2, 0.5)})
    """The same of models for which it was measured, whatever they give."""
    pieced: int = 50
    """Memories whose pieces are looked at, beside text ..."""
    pieced_alone: int = 100
    """... and alone."""
    windows: int = 50
    """Memories that are looked at together with what was said beside them."""
    floor: float = 0.5
    """Standard deviations above the mean cosine of the wholes from which a memory is near at all."""
    strangers: int = 4
    """Rows at a right angle to the question that are counted into the mean."""
    enough: float = 1.0
    """Share of the question's words in the best text from which text counts fully. Below it meaning counts more for what the user
    stated by itself: a statement says one thing. For turns it did not (memorybank-zh lost .09 of hit@1)."""
    guessed: float = 0.75
    """Nearness of a row without vectors, over its text."""
    least_rise: float = 0.1
    """A best cosine that stands out by less is not raised to 1 ..."""
    least_spread: float = 0.5
    """... or by less than so many standard deviations of unrelated texts, where these were measured."""


MEANING = MeaningSettings()


class Meant(NamedTuple):
    """What text and meaning say of every row, each of shape (rows + 1,): a last place of 0 for no row."""

    own: Floats
    """The relevance, 0 to 1 with 1 for the best: `text` + `meaning`."""
    text: Floats
    """What text brought to it."""
    meaning: Floats
    """What meaning brought to it."""
    near: Floats
    """How near its whole is, 0 to 1, by itself; less where meaning has less of a say."""
    window: Floats
    """How near it is together with what was said beside it, likewise."""
    beside: float = 0.0
    """How much of a say that has, 0 to 1: none in pages, in notes, and without pieces."""


def meant(view: OwnerView, query: str, reading: QuestionReading, own: Floats, members: Rows, sense: Sense) -> Meant:
    """Text mixed with nearness; `own`: text of every row over the best, and a last 0; `members`: rows that are shown.

    Rows that the view has and `sense` has not, as they came after it was made, have no vectors.
    """
    known = members[members < sense.known.size]
    known = known[sense.known[known]]
    trust = _trust(query, sense, known.size / members.size if members.size else 0.0)
    index, most = view.conversation, _most(sense, reading) * trust
    share, beside = np.full(own.size, most), 0.0
    near, wholes, windows = np.zeros((3, own.size))
    if most > 0:
        # A row without vectors is taken to be as near as its text, a little less: the best by text mostly are.
        near[members] = MEANING.guessed * own[members]
        found = _nearness(view, reading, own, known, most, sense, MEANING.pieced)
        near[known], wholes[known], windows[known] = found.mixed, trust * found.whole, trust * found.window
        beside = trust * found.beside
        lacking = 1 - min(1.0, _held(view, reading, own, members) / MEANING.enough)
        stated = members[(index.session[members] == NONE) & (index.role[members] == USER)]
        share[stated] += (1 - most) * trust * lacking * float(found.mixed.max(initial=0.0))
    text, meaning = (1 - share) * own, share * near
    top = max(float((text + meaning).max(initial=0.0)), 1e-12)
    return Meant((text + meaning) / top, text / top, meaning / top, wholes, windows, beside)


def _held(view: OwnerView, reading: QuestionReading, own: Floats, members: Rows) -> float:
    """Share, 0 to 1, of the question's words, weighted by rarity, that the best text among the members holds."""
    if not members.size or not reading.terms:
        return 0.0
    best_row = int(members[np.argmax(own[members])])
    terms = list(reading.terms)
    rarity = np.array([view.idf(term) * min(reading.terms[term], 1.0) for term in terms])
    said = view.conversation.found(np.array([best_row]), terms)
    there = np.zeros(len(terms), dtype=bool)
    there[said.places] = True
    whole = float(rarity.sum())
    return float(rarity[there].sum()) / whole if whole > 0 else 0.0


def only_meant(view: OwnerView, reading: QuestionReading, members: Rows, sense: Sense) -> Meant:
    """Nearness alone, for a search by meaning; rows without vectors have none."""
    known = members[members < sense.known.size]
    known = known[sense.known[known]]
    nothing = np.zeros(len(view.columns) + 1)
    near, wholes, windows = np.zeros((3, nothing.size))
    found = _nearness(view, reading, nothing, known, 1.0, sense, MEANING.pieced_alone)
    near[known], wholes[known], windows[known] = found.mixed, found.whole, found.window
    near = over_best(near)
    return Meant(near, nothing, near, wholes, windows, found.beside)


class Near(NamedTuple):
    """Withheld rows that are near, aligned."""

    rows: Rows
    values: Floats
    """0 to 1."""
    share: float
    """How much meaning counts against text."""


def nearness_of_withheld(query: str, reading: QuestionReading, sense: Sense, shown: Flags, wanted: Flags) -> Near:
    """How near those of the wanted rows are that are not shown, by their wholes, on the scale of what is shown."""
    size = min(sense.known.size, shown.size)
    known = np.flatnonzero(sense.known[:size] & shown[:size])
    rows = np.flatnonzero(sense.known[:size] & ~shown[:size] & wanted[:size])
    share = _most(sense, reading) * _trust(query, sense, known.size / max(int(shown.sum()), 1))
    if not rows.size:
        return Near(rows, np.zeros(0), share)
    cosines, withheld = sense.cosines(known), sense.cosines(rows)
    near = _raised(np.concatenate([withheld, cosines]), _floor(cosines), _least(sense))[: rows.size]
    return Near(rows[near > 0], near[near > 0], share)


def meaning_values(reading: QuestionReading, stage: Stage, found: Meant) -> Values:
    """The values of `text` and `meaning`, which add up to the relevance of the candidates, and of what else nearness says."""
    rows, near = stage.rows, found.near[stage.rows]
    values = {
        "text": found.text[rows],
        "meaning": found.meaning[rows],
        "window": found.window[rows],
        "standing": near * _says(stage, near, STANDING),
        "asked": asked_values(reading, stage, found.window, found.beside),
    }
    if asks_advice(reading.folded):
        values["prefers"] = near * _says(stage, near, PREFERS)
    return values


def _says(stage: Stage, near: Floats, trait: int) -> Flags:
    """Which candidates are near, turns of the user, and have a trait; other texts are not read for it."""
    rows = stage.rows
    some = np.flatnonzero((near > 0) & (stage.index.role[rows] == USER) & (stage.index.session[rows] != NONE))
    says = np.zeros(rows.size, dtype=bool)
    says[some] = stage.index.traits(rows[some], trait) & trait > 0
    return says


def legible(query: str, question: EmbeddedQuestion) -> float:
    """Share in [0, 1] of the question's letters that stand in words the embedder can read; 1 where it gives no pieces."""
    if not question.words:
        return 1.0
    read = set("".join(question.words).casefold())
    letters = [letter for letter in query.casefold() if letter.isalnum()]
    return sum(letter in read for letter in letters) / len(letters) if letters else 0.0


def _trust(query: str, sense: Sense, known: float) -> float:
    """Whether meaning has a say, 0 to 1, by the share of rows known; none where half of the question or more is unread."""
    return known**2 * max(0.0, 2 * legible(query, sense.question) - 1)


def _most(sense: Sense, reading: QuestionReading) -> float:
    """The most that meaning counts against text."""
    if sense.model in MEANING.measured:
        shares = MEANING.measured[sense.model]
        return shares.dialogue if reading.dialogue else shares.notes
    return MEANING.share if sense.question.words else MEANING.whole_share


class _Nearness(NamedTuple):
    """Of rows that have vectors, each 0 to 1, shape (len(rows),)."""

    mixed: Floats  # by wholes and pieces
    whole: Floats
    window: Floats
    beside: float


def _nearness(
    view: OwnerView, reading: QuestionReading, own: Floats, rows: Rows, share: float, sense: Sense, most: int
) -> _Nearness:
    """How near rows are that have vectors; pieces are looked at of the `most` best, and of the best with those beside them."""
    cosines = sense.cosines(rows)
    near = _raised(cosines, _floor(cosines), _least(sense))
    rough = (1 - share) * own[rows] + share * near
    weights = _word_weights(view, reading, sense.question)
    if not weights.any():
        return _Nearness(near, near, np.zeros(rows.size), 0.0)
    alone, windowed = np.zeros((2, rows.size), dtype=bool)
    alone[best(rough, rows, most)] = True
    windowed[_windowed(view, reading, rows, rough)] = True
    looked = np.flatnonzero(alone | windowed)
    matches = token_matches(sense.question.pieces, weights, sense.pieces(rows[looked]))
    pieced, there = np.zeros(rows.size), ~np.isnan(matches[:, 0])
    mine = alone[looked] & there
    if mine.any():
        matched = matches[mine].sum(axis=1)
        pieced[looked[mine]] = _raised(matched, float(matched.mean()), MEANING.least_rise)
    window, beside = np.zeros(rows.size), 0.0
    mine = windowed[looked] & there
    if mine.any():
        matched, beside = _beside(view, rows[looked], matches, mine), 1 - reading.long
        window[looked[mine]] = beside * _raised(matched, float(matched.mean()), MEANING.least_rise)
    return _Nearness((near + pieced) / 2, near, window, beside)


def _windowed(view: OwnerView, reading: QuestionReading, rows: Rows, rough: Floats) -> Rows:
    """Places of the rows that are looked at with what was said beside them: the best by their own and those; none of pages."""
    if not reading.dialogue or reading.long >= 1:
        return np.zeros(0, dtype=np.int64)
    index, lent = view.conversation, np.zeros(len(view.columns) + 1)
    lent[rows] = rough
    around = rough + SETTINGS.first_neighbours * (lent[index.previous[rows]] + lent[index.next[rows]])
    return best(around, rows, MEANING.windows)


def _beside(view: OwnerView, rows: Rows, matches: Floats, mine: Flags) -> Floats:
    """What some of the rows match together with their neighbours among the rows, each word where it is best."""
    index, at = view.conversation, np.full(len(view.columns) + 1, rows.size)
    at[rows] = np.arange(rows.size)
    words = np.vstack([np.nan_to_num(matches), np.zeros(matches.shape[1])])  # the last row is that of none
    before, after = words[at[index.previous[rows[mine]]]], words[at[index.next[rows[mine]]]]
    found: Floats = np.maximum(words[:-1][mine], np.maximum(before, after)).sum(axis=1)
    return found


def _floor(cosines: Floats) -> float:
    """The cosine from which a row is near at all."""
    # The mean of a handful of memories is no measure of what is far: a few at a right angle stand beside them.
    size = cosines.size + MEANING.strangers
    mean = float(cosines.sum()) / size
    return mean + MEANING.floor * float(np.sqrt(max(0.0, float(cosines @ cosines) / size - mean * mean)))


def _least(sense: Sense) -> float:
    """How far the best cosine must stand out to count fully."""
    usual = sense.question.usual
    return MEANING.least_rise if usual is None else max(MEANING.least_spread * usual.spread, LEAST_LENGTH)


def _raised(values: Floats, floor: float, least: float) -> Floats:
    """How far each stands above the floor, 1 for the best; less where even that hardly does."""
    scale = max(float(values.max(initial=floor)) - floor, least)
    raised: Floats = np.clip((values - floor) / scale, 0.0, 1.0)
    return raised


def _word_weights(view: OwnerView, reading: QuestionReading, question: EmbeddedQuestion) -> Floats:
    """What each piece of the question counts: the rarity of its word, if it is a term that is searched for."""
    rarity: dict[str, float] = {}
    for word in set(question.words):
        found = [view.idf(term) * min(reading.terms[term], 1.0) for term in tokens(word) if term in reading.terms]
        rarity[word] = max(found, default=0.0)
    return np.array([rarity[word] for word in question.words])


def token_matches(asked: Vectors, weights: Floats, texts: JoinedPieces) -> Floats:
    """For each text the best match of every piece of the question that counts, weighted: shape (texts, pieces of the question).

    Rows add up to the whole match; NaN of a text without pieces.
    """
    counted, pieced = np.flatnonzero(weights), np.flatnonzero(texts.counts)
    found = np.full((texts.counts.size, counted.size), np.nan)
    if not pieced.size:
        return found
    starts = (np.cumsum(texts.counts) - texts.counts)[pieced]
    cosines = texts.vectors @ asked[counted].T
    found[pieced] = np.maximum.reduceat(cosines, starts, axis=0) * (weights[counted] / weights[counted].sum())
    return found


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
    values["weight"] = held / (1.0 + held) * np.maximum(SETTINGS.once, view.columns.again(rows) * own[rows])
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
