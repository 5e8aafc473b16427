"""Plain BM25 over the turns of a set: what a ranking has to be better than."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from math import log

from benchmarks.dataset import Conversation, Dataset, Question

K1, B = 1.2, 0.75
_RUNS = re.compile(r"[㐀-鿿]+|[^\W㐀-鿿]+")


def bm25(data: Dataset) -> Callable[[Question], list[str]]:
    """A ranking of the turns of a question's conversation: Okapi BM25, lower-case words, pairs of Chinese characters."""
    indexes = {name: _Index(one) for name, one in data.conversations.items()}
    return lambda question: indexes[question.conversation].ranked(question.text)


def terms(text: str) -> list[str]:
    """Words, and pairs of neighbouring Chinese characters."""
    found: list[str] = []
    for run in _RUNS.findall(text.lower()):
        pairs = [run[at : at + 2] for at in range(len(run) - 1)] if "㐀" <= run[0] <= "鿿" else []
        found += pairs or [run]
    return found


class _Index:
    """Weights of terms in the turns of one conversation; the name of a speaker is part of a turn."""

    def __init__(self, conversation: Conversation) -> None:
        memories = list(conversation.view.columns)
        counts = [Counter(terms(f"{one.speaker or ''} {one.content}")) for one in memories]
        self._ids = [one.id for one in memories]
        mean = sum(count.total() for count in counts) / max(1, len(counts))
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for at, count in enumerate(counts):
            room = K1 * (1 - B + B * count.total() / mean) if mean else K1
            for term, times in count.items():
                postings[term].append((at, times * (K1 + 1) / (times + room)))
        self._postings = {
            term: (log(1 + (len(counts) - len(found) + 0.5) / (len(found) + 0.5)), found)
            for term, found in postings.items()
        }

    def ranked(self, text: str) -> list[str]:
        """Ids of turns that share a term with a text, best first."""
        scores: dict[int, float] = defaultdict(float)
        for term in terms(text):
            rarity, found = self._postings.get(term, (0.0, []))
            for at, weight in found:
                scores[at] += rarity * weight
        return [self._ids[at] for at in sorted(scores, key=lambda at: (-scores[at], at))]
