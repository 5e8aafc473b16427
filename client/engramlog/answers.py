"""What the verbs of `engramlog.questions` answer. Fields that this version does not know are kept (`model_extra`).

Made by `make client` of the application's operations: change those, and make it again.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from engramlog.results import AsideTold, CorrectedBy, PossibleConflict, Result, Skipped, Withheld


class ValueCount(Result):
    """How many memories have one value."""

    value: str
    count: int


class FacetCounts(Result):
    """Counts by the values of one filter, as if that filter were not told."""

    counts: list[ValueCount]
    """Every value of a closed list, in its order; of kinds and tags the 50 of the most memories."""
    left_out: int
    """Other values that some memory has."""


class Counts(Result):
    """How many memories a list has, by the values of its filters."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    since: str | None = None
    """Created at this instant or later."""
    until: str | None = None
    """Created before this instant."""
    updated_since: str | None = None
    """Made or revised at this instant or later."""
    updated_until: str | None = None
    """Made or revised before this instant."""
    owner: str
    mode: str
    total: int
    """Memories that the mode shows and all filters match."""
    by_status: FacetCounts
    by_level: FacetCounts
    by_trust: FacetCounts
    by_tier: FacetCounts
    by_category: FacetCounts
    by_sensitivity: FacetCounts
    by_source: FacetCounts
    by_flag: FacetCounts
    by_kind: FacetCounts
    by_tag: FacetCounts
    """Context tags, whatever their case."""
    by_law: FacetCounts
    """How many of what the filters match, whatever the mode asked for, each law shows in normal mode."""


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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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


class LoggedEvent(Result):
    """One event of the log. Words that may not be told stand as `[withheld: ...]`; ids, numbers and times stay."""

    position: str
    event_id: str
    type: str
    schema_version: int | None
    owner: str
    occurred_at: str | None
    """When it happened, as its producer says; null where it cannot be read."""
    recorded_at: str | None
    """When the log took it in."""
    late_by: float | None
    """Seconds, where it was recorded more than five minutes after it happened."""
    actor: str | None
    principal: str | None
    """Who brought it, as the receiving side says."""
    model: str | None
    """The language model that decided it, where that is known."""
    trust: str | None
    """How far its word goes: asserted, inferred, imported or proposed."""
    session_id: str | None
    causation_id: str | None
    correlation_id: str | None
    data: dict[str, Any] | None
    """As it is stored, but for words that are withheld."""
    withheld: str | None
    """Why words of it are: erased, purged, deleted, retracted, secret, set_aside, undecided, undecodable; null:
    none are."""
    folded: bool | None
    """Whether it is folded; false: it waits, or was dropped. Null where the whole partition is asked about."""
    problem: str | None
    """Why it cannot be read; null where it can."""
    bytes: int
    """Of its body in the log."""


class LogEvents(Result):
    """A page of the log's events."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str | None
    """Null where a partition is asked about."""
    partition: int
    events: list[LoggedEvent]
    next: str | None
    """The next page, as `cursor`; null where there is nothing further to look at. A page may be short, or empty,
    and have one: it looked at as many events as one page may."""
    follow: str
    """The cursor, oldest first, of what comes after: give it with `wait` to go on as events come."""
    order: str
    looked: int
    """How many events were looked at for this page."""
    looked_to: str | None
    """The last position that was looked at; null where none was."""
    head: str
    """The newest position of the partition at that time; `p:0` where it is empty."""


class AnsweredTurn(Result):
    """A turn for which memories were put into a prompt."""

    id: str
    """What `answers OWNER ID` takes: the turn's id, or the position of the newest injection."""
    turn_id: str | None
    """Null where nobody told it, and no message that follows says what was asked."""
    session: str | None
    injected_at: str | None
    """When something was first injected for it."""
    positions: list[str]
    """Of the injections, the newest ten."""
    principal: str | None
    """Who asked for the newest block."""
    memories: int
    """How many different memories were injected."""
    turn: TurnSaid | None
    """The turn, as far as it may be told; null where it is not recorded."""
    recorded_twice: bool
    """Whether several turns were recorded under this id: this is the newest."""
    replies: list[TurnSaid]
    """At most 20."""
    linked_by: str | None
    """reply_to: the replies name the turn; order: what the assistant said next in the session."""


class AnsweredTurns(Result):
    """The turns for which memories were injected, the newest first."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    answers: list[AnsweredTurn]
    total: int
    offset: int
    session: str | None
    since: str | None
    until: str | None


class HowMade(Result):
    """How a block was asked for."""

    at: str
    """The instant that it was made at."""
    upto: str
    """The owner's newest event that it was made of."""
    budget: int
    language: str
    messages: int
    threshold: float
    searches: int
    sensitive: bool
    proactive: bool
    include_faded: bool | None
    trust: str | None
    stable_budget: int | None = None
    """Of two parts, what the stable one might take; null of one block."""


class WithheldFromBlock(Result):
    """Something that stood in a block and is not told today."""

    kind: str
    """memory, turn or tool."""
    id: str
    reason: str
    """deleted, purged, sensitive, secret, or unknown."""


class BlockAsItWas(Result):
    """A block made again, and whether it is the one that was handed out."""

    text: str
    """As it is made again, without what is not told today; empty where it cannot be made."""
    stable: str | None = None
    """Of two parts the one that stays the same from turn to turn."""
    turn: str | None = None
    """Of two parts the one of this turn."""
    tokens: int
    tokens_then: int | None
    """What was handed out took; null of injections from before that was recorded."""
    as_it_was: bool | None
    """true: word for word what was handed out, by its digest; false: it differs; null: nobody can say."""
    why: str
    why_code: str | None = None
    """Which of the service's sentences `why` is."""
    withheld: list[WithheldFromBlock]


class Injected(Result):
    """One time that memories were put into a prompt for the turn."""

    position: str
    at: str
    principal: str | None
    read_at: str | None
    """The position that the block was read at."""
    memories: list[str]
    """Those that were new in it; the block may hold what was injected before, too."""
    made: HowMade | None
    """Null of injections from before that was recorded."""
    block: BlockAsItWas


class InjectedMemory(Result):
    """A memory that was injected: as it was then, and how it stands today."""

    id: str
    part: str | None
    """core, instructions, profile, remembered or retrieved; null where the block lacks it."""
    rank: int | None
    """Its place among the memories of the block, from 1."""
    closeness: float | None
    """How close it was to the turn, 0 to 1, where a search brought it."""
    long_ago: bool
    memory: str | None
    """Its text then, as much as was shown; null where it is withheld."""
    withheld: str | None
    """Why: deleted, purged, sensitive, secret, or unknown; or what it was then (proposed, merged, negated ...), of
    which nothing stands in a block."""
    weight: float | None
    """Then, under the owner's law."""
    trust: str | None
    """Then."""
    created_at: str | None
    status: str
    """Today."""
    trust_today: str | None
    since: list[str]
    """What became of it: negated, revised, corrected, more sensitive, merged, deleted, purged, set_aside ..."""


