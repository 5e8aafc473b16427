# Made by `make client` of `engramlog.answers`: change that, and make it again.

from typing import Any, Literal, NotRequired, TypedDict

class Warned(TypedDict):
    quarantined: NotRequired[dict[str, str] | None]
    log_gap: NotRequired[str | None]

class Lagging(Warned):
    behind: NotRequired[int]

class LinesTold(TypedDict):
    as_of: str | None
    known: NotRequired[str | None]

class TimesTold(LinesTold):
    at: str | None

class Placed(Lagging):
    position: str

class Place(TimesTold, Placed): ...

class Appended(TypedDict):
    appended: int
    already_appended: int
    not_written: int
    receipts: list[Receipt]

class AsideTold(TypedDict):
    session: str | None
    principal: str | None
    of_actor: str | None
    since: str
    set_aside_at: str
    by_actor: NotRequired[str | None]
    by_principal: NotRequired[str | None]
    reason: str

class Change(TypedDict):
    position: str
    event_id: str
    time: str
    event: str
    memory: str | None
    decision: str
    reason: str
    reason_code: NotRequired[str | None]
    reason_values: NotRequired[dict[str, str] | None]
    law: str
    old_weight: float | None
    new_weight: float | None
    delta: float | None
    weighed_at: NotRequired[str | None]
    factors: dict[str, float] | None
    fields: list[str]
    version: int | None
    content_hash: str | None
    actor: NotRequired[str | None]
    correlation_id: NotRequired[str | None]
    recorded_at: NotRequired[str | None]
    principal: NotRequired[str | None]
    late_by: NotRequired[float | None]
    said_reason: NotRequired[str | None]
    because: NotRequired[str | None]

class ChatsImported(Warned):
    owner: str
    shape: str
    conversations: int
    left_out: dict[str, int]
    turns: int
    skipped: int
    too_long: int
    cut: int
    appended: int
    already_appended: int
    conflicts: list[ImportConflict]
    ignored_fields: dict[str, int]
    adjusted: dict[str, int]
    unreadable: list[UnreadableChat]
    newest_turn: str | None
    last_position: str | None
    failed: NotRequired[list[ImportFailure] | None]

class CorrectedBy(TypedDict):
    of: str
    was: str | None
    by: str | None
    now: str | None
    at: str

class Deleted(Lagging):
    owner: str
    deleted: list[str]
    skipped: list[Skipped]
    also: NotRequired[list[Skipped]]
    left_alone: NotRequired[list[Skipped]]
    still_said_in: NotRequired[list[str]]
    hidden_with: NotRequired[list[str]]
    rejected: NotRequired[list[str]]
    dry_run: NotRequired[bool]
    position: str
    restorable_until: NotRequired[str | None]
    waiting: NotRequired[list[str]]
    error: NotRequired[dict[str, Any] | None]

class Done(TypedDict):
    changes: list[Change]

class DuplicateRecord(TypedDict):
    line: int
    memory_id: str
    first_line: int

class Effects(Done, Placed):
    owner: str
    id: NotRequired[str | None]
    replaced_by: NotRequired[str | None]
    into: NotRequired[str | None]
    sources: NotRequired[list[str]]
    dry_run: NotRequired[bool]

class Edited(Effects):
    revised: bool
    version: int

class Episode(TypedDict):
    memory_id: str
    session: str | None
    content: str
    turns: list[str]
    at: str
    reason: str

class Extracted(Lagging):
    owner: str
    dry_run: bool
    counts: dict[str, int]
    statements: NotRequired[list[Statement]]
    decisions: NotRequired[list[Decided]]
    appended: NotRequired[int]
    position: str | None
    by: str
    read: NotRequired[int]
    left: NotRequired[int]
    by_rules: NotRequired[list[str]]
    refused: NotRequired[dict[str, str]]
    usage: NotRequired[Usage | None]
    trouble: NotRequired[str | None]

class FilePlace(TypedDict):
    line: NotRequired[int | None]
    conversation: NotRequired[int | None]
    message: NotRequired[int | None]

class History(LinesTold, Placed):
    owner: str
    id: str | None
    changes: list[Change]
    next: str | None
    order: str
    law: NotRequired[str]
    profile: NotRequired[str]
    chain: str
    aside: NotRequired[AsideTold | None]

class ImportConflict(FilePlace):
    event_id: str
    position: str | None
    turn_id: NotRequired[str | None]

class ImportFailure(FilePlace):
    event_id: str
    status: str
    error: str | None

class Left(TypedDict):
    owner: str
    counts: dict[str, int]
    appended: int
    position: str | None
    by_model: int
    refused: int
    failure: str | None
    down: bool
    requests: int
    input_tokens: int
    output_tokens: int
    dry_run: bool
    episodes: list[Episode]
    uses: list[Used]

class LevelSet(Effects):
    statements: NotRequired[StatementsLeft | None]

class PossibleConflict(TypedDict):
    id: str
    memory: str

class Receipt(TypedDict):
    event_id: str
    status: Literal["appended", "already_appended", "conflict", "head_mismatch", "not_written", "failed"]
    position: str | None
    fsynced: bool | None
    replicas: int
    error: NotRequired[str | None]
    occurred_at: NotRequired[str | None]
    rejected: NotRequired[str | None]
    mentioned: NotRequired[str | None]
    ended: NotRequired[list[PossibleConflict]]
    waiting: NotRequired[list[PossibleConflict]]
    ended_by: NotRequired[list[PossibleConflict]]
    conflicting: NotRequired[list[PossibleConflict]]
    related: NotRequired[list[PossibleConflict]]

class RecordsImported(Warned):
    owner: str
    records: int
    shapes: dict[str, int]
    appended: int
    already_appended: int
    conflicts: list[ImportConflict]
    repeated: int
    duplicates: list[DuplicateRecord]
    skipped: dict[str, int]
    ignored_fields: dict[str, int]
    made_ordinary: dict[str, int]
    said: NotRequired[int]
    said_withheld: NotRequired[int]
    of_the_log: NotRequired[dict[str, int]]
    flagged: NotRequired[int]
    conflicting: NotRequired[list[dict[str, str]]]
    rejections: NotRequired[int]
    rejections_left_out: NotRequired[dict[str, int]]
    associations_left_out: int
    newest_record: str | None
    last_position: str | None
    ids_taken: list[str]
    rejected: NotRequired[list[str]]
    failed: NotRequired[list[ImportFailure] | None]
    error: NotRequired[dict[str, Any] | None]

