"""Every answer of the service, defined once: the client reads them, the service documents them in OpenAPI.

Answers may gain fields, each with a default, and never lose any.
"""

from __future__ import annotations

from engramlog.answers.access import (
    AccessTold,
    ConsoleCode,
    ConsoleCodeState,
    ConsoleSession,
    ConsoleSessionEnded,
    GrantsTold,
    KeyMade,
    KeyRevokedTold,
    ReadsTold,
    WhoAsks,
)
from engramlog.answers.base import Result
from engramlog.answers.changes import (
    Added,
    Appended,
    Change,
    Deleted,
    Done,
    Edited,
    Effects,
    History,
    LevelSet,
    Receipt,
    RecordsImported,
    Remembered,
    Removed,
    Restored,
    Skipped,
    StatementsLeft,
)
from engramlog.answers.comparing import Above, Compared, Curves, Diff, InstantsTold
from engramlog.answers.context import AnsweredInFull, AnsweredTurns, ContextBlock, MemoryUses
from engramlog.answers.events import LogEvents, OwnerTimes
from engramlog.answers.knowing import Assessment, AssociationTree, FactsKnown, KnowledgeMap
from engramlog.answers.living import (
    Fading,
    Graded,
    Laws,
    MemoryHealth,
    OwnerProfile,
    OwnerStats,
    ParametersKnown,
    Reinforced,
    ReviewsDue,
)
from engramlog.answers.memories import Card, Counts, Detail, Listed, Listing, Provenance, RestoredMany, Why
from engramlog.answers.operating import Capacity, Cleaned, Decided, Embedding, JobBoard, ModelsUsed, Schedule
from engramlog.answers.past import Lagging, Place
from engramlog.answers.proof import ChainHeads, HeadsCompared, OwnerHead
from engramlog.answers.replaying import Replayed, Retracted
from engramlog.answers.search import Found, Hit, SynonymSaid, SynonymsKnown
from engramlog.answers.sources import Answered, InboxPage, Reported, SourceAside, SourceSaid, SourcesAside, SourcesNamed
from engramlog.answers.store import (
    AlarmCleared,
    AlarmsStanding,
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
from engramlog.answers.talk import ChatsImported, Extracted, Left, Usage
