"""What the verbs of `engramlog.questions` answer. Fields that this version does not know are kept (`model_extra`).

Made by `make client` of the application's operations: change those, and make it again.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from engramlog.results import CorrectedBy, PossibleConflict, Result, Withheld


class TurnSaid(Result):
    """A turn."""

    turn_id: str
    role: str
    speaker: str | None
    text: str
    at: str


class Use(Result):
    """A turn for which a memory was injected."""

    turn_id: str | None
    session: str | None
    injected_at: str
    turn: TurnSaid | None
    replies: list[TurnSaid]
    linked_by: str | None
    """reply_to: the replies name the turn; order: what the assistant said next in the session."""


class MemoryUses(Result):
    """Which answers used a memory, the newest first."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    id: str
    memory: str
    status: str
    uses: list[Use]
    total: int
    offset: int


class OriginEvent(Result):
    """An event that made or changed a memory among the origins."""

    position: str
    event_id: str
    event: str


class OriginNode(Result):
    """A memory that another comes from, and which one that is."""

    id: str
    parent: str | None
    relation: str
    depth: int
    events: list[OriginEvent]
    events_left_out: int | None = None
    unknown: bool | None = None
    """True: the owner has no such memory."""
    source_turns: list[str] | None = None
    created_at: str | None = None
    set_aside: bool | None = None
    """True: its source is set aside."""


class OriginTree(Result):
    """What a memory comes from: nodes that each name their parent."""

    memory: str
    nodes: list[OriginNode]
    nodes_left_out: int | None = None


class Provenance(Result):
    """Where a memory comes from: nodes that each name their parent."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    id: str
    provenance: OriginTree


class MomentsOfPast(Result):
    """Moments of an owner's past that questions kept to begin at, as of today."""

    kept: int
    bytes: int
    """What they take in Redis, about."""


class WeightBucket(Result):
    """Memories whose weight lies above the bucket before and no higher than this."""

    up_to: float | None
    """Null: all that is heavier."""
    memories: int


class WeightFigures(Result):
    """How the weights of the memories that live are spread, by the owner's law, unclipped; null where there is none."""

    law: str
    memories: int
    mean: float | None
    lowest: float | None
    median: float | None
    highest: float | None
    buckets: list[WeightBucket]


class ConflictErrors(Result):
    """Contradictions that turned out not to be one."""

    taken_back: int
    """Negations after which the user said the memory again, so that it holds (`reaffirm`)."""
    refused: int
    """Negations by a lower source that waited for a person, who rejected them."""
    total: int


class HistoryFigures(Result):
    """How often what happened to the owner's memories, counted in the change log; each event once. Ignored ones count nowhere."""

    activations: int
    """Mentions that refreshed a memory."""
    frequent_mentions: int
    """Of these, the third or later one within 24 hours (decision `merge`)."""
    negations: int
    merges: int
    merges_undone: int
    compressions: int
    """Levels that a sweep recorded."""
    possible_conflicts: int
    """Pairs that were linked as a possible conflict."""
    conflict_errors: ConflictErrors


class ShownFigures(Result):
    """What was shown in one way, as the log has it."""

    answers: int
    """Answers that showed anything; of `injection` events, one for each block."""
    memories: int
    """Memories in them, counted as often as they were shown."""


class Coverage(Result):
    """How many of an owner's memories have a vector."""

    model: str | None
    """The model whose vectors are counted; null where no embedder is configured."""
    embedded: int
    """Memories that have a vector: semantic search finds these, and no others."""
    of: int
    """Memories that hold text which is neither purged nor secret."""
    share: float
    """embedded / of, from 0 to 1; 1 where there is nothing to embed."""
    failed: str | None = None
    """Why the embedder cannot be made, where that is so."""