class Remembered(Effects):
    created: bool
    mentioned: NotRequired[str | None]
    ended: NotRequired[list[PossibleConflict]]
    waiting: NotRequired[list[PossibleConflict]]
    ended_by: NotRequired[list[PossibleConflict]]
    conflicting: NotRequired[list[PossibleConflict]]
    related: NotRequired[list[PossibleConflict]]

class Removed(Done, Deleted):
    id: str

class RestoredMany(Lagging):
    owner: str
    restored: NotRequired[list[str]]
    skipped: NotRequired[list[Skipped]]
    also: NotRequired[list[Skipped]]
    not_restored: NotRequired[list[Skipped]]
    readmitted: NotRequired[list[str]]
    dry_run: NotRequired[bool]
    position: str
    waiting: NotRequired[list[str] | None]
    error: NotRequired[dict[str, Any] | None]

class Restored(Done, RestoredMany):
    id: str

class Skipped(TypedDict):
    id: str
    reason: str
    reason_code: NotRequired[str | None]
    reason_values: NotRequired[dict[str, str] | None]

class StatedTriple(TypedDict):
    subject: str
    predicate: str
    object: str
    negation: bool
    degree: float | None
    condition: str | None

class Statement(TypedDict):
    operation: str
    reason: str
    turn_id: str
    memory_id: str | None
    other: str | None
    content: str
    category: str
    kind: str
    polarity: Any
    asserted: bool
    confidence: float
    keywords: list[str]
    triple: StatedTriple | None
    span: list[int]

class StatementsLeft(TypedDict):
    count: int
    ids: list[str]

class UnreadableChat(FilePlace):
    id: NotRequired[str | None]
    reason: str
    why: str

class Usage(TypedDict):
    requests: int
    input_tokens: int
    output_tokens: int

class Used(TypedDict):
    memory_id: str
    session: str | None
    at: str
    reason: str

class ByWhom(TypedDict):
    principal: str | None
    actor: str | None
    events: int

class ClosureTold(TypedDict):
    struck: list[StruckEvent]
    struck_total: int
    struck_because: dict[str, int]
    stays: list[StaysTold]
    stays_total: int
    without_effect: list[EventsCounted]
    in_its_light: list[EventsCounted]

class UnplacedCompared(TypedDict):
    profile: str
    laws: dict[str, LawReading]
    pairs: list[Pair]
    memories: list[ComparedMemory]
    total: int
    offset: int
    owner: str
    instant: str

class Compared(UnplacedCompared, Place): ...

class ComparedMemory(TypedDict):
    id: str
    memory: str
    category: str
    kind: str
    status: str
    tier: str
    laws: dict[str, Standing]
    spread: float

class Curve(TypedDict):
    threshold: float
    weights: list[float | None]
    shown: list[bool]

class Curves(LinesTold, Placed):
    owner: str
    id: str
    title: str
    window: dict[str, str]
    times: list[str]
    laws: dict[str, Curve]
    events: list[Touch]
    folded_together: int

class Diff(LinesTold, Placed):
    owner: str
    line: str
    mode: str
    before: SideTold
    after: SideTold
    counts: DiffCounts
    memories: list[MemoryDiffers]
    total: int
    offset: int
    owner_changes: OwnerChanged
    by_principal: list[ByWhom]
    questions: list[QuestionMoved]
    on_other_line: NotRequired[int | None]
    hint: str | None

class DiffCounts(TypedDict):
    made: int
    gone: int
    changed: int
    crossed: int
    by_time: int
    by_access: int
    by_owner: int
    by_others: int

class EventCause(TypedDict):
    position: str
    event_id: str
    event: str
    memory: str | None
    time: str
    recorded_at: str | None
    late_by: float | None
    decision: str
    reason: str
    actor: str | None
    principal: str | None
    correlation_id: str | None
    said_reason: str | None
    because: str | None
    side: str

class EventsCounted(TypedDict):
    kind: str
    events: int
    first: list[str]

class FromTo(TypedDict):
    before: Any
    after: Any

class Jump(TypedDict):
    before: float | None
    after: float | None

class LawReading(TypedDict):
    threshold: float
    shown: int
    withheld: list[Withheld]

class SidesDiffer(TypedDict):
    id: str
    before: SideStanding | None
    after: SideStanding | None
    fields: list[str]

class MemoryDiffers(SidesDiffer):
    kind: str
    memory: str | None
    was: str | None
    deleted_since: bool
    cause: str
    causes: list[EventCause]
    more_causes: int
    ranks: list[RankOf]

class NotUndoneTold(TypedDict):
    kind: str
    why: str
    why_code: NotRequired[str | None]
    events: int
    first: list[str]

class OwnerDiffers(TypedDict):
    profile: FromTo | None
    parameters: dict[str, FromTo]

class OwnerChanged(OwnerDiffers):
    causes: list[EventCause]
    more_causes: int

class Pair(TypedDict):
    laws: list[str]
    shown_by_one: int
    rank_correlation: float | None

class QuestionMoved(TypedDict):
    query: str
    before: list[str]
    after: list[str]
    moved: list[RankMoved]

class RankMoved(TypedDict):
    id: str
    before: int | None
    after: int | None
    passed: str | None

class RankOf(TypedDict):
    question: int
    before: int | None
    after: int | None

class StrikesTold(TypedDict):
    without: list[str]
    without_turns: list[str]
    without_sessions: list[str]
    without_sources: list[str]
    without_actors: list[str]
    without_principals: list[str]
    without_correlations: list[str]
    without_models: list[str]

class UnplacedReplayed(StrikesTold, ClosureTold):
    owner: str
    set: dict[str, float | int | str | bool]
    profile: NotRequired[str | None]
    alone: bool
    mode: str
    events: dict[str, int]
    differences: list[ReplayedDiffer]
    changed_fields: dict[str, int]
    total: int
    offset: int
    questions: list[QuestionMoved]

class Replayed(UnplacedReplayed, Place): ...

class ReplayedDiffer(TypedDict):
    id: str
    memory: str | None
    today: SideStanding | None
    replayed: SideStanding | None
    fields: list[str]

class Retracted(StrikesTold, ClosureTold, Placed):
    owner: str
    dry_run: bool
    again: bool
    alone: bool
    mode: str
    offset: int
    reach: str
    undoes: list[UndoEvent]
    undoes_total: int
    goes: SomeMemories
    comes_back: SomeMemories
    changed: SomeMemories
    changed_fields: dict[str, int]
    not_undone: list[NotUndoneTold]
    remains: list[StandsOtherwise]
    remains_total: int
    questions: list[QuestionMoved]
    changes: list[Change]

