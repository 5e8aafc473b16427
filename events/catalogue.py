"""Every event there is, one frozen struct each: the data of the event, without its envelope.

The docstring of a class is its entry in the catalogue; `GET /v1/schema` returns them as JSON Schema. What folding each does to
a memory is told in docs/events.md. They stand by what they are about: what was said and shown; a memory from its beginning to
its end, and what it brings along; what joins memories; what people decide for an owner; and, of the store's own owners
(`events.standing`), who may do what and what was erased for good, of which nothing tells who it was: those change no
memory.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from engramlog_server.events.parameters import ParameterValue, Profile
from engramlog_server.events.vocabulary import (
    MAX_GROUNDS,
    Actor,
    Category,
    Count,
    DeletionPolicy,
    Digest,
    Emotion,
    EventId,
    Evidence,
    Face,
    Id,
    Importance,
    InOrder,
    Keyword,
    Keywords,
    Level,
    MemoryIds,
    Metadata,
    Modality,
    Name,
    NamedEvent,
    Outcome,
    Position,
    Raised,
    Reading,
    Reason,
    Resolution,
    Revealing,
    Role,
    Rules,
    Sensitivity,
    Shape,
    Share,
    Shown,
    Source,
    Sources,
    StatementRules,
    Tags,
    Text,
    Tier,
    Time,
    Tokens,
    Trust,
    TurnMarks,
    Turns,
    Uri,
    Value,
    Values,
    Via,
    Word,
)


class TurnRecorded(Shape, frozen=True, kw_only=True):
    """Somebody said something in a conversation. Changes no memory by itself; extraction reads it."""

    turn_id: Id
    role: Role
    text: Text
    speaker: Name | None = None
    reply_to: Id | None = None


class ToolResultRecorded(Shape, frozen=True, kw_only=True):
    """A tool answered an agent. Changes no memory; it is context for the next turn."""

    tool: Name
    text: Text
    turn_id: Id | None = None


class TurnsExtracted(Shape, frozen=True, kw_only=True):
    """Turns were read, and what follows from them was decided. Changes no memory; what was read is not read again."""

    up_to: Id
    turns: Annotated[int, Field(ge=1, le=1_000_000)]
    by: Name
    prompt: Word | None = None
    requests: Tokens = 0
    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    by_rules: Turns = ()


class Hit(Shape, frozen=True, kw_only=True):
    """A sum: how often a memory was shown since the last flush, and how high it stood (1 is the first)."""

    memory_id: Id
    count: Annotated[int, Field(ge=1, le=1_000_000)]
    best_rank: Annotated[int, Field(ge=1, le=1_000_000)]
    last_at: Time


class Access(Shape, frozen=True, kw_only=True):
    """One answer that showed memories: when, and which in order of rank, of which the first is `first`."""

    at: Time
    shown: InOrder
    first: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    position: Position | None = None
    mode: Reading = "normal"
    query: Annotated[str, Field(max_length=2_000)] | None = None
    read_at: Time | None = None


class BroughtUp(Shape, frozen=True, kw_only=True):
    """A memory that a search unasked put into a block: as how much of it was shown, and how close it was to the turn."""

    memory_id: Id
    level: Level = "full"
    closeness: Share | None = None
    long_ago: bool = False


class StableMade(Shape, frozen=True, kw_only=True):
    """The stable one of two parts: how many tokens it might take, the language of its titles, and the profile that stood in it."""

    budget: Annotated[int, Field(ge=0, le=100_000)]
    language: Word
    profile: Annotated[tuple[Id, ...], Field(max_length=100)] = ()


class BlockMade(Shape, frozen=True, kw_only=True):
    """How the block was made that memories were put into a prompt with: enough to make it again, and none of its words.

    `digest` and `asked` are keyed with the owner's secret: of the whole text of the block, and of what was asked. `stable` is there
    where it was handed out in two parts: the text is then both, one after the other.
    """

    at: Time
    upto: Position
    budget: Annotated[int, Field(ge=1, le=100_000)]
    tokens: Tokens
    language: Word
    digest: Value | None = None
    asked: Value | None = None
    messages: Annotated[int, Field(ge=0, le=1_000)] = 30
    threshold: Share = 0.7
    searches: Annotated[int, Field(ge=0, le=100)] = 3
    sensitive: bool = False
    proactive: bool = True
    include_faded: bool | None = None
    trust: Trust | None = None
    retrieved: Annotated[tuple[BroughtUp, ...], Field(max_length=100)] = ()
    stable: StableMade | None = None


class MemoriesAccessed(Shape, frozen=True, kw_only=True):
    """Memories were shown. Counts accesses; never moves `last_activated_at` and writes no change-log entry."""

    hits: Annotated[tuple[Hit, ...], Field(min_length=1, max_length=500)] = ()
    via: Via
    query: Annotated[str, Field(max_length=2_000)] | None = None
    turn_id: Id | None = None
    together: Annotated[
        tuple[Annotated[tuple[Id, ...], Field(min_length=2, max_length=3)], ...], Field(max_length=500)
    ] = ()
    accesses: Annotated[tuple[Access, ...], Field(min_length=1, max_length=500)] = ()
    block: BlockMade | None = None


class ImportedEdge(Shape, frozen=True, kw_only=True):
    """An association that an older record brought along."""

    memory_id: Id
    weight: Share
    link: Word = "semantic"


class Imported(Shape, frozen=True, kw_only=True):
    """Counters of an older record. `stability` in hours, `strength` in percent, `decay_rate` as a factor."""

    access_count: Count | None = None
    last_accessed_at: Time | None = None
    updated_at: Time | None = None
    strength: Annotated[float, Field(ge=0, le=100)] | None = None
    stability: Annotated[float, Field(gt=0, le=8760)] | None = None
    last_reinforced_at: Time | None = None
    reinforce_count: Count | None = None
    decay_rate: Annotated[float, Field(ge=0.5, le=2.0)] | None = None
    mention_count: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    consolidation_score: Share | None = None
    associations: Annotated[tuple[ImportedEdge, ...], Field(max_length=32)] = ()


class Ground(Shape, frozen=True, kw_only=True):
    """Something outside that a memory rests on, as it was then: a page, a file, a record."""

    uri: Uri
    digest: Digest


def _one_a_uri(grounds: tuple[Ground, ...]) -> tuple[Ground, ...]:
    if len({one.uri for one in grounds}) != len(grounds):
        raise PydanticCustomError("repeated", "each uri once")
    return grounds


Grounds = Annotated[tuple[Ground, ...], Field(max_length=MAX_GROUNDS), AfterValidator(_one_a_uri)]


class GroundChanged(Shape, frozen=True, kw_only=True):
    """Something that a memory rests on has this digest now: another than it had withholds the memory."""

    memory_id: Id
    uri: Uri
    digest: Digest


class MemoryCreated(Shape, frozen=True, kw_only=True):
    """A memory begins. `corrects` is a link to an older memory and changes nothing on it."""

    memory_id: Id
    content: Text
    category: Category
    kind: Word
    source: Source
    modality: Modality = "text"
    summary: Text | None = None
    tier: Tier | None = None
    importance: Importance | None = None
    confidence: Share = 0.6
    speaker: Name | None = None
    keywords: Keywords = ()
    tags: Tags = ()
    emotion: Emotion | None = None
    project: Name | None = None
    task: Name | None = None
    sensitivity: Sensitivity | None = None
    verified: bool = False
    source_turns: Turns = ()
    corrects: Id | None = None
    summarises: MemoryIds = ()
    imported: Imported | None = None
    because: Reason = ""
    grounds: Grounds = ()
    metadata: Metadata | None = None


class MemoryMentioned(Shape, frozen=True, kw_only=True):
    """Somebody came back to it: the memory is active again, and may be reaffirmed after a negation."""

    memory_id: Id
    similarity: Share | None = None
    turn_id: Id | None = None
    modality: Modality | None = None


class MemoryReinforced(Shape, frozen=True, kw_only=True):
    """It was put to use, and how that went."""

    memory_id: Id
    outcome: Outcome
    from_memory: Id | None = None
    turn_id: Id | None = None


class ReviewGraded(Shape, frozen=True, kw_only=True):
    """The memory was reviewed and graded, 0 (forgotten) to 5 (at once)."""

    memory_id: Id
    grade: Annotated[int, Field(ge=0, le=5)]


class MemoryNegated(Shape, frozen=True, kw_only=True):
    """It is no longer so. No other event ends a memory's truth; `correction` is text and creates nothing."""

    memory_id: Id
    resolution: Resolution | None = None
    correction: Text | None = None
    replaced_by: Id | None = None
    reason: Reason = ""
    turn_id: Id | None = None


