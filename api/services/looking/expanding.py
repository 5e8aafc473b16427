"""Whether a question may be put in other words by a language model, and how an answer tells it."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import orjson

from api.requests.searching import FIRST_PAGE, Cursor, SearchTerms
from events.errors import refused
from projections.choices import RANKINGS
from projections.language.asked_words import says_something
from projections.ranking.parts.in_parts import OWN
from projections.ranking.search_request import SearchRequest
from projections.shapes import QuestionExpansion, Understood

if TYPE_CHECKING:  # where no model puts questions in other words nothing of it is loaded
    from projections.models.expander import Expander, ExpansionFound, ExpansionStatus


class ExpandedQuestion(NamedTuple):
    """What became of putting a question in other words."""

    found: ExpansionFound
    model: str

    @property
    def told(self) -> QuestionExpansion:
        """As an answer tells it."""
        told: QuestionExpansion = {
            "status": self.found.status,
            "terms": list(self.found.terms),
            "model": self.model,
        }
        if self.found.kind is not None:
            told["why"] = self.found.kind
        return told

    @property
    def digest(self) -> str:
        """A short name of the terms, by which the next page knows them; empty where there are none."""
        terms = self.found.terms
        return blake2b(orjson.dumps(terms), digest_size=9).hexdigest() if terms else ""


def is_expanded(page: Cursor, wanted: int) -> bool:
    """Whether a page may be of other words too: a first one with a place that they may take, and what follows one that was."""
    return page.expansion != "" or (page is FIRST_PAGE and wanted > OWN)


def digest_of(found: ExpandedQuestion | None, page: Cursor, cursor: str | None) -> str:
    """The digest of a page's other words. Raises InputError where they are not those of the page before."""
    digest = "" if found is None else found.digest
    if cursor is not None and digest != page.expansion:
        raise refused("cursor", cursor[:80], "no cursor: the other words for the question are gone; begin again")
    return digest


def widening(request: SearchRequest, found: ExpandedQuestion | None) -> SearchRequest:
    """The request with the other words."""
    return request if found is None else request._replace(expansions=found.found.terms)


def tell_expansion(understood: Understood, found: ExpandedQuestion | None) -> None:
    """Add what became of it, where the process puts questions in other words."""
    if found is not None:
        understood["expansion"] = found.told


def expanded(
    expander: Expander,
    owner: str,
    query: str,
    terms: SearchTerms,
    *,
    past: bool,
    kept_back: Callable[[], ExpansionStatus | None],
) -> ExpandedQuestion | None:
    """The question in other words, or why not; None where nobody asks for any: by exact words, by meaning alone, by another
    ranking, or without a word to look for.

    `past`: it is about the past, whose answers stay what they were. `kept_back`: why the owner's are not to go; asked last of all.
    """
    by_words_alone = terms.get("search_mode", "hybrid") != "hybrid"
    if by_words_alone or terms.get("ranking", RANKINGS[0]) != RANKINGS[0] or not says_something(query):
        return None
    found = expander.left("past") if past else expander.expand(owner, query, kept_back)
    return ExpandedQuestion(found, expander.model)