class SideStanding(TypedDict):
    weight: float
    level: str
    status: str
    trust: str
    is_negated: bool
    mention_count: int
    shown: bool
    reason: str | None

class SideTold(TypedDict):
    asked: str | None
    instant: str
    position: str
    events: int

class Standing(TypedDict):
    weight: float
    level: str
    shown: bool
    reason: str | None
    rank: float

class StandsOtherwise(TypedDict):
    id: str
    fields: list[str]
    retracted: SideStanding | None
    replayed: SideStanding | None

class StaysTold(TypedDict):
    memory: str
    position: str
    because: str
    of: str

class StruckEvent(TypedDict):
    position: str
    event_id: str
    event: str
    memory: str | None
    because: str
    of: str

class Touch(Placed):
    time: str
    event: str
    decision: str
    reason: str
    weights: dict[str, Jump]

class UndoEvent(TypedDict):
    event: str
    memory: str | None

class UnplacedAssessment(TypedDict):
    owner: str
    topic: str
    confidence: str
    score: float
    message: str
    suggestions: list[str]
    evidence: list[Evidence]
    stats: Stats

class Assessment(UnplacedAssessment, Place): ...

class ToldBeside(TypedDict):
    possible_conflicts: NotRequired[list[str]]
    conflicting: NotRequired[list[PossibleConflict]]
    corrected: NotRequired[list[CorrectedBy]]
    until: NotRequired[str | None]

class Card(ToldBeside):
    id: str
    memory: str
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
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    successor: NotRequired[str | None]
    ground_changed: NotRequired[bool]
    long_ago: NotRequired[bool]
    owner: NotRequired[str | None]

class UnplacedAssociationTree(TypedDict):
    possible_conflicts: NotRequired[list[str]]
    conflicting: NotRequired[list[PossibleConflict]]
    corrected: NotRequired[list[CorrectedBy]]
    until: NotRequired[str | None]
    id: str
    memory: str
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
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    successor: NotRequired[str | None]
    ground_changed: NotRequired[bool]
    long_ago: NotRequired[bool]
    owner: NotRequired[str]
    associations: list[Branch]
    triples: list[BackedTriple]
    mode: str

class AssociationTree(UnplacedAssociationTree, Place): ...

class BackedTriple(TypedDict):
    subject: str
    predicate: str
    object: str
    negation: bool

class Branch(Card):
    link: str
    weight: float
    base: float
    boost: float
    associations: list[Branch]

class Cluster(TypedDict):
    id: int
    members: list[str]
    words: list[str]
    label: str

class ConflictErrors(TypedDict):
    taken_back: int
    refused: int
    total: int

class DueMemory(Card):
    due_at: str
    days_overdue: float
    importance: float
    confidence: float
    consolidation: float
    emotion: float
    priority: float
    interval_days: float
    scheduler: str
    access_count: int

class Evidence(TypedDict):
    id: str
    snippet: str
    confidence: float
    relevance: float
    access_count: int
    updated_at: str

class Fact(TypedDict):
    subject: str
    predicate: str
    object: str
    negation: bool
    degree: float | None
    condition: str | None
    asserted_at: str
    backing: list[str]
    evidence: list[FactEvidence]

class FactEvidence(TypedDict):
    id: str
    memory: str
    status: str
    trust: str
    speaker: str | None
    source_turns: list[str]
    created_at: str

class FactsKnown(Placed):
    owner: str
    about: str | None
    facts: list[Fact]
    total: int
    offset: int
    known: int
    as_of: str | None
    known_by: NotRequired[str | None]

class UnplacedFading(TypedDict):
    memories: list[Strength]
    total: int
    live: int
    offset: int
    under: int
    profile: str

class Fading(UnplacedFading, Place): ...

class Graded(Placed):
    grade: int
    id: str
    at: str
    owner: str
    changes: list[Change]
    before: Held
    after: Held | None
    decides: str
    schedulers: dict[str, NextReview] | None

class Held(TypedDict):
    strength: int
    stability_hours: float
    reinforce_count: int
    importance: float
    effective_importance: float
    tier: str
    law: str
    weight: float
    next_review_at: str
    interval_days: float
    scheduler: str

class HistoryFigures(TypedDict):
    activations: int
    frequent_mentions: int
    negations: int
    merges: int
    merges_undone: int
    compressions: int
    possible_conflicts: int
    task_successes: NotRequired[int]
    task_failures: NotRequired[int]
    conflict_errors: ConflictErrors

class UnplacedKnowledgeMap(TypedDict):
    owner: str
    topic: str | None
    nodes: list[Node]
    edges: list[MapEdge]
    clusters: list[Cluster]
    depth: int
    weaker: int
    withheld: list[Withheld]
    truncated: bool
    mode: str

class KnowledgeMap(UnplacedKnowledgeMap, Place): ...

class LawShape(TypedDict):
    name: str
    formula: str
    factors: dict[str, str]
    thresholds: dict[str, float]
    source: str

class Laws(TypedDict):
    laws: list[LawShape]

MapEdge = TypedDict("MapEdge", {"from": str, "to": str, "weight": float, "link": str, "reasons": list[MapReason]})

class MapReason(TypedDict):
    link: str
    weight: float
    keywords: list[str]

class UnplacedMemoryHealth(TypedDict):
    memories: list[Strength]
    total: int
    offset: int
    colours: dict[str, int]
    mean_strength: float | None
    profile: str

class MemoryHealth(UnplacedMemoryHealth, Place): ...

class MomentsOfPast(TypedDict):
    kept: int
    bytes: int

class NextReview(TypedDict):
    due_at: str
    interval_days: float
    ease: NotRequired[float | None]
    repetitions: NotRequired[int | None]
    stability_days: NotRequired[float | None]
    difficulty: NotRequired[float | None]

class Node(TypedDict):
    id: str
    label: str
    kind: str
    confidence: float
    consolidation: float
    weight: float
    depth: int
    is_center: bool
    cluster: int | None

class OwnerProfile(LinesTold, Placed):
    owner: str
    profile: str
    formula: str
    source: str
    thresholds: dict[str, float]
    parameters: dict[str, dict[str, float | int | str | bool]]
    changes: NotRequired[list[Change] | None]
    warning: NotRequired[str | None]

