"""How the keywords of a question match the keywords of memories (memory.md, section 11). Pure.

    k(memory) = mean over the question's keywords of the best match * the memory's keyword's weight
    match     = 1.0 exact, 0.8 prefix, 0.7 * similarity for a synonym: search_prefix and search_synonym are parameters

Exact is up to case, width and English ending. A prefix begins the other keyword or a word in it, has 3 letters or more (2 Han
characters), and does not break a number: v2.3.1 does not begin v2.3.10.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf
from typing import Literal, NamedTuple

import numpy as np

from engramlog_server.projections.language.keywords import (
    Keyword,
    extracted,
    folded,
    never,
    never_chinese,
    segmented,
    weak,
    weak_chinese,
)
from engramlog_server.projections.language.patterns import begins_with_han, holds_han, regex
from engramlog_server.projections.language.synonyms import Expansion, Pair, expand, with_synonyms, word_key
from engramlog_server.projections.language.text import kept_tokens, stem, tokens
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.ranked import best
from engramlog_server.projections.shapes import KeywordMatched
from engramlog_server.projections.views.quoting import PLAIN_WEIGHING
from engramlog_server.projections.views.view import OwnerView

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