class OutcomeTold(Result):
    """How it went with a memory in an answer, as somebody reported it."""

    position: str
    at: str
    memory: str
    outcome: str
    """used, task_success, task_failure or manual_review."""
    from_memory: str | None
    """The memory that led there."""
    actor: str
    principal: str | None
    """Who brought it."""
    linked_by: str
    """turn_id: it names the turn or a reply; cause: one of them is its cause."""


class AnsweredInFull(Result):
    """What was injected for one turn, and each block as it was."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    id: str
    """What `answers OWNER ID` takes: the turn's id, or the position of the newest injection."""
    turn_id: str | None
    """Null where nobody told it, and no message that follows says what was asked."""
    session: str | None
    injected_at: str | None
    """When something was first injected for it."""
    positions: list[str]
    """Of the injections, the newest ten."""
    principal: str | None
    """Who asked for the newest block."""
    memories: int
    """How many different memories were injected."""
    turn: TurnSaid | None
    """The turn, as far as it may be told; null where it is not recorded."""
    recorded_twice: bool
    """Whether several turns were recorded under this id: this is the newest."""
    replies: list[TurnSaid]
    """At most 20."""
    linked_by: str | None
    """reply_to: the replies name the turn; order: what the assistant said next in the session."""
    owner: str
    injected: list[Injected]
    """In the order of the log, the newest ten."""
    injections_left_out: int
    injected_memories: list[InjectedMemory]
    """Each once, as in the newest of these that brought it."""
    outcomes: list[OutcomeTold]
    """Reported for the turn or a reply, the newest 100, oldest first."""
    outcomes_left_out: int
    note: str | None
    """Said where nothing was recorded for the turn."""


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
    source_erased: bool | None = None
    """True: a turn that it was drawn from has lost its words for good; it stays."""


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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    """The model whose vectors are counted; null where none is, or it is not there."""
    chosen: str
    """What counts for the owner: `none`, `auto` (by its letters), or an embedder's name."""
    chosen_by: Literal["owner", "setting", "store"]
    """Where that stands: the owner's parameter `embedder`, ENGRAMLOG_EMBEDDER, or the store as it was made."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    """Of a topic: one of the five best hits; of an overview: what its cluster is joined to most."""
    cluster: int | None
    """None: it belongs with no other on this map."""


class MapReason(Result):
    """Why two memories on a map are joined."""

    link: str
    """keyword, meaning, co-task, temporal, co-hit, related, or what somebody told."""
    weight: float
    keywords: list[str]
    """The keywords that both have, the rarest first, at most five; of other links none."""


class MapEdge(Result):
    """What joins two memories on a map: its weight and `link` are those of the strongest reason."""

    from_: str = Field(alias="from")
    to: str
    weight: float
    link: str
    reasons: list[MapReason]
    """The strongest first."""


class Cluster(Result):
    """Memories, two at least, that are more joined with each other than with the rest, and the words that tell them apart."""

    id: int
    members: list[str]
    words: list[str]
    label: str


class KnowledgeMap(Result):
    """What is known about a topic, or the strongest of all that is known, as a graph."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    owner: str
    topic: str | None
    nodes: list[Node]
    edges: list[MapEdge]
    clusters: list[Cluster]
    depth: int
    weaker: int
    """Links weaker than `least`, which were not followed."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    reason_code: str | None = None
    """Which of the service's sentences `reason` is; null where it is somebody's own."""
    reason_values: dict[str, str] | None = None
    """What stands in its places, by their names."""
    law: str
    """Whose numbers these are: the weighted law's, or those that were asked for (`law`)."""
    old_weight: float | None
    new_weight: float | None
    delta: float | None
    weighed_at: str | None = None
    """At which instant the weights are, where the memory had met a later event; else null."""
    factors: dict[str, float] | None
    fields: list[str]
    version: int | None
    content_hash: str | None
    actor: str | None = None
    """Who caused it; told by history and why."""
    correlation_id: str | None = None
    """The event's; `extract:MODEL`, `review:MODEL`, `sessions:MODEL` where a language model decided."""
    recorded_at: str | None = None
    """When the log took it in, by Redis's clock."""
    principal: str | None = None
    """Who brought it, as the receiving side says."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    """A source that is set aside, and what that withholds."""

    session: str | None
    principal: str | None
    of_actor: str | None
    since: str
    """When it was set aside."""
    set_aside_at: str
    """Position of the event that did."""
    by_actor: str | None = None
    """Who set it aside."""
    by_principal: str | None = None
    """Who called."""
    reason: str
    memories: int
    """Withheld by it; what several withhold counts for the first of them."""


class SourcesAside(Result):
    """What is set aside now."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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


class NamedSourceTold(Result):
    """A session, a principal, an actor, a language model or a source, by the name under which `replay` strikes it."""

    by: Literal["session", "principal", "actor", "model", "source"]
    """What the name is."""
    name: str
    masked: bool
    """Whether the name is withheld: it looks like a secret."""
    events: int
    """That tell it."""
    memories: int
    """That these events were the first to tell."""
    late: int
    """Events recorded more than five minutes after they happened."""
    first_happened: str
    last_happened: str
    first_recorded: str | None
    """When the log took in the oldest of them."""
    last_recorded: str | None
    set_aside: AsideTold | None
    """That it is set aside today."""
    partly_aside: int
    """How many sources set aside today are a part of it: it together with something else, or a model's principal."""