class UnplacedOwnerStats(TypedDict):
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
    weights: WeightFigures
    figures: HistoryFigures
    shown: dict[str, ShownFigures]
    chain: str
    satisfaction: NotRequired[list[WeekFigures]]
    satisfaction_note: NotRequired[str | None]
    embedding: NotRequired[Coverage | None]

class OwnerStats(UnplacedOwnerStats, Place): ...

class ParameterShape(TypedDict):
    name: str
    kind: Literal["int", "float", "str", "bool"]
    default: float | int | str | bool
    least: float | None
    least_excluded: bool
    most: float | None
    choices: list[str | bool] | None
    allowed: str
    help: str

class ParametersKnown(TypedDict):
    parameters: list[ParameterShape]

class Reinforced(Done, Placed):
    outcome: str
    from_memory: str | None
    turn_id: str | None
    id: str
    at: str
    owner: str
    before: Held
    after: Held | None
    remarks: list[str]

class UnplacedReviewsDue(TypedDict):
    memories: list[DueMemory]
    due: int
    left_out: int
    min_importance: float
    next_due_at: str | None

class ReviewsDue(UnplacedReviewsDue, Place): ...

class ShownFigures(TypedDict):
    answers: int
    memories: int

class Stats(TypedDict):
    memories: int
    mean_confidence: float
    coverage: float
    mean_recency: float
    mean_consolidation: float

class Strength(Card):
    strength: int
    colour: str
    stability_hours: float
    decay_rate: float
    reinforce_count: int
    last_reinforced_at: str
    archives_at: str | None
    deletes_at: str | None

class WeekFigures(TypedDict):
    week: str
    answers: int
    task_success: int
    task_failure: int
    reported_share: float | None
    success_share: float | None
    other_success: NotRequired[int]
    other_failure: NotRequired[int]

class WeightBucket(TypedDict):
    up_to: float | None
    memories: int

class WeightFigures(TypedDict):
    law: str
    memories: int
    mean: float | None
    lowest: float | None
    median: float | None
    highest: float | None
    buckets: list[WeightBucket]

class ChainHead(TypedDict):
    partition: int
    seq: int
    chain: str
    at: str | None
    appended: int
    kept: HeadKept | None

class ChainHeads(TypedDict):
    store_id: str
    at: str
    partitions: int
    heads: list[ChainHead]
    line: str
    keeping: HeadsKeeping | None

class GroupCounts(TypedDict):
    made: list[int]
    changed: list[int]
    ended: list[int]
    seen: list[int]
    talk: list[int]

class HappenedEnds(TypedDict):
    first: str | None
    last: str | None
    ahead: str | None

class HeadKept(TypedDict):
    seq: int
    chain: str
    at: str
    line: int

class HeadUnmet(TypedDict):
    position: str
    partition: int
    seq: int
    state: Literal["agrees", "differs", "missing", "unread"]
    line: int
    kept: str
    found: str | None

class HeadsCompared(TypedDict):
    store_id: str
    agrees: bool
    complete: bool
    lines: int
    heads: int
    agreed: int
    differing: int
    missing: int
    unread: int
    partitions: list[PartitionCompared]
    unmet: list[HeadUnmet]
    problems: list[str]
    other_stores: list[str]
    accepted: list[LogAccepted]
    uncovered: list[int]
    events_read: int
    most: int

class HeadsKeeping(TypedDict):
    lines: int
    last: str | None
    problems: list[str]
    accepted: list[LogAccepted]

class LineBuckets(TypedDict):
    since: str | None
    until: str | None
    seconds: float
    events: int
    counts: list[int]
    groups: GroupCounts | None

class LogAccepted(TypedDict):
    partition: int
    seq: int
    at: str
    reason: str

class LogEvents(LinesTold, Warned):
    owner: str | None
    partition: int
    events: list[LoggedEvent]
    next: str | None
    follow: str
    order: str
    looked: int
    looked_to: str | None
    head: str

class LoggedEvent(TypedDict):
    position: str
    event_id: str
    type: str
    schema_version: int | None
    owner: str
    occurred_at: str | None
    recorded_at: str | None
    late_by: float | None
    actor: str | None
    principal: str | None
    model: str | None
    trust: str | None
    session_id: str | None
    causation_id: str | None
    correlation_id: str | None
    data: dict[str, Any] | None
    withheld: str | None
    folded: bool | None
    problem: str | None
    bytes: int

class OwnerHead(LinesTold, Placed):
    owner: str
    chain: str
    asked: str | None
    agrees: bool | None

class OwnerTimes(LinesTold, Placed):
    owner: str
    happened: HappenedEnds
    recorded: RecordedEnds
    events: int
    late: int
    buckets: TimeBuckets
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    hint: str | None

class PartitionCompared(TypedDict):
    partition: int
    state: Literal["agrees", "differs", "missing", "unread"]
    heads: int
    agreed: int
    differing: int
    missing: int
    unread: int
    last_agreed: int | None
    read_to: int
    appended: int
    behind: int

class RecordedEnds(TypedDict):
    first: str | None
    last: str | None

class TimeBuckets(TypedDict):
    count: int
    happened: LineBuckets
    recorded: LineBuckets

class Absent(TypedDict):
    why: str
    reason: str | None
    shown_by: str | None

class Answered(Effects):
    item: str
    verdict: str
    done: str
    done_code: str

class BasisListed(TypedDict):
    because: NotRequired[str | None]
    grounds: NotRequired[list[RestsOn] | None]
    metadata: NotRequired[dict[str, str | int | float | bool] | None]

class BasisTold(TypedDict):
    because: NotRequired[str | None]
    grounds: NotRequired[list[RestsOn]]
    metadata: NotRequired[dict[str, str | int | float | bool]]

class ContextTold(TypedDict):
    tags: list[str]
    emotion: float | None

class CorrectionTold(TypedDict):
    time: str
    reason: str | None
    new_preference: str | None
    resolution: str
    replaced_by: str | None
    turn_id: str | None

class SpansTold(TypedDict):
    since: NotRequired[str | None]
    until: NotRequired[str | None]
    updated_since: NotRequired[str | None]
    updated_until: NotRequired[str | None]

class UnplacedCounts(SpansTold):
    owner: str
    mode: str
    total: int
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
    by_law: FacetCounts

class Counts(UnplacedCounts, Place): ...

class PatternTold(TypedDict):
    evidence: NotRequired[list[InPattern] | None]
    patterns: NotRequired[list[InPattern] | None]

