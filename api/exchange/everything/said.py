"""What an owner's log holds beside memories, a line each: what was said, what tools found, was asked, and put into prompts.

The event stands in a line as it was sent, so that an import can say it again. Words that may not be told any more stand as marks.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import orjson

from api.exchange.record_fields import Data
from api.exchange.record_shapes import FORMAT, PART
from events.envelope import Stored, decode
from events.errors import UndecodableEvent
from events.partitions import position_text
from projections.views.event_words import OwnerToday, words_of
from projections.views.telling import telling

TURN, TOOL, CONTEXT, QUESTION, SHOWN = "turn", "tool_result", "context", "question", "shown"
SAID: Final = (TURN, TOOL)
"""Parts that an import says again."""
_OF_KIND: Final = {"TurnRecorded.": TURN, "ToolResultRecorded.": TOOL, "MemoriesAccessed.": SHOWN}


def said_lines(stored: Iterable[Stored], partition: int, today: OwnerToday) -> Iterator[Data]:
    """A line for each of these events, in their order, that is no change of a memory.

    `withheld` says why words of it are not told: one of `event_words.WHY`.
    """
    for one in stored:
        kind = next((part for name, part in _OF_KIND.items() if one.kind.startswith(name)), None)
        if kind is None:
            continue
        line: Data = {"engramlog": FORMAT, PART: kind, "position": position_text(partition, one.seq)}
        try:
            words = words_of(one, decode(one.kind, one.body), today)
        except UndecodableEvent:
            yield line | {"unreadable": True}
            continue
        told = telling(one)
        beside = {"recorded_at": told.recorded_at, "principal": told.principal, "late_by": told.late_by}
        line |= {PART: _shown(words.data) if kind == SHOWN else kind, "withheld": words.withheld} | beside
        event = orjson.loads(one.body) | {"data": words.data}
        yield {name: value for name, value in line.items() if value is not None} | {"event": event}


def _shown(data: Data) -> str:
    """Which part what was shown is."""
    if data["via"] == "injection":
        return CONTEXT
    return QUESTION if any(one.get("query") for one in (data, *data.get("accesses", ()))) else SHOWN