class OwnerStats(Result):
    """Counts of one owner's memories."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    owner: str
    events: int
    change_log_entries: int
    moments: MomentsOfPast
    profile: str
    parameters: dict[str, Any]
    memories: int
    shown_in_normal_mode: int
    by_category: dict[str, int]
    by_level: dict[str, int]
    by_state: dict[str, int]
    negated: int
    secret: int
    mean_weight: float | None
    """Of all memories, those that are deleted or merged too."""
    weights: WeightFigures
    figures: HistoryFigures
    shown: dict[str, ShownFigures]
    """By way of showing: recall (searches), detail, association, injection (blocks for prompts), inspection,
    reveal."""
    chain: str
    embedding: Coverage | None = None
    """How many have a vector, where one embeds."""


class Evidence(Result):
    """A memory that an assessment rests on."""

    id: str
    snippet: str
    confidence: float
    relevance: float
    access_count: int
    updated_at: str


class Stats(Result):
    """The numbers behind an assessment, each from 0 to 1 but the count."""

    memories: int
    mean_confidence: float
    coverage: float
    mean_recency: float
    mean_consolidation: float


class Assessment(Result):
    """How sure we are about a topic."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    owner: str
    topic: str
    confidence: str
    """high, medium, low, very_low or none."""
    score: float
    """0.35 confidence + 0.25 coverage + 0.20 recency + 0.20 consolidation."""
    message: str
    suggestions: list[str]
    evidence: list[Evidence]
    stats: Stats


class Node(Result):
    """A memory on a map."""

    id: str
    label: str
    kind: str
    confidence: float
    consolidation: float
    weight: float
    depth: int
    is_center: bool
    cluster: int


class MapEdge(Result):
    """An association between two memories on a map."""

    from_: str = Field(alias="from")
    to: str
    weight: float
    link: str


class Cluster(Result):
    """Memories that are more associated with each other than with the rest, and the words they share."""

    id: int
    members: list[str]
    words: list[str]
    label: str


class KnowledgeMap(Result):
    """What is known about a topic, as a graph."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    owner: str
    topic: str
    nodes: list[Node]
    edges: list[MapEdge]
    clusters: list[Cluster]
    depth: int
    weaker: int
    """Associations weaker than `least`, which were not followed."""
    withheld: list[Withheld]
    """Matches that the mode does not show, by reason."""
    truncated: bool
    """Whether there was more than `limit` nodes."""
    mode: str


class Branch(Result):
    """An associated memory, with what it is associated with in turn."""

    possible_conflicts: list[str] | None = None
    conflicting: list[PossibleConflict] | None = None
    corrected: list[CorrectedBy] | None = None
    """What it says that no longer holds, the last corrected first, at most 5."""
    until: str | None = None
    """Until when it says that it holds (until Friday, 周五之前), as the first instant after that."""
    id: str
    memory: str
    """Its text; `[withheld: ...]` for a secret."""
    level: str
    category: str
    kind: str
    speaker: str | None
    source_turns: list[str]
    created_at: str
    last_activated_at: str
    mention_count: int
    is_negated: bool
    status: str
    trust: str
    """How far to trust it: `asserted` (by the user), `inferred`, `imported`, `proposed`, `disputed`, `rejected`."""
    valid_from: str | None = None
    valid_to: str | None = None
    successor: str | None = None
    ground_changed: bool | None = None
    """True: something that it rests on has another digest now; normal mode withholds it."""
    long_ago: bool | None = None
    """True: so old that normal mode would withhold it, and shown as it matches the question."""
    link: str
    weight: float
    base: float
    boost: float
    associations: list[Branch]


class BackedTriple(Result):
    """A triple that the memory backs."""

    subject: str
    predicate: str
    object: str
    negation: bool


class AssociationTree(Result):
    """A memory and what it is associated with."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    possible_conflicts: list[str] | None = None
    conflicting: list[PossibleConflict] | None = None
    corrected: list[CorrectedBy] | None = None
    """What it says that no longer holds, the last corrected first, at most 5."""
    until: str | None = None
    """Until when it says that it holds (until Friday, 周五之前), as the first instant after that."""
    id: str
    memory: str
    """Its text; `[withheld: ...]` for a secret."""
    level: str
    category: str
    kind: str
    speaker: str | None
    source_turns: list[str]
    created_at: str
    last_activated_at: str
    mention_count: int
    is_negated: bool
    status: str
    trust: str
    """How far to trust it: `asserted` (by the user), `inferred`, `imported`, `proposed`, `disputed`, `rejected`."""
    valid_from: str | None = None
    valid_to: str | None = None
    successor: str | None = None
    ground_changed: bool | None = None
    """True: something that it rests on has another digest now; normal mode withholds it."""
    long_ago: bool | None = None
    """True: so old that normal mode would withhold it, and shown as it matches the question."""
    owner: str
    associations: list[Branch]
    triples: list[BackedTriple]
    mode: str