class SourcesNamed(Result):
    """Who spoke to an owner, by what happened last, the newest first; then by name."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    sources: list[NamedSourceTold]
    total: int
    offset: int
    by: list[str]
    """What was asked for."""
    search: str | None
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    events: int
    """That were counted, each once."""
    left_out: dict[str, int]
    """By what a name is, events that tell one beyond the first 10,000: `search` and the spans find them."""
    withheld: int
    """Events that name a URI that may not be told: what rests on it is secret, deleted or purged."""
    hint: str | None
    """That nothing of the owner is recorded."""


class HappenedEnds(Result):
    """From when to when things happened, as their producers say."""

    first: str | None
    """Null where there is no event."""
    last: str | None
    """The latest of all, though it lies ahead."""
    ahead: str | None
    """The same, where it lies in the future of what is asked about: later than now, or than `known`; else null."""


class RecordedEnds(Result):
    """From when to when the log took them in."""

    first: str | None
    """Null where there is no event."""
    last: str | None


class GroupCounts(Result):
    """How many events of each kind lie in each part."""

    made: list[int]
    """Memories and facts that are new."""
    changed: list[int]
    """Whatever else alters what is there, or how it is read."""
    ended: list[int]
    """Negated, deleted, purged, retracted, rejected, or of a source that was set aside."""
    seen: list[int]
    """Shown, or revealed."""
    talk: list[int]
    """Turns, tool results, and turns that were read for what they say."""


class LineBuckets(Result):
    """One line in equal parts. Part number i, from 0, begins `i * seconds` after `since`; the last one ends with `until`."""

    since: str | None
    """Null where no event lies there, and nobody told an end."""
    until: str | None
    seconds: float
    """How long each part is."""
    events: int
    """How many lie there: the sum of `counts`."""
    counts: list[int]
    """As many as there are parts."""
    groups: GroupCounts | None
    """Null unless asked for."""


class TimeBuckets(Result):
    """Both lines in parts."""

    count: int
    """How many parts each has."""
    happened: LineBuckets
    recorded: LineBuckets


class OwnerTimes(Result):
    """Both time lines of an owner at a glance."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    happened: HappenedEnds
    recorded: RecordedEnds
    events: int
    """Folded events that count, whatever the spans."""
    late: int
    """Of these, how many were recorded more than five minutes after they happened."""
    buckets: TimeBuckets
    """Of the events that lie in every span that is told; what tells no recorded time is on no recorded line."""
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    hint: str | None
    """Where nothing of the owner is recorded; else null."""


class SomeMemories(Result):
    """Memories, the first hundred by id."""

    total: int
    ids: list[str]


class SourceSaid(Result):
    """What setting a source aside withholds, or bringing it back shows again, and what it did to memories of others."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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


class RestoredMany(Result):
    """What became of a request to restore memories."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    owner: str
    restored: list[str]
    """In the order asked for; with `dry_run` what would be."""
    skipped: list[Skipped]
    """Those asked for that were not restored, and why."""
    also: list[Skipped]
    """What came back with them."""
    not_restored: list[Skipped]
    """What went with them and stays deleted, and why."""
    readmitted: list[str]
    """Those of which what they say was rejected, and is no more."""
    dry_run: bool
    """Whether nothing was written."""
    position: str
    """Of the last restoration, or the one at which there was nothing to restore."""
    waiting: list[str] | None = None
    """Written, but parked behind an event of the owner that cannot be folded."""
    error: dict[str, Any] | None = None
    """What stopped it half-way."""


class InboxItem(Result):
    """One thing that waits for a person."""

    item: str
    """What it is answered by: the id of the event that waits, or of the memory that is proposed."""
    kind: str
    """`negation`, `revision`, `merge`, `deletion`: what would be done to it; `reaffirmation`: it would hold again;
    `readmission`: the user said again what was rejected; `suggested_merge`, `suggested_link`: what might be
    done with two memories; or `proposal`."""
    memory_id: str
    about: list[str]
    """Ids of the two that a suggestion is about; none of anything else."""
    memory: str | None
    """What it says; null of a readmission: no memory says it now."""
    would_say: str | None
    """What would be said then; null where nothing would, and of a proposal."""
    reason: str | None
    """Why, as whoever wanted it says."""
    reason_code: str | None = None
    """Which of the service's sentences `reason` is; null where it is somebody's own."""
    reason_values: dict[str, str] | None = None
    """What stands in its places, by their names."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    dry_run: bool = False
    """Nothing was written: `changes` is what the fold would tell if these events came next, at positions that are
    free so far, and `position` is where that was computed."""
    item: str
    verdict: str
    """`accepted`, `edited` or `rejected`."""
    done: str
    """What was done, in words."""
    done_code: str
    """The same in one: `linked`, `merged`, `counts`, `holds_again`, `negated`, `revised`, `deleted`, `kept_again`,
    `stays`, `refused`, `dismissed` or `nothing`."""


class OwnerProfile(Result):
    """The law that an owner's recall and lifecycle go by."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    warning: str | None = None
    """Why this process will not use the embedder that the parameters name; not there where it will."""


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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
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


class StruckEvent(Result):
    """An event that is struck."""

    position: str
    event_id: str
    event: str
    """Its type."""
    memory: str | None
    """The memory that it is about, the first that it names."""
    because: str
    """`named`; `caused` (by what is struck); `same_turn` (it says a turn that is struck); `of_turn` (it was done
    for such a turn); `source_turns` (all turns that it was read in are struck); `merges`, `summarises` (what is
    struck)."""
    of: str
    """What was named; or the position of its cause, the turn, the memory."""


class StaysTold(Result):
    """A memory that was drawn from what is struck, and stays."""

    memory: str
    position: str
    """Of the event that made it."""
    because: str
    """`other_turns`: a turn that stands says it too; `said_again`: the user said it again elsewhere."""
    of: str
    """That turn, or the position of what he said."""


class EventsCounted(Result):
    """Events of one kind."""

    kind: str
    """Their type; `reply` and `access` where others decided in the light of what is struck."""
    events: int
    first: list[str]
    """Positions of the first three."""


class SideStanding(Result):
    """Where a memory stands on one of two sides."""

    weight: float
    """Unclipped, by the owner's law on that side."""
    level: str
    status: str
    trust: str
    is_negated: bool
    mention_count: int
    shown: bool
    """Whether the mode shows it where nothing is asked."""
    reason: str | None
    """Why the mode withholds it; null where it is shown."""


class ReplayedDiffer(Result):
    """A memory that stands otherwise in a replay, or on one side alone."""

    id: str
    memory: str | None
    """What it says, as answered, else as it would be; null of what is purged, or deleted (but in debug mode)."""
    today: SideStanding | None
    """As it is answered; null where there is no such memory."""
    replayed: SideStanding | None
    """As it would be; null where there would be no such memory."""
    fields: list[str]
    """What it says that differs, by name."""


class RankMoved(Result):
    """A result that stands elsewhere, came or went."""

    id: str
    before: int | None
    """Its rank, 1 for the first; null where it is not among the results."""
    after: int | None
    passed: str | None
    """Of one that fell what newly stands directly above it; of one that rose what stood there and is no longer
    above it. Null where that is no other than before, or one side lacks it."""


class QuestionMoved(Result):
    """One question's results on two sides."""

    query: str
    before: list[str]
    """Ids, the best first."""
    after: list[str]
    moved: list[RankMoved]


