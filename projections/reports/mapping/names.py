"""What the clusters of a map are called: the words that tell each from the others. Pure.

    worth = share of the cluster that holds the word * ln(that share / share of the other nodes that hold it) * (1/4 + rarity)

Words are keywords of the cluster's own memories, given or extracted: no function words, none of what is not on the map. What
names a cluster that came before, or stands in the topic, names another only where nothing else does. Whoever speaks, or is only
spoken to, names none, and no time, number, address or caption does. An account of what was said counts with what it tells of: a
word of one turn and of its episode is told once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log

from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.memory.deletion_view import turns_behind
from engramlog_server.projections.memory.kind import is_summary
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.reports.mapping.links import MapLinks
from engramlog_server.projections.reports.mapping.telling import is_called, names_nothing
from engramlog_server.projections.views.view import OwnerView

MOST_WORDS = 3
_BASE = 0.25
_APART = 0.2
"""A word whose share of the cluster is hardly above its share of the others (under e to this) distinguishes nothing."""


class ClusterNames:
    """Names clusters of one map, each otherwise than those before it."""

    def __init__(self, view: OwnerView, links: MapLinks, rows: Collection[int], topic: str | None) -> None:
        memories = view.columns.memories
        self._links = links
        self._said = {row: frozenset(_said(memories[row])) for row in rows}
        self._texts = {row: memories[row].content for row in rows}
        self._origins = {row: _origin(memories[row]) for row in rows}
        self._speakers = {term for row in rows for term in tokens(memories[row].speaker or "")}
        self._worn = set(tokens(topic or ""))
        """Parts of words that tell little here."""
        self._taken: set[frozenset[str]] = set()

    def words(self, cluster: Sequence[int]) -> list[str]:
        """At most three words, the most telling first; none where every name that they give is taken."""
        ranked = self._ranked(cluster)
        for begin in range(max(1, len(ranked))):
            chosen = _apart(ranked[begin:])
            if chosen and frozenset(chosen) not in self._taken:
                self._taken.add(frozenset(chosen))
                self._worn.update(term for word in chosen for term in tokens(word))
                return chosen
        return []

    def _ranked(self, cluster: Sequence[int]) -> list[str]:
        inside, words = set(cluster), dict[str, str]()
        for row in cluster:
            for key, one in self._links.keys(row).items():
                words[key] = min(words.get(key, one.word), one.word, key=lambda word: (len(word), word))
        held, alone = list[tuple[bool, float, str]](), list[tuple[bool, float, str]]()
        for key, word in words.items():
            parts = frozenset(tokens(word))
            if parts <= self._speakers or names_nothing(word):
                continue
            here = {row for row in cluster if key in self._links.keys(row) or (parts and parts <= self._said[row])}
            if 2 * sum(is_called(word, self._texts[row]) for row in here) >= len(here):
                continue
            others = sum(1 for row, said in self._said.items() if row not in inside and parts and parts <= said)
            apart = log(len(here) / len(cluster) / ((0.5 + others) / (1 + len(self._said) - len(cluster))))
            if others and apart <= _APART:
                continue
            worth = len(here) / len(cluster) * apart * (_BASE + self._links.rarity(key, word))
            told = {self._origins[row] for row in here} - {None}
            (held if len(told) > 1 else alone).append((parts <= self._worn, -worth, word))
        found = [word for worn, _, word in sorted(held) if not worn] or [word for *_, word in sorted(held)]
        return found or [word for *_, word in sorted(alone)]


def _origin(memory: Memory) -> str | None:
    """The first turn that states a memory, or its id; None of an account of several, which tells nothing new."""
    if is_summary(memory):
        return None
    return next(iter(turns_behind(memory)), memory.id)


def _said(memory: Memory) -> list[str]:
    return tokens("\n".join((memory.content, memory.summary or "", *memory.keywords)))


def _apart(ranked: Sequence[str]) -> list[str]:
    """The first words that say nothing that one before them says."""
    chosen, parts = list[str](), list[frozenset[str]]()
    for word in ranked:
        own = frozenset(tokens(word))
        if any(own <= one or one <= own for one in parts):
            continue
        chosen.append(word)
        parts.append(own)
        if len(chosen) == MOST_WORDS:
            break
    return chosen
