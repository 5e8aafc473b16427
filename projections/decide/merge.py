"""What a merge says, made of what its sources say, without a model; and what accepting a suggestion does. Pure.

The same whenever it is run. The newest source is right where they differ. What an older one says beside it is kept only if it is
new and cannot contradict: texts that differ in a number, a name or a denial are never joined, nor two that say something different
of one thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from engramlog_server.events.catalogue import EventData, MemoriesLinked, MemoryDeleted, MemoryMentioned, MemoryMerged
from engramlog_server.events.errors import NotFound, refused
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.keywords import LEAST_WORDS, content_words, joined, sentences
from engramlog_server.projections.language.prompt_text import is_chinese
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.similar import content, difference, opposite, polarity, similarity, wording
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import LINKED, merged_id, suggested_by
from engramlog_server.projections.memory.record import SECRET, Memory

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
    new = content_words(sentence) - content_words(kept)
    if len(content_words(sentence)) < LEAST_WORDS or not new:
        return False
    said = content(sentence)
    for one in sentences(kept):
        if said is not None and said == content(one):
            return False
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


Get = Callable[[str], Memory | None]


def suggestion_of(get: Get, memory_id: str) -> Memory | None:
    """The suggestion of this id; None where it is none."""
    memory = get(memory_id)
    return memory if memory is not None and suggested_by(memory) is not None else None


def merge_suggested(get: Get, memory_id: str) -> str | None:
    """What the two would say as one; None where no merge is suggested, or one of them no longer stands."""
    suggestion = suggestion_of(get, memory_id)
    if suggestion is None or suggested_by(suggestion) != "merge":
        return None
    of = _standing(get, suggestion)
    return merged_text(of) if len(of) > 1 else None


def done_as_suggested(get: Get, memory_id: str, reason: str, summary: str | None = None) -> tuple[EventData, ...]:
    """What a person says who accepts a suggestion: it is so, that is done, and the suggestion goes; nothing where it is none.

    `summary`: what a merge says, in his words. Raises InputError of a link in words, NotFound where one of the two is gone.
    """
    suggestion = suggestion_of(get, memory_id)
    if suggestion is None:
        return ()
    of = _standing(get, suggestion)
    if len(of) < 2:
        raise NotFound(f"one of the two that {memory_id} is about no longer stands: it can be rejected")
    done: EventData
    if suggested_by(suggestion) == "merge":
        text = summary or merged_text(of)
        done = MemoryMerged(sources=suggestion.summarises, into=merged_id(suggestion.id), summary=text, reason=reason)
    elif summary is None:
        a, b = suggestion.summarises
        done = MemoriesLinked(a=a, b=b, weight=suggestion.confidence, link=LINKED)
    else:
        raise refused("content", summary, "none: a link has no words; accept or reject it")
    gone = MemoryDeleted(memory_id=suggestion.id, policy="auto_cleanup", reason=reason)
    return (MemoryMentioned(memory_id=suggestion.id), done, gone)


def _standing(get: Get, suggestion: Memory) -> list[Memory]:
    """Those of the two that stand and may be told: what became secret is in no merge's words."""
    pieces = (get(one) for one in suggestion.summarises)
    return [one for one in pieces if one is not None and state_of(one) == Columns.LIVE and one.sensitivity < SECRET]
