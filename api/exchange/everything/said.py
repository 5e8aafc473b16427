"""What an owner's log holds beside memories, a line each: what was said, what tools found, was asked, and put into prompts.

The event stands in a line as it was sent, so that an import can say it again. Words that must not be told are left out of it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import orjson

from api.exchange.record_fields import Data
from api.exchange.record_shapes import FORMAT, PART
from events.envelope import Stored
from events.partitions import position_text
from events.text.unreadable import UNREADABLE
from projections.language.sensitivity.event_level import at_most, level_now
from projections.memory.record import SECRET
from projections.memory.sources import Asides, Author, aside_of, by_of
from projections.views.event_words import without_proofs
from projections.views.telling import telling

TURN, TOOL, CONTEXT, QUESTION, SHOWN = "turn", "tool_result", "context", "question", "shown"
SAID: Final = (TURN, TOOL)
"""Parts that an import says again."""
SENSITIVE, RETRACTED, SET_ASIDE = "sensitive", "retracted", "set_aside"
_OF_KIND: Final = {"TurnRecorded.": TURN, "ToolResultRecorded.": TOOL, "MemoriesAccessed.": SHOWN}


class Withholding(NamedTuple):
    """What of an owner's words may not be told today."""

    forgotten: frozenset[str] = frozenset()
    """Turns that must not be told: of what was deleted or rejected."""
    asides: Asides = ()


def said_lines(stored: Iterable[Stored], partition: int, withholding: Withholding) -> Iterator[Data]:
    """A line for each of these events, in their order, that is no change of a memory.

    `withheld` says why words are left out: `sensitive`, `retracted` or `set_aside`.
    """
    aside_turns: set[str] = set()
    for one in stored:
        kind = next((part for name, part in _OF_KIND.items() if one.kind.startswith(name)), None)
        if kind is None:
            continue
        try:
            event = orjson.loads(one.body)
            line = _line(one, event, kind, partition, withholding, aside_turns)
        except (*UNREADABLE, KeyError, TypeError, AttributeError):
            line = {"engramlog": FORMAT, PART: kind, "position": position_text(partition, one.seq), "unreadable": True}
        yield line


def _line(
    stored: Stored,
    event: Data,
    kind: str,
    partition: int,
    withholding: Withholding,
    aside_turns: set[str],
) -> Data:
    data, told = event["data"], telling(stored)
    if kind == SHOWN:
        data = event["data"] = without_proofs(data)
        kind, withheld = _shown(data)
    else:
        withheld = _withheld(stored, event, withholding, aside_turns)
        if withheld is not None:
            data["text"] = ""
            data.pop("speaker", None)
    beside = {"recorded_at": told.recorded_at, "principal": told.principal, "late_by": told.late_by}
    line = {"engramlog": FORMAT, PART: kind, "position": position_text(partition, stored.seq), "withheld": withheld}
    return {name: value for name, value in (line | beside).items() if value is not None} | {"event": event}


def _withheld(stored: Stored, event: Data, withholding: Withholding, aside_turns: set[str]) -> str | None:
    """Why the words of a turn or a tool result may not be told."""
    data, level = event["data"], level_now(stored)
    turn = data.get("turn_id")
    words = f"{data.get('speaker') or ''} {data['text']}"
    if not at_most(SECRET - 1, words, level):
        return SENSITIVE
    if turn in withholding.forgotten:
        return RETRACTED
    if withholding.asides:
        author = Author(by_of(stored, event["actor"]), event.get("session_id"))
        if turn in aside_turns or aside_of(withholding.asides, author) is not None:
            if turn is not None:
                aside_turns.add(turn)
            return SET_ASIDE
    return None


def _shown(data: Data) -> tuple[str, str | None]:
    """Which part what was shown is, and why the words of a question are left out of it."""
    withheld = None
    for holder in (data, *data.get("accesses", ())):
        query = holder.get("query")
        if query and not at_most(SECRET - 1, query, None):
            del holder["query"]
            withheld = SENSITIVE
    if data["via"] == "injection":
        return CONTEXT, withheld
    asked = withheld or any(holder.get("query") for holder in (data, *data.get("accesses", ())))
    return (QUESTION if asked else SHOWN), withheld
