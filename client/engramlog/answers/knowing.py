"""What is known of an owner and how it is kept: assessments, maps, facts, health, reviews, profiles, laws and parameters."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from engramlog.answers.base import LinesTold, Place, Placed, Result
from engramlog.answers.changes import Change, Done
from engramlog.answers.memories import Card, Withheld
from engramlog.answers.operating import Coverage


class Stats(Result):
    """The numbers behind an assessment, each from 0 to 1 but the count."""

    memories: int
    mean_confidence: float
    coverage: float
    mean_recency: float
    mean_consolidation: float


class Evidence(Result):
    """A memory that an assessment rests on."""

    id: str
    snippet: str
    confidence: float
    relevance: float
    access_count: int
    updated_at: str


class Assessment(Place):
    """How sure we are about a topic."""

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
    """For a topic: one of the five best hits. For an overview: the memory with the most links of its cluster."""
    cluster: int | None
    """None: it belongs with no other on this map."""


class MapReason(Result):
    """Why two memories on a map are joined."""

    link: str
    """keyword, meaning, co-task, temporal, co-hit, related, or a producer's own name."""
    weight: float
    keywords: list[str]
    """The keywords that both have, the rarest first, at most five; of other links none."""


class MapEdge(Result):
    """Link of two memories on a map, with weight and `link` of its strongest reason."""

    from_: str
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


class KnowledgeMap(Place):
    """Graph of the memories about a topic, or of the strongest memories."""

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


class Branch(Card):
    """An associated memory, with what it is associated with in turn."""

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


class AssociationTree(Card, Place):
    """A memory and what it is associated with."""

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
    """A triple that is true now; degree, condition and time are those of its newest assertion."""

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


class FactsKnown(Placed):
    """A page of an owner's triples."""

    owner: str
    about: str | None
    facts: list[Fact]
    total: int
    """Number of triples over all pages."""
    offset: int
    known: int
    """How many triples the owner has in all."""
    as_of: str | None
    known_by: str | None = None
    """The `known` of the request."""


class Strength(Card):
    """A memory with its Ebbinghaus strength."""

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


class MemoryHealth(Place):
    """A page of live memories, strongest first."""

    memories: list[Strength]
    total: int
    """Live memories in all."""
    offset: int
    colours: dict[str, int]
    """How many of all of them are of each colour."""
    mean_strength: float | None
    profile: str


class Fading(Place):
    """A page of live memories under strength 30, weakest first."""

    memories: list[Strength]
    total: int
    """How many are fading."""
    live: int
    """Of how many live ones."""
    offset: int
    under: int
    profile: str


class DueMemory(Card):
    """A memory that is due for review."""

    due_at: str
    days_overdue: float
    importance: float
    """0.4 confidence + 0.3 consolidation + 0.3 |emotion| at the default shares."""
    confidence: float
    consolidation: float
    emotion: float
    priority: float
    """The sort key: importance * (1 + days overdue)."""
    interval_days: float
    scheduler: str
    """`accesses` before the first grade, then `sm2` or `fsrs`."""
    access_count: int


class ReviewsDue(Place):
    """Memories due for review, most urgent first."""

    memories: list[DueMemory]
    due: int
    """How many are due in all."""
    left_out: int
    """How many of these are of less than the least importance."""
    min_importance: float
    next_due_at: str | None
    """When the next one falls due that is not due yet."""


class Held(Result):
    """Values of a memory at one instant under each law."""

    strength: int
    stability_hours: float
    reinforce_count: int
    importance: float
    """As it was last set."""
    effective_importance: float
    """Importance after the decay of the tiered law."""
    tier: str
    law: str
    """The owner's, which the weight is of."""
    weight: float
    next_review_at: datetime
    interval_days: float
    scheduler: str


class Reinforced(Done, Placed):
    """What reinforcing a memory did."""

    outcome: str
    from_memory: str | None
    turn_id: str | None
    """The turn in which it was used."""
    id: str
    at: datetime
    """The instant of both readings."""
    owner: str
    before: Held
    after: Held | None
    """Null where the owner is quarantined and the event waits."""
    remarks: list[str]
    """Effects left out, with the reason, such as a use within the cool-down of the last."""


class NextReview(Result):
    """When a scheduler has a memory reviewed next, and what it keeps of it."""

    due_at: datetime
    interval_days: float
    ease: float | None = None
    """Of `sm2`, as `repetitions`."""
    repetitions: int | None = None
    stability_days: float | None = None
    """Of `fsrs`, as `difficulty`."""
    difficulty: float | None = None