class UnplacedDetail(PatternTold, BasisTold, Card):
    content: str
    summary: str | None
    recorded_level: str
    weight: float
    tier: str
    ground: str | None
    source: str
    waiting: list[str]
    confidence: float
    importance: float
    keywords: list[str]
    extracted_keywords: list[ExtractedKeyword]
    tags: list[str]
    emotion: float | None
    context: ContextTold
    project: str | None
    task: str | None
    modalities: list[str]
    sensitivity: int
    verified: bool
    version: int
    versions: list[EarlierText]
    updated_at: str
    last_mentioned_at: str | None
    last_accessed_at: str | None
    access_count: int
    correction_history: list[CorrectionTold]
    corrects: str | None
    merged_from: list[str]
    merged_into: str | None
    deleted_at: str | None
    purged_at: str | None
    edges: list[EdgeTold]
    revealed: NotRequired[str | None]

class Detail(UnplacedDetail, Place): ...

class EarlierText(TypedDict):
    version: int
    content: str
    until: str

class EdgeTold(TypedDict):
    to: str
    weight: float
    link: str

class ExtractedKeyword(TypedDict):
    word: str
    weight: float
    source: str

class FacetCounts(TypedDict):
    counts: list[ValueCount]
    left_out: int

class InPattern(TypedDict):
    id: str
    memory: str | None
    status: str
    created_at: str

class InboxItem(TypedDict):
    item: str
    kind: str
    memory_id: str
    about: list[str]
    memory: str | None
    would_say: str | None
    reason: str | None
    reason_code: NotRequired[str | None]
    reason_values: NotRequired[dict[str, str] | None]
    actor: str
    principal: str | None
    at: str
    position: str

class InboxPage(LinesTold, Placed):
    owner: str
    items: list[InboxItem]
    total: int
    offset: int
    taken: int
    most: int

class Listed(BasisListed, Card):
    weight: float
    tier: str
    source: str
    sensitivity: int
    tags: list[str]
    context: ContextTold
    updated_at: str
    deleted_at: str | None
    waiting: list[str]

class UnplacedListing(SpansTold):
    memories: list[Listed]
    total: int
    offset: int
    sort: str
    order: str
    withheld: list[Withheld]
    mode: str

class Listing(UnplacedListing, Place): ...

class NamedSourceTold(TypedDict):
    by: Literal["session", "principal", "actor", "model", "source"]
    name: str
    masked: bool
    events: int
    memories: int
    late: int
    first_happened: str
    last_happened: str
    first_recorded: str | None
    last_recorded: str | None
    set_aside: AsideTold | None
    partly_aside: int

class OriginEvent(TypedDict):
    position: str
    event_id: str
    event: str

class OriginNode(TypedDict):
    id: str
    parent: str | None
    relation: str
    depth: int
    events: list[OriginEvent]
    events_left_out: NotRequired[int | None]
    unknown: NotRequired[bool | None]
    source_turns: NotRequired[list[str] | None]
    memory: NotRequired[str | None]
    created_at: NotRequired[str | None]
    set_aside: NotRequired[bool | None]
    source_erased: NotRequired[bool | None]

class OriginTree(TypedDict):
    memory: str
    nodes: list[OriginNode]
    nodes_left_out: NotRequired[int | None]

class Provenance(LinesTold, Placed):
    id: str
    provenance: OriginTree

class QuestionExpansion(TypedDict):
    status: Literal["asked", "kept", "nothing", "private", "busy", "timeout", "failed"]
    terms: list[str]
    model: str

class RankComparison(TypedDict):
    query: str
    order: str
    tied: bool
    sentence: str
    language: str
    first: RankedMemory
    second: RankedMemory
    difference: float | None
    terms: list[ScoreTerm]
    rules: list[RankRule]
    mode: str
    ranking: str
    search_mode: str
    meaning: str | None
    expansion: NotRequired[QuestionExpansion | None]

class RankRule(TypedDict):
    rule: str
    of: str
    others: list[str]

class RankedMemory(TypedDict):
    id: str
    memory: str | None
    rank: int | None
    score: float | None
    weight: float
    holds: list[str]
    lacks: list[str]
    absent: Absent | None

class Reported(Placed):
    owner: str
    uri: str
    digest: str
    withheld: list[str]
    back: list[str]
    left: int
    newer: int
    changes: list[Change]

class RestsOn(TypedDict):
    uri: str | None
    digest: str
    reported: NotRequired[str | None]
    changed: NotRequired[bool]

class ScoreTerm(TypedDict):
    term: str
    first: float | None
    second: float | None
    difference: float | None

class SomeMemories(TypedDict):
    total: int
    ids: list[str]

class SourceAside(AsideTold):
    memories: int

class SourceSaid(Placed):
    owner: str
    session: str | None
    principal: str | None
    of_actor: str | None
    memories: int
    negated: SomeMemories
    revised: SomeMemories
    merged: SomeMemories
    deleted: SomeMemories
    dry_run: NotRequired[bool]
    changes: list[Change]

class SourcesAside(Placed):
    owner: str
    sources: list[SourceAside]
    total: int
    most: int
    as_of: str | None
    known_by: NotRequired[str | None]

class SourcesNamed(LinesTold, Placed):
    owner: str
    sources: list[NamedSourceTold]
    total: int
    offset: int
    by: list[str]
    search: str | None
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    events: int
    left_out: dict[str, int]
    withheld: int
    hint: str | None

class ValueCount(TypedDict):
    value: str
    count: int

class UnplacedWhy(BasisTold, ToldBeside):
    id: str
    memory: str
    law: str
    weight: float
    unclipped_weight: float
    factors: dict[str, float]
    laws: dict[str, float]
    changes: list[Change]
    provenance: OriginTree
    mention_count: int
    is_negated: bool
    level: str
    status: str
    trust: str
    created_at: str
    last_activated_at: str
    next: NotRequired[str | None]
    order: NotRequired[str]
    aside: NotRequired[AsideTold | None]
    above: NotRequired[RankComparison | None]
    limited: NotRequired[bool]

class Why(UnplacedWhy, Place): ...

class Withheld(TypedDict):
    reason: str
    count: int
    shown_by: str
    ids: NotRequired[list[str]]

class AofCapacity(TypedDict):
    enabled: bool
    bytes: int | None
    base_bytes: int | None
    write_ok: bool
    rewrite_ok: bool
    rewriting: bool

class AskedForPatterns(TypedDict):
    model: str
    questions: int
    requests: int
    input_tokens: int
    output_tokens: int
    failure: str | None

class AskedOf(TypedDict):
    id: str
    review: str
    due_at: str