class FactEvidence(Result):
    """A memory that backs a triple."""

    id: str
    memory: str
    status: str
    trust: str
    """How far to trust it, as of a memory."""
    speaker: str | None
    source_turns: list[str]
    created_at: str


class Fact(Result):
    """A triple that holds; degree, condition and time are those of its newest assertion."""

    subject: str
    predicate: str
    object: str
    negation: bool
    """Whether it says that this is not so."""
    degree: float | None
    condition: str | None
    asserted_at: str
    backing: list[str]
    """Ids of all memories that back it."""
    evidence: list[FactEvidence]
    """The newest five of them."""


class FactsKnown(Result):
    """A page of an owner's triples."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    owner: str
    about: str | None
    facts: list[Fact]
    total: int
    """How many there are, of which this is a page."""
    offset: int
    known: int
    """How many triples the owner has in all."""
    as_of: str | None
    known_by: str | None = None
    """What was asked of the line of what was recorded (`known`)."""


class SynonymPair(Result):
    """Two words that mean the same to an owner, or, at 0, that do not."""

    word: str
    """Case-folded; the smaller of the two words."""
    synonym: str
    similarity: float


class WordExpansion(Result):
    """What a word is looked for by."""

    original: str
    synonyms: dict[str, float]
    """With their similarity, the owner's own before the known ones."""
    related: dict[str, float]
    """Synonyms of synonyms, with the product: told, never matched."""


class SynonymsKnown(Result):
    """An owner's own synonyms."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    owner: str
    of: str | None
    synonyms: list[SynonymPair]
    """All of the owner's pairs, or those of the word that is asked for."""
    silenced: list[SynonymPair]
    """Pairs that are no synonyms here, whatever is known to all."""
    total: int
    """How many pairs the owner has in all."""
    most: int
    """How many an owner may have."""
    known: dict[str, float]
    """What is known to all about the word that is asked for."""
    expansion: WordExpansion | None
    as_of: str | None
    known_by: str | None = None
    """What was asked of the line of what was recorded (`known`)."""


class Change(Result):
    """One change-log entry: what one event did to one memory. Never holds content."""

    position: str
    event_id: str
    time: str
    event: str
    memory: str | None
    """Null where it is about the owner."""
    decision: str
    reason: str
    law: str
    old_weight: float | None
    new_weight: float | None
    delta: float | None
    factors: dict[str, float] | None
    fields: list[str]
    version: int | None
    content_hash: str | None
    actor: str | None = None
    """Who caused it; told by history and why."""
    correlation_id: str | None = None
    """The event's; `extract:MODEL`, `review:MODEL`, `sessions:MODEL` where a language model decided."""
    recorded_at: str | None = None
    """When the log took it in, by Redis's clock; null of an event that lies there in format 1."""
    principal: str | None = None
    """Who brought it, as the receiving side says; null in format 1."""
    late_by: float | None = None
    """Seconds, where it was recorded more than five minutes after `time`; else null."""
    said_reason: str | None = None
    """Why, in the words of whoever sent the event (`reason` is the fold's own); told by history and why, withheld
    where it is or speaks of a secret."""
    because: str | None = None
    """Why the memory is kept, as a creation or revision tells; as `said_reason`."""


class SynonymSaid(Result):
    """What defining a synonym did; where it changed nothing, the entry says `ignored` and why."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    owner: str
    word: str
    synonym: str
    similarity: float
    changes: list[Change]


class SourceAside(Result):
    """A source that is set aside: a session, a principal, an actor, or what is several of these at once."""

    session: str | None
    principal: str | None
    of_actor: str | None
    since: str
    """When it was set aside."""
    set_aside_at: str
    """Position of the event that did."""
    reason: str
    memories: int
    """Withheld by it; what several withhold counts for the first of them."""


class SourcesAside(Result):
    """What is set aside now."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    owner: str
    sources: list[SourceAside]
    """The newest first."""
    total: int
    most: int
    """How many different ones an owner may ever have set aside."""
    as_of: str | None
    known_by: str | None = None
    """What was asked of the line of what was recorded (`known`)."""


