"""The conversation ranking: its weights, its question, and its terms: for each candidate a value in [0, 1], by name. Pure.

Terms are computed of a question as the owner's view understands it: its terms, names and days, and how the turns are weighed.
What each term means: `Weights`; none of the weights is an owner's parameter.

The times that a question names are ranges, and how well the time of a turn fits them is a term too. What a phrase looks like and
means is in `language.times`. A question without a time word costs microseconds. English and Chinese.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from math import exp
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from engramlog_server.events.envelope import from_micros, micros, utc_text
from engramlog_server.projections.index.conversation_index import ASSISTANT, NONE, USER, ConversationIndex
from engramlog_server.projections.index.postings import Occurrences
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.questions import (
    ASKS_NOTHING,
    ENDS_ASKING,
    HAS_NUMBER,
    HAS_QUESTION,
    HAS_TIME,
    SELF,
    asks_assistant,
    asks_many,
    asks_when,
    framing_terms,
    kinds_of,
    last_sentence,
    named_speakers,
)
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import BEGINNING, END, MASK, Kind, Phrase, Span, masked
from engramlog_server.projections.language.times.chinese import SIGNS, chinese, opened_by
from engramlog_server.projections.language.times.english import WORDS, english
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.memory.kind import is_statement, is_summary
from engramlog_server.projections.ranking.keyword_match import expanded_terms
from engramlog_server.projections.shapes import TimeNamed
from engramlog_server.projections.views.quoting import Weighing
from engramlog_server.projections.views.view import OwnerView

Instants = npt.NDArray[np.int64]
WEEK = 7
"""Days after the named one on which news of it may still be told."""
MONTH = 31
"""Days up to which a span tells something of its days; a longer one tells less of each."""
MOST = 16
"""Time expressions of a question that are looked at, the first ones."""
RANGE_RULE = (
    "an RFC 3339 date-time with a zone, a date (2023-05-07), or a time in words, English or Chinese"
    " (last week, since June, between 3 May and 7 May, 上周三, 5月2号)"
)
"""What parse_range reads."""
DAY_RULE = "a day that is the same everywhere: 2023-05-07, or with its month's name, 7 May 2023"


class TimeRange(NamedTuple):
    """Instants [start, end), microseconds since 1970."""

    start: int
    end: int
    kind: Kind
    """How exact it was told."""


class QuestionTimes(NamedTuple):
    """What a question says of time."""

    text: str
    """The question as it was read, case-folded."""
    phrases: tuple[Phrase, ...]
    """Its first time expressions, in reading order."""
    now: int
    """When it was asked, microseconds since 1970."""
    zone: str


class DateShares(NamedTuple):
    """What a turn is worth whose day is not exactly the one named, 0 to 1."""

    month: float = 0.65
    """In the month that is named without a day."""
    week: float = 0.3
    """Up to a week after the named day: x e^(-days / 7)."""
    eve: float = 0.1
    """On the day before it."""
    relative: float = 0.5
    """Within the days meant by "last week". What is longer than a month, by whatever words, has a month's share of its share."""
    today: float = 0.05
    """On the day of the question: who says "today" mostly tells news, and does not ask for what was said before."""


zone_named = cache(ZoneInfo)
_LETTERS = regex("[a-z]+")
_NUMERIC = regex(r"\d[-/.]\d|\d{4}|\d(?:st|nd|rd|th)\b|\d0'?s\b|q\d")
_SPACE = regex(r"\s")
_DATE_TIME = regex(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d\d:\d\d)")
_BARE_YEAR = regex(r"(?:19|20)\d\d")
_SLASHED = regex(r"0?(\d{1,2})/0?(\d{1,2})/(?:\d{4}|\d\d)")
_BEFORE = regex(r"(?:(?:in|on|at|during|over|within|from) ?)?(?:the )?|[在于]")
_FIRST, _LAST = micros(datetime.min.replace(tzinfo=UTC)), micros(datetime.max.replace(tzinfo=UTC))