class MemoryRevised(Shape, frozen=True, kw_only=True):
    """A new version of the content; older versions stay readable."""

    memory_id: Id
    content: Text
    summary: Text | None = None
    keywords: Keywords | None = None
    tags: Tags | None = None
    because: Reason | None = None
    grounds: Grounds | None = None
    metadata: Metadata | None = None


class MemoryMerged(Shape, frozen=True, kw_only=True):
    """Several memories became one new one, `into`; the sources stay readable."""

    sources: Sources
    into: Id
    summary: Text
    reason: Reason = ""


class MemoryUnmerged(Shape, frozen=True, kw_only=True):
    """A merge was wrong: the sources come back as they were and `into` retires."""

    into: Id
    reason: Reason = ""


class MemoryCompressed(Shape, frozen=True, kw_only=True):
    """A sweep recorded a level. Passive: no time stamp of activity moves."""

    memory_id: Id
    level: Level
    content: Text | None = None
    due_at: Time | None = None


class MemoryPromoted(Shape, frozen=True, kw_only=True):
    """A reviewer moved it up a tier."""

    memory_id: Id
    from_: Annotated[Tier | None, Field(alias="from")] = msgspec.field(default=None, name="from")
    to: Tier
    due_at: Time | None = None
    reason: Reason = ""


