"""What a search asks for, checked: ranking, search mode, filters; and the pages of its answer.

A **cursor** names the position and the instant at which the first page was answered, and how many results came before:
the next page is read as of there, so that pages neither repeat nor skip whatever has changed meanwhile. What has been
deleted since is left out.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, TypedDict

import orjson

from api.requests.checks import check_feeling, check_ranking, check_search_mode, check_tags, check_words, parse_times
from events.errors import refused
from projections.choices import RANKINGS
from projections.language.keywords.text import folded
from projections.memory.record import CATEGORIES
from projections.ranking.conversation_dates import zoned_text
from projections.ranking.search_request import BY_MEANING, Filters, SearchRequest

MOST_OFFSET = 100_000
_NOTHING: tuple[Any, ...] = (None, False, 0, (), [], "")
_UNLESS_TOLD = {"ranking": RANKINGS[0], "search_mode": "hybrid"}


class SearchTerms(TypedDict, total=False):
    """What a search may ask beside its words; absent: no wish."""

    ranking: str
    search_mode: str
    keywords: Sequence[str]
    kinds: Sequence[str]
    categories: Sequence[str]
    tags: Sequence[str]
    feeling: str | None
    session: str | None
    project: str | None
    near_project: str | None
    speaker: str | None
    since: str | None
    until: str | None
    min_relevance: float
    min_weight: float | None
    associations: bool


def request_of(terms: SearchTerms, now: int, zone: str, *, with_meaning: bool) -> SearchRequest:
    """The wish, or InputError naming the field.

    `now`, `zone`: what "last week" is relative to; `with_meaning`: whether there is an embedder.
    """
    ranking = check_ranking(terms.get("ranking", "conversation"))
    mode = check_search_mode(terms.get("search_mode", "hybrid"))
    if mode == "semantic" and ranking not in BY_MEANING:
        raise refused(
            "search_mode",
            mode,
            f"keyword or hybrid under the ranking {ranking}; semantic under {' or '.join(BY_MEANING)}",
        )
    if mode == "semantic" and not with_meaning:
        raise refused(
            "search_mode", mode, "keyword or hybrid, as no embedder is configured (ENGRAMLOG_EMBEDDER=minilm)"
        )
    least, weight = terms.get("min_relevance", 0.0), terms.get("min_weight")
    if not 0 <= least <= 1:
        raise refused("min_relevance", least, "a number from 0 to 1")
    if weight is not None and not 0 <= weight <= 1_000:
        raise refused("min_weight", weight, "a number from 0 to 1000")
    since = parse_times("since", terms.get("since"), now, zone)
    until = parse_times("until", terms.get("until"), now, zone)
    categories = check_words("categories", terms.get("categories", ()))
    for category in categories:
        if category not in CATEGORIES:
            raise refused("categories", category, ", ".join(CATEGORIES))
    filters = Filters(
        keywords=tuple(folded(word) for word in check_words("keywords", terms.get("keywords", ()))),
        kinds=check_words("kinds", terms.get("kinds", ())),
        categories=categories,
        tags=check_tags(terms.get("tags", ())),
        feeling=check_feeling(terms.get("feeling")),
        session=_named("session", terms.get("session")),
        project=_named("project", terms.get("project")),
        speaker=_named("speaker", terms.get("speaker")),
        since=None if since is None else since.start,
        until=None if until is None else until.end,
        least_relevance=float(least),
        least_weight=weight,
    )
    if filters.since is not None and filters.until is not None and filters.since >= filters.until:
        raise refused("until", terms.get("until"), f"a time after since, which is {terms.get('since')}")
    return SearchRequest(
        ranking, mode, filters, _named("near_project", terms.get("near_project")), terms.get("associations", False)
    )


def told_filters(filters: Filters, zone: str) -> dict[str, str]:
    """From when, and to when (not included), was searched, where a filter says so: RFC 3339 in the time zone."""
    asked = {"since": filters.since, "until": filters.until}
    return {name: zoned_text(instant, zone) for name, instant in asked.items() if instant is not None}


def check_terms(terms: SearchTerms, *, with_meaning: bool) -> None:
    """InputError for whatever can be told to be wrong before the owner's zone and the question's instant are known."""
    _named("since", terms.get("since"))
    _named("until", terms.get("until"))
    timeless = terms.copy()
    timeless["since"] = timeless["until"] = None
    request_of(timeless, 0, "UTC", with_meaning=with_meaning)


def _named(field: str, name: str | None) -> str | None:
    if name is not None:
        check_words(field, [name])
    return name


class Cursor(NamedTuple):
    """Where the next page begins."""

    position: str
    at: int
    """Microseconds since 1970."""
    offset: int
    question: str
    """Digest of everything that was asked."""
    entries: int = 0
    """How long the owner's change log was."""
    meaning: str = ""
    """What was compared by meaning: see `compared`."""


FIRST_PAGE = Cursor("", 0, 0, "")


def compared(meaning: dict[str, Any] | None) -> str:
    """A word for what an answer compared by meaning: the model and how many memories had its vectors."""
    if meaning is None:
        return ""
    return "failed" if "failed" in meaning else f"{meaning['model']} {meaning['embedded']}"


def question_digest(terms: SearchTerms, *asked: str | None) -> str:
    """A short name of a question: a cursor of one is refused for another. What is told as if it were not is as good as not told."""
    said = {name: value for name, value in terms.items() if value not in _NOTHING and value != _UNLESS_TOLD.get(name)}
    if terms.get("min_weight") is not None:
        said["min_weight"] = terms["min_weight"]  # from 0 on is less than all, where weights fall below it
    return blake2b(orjson.dumps([said, asked], option=orjson.OPT_SORT_KEYS), digest_size=9).hexdigest()


def cursor_text(cursor: Cursor) -> str:
    """A cursor as callers hold it: URL-safe, opaque."""
    return urlsafe_b64encode(orjson.dumps(list(cursor))).decode().rstrip("=")


def read_cursor(text: str, question: str) -> Cursor:
    """A cursor as `cursor_text` made it for this question, or InputError."""
    rule = "what `next` said on the page before, with nothing else changed in the question"
    try:
        found = Cursor(*orjson.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4))))
    except (NotBase64, orjson.JSONDecodeError, ValueError, TypeError):
        raise refused("cursor", text[:80], rule) from None
    kinds = (str, int, int, str, int, str)
    whole = all(isinstance(part, kind) for part, kind in zip(found, kinds, strict=True))
    if not whole or found.question != question or not 0 < found.offset <= MOST_OFFSET:
        raise refused("cursor", text[:80], rule)
    return found