class Replayed(Result):
    """What a replay under other parameters, or without some events, makes different."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    struck: list[StruckEvent]
    """A page, in the order of the log."""
    struck_total: int
    struck_because: dict[str, int]
    """How many of all for which reason."""
    stays: list[StaysTold]
    """A page of what was drawn from what is struck, and stays."""
    stays_total: int
    without_effect: list[EventsCounted]
    """Events that are folded and fall into nothing: about memories that are not made."""
    in_its_light: list[EventsCounted]
    """What others decided who saw what is struck, and what is folded all the same: replies, accesses, decisions of
    jobs and reviewers by type."""
    without: list[str]
    without_turns: list[str]
    without_sessions: list[str]
    without_sources: list[str]
    without_actors: list[str]
    without_principals: list[str]
    without_correlations: list[str]
    without_models: list[str]
    owner: str
    set: dict[str, float | int | str | bool]
    profile: str | None = None
    """The law that was folded and read under; null for the owner's own."""
    alone: bool
    mode: str
    events: dict[str, int]
    """How many were folded, `today` and `replayed`."""
    differences: list[ReplayedDiffer]
    """A page; what is answered first, in its order."""
    changed_fields: dict[str, int]
    """In what those differ that both sides have, and how many: weight, status, content ..."""
    total: int
    """Of the differences."""
    offset: int
    questions: list[QuestionMoved]
    """`before` as it is answered, `after` as it would be."""
    query: dict[str, Any] | None = None
    """The first question, as `today` and `replayed`."""


class SideTold(Result):
    """One of the two sides."""

    asked: str | None
    """The moment as it was asked for; null is now."""
    instant: str
    """At which its weights are computed."""
    position: str
    events: int
    """How many of the owner's events it is made of."""


class DiffCounts(Result):
    """How many memories differ, by kind, and how many weights alone moved, by cause."""

    made: int
    gone: int
    changed: int
    crossed: int
    by_time: int
    by_access: int
    by_owner: int
    by_others: int


class EventCause(Result):
    """An event that is part of one side and not of the other, as the change log has it."""

    position: str
    event_id: str
    event: str
    memory: str | None
    """Which memory it was about; null where it was about the owner."""
    time: str
    """When it happened, as its producer says."""
    recorded_at: str | None
    """When the log took it in; null where nobody noted that."""
    late_by: float | None
    """Seconds, where it was recorded more than five minutes after `time`."""
    decision: str
    """What it did; `access` where it only showed the memory."""
    reason: str
    """The fold's own words."""
    actor: str | None
    principal: str | None
    """Who brought it; null where nobody noted that."""
    correlation_id: str | None
    said_reason: str | None
    """Why, in its sender's words, as far as they may be told today."""
    because: str | None
    """Why the memory is kept, as a creation or a revision tells."""
    side: str
    """`after` or `before`: the side that it is part of."""


class RankOf(Result):
    """A memory's rank among the results of one question on the two sides."""

    question: int
    """Which of `questions`, from 0."""
    before: int | None
    after: int | None


class MemoryDiffers(Result):
    """A memory that differs between two moments, and by what."""

    id: str
    before: SideStanding | None
    """Null where that side has no such memory."""
    after: SideStanding | None
    """Null where that side has no such memory."""
    fields: list[str]
    """What it says that differs, by name."""
    kind: str
    """`made`, `gone` (absent, deleted or purged by the end), `changed` (by events, or in what it says), `crossed`
    (shown or not, level, reason or rank, and no event was about it) or `weight` (nothing else moved)."""
    memory: str | None
    """What it says on the later side that has it; null of what is purged, and but in debug mode of what is deleted
    on both."""
    was: str | None
    """What it said before, where that is another text."""
    deleted_since: bool
    """Whether somebody deleted it by today, though the later side has it."""
    cause: str
    """`events`; `access` (it was shown); `owner` (another law, other parameters, something set aside or rejected);
    `others` (what happened to other memories); or `time`."""
    causes: list[EventCause]
    """The newest of its events, the newest first."""
    more_causes: int
    """How many more there are."""
    ranks: list[RankOf]
    """Of the questions among whose results it stands elsewhere."""


class FromTo(Result):
    """A value on the two sides."""

    before: Any
    after: Any


class OwnerChanged(Result):
    """And the events about the owner that are part of one side alone."""

    profile: FromTo | None
    """The law; null where it is the same."""
    parameters: dict[str, FromTo]
    """Those that differ, by name."""
    causes: list[EventCause]
    more_causes: int


class ByWhom(Result):
    """How many events of one principal and actor are the causes."""

    principal: str | None
    actor: str | None
    events: int


class Diff(Result):
    """What changed between two moments, by whom and why."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    line: str
    """`known` or `happened`: the time line that the moments stand on."""
    mode: str
    before: SideTold
    after: SideTold
    counts: DiffCounts
    memories: list[MemoryDiffers]
    """A page of them: made, gone, changed, crossed, weight."""
    total: int
    """How many are listed in all."""
    offset: int
    owner_changes: OwnerChanged
    by_principal: list[ByWhom]
    """Who brought the events about memories that differ and about the owner, the most events first; 100 at most."""
    questions: list[QuestionMoved]
    on_other_line: int | None = None
    """How many memories were made, gone or changed between the same moments on the other line; null where a moment
    is a position, `as_of` or `known` is told, or it took too long."""
    hint: str | None
    """How many those are on each line, where they are not the same; or that the owner is unknown."""


class Absent(Result):
    """Why a memory is not among the results."""

    why: str
    """`withheld` by the mode, `filtered`, `no_match`, or `too_weak`: it matches, and is not among the best that
    are ranked at all."""
    reason: str | None
    """Why the mode withholds it."""
    shown_by: str | None
    """The mode, or the command, that shows it."""
    filters: list[str]
    """Names of the filters that it does not pass."""


class AboveSide(Result):
    """One of two memories under a question's ranking."""

    id: str
    memory: str | None
    rank: int | None
    """1 for the first, of all results; null where it is none."""
    score: float | None
    weight: float
    holds: list[str]
    """Words of the question that it holds, as search cuts them."""
    lacks: list[str]
    absent: Absent | None
    """Why it is no result; null where it is one."""


class TermBeside(Result):
    """One part of both scores."""

    term: str
    """Its name, as `explain.score` of a search has it."""
    first: float | None
    """What it adds to the first one's score; null where that is not ranked."""
    second: float | None
    difference: float | None
    """`first` less `second`; null where one of the two is not ranked."""


class RuleTold(Result):
    """A rule that acts beside what matches."""

    rule: str
    """`current_first` (it replaced `others`, so it stands above them), `corrected` (by `others`; the question asks
    for what still holds of it), `for_a_time` (until then it stands above `others`, or it holds again and they
    are over), `associated` (activation reached it)."""
    of: str
    others: list[str]


