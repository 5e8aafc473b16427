"""The rankings beside the conversation's: by text alone, and as the sources published them. Pure.

`text`: BM25 with the weight under the owner's law as a tie-breaker. `published`: seed 001's score. `overlap`: the score of
seed 004, section 6. `associative`: its later one, which ranks what activation reaches among the direct hits.

The published formula of search (seed 001, sections 3.3.1 and 3.3.2; memory.md, section 11):

    k         mean over the query's keywords of the best match x keyword weight
    match     1.0 exact, 0.8 prefix, 0.7 * similarity for a synonym: search_prefix and search_synonym are parameters
    text      b / (b + 8) of BM25, a parameter, never scaled by the best hit
    cosine    of the question's and the memory's whole vectors, not below 0
    t         0.5 + 0.5 * 0.5 ** (age in days / 30)
    relevance hybrid 0.4 k + 0.4 max(text, cosine) + 0.2 t; keyword (0.4 k + 0.2 t) / 0.6; semantic (0.4 cosine + 0.2 t) / 0.6
    score     0.7 relevance + 0.2 interaction + 0.1 kind

A keyword is exact up to case, width and English ending. A prefix begins the other keyword or a word in it, has 3 letters or more
(2 Han characters), and does not break a number: v2.3.1 does not begin v2.3.10.

What the best hits bring to mind is found over associations, then over triples, with the way there. A neighbour gets
`activation * weight * 0.5`, over at most two edges, if that is at least 0.1 (memory.md, section 10). Activation spreads
breadth-first: a memory belongs to the least depth at which it is reached, and nothing comes back, so cycles end. Of several paths
of one depth the strongest counts, of equally strong ones the first by its ids: the order of hits and edges changes nothing.

Every result has `relevance`, whatever the ranking: it is comparable between answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, log, sqrt
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.index.associations import AssociationIndex, Link
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.keywords import (
    Keyword,
    extracted,
    folded,
    never,
    never_chinese,
    segmented,
    weak,
    weak_chinese,
    without_question_words,
)
from engramlog_server.projections.language.patterns import begins_with_han, holds_han, regex
from engramlog_server.projections.language.synonyms import Expansion, Pair, expand, with_synonyms, word_key
from engramlog_server.projections.language.text import kept_tokens, stem, tokens
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags, Visibility
from engramlog_server.projections.memory.columns import Columns, KnownTriple, ReachedMemory, Rows
from engramlog_server.projections.memory.record import DAY, LEVELS
from engramlog_server.projections.ranking.search_request import Filter, SearchRequest
from engramlog_server.projections.shapes import Associated, KeywordMatched, Step
from engramlog_server.projections.views.query import ViewQuery, card, told_beside
from engramlog_server.projections.views.quoting import PLAIN_WEIGHING
from engramlog_server.projections.views.view import OwnerView


class Ranked(NamedTuple):
    """Results before they are cut, aligned."""

    rows: Rows
    scores: Floats
    parts: Mapping[str, Floats]
    """What adds up to the scores, by name."""
    ways: Mapping[int, Activated]
    """How activation came there, by row."""

    def only(self, kept: Rows | Flags) -> Ranked:
        """The results at these places."""
        return Ranked(
            self.rows[kept], self.scores[kept], {name: part[kept] for name, part in self.parts.items()}, self.ways
        )


def added(parts: Mapping[str, Floats], size: int) -> Floats:
    """The sum of the parts, shape (size,)."""
    total = np.zeros(size)
    for part in parts.values():
        total += part
    return total


def best(scores: Floats, rows: Rows, limit: int) -> Rows:
    """Places of the `limit` highest scores, best first; of equal ones the newer row first."""
    if scores.size > limit:
        least = np.partition(scores, scores.size - limit)[scores.size - limit]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(scores.size)
    return places[np.lexsort((-rows[places], -scores[places]))][:limit]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question was taken apart."""

    way: str = "whole"
    """`whole`, `several`, `compared`, `named`: said with a name for a role, or a role for a name."""
    parts: tuple[str, ...] = ()
    many: bool = False
    """Whether several things answer it together."""
    ordered: bool = False
    """Whether they are asked for in the order of time."""
    expansions: tuple[str, ...] = ()
    """How else a language model puts it."""
    brought: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Row -> what brought it in, by number from 0 of `asked`."""

    @property
    def asked(self) -> tuple[str, ...]:
        """What was asked next to the whole question."""
        return (*self.parts, *self.expansions)


EXACT = 1.0
"""What a keyword counts that a memory has."""
MOST_ASKED = 8
"""Keywords of a question that count."""
MOST_BEGUN = 100
"""Terms looked for that a keyword of the question begins."""
LEAST_PREFIX, LEAST_HAN_PREFIX = 3, 2
_LONGEST_PHRASE = 3
_WORD = regex(r"[^\s,;:!?()\[\]{}\"'<>/|]+")
_How = Literal["exact", "prefix", "synonym"]


class _Hit(NamedTuple):
    """What one keyword of a memory is to one keyword of the question."""

    asked: int
    score: float
    how: _How
    similarity: float | None


class KeywordMatch:
    """How rows match a question by keywords; which keyword it was is worked out for those that are asked about."""

    def __init__(self, view: OwnerView, query: str, rows: Rows) -> None:
        self._view = view
        self._rows = rows
        self._by_word: dict[str, tuple[_Hit, ...]] = {}
        self.expansion: Expansion = expanded(view, query)
        """The question's keywords, their synonyms, and what is related to these."""
        self._asked = [folded(word) for word in self.expansion.original]
        self._exact, self._alike = self._keys()
        self.values: Floats = self._scored()
        """k, from 0 to 1, shape (len(rows),)."""

    def matched(self, place: int) -> list[KeywordMatched]:
        """For the row at a place: each matched keyword of the question, by which keyword, how, and what it adds to k."""
        found: list[KeywordMatched] = []
        for asked, (value, hit, keyword) in sorted(self._best(int(self._rows[place])).items()):
            told: KeywordMatched = {
                "asked": self.expansion.original[asked],
                "keyword": keyword.word,
                "weight": keyword.weight,
                "source": keyword.source,
                "match": hit.how,
                "adds": round(value / len(self._asked), 6),
            }
            if hit.similarity is not None:
                told["similarity"] = hit.similarity
            found.append(told)
        return found

    def _keys(self) -> tuple[dict[str, list[int]], dict[str, list[tuple[int, float]]]]:
        exact: dict[str, list[int]] = {}
        alike: dict[str, list[tuple[int, float]]] = {}
        for asked, word in enumerate(self.expansion.original):
            exact.setdefault(word_key(word), []).append(asked)
            for synonym, similarity in self.expansion.synonyms.get(word, {}).items():
                alike.setdefault(word_key(synonym), []).append((asked, similarity))
        return exact, alike

    def _scored(self) -> Floats:
        values = np.zeros(self._rows.size)
        if self._asked:
            for place, row in enumerate(self._rows.tolist()):
                values[place] = sum(value for value, _, _ in self._best(row).values())
            values /= len(self._asked)
        return values

    def _best(self, row: int) -> dict[int, tuple[float, _Hit, Keyword]]:
        """The best match of each keyword of the question, as far as any matches."""
        found: dict[int, tuple[float, _Hit, Keyword]] = {}
        for keyword in self._view.keywords(row):
            hits = self._by_word.get(keyword.word)
            if hits is None:
                hits = self._by_word[keyword.word] = self._hits(keyword.word)
            for hit in hits:
                value = hit.score * keyword.weight
                if value > 0 and (hit.asked not in found or value > found[hit.asked][0]):
                    found[hit.asked] = value, hit, keyword
        return found

    def _hits(self, word: str) -> tuple[_Hit, ...]:
        parameters, key = self._view.parameters, word_key(word)
        hits = [_Hit(asked, EXACT, "exact", None) for asked in self._exact.get(key, ())]
        hits += [
            _Hit(asked, parameters.search_prefix, "prefix", None)
            for asked, one in enumerate(self._asked)
            if one != word and _begins(one, word)
        ]
        hits += [
            _Hit(asked, parameters.search_synonym * similarity, "synonym", similarity)
            for asked, similarity in self._alike.get(key, ())
        ]
        return tuple(hits)


