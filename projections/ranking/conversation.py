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

    window = the same m of a row with the rows beside it               in talk of short turns: the best match of any of the three;
                                                                       without pieces, of people: by their words and their wholes

Relevance takes the place of text wherever a row's place in the conversation lends it; a share of 0 is the ranking by text. It
falls with the rows that have no vectors, guessed at by their text, and with the letters of the question that nothing reads. In
talk of short turns `thread` and `phrase` count less: `window` and `asked` tell better what goes on from a match.

Terms are computed of a question as the owner's view understands it: its terms, names and days, and how the turns are weighed.
What each term means: `Weights`; none of the weights is an owner's parameter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.embedding.encoders import USE_MODEL as USE
from engramlog_server.projections.embedding.meaning import LEAST_LENGTH, EmbeddedQuestion, JoinedPieces, Sense, Vectors
from engramlog_server.projections.index.conversation_index import ASSISTANT, NONE, USER, ConversationIndex
from engramlog_server.projections.index.search_index import Occurrences, Scores
from engramlog_server.projections.language.questions import (
    ASKS_NOTHING,
    ENDS_ASKING,
    HAS_DAY,
    HAS_NUMBER,
    HAS_QUESTION,
    HAS_TIME,
    PREFERS,
    SELF,
    STANDING,
    asks_advice,
    asks_assistant,
    asks_many,
    asks_when,
    asks_which_day,
    framing_terms,
    kinds_of,
    last_sentence,
    named_speakers,
)
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.memory.kind import is_statement, is_summary
from engramlog_server.projections.ranking.rankings import Ranked, added, best, expanded_terms
from engramlog_server.projections.ranking.search_request import DateShares, QuestionTimes, date_fit, times_in
from engramlog_server.projections.views.quoting import Weighing
from engramlog_server.projections.views.view import OwnerView


@dataclass(frozen=True, slots=True)
class Weights:
    """The most that each term adds to a score. Fitted together; docs/design.md has the figures they rest on."""

    text: float = 2.8
    """BM25 of the turn's own text, over the best shown turn's."""
    meaning: float = 2.8
    """Nearness to the question, in hybrid and semantic: with it, `text` adds so much less. The same as `text`'s."""
    focus: float = 0.9
    """text x the same of the question's last sentence; text x text where it has only one: lifts a clear winner."""
    phrase: float = 1.2
    """Pairs of the question's terms that stand side by side in the turn, by rarity, over the best turn's."""
    thread: float = 3.2
    """(1 - long) x text of the turn before the previous one: in a chat of two, the same speaker's."""
    neighbour: float = 2.1
    """long x the better text of the two neighbours."""
    answer: float = 1.9
    """text of the previous turn, if that ends in a question by another speaker."""
    session: float = 2.3
    """text of the best turn of the session."""
    opening: float = 1.7
    """e^(-place in the session / 3): news are told first."""
    asks: float = -3.0
    """The turn holds a question; in a dialogue this counts for a share."""
    summary: float = -2.0
    """It sums up a session: it has words of many turns, and answers less than what says one thing."""
    assistant: float = 6.4
    """The question asks what the assistant said, and the assistant said this."""
    user: float = 3.1
    """The user said this, in a log where an assistant speaks too."""
    stated: float = 3.0
    """The user stated this by itself, in a log of turns: a statement says one thing, and means it."""
    speaker: float = 1.1
    """The question names this turn's speaker, as the first it names."""
    self: float = 0.9
    """The question names a speaker, and the turn speaks of I, my, we."""
    date: float = 6.1
    """How well the turn's day fits the day, month or span that the question names."""
    when: float = 1.0
    """Asked when, and the turn has a word of time; asked which day, and it names one."""
    many: float = 1.6
    """Asked how many, and the turn has a number."""
    window: float = 2.5
    """(1 - long) x how near the turn is, its neighbours' words taken for its own where these are nearer."""
    asked: float = 1.5
    """(1 - long) x (1/4 + 3/4 window of the turn before the previous), if the previous, another's, asks for the question's kind of
    thing: a place, a time, a reason."""
    standing: float = 4.0
    """Nearness of a turn in which the user asks for something for good."""
    prefers: float = 2.0
    """Asked for advice: nearness of a turn in which the user says what he likes better."""
    weight: float = 1.25
    """w / (1 + w) of the weight under the owner's law, x relevance where the memory was mentioned again or used, x `once`
    elsewhere: the heavier of about equal matches comes first, and age alone buries no right answer."""