class Above(Result):
    """Why one memory stands above another for a question, or below it."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    at: str | None
    owner: str
    query: str
    order: str
    """`above`, `below`, or `neither` where neither is a result: of the first to the second."""
    tied: bool
    """Whether both scores are equal: then what was made later stands above."""
    sentence: str
    language: str
    """Of the sentence: `en` or `zh`."""
    first: AboveSide
    second: AboveSide
    difference: float | None
    """Of the scores; the terms' differences add up to it."""
    terms: list[TermBeside]
    """The most decisive first."""
    rules: list[RuleTold]
    mode: str
    ranking: str
    search_mode: str
    meaning: str | None
    """Why meaning was not compared, where it was asked for and failed."""


class InstantsRow(Result):
    """One memory; each list has one element an instant."""

    id: str
    text: str | None
    """Its text, shortened; `[withheld: ...]` for a secret. Null of what is deleted or rejected today, but in debug
    mode, and of what is purged."""
    weights: list[float | None]
    """As `get` tells it of that instant; null where it was not there, or is purged."""
    ranks: list[int | None]
    """Its place among these rows, 1 for the first; null where it is not shown, or does not match the question."""
    withheld: list[int | None]
    """Why it is not shown, by number in `reasons`; null where it is shown, or was not there."""
    scores: list[float | None] | None = None
    """Of the question, null where it does not match; no list where none was asked."""


class InstantsMark(Result):
    """An event that named some of the rows."""

    position: str
    event_id: str
    event: str
    time: str
    """When it happened."""
    recorded_at: str | None
    """When it was recorded."""
    ids: list[str]
    """Of the rows that it names."""


class InstantsTold(Result):
    """Weights and ranks of some memories at many instants, so that a hand on a time line can move without asking again."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    line: str
    """`happened` or `known`: which time line the instants are on."""
    mode: str
    law: str | None
    """The law that was asked for; null: the owner's own at each instant."""
    laws: list[str]
    """The laws by which was weighed."""
    law_at: list[int]
    """Of each instant the number of its law in `laws`."""
    query: str | None
    """The question; masked where it looks like a secret."""
    ranked_by: str
    """`score` where something is asked, else `activated` (as `list`) or `weight`."""
    instants: list[str]
    """Evenly spaced, ascending, both ends among them."""
    reasons: list[str]
    """Why a memory is withheld: what the numbers in `withheld` stand for."""
    rows: list[InstantsRow]
    unknown: list[str]
    """Ids that were told, of which nothing is known here."""
    marks: list[InstantsMark]
    """Events of the span about the rows, the oldest first; 100 at most."""
    marks_left_out: int
    exact_at: str
    """The position at which the question was ranked: what words and meaning say is held from there, weights are
    not."""
    exact_now: str
    """The instant at which it was."""
    meaning: str | None
    """Why meaning was not compared although it was asked for; null where it was."""


class UndoEvent(Result):
    """An event that undoes, of a person."""

    event: str
    memory: str | None
    """The memory that it is about; null where it is about a source or the owner."""


class NotUndoneTold(Result):
    """What is struck and no event undoes."""

    kind: str
    """The type of the events."""
    why: str
    why_code: str | None = None
    """Which of the service's sentences `why` is, where it has a name."""
    events: int
    first: list[str]
    """Positions of the first three."""


class StandsOtherwise(Result):
    """A memory that stands otherwise afterwards than a replay has it."""

    id: str
    fields: list[str]
    """What differs, by name."""
    retracted: SideStanding | None
    replayed: SideStanding | None


class Retracted(Result):
    """What undoing a part of a history reaches, or reached."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    struck: list[StruckEvent]
    """A page, in the order of the log."""
    struck_total: int
    struck_because: dict[str, int]
    """How many of all for which reason."""
    stays: list[StaysTold]
    """A page of what was drawn from what is struck, and stays."""
    stays_total: int
    without_effect: list[EventsCounted]
    """Events that are folded and fall into nothing: about memories that are not made."""
    in_its_light: list[EventsCounted]
    """What others decided who saw what is struck, and what is folded all the same: replies, accesses, decisions of
    jobs and reviewers by type."""
    without: list[str]
    without_turns: list[str]
    without_sessions: list[str]
    without_sources: list[str]
    without_actors: list[str]
    without_principals: list[str]
    without_correlations: list[str]
    without_models: list[str]
    owner: str
    dry_run: bool
    """Whether this only tells what would be done: nothing was written."""
    again: bool
    """Whether it was carried out before, under this reach or key."""
    alone: bool
    mode: str
    offset: int
    reach: str
    """What it reaches, as a digest: carrying it out asks for it."""
    undoes: list[UndoEvent]
    """A page of the events that undo."""
    undoes_total: int
    goes: SomeMemories
    """Shown by normal mode, and no more then."""
    comes_back: SomeMemories
    """Shown by normal mode then, and not before."""
    changed: SomeMemories
    """Stand otherwise then."""
    changed_fields: dict[str, int]
    """In what these do, and how many: weight, status, content ..."""
    not_undone: list[NotUndoneTold]
    """What is struck and no event undoes: it stays as it is."""
    remains: list[StandsOtherwise]
    """A page of the memories that then stand otherwise than a replay without what is struck has them."""
    remains_total: int
    questions: list[QuestionMoved]
    """`before` as it is answered, `after` as it would be then."""
    changes: list[Change]
    """Entries of the change log, where it was carried out."""


class Decided(Result):
    """Something that fell due by itself."""

    job: str
    action: str
    """compress, delete, purge, promote, keep, merge, link, replay, raise, abstract or suggest."""
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


class AskedForPatterns(Result):
    """What a model was asked about patterns; in a dry run, what it would be asked."""

    model: str
    questions: int
    requests: int
    """Requests to the model, repeated ones too."""
    input_tokens: int
    output_tokens: int
    failure: str | None
    """Why it could not be asked, or an answer of it not be used."""


class LookedAt(Result):
    """How many of a kind were compared by their vectors, and how many were not, by reason."""

    compared: int
    without_vector: int
    """They have no vector under the model yet: `embed` computes it."""
    unread: int
    """The model does not read their letters: nothing is compared by noise."""
    older: int
    """They came before the newest that are looked at."""


class ComparedByVectors(Result):
    """What the job `suggest` looked at, and what it left out."""

    model: str
    statements: LookedAt
    """For merges and links: the newest 10,000."""
    turns: LookedAt
    """For questions that are asked again: the newest 10,000."""
    full: bool
    """There was no room for all that was found, or for anything: it is suggested once some that wait are answered."""


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
    abstraction: AskedForPatterns | None
    """Of the job `abstract` where ENGRAMLOG_REVIEWER is `model`; else null."""
    compared: ComparedByVectors | None
    """Of the job `suggest`; else null."""


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


class ParameterShape(Result):
    """One parameter of the laws and modes: what it may be, and what it does. Every owner can have it otherwise."""

    name: str
    """As `profile --set` and `replay --set` take it."""
    kind: Literal["int", "float", "str", "bool"]
    """A whole number is a float too."""
    default: float | int | str | bool
    least: float | None
    """Of a number; null of anything else."""
    least_excluded: bool
    """Whether it must lie above `least`, and not at it."""
    most: float | None
    """Of a number, which may be as much."""
    choices: list[str | bool] | None
    """All that it may be, where that is a few words; else null."""
    allowed: str
    """The rule in words, as a refusal tells it."""
    help: str
    """What it is."""


class ParametersKnown(Result):
    """Every parameter that can be set."""

    parameters: list[ParameterShape]
    """In the order of the model."""


class OwnerCount(Result):
    """One owner of the store."""

    owner: str
    partition: int
    memories: int


class OwnerPage(Result):
    """A page of owners, in the order of their names."""

    owners: list[OwnerCount]
    matching: int
    """How many owners of the store begin with the prefix, and hold what was searched for."""
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
    """Who folds it; null where nobody has a lease that lasts."""
    lease_until: str | None = None
    """When the lease ends unless it is renewed, as each second it is."""
    lease_seconds: float | None = None
    """Seconds until then; null without a holder."""
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


class NodeReplica(Result):
    """A replica of a server, as its primary and the cluster tell of it."""

    name: str
    """host:port."""
    state: str
    """`online`; `not linked` where the cluster knows it and its primary does not; `unknown` where the primary does
    not answer; or another word of Redis."""
    behind_bytes: int | None = None
    """Bytes that it has not told to have."""
    seen_seconds: int | None = None
    """Since it was last heard of."""


class NodeStanding(Result):
    """A server that holds a store, or a primary of the Redis Cluster that does."""

    name: str
    """host:port; `socket` of one that is reached by a socket of its machine."""
    role: Literal["primary", "replica"] | None
    """Null where it does not tell."""
    reachable: bool
    problem: str | None = None
    """Why nothing could be asked of it."""
    slots: int | None = None
    """Slots of the cluster that it holds; null of one server."""
    partitions: list[int]
    """Partitions that it holds."""
    used_bytes: int | None
    """Memory in use."""
    max_bytes: int | None
    """Its maxmemory; null where it has none."""
    used_share: float | None
    replicas: list[NodeReplica]
    fsynced: bool | None
    """Whether its settings promise that every answered write is on disk and stays; null where it does not tell."""


class PartitionsAway(Result):
    """Partitions of which nothing can be read now, and why."""

    node: str | None = None
    """The node of the cluster that holds them; null where none does."""
    partitions: list[int]
    problem: str


class Ticks(Result):
    """When a kind of job was and is scheduled."""

    last_tick: str
    next_tick: str | None
    """Null where no job worker runs."""
    every_minutes: float


class JobsDone(Result):
    """When a kind of job last ran through, over the partitions; null where it never did."""

    every_minutes: float
    oldest: str | None
    """Of the partition that waits longest, among those that ever had it done."""
    newest: str | None
    waiting_since: str | None = None
    """Since when the partition waits that waits longest: where it never had it done, from when it is scheduled."""
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


class EmbedderStanding(Result):
    """What compares meanings for owners who chose nothing, in the process that answers."""

    name: str
    """`auto`, or an embedder's name."""
    chosen_by: Literal["setting", "store"]
    """Where that stands."""
    missing: list[str]
    """What of it this process lacks, or may not use: there it goes by words."""
    loaded: list[str]
    """Models in memory, or an endpoint that answered: vectors were made here."""