def keyword_match(view: OwnerView, query: str, rows: Rows) -> KeywordMatch:
    """How these rows match a question by keywords: `values` is k, `expansion` what was looked for, `matched` tells why."""
    return KeywordMatch(view, query, rows)


def asked_keywords(query: str, pairs: tuple[Pair, ...] = ()) -> tuple[str, ...]:
    """The keywords of a question, at most 8: phrases that have synonyms, what extraction finds, and known short words."""
    phrases, singles = _known_words(query, pairs)
    covered = {word for phrase in phrases for word in word_key(phrase).split()}
    found = [one.word for one in extracted(query, MOST_ASKED) if word_key(one.word) not in covered]
    found = [one for one in found if not any(begins_with_han(one) and one in phrase for phrase in phrases)]
    keys = {word_key(one) for one in found} | covered
    found += [single for single in singles if word_key(single) not in keys]
    return tuple(dict.fromkeys([*phrases, *found]))[:MOST_ASKED]


def expanded(view: OwnerView, query: str) -> Expansion:
    """A question's keywords with their synonyms under the owner's own and the known ones."""
    return _expanded(query, view.synonyms)


@lru_cache(maxsize=256)
def _expanded(query: str, pairs: tuple[Pair, ...]) -> Expansion:
    return expand(asked_keywords(query, pairs), pairs)