def times_in(text: str, now: int, zone: str) -> tuple[QuestionTimes, str]:
    """The times that a case-folded text names, asked at `now`; and the text without the days and months it names."""
    in_english = not WORDS.isdisjoint(_LETTERS.findall(text)) or _NUMERIC.search(text) is not None
    in_chinese = not SIGNS.isdisjoint(text)
    if not in_english and not in_chinese:
        return QuestionTimes(text, (), now, zone), text
    today = _local(now, zone).date()
    even = _evened(text)
    phrases: list[Phrase] = []
    named: list[tuple[int, int]] = []
    if in_english:
        phrases, named = english(even, today)
        if in_chinese:  # 2022-03-05 之前
            phrases = [opened_by(even, phrase, phrase.at - 3, len(even), today) for phrase in phrases]
        even = masked(even, phrases)
    if in_chinese:
        more = chinese(even, today)
        phrases, named = sorted(phrases + more.phrases), named + more.named
    return QuestionTimes(text, tuple(phrases[:MOST]), now, zone), _without(text, named)


def parse_range(text: str, now: int, zone: str) -> TimeRange:
    """The range that a filter means: an instant (start == end), a date, or a time in words, seen from `now`, in the zone.

    Where it is open ("before April") it reaches to the first or last instant there is. Raises ValueError, which tells
    what is allowed.
    """
    asked = text.strip()
    if (instant := _instant(asked)) is not None:
        return TimeRange(instant, instant, "moment")
    if _BARE_YEAR.fullmatch(asked):
        asked = f"in {asked}"
    elif (
        (slashed := _SLASHED.fullmatch(asked)) and slashed[1] != slashed[2] and int(slashed[1]) <= 12 >= int(slashed[2])
    ):
        raise ValueError(f"{asked!r} is one day in America and another elsewhere; allowed: {DAY_RULE}")
    folded = asked.casefold()
    times, _ = times_in(folded, now, zone)
    if len(times.phrases) == 1:
        (phrase,) = times.phrases
        if _BEFORE.fullmatch(_evened(folded[: phrase.at])) and not folded[phrase.end :].strip(" .。"):
            return range_of(phrase.span, now, zone)
    raise ValueError(f"{asked[:60]!r} is no time; allowed: {RANGE_RULE}")


def told(times: QuestionTimes, question: str, within: tuple[int, int] | None = None) -> list[TimeNamed]:
    """What was understood: the words (`text`), from when and to when (RFC 3339 in the time zone; `to` is not included).

    `within`: the owner's first and last instant, microseconds since 1970, which bound what is open ("before April").
    """
    folded = _evened(question.casefold())
    lines: list[TimeNamed] = []
    for phrase in times.phrases:
        start, end, _ = range_of(phrase.span, times.now, times.zone)
        if within is not None and phrase.span.first == BEGINNING:
            start = min(within[0], end)
        if within is not None and phrase.span.after == END:
            end = max(start, within[1] + 1)
        words = times.text[phrase.at : phrase.end]
        place = folded.find(_evened(words))
        if place >= 0 and len(folded) == len(question):
            words = question[place : place + len(words)]
        lines.append({"text": words, "from": zoned_text(start, times.zone), "to": zoned_text(end, times.zone)})
    return lines


def range_of(span: Span, now: int, zone: str) -> TimeRange:
    """The instants of a span, in the time zone; `now` counts for what is told from it ("two hours ago")."""
    if span.minutes is None:
        return TimeRange(_start(span.first, zone), _start(span.after, zone), span.kind)
    first, last = span.minutes
    if span.kind == "moment":
        start, end = (min(max(now + one * 60_000_000, _FIRST), _LAST) for one in (first, last))
        return TimeRange(start, end, span.kind)
    return TimeRange(_start(span.first, zone, first), _start(span.first, zone, last), span.kind)