@dataclass(frozen=True, slots=True)
class RankingConstants:
    """What is fixed beside the weights; none is an owner's parameter."""

    k1: float = 1.4
    """BM25's, as everywhere."""
    note_b: float = 0.8
    """BM25's b where there is no dialogue; in a dialogue it is `long`."""
    most_times: int = 2
    """A term that the question has more often counts so many times."""
    framing_share: float = 0.4
    """What a word counts that says where to look or how to answer, where the question has others."""
    asked_alone: float = 0.25
    """What the previous turn's question counts where nothing near was said before it."""
    thread_less: float = 0.22
    """Share of `thread` that goes, in talk of short turns, where `window` and `asked` tell what goes on from a match ..."""
    phrase_less: float = 0.42
    """... and of `phrase`."""
    asks_in_dialogue: float = 1 / 6
    """Share of `asks` that counts in a dialogue."""
    synonym_share: float = 0.4
    """What a synonym of a term counts, times its similarity."""
    dialogue_from: float = 0.2
    """More than this share of the memories follow another speaker's: a dialogue."""
    spread_from: float = 0.5
    """Standard deviation of ln(length) from which a dialogue's turns begin to be `long` ..."""
    spread_to: float = 1.0
    """... and at which they fully are: a line asked, a page answered."""
    once: float = 0.04
    """Share of `weight` that counts of what was neither mentioned again nor used: age alone orders near-ties."""
    candidates: int = 300
    """Memories for which all terms are computed."""
    first_neighbours: float = 0.5
    """Share of each neighbour's text in the rough score."""
    first_date: float = 0.5
    """Share of the date in it."""
    dates: DateShares = field(default_factory=DateShares)


WEIGHTS, SETTINGS = Weights(), RankingConstants()
TERM_WEIGHTS: dict[str, float] = asdict(WEIGHTS)
"""The weights by the name of their term."""
ADMITTING = ("text", "meaning", "thread", "neighbour", "answer", "date")
"""Terms any of which makes a memory a result: the others only order."""


class QuestionReading(NamedTuple):
    """A question as an owner's view understands it."""

    folded: str
    sequence: list[str]
    """Its terms in reading order, without names and dates where other terms are left."""
    terms: dict[str, float]
    """How many times each counts; of a word that says how to answer, a share."""
    counted: dict[str, float]
    """The terms, and those of their synonyms, with how many times each counts."""
    last: set[str]
    """Terms of the last of several sentences."""
    speakers: list[int]
    times: QuestionTimes
    dialogue: bool
    long: float
    """0 for short turns of even length, 1 where a line is asked and a page answered."""
    weighing: Weighing
    matches: Scores
    """BM25 of what is counted, of every row that has some of it."""


def read_question(view: OwnerView, query: str, now: int, shown: Flags, *, by_meaning: bool = False) -> QuestionReading:
    """Read a question, asked at `now` (microseconds since 1970), and match its terms; who is not shown has no name.

    `by_meaning`: whether meaning is compared too. Then words that say where to look or how to answer count little.
    """
    index, folded = view.conversation, query.casefold()
    speakers, nameless = _named(index, folded, shown)
    times, searched = times_in(nameless, now, view.parameters.time_zone)
    shape = index.shape
    dialogue = shape.turns_taken > SETTINGS.dialogue_from
    spread = (shape.spread - SETTINGS.spread_from) / (SETTINGS.spread_to - SETTINGS.spread_from)
    long = min(1.0, max(0.0, spread)) if dialogue else 0.0
    weighing = Weighing(SETTINGS.k1, long if dialogue else SETTINGS.note_b)
    alike = {term: SETTINGS.synonym_share * near for term, near in expanded_terms(view, query).items()}
    framing = framing_terms() if by_meaning else frozenset[str]()
    terms, matches = _match(view, sequence := tokens(searched), alike, weighing, framing)
    if not terms.keys() & set(matches.matched_terms):
        searched = folded
        terms, matches = _match(view, sequence := tokens(searched), alike, weighing, framing)
    last, counted = last_sentence(searched), alike | terms
    last_said = set(sequence if last == searched else tokens(last))
    return QuestionReading(
        folded, sequence, terms, counted, last_said, speakers, times, dialogue, long, weighing, matches
    )


def _named(index: ConversationIndex, folded: str, shown: Flags) -> tuple[list[int], str]:
    speakers, rest = named_speakers(folded, index.names)
    if speakers:
        present = set(index.speaker[: shown.size][shown & index.member[: shown.size]].tolist())
        if not present.issuperset(speakers):
            names = {name: speaker for name, speaker in index.names.items() if speaker in present}
            return named_speakers(folded, names)
    return speakers, rest


def _match(
    view: OwnerView, sequence: list[str], alike: dict[str, float], weighing: Weighing, framing: frozenset[str]
) -> tuple[dict[str, float], Scores]:
    """How often each term of a question counts, and what matches these and what is like them."""
    times = Counter(sequence)
    found = times.keys() & framing
    light = found if len(found) < len(times) else set[str]()
    terms = {
        term: min(count, SETTINGS.most_times) * (SETTINGS.framing_share if term in light else 1.0)
        for term, count in times.items()
    }
    return terms, view.matches_of(alike | terms, weighing)


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
    shown: Flags
    """Of every row, whether it is shown and a member."""


