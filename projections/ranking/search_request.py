"""What a search asks beside its words: ranking, search mode, filters, all checked; and the times that it names:
ranges of instants, and how well the time of a turn fits them. Pure.

What a phrase looks like and means is in `language.times`. A question without a time word costs microseconds. English and Chinese.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from math import exp
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from engramlog_server.events.envelope import from_micros, micros, utc_text
from engramlog_server.events.errors import refused
from engramlog_server.events.vocabulary import is_text
from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.language.keywords import folded
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import BEGINNING, END, MASK, Kind, Phrase, Span, masked
from engramlog_server.projections.language.times.chinese import SIGNS, chinese, opened_by
from engramlog_server.projections.language.times.english import WORDS, english
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.memory.record import CATEGORIES, SECRET, Memory, check_trust
from engramlog_server.projections.memory.tags import FILTERS, TAGS, contextual_match
from engramlog_server.projections.shapes import TimeNamed
from engramlog_server.projections.views.view import OwnerView

Plain = str | int | float | bool
MOST_WORDS = 50
"""Words, or pairs, of one filter."""
MOST_METADATA = 4 * 1024
"""Characters of a pair: what is told with a memory has at most as many bytes."""


def check_words(field: str, words: Sequence[str]) -> tuple[str, ...]:
    """Words to filter by, each once, or InputError."""
    if len(words) > MOST_WORDS:
        raise refused(field, f"{len(words)} of them", f"at most {MOST_WORDS}")
    for word in words:
        if not is_text(word, 200):
            raise refused(field, word[:80], "some text of 1 to 200 characters in UTF-8")
    return tuple(dict.fromkeys(words))


def check_among(field: str, words: Sequence[str], allowed: Sequence[str]) -> tuple[str, ...]:
    """Words of a closed list to filter by, each once, or InputError."""
    found = check_words(field, words)
    for word in found:
        if word not in allowed:
            raise refused(field, word, ", ".join(allowed))
    return found


def check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Context tags to filter by, or InputError; a producer's own tags may be asked for too."""
    if len(tags) > MOST_WORDS:
        raise refused("tags", f"{len(tags)} of them", f"at most {MOST_WORDS}")
    for tag in tags:
        if not is_text(tag, 100):
            raise refused("tags", tag, "tags of 1 to 100 characters, such as " + ", ".join(TAGS))
    return tuple(dict.fromkeys(tags))


def check_feeling(feeling: str | None) -> str | None:
    """An emotional filter, or InputError."""
    if feeling is not None and feeling not in FILTERS:
        raise refused("feeling", feeling, ", ".join(FILTERS))
    return feeling


def check_name(field: str, name: str | None) -> str | None:
    """A name, or InputError."""
    if name is not None:
        check_words(field, [name])
    return name


def check_number(field: str, number: float, most: int) -> float:
    """A number from 0 to `most`, or InputError."""
    if not 0 <= number <= most:
        raise refused(field, number, f"a number from 0 to {most}")
    return number