class MemoryKept(Shape, frozen=True, kw_only=True):
    """A reviewer looked and kept it."""

    memory_id: Id
    reason: Reason = ""
    due_at: Time | None = None


class MemoryDeleted(Shape, frozen=True, kw_only=True):
    """Soft delete: hidden, kept for 30 days, can be restored."""

    memory_id: Id
    policy: DeletionPolicy = "user_delete"
    due_at: Time | None = None
    reason: Reason = ""


class MemoryRestored(Shape, frozen=True, kw_only=True):
    """A soft delete was undone."""

    memory_id: Id
    reason: Reason = ""


class MemoryPurged(Shape, frozen=True, kw_only=True):
    """30 days after a deletion the content goes from every projection; a tombstone stays."""

    memory_id: Id
    due_at: Time


class MemoryErased(Shape, frozen=True, kw_only=True):
    """Its words are destroyed for good, in the log too. Said by `engramlog erase` alone."""

    memory_id: Id
    reason: Reason
    erasure: EventId | None = None
    """By which erasure."""


class MemoriesLinked(Shape, frozen=True, kw_only=True):
    """Two memories belong together; `possible_conflict` is no edge but flags both."""

    a: Id
    b: Id
    weight: Share
    link: Word


class _Fact(Shape, frozen=True, kw_only=True):
    subject: Name
    predicate: Name
    object: Name
    evidence: Evidence
    negation: bool = False
    degree: Share | None = None
    condition: Reason | None = None


class FactAsserted(_Fact, frozen=True, kw_only=True):
    """A triple, with the memories that back it."""


class FactRetracted(_Fact, frozen=True, kw_only=True):
    """These memories no longer back that triple."""


class SynonymDefined(Shape, frozen=True, kw_only=True):
    """Two words mean the same in this owner's searches."""

    keyword: Keyword
    synonym: Keyword
    similarity: Share = 0.8


class ProfileChosen(Shape, frozen=True, kw_only=True):
    """From here on this law gates the owner's recall and lifecycle."""

    profile: Profile


class ParametersChanged(Shape, frozen=True, kw_only=True):
    """From here on these parameters hold for the owner; names and bounds in events/parameters.py."""

    parameters: Annotated[dict[str, ParameterValue], Field(min_length=1, max_length=500)]