def expanded_terms(view: OwnerView, query: str) -> dict[str, float]:
    """Terms of the text index that stand for synonyms of a question's keywords, with their similarity.

    Each term of a phrase counts for its share. Of a Chinese word only pairs of characters count, if it has any. A synonym that is
    rarer than the asked word counts no more than the asked word.
    """
    own = set(tokens(query))
    found: dict[str, float] = {}
    for asked, alike in expanded(view, query).synonyms.items():
        most = max(map(view.idf, _terms_of(asked)), default=inf)
        for synonym, similarity in alike.items():
            terms = _terms_of(synonym)
            for term in set(terms) - own:
                share = similarity / len(terms) * min(1.0, most / view.idf(term))
                found[term] = max(found.get(term, 0.0), share)
    return found


def _terms_of(word: str) -> list[str]:
    """The terms of the text index that a keyword stands for."""
    terms = kept_tokens(word)
    return ([term for term in terms if len(term) > 1] or terms) if begins_with_han(word) else terms


def reached_rows(view: OwnerView, query: str, most: int, admitted: Callable[[Rows], Rows] = lambda rows: rows) -> Rows:
    """Rows that hold a synonym of the question's keywords or a word that begins one of them; of the admitted the best."""
    terms = set(expanded_terms(view, query))
    for word in expanded(view, query).original:
        if word.isascii():
            terms.update(word[:end] for end in range(LEAST_PREFIX, min(len(word), 20)))
            if len(word) >= LEAST_PREFIX:
                terms.update(view.terms_beginning(stem(word), MOST_BEGUN))
    matches = view.matches_of(dict.fromkeys(sorted(terms), 1), PLAIN_WEIGHING)
    scores = np.zeros(len(view.columns))
    scores[matches.rows] = matches.scores
    rows = admitted(matches.rows)
    return rows[best(scores[rows], rows, most)]


def _begins(one: str, other: str) -> bool:
    """Whether the shorter begins the longer, or a word in it."""
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) < (LEAST_HAN_PREFIX if begins_with_han(short) else LEAST_PREFIX):
        return False
    at = 0 if long.startswith(short) else long.find(f" {short}") + 1
    if at == 0 and not long.startswith(short):
        return False
    return not (short[-1].isdecimal() and long[at + len(short) : at + len(short) + 1].isdecimal())