def check_pairs(field: str, pairs: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`name=value` pairs, all of which must hold, or InputError."""
    if len(pairs) > MOST_WORDS:
        raise refused(field, f"{len(pairs)} of them", f"at most {MOST_WORDS}")
    found: dict[tuple[str, str], None] = {}
    for pair in dict.fromkeys(pairs):
        name, equals, value = pair.partition("=")
        if not equals or not is_text(name, 200) or not is_text(f"={value}", MOST_METADATA):
            raise refused(field, pair[:80], "name=value, e.g. page=4, of at most 4 KiB")
        found[name, value] = None
    return tuple(found)


def as_told(value: Plain) -> str:
    """A plain value as people write it beside an equals sign: `4` of 4 and of 4.0, `true` of a truth value."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


class FilterSpan(NamedTuple):
    """Instants from one to another, that not among them, microseconds since 1970; None: no bound."""

    since: int | None = None
    until: int | None = None


def check_span(told: Mapping[str, Any], now: int, zone: str, prefix: str = "") -> FilterSpan:
    """What is told as `since` and `until`, with a prefix, as `parse_times` reads it; or InputError, also where it holds nothing."""
    fields = f"{prefix}since", f"{prefix}until"
    since, until = (parse_times(name, told.get(name), now, zone) for name in fields)
    found = FilterSpan(None if since is None else since.start, None if until is None else until.end)
    if found.since is not None and found.until is not None and found.since >= found.until:
        raise refused(fields[1], told.get(fields[1]), f"a time after {fields[0]}, which is {told.get(fields[0])}")
    return found


def parse_times(field: str, text: str | None, now: int, zone: str) -> TimeRange | None:
    """The range that a filter means, seen from `now` in the zone: an instant, a date, or words; or InputError."""
    if text is None:
        return None
    try:
        return parse_range(text, now, zone)
    except ValueError as error:
        raise refused(field, text[:80], str(error).partition("; allowed: ")[2]) from None


BLIND_TO_ACCESSES = ("conversation", "text")
"""Rankings that read no accesses, but for what a law makes of them."""
FOLLOWING = ("conversation", "text")
"""Rankings that bring in what replaced a match, and what is long ago: those of the sources stay as published."""
BY_MEANING = ("conversation", "published")
"""Rankings that know meaning: the others go by words, whatever the search mode."""


class Filters(NamedTuple):
    """What a result must have; of several words of one kind any will do. Nothing given: everything passes."""

    keywords: tuple[str, ...] = ()
    """Lower-case; given or extracted keywords."""
    kinds: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Context tags, any of which must be there; more of them count more."""
    feeling: str | None = None
    """positive, negative or urgent: a tag that must be there."""
    session: str | None = None
    project: str | None = None
    speaker: str | None = None
    """Whatever its case."""
    since: int | None = None
    """Created at or after, microseconds since 1970."""
    until: int | None = None
    """Created before."""
    least_relevance: float = 0.0
    """0 to 1, section 11's relevance whatever the ranking."""
    min_weight: float | None = None
    """Unclipped weight under the owner's law."""
    trust: int = 0
    """At least so far trusted, as records have it."""
    metadata: tuple[tuple[str, str], ...] = ()
    """Names and values as they are written, all of which must be there."""

    def check_most(self, most: float) -> None:
        """InputError for a greatest weight, of a list, that is under the least."""
        if self.min_weight is not None and self.min_weight > most:
            raise refused("max_weight", most, f"at least the least weight, which is {self.min_weight}")


class SearchRequest(NamedTuple):
    """How a search is to be answered."""

    ranking: str = RANKINGS[0]
    search_mode: str = "hybrid"
    """hybrid is keyword where there is no embedder."""
    filters: Filters = Filters()
    near_project: str | None = None
    """Ranks memories of this project higher under `overlap`; filters nothing."""
    associations: bool = False
    """Whether to tell also what the hits bring to mind, over associations and triples."""
    include_faded: bool | None = None
    """Whether normal mode also shows matches that only their age hides; None: as the owner's parameter `long_ago` says."""
    proposals: bool = False
    """Whether normal mode also shows matching proposals, which wait for a person."""
    reasons: bool = True
    """Whether results tell what their score and weight are made of."""
    parts: bool = True
    """Whether each part of a question has its share of the first ten, under `conversation`."""
    expansions: tuple[str, ...] = ()
    """How else a language model puts the question, under `conversation`: their rankings are merged with the question's own."""
    most_sensitive: int = SECRET - 1
    """Memories up to this sensitivity say who is meant by a name or a role: the parts of the question tell it."""


PLAIN = SearchRequest()
ALONE = SearchRequest(reasons=False)
"""Which memories answer, and no more."""


def filters_of(told: Mapping[str, Any], now: int, zone: str) -> Filters:
    """The filters among what a search was told, checked; a new one is named here and where searches are defined.

    `now` (microseconds since 1970), `zone`: what "last week" is relative to. Raises InputError naming the field.
    """
    weight, least = told.get("min_weight"), told.get("min_relevance") or 0.0
    created = check_span(told, now, zone)
    return Filters(
        keywords=tuple(folded(word) for word in check_words("keywords", told.get("keywords") or ())),
        kinds=check_words("kinds", told.get("kinds") or ()),
        categories=check_among("categories", told.get("categories") or (), CATEGORIES),
        tags=check_tags(told.get("tags") or ()),
        feeling=check_feeling(told.get("feeling")),
        session=check_name("session", told.get("session")),
        project=check_name("project", told.get("project")),
        speaker=check_name("speaker", told.get("speaker")),
        since=created.since,
        until=created.until,
        least_relevance=float(check_number("min_relevance", least, 1)),
        min_weight=None if weight is None else check_number("min_weight", weight, 1_000),
        trust=check_trust(told.get("trust")),
        metadata=check_pairs("metadata", told.get("metadata") or ()),
    )


class Filter:
    """A search's filters over one view, at the weights of its instant. `least_relevance` is not looked at here."""

    def __init__(self, view: OwnerView, filters: Filters, weights: Floats) -> None:
        self._view = view
        self._filters = filters
        self._weights = weights
        self._speaker = None if filters.speaker is None else filters.speaker.casefold()
        self.is_open = filters._replace(least_relevance=0.0) == Filters()
        """Whether everything passes."""

    def passes(self, row: int) -> bool:
        """Whether a memory has what is asked for."""
        return self.is_open or bool(self.passing(np.array([row], dtype=np.int64))[0])

    def passing(self, rows: Rows) -> Flags:
        """Which of these rows have what is asked for, shape (len(rows),); what is cheap to tell is looked at first."""
        if self.is_open:
            return np.ones(rows.size, dtype=bool)
        kept = self.passing_columns(rows)
        for place in np.flatnonzero(kept):
            kept[place] = self._has(int(rows[place]))
        return kept

    def passing_columns(self, rows: Rows) -> Flags:
        """The same as far as columns tell: times of creation, trust, the least weight."""
        kept = np.ones(rows.size, dtype=bool)
        filters, created_at = self._filters, self._view.columns.created_at[rows]
        if filters.since is not None:
            kept &= created_at >= filters.since
        if filters.until is not None:
            kept &= created_at < filters.until
        if filters.trust:
            kept &= self._view.columns.trust[rows] >= filters.trust
        if filters.min_weight is not None:
            kept &= self._weights[rows] >= filters.min_weight
        return kept

    def _has(self, row: int) -> bool:
        filters, memory = self._filters, self._view.columns.memories[row]
        return (
            _among(memory.kind, filters.kinds)
            and _among(memory.category, filters.categories)
            and filters.session in (None, memory.session)
            and filters.project in (None, memory.project)
            and (self._speaker is None or (memory.speaker or "").casefold() == self._speaker)
            and self._has_tags(row)
            and self._has_metadata(memory)
            and (not filters.keywords or any(folded(one.word) in filters.keywords for one in self._view.keywords(row)))
        )

    def _has_metadata(self, memory: Memory) -> bool:
        """A secret memory has none to be found by, as it tells none."""
        if not self._filters.metadata:
            return True
        basis = None if memory.sensitivity >= SECRET else memory.basis
        had = {} if basis is None else {name: as_told(value) for name, value in basis.metadata}
        return all(had.get(name) == value for name, value in self._filters.metadata)

    def _has_tags(self, row: int) -> bool:
        filters = self._filters
        if not filters.tags and filters.feeling is None:
            return True
        tags = self._view.context(row).tags
        named = not filters.tags or contextual_match(filters.tags, tags) > 0
        return named and (filters.feeling is None or filters.feeling in tags)


def _among(word: str, allowed: Sequence[str]) -> bool:
    return not allowed or word in allowed


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