class SomeMemories(Result):
    """Memories, the first hundred by id."""

    total: int
    ids: list[str]


class SourceSaid(Result):
    """What setting a source aside withholds, or bringing it back shows again, and what it did to memories of others."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    owner: str
    session: str | None
    principal: str | None
    of_actor: str | None
    memories: int
    """Of the source, by now: withheld while it is set aside."""
    negated: SomeMemories
    """Negated by it: they stand meanwhile as if it had not."""
    revised: SomeMemories
    """Put in other words by it: they tell their former ones meanwhile."""
    merged: SomeMemories
    """Merged with words of it: they stand by themselves meanwhile."""
    deleted: SomeMemories
    """Deleted by it: they stay so; `restore` brings each back."""
    dry_run: bool = False
    """Whether nothing was written."""
    changes: list[Change]


class Strength(Result):
    """A memory with its Ebbinghaus strength."""

    possible_conflicts: list[str] | None = None
    conflicting: list[PossibleConflict] | None = None
    corrected: list[CorrectedBy] | None = None
    """What it says that no longer holds, the last corrected first, at most 5."""
    until: str | None = None
    """Until when it says that it holds (until Friday, 周五之前), as the first instant after that."""
    id: str
    memory: str
    """Its text; `[withheld: ...]` for a secret."""
    level: str
    category: str
    kind: str
    speaker: str | None
    source_turns: list[str]
    created_at: str
    last_activated_at: str
    mention_count: int
    is_negated: bool
    status: str
    trust: str
    """How far to trust it: `asserted` (by the user), `inferred`, `imported`, `proposed`, `disputed`, `rejected`."""
    valid_from: str | None = None
    valid_to: str | None = None
    successor: str | None = None
    ground_changed: bool | None = None
    """True: something that it rests on has another digest now; normal mode withholds it."""
    long_ago: bool | None = None
    """True: so old that normal mode would withhold it, and shown as it matches the question."""
    strength: int
    """Percent, 0 to 100."""
    colour: str
    """`green` from 70, `yellow` from 30, `red` below."""
    stability_hours: float
    decay_rate: float
    reinforce_count: int
    last_reinforced_at: str
    archives_at: str | None
    """When the owner's law archives it by itself; null where it does not."""
    deletes_at: str | None
    """When the owner's law deletes it (softly) by itself; null likewise."""


class MemoryHealth(Result):
    """A page of live memories, strongest first."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    memories: list[Strength]
    total: int
    """Live memories in all."""
    offset: int
    colours: dict[str, int]
    """How many of all of them are of each colour."""
    mean_strength: float | None
    profile: str


class Fading(Result):
    """A page of live memories under strength 30, weakest first."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    memories: list[Strength]
    total: int
    """How many are fading."""
    live: int
    """Of how many live ones."""
    offset: int
    under: int
    profile: str


class DueMemory(Result):
    """A memory that is due for review."""

    possible_conflicts: list[str] | None = None
    conflicting: list[PossibleConflict] | None = None
    corrected: list[CorrectedBy] | None = None
    """What it says that no longer holds, the last corrected first, at most 5."""
    until: str | None = None
    """Until when it says that it holds (until Friday, 周五之前), as the first instant after that."""
    id: str
    memory: str
    """Its text; `[withheld: ...]` for a secret."""
    level: str
    category: str
    kind: str
    speaker: str | None
    source_turns: list[str]
    created_at: str
    last_activated_at: str
    mention_count: int
    is_negated: bool
    status: str
    trust: str
    """How far to trust it: `asserted` (by the user), `inferred`, `imported`, `proposed`, `disputed`, `rejected`."""
    valid_from: str | None = None
    valid_to: str | None = None
    successor: str | None = None
    ground_changed: bool | None = None
    """True: something that it rests on has another digest now; normal mode withholds it."""
    long_ago: bool | None = None
    """True: so old that normal mode would withhold it, and shown as it matches the question."""
    due_at: str
    days_overdue: float
    importance: float
    """0.4 confidence + 0.3 consolidation + 0.3 |emotion| at the default shares."""
    confidence: float
    consolidation: float
    emotion: float
    priority: float
    """What the order goes by: importance * (1 + days overdue)."""
    interval_days: float
    scheduler: str
    """`accesses` before the first grade, then `sm2` or `fsrs`."""
    access_count: int


