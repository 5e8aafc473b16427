"""What a merge says, made of what its sources say, without a model. Pure; the same whenever it is run.

The newest source is right where they differ. What an older one says beside it is kept only if it is new and cannot contradict:
texts that differ in a number, a name or a denial are never joined, nor two that say something different of one thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.polarity import difference, opposite, polarity, wording
from engramlog_server.projections.language.prompt_text import is_chinese
from engramlog_server.projections.language.sensitivity.text_level import detect_sensitivity
from engramlog_server.projections.language.sentences import LEAST_WORDS, joined, sentences, words
from engramlog_server.projections.language.similar import similarity
from engramlog_server.projections.memory.record import Memory

MOST_ADDED = 3
"""Sentences that older sources add at most."""
MOST_CHARACTERS = 600
"""Beyond so many nothing is added."""
ON_ONE_THING = 0.5
"""Similarity from which two sentences speak of one thing (`related_similarity`)."""
_APART = ("different numbers", "different names")


def merged_text(sources: Iterable[Memory]) -> str:
    """What these memories say together: the newest, the fuller one that only adds to it, and what others add to that.

    Never longer than its longest source where one of them says it all. Raises ValueError where there is none.
    """
    ordered = sorted(sources, key=lambda one: (-one.last_activated_at, -one.created_seq, one.id))
    return text_of([one.content for one in ordered])


def text_of(texts: Sequence[str]) -> str:
    """The same of texts, the newest first."""
    if not texts:
        raise ValueError("a merge has sources")
    newest, *older = texts
    kept = max((newest, *filter(lambda one: _fuller(one, newest), older)), key=lambda one: len(set(wording(one))))
    added = 0
    for sentence in (one for text in older for one in sentences(text)):
        told = joined([_ended(kept), sentence])
        if added < MOST_ADDED and len(told) <= MOST_CHARACTERS and _adds(sentence, kept) and _as_harmless(told, texts):
            kept, added = told, added + 1
    return kept


def _fuller(text: str, newest: str) -> bool:
    """Whether a text says all that the newest says, and only adds to it."""
    return set(wording(newest)) < set(wording(text)) and not contradicts(text, newest)


def _adds(sentence: str, kept: str) -> bool:
    """Whether a sentence says something that is not said, and cannot contradict any of it."""
    new = words(sentence) - words(kept)
    if len(words(sentence)) < LEAST_WORDS or not new:
        return False
    for one in sentences(kept):
        numbers_or_names = (difference(sentence, one) or "").startswith(_APART)
        if numbers_or_names or similarity(sentence, one) >= ON_ONE_THING or contradicts(sentence, one):
            return False
    return True


def contradicts(one: str, other: str) -> bool:
    """Whether two texts deny, or may contradict, each other."""
    return (
        polarity(one) != polarity(other)
        or opposite(one, other)
        or compare(one, other, rewritten=True).kind == "contradicts"
    )


def _as_harmless(told: str, texts: Sequence[str]) -> bool:
    """Whether sentences together are no more sensitive than each was."""
    return detect_sensitivity(told) <= max(map(detect_sensitivity, texts))


def _ended(text: str) -> str:
    """The text as a sentence that another may follow."""
    bare = text.rstrip()
    if bare[-1:] in ".!?。！？…”\"’')）]；;":
        return bare
    return bare + ("。" if is_chinese(bare) else ".")
