"""What a search asks beside its words: ranking, search mode, filters, all checked. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from engramlog_server.events.errors import refused
from engramlog_server.events.vocabulary import is_text
from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.language.keywords import folded
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.memory.record import CATEGORIES, SECRET, Memory, check_trust
from engramlog_server.projections.memory.tags import FILTERS, TAGS, contextual_match
from engramlog_server.projections.ranking.times import TimeRange, parse_range
from engramlog_server.projections.views.view import OwnerView

Plain = str | int | float | bool
MOST_WORDS = 50
"""Words, or pairs, of one filter."""
MOST_METADATA = 4 * 1024
"""Characters of a pair: what is told with a memory has at most as many bytes."""


def check_words(field: str, words: Sequence[str], most: int = MOST_WORDS) -> tuple[str, ...]:
    """Words to filter by, each once, or InputError."""
    if len(words) > most:
        raise refused(field, f"{len(words)} of them", f"at most {most}")
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