class ListeningTold(Result):
    """How the process that answers is asked, and where one operates."""

    by: Literal["loopback", "tls", "proxy"]
    """`loopback`: on its own machine alone; `tls`: by its own certificate; `proxy`: through a declared one."""
    certificate_ends: str | None = None
    """When its certificate ends; null where it has none."""
    operating: Literal["here", "socket", "port"]
    """Where routes about the whole store are answered: `here`, on the `socket` in the data folder alone, or on a
    `port` of their own too."""


class RestoredTold(Result):
    """What a store was restored from."""

    backup: str
    """The backup's id."""
    moment: str
    """Up to when it tells."""
    at: str
    """When it was brought into the store."""
    events: int
    """How many events came with it."""
    taken_over: str | None = None
    """When the store took the original's place; null while it takes nothing new."""
    reason: str | None = None
    """Why, as was said then."""


class SealingTold(Result):
    """Whether contents are sealed, under what, and whether that can be had."""

    on: bool
    key: str | None
    """The master key that is set, by its name; null where none is."""
    owners_locked: int
    """Owners whose fold stands still for want of their keys; it goes on by itself once they can be had."""
    reachable: bool | None
    """Whether the master key can be had, as this process found it within the last 15 seconds; null where contents
    are not sealed."""
    problem: str | None = None
    """Why not."""


class StoreStatus(Result):
    """The store as it stands."""

    store_id: str
    at: str | None = None
    """Redis's clock when this was read."""
    events: int
    memories: int
    lag: int
    """Events appended but not yet folded."""
    inboxes: Inboxes
    refused: int
    """Events that say what a person rejected, and so changed nothing."""
    partitions: list[PartitionStatus]
    workers: list[dict[str, Any]]
    """Fold workers that live: `seen`, their last sign of life; `folded` since they began; `rate`, events folded a
    second over the last ten seconds or so, null of one that has just begun."""
    silent: list[dict[str, Any]] | None = None
    """Workers that gave no sign of life for 3 seconds and did not take leave; after a minute they are forgotten."""
    nodes: list[NodeStanding] | None = None
    """The servers that hold the store: one Redis, or every primary of a Cluster."""
    unreachable: list[PartitionsAway] | None = None
    """Partitions of which nothing could be read now: they are not among `partitions`, nor in any sum."""
    unread: list[Literal["alarms", "workers", "restored", "backed_up"]] | None = None
    """What could not be read, since the node that keeps it is away: what is told of it is empty."""
    memory: dict[str, Any]
    """Of a Cluster that of its fullest node, by its name as `node`; `events_until_full` of the whole store."""
    lifecycle: Schedule
    alarms: list[AlarmStanding]
    accesses: AccessFigures
    embedder: EmbedderStanding | None = None
    """What compares meanings in this process; null where nothing does for owners who chose nothing."""
    listening: ListeningTold | None = None
    """How this process is asked; null of a command, which serves nobody."""
    restored: RestoredTold | None = None
    """From which backup the store was restored; null where it never was."""
    backed_up: str | None = None
    """The moment of the last `engramlog backup` of this store; null where none was made."""
    sealed: bool
    sealing: SealingTold | None = None
    """Under what contents are sealed, and whether it can be had."""
    notice: str


class AlarmsStanding(Result):
    """Every alarm that stands."""

    alarms: list[AlarmStanding]