class ReviewsDue(Result):
    """What is due for review, most pressing first."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    memories: list[DueMemory]
    due: int
    """How many are due in all."""
    left_out: int
    """How many of these are of less than the least importance."""
    min_importance: float
    next_due_at: str | None
    """When the next one falls due that is not due yet."""


class Held(Result):
    """What each law reads of a memory at one instant."""

    strength: int
    stability_hours: float
    reinforce_count: int
    importance: float
    """As it was last set."""
    effective_importance: float
    """What the tiered law leaves of it."""
    tier: str
    law: str
    """The owner's, which the weight is of."""
    weight: float
    next_review_at: str
    interval_days: float
    scheduler: str


class Graded(Result):
    """What grading a memory did: its next review by each scheduler."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    grade: int
    id: str
    at: str
    owner: str
    changes: list[Change]
    before: Held
    after: Held | None
    decides: str
    """The owner's scheduler: a parameter."""
    schedulers: dict[str, dict[str, Any]] | None
    """By name: `due_at`, `interval_days`, and what it keeps of the memory; null where the event waits."""


class InboxItem(Result):
    """One thing that waits for a person."""

    item: str
    """What it is answered by: the id of the event that waits, or of the memory that is proposed."""
    kind: str
    """`negation`, `revision`, `merge`, `deletion`: what would be done to it; `reaffirmation`: it would hold again;
    `readmission`: the user said again what was rejected; or `proposal`."""
    memory_id: str
    memory: str | None
    """What it says; null of a readmission: no memory says it now."""
    would_say: str | None
    """What would be said then; null where nothing would, and of a proposal."""
    reason: str | None
    """Why, as whoever wanted it says."""
    actor: str
    principal: str | None
    """Who brought it, as the receiving side says."""
    at: str
    position: str


class InboxPage(Result):
    """What waits for a person, newest first."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    items: list[InboxItem]
    total: int
    offset: int
    taken: int
    """Places taken of `most`: a merge takes one for each memory on which it waits, and what is withheld meanwhile
    (its source is set aside, its value rejected) keeps its place."""
    most: int
    """At most so many: what has to wait beyond it changes nothing, and its history says so."""


class Answered(Result):
    """What a person answered, and what that did."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    owner: str
    changes: list[Change]
    id: str | None = None
    replaced_by: str | None = None
    into: str | None = None
    sources: list[str] | None = None
    item: str
    verdict: str
    """`accepted`, `edited` or `rejected`."""


class OwnerProfile(Result):
    """The law that an owner's recall and lifecycle go by."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    profile: str
    formula: str
    source: str
    thresholds: dict[str, float]
    """Least weight shown in normal and in review mode."""
    parameters: dict[str, dict[str, float | int | str | bool]]
    """Those that are not the defaults, by name: `value` and `default`."""
    changes: list[Change] | None = None
    """What choosing changed."""


class LawReading(Result):
    """What one law shows of the owner."""

    threshold: float
    """Least unclipped weight shown in normal mode."""
    shown: int
    withheld: list[Withheld]


class Pair(Result):
    """How far two laws agree."""

    laws: list[str]
    shown_by_one: int
    """Memories that only one of them shows."""
    rank_correlation: float | None
    """Spearman's; null where a law tells nothing apart."""


class Standing(Result):
    """Where one memory stands under one law."""

    weight: float
    """Unclipped, as the threshold reads it."""
    level: str
    shown: bool
    """In normal mode."""
    reason: str | None
    """Why it is withheld; null where it is shown."""
    rank: float
    """1 for the heaviest; equal weights share the mean of their places."""


class ComparedMemory(Result):
    """One memory under every law."""

    id: str
    memory: str
    """Its text; `[withheld: ...]` for a secret."""
    category: str
    kind: str
    status: str
    tier: str
    laws: dict[str, Standing]
    spread: float
    """Between its highest and its lowest rank."""