def term_values(view: OwnerView, reading: QuestionReading, stage: Stage) -> Values:
    """The values of the terms that apply to the question, each of shape (len(stage.rows),)."""
    values = _of_text(view, reading, stage)
    # Outside a dialogue a turn that asks is most like the question, and answers it least.
    asks = _having(stage, HAS_QUESTION) * (stage.index.session[stage.rows] != NONE)
    values["asks"] = asks * (SETTINGS.asks_in_dialogue if reading.dialogue else 1.0)
    values["summary"] = np.zeros(stage.rows.size)
    for at in np.flatnonzero(stage.index.session[stage.rows] == NONE).tolist():
        values["summary"][at] = is_summary(view.columns.memories[stage.rows[at]])
    if reading.dialogue:
        values |= _of_place(reading, stage)
    values |= _of_speakers(view, reading, stage)
    if reading.times.phrases:
        values["date"] = stage.dated[stage.rows]
    if asks_when(reading.folded):
        values["when"] = _having(stage, HAS_DAY if asks_which_day(reading.folded) else HAS_TIME)
    if asks_many(reading.folded):
        values["many"] = _having(stage, HAS_NUMBER)
    return values


def _of_text(view: OwnerView, reading: QuestionReading, stage: Stage) -> Values:
    rows, text = stage.rows, stage.own[stage.rows]
    terms = list(reading.terms)
    said = stage.index.found(rows, terms)
    rarity = np.array([view.idf(term) for term in terms])
    tf = np.bincount(said.places * rows.size + said.columns, minlength=len(terms) * rows.size)
    tf = tf.reshape(len(terms), rows.size)
    held = set(np.flatnonzero(tf.any(axis=1)).tolist())
    known = {term: place for place, term in enumerate(terms) if place in held}
    last = sorted(known[term] for term in reading.last if term in known)
    focus: Floats = text
    if last:
        k1, b = reading.weighing
        norm = k1 * (1 - b + b * stage.index.length[rows] / view.mean_length)
        best: Floats = rarity[last] @ ((k1 + 1) * tf[last] / (tf[last] + norm + 1e-9))
        focus = over_best(best)
    pairs = {(known[a], known[b]) for a, b in pairwise(reading.sequence) if a in known and b in known}
    phrase = over_best(_phrases(pairs, rarity, said, rows.size))
    return {"text": text, "focus": text * focus, "phrase": phrase}


