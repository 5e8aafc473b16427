"""Keywords of a memory: those it was given, then those its own text tells. Pure, without model or corpus (memory.md, section 11).

Derived when read, never folded: a better word list or segmenter reaches old memories without a rebuild.
"""

from __future__ import annotations

from collections.abc import Iterable

from engramlog_server.projections.language.keywords import (
    LEAST_WEIGHT,
    MOST_KEYWORDS,
    Keyword,
    Source,
    extracted,
    folded,
)
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.memory.tags import TAGS

_STEP = 0.05
"""What each given keyword weighs less than the one before it."""


def keywords_of(memory: Memory) -> tuple[Keyword, ...]:
    """At most five: the given ones in their order, then tags, then the best of its text. None of a secret or purged memory."""
    if memory.sensitivity >= SECRET or memory.purged_at is not None:
        return ()
    found = _given(memory) if memory.keywords or memory.tags else []
    if len(found) < MOST_KEYWORDS:
        text = memory.content if memory.summary is None else f"{memory.summary}\n{memory.content}"
        own = extracted(text)
        if found:
            known = {one.word for one in found}
            own = [one for one in own if one.word not in known][: MOST_KEYWORDS - len(found)]
        found += own
    return tuple(found)


def _given(memory: Memory) -> list[Keyword]:
    given: Source = "user_tag" if memory.source == "user" else "llm"
    told: dict[str, Source] = dict.fromkeys(_folded_all(memory.keywords), given)
    for tag in _folded_all(tag for tag in memory.tags if tag not in TAGS):
        told.setdefault(tag, "user_tag")
    return [
        Keyword(word, max(LEAST_WEIGHT, round(1.0 - _STEP * place, 2)), source)
        for place, (word, source) in enumerate(list(told.items())[:MOST_KEYWORDS])
    ]


def _folded_all(words: Iterable[str]) -> list[str]:
    return [word for word in map(folded, words) if word]
