"""How sensitive a memory is: what rules find in its words, what its producer said on top, and what a person set by hand.

A producer's figure can only raise. The one way down is `SensitivitySet`: it holds for the words that the memory has then, so what
is found in them again, or in texts made of them, does not raise it once more; other words are looked at anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from events.catalogue import SensitivitySet
from events.envelope import Event
from projections.extractive import sentences
from projections.memory import Memory
from projections.scene import Scene
from projections.sensitivity import detect_sensitivity


def set_by_hand(scene: Scene, data: SensitivitySet, _event: Event[Any]) -> None:
    """A person says how sensitive it is, up or down. The change log tells from what to what, the event why."""
    memory = scene.live(data.memory_id)
    if memory is None:
        return
    reason = f"sensitivity {data.level}, set by hand (it was {memory.sensitivity})"
    at = scene.at if memory.sensitivity_set_at is None else max(scene.at, memory.sensitivity_set_at)
    scene.change(memory, "sensitivity", reason, sensitivity=data.level, sensitivity_set_at=at)


def sensitivity_of(content: str, *others: str | None) -> int:
    """0 to 3, by rules over everything a producer wrote: a key in a keyword is as secret as one in the content."""
    found = detect_sensitivity(content)
    for other in others:
        if other:
            found = max(found, _of_name(other))
    return found


_of_name = lru_cache(maxsize=4096)(detect_sensitivity)
"""The same speakers, projects and keywords come again and again."""


def risen_by(memory: Memory, texts: Iterable[str | None]) -> int:
    """The memory's level once it says these texts too. Of words that somebody has judged by hand nothing is judged again."""
    new = [text for text in texts if text and not judged(memory, text)]
    return max(memory.sensitivity, sensitivity_of(*new)) if new else memory.sensitivity


def risen_by_merge(summary: str, sources: Iterable[Memory]) -> tuple[int, int | None]:
    """Level of a merge, as high as its highest source, and when somebody judged its very words by hand, if so."""
    merged = list(sources)
    found = min(risen_by(one, (summary,)) for one in merged)
    set_at = max((one.sensitivity_set_at or 0 for one in merged if one.content == summary), default=0)
    return max(found, *(one.sensitivity for one in merged)), set_at or None


def judged(memory: Memory, text: str) -> bool:
    """Whether somebody judged the memory by hand, and it says all of this text already, sentence by sentence."""
    if memory.sensitivity_set_at is None:
        return False
    said = (memory.content, memory.summary or "", *memory.keywords, *memory.tags)
    return all(any(part in one for one in said) for part in (one.strip() for one in sentences(text)) if part)
