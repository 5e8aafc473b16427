"""The terms of the conversation ranking: for each candidate a value in [0, 1], by name. Pure; what each means: `Weights`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from projections.conversation_index import ASSISTANT, NONE, USER, ConversationIndex
from projections.conversation_question import Heard
from projections.conversation_weights import SETTINGS
from projections.conversation_words import (
    ENDS_ASKING,
    HAS_NUMBER,
    HAS_QUESTION,
    HAS_TIME,
    SELF,
    STANDING,
    asks_assistant,
    asks_many,
    asks_when,
)
from projections.laws.law import Floats
from projections.search_index import Rows
from projections.view import OwnerView

OPENING_TURNS = 3
"""Turns after which the opening of a session counts 1 / e."""
Values = dict[str, Floats]


@dataclass(frozen=True, slots=True)
class Stage:
    """What went on from the rough score."""

    index: ConversationIndex
    rows: Rows
    """Candidates, all of them shown and members."""
    own: Floats
    """Text of every row over the best shown one's, and a last place of 0 for no row; 0 where not shown."""
    dated: Floats
    """How well every shown row's day fits, 0 to 1."""
    with_assistant: bool
    """Whether an assistant's word is among what is shown."""


def term_values(view: OwnerView, heard: Heard, stage: Stage) -> Values:
    """The values of the terms that apply to the question, each of shape (len(stage.rows),)."""
    values = _of_text(view, heard, stage)
    if heard.dialogue:
        values |= _of_place(heard, stage)
    values |= _of_speakers(heard, stage)
    traits, text = stage.index.traits(stage.rows), values["text"]
    if heard.days or heard.span:
        values["date"] = stage.dated[stage.rows]
    if asks_when(heard.folded):
        values["when"] = _has(traits, HAS_TIME)
    if asks_many(heard.folded):
        values["many"] = _has(traits, HAS_NUMBER)
    values["standing"] = _has(traits, STANDING) * (text > SETTINGS.on_matter)
    return values


def _of_text(view: OwnerView, heard: Heard, stage: Stage) -> Values:
    rows, text = stage.rows, stage.own[stage.rows]
    sequences = stage.index.sequences(rows)
    terms = list(heard.terms)
    numbers = stage.index.numbers_of(terms)
    lookup = np.full(stage.index.vocabulary_size, NONE)
    for place, number in enumerate(numbers):
        if number != NONE:
            lookup[number] = place
    places = lookup[np.concatenate(sequences)] if sequences else np.zeros(0, dtype=np.int64)
    columns = np.repeat(np.arange(rows.size), [one.size for one in sequences])
    rarity = np.array([view.idf(term) for term in terms])
    known = {term: place for place, (term, number) in enumerate(zip(terms, numbers, strict=True)) if number != NONE}
    pairs = {
        (known[a], known[b])
        for a, b in zip(heard.sequence, heard.sequence[1:], strict=False)
        if a in known and b in known
    }
    last = sorted(known[term] for term in heard.last if term in known)
    focus: Floats = text
    if last:
        tf = _counts(places, columns, len(terms), rows.size)[last]
        k1, b = heard.weighing
        norm = k1 * (1 - b + b * stage.index.length[rows] / view.mean_length)
        best: Floats = rarity[last] @ ((k1 + 1) * tf / (tf + norm + 1e-9))
        focus = over_best(best)
    phrase = over_best(_phrases(pairs, rarity, places, columns, rows.size))
    return {"text": text, "focus": text * focus, "phrase": phrase}


def _counts(places: Rows, columns: Rows, terms: int, size: int) -> Floats:
    """How often each term stands in each candidate's text, shape (terms, size)."""
    hit = places >= 0
    counted = np.bincount(places[hit] * size + columns[hit], minlength=terms * size)
    return counted.reshape(terms, size).astype(np.float64)


def _phrases(pairs: set[tuple[int, int]], rarity: Floats, places: Rows, columns: Rows, size: int) -> Floats:
    """Sum of the mean rarity of each pair that stands side by side in a candidate, each counted once, shape (size,)."""
    if not pairs or places.size < 2:
        return np.zeros(size)
    terms = rarity.size
    codes = np.array(sorted(a * terms + b for a, b in pairs))
    at = np.flatnonzero((places[:-1] >= 0) & (places[1:] >= 0) & (columns[:-1] == columns[1:]))
    seen = places[at] * terms + places[at + 1]
    kept = np.isin(seen, codes)
    found = np.unique(seen[kept] * size + columns[at[kept]])
    code, column = found // size, found % size
    summed = np.bincount(column, (rarity[code // terms] + rarity[code % terms]) / 2, minlength=size)
    return summed.astype(np.float64)


def _of_place(heard: Heard, stage: Stage) -> Values:
    index, rows, own = stage.index, stage.rows, stage.own
    before, after = index.previous[rows], index.next[rows]
    before2 = np.where(before != NONE, index.previous[before], NONE)
    asked = np.zeros(rows.size, dtype=bool)
    # A withheld turn's text scores 0, so that it is not read here.
    some = np.flatnonzero((before != NONE) & (own[before] > 0) & (index.speaker[before] != index.speaker[rows]))
    asked[some] = index.traits(before[some]) & ENDS_ASKING > 0
    return {
        "thread": (1 - heard.long) * own[before2],
        "neighbour": heard.long * np.maximum(own[before], own[after]),
        "answer": own[before] * asked,
        "session": _of_session(index.session[rows], own[rows]),
        "opening": np.where(index.session[rows] != NONE, np.exp(-index.place[rows] / OPENING_TURNS), 0.0),
        "asks": _has(index.traits(rows), HAS_QUESTION),
    }


def _of_session(sessions: Rows, text: Floats) -> Floats:
    """The best text in each one's session; nothing tells sessions apart where there is only one."""
    numbers, of = np.unique(sessions, return_inverse=True)
    if numbers.size < 2:
        return np.zeros(text.size)
    tops = np.zeros(numbers.size)
    np.maximum.at(tops, of, text)
    return np.where(sessions != NONE, tops[of], 0.0)


def _of_speakers(heard: Heard, stage: Stage) -> Values:
    index, rows = stage.index, stage.rows
    values: Values = {}
    if stage.with_assistant:
        values["user"] = (index.role[rows] == USER).astype(np.float64)
        if asks_assistant(heard.folded):
            values["assistant"] = (index.role[rows] == ASSISTANT).astype(np.float64)
    if heard.speakers:
        values["speaker"] = (index.speaker[rows] == heard.speakers[0]).astype(np.float64)
        values["self"] = _has(index.traits(rows), SELF)
    return values


def _has(traits: Rows, trait: int) -> Floats:
    return (traits & trait > 0).astype(np.float64)


def over_best(values: Floats) -> Floats:
    """Values over the highest of them; unchanged where that is 0."""
    top = values.max() if values.size else 0.0
    return values / top if top > 0 else values