def _known_words(query: str, pairs: tuple[Pair, ...]) -> tuple[list[str], list[str]]:
    """Phrases of two and three words, and single words, of which synonyms are known."""
    words = _words(query)
    runs = {
        _joined(words[at : at + size]): size
        for size in range(_LONGEST_PHRASE, 0, -1)
        for at in range(len(words) - size + 1)
    }
    keys = {run: word_key(run) for run in runs}
    known = with_synonyms(keys.values(), pairs)
    phrases: list[str] = []
    for run, size in runs.items():
        if size > 1 and keys[run] in known and not any(run in longer for longer in phrases):
            phrases.append(run)
    singles = [run for run, size in runs.items() if size == 1 and keys[run] in known and not _is_common(run)]
    return phrases, singles


def _words(query: str) -> list[str]:
    text = _folded_text(query)
    found = segmented(text) if holds_han(text) else text.split()
    return [word for one in found for word in _WORD.findall(one.rstrip(".…。，、！？"))]


def _folded_text(text: str) -> str:
    """A question of any length, folded as words are."""
    return " ".join(folded(word) for word in text.split())


def _joined(words: list[str]) -> str:
    """Words as they are written side by side: Han without a space."""
    told = words[0]
    for word in words[1:]:
        told += word if begins_with_han(word) and begins_with_han(told[-1]) else f" {word}"
    return told


def _is_common(word: str) -> bool:
    return word in never() or word in never_chinese() or word in weak_chinese() or word_key(word) in weak()


MOST_SEEDS = 5
KEYWORD_SHARE, ACTIVATION_SHARE = 0.6, 0.4
_Number = TypeVar("_Number", float, Floats)


class Activated(NamedTuple):
    """A memory reached from a seed: activation in (0, 1], over `depth` edges.

    `path` has the rows from the seed to the memory, both included; `links` the edges followed, one fewer.
    """

    row: int
    activation: float
    depth: int
    path: tuple[int, ...]
    links: tuple[Link, ...]


def spread(
    seeds: Sequence[tuple[int, float]],
    index: AssociationIndex,
    parameters: Parameters,
    limit: int = 5,
    admits: Callable[[int], bool] = lambda _row: True,
) -> list[Activated]:
    """The `limit` most activated memories, strongest first, then the shallower, then by the ids along the path.

    `seeds` are (row, relevance) of direct hits, which are never returned; the 5 most relevant spread, with activation =
    relevance / best relevance. One of relevance 0 or less, or that is no member of the index, does not spread.
    `admits` tells which rows may be reached at all, e.g. those of the mode: nothing spreads through another.
    """
    reached = {row for row, _ in seeds}
    frontier = _seeded(seeds, index)
    found: list[Activated] = []
    for _ in range(parameters.spread_depth):
        frontier = _step(frontier, reached, index, parameters, admits)
        reached.update(one.row for one in frontier)
        found += frontier
    return sorted(found, key=lambda one: _order(one, index))[:limit]


def associative_score(keyword: _Number, activation: _Number, strength: _Number) -> _Number:
    """(0.6 keyword + 0.4 activation) * strength / 100: both in [0, 1], strength 0 to 100 (seed 004, section 11.2)."""
    return (KEYWORD_SHARE * keyword + ACTIVATION_SHARE * activation) * strength / 100


def _seeded(seeds: Sequence[tuple[int, float]], index: AssociationIndex) -> list[Activated]:
    relevances: dict[int, float] = {}
    for row, relevance in seeds:
        if row in index and relevance > relevances.get(row, 0.0):
            relevances[row] = relevance
    best = sorted(relevances, key=lambda row: (-relevances[row], index.id_of(row)))[:MOST_SEEDS]
    return [Activated(row, relevances[row] / relevances[best[0]], 0, (row,), ()) for row in best]


def _step(
    frontier: list[Activated],
    reached: set[int],
    index: AssociationIndex,
    parameters: Parameters,
    admits: Callable[[int], bool],
) -> list[Activated]:
    """What the frontier activates that is not reached yet: each memory once, by its strongest path."""
    best: dict[int, Activated] = {}
    for one in frontier:
        passed_on = one.activation * parameters.spread_decay
        if passed_on < parameters.spread_least:
            continue
        # A little under what is needed, as a quotient may be rounded up: the exact test is below.
        enough = parameters.spread_least / passed_on - 1e-9
        for link in index.neighbours(one.row, parameters, enough):
            row, activation = link.to_row, one.activation * link.weight * parameters.spread_decay
            if activation < parameters.spread_least:
                break
            if row in reached or not admits(row):
                continue
            new = Activated(row, activation, one.depth + 1, (*one.path, row), (*one.links, link))
            known = best.get(row)
            if known is None or _order(new, index) < _order(known, index):
                best[row] = new
    return list(best.values())


