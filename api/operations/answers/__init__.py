"""The shapes of answers, for OpenAPI and the tests that hold the answers to them. They may gain fields, never lose any."""

from __future__ import annotations

from api.operations.answers.alarms import AlarmCleared, AlarmsStanding
from api.operations.answers.answered import AnsweredInFull, AnsweredTurns
from api.operations.answers.cleaning import Cleaned, Decided, Schedule
from api.operations.answers.comparing import Compared, Curves
from api.operations.answers.context import ContextBlock, MemoryUses
from api.operations.answers.differences import Above, Diff
from api.operations.answers.embedding import Embedding
from api.operations.answers.episodes import Left
from api.operations.answers.events import LogEvents
from api.operations.answers.facts import FactsKnown
from api.operations.answers.inbox import Answered, InboxPage
from api.operations.answers.knowing import Assessment, AssociationTree, KnowledgeMap
from api.operations.answers.living import Fading, Graded, MemoryHealth, Reinforced, ReviewsDue
from api.operations.answers.log import (
    EXAMPLE_EFFECT_OF_MERGE,
    EXAMPLE_EVENT,
    Appended,
    Edited,
    Effects,
    History,
    LevelSet,
    StatementsLeft,
)
from api.operations.answers.looking.access import AccessTold, GrantsTold, KeyMade, KeyRevokedTold, ReadsTold, WhoAsks
from api.operations.answers.looking.console import (
    ConsoleCode,
    ConsoleCodeState,
    ConsoleSession,
    ConsoleSessionEnded,
)
from api.operations.answers.looking.instants import InstantsTold
from api.operations.answers.looking.operate import Capacity, JobBoard, ModelsUsed
from api.operations.answers.looking.parameters import ParametersKnown
from api.operations.answers.looking.proof import ChainHeads, HeadsCompared, OwnerHead
from api.operations.answers.looking.rows import Counts, Listing, RestoredMany
from api.operations.answers.looking.times import OwnerTimes
from api.operations.answers.memories import Detail, Provenance, Revealed, Why
from api.operations.answers.profiles import Laws, OwnerProfile, OwnerStats
from api.operations.answers.records import DeletedMany, DeletedOne, RecordsImported, Restored
from api.operations.answers.replaying import Replayed, Retracted
from api.operations.answers.saying import Remembered
from api.operations.answers.search import Found
from api.operations.answers.sources import GroundReported, SourceAside, SourceSaid, SourcesAside, SourcesNamed
from api.operations.answers.store import (
    DeadOwner,
    DeadOwners,
    Discarded,
    Health,
    OwnerCount,
    OwnerPage,
    Ready,
    Retried,
    StoreStats,
    StoreStatus,
)
from api.operations.answers.synonyms import SynonymSaid, SynonymsKnown
from api.operations.answers.talk import ChatsImported, Extracted