class Capacity(TypedDict):
    at: str
    events: int
    growth: Growth
    memory: MemoryCapacity
    nodes: NotRequired[list[MemoryCapacity] | None]
    parts: list[MemoryPart]
    disk: DiskCapacity
    aof: AofCapacity

class ChatSet(TypedDict):
    model: str
    host: str | None
    extraction: str
    reviewer: str
    summaries: str
    expansion: str

class Cleaned(TypedDict):
    owner: str
    counts: dict[str, int]
    decisions: list[Decided]
    appended: int
    position: str
    dry_run: bool
    jobs: list[str]
    kept_days: float
    reviewer: str
    asked: list[AskedOf]
    left_open: int
    held_back: int
    requests: int
    input_tokens: int
    output_tokens: int
    failure: str | None
    abstraction: AskedForPatterns | None
    compared: ComparedByVectors | None

class ComparedByVectors(TypedDict):
    model: str
    statements: LookedAt
    turns: LookedAt
    full: bool

class Coverage(TypedDict):
    model: str | None
    chosen: str
    chosen_by: Literal["owner", "setting", "store"]
    embedded: int
    of: int
    share: float
    failed: NotRequired[str | None]

class Decided(TypedDict):
    job: str
    action: str
    ids: list[str]
    due_at: str
    reason: str
    event: str

class DiskCapacity(TypedDict):
    free_bytes: int | None
    total_bytes: int | None
    wanted_bytes: int | None
    reserve_bytes: int | None
    bytes_an_event: float | None
    bytes_a_day: int | None
    days_until_low: float | None
    low_at: str | None
    days_until_full: float | None
    full_at: str | None
    basis: str | None
    unknown: str | None
    unknown_code: NotRequired[str | None]

class EmbedderSet(TypedDict):
    name: str
    chosen_by: Literal["setting", "store"]
    missing: list[str]
    host: str | None
    loaded: bool
    questions_computed: int
    questions_remembered: int

class Growth(TypedDict):
    days: float
    since: str
    events: int
    events_a_day: float | None
    basis: str

class JobBoard(TypedDict):
    at: str | None
    leader: str | None
    problem: str | None
    partitions: int
    queued: int | None
    running: int | None
    again: int | None
    failed: int | None
    refused: int | None
    kinds: list[JobKind]
    jobs: list[JobTold]
    left_out: int

class JobKind(TypedDict):
    kind: str
    what: str
    every_minutes: float | None
    last_tick: str | None
    next_tick: str | None
    last_done: str | None
    oldest_done: str | None
    waiting_since: str | None
    seconds: float | None
    done_partitions: int
    queued: int
    running: int
    again: int
    failed: int
    stopped: list[JobStopped]

class JobStopped(TypedDict):
    partitions: list[int]
    reason: str

class JobTold(TypedDict):
    id: str
    kind: str
    partition: int
    tick: str
    state: Literal["running", "again", "failed", "queued"]
    enqueued: str | None
    started: str | None
    ended: str | None
    next_try: str | None
    tries_left: int | None
    error: str | None

class JobsDone(TypedDict):
    every_minutes: float
    oldest: str | None
    newest: str | None
    waiting_since: NotRequired[str | None]
    seconds: float | None
    partitions: int

class LookedAt(TypedDict):
    compared: int
    without_vector: int
    unread: int
    older: int

class MemoryCapacity(TypedDict):
    used_bytes: int | None
    max_bytes: int | None
    refused_from_bytes: int | None
    unfolded_bytes: int
    used_share: float | None
    bytes_an_event: float | None
    events_until_full: int | None
    bytes_a_day: int | None
    days_until_full: float | None
    full_at: str | None
    basis: str | None
    unknown: str | None
    unknown_code: NotRequired[str | None]
    node: NotRequired[str | None]

class MemoryPart(TypedDict):
    part: str
    bytes: int
    bytes_an_event: float | None

class ModelsUsed(TypedDict):
    at: str
    since: str | None
    chat: ChatSet | None
    embedder: EmbedderSet | None
    used: list[TokensUsedInAll]
    days: list[TokensUsedADay]
    lost: int

class Schedule(TypedDict):
    leader: str | None
    last_tick: str | None
    next_tick: str | None
    queued: int | None
    running: int | None
    failed: int | None
    refused: NotRequired[int | None]
    beside: NotRequired[dict[str, Ticks] | None]
    stopped: NotRequired[dict[str, str] | None]
    done: NotRequired[dict[str, JobsDone] | None]
    problem: NotRequired[str | None]

class Ticks(TypedDict):
    last_tick: str
    next_tick: str | None
    every_minutes: float

class TokensUsed(TypedDict):
    model: str
    use: str
    asked: int
    failed: int
    requests: int
    input_tokens: int
    output_tokens: int

class TokensUsedADay(TokensUsed):
    day: str

class TokensUsedInAll(TokensUsed):
    first: str
    last: str

class AnsweredTurn(TypedDict):
    id: str
    turn_id: str | None
    session: str | None
    injected_at: str | None
    positions: list[str]
    principal: str | None
    memories: int
    turn: TurnSaid | None
    recorded_twice: bool
    replies: list[TurnSaid]
    linked_by: str | None

class AnsweredInFull(AnsweredTurn, LinesTold, Placed):
    owner: str
    injected: list[Injected]
    injections_left_out: int
    injected_memories: list[InjectedMemory]
    outcomes: list[OutcomeTold]
    outcomes_left_out: int
    note: str | None

class AnsweredTurns(LinesTold, Placed):
    owner: str
    answers: list[AnsweredTurn]
    total: int
    offset: int
    session: str | None
    since: str | None
    until: str | None

class Associated(Card):
    activation: float
    weight: float
    path: list[Step]

class BlockAsItWas(TypedDict):
    text: str
    stable: NotRequired[str | None]
    turn: NotRequired[str | None]
    tokens: int
    tokens_then: int | None
    as_it_was: bool | None
    why: str
    why_code: NotRequired[str | None]
    withheld: list[WithheldFromBlock]

class BlockOf(Placed):
    owner: str
    tokens: int
    parts: ContextParts
    injected: list[str]
    recorded: Recorded
    sizes: NotRequired[PartSizes | None]

class ContextBlock(LinesTold, Placed):
    owner: str
    block: str
    stable: str
    turn: str
    sizes: ContextSizes
    tokens: int
    budget: int
    language: str
    session: str | None
    turn_id: str | None
    parts: ContextParts
    injected: list[str]
    recorded: Recorded
    searches: list[ContextSearch]
    dropped: dict[str, int]
    left_out: dict[str, int]
    read_back: str
    others: NotRequired[list[BlockOf]]