class SensitivitySet(Shape, frozen=True, kw_only=True):
    """A person says how sensitive a memory is: the only way down from what rules found in its words."""

    memory_id: Id
    level: Sensitivity
    reason: Reason


class SensitivityRaised(Shape, frozen=True, kw_only=True):
    """Newer rules find more in a memory's words than was found when they were appended. Never lowers."""

    memory_id: Id
    level: Raised
    rules: Rules


class MemoriesRevealed(Shape, frozen=True, kw_only=True):
    """Texts of secrets are shown to somebody. Written before they are; changes no memory, and holds none of their text."""

    memory_ids: Shown
    by: Revealing
    face: Face
    reason: Reason = ""


class EventDiscarded(Shape, frozen=True, kw_only=True):
    """Somebody drops one parked event of this owner for good; the rest of its parked events fold now."""

    position: Position
    reason: Reason = ""


class ValueRejected(Shape, frozen=True, kw_only=True):
    """A person says that this is not so: what states it later becomes no memory, and what states it now is withheld.

    `values`: keyed digests of one statement, and of the triples that say the same. `until`: evidence from after it counts again.
    `turns`: those that say it and were retracted with it, by their hashes; wherever they are told, they are withheld too.
    """

    values: Values
    rules: StatementRules
    memory_id: Id | None = None
    until: Time | None = None
    reason: Reason = ""
    turns: TurnMarks = ()


class ValueReadmitted(Shape, frozen=True, kw_only=True):
    """A person says that it holds after all: a rejection of these values from before it counts no more."""

    values: Values
    rules: StatementRules
    memory_id: Id | None = None
    reason: Reason = ""


class SourceSetAside(Shape, frozen=True, kw_only=True):
    """A person sets a source aside: what it said, before and after, is withheld until it is brought back.

    At least one of `session`, `principal` and `actor`; what is named together must hold together.
    """

    session: Id | None = None
    principal: Name | None = None
    actor: Actor | None = None
    reason: Reason = ""


class SourceBroughtBack(Shape, frozen=True, kw_only=True):
    """A person brings back a source that was set aside, named as it was then."""

    session: Id | None = None
    principal: Name | None = None
    actor: Actor | None = None
    reason: Reason = ""


class ReviewSettled(Shape, frozen=True, kw_only=True):
    """A person answered an item of the inbox, so it waits no longer. An accepted change is an event of its own.

    `waiting`: the event of a lower source that waited.
    """

    memory_id: Id
    waiting: NamedEvent
    verdict: Literal["accepted", "rejected"]
    reason: Reason = ""


Verb = Literal[
    "produce", "read", "correct", "delete", "review", "debug", "reveal", "replay", "audit", "operate", "admin"
]
Looked = Literal["reveal", "export", "debug", "past", "denied"]
"""What of reading is recorded: a secret shown, an export, a look at what is hidden, another's past, and what was refused."""
KEY_ID_RULE = "8 letters a to z and digits"
PRINCIPAL_RULE = "1 to 64 letters of any script, digits and . _ @ / -, a letter or a digit first"
OWNERS_RULE = "an owner's name, the beginning of names before /* (team/*), or * for all"
MOST_GRANTS = 32
MOST_PATTERNS = 100
KeyId = Annotated[str, Field(pattern=r"^[a-z0-9]{8}$", description=KEY_ID_RULE)]
Principal = Annotated[str, Field(pattern=r"^[\p{L}\p{N}][\p{L}\p{N}_.@/\-]{0,63}$", description=PRINCIPAL_RULE)]
Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="64 hexadecimal digits, small letters")]
Pattern = Annotated[str, Field(min_length=1, max_length=128, description=OWNERS_RULE)]
Number = Annotated[int, Field(ge=1, le=1_000_000)]