def _order(one: Activated, index: AssociationIndex) -> tuple[float, int, list[str]]:
    return -one.activation, one.depth, [index.id_of(row) for row in one.path]


MOST_ACTIVATED = 50
"""How many memories beside the direct hits are considered."""
MOST_ASSOCIATED = 5


def brought_to_mind(
    asked: ViewQuery,
    query: str,
    seeds: Sequence[tuple[int, float]],
    shown: set[int],
    seen: Visibility,
    admits: Callable[[int], bool],
) -> list[Associated]:
    """What the best hits bring to mind and the results do not show: over associations, then over triples.

    `admits`: whether a row may be reached.
    """
    view, now, _ = asked
    over_edges = spread(seeds, view.associations, view.parameters, MOST_ACTIVATED, admits)
    over_triples = view.graph.walk(
        query,
        view.columns,
        view.parameters.spread_depth,
        MOST_ACTIVATED,
        hop=view.parameters.spread_decay,
        admits=_backed(view, seen),
    )
    told: dict[int, tuple[float, list[Step]]] = {}
    for way in over_edges:
        told[way.row] = (way.activation, path_told(view.columns, way))
    for reached in over_triples:
        if admits(reached.row) and reached.activation > told.get(reached.row, (0.0, []))[0]:
            told[reached.row] = (reached.activation, _triples_told(reached))
    rows = sorted((row for row in told if row not in shown), key=lambda row: (-told[row][0], -row))
    answer: list[Associated] = []
    for row in rows[:MOST_ASSOCIATED]:
        memory = view.columns.memories[row]
        reading = view.law.read(memory, now, view.parameters)
        answer.append(
            {
                **card(memory, LEVELS[int(seen.levels[row])]),
                **told_beside(view, memory),
                "activation": round(told[row][0], 6),
                "weight": round(reading.weight, 6),
                "path": told[row][1],
            }
        )
    return answer


def admits_shown(seen: Visibility) -> Callable[[int], bool]:
    """Whether a row may be reached: only what the mode shows."""
    return lambda row: bool(seen.shown[row])


def _backed(view: OwnerView, seen: Visibility) -> Callable[[KnownTriple], bool]:
    """Whether a shown memory backs a triple, itself or as a source of it: what only hidden ones say is not walked."""

    def admits(triple: KnownTriple) -> bool:
        heirs = (_heir(view.columns, memory_id) for memory_id in triple.backing)
        return any(row is not None and bool(seen.shown[row]) for row in heirs)

    return admits


def _heir(columns: Columns, memory_id: str) -> int | None:
    """The row of a memory, or of what it was merged into."""
    row = columns.row(memory_id)
    while row is not None and (into := columns.memories[row].merged_into) is not None:
        row = columns.row(into)
    return row


def path_told(columns: Columns, way: Activated) -> list[Step]:
    """The way of an activation, edge by edge."""
    return [
        {
            "from": columns.memories[start].id,
            "to": columns.memories[link.to_row].id,
            "link": link.link,
            "weight": round(link.weight, 6),
        }
        for start, link in zip(way.path, way.links, strict=False)
    ]


def _triples_told(reached: ReachedMemory) -> list[Step]:
    return [
        {"from": triple.subject, "to": triple.object, "link": triple.predicate, "negation": triple.negation}
        for triple in reached.path
    ]


WEIGHT_SHARE = 0.05
"""The most that a memory's weight adds to its score: decay orders near-ties and does not bury a right answer."""
MOST_PUBLISHED = 500
"""Memories for which the published score is computed, of each of: best text, keywords, nearest meaning."""


class Direct(NamedTuple):
    """Direct hits that the mode and the filters let through, aligned."""

    rows: Rows
    text: Floats
    """BM25 as b / (b + 8)."""


