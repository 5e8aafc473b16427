"""How sensitive a memory is: what rules found in its words, what its producer said on top, and what a person set by hand.

The rules were asked when an event was appended, and its entry tells what they found; where it does not, they are asked here.
A producer's figure can only raise. The one way down is `SensitivitySet`: it holds for the words that the memory has then, so what
is found in them again, or in texts made of them, does not raise it once more; other words are looked at anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engramlog_server.events.catalogue import SensitivityRaised, SensitivitySet
from engramlog_server.events.envelope import Event
from engramlog_server.projections.fold.working_set import PURGED, UNKNOWN, WorkingSet
from engramlog_server.projections.language.sensitivity.event_level import highest
from engramlog_server.projections.language.sentences import sentences
from engramlog_server.projections.memory.record import Memory


def set_by_hand(working: WorkingSet, data: SensitivitySet, _event: Event[Any]) -> None:
    """A person says how sensitive it is, up or down. The change log tells from what to what, the event why."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    reason = f"sensitivity {data.level}, set by hand (it was {memory.sensitivity})"
    at = working.at if memory.sensitivity_set_at is None else max(working.at, memory.sensitivity_set_at)
    working.change(memory, "sensitivity", reason, sensitivity=data.level, sensitivity_set_at=at)


def raise_by_rules(working: WorkingSet, data: SensitivityRaised, _event: Event[Any]) -> None:
    """Newer rules find more in its words. Also of what is deleted or merged away: it is readable, and may come back."""
    memory = working.get(data.memory_id)
    if memory is None or memory.purged_at is not None:
        working.ignore(data.memory_id, UNKNOWN if memory is None else PURGED)
    elif data.level <= memory.sensitivity:
        working.ignore(memory.id, f"as sensitive already: {memory.sensitivity}")
    else:
        reason = f"sensitivity {data.level}, found by rules {data.rules} (it was {memory.sensitivity})"
        working.change(memory, "sensitivity", reason, sensitivity=data.level)


def risen_by(memory: Memory, texts: Iterable[str | None], level: int | None) -> int:
    """The memory's level once it says these texts too. Of words that somebody has judged by hand nothing is judged again.

    `level`: that of the event that says them, of whose texts nobody knows which one has it: one new word, and it counts. None: the
    rules are asked, of each new text alone.
    """
    new = [text for text in texts if text and not judged(memory, text)]
    if not new:
        return memory.sensitivity
    return max(memory.sensitivity, highest(new) if level is None else level)


def risen_by_merge(summary: str, sources: Iterable[Memory], level: int | None) -> tuple[int, int | None]:
    """Level of a merge, as high as its highest source, and when somebody judged its very words by hand, if so."""
    merged = list(sources)
    found = min(risen_by(one, (summary,), level) for one in merged)
    set_at = max((one.sensitivity_set_at or 0 for one in merged if one.content == summary), default=0)
    return max(found, *(one.sensitivity for one in merged)), set_at or None


def judged(memory: Memory, text: str) -> bool:
    """Whether somebody judged the memory by hand, and it says all of this text already, sentence by sentence."""
    if memory.sensitivity_set_at is None:
        return False
    said = (memory.content, memory.summary or "", *memory.keywords, *memory.tags)
    return all(any(part in one for one in said) for part in (one.strip() for one in sentences(text)) if part)