class Grant(Shape, frozen=True, kw_only=True):
    """What may be done to which owners: all of it must fit one grant."""

    verbs: Annotated[tuple[Verb, ...], Field(min_length=1, max_length=11)]
    owners: Annotated[tuple[Pattern, ...], Field(min_length=1, max_length=MOST_PATTERNS)]
    modes: Annotated[tuple[Reading, ...], Field(min_length=1, max_length=3)] = ("normal",)
    """By which memories are read."""
    sensitivity: Sensitivity = 2
    """The most sensitive memories that are told; a secret (3) only by `reveal`."""
    actors: Annotated[tuple[Actor, ...], Field(max_length=5)] = ("user", "assistant")
    """For whom its holder may speak."""
    trust: Trust = "asserted"
    """The most that its holder's word reaches; of several grants the least counts, whoever he speaks about."""


class KeyIssued(Shape, frozen=True, kw_only=True):
    """A key is made for a principal. Kept are its public key and its SHA-256, never the key."""

    number: Number
    key_id: KeyId
    principal: Principal
    public: Hex
    digest: Hex
    expires_at: Time | None = None
    reason: Reason = ""


class KeyRevoked(Shape, frozen=True, kw_only=True):
    """From here on a key, and every token made of it, opens nothing."""

    number: Number
    key_id: KeyId
    reason: Reason = ""


class GrantsSet(Shape, frozen=True, kw_only=True):
    """From here on these are all of a principal's grants; none: it may do nothing."""

    number: Number
    principal: Principal
    grants: Annotated[tuple[Grant, ...], Field(max_length=MOST_GRANTS)] = ()
    reason: Reason = ""


class ReadRecorded(Shape, frozen=True, kw_only=True):
    """Somebody looked at what is recorded when it is looked at, or was refused. Holds no contents."""

    principal: Principal
    key_id: KeyId | None = None
    token: Annotated[str, Field(max_length=128)] | None = None
    """What a token made of the key calls its bearer."""
    what: Looked
    call: Annotated[str, Field(max_length=64)]
    """What was asked: a service and its method."""
    whose: Annotated[str, Field(max_length=128)] | None = None
    """The owner that was asked about; None: the store."""
    times: Count = 1
    """So often since the record before: what is refused again and again is told once in a while."""


ErasureGround = Literal[
    "consent_withdrawn",
    "no_longer_needed",
    "objection",
    "unlawful",
    "legal_obligation",
    "child",
    "contract_ended",
    "other",
]
"""On what ground a person is forgotten: those of the GDPR, article 17 (1), the end of a contract, or another."""
POSITION_RULE = "a position: partition:seq"
ErasureId = Annotated[
    str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", description="a UUID in small letters")
]


class OwnerErasure(Shape, frozen=True, kw_only=True):
    """An owner is being erased, or was, or may be spoken of again. `label`: of its name under the store's id, by which who knows
    the name knows it again."""

    erasure: ErasureId
    step: Literal["began", "ended", "readmitted"]
    label: Hex
    ground: ErasureGround
    reason: Reason = ""
    events: Count = 0
    """How many of its entries of the log can be read by nobody any more."""
    until: Annotated[str, Field(pattern=r"^[0-9]{1,4}:[0-9]{1,19}$", description=POSITION_RULE)] | None = None
    """Up to where the partition's log was folded anew without it."""
    chain: Hex | None = None
    """The log's chain there, which no erasure changes."""
    unproven: Count = 0
    """How many places could not be seen to from there."""
    line: Hex | None = None
    """SHA-256 of the line that stands in the place of its key."""


class WordsErasure(Shape, frozen=True, kw_only=True):
    """Memories of an owner, and the turns that say them, are losing their words for good, or lost them. `label`: as in
    `OwnerErasure`."""

    erasure: ErasureId
    step: Literal["began", "ended"]
    label: Hex
    ground: ErasureGround
    reason: Reason = ""
    memories: Count = 0
    events: Count = 0
    """How many entries of the log have no words any more."""
    entries: Hex | None = None
    """SHA-256 of their positions, one a line, in the order of the log."""
    until: Annotated[str, Field(pattern=r"^[0-9]{1,4}:[0-9]{1,19}$", description=POSITION_RULE)] | None = None
    """Up to where the partition's log was folded anew."""
    chain: Hex | None = None
    """The log's chain there, which no erasure changes."""
    unproven: Count = 0
    """How many places could not be seen to from there."""


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