class HeadKept(Result):
    """A head as it was written down outside of the store."""

    seq: int
    chain: str
    at: str
    """When it was written down, by the clock of the machine that did."""
    line: int
    """Number of its line in the file."""


class ChainHead(Result):
    """Where a partition's chain stands."""

    partition: int
    seq: int
    chain: str
    """SHA-256 over all stored events up to this seq, 64 hexadecimal digits."""
    at: str | None
    """When the log took in the event at this seq."""
    appended: int
    """The newest seq of the log; what lies between is not folded yet."""
    kept: HeadKept | None
    """The farthest head that this server's file keeps of the partition."""


class LogAccepted(Result):
    """Somebody accepted that the log is another than was written down."""

    partition: int
    seq: int
    at: str
    reason: str


class HeadsKeeping(Result):
    """The file in which this server keeps heads."""

    lines: int
    last: str | None
    """When the last line was written."""
    problems: list[str]
    """Where the file contradicts itself; at most ten."""
    accepted: list[LogAccepted]
    """Changes of the log that somebody accepted; the last hundred."""


class ChainHeads(Result):
    """The heads of the log's chains."""

    store_id: str
    at: str
    """Redis's clock when they were read."""
    partitions: int
    """Of the store, those without an event too."""
    heads: list[ChainHead]
    """Of partitions with events, in their order."""
    line: str
    """The same as a line of a file of kept heads: keep it elsewhere, and compare it later."""
    keeping: HeadsKeeping | None
    """Null where this process keeps no file."""


class PartitionCompared(Result):
    """How one partition's log meets the heads that were told of it."""

    partition: int
    state: Literal["agrees", "differs", "missing", "unread"]
    """`agrees`; `differs`: another chain; `missing`: the log ends before, or has a hole; `unread`: it agrees as
    far as was read, and that was not all."""
    heads: int
    agreed: int
    differing: int
    missing: int
    unread: int
    last_agreed: int | None
    """The farthest seq at which the chain is the one that was told."""
    read_to: int
    """The chain was computed from the first event up to this one."""
    appended: int
    """The newest seq of the log."""
    behind: int
    """Events after the farthest head that was told: no head told proves them."""


class HeadUnmet(Result):
    """A head that the log does not meet, or that was not reached."""

    position: str
    partition: int
    seq: int
    state: Literal["agrees", "differs", "missing", "unread"]
    line: int
    """Of the text, or of the file that it was cut from."""
    kept: str
    found: str | None
    """The log's chain there; null where it has no such event, or was not read."""


class HeadsCompared(Result):
    """How the log meets heads that somebody holds."""

    store_id: str
    agrees: bool
    """Every head was reached and is met, the text does not contradict itself and is about this store alone."""
    complete: bool
    """Every head was reached before `most` events were read."""
    lines: int
    heads: int
    """Heads that were compared; those before an acceptance are not."""
    agreed: int
    differing: int
    missing: int
    unread: int
    partitions: list[PartitionCompared]
    unmet: list[HeadUnmet]
    """The first hundred, by place."""
    problems: list[str]
    """Where the text contradicts itself; at most ten."""
    other_stores: list[str]
    """Stores that the text is about, and that are not this one."""
    accepted: list[LogAccepted]
    """Acceptances that the text tells; the last hundred."""
    uncovered: list[int]
    """Partitions with events of which the text tells no head."""
    events_read: int
    most: int


class OwnerHead(Result):
    """The head of an owner's chain, and whether it is the one that was told."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""
    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""
    position: str
    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""
    owner: str
    chain: str
    """Over the owner's change log, numbers of laws left out: 64 hexadecimal digits."""
    asked: str | None
    agrees: bool | None
    """Null where no chain was told."""


class JobStopped(Result):
    """Why a kind of job stopped when it last ran."""

    partitions: list[int]
    reason: str


class JobKind(Result):
    """One kind of job: how often it is due, how it last went, and how its jobs stand."""

    kind: str
    what: str
    """What it does, in a few words."""
    every_minutes: float | None
    """Null where it is not scheduled."""
    last_tick: str | None
    next_tick: str | None
    """Null where no job worker runs."""
    last_done: str | None
    """When a partition last had it done; null where none ever had."""
    oldest_done: str | None
    """Of the partition that had it done longest ago, among those that ever had."""
    waiting_since: str | None
    """Since when the partition waits that waits longest: where it never had it done, from when it is scheduled."""
    seconds: float | None
    """What the slowest partition's last run took."""
    done_partitions: int
    """Partitions that ever had it done."""
    queued: int
    running: int
    again: int
    failed: int
    stopped: list[JobStopped]
    """Until it runs through: a model that is down, a setting that is missing."""


class JobTold(Result):
    """One job: a kind, for one partition, of one tick."""

    id: str
    kind: str
    partition: int
    tick: str
    state: Literal["running", "again", "failed", "queued"]
    """`running`; `again`: it failed or was given up, and is tried at `next_try`; `failed` for good; `queued`."""
    enqueued: str | None
    started: str | None
    ended: str | None
    next_try: str | None
    tries_left: int | None
    """How often it is tried again where it fails; null where nothing tells."""
    error: str | None
    """Of its last run, at most 300 characters; the kind of error alone where its words may hold what somebody
    said."""


class JobBoard(Result):
    """The lifecycle jobs, and their queue."""

    at: str | None
    """The clock of the queue's Redis; null where that does not answer."""
    leader: str | None
    """The job worker that schedules; null where none runs."""
    problem: str | None
    """Why nothing is known, where nothing is."""
    partitions: int
    """Of the store."""
    queued: int | None
    running: int | None
    again: int | None
    """Jobs that failed and will be tried again."""
    failed: int | None
    """Jobs that failed for good in the last seven days."""
    refused: int | None
    """What lay in the queue and was no job of this store, ever."""
    kinds: list[JobKind]
    """Kinds that are scheduled, or of which a job is there."""
    jobs: list[JobTold]
    """Running ones, those to be tried again, failed ones, waiting ones: at most 200."""
    left_out: int
    """Jobs beyond those."""


class Growth(Result):
    """How fast the log grows, measured."""

    days: float
    """Over so many days until now: those asked for, or as old as the log is."""
    since: str
    events: int
    """Recorded in that time."""
    events_a_day: float | None
    """Null where the time is shorter than an hour."""
    basis: str
    """What was measured, in a sentence."""