def direct_hits(view: OwnerView, matches: Scores, shown: Flags, allowed: Filter) -> Direct:
    """What of the matches may be a result."""
    kept = shown[matches.rows]
    kept[kept] = allowed.passing(matches.rows[kept])
    return Direct(matches.rows[kept], text_score(view, matches.scores[kept]))


def text_score(view: OwnerView, bm25: Floats) -> Floats:
    """BM25 as b / (b + 8), 0 to 1: comparable between answers (memory.md, section 11)."""
    return bm25 / (bm25 + view.parameters.search_text_half)


def seeds_of(found: Direct) -> list[tuple[int, float]]:
    """The best direct hits with their relevance; of equal ones the newer."""
    order = best(found.text, found.rows, MOST_SEEDS)
    return [(int(found.rows[at]), float(found.text[at])) for at in order]


def by_text(found: Direct, seen: Visibility) -> Ranked:
    """Text, and a little of the weight."""
    standing = np.maximum(seen.weights[found.rows], 0.0)
    bonus = np.round(WEIGHT_SHARE * standing / (1.0 + standing), 6)
    return Ranked(found.rows, found.text + bonus, {"text": found.text, "weight": bonus}, {})


def cosines(sense: Sense | None, rows: Rows) -> Floats:
    """Cosine of the question's and the rows' whole vectors, without what all of the model's share, and not below 0.

    0 where a row has none; shape (len(rows),).
    """
    if sense is None:
        return np.zeros(rows.size)
    there, near = sense.known[rows], np.zeros(rows.size)
    near[there] = np.clip(sense.cosines(rows[there]), 0.0, 1.0)
    return near


class Relevance(NamedTuple):
    """Section 11's relevance of some rows, by its parts, and how their keywords matched."""

    parts: dict[str, Floats]
    keywords: KeywordMatch
    matched: Matched

    @property
    def whole(self) -> Floats:
        """0 to 1."""
        return added(self.parts, self.matched.text.size)


def relevance_of(
    asked: ViewQuery, query: str, rows: Rows, bm25: Floats, request: SearchRequest, sense: Sense | None
) -> Relevance:
    """The published relevance of rows with these BM25 scores, in the search mode that is asked for."""
    view = asked.view
    keywords = keyword_match(view, query, rows)
    matched = Matched(keywords.values, text_score(view, bm25), cosines(sense, rows))
    time = youth(view.columns, rows, asked.now, view.parameters)
    return Relevance(relevance_parts(matched, time, request.search_mode, view.parameters), keywords, matched)


def by_published(
    asked: ViewQuery,
    query: str,
    matches: Scores,
    seen: Visibility,
    allowed: Filter,
    request: SearchRequest,
    sense: Sense | None,
) -> Ranked:
    """Seed 001's score of what matches by text, keyword (prefixes and synonyms too) or meaning."""
    view = asked.view
    bm25 = np.zeros(len(view.columns))
    bm25[matches.rows] = matches.scores
    rows = _reached(view, query, matches, seen, allowed, sense)
    relevance = relevance_of(asked, query, rows, bm25[rows], request, sense)
    kept = hit(relevance.matched)
    parts = score_parts(view.columns, rows, relevance.parts, asked.now, view.parameters)
    # Rounded before they are added, so that what is told adds up to the score that is told.
    parts = {name: np.round(part[kept], 6) for name, part in parts.items()}
    parts = {name: part for name, part in parts.items() if part.any()}
    return Ranked(rows[kept], added(parts, int(kept.sum())), parts, {})


def _reached(
    view: OwnerView, query: str, matches: Scores, seen: Visibility, allowed: Filter, sense: Sense | None
) -> Rows:
    """The rows for which the score is computed, ascending: of what may be shown the best texts, keywords, meanings."""

    def admitted(rows: Rows) -> Rows:
        shown = rows[seen.shown[rows]]
        return shown[allowed.passing(shown)]

    scores = np.zeros(len(view.columns))
    scores[matches.rows] = matches.scores
    texts = admitted(matches.rows)
    found = [texts[best(scores[texts], texts, MOST_PUBLISHED)], reached_rows(view, query, MOST_PUBLISHED, admitted)]
    if sense is not None:
        near = admitted(np.flatnonzero(sense.known))
        found.append(near[best(cosines(sense, near), near, MOST_PUBLISHED)])
    rows: Rows = np.unique(np.concatenate(found).astype(np.int64))
    return rows


