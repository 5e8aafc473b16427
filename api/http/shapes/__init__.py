"""The shapes of answers, for OpenAPI and the tests that hold the answers to them. They may gain fields, never lose any."""

from __future__ import annotations

from api.http.shapes.alarms import AlarmCleared, AlarmsStanding
from api.http.shapes.cleaning import Cleaned, Decided, Schedule
from api.http.shapes.comparing import Compared, Curves
from api.http.shapes.context import ContextBlock, MemoryUses
from api.http.shapes.episodes import Left
from api.http.shapes.facts import FactsKnown
from api.http.shapes.grounds import GroundReported
from api.http.shapes.knowing import Assessment, AssociationTree, KnowledgeMap
from api.http.shapes.living import Fading, Graded, MemoryHealth, Reinforced, ReviewsDue
from api.http.shapes.log import EXAMPLE_EFFECT_OF_MERGE, EXAMPLE_EVENT, Appended, Edited, Effects, History, Remembered
from api.http.shapes.memories import Detail, Listing, Provenance, Replayed, Revealed, Why
from api.http.shapes.profiles import Laws, OwnerProfile
from api.http.shapes.records import DeletedMany, DeletedOne, RecordsImported, Restored
from api.http.shapes.search import Found
from api.http.shapes.store import (
    DeadOwner,
    DeadOwners,
    Discarded,
    Health,
    OwnerCount,
    OwnerPage,
    OwnerStats,
    Ready,
    Retried,
    StoreStats,
    StoreStatus,
)
from api.http.shapes.synonyms import SynonymSaid, SynonymsKnown
from api.http.shapes.talk import ChatsImported, Extracted

__all__ = [
    "EXAMPLE_EFFECT_OF_MERGE",
    "EXAMPLE_EVENT",
    "AlarmCleared",
    "AlarmsStanding",
    "Appended",
    "Assessment",
    "AssociationTree",
    "ChatsImported",
    "Cleaned",
    "Compared",
    "ContextBlock",
    "Curves",
    "DeadOwner",
    "DeadOwners",
    "Decided",
    "DeletedMany",
    "DeletedOne",
    "Detail",
    "Discarded",
    "Edited",
    "Effects",
    "Extracted",
    "FactsKnown",
    "Fading",
    "Found",
    "Graded",
    "GroundReported",
    "Health",
    "History",
    "KnowledgeMap",
    "Laws",
    "Left",
    "Listing",
    "MemoryHealth",
    "MemoryUses",
    "OwnerCount",
    "OwnerPage",
    "OwnerProfile",
    "OwnerStats",
    "Provenance",
    "Ready",
    "RecordsImported",
    "Reinforced",
    "Remembered",
    "Replayed",
    "Restored",
    "Retried",
    "Revealed",
    "ReviewsDue",
    "Schedule",
    "StoreStats",
    "StoreStatus",
    "SynonymSaid",
    "SynonymsKnown",
    "Why",
]