class ContextLine(TypedDict):
    kind: str
    id: str
    note: str
    text: str
    closeness: NotRequired[float | None]
    handle: NotRequired[str | None]
    asked_by: NotRequired[list[str] | None]

class ContextParts(TypedDict):
    time: str
    instructions: list[ContextLine]
    core: list[ContextLine]
    profile: list[ContextLine]
    remembered: list[ContextLine]
    earlier: list[ContextLine]
    retrieved: list[ContextLine]
    tools: list[ContextLine]
    unconfirmed: list[ContextLine]

class ContextSearch(TypedDict):
    query: str
    found: int
    withheld: dict[str, int]
    parts: list[str]
    expansion: NotRequired[QuestionExpansion | None]

class ContextSizes(TypedDict):
    stable: int
    turn: int
    conversation: int
    left_out: dict[str, int]

class Expanded(TypedDict):
    original: list[str]
    synonyms: dict[str, dict[str, float]]
    related: dict[str, dict[str, float]]

class Explanation(TypedDict):
    score: dict[str, float]
    weights: NotRequired[dict[str, float] | None]
    terms: dict[str, float]
    law: str
    factors: dict[str, float]
    path: NotRequired[list[Step] | None]
    keywords: NotRequired[list[KeywordMatched] | None]
    replaces: NotRequired[list[str] | None]
    tags: NotRequired[list[str] | None]
    asked_by: NotRequired[list[str] | None]

class UnplacedFound(TypedDict):
    results: list[Hit]
    associated: NotRequired[list[Associated]]
    total: int
    search_mode: str
    understood: Understood
    expanded: Expanded
    meaning: MeaningCompared | None
    withheld: list[Withheld]
    offset: int
    next: str | None
    mode: str
    owners: NotRequired[list[FoundOf]]

class Found(UnplacedFound, Place): ...

class FoundOf(Placed):
    owner: str
    total: int
    withheld: list[Withheld]

class Hit(Card):
    score: float
    relevance: float
    weight: float
    explain: Explanation

class HowMade(TypedDict):
    at: str
    upto: str
    budget: int
    language: str
    messages: int
    threshold: float
    searches: int
    sensitive: bool
    proactive: bool
    include_faded: bool | None
    trust: str | None
    stable_budget: NotRequired[int | None]

class Injected(TypedDict):
    position: str
    at: str
    principal: str | None
    read_at: str | None
    memories: list[str]
    made: HowMade | None
    block: BlockAsItWas

class InjectedMemory(TypedDict):
    id: str
    part: str | None
    rank: int | None
    closeness: float | None
    long_ago: bool
    memory: str | None
    withheld: str | None
    weight: float | None
    trust: str | None
    created_at: str | None
    status: str
    trust_today: str | None
    since: list[str]

class KeywordMatched(TypedDict):
    asked: str
    keyword: str
    weight: float
    source: str
    match: str
    adds: float
    similarity: NotRequired[float | None]

class MeaningCompared(TypedDict):
    model: NotRequired[str | None]
    embedded: NotRequired[int | None]
    of: NotRequired[int | None]
    failed: NotRequired[str | None]

class MemoryUses(LinesTold, Placed):
    owner: str
    id: str
    memory: str
    status: str
    uses: list[Use]
    total: int
    offset: int

class OutcomeTold(TypedDict):
    position: str
    at: str
    memory: str
    outcome: str
    from_memory: str | None
    actor: str
    principal: str | None
    linked_by: str

class PartSizes(TypedDict):
    stable: int
    turn: int

class Recorded(TypedDict):
    status: str
    position: NotRequired[str | None]

Step = TypedDict(
    "Step",
    {"from": str, "to": str, "link": str, "weight": NotRequired[float | None], "negation": NotRequired[bool | None]},
)

class SynonymPair(TypedDict):
    word: str
    synonym: str
    similarity: float

class SynonymSaid(Placed):
    owner: str
    word: str
    synonym: str
    similarity: float
    changes: list[Change]

class SynonymsKnown(Placed):
    owner: str
    of: str | None
    synonyms: list[SynonymPair]
    silenced: list[SynonymPair]
    total: int
    most: int
    known: dict[str, float]
    expansion: WordExpansion | None
    as_of: str | None
    known_by: NotRequired[str | None]

TimeNamed = TypedDict("TimeNamed", {"text": str, "from": str, "to": str})

class TurnSaid(TypedDict):
    turn_id: str
    role: str
    speaker: str | None
    text: str
    at: str

class Understood(TypedDict):
    times: list[TimeNamed]
    speakers: list[str]
    since: NotRequired[str | None]
    until: NotRequired[str | None]
    parts: NotRequired[list[str] | None]
    expansion: NotRequired[QuestionExpansion | None]

class Use(TypedDict):
    turn_id: str | None
    session: str | None
    injected_at: str
    turn: TurnSaid | None
    replies: list[TurnSaid]
    linked_by: str | None

class WithheldFromBlock(TypedDict):
    kind: str
    id: str
    reason: str

class WordExpansion(TypedDict):
    original: str
    synonyms: dict[str, float]
    related: dict[str, float]

class AccessFigures(TypedDict):
    recorded: NotRequired[int]
    blocks: NotRequired[int]
    waiting: NotRequired[int]
    dropped: NotRequired[int]
    lost: int

class AccessSaid(TypedDict):
    position: str
    recorded_at: str
    event: str
    principal: str | None
    key: str | None
    by: str | None
    reason: str

class AccessTold(TypedDict):
    at: str
    principals: list[PrincipalKnown]
    events: list[AccessSaid]

class AlarmsStanding(TypedDict):
    alarms: list[AlarmStanding]

class AlarmCleared(AlarmsStanding):
    name: str
    subject: str | None
    cleared: bool

class AlarmStanding(TypedDict):
    name: str
    severity: Literal["stopped", "warning"]
    subject: str
    text: str
    meaning: str
    ends: Literal["itself", "operator"]
    first: str
    last: str
    count: int
    by: str

class ConsoleCode(TypedDict):
    code: str
    ends_in: int
    page: str | None

class ConsoleCodeState(TypedDict):
    state: Literal["waits", "used", "over", "unknown"]

class ConsoleSession(TypedDict):
    token: str
    ends_in: int
    idle_seconds: int