def _strengths(view: OwnerView, rows: Rows, now: int) -> Floats:
    """Ebbinghaus strength of rows, 0 to 1, whatever the owner's profile."""
    return LAWS["ebbinghaus"].weights(view.columns.only(rows), now, view.parameters)


def by_overlap(asked: ViewQuery, query: str, found: Direct, near_project: str | None) -> Ranked:
    """2 overlap + 0.5 strength + 0.3 of the project asked for + 0.3 confidence (seed 004, section 6).

    Overlap is the share of the query's terms that the memory's text and keywords hold.
    """
    view, rows = asked.view, found.rows
    projects = np.array(
        [near_project is not None and view.columns.memories[int(row)].project == near_project for row in rows]
    )
    parts = {
        "overlap": 2.0 * view.coverage(query, rows),
        "strength": 0.5 * _strengths(view, rows, asked.now),
        "project": 0.3 * projects.astype(np.float64),
        "confidence": 0.3 * view.columns.confidence[rows],
    }
    return Ranked(rows, added(parts, rows.size), parts, {})


def by_activation(asked: ViewQuery, query: str, found: Direct, seen: Visibility, allowed: Filter) -> Ranked:
    """(0.6 keyword + 0.4 activation) * strength: the best hits spread, and what they reach stands among them (section 11.2).

    Activation may pass through what the filters leave out, but only what they let through is a result.
    """
    view = asked.view
    seeds = seeds_of(found)
    reached = spread(seeds, view.associations, view.parameters, MOST_ACTIVATED, admits_shown(seen))
    ways = {one.row: one for one in reached if allowed.passes(one.row)}
    direct = set(found.rows.tolist())
    rows = np.concatenate([found.rows, np.array([r for r in ways if r not in direct], dtype=np.int64)]).astype(np.int64)
    most = max((relevance for _, relevance in seeds), default=1.0)
    activation = {row: relevance / most for row, relevance in seeds} | {
        row: one.activation for row, one in ways.items()
    }
    strength, none = 100.0 * _strengths(view, rows, asked.now), np.zeros(rows.size)
    active = np.array([activation.get(int(row), 0.0) for row in rows])
    parts = {
        "keyword": associative_score(view.coverage(query, rows), none, strength),
        "activation": associative_score(none, active, strength),
    }
    return Ranked(rows, added(parts, rows.size), parts, ways)


PREFERENCE, OUTPUT = "user_preference", "command_output"
"""Kinds with a priority of their own."""
RELEVANCE_SHARE, INTERACTION_SHARE, KIND_SHARE = 0.7, 0.2, 0.1
"""What relevance, interaction and kind count in the score."""
KIND_PRIORITIES = {PREFERENCE: 1.0, OUTPUT: 0.6}
OTHER_KIND = 0.3
FULL_ACCESSES = 100
"""Accesses at which the interaction term is full."""


class Matched(NamedTuple):
    """How well rows match, aligned, each in [0, 1]."""

    keyword: Floats
    text: Floats
    cosine: Floats


def hit(matched: Matched) -> np.ndarray:
    """Which rows are results at all: k + text + cosine > 0."""
    return matched.keyword + matched.text + matched.cosine > 0


def relevance_parts(matched: Matched, time: Floats, mode: str, parameters: Parameters) -> dict[str, Floats]:
    """What adds up to the relevance in a search mode, by name: `keyword`, `text` or `meaning`, and `time`."""
    by_keyword, by_text = parameters.search_keyword_share, parameters.search_text_share
    by_time = parameters.search_time_share
    if mode == "hybrid":
        nearer = matched.cosine > matched.text
        return {
            "keyword": by_keyword * matched.keyword,
            "text": by_text * np.where(nearer, 0.0, matched.text),
            "meaning": by_text * np.where(nearer, matched.cosine, 0.0),
            "time": by_time * time,
        }
    first, share, values = (
        ("keyword", by_keyword, matched.keyword) if mode == "keyword" else ("meaning", by_text, matched.cosine)
    )
    whole = max(share + by_time, 1e-12)  # both 0: an owner's choice, under which nothing is relevant
    return {first: share * values / whole, "time": by_time * time / whole}