class Compared(Result):
    """An owner's memories under every law, those first on which the laws disagree most."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    profile: str
    laws: dict[str, LawReading]
    pairs: list[Pair]
    memories: list[ComparedMemory]
    total: int
    """Memories that are neither deleted, merged away nor retired."""
    offset: int
    owner: str
    instant: str


class Curve(Result):
    """One law's curve; one element an instant."""

    threshold: float
    """Of normal mode, by the parameters in force at the end."""
    weights: list[float | None]
    """Unclipped; null before its creation and after its purge."""
    shown: list[bool]
    """In normal mode under this law."""


class Jump(Result):
    """A weight just before an event and just after it."""

    before: float | None
    after: float | None


class Touch(Result):
    """An event that changed the memory, or the parameters by which it is read."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    time: str
    event: str
    decision: str
    """As in the change log; `access` of what writes no entry there."""
    reason: str
    weights: dict[str, Jump]


class Curves(Result):
    """One memory's weights under every law over time."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    id: str
    title: str
    window: dict[str, str]
    """`from` and `to`, the instants between which the curves run."""
    times: list[str]
    """Evenly spaced instants, and two for every event: just before it and at it."""
    laws: dict[str, Curve]
    events: list[Touch]
    folded_together: int


class Replayed(Result):
    """What a replay under other parameters, or without some events, makes different."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    owner: str
    set: dict[str, float | int | str | bool]
    without: list[str]
    without_actors: list[str]
    events: dict[str, int]
    differences: list[dict[str, Any]]
    query: dict[str, Any] | None = None


class Decided(Result):
    """Something that fell due by itself."""

    job: str
    action: str
    """compress, delete, purge, promote, keep, merge, link or replay."""
    ids: list[str]
    """The memories that it is about."""
    due_at: str
    """When it fell due: the same whenever the jobs run."""
    reason: str
    event: str
    """The type of the event that carries it out."""


class AskedOf(Result):
    """A question to a reviewer that is no rule."""

    id: str
    """The memory that it is about."""
    review: str
    """promotion or decay."""
    due_at: str
    """When the memory crossed the threshold."""


class Cleaned(Result):
    """What the lifecycle jobs decided for one owner, or would decide."""

    owner: str
    counts: dict[str, int]
    """How many decisions, by action."""
    decisions: list[Decided]
    appended: int
    """How many of them are in the log now; none after a dry run."""
    position: str
    """The position that was decided at, or of the last decision."""
    dry_run: bool
    jobs: list[str]
    kept_days: float
    """For how many days what is deleted can be restored."""
    reviewer: str
    """Who answers in a review: rule, or model and which."""
    asked: list[AskedOf]
    """What a model was asked; in a dry run, what it would be asked."""
    left_open: int
    """Questions without an answer that was followed: asked again at the next run."""
    held_back: int
    """Of those, deletions beyond what a model may delete in one run."""
    requests: int
    """Requests to the model."""
    input_tokens: int
    output_tokens: int
    failure: str | None
    """Why the model could not be asked, or an answer of it not be used."""


class Episode(Result):
    """An episode that was made, or would be."""

    memory_id: str
    session: str | None
    content: str
    """The time of its first message in the owner's zone, and what was said."""
    turns: list[str]
    """Ids of the turns that it tells of."""
    at: str
    """When the last of them was said."""
    reason: str


class Used(Result):
    """A memory that a reply rested on."""

    memory_id: str
    session: str | None
    at: str
    """When the reply was given."""
    reason: str


class Left(Result):
    """What an owner's sessions left behind, or would leave."""

    owner: str
    counts: dict[str, int]
    """How many decisions, by action: summarise, use."""
    appended: int
    """How many of them are in the log now; none after a dry run."""
    position: str | None
    """The position that was decided at, or of the last decision."""
    by_model: int
    """Episodes in a model's words."""
    refused: int
    """Episodes for which the model gave nothing usable: made without it."""
    failure: str | None
    """Why the model could be asked no more, or its last answer not be used."""
    down: bool
    """Whether the model's endpoint failed: what is left is made by the next run."""
    requests: int
    """Requests to the model; its tokens likewise."""
    input_tokens: int
    output_tokens: int
    dry_run: bool
    episodes: list[Episode]
    uses: list[Used]


class LawShape(Result):
    """One law by which memories can be weighed."""

    name: str
    formula: str
    factors: dict[str, str]
    """What each factor says, with its unit or range."""
    thresholds: dict[str, float]
    """Least weight of normal and review mode, at the defaults."""
    source: str