class ConsoleSessionEnded(TypedDict):
    ended: bool

class DeadOwner(TypedDict):
    owner: str
    position: str
    reason: str
    parked: list[ParkedEvent]

class DeadOwners(TypedDict):
    quarantined: list[Stuck]

class Discarded(TypedDict):
    owner: str
    discarded: str
    position: str
    freed: bool
    still: list[Stuck]

class EmbedderStanding(TypedDict):
    name: str
    chosen_by: Literal["setting", "store"]
    missing: list[str]
    loaded: list[str]

class GrantHeld(TypedDict):
    verbs: list[str]
    owners: list[str]
    modes: list[str]
    sensitivity: int
    actors: list[str]
    trust: str

class GrantsTold(TypedDict):
    principal: str
    grants: list[GrantHeld]
    position: str | None

class Health(TypedDict):
    status: str

class Inboxes(TypedDict):
    waiting: int
    full: int

class KeyKnown(TypedDict):
    key_id: str
    state: Literal["live", "expired", "revoked"]
    issued_at: str
    expires_at: str | None
    revoked_at: str | None
    digest: str

class KeyMade(TypedDict):
    key: str
    key_id: str
    principal: str
    expires_at: str | None
    grants: list[GrantHeld]
    position: str

class KeyRevokedTold(TypedDict):
    key_id: str
    principal: str
    revoked: bool
    position: str | None

class ListeningReady(TypedDict):
    by: Literal["loopback", "tls", "proxy"]
    certificate_ends: NotRequired[str | None]

class ListeningTold(ListeningReady):
    operating: Literal["here", "socket", "port"]

class NodeReplica(TypedDict):
    name: str
    state: str
    behind_bytes: NotRequired[int | None]
    seen_seconds: NotRequired[int | None]

class NodeStanding(TypedDict):
    name: str
    role: Literal["primary", "replica"] | None
    reachable: bool
    problem: NotRequired[str | None]
    slots: NotRequired[int | None]
    partitions: list[int]
    used_bytes: int | None
    max_bytes: int | None
    used_share: float | None
    replicas: list[NodeReplica]
    fsynced: bool | None

class OwnerCount(TypedDict):
    owner: str
    partition: int
    memories: int

class OwnerPage(TypedDict):
    owners: list[OwnerCount]
    matching: int
    next: str | None

class ParkedEvent(TypedDict):
    position: str
    kind: str
    bytes: int
    event_id: NotRequired[str | None]
    problem: NotRequired[str | None]

class PartitionStatus(TypedDict):
    partition: int
    head: int
    checkpoint: int
    lag: int
    checkpoint_age: float | None
    holder: str | None
    lease_until: NotRequired[str | None]
    lease_seconds: NotRequired[float | None]
    epoch: int
    quarantined: list[str]
    memories: int
    waiting: int
    full_inboxes: int
    refused: int
    build: str
    chain: str | None
    digest: str | None
    rebuild: NotRequired[RebuildBeside | None]

class PartitionsAway(TypedDict):
    node: NotRequired[str | None]
    partitions: list[int]
    problem: str

class PrincipalKnown(TypedDict):
    principal: str
    keys: list[KeyKnown]
    grants: list[GrantHeld]

class ReadTold(TypedDict):
    position: str
    recorded_at: str | None
    principal: str | None
    key_id: str | None
    token: str | None
    what: Literal["reveal", "export", "debug", "past", "denied"] | None
    call: str | None
    whose: str | None
    times: int

class ReadsTold(TypedDict):
    reads: list[ReadTold]
    next: str | None
    position: str

class Ready(TypedDict):
    status: str
    lag: int
    partitions: dict[str, int]
    unreachable: NotRequired[list[int] | None]
    workers: int
    inboxes: Inboxes
    alarms: list[ReadyAlarm]
    embedder: NotRequired[ReadyEmbedder | None]
    listening: NotRequired[ListeningReady | None]

class ReadyAlarm(TypedDict):
    name: str
    severity: str
    since: str

class ReadyEmbedder(TypedDict):
    kind: str
    loaded: int
    missing: int

class RebuildBeside(TypedDict):
    build: str
    seq: int
    holder: str | None

class RestoredTold(TypedDict):
    backup: str
    moment: str
    at: str
    events: int
    taken_over: NotRequired[str | None]
    reason: NotRequired[str | None]

class Retried(TypedDict):
    owner: str
    freed: bool
    dead: NotRequired[DeadOwner | None]

class RoomLeft(TypedDict):
    used_bytes: int | None
    max_bytes: int | None
    unfolded_bytes: int
    node: NotRequired[str | None]
    bytes_an_event: NotRequired[float | None]
    used_share: NotRequired[float | None]
    events_until_full: NotRequired[int | None]
    warning: NotRequired[str | None]

class SealingTold(TypedDict):
    on: bool
    key: str | None
    owners_locked: int
    reachable: bool | None
    problem: NotRequired[str | None]

class StoreStats(TypedDict):
    owners: int
    events: int
    memories: int
    lag: int
    memory: RoomLeft
    largest_owners: list[OwnerCount]
    figures: NotRequired[HistoryFigures | None]
    figures_of: NotRequired[SummedOver | None]

class StoreStatus(TypedDict):
    store_id: str
    at: NotRequired[str | None]
    events: int
    memories: int
    lag: int
    inboxes: Inboxes
    refused: int
    partitions: list[PartitionStatus]
    workers: list[dict[str, Any]]
    silent: NotRequired[list[dict[str, Any]] | None]
    nodes: NotRequired[list[NodeStanding] | None]
    unreachable: NotRequired[list[PartitionsAway] | None]
    unread: NotRequired[list[Literal["alarms", "workers", "restored", "backed_up"]] | None]
    memory: RoomLeft
    lifecycle: Schedule
    alarms: list[AlarmStanding]
    accesses: AccessFigures
    embedder: NotRequired[EmbedderStanding | None]
    listening: NotRequired[ListeningTold | None]
    restored: NotRequired[RestoredTold | None]
    backed_up: NotRequired[str | None]
    sealed: bool
    sealing: NotRequired[SealingTold | None]
    notice: str

class Stuck(TypedDict):
    owner: str
    position: str
    kind: str
    reason: str
    parked: int

class SummedOver(TypedDict):
    owners: int
    left_out: int

class WhoAsks(TypedDict):
    principal: str
    key: str | None
    token: str | None
    unlimited: bool
    grants: list[GrantHeld]
    narrowed_to: list[GrantHeld] | None
    expires_at: str | None