def youth(columns: Columns, rows: Rows, now: int, parameters: Parameters) -> Floats:
    """t: from 1 for a memory made now down to 0.5, half of the way every 30 days; one of the future counts as made now."""
    days = np.maximum(now - columns.created_at[rows], 0) / DAY
    fallen: Floats = 0.5 + 0.5 * 0.5 ** (days / parameters.search_time_days)
    return fallen


def interaction(columns: Columns, rows: Rows, now: int, parameters: Parameters) -> Floats:
    """0.5 min(ln(1 + accesses) / ln 100, 1) + 0.5 * 0.5 ** (days since the last access / 30); 0 if never accessed."""
    counts, accessed = columns.access_count[rows], columns.last_accessed_at[rows]
    often = np.minimum(np.log1p(np.maximum(counts, 0)) / log(FULL_ACCESSES), 1.0)
    days = np.maximum(now - accessed, 0) / DAY
    lately = np.where(counts > 0, 0.5 ** (np.minimum(days, 1e6) / parameters.search_time_days), 0.0)
    together: Floats = 0.5 * often + 0.5 * lately
    return together


def kind_priority(columns: Columns, rows: Rows) -> Floats:
    """user_preference before command_output before any other kind."""
    priorities = np.array([KIND_PRIORITIES.get(kind, OTHER_KIND) for kind in columns.kinds] or [0.0])
    found: Floats = priorities[columns.kind[rows]] if rows.size else np.zeros(0)
    return found


def score_parts(
    columns: Columns, rows: Rows, relevance: dict[str, Floats], now: int, parameters: Parameters
) -> dict[str, Floats]:
    """What adds up to the published score: the parts of the relevance, interaction and kind, each with its share."""
    share = RELEVANCE_SHARE
    return {name: share * part for name, part in relevance.items()} | {
        "interaction": INTERACTION_SHARE * interaction(columns, rows, now, parameters),
        "kind": KIND_SHARE * kind_priority(columns, rows),
    }


def closeness(relevance: float, coverage: float, score: float, best: float) -> float:
    """How close a search result is to the turn, 0 to 1: what the threshold is compared with.

    The greater of the published relevance (memory.md, section 11) and sqrt(coverage * score / best): how many of the turn's
    words it holds, and how near it stands to the best result. The published relevance alone hardly ever reaches 0.7 for turns
    as people say them.
    """
    standing = min(max(score / best, 0.0), 1.0) if best > 0 else 0.0
    return min(1.0, max(relevance, sqrt(min(max(coverage, 0.0), 1.0) * standing)))


def closenesses(view: OwnerView, query: str, results: Sequence[Mapping[str, Any]]) -> list[float]:
    """`closeness` of each result of a search, best first as it answered; 0 for what the view knows no more.

    What replaced something holds the words of that too: it is found in them.
    """
    rows = [_rows(view, result) for result in results]
    wanted, flat = without_question_words(query), [row for several in rows for row in several]
    known = view.coverage(wanted, np.array(flat, dtype=np.int64)) if flat and wanted.strip() else np.zeros(len(flat))
    held = iter(known.tolist())
    best = results[0]["score"] if results else 0.0
    return [
        closeness(result["relevance"], max(next(held) for _ in several), result["score"], best) if several else 0.0
        for result, several in zip(results, rows, strict=True)
    ]


def _rows(view: OwnerView, result: Mapping[str, Any]) -> list[int]:
    """The row of a result and of what it replaced; none where the view knows it no more."""
    if view.columns.row(result["id"]) is None:
        return []
    ids = (result["id"], *result.get("explain", {}).get("replaces", ()))
    return [row for row in map(view.columns.row, ids) if row is not None]