class Laws(Result):
    """Every law there is."""

    laws: list[LawShape]


class OwnerCount(Result):
    """One owner of the store."""

    owner: str
    partition: int
    memories: int


class OwnerPage(Result):
    """A page of owners, in the order of their names."""

    owners: list[OwnerCount]
    matching: int
    """How many owners of the store begin with the prefix."""
    next: str | None
    """What to give as `after` for the next page; null on the last."""


class Inboxes(Result):
    """What waits for a person in all inboxes together."""

    waiting: int
    """Things that wait, what is withheld meanwhile too."""
    full: int
    """Owners of whom as much waits as may: nothing more of what has to wait is taken of them."""


class PartitionStatus(Result):
    """Where one partition stands."""

    partition: int
    head: int
    checkpoint: int
    lag: int
    checkpoint_age: float | None
    """How long the oldest event that is not folded has waited, seconds by Redis's clock; 0 where all is folded,
    null where the log does not tell."""
    holder: str | None
    epoch: int
    quarantined: list[str]
    memories: int
    waiting: int
    """Things that wait for a person, of all its owners."""
    full_inboxes: int
    """Owners of whom as much waits as may."""
    refused: int
    """Events that say what a person rejected, and so changed nothing."""
    build: str
    chain: str | None
    digest: str | None
    rebuild: dict[str, Any] | None = None


class Ticks(Result):
    """When a kind of job was and is scheduled."""

    last_tick: str
    next_tick: str | None
    """Null where no job worker runs."""
    every_minutes: int


class JobsDone(Result):
    """When a kind of job last ran through, over the partitions; null where it never did."""

    every_minutes: int
    oldest: str | None
    """Of the partition that waits longest."""
    newest: str | None
    seconds: float | None
    """What the slowest partition's last run took."""
    partitions: int
    """Partitions that ever had it done."""


class Schedule(Result):
    """Who schedules the lifecycle jobs, and their queue."""

    leader: str | None
    """The job worker that schedules; null where none runs."""
    last_tick: str | None
    """The newest tick whose jobs were enqueued."""
    next_tick: str | None
    queued: int | None
    """Jobs that wait; all fields are null where the queue does not answer."""
    running: int | None
    failed: int | None
    """Jobs that failed for good in the last seven days."""
    refused: int | None = None
    """What lay in the queue and was no job of this store, ever."""
    beside: dict[str, Ticks] | None = None
    """What is scheduled beside the lifecycle, by kind: `embed`, `extract`."""
    stopped: dict[str, str] | None = None
    """Why a kind of job stopped when it last ran, such as a language model that is down."""
    done: dict[str, JobsDone] | None = None
    """When each kind of job that is scheduled last ran through, by kind."""
    problem: str | None = None
    """Why nothing is known, where nothing is."""


class AlarmStanding(Result):
    """One alarm."""

    name: str
    severity: Literal["stopped", "warning"]
    """`stopped`: `/ready` says 503 while it stands."""
    subject: str
    """What it is about; empty for the whole store."""
    text: str
    meaning: str
    """What happened and what to do."""
    ends: Literal["itself", "operator"]
    """Who clears it."""
    first: str
    last: str
    count: int
    """How often it was raised since it was last cleared."""
    by: str
    """The process that raised it last."""


class AccessFigures(Result):
    """What was recorded of what was shown."""

    recorded: int = 0
    """Accesses that this server appended since it began."""
    waiting: int = 0
    """Accesses that wait here for the next append, within a second."""
    dropped: int = 0
    """Accesses that this server lost since it began."""
    lost: int
    """Accesses that any process lost since the alarm `accesses_lost` was last cleared."""


class StoreStatus(Result):
    """The store as it stands."""

    store_id: str
    events: int
    memories: int
    lag: int
    """Events appended but not yet folded."""
    inboxes: Inboxes
    refused: int
    """Events that say what a person rejected, and so changed nothing."""
    partitions: list[PartitionStatus]
    workers: list[dict[str, Any]]
    memory: dict[str, Any]
    lifecycle: Schedule
    alarms: list[AlarmStanding]
    accesses: AccessFigures
    sealed: bool
    notice: str


class AlarmsStanding(Result):
    """Every alarm that stands."""

    alarms: list[AlarmStanding]
