"""What a search asks for, checked: ranking, search mode, filters; and the pages of its answer.

A **cursor** names the position and the instant at which the first page was answered, and how many results came before:
the next page is read as of there, so that pages neither repeat nor skip whatever has changed meanwhile. What has been
deleted since is left out.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from engramlog_server.api.requests.checks import check_ranking, check_search_mode
from engramlog_server.api.shapes import MeaningCompared, SpansTold, Understood
from engramlog_server.events.errors import InputError, refused
from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.ranking.conversation_dates import zoned_text
from engramlog_server.projections.ranking.filter_checks import check_name
from engramlog_server.projections.ranking.search_request import BY_MEANING, Filters, SearchRequest, filters_of
from engramlog_server.projections.reports.listing.wanted import RowsWanted

MOST_OFFSET = 100_000
_UNLESS_TOLD = {"ranking": RANKINGS[0], "search_mode": "hybrid", "min_relevance": 0.0}


def semantic_refused() -> InputError:
    """What is raised where meaning alone is asked for, and nothing compares it."""
    return refused(
        "search_mode",
        "semantic",
        "keyword or hybrid, as no embedder counts here (ENGRAMLOG_EMBEDDER=auto, or the owner's parameter embedder)",
    )


SearchTerms = Mapping[str, Any]
"""What a search may ask beside its words, by the names of `api.operations.searching`; absent: as it has them."""


def request_of(terms: SearchTerms, now: int, zone: str, *, with_meaning: bool, reasons: bool = True) -> SearchRequest:
    """The wish, or InputError naming the field.

    `now`, `zone`: what "last week" is relative to; `with_meaning`: whether there is an embedder; `reasons`: whether they are told.
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
        raise semantic_refused()
    filters = filters_of(terms, now, zone)
    return SearchRequest(
        ranking,
        mode,
        filters,
        check_name("near_project", terms.get("near_project")),
        terms.get("associations", False),
        terms.get("include_faded"),
        reasons,
    )


def tell_filters(understood: Understood, filters: Filters, zone: str) -> None:
    """Add from when, and to when (not included), was searched, where a filter says so: RFC 3339 in the time zone."""
    if filters.since is not None:
        understood["since"] = zoned_text(filters.since, zone)
    if filters.until is not None:
        understood["until"] = zoned_text(filters.until, zone)


def check_terms(terms: SearchTerms, *, with_meaning: bool) -> None:
    """InputError for whatever can be told to be wrong before the owner's zone and the question's instant are known."""
    check_name("since", terms.get("since"))
    check_name("until", terms.get("until"))
    request_of({**terms, "since": None, "until": None}, 0, "UTC", with_meaning=with_meaning)


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


def compared(meaning: MeaningCompared | None) -> str:
    """A word for what an answer compared by meaning: the model and how many memories had its vectors."""
    if meaning is None:
        return ""
    return "failed" if "failed" in meaning else f"{meaning['model']} {meaning['embedded']}"


def question_digest(terms: SearchTerms, *asked: str | None) -> str:
    """A short name of a question: a cursor of one is refused for another. What is told as if it were not is as good as not told."""
    said = {name: value for name, value in terms.items() if not _as_good_as_untold(name, value)}
    return blake2b(orjson.dumps([said, asked], option=orjson.OPT_SORT_KEYS), digest_size=9).hexdigest()


def _as_good_as_untold(name: str, value: Any) -> bool:
    """A number 0 says something: from it on is less than all, where weights fall below it; so does that nothing faded is wanted."""
    return (
        value is None
        or (value is False and name != "include_faded")
        or value in ((), [], "")
        or value == _UNLESS_TOLD.get(name)
    )


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


def spans_told(wanted: RowsWanted, zone: str) -> SpansTold:
    """From when, and to when (not included), memories were made or revised, where a filter says so: RFC 3339 in the time zone."""
    found, filters, updated = SpansTold(), wanted.filters, wanted.updated
    if filters.since is not None:
        found["since"] = zoned_text(filters.since, zone)
    if filters.until is not None:
        found["until"] = zoned_text(filters.until, zone)
    if updated.since is not None:
        found["updated_since"] = zoned_text(updated.since, zone)
    if updated.until is not None:
        found["updated_until"] = zoned_text(updated.until, zone)
    return found