def date_fit(times: QuestionTimes, said_at: Instants, shares: DateShares) -> Floats:
    """How well each instant (microseconds since 1970) fits the times named, 0 to 1; shape (len(said_at),)."""
    fit = np.zeros(said_at.size)
    if not said_at.size:
        return fit
    first, last = (_local(int(one), times.zone).toordinal() for one in (said_at.min(), said_at.max()))
    for span in dict.fromkeys(span for phrase in times.phrases for span in phrase.fits):
        for one in (
            [cal.in_year(span, year) for year in _years(said_at)] if span.yearless else [_closed(span, first, last)]
        ):
            if one is not None:
                days, values = _steps(one, times, shares)
                np.maximum(fit, _stepwise(said_at, days, values, times.zone), out=fit)
    return fit


def _closed(span: Span, first: int, last: int) -> Span | None:
    """Where a span is open, it ends with the memories."""
    begins = first if span.first == BEGINNING else span.first
    after = last + 1 if span.after == END else span.after
    return span._replace(first=begins, after=after) if begins < after else None


def _steps(span: Span, times: QuestionTimes, shares: DateShares) -> tuple[list[int], list[float]]:
    """Days (ordinals) at which the value changes, and the values between them."""
    if span.kind == "moment":
        start, end, _ = range_of(span, times.now, times.zone)
        return [_local(start, times.zone).toordinal(), _local(end, times.zone).toordinal() + 1], [shares.relative]
    if span.kind == "day" and span.named:
        later = [shares.week * exp(-after / WEEK) for after in range(1, WEEK + 1)]
        return list(range(span.first - 1, span.first + WEEK + 2)), [shares.eve, 1.0, *later]
    today = _local(times.now, times.zone).toordinal()
    if span.kind in {"day", "part"} and span.first == today and not span.named:
        share = shares.today
    else:
        share = (shares.month if span.named else shares.relative) * min(1.0, MONTH / (span.after - span.first))
    return [span.first, span.after], [share]


def _stepwise(said_at: Instants, days: list[int], values: list[float], zone: str) -> Floats:
    """`values[i]` from the beginning of `days[i]` to that of the next, else 0."""
    starts = [_start(day, zone) for day in days]
    assert all(before <= after for before, after in pairwise(starts))
    return np.array([0.0, *values, 0.0])[np.searchsorted(starts, said_at, side="right")]


def _start(day: int, zone: str, minutes: int = 0) -> int:
    """When it is so many minutes after midnight by the clocks of the zone; days off the calendar are its ends."""
    if day <= BEGINNING:
        return _FIRST
    if day >= END or (day == END - 1 and minutes >= 24 * 60):
        return _LAST
    local = datetime.fromordinal(day) + timedelta(minutes=minutes)
    return micros(local.replace(tzinfo=zone_named(zone)))


def _local(instant: int, zone: str) -> datetime:
    try:
        return from_micros(instant).astimezone(zone_named(zone))
    except OverflowError:
        return from_micros(instant)


def zoned_text(instant: int, zone: str) -> str:
    """RFC 3339 in the zone; in UTC where its offset then was no whole minutes."""
    local = _local(instant, zone)
    offset = local.utcoffset() or timedelta(0)
    return utc_text(local) if offset % timedelta(minutes=1) else local.isoformat()


def _instant(text: str) -> int | None:
    """An RFC 3339 date-time with a zone."""
    if not _DATE_TIME.fullmatch(text):
        return None
    try:
        return micros(datetime.fromisoformat(text.upper()))
    except ValueError:
        return None


def _evened(text: str) -> str:
    """With blanks of one kind and straight apostrophes; every character stays in its place."""
    return _SPACE.sub(" ", text).replace("’", "'").replace(MASK, " ")


def _without(text: str, places: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(places):
        parts.append(text[at:start])
        at = end
    return " ".join((*parts, text[at:])) if parts else text


def _years(said_at: Instants) -> list[int]:
    """The years in which something was said, in any time zone."""
    years = set((np.unique(said_at.astype("datetime64[us]").astype("datetime64[Y]")).astype(np.int64) + 1970).tolist())
    return sorted(years | {year + 1 for year in years} | {year - 1 for year in years})


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
    """Asked when, and the turn has a word of time."""
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
        values["when"] = _having(stage, HAS_TIME)
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