def _phrases(pairs: set[tuple[int, int]], rarity: Floats, said: Occurrences, size: int) -> Floats:
    """Sum of the mean rarity of each pair that stands side by side in a candidate, each counted once, shape (size,)."""
    if not pairs:
        return np.zeros(size)
    terms, at, columns = rarity.size, said.at, said.columns
    codes = np.array(sorted(a * terms + b for a, b in pairs))
    beside = np.flatnonzero((at[1:] == at[:-1] + 1) & (columns[1:] == columns[:-1]))
    seen = said.places[beside] * terms + said.places[beside + 1]
    kept = codes[np.minimum(np.searchsorted(codes, seen), codes.size - 1)] == seen
    found = np.sort(seen[kept] * size + columns[beside[kept]])
    once = np.ones(found.size, dtype=bool)
    once[1:] = found[1:] != found[:-1]
    code, column = np.divmod(found[once], size)
    summed = np.bincount(column, (rarity[code // terms] + rarity[code % terms]) / 2, minlength=size)
    return summed.astype(np.float64)


def _of_place(reading: QuestionReading, stage: Stage) -> Values:
    index, rows, own = stage.index, stage.rows, stage.own
    before, after = index.previous[rows], index.next[rows]
    before2 = np.where(before != NONE, index.previous[before], NONE)
    asked = np.zeros(rows.size, dtype=bool)
    # A withheld turn's text scores 0, so that it is not read here.
    some = np.flatnonzero((before != NONE) & (own[before] > 0) & (index.speaker[before] != index.speaker[rows]))
    asked[some] = index.traits(before[some], ENDS_ASKING) & ENDS_ASKING > 0
    return {
        "thread": (1 - reading.long) * own[before2],
        "neighbour": reading.long * np.maximum(own[before], own[after]),
        "answer": own[before] * asked,
        "session": _of_session(index.session[rows], own[rows]),
        "opening": np.where(index.session[rows] != NONE, np.exp(-index.place[rows] / OPENING_TURNS), 0.0),
    }


def asked_values(reading: QuestionReading, stage: Stage, window: Floats, say: float) -> Floats:
    """How surely each candidate answers a question of the kind that is asked, put to it by the turn before; 0 to 1.

    `window`: how near every row is with those beside it, and a last 0; `say`: how much of a say that has, 0 to 1.
    """
    index, rows = stage.index, stage.rows
    kinds, values = kinds_of(reading.folded), np.zeros(rows.size)
    if not say or kinds == ASKS_NOTHING:
        return values
    before = index.previous[rows]
    some = np.flatnonzero((before != NONE) & stage.shown[before] & (index.speaker[before] != index.speaker[rows]))
    some = some[index.traits(before[some], HAS_QUESTION) & HAS_QUESTION > 0]
    some = some[index.asked(before[some]) & kinds > 0]
    far = index.previous[before[some]]
    values[some] = say * (SETTINGS.asked_alone + (1 - SETTINGS.asked_alone) * window[far])
    return values


def lessened(values: Values, say: float) -> Values:
    """The same with less of what `window` and `asked` tell better; `say`: how much of a say these have, 0 to 1."""
    less = {"thread": SETTINGS.thread_less, "phrase": SETTINGS.phrase_less}
    return {name: value * (1 - say * less.get(name, 0.0)) for name, value in values.items()}


def _of_session(sessions: Rows, text: Floats) -> Floats:
    """The best text in each one's session; nothing tells sessions apart where there is only one."""
    if not sessions.size or (sessions == sessions[0]).all():
        return np.zeros(text.size)
    tops = np.zeros(int(sessions.max()) + 2)  # the last place is that of none
    np.maximum.at(tops, sessions, text)
    return np.where(sessions != NONE, tops[sessions], 0.0)


def _of_speakers(view: OwnerView, reading: QuestionReading, stage: Stage) -> Values:
    index, rows = stage.index, stage.rows
    values: Values = {}
    if stage.with_assistant:
        values["user"] = (index.role[rows] == USER).astype(np.float64)
        values["stated"] = np.zeros(rows.size)
        for at in np.flatnonzero((values["user"] > 0) & (index.session[rows] == NONE)).tolist():
            values["stated"][at] = is_statement(view.columns.memories[rows[at]])
        if asks_assistant(reading.folded):
            values["assistant"] = (index.role[rows] == ASSISTANT).astype(np.float64)
    if reading.speakers:
        values["speaker"] = (index.speaker[rows] == reading.speakers[0]).astype(np.float64)
        values["self"] = _having(stage, SELF)
    return values


def _having(stage: Stage, trait: int) -> Floats:
    return (stage.index.traits(stage.rows, trait) & trait > 0).astype(np.float64)


def over_best(values: Floats) -> Floats:
    """Values over the highest of them; unchanged where that is 0."""
    top = values.max() if values.size else 0.0
    return values / top if top > 0 else values


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
        if not sense.question.words:
            found = _with_beside(view, reading, own, known, most, sense, found)
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


def _with_beside(
    view: OwnerView, reading: QuestionReading, own: Floats, rows: Rows, share: float, sense: Sense, found: _Nearness
) -> _Nearness:
    """The same without pieces: a window is by the words and the wholes of the turn and of those beside it, half each.

    None where an assistant speaks: it repeats the user's words, and the answer is elsewhere (memorybank-zh lost .07 of hit@1).
    """
    index = view.conversation
    if (index.role[rows] == ASSISTANT).any():
        return found
    places = _windowed(view, reading, rows, (1 - share) * own[rows] + share * found.whole)
    if not places.size:
        return found
    at = np.full(len(view.columns) + 1, rows.size)
    at[rows] = np.arange(rows.size)
    turns = rows[places]
    three = at[np.stack([turns, index.previous[turns], index.next[turns]])]  # rows.size: none, or not among the rows
    looked = np.unique(three[three < rows.size])
    terms = list(reading.counted)
    rarity = np.array([view.idf(term) * min(reading.counted[term], 1.0) for term in terms])
    said = index.found(rows[looked], terms)
    held = np.zeros((len(terms), looked.size + 1))  # the last column: no turn, or one that is not among the rows
    held[said.places, said.columns] = 1.0
    columns = np.where(three < rows.size, np.searchsorted(looked, three), looked.size)
    words = rarity @ held[:, columns].max(axis=1) / max(float(rarity.sum()), 1e-9)
    cosines = sense.cosines(rows)
    nearest = np.append(cosines, cosines.mean())[three].max(axis=0)
    by_words = _raised(words, float(words.mean()), MEANING.least_rise)
    by_wholes = _raised(nearest, float(nearest.mean()), _least(sense))
    window, beside = np.zeros(rows.size), 1 - reading.long
    window[places] = beside * (by_words + by_wholes) / 2
    return found._replace(window=window, beside=beside)


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
