"""Search: results with their reasons, associated memories, what was withheld, synonyms."""

from __future__ import annotations

from datetime import datetime

from engramlog.answers.base import Result
from engramlog.answers.changes import Change
from engramlog.answers.memories import Card, Withheld
from engramlog.answers.past import Place, Placed


class Step(Result):
    """One step on the way to what is brought to mind: an edge between memories, or a triple between entities."""

    from_: str
    to: str
    link: str
    weight: float | None = None
    negation: bool | None = None


class KeywordMatched(Result):
    """Which keyword of the question matched which of the memory."""

    asked: str
    keyword: str
    weight: float
    source: str
    match: str
    adds: float
    similarity: float | None = None


class Explanation(Result):
    """Why a result stands where it stands."""

    score: dict[str, float]
    """The parts of the score by name; they add up to it."""
    weights: dict[str, float] | None = None
    """The most that each part adds, under `conversation`: part = weight x value in [0, 1]."""
    terms: dict[str, float]
    """Each matching term's share of the text score."""
    law: str
    factors: dict[str, float]
    path: list[Step] | None = None
    """The way of the activation, under `associative`."""
    keywords: list[KeywordMatched] | None = None
    """Which keyword matched which, and how, under `published`."""
    replaces: list[str] | None = None
    """Matching memories that this one replaced."""
    tags: list[str] | None = None
    """Context tags, where the search asked for some."""
    asked_by: list[str] | None = None
    """The parts of the question, or the other words for it, that brought it among the first ten."""


class Hit(Card):
    """One search result."""

    score: float
    relevance: float
    """Section 11's relevance, 0 to 1: comparable between answers and rankings."""
    weight: float
    explain: Explanation


class Associated(Card):
    """A memory that the hits bring to mind."""

    activation: float
    weight: float
    path: list[Step]


class TimeNamed(Result):
    """A time that the question names."""

    text: str
    from_: datetime
    to: datetime
    """Not included."""


class Understood(Result):
    """Whom and what times the question names, under `conversation`."""

    times: list[TimeNamed]
    speakers: list[str]
    since: datetime | None = None
    """Start of the searched span, if `since` is given."""
    until: datetime | None = None
    """End of the searched span, if `until` is given."""
    parts: list[str] | None = None
    """The parts of the question that have a share each of the first ten results, where it has several: what it
    asks besides, one for each thing that it compares, or the name for a role."""


class Expanded(Result):
    """Words added to a question."""

    original: list[str]
    """The question's keywords."""
    synonyms: dict[str, dict[str, float]]
    """By keyword: its synonyms with their similarity."""
    related: dict[str, dict[str, float]]
    """Synonyms of these, listed but never matched."""


class MeaningCompared(Result):
    """How much could be compared by meaning."""

    model: str | None = None
    embedded: int | None = None
    """Memories that have vectors of the model."""
    of: int | None = None
    """Memories that hold text."""
    failed: str | None = None
    """Why the embedder could not be asked: the answer goes by words."""


class FoundOf(Placed):
    """What a search of several owners found with one of them."""

    owner: str
    total: int
    withheld: list[Withheld]


class Found(Place):
    """The answer to a search."""

    results: list[Hit]
    associated: list[Associated] = []
    """Only where `associations` asked for it."""
    total: int
    """How many results there are on all pages."""
    search_mode: str
    understood: Understood
    expanded: Expanded
    meaning: MeaningCompared | None
    """Null where meaning was not compared: in keyword mode, and without an embedder."""
    withheld: list[Withheld]
    offset: int
    """How many of them stood on the pages before."""
    next: str | None
    """The cursor of the next page; null on the last."""
    mode: str
    owners: list[FoundOf] = []
    """Each owner's part, if several were asked: `total` and `withheld` above are sums, everything else is the first owner's."""


class SynonymPair(Result):
    """Two words that mean the same to an owner, or, at 0, that do not."""

    word: str
    """Case-folded; the smaller of the two words."""
    synonym: str
    similarity: float


class WordExpansion(Result):
    """Forms by which a word is searched."""

    original: str
    synonyms: dict[str, float]
    """With their similarity, the owner's own before the known ones."""
    related: dict[str, float]
    """Synonyms of synonyms, with the product; listed but never matched."""


class SynonymsKnown(Placed):
    """An owner's own synonyms."""

    owner: str
    of: str | None
    synonyms: list[SynonymPair]
    """All of the owner's pairs, or those of the word that is asked for."""
    silenced: list[SynonymPair]
    """Pairs that are no synonyms here, whatever is known to all."""
    total: int
    """How many pairs the owner has in all."""
    most: int
    """How many an owner may have."""
    known: dict[str, float]
    """Built-in synonyms of the word."""
    expansion: WordExpansion | None
    as_of: str | None
    known_by: str | None = None
    """The requested moment of recording (`known`)."""


class SynonymSaid(Placed):
    """Result of defining a synonym; the entry says `ignored` and the reason if nothing changed."""

    owner: str
    word: str
    synonym: str
    similarity: float
    changes: list[Change]
