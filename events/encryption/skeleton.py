"""What is left of an event whose words were erased: what folds take. Pure.

Ids, times, ranks, levels, weights and digests stay, so that the owner can be folded anew and every other memory comes out as it
was. Everything that somebody said, or wrote about what was said, goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from engramlog_server.events.catalogue import EventData
from engramlog_server.events.envelope import AnyEvent, Stored, decode, encode
from engramlog_server.events.errors import UndecodableEvent

_ABOUT: Final[Mapping[str, Any]] = {"because": "", "grounds": (), "metadata": None}
_TRIPLE: Final[Mapping[str, Any]] = {"subject": "", "predicate": "", "object": "", "condition": None}
_REASON: Final[Mapping[str, Any]] = {"reason": ""}
WORDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "TurnRecorded": {"text": "", "speaker": None},
    "ToolResultRecorded": {"text": ""},
    "MemoryCreated": {
        "content": "",
        "summary": None,
        "speaker": None,
        "keywords": (),
        "tags": (),
        "project": None,
        "task": None,
        **_ABOUT,
    },
    "MemoryRevised": {"content": "", "summary": None, "keywords": None, "tags": None, **_ABOUT},
    "MemoryNegated": {"correction": None, **_REASON},
    "MemoryMerged": {"summary": "", **_REASON},
    "MemoryUnmerged": _REASON,
    "MemoryCompressed": {"content": None},
    "MemoryPromoted": _REASON,
    "MemoryKept": _REASON,
    "MemoryDeleted": _REASON,
    "MemoryRestored": _REASON,
    "MemoriesAccessed": {"query": None},
    "FactAsserted": _TRIPLE,
    "FactRetracted": _TRIPLE,
    "SensitivitySet": _REASON,
    "MemoriesRevealed": _REASON,
    "GroundChanged": {"uri": "", "digest": ""},
    "ValueRejected": _REASON,
    "ValueReadmitted": _REASON,
    "ReviewSettled": _REASON,
}
"""By type of event: the fields that hold words, and what stands in their place. Other types hold none about a memory."""


def without_words(event: AnyEvent) -> AnyEvent:
    """The event with its words taken out; one that has none is itself."""
    fields = WORDS.get(event.type)
    if fields is None:
        return event
    data: EventData = msgspec.structs.replace(event.data, **fields)
    if event.type == "MemoriesAccessed":
        data = msgspec.structs.replace(
            data, accesses=tuple(msgspec.structs.replace(one, query=None) for one in event.data.accesses)
        )
    return msgspec.structs.replace(event, data=data)


def skeleton_of(kind: str, body: bytes) -> bytes:
    """The body of an event without its words; of one that has none, or that this release cannot read, the body itself."""
    if kind.partition(".")[0] not in WORDS:
        return body
    try:
        event = decode(kind, body)
    except UndecodableEvent:
        return body
    left = without_words(event)
    return body if left is event or left == event else encode(left)


def is_left(one: Stored) -> bool:
    """Whether an entry of a sealed store that was opened is what is left of one: the salt of its commitment is not known."""
    return bool(one.beside) and not one.salt and one.body[:1] == b"{"


def is_wordless(event: AnyEvent) -> bool:
    """Whether nothing of its words is left."""
    return without_words(event) == event
