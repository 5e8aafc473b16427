"""Every event there is, one frozen struct each: the data of the event, without its envelope.

The docstring of a class is its entry in the catalogue; `GET /v1/schema` returns them as JSON Schema. `memory` is the file to
begin with. What folding each does to a memory is told in docs/events.md.
"""

from __future__ import annotations

from engramlog_server.events.catalogue.access import Grant as Grant
from engramlog_server.events.catalogue.access import GrantsSet, KeyIssued, KeyRevoked, ReadRecorded
from engramlog_server.events.catalogue.conversation import Access as Access
from engramlog_server.events.catalogue.conversation import BlockMade as BlockMade
from engramlog_server.events.catalogue.conversation import BroughtUp as BroughtUp
from engramlog_server.events.catalogue.conversation import Hit as Hit
from engramlog_server.events.catalogue.conversation import (
    MemoriesAccessed,
    ToolResultRecorded,
    TurnRecorded,
    TurnsExtracted,
)
from engramlog_server.events.catalogue.conversation import StableMade as StableMade
from engramlog_server.events.catalogue.erasing import OwnerErasure, WordsErasure
from engramlog_server.events.catalogue.memory import (
    MemoryCompressed,
    MemoryCreated,
    MemoryDeleted,
    MemoryErased,
    MemoryKept,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryPromoted,
    MemoryPurged,
    MemoryReinforced,
    MemoryRestored,
    MemoryRevised,
    MemoryUnmerged,
    ReviewGraded,
)
from engramlog_server.events.catalogue.origins import Ground as Ground
from engramlog_server.events.catalogue.origins import GroundChanged
from engramlog_server.events.catalogue.origins import Grounds as Grounds
from engramlog_server.events.catalogue.origins import Imported as Imported
from engramlog_server.events.catalogue.origins import ImportedEdge as ImportedEdge
from engramlog_server.events.catalogue.owner import (
    EventDiscarded,
    MemoriesRevealed,
    ParametersChanged,
    ProfileChosen,
    SensitivityRaised,
    SensitivitySet,
)
from engramlog_server.events.catalogue.relations import FactAsserted, FactRetracted, MemoriesLinked, SynonymDefined
from engramlog_server.events.catalogue.reviews import ReviewSettled
from engramlog_server.events.catalogue.sources import SourceBroughtBack, SourceSetAside
from engramlog_server.events.catalogue.values import ValueReadmitted, ValueRejected

EventData = (  # in the order in which they came to be: it only grows at its end
    TurnRecorded
    | ToolResultRecorded
    | MemoryCreated
    | MemoryMentioned
    | MemoryNegated
    | MemoriesAccessed
    | MemoryReinforced
    | MemoryMerged
    | MemoryUnmerged
    | MemoryRevised
    | MemoryCompressed
    | MemoryPromoted
    | MemoryKept
    | MemoryDeleted
    | MemoryRestored
    | MemoryPurged
    | MemoryErased
    | MemoriesLinked
    | FactAsserted
    | FactRetracted
    | SynonymDefined
    | ReviewGraded
    | ProfileChosen
    | ParametersChanged
    | EventDiscarded
    | TurnsExtracted
    | SensitivitySet
    | MemoriesRevealed
    | GroundChanged
    | SensitivityRaised
    | ValueRejected
    | ValueReadmitted
    | SourceSetAside
    | SourceBroughtBack
    | ReviewSettled
    | KeyIssued
    | KeyRevoked
    | GrantsSet
    | ReadRecorded
    | OwnerErasure
    | WordsErasure
)
EVENT_TYPES: dict[str, type] = {cls.__name__: cls for cls in EventData.__args__}
LATEST_VERSION: dict[str, int] = dict.fromkeys(EVENT_TYPES, 1) | {"MemoriesAccessed": 2}
"""The schema version that this release writes, by event type; older ones are upcast on read."""
SEALED_ONLY = frozenset({"MemoryErased"})
"""Refused in validation: `engramlog erase` alone says them, of a sealed store."""
SIDE_EVENTS = frozenset({"MemoriesAccessed", "TurnRecorded", "ToolResultRecorded", "MemoriesRevealed", "ReadRecorded"})
"""Events that do not move an owner's head, the number that `expected_head` is compared with."""