class Graded(Placed):
    """Result of grading a memory: its next review by each scheduler."""

    grade: int
    id: str
    at: str
    owner: str
    changes: list[Change]
    before: Held
    after: Held | None
    decides: str
    """The owner's scheduler: a parameter."""
    schedulers: dict[str, NextReview] | None
    """By name; null where the event waits."""


class OwnerProfile(LinesTold, Placed):
    """The law that an owner's recall and lifecycle go by."""

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


class LawShape(Result):
    """One law by which memories can be weighed."""

    name: str
    formula: str
    factors: dict[str, str]
    """Meaning of each factor, with its unit or range."""
    thresholds: dict[str, float]
    """Least weight of normal and review mode, at the defaults."""
    source: str


class Laws(Result):
    """Every law there is."""

    laws: list[LawShape]


class MomentsOfPast(Result):
    """Moments of an owner's past that questions kept to begin at, as of today."""

    kept: int
    bytes: int
    """Estimated bytes in Redis."""


class WeightBucket(Result):
    """Memories with a weight above the previous bound and at most this one."""

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
    """Negations that the user took back by saying the memory again (`reaffirm`)."""
    refused: int
    """Negations by a lower source that waited for a person, who rejected them."""
    total: int


class HistoryFigures(Result):
    """How often what happened to the owner's memories, counted in the change log; each event once. Ignored ones count nowhere."""

    activations: int
    """Mentions that refreshed a memory."""
    frequent_mentions: int
    """Number of these that were the third or later within 24 hours (decision `merge`)."""
    negations: int
    merges: int
    merges_undone: int
    compressions: int
    """Levels that a sweep recorded."""
    possible_conflicts: int
    """Pairs that were linked as a possible conflict."""
    task_successes: int = 0
    """Reports of a task that succeeded with a memory."""
    task_failures: int = 0
    conflict_errors: ConflictErrors


class ShownFigures(Result):
    """Recorded accesses of one kind."""

    answers: int
    """Answers that showed anything; of `injection` events, one for each block."""
    memories: int
    """Memories in them, counted as often as they were shown."""


class WeekFigures(Result):
    """How the tasks went for which memories were put into prompts, in one week."""

    week: str
    """Its Monday, in UTC."""
    answers: int
    """Turns for which memories were injected first in this week."""
    task_success: int
    task_failure: int
    """Answers by the newest report of their task (`reinforce` with the id of the turn or reply, or caused by it). A report
    without a turn belongs to the newest earlier answer of its session whose prompt had the memory."""
    reported_share: float | None
    """Share of the answers whose task was reported, 0 to 1; null in a week without answers."""
    success_share: float | None
    """Share of `task_success` among those reported; null where none was."""
    other_success: int = 0
    other_failure: int = 0
    """Reports of this week that belong to no known answer, one for each memory."""


class OwnerStats(Place):
    """Counts of one owner's memories."""

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
    """Mean over all memories, including deleted and merged ones."""
    weights: WeightFigures
    figures: HistoryFigures
    shown: dict[str, ShownFigures]
    """By way of showing: recall (searches), detail, association, injection (blocks for prompts), inspection,
    reveal."""
    chain: str
    satisfaction: list[WeekFigures] = []
    """By week, the newest first, at most 53."""
    satisfaction_note: str | None = None
    """Why no share of successful answers is known; null if one is."""
    embedding: Coverage | None = None
    """How many have a vector, where one embeds."""


class ParameterShape(Result):
    """One parameter of the laws and modes: what it may be, and what it does. Every owner can have it otherwise."""

    name: str
    """As `profile --set` and `replay --set` take it."""
    kind: Literal["int", "float", "str", "bool"]
    """A whole number is a float too."""
    default: float | int | str | bool
    least: float | None
    """Least value of a number; null for other types."""
    least_excluded: bool
    """Whether `least` itself is excluded."""
    most: float | None
    """Greatest value of a number, inclusive."""
    choices: list[str | bool] | None
    """All that it may be, where that is a few words; else null."""
    allowed: str
    """The allowed values in words, as in an error."""
    help: str
    """What it is."""


class ParametersKnown(Result):
    """Every parameter that can be set."""

    parameters: list[ParameterShape]
    """In the order of the model."""