class MemoryCapacity(Result):
    """Redis's memory, and how long it lasts."""

    used_bytes: int | None
    max_bytes: int | None
    """Redis's maxmemory; null where it has none."""
    refused_from_bytes: int | None
    """From so many on appends are refused."""
    unfolded_bytes: int
    """About what folding will still take."""
    used_share: float | None
    bytes_an_event: float | None
    """Memory used, by all events of the log."""
    events_until_full: int | None
    bytes_a_day: int | None
    days_until_full: float | None
    """Until appends are refused, at this growth."""
    full_at: str | None
    basis: str | None
    """How that was estimated."""
    unknown: str | None
    """Why there is no estimate, where there is none."""
    unknown_code: str | None = None
    """The same by name, where that sentence has one."""
    node: str | None = None
    """Of which node of a Redis Cluster that is; null of one server."""


class DiskCapacity(Result):
    """The disk of the data folder, and how long it lasts; of a Redis elsewhere nothing is known."""

    free_bytes: int | None
    total_bytes: int | None
    wanted_bytes: int | None
    """Free bytes with which the next rewrite of the append-only file has room."""
    reserve_bytes: int | None
    """Free bytes under which no writes are taken."""
    bytes_an_event: float | None
    """Size of the append-only file, by all events of the log."""
    bytes_a_day: int | None
    days_until_low: float | None
    """Until a rewrite may find no room."""
    low_at: str | None
    days_until_full: float | None
    """Until no writes are taken."""
    full_at: str | None
    basis: str | None
    unknown: str | None
    unknown_code: str | None = None


class AofCapacity(Result):
    """The append-only file as Redis tells of it."""

    enabled: bool
    bytes: int | None
    base_bytes: int | None
    """After the last rewrite."""
    write_ok: bool
    rewrite_ok: bool
    rewriting: bool


class Capacity(Result):
    """Memory and disk until they are full."""

    at: str
    events: int
    """Of the log."""
    growth: Growth
    memory: MemoryCapacity
    """Of a Cluster that of the fullest node, which decides for all; `events_until_full` is of the whole store."""
    nodes: list[MemoryCapacity] | None = None
    """Of a Cluster every node's, for the events that it holds; null of one server."""
    disk: DiskCapacity
    aof: AofCapacity


class ChatSet(Result):
    """The language model that the settings name."""

    model: str
    host: str | None
    """Host and port that is asked; no path, and no key."""
    extraction: str
    """How turns become memories by themselves: rules, model or off."""
    reviewer: str
    """Who reviews: rule or model."""
    summaries: str
    """How episodes are written: extractive, model or off."""


class EmbedderSet(Result):
    """What compares meanings for owners who chose nothing."""

    name: str
    """`auto`, or an embedder's name."""
    chosen_by: Literal["setting", "store"]
    """Where that stands."""
    missing: list[str]
    """What of it this process lacks, or may not use: there it goes by words."""
    host: str | None
    """Where it is asked; null where it runs in this process."""
    loaded: bool
    """Whether a model of it is loaded in this process, and measured."""
    questions_computed: int
    """Questions that this process had embedded since it began."""
    questions_remembered: int
    """Questions whose vectors it still had."""


class TokensUsedInAll(Result):
    """The same since counting began."""

    model: str
    use: str
    """`extract`, `review`, `summarise` or `patterns`."""
    asked: int
    """Questions, each of one request or more."""
    failed: int
    """Questions without an answer that could be used."""
    requests: int
    input_tokens: int
    """As the endpoint tells; one that tells none counts 0."""
    output_tokens: int
    first: str
    """The day of the first."""
    last: str
    """The day of the last."""


class TokensUsedADay(Result):
    """The same of one day."""

    model: str
    use: str
    """`extract`, `review`, `summarise` or `patterns`."""
    asked: int
    """Questions, each of one request or more."""
    failed: int
    """Questions without an answer that could be used."""
    requests: int
    input_tokens: int
    """As the endpoint tells; one that tells none counts 0."""
    output_tokens: int
    day: str
    """By UTC."""


class ModelsUsed(Result):
    """Models as the settings name them, and what asking them took."""

    at: str
    since: str | None
    """The first day that is counted; null where nothing is yet."""
    chat: ChatSet | None
    """Null where none is set."""
    embedder: EmbedderSet | None
    """Null where none counts for owners who chose nothing."""
    used: list[TokensUsedInAll]
    """Since then, by model and use."""
    days: list[TokensUsedADay]
    """The days asked for, the newest first; days are kept for 400."""
    lost: int
    """Questions that this process could not count: the store did not take it."""


class GrantHeld(Result):
    """What may be done to which owners."""

    verbs: list[str]
    owners: list[str]
    modes: list[str]
    sensitivity: int
    actors: list[str]
    trust: str


class WhoAsks(Result):
    """Who asks, and what he may do."""

    principal: str
    """Whose name stands beside each event that he brings."""
    key: str | None
    """The key's id; null for the token of the folder."""
    token: str | None
    """What a token made of the key calls its bearer."""
    unlimited: bool
    """Whether he may do everything, as whoever has the folder's token may."""
    grants: list[GrantHeld]
    narrowed_to: list[GrantHeld] | None
    """What a token asks for besides: both must let do it."""
    expires_at: str | None


class KeyKnown(Result):
    """A key, without what opens anything."""

    key_id: str
    state: Literal["live", "expired", "revoked"]
    issued_at: str
    expires_at: str | None
    revoked_at: str | None
    digest: str
    """SHA-256 of its text."""


class PrincipalKnown(Result):
    """Somebody with keys or grants."""

    principal: str
    keys: list[KeyKnown]
    grants: list[GrantHeld]


class AccessSaid(Result):
    """One event of access."""

    position: str
    recorded_at: str
    event: str
    principal: str | None
    key: str | None
    by: str | None
    """Who said so."""
    reason: str


class AccessTold(Result):
    """Who may do what, and what was said of it."""

    at: str
    principals: list[PrincipalKnown]
    events: list[AccessSaid]
    """What was said until then, oldest first."""


class KeyMade(Result):
    """A key, told once."""

    key: str
    """What is shown as Bearer; nobody can be told it again."""
    key_id: str
    principal: str
    expires_at: str | None
    grants: list[GrantHeld]
    position: str


class KeyRevokedTold(Result):
    """A key that opens nothing."""

    key_id: str
    principal: str
    revoked: bool
    """false: it was revoked before."""
    position: str | None


class GrantsTold(Result):
    """What a principal may do from here on."""

    principal: str
    grants: list[GrantHeld]
    position: str | None
    """null: it was so already."""


class ReadTold(Result):
    """Somebody looked, or was refused."""

    position: str
    recorded_at: str | None
    principal: str | None
    key_id: str | None
    token: str | None
    what: Literal["reveal", "export", "debug", "past", "denied"] | None
    call: str | None
    whose: str | None
    times: int
    """So often since it was told last; more than 1 of refusals alone."""


class ReadsTold(Result):
    """A page of what was looked at."""

    reads: list[ReadTold]
    next: str | None
    position: str
