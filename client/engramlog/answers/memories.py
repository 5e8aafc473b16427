"""Memories: cards, lists, one memory, why it weighs what it weighs, its sources, and what waits in the inbox."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from engramlog.answers.base import LinesTold, Place, Placed, Result
from engramlog.answers.changes import AsideTold, Change, CorrectedBy, Effects, PossibleConflict


class ToldBeside(Result):
    """Memories that may contradict it, and its statements that are no longer true; absent if there are none."""

    possible_conflicts: list[str] = []
    conflicting: list[PossibleConflict] = []
    corrected: list[CorrectedBy] = []
    """Its statements that are no longer true, the last corrected first, at most 5."""
    until: datetime | None = None
    """Until when it says that it holds (until Friday, 周五之前), as the first instant after that."""


class Card(ToldBeside):
    """Fields of a memory in every answer."""

    id: str
    memory: str
    """Its text; `[withheld: ...]` for a secret."""
    level: str
    category: str
    kind: str
    speaker: str | None
    source_turns: list[str]
    created_at: datetime
    last_activated_at: datetime
    mention_count: int
    is_negated: bool
    status: str
    trust: str
    """How far to trust it: `asserted` (by the user), `inferred`, `imported`, `proposed`, `disputed`, `rejected`."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    successor: str | None = None
    ground_changed: bool = False
    """True: something that it rests on has another digest now; normal mode withholds it."""
    long_ago: bool = False
    """True: so old that normal mode would withhold it, and shown as it matches the question."""
    owner: str | None = None
    """Whose memory it is, if several owners were asked."""


class RestsOn(Result):
    """Something outside that a memory rests on."""

    uri: str | None
    """Null of a secret memory."""
    digest: str
    """The digest when the memory was made."""
    reported: str | None = None
    """The digest that was reported last; null if none was."""
    changed: bool = False


class Withheld(Result):
    """How many matches the mode withheld for one reason, and which mode shows them."""

    reason: str
    count: int
    shown_by: str
    ids: list[str] = []
    """Only in a search: ids of the best matches, at most five; none of sensitive memories."""


class BasisListed(Result):
    """Why a memory is kept and what it rests on, as far as there is any."""

    because: str | None = None
    """Why it is kept, if its producer said so and it is no secret."""
    grounds: list[RestsOn] | None = None
    """Its evidence, as far as the caller may read it."""
    metadata: dict[str, str | int | float | bool] | None = None
    """The producer's own fields, unless it is a secret."""


class ExtractedKeyword(Result):
    """A keyword that a memory is found by."""

    word: str
    weight: float
    """From 0.3 to 1."""
    source: str
    """`user_tag`: the user gave it. `llm`: an agent, an MCP tool or a model gave it. `system`: rules found it in the text."""


class EarlierText(Result):
    """An earlier version of a memory."""

    version: int
    content: str
    until: str


class CorrectionTold(Result):
    """A correction of a memory."""

    time: str
    reason: str | None
    new_preference: str | None
    resolution: str
    replaced_by: str | None
    turn_id: str | None


class EdgeTold(Result):
    """Associations of a memory."""

    to: str
    weight: float
    link: str


class BasisTold(Result):
    """Why a memory is kept, and what it rests on."""

    because: str | None = None
    """Why it is kept."""
    grounds: list[RestsOn] = []
    """What it rests on."""
    metadata: dict[str, str | int | float | bool] = {}
    """The producer's own fields; empty for a secret."""


class InPattern(Result):
    """A pattern, or a memory that is evidence of one."""

    id: str
    memory: str | None
    """Its text, at most 400 characters; null if the memory is not live."""
    status: str
    created_at: datetime
    """When it was said; for a pattern, the time of its newest evidence."""


class PatternTold(Result):
    """Evidence of a pattern, and patterns that use a memory as evidence."""

    evidence: list[InPattern] | None = None
    """Memories from which a pattern was made, oldest first; only for a pattern."""
    patterns: list[InPattern] | None = None
    """Patterns that rest on it, at most 20; absent if there are none."""


class ContextTold(Result):
    """Circumstances when a memory was made: as its producer stated, else derived from time and words when it is read."""

    tags: list[str]
    """The producer's first, then the derived ones; of a secret only those that its time tells."""
    emotion: float | None
    """From -1 to 1; 0 if unknown, null for a secret without a value from its producer."""


class Detail(PatternTold, BasisTold, Card, Place):
    """Everything about one memory."""

    content: str
    summary: str | None
    recorded_level: str
    weight: float
    tier: str
    ground: str | None
    """Why a memory of tier core or system stands in every prompt: operator (said so) or review (a reviewer
    promoted what use bore out); null: it does not stand there."""
    source: str
    waiting: list[str]
    """Events by lower sources that would change it and wait for a person, by their ids."""
    confidence: float
    importance: float
    keywords: list[str]
    extracted_keywords: list[ExtractedKeyword]
    """At most five, the given ones first; none of a secret memory."""
    tags: list[str]
    """The producer's tags; `context` also has derived ones."""
    emotion: float | None
    """The producer's value; null if there is none."""
    context: ContextTold
    project: str | None
    task: str | None
    modalities: list[str]
    sensitivity: int
    """0 public, 1 general, 2 sensitive, 3 secret: its text is withheld unless asked for with `reveal`."""
    verified: bool
    version: int
    versions: list[EarlierText]
    updated_at: datetime
    last_mentioned_at: datetime | None
    last_accessed_at: datetime | None
    access_count: int
    correction_history: list[CorrectionTold]
    corrects: str | None
    merged_from: list[str]
    merged_into: str | None
    deleted_at: datetime | None
    purged_at: datetime | None
    edges: list[EdgeTold]
    revealed: str | None = None
    """If the text was shown on request: the position of the event that records it."""


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
    memory: str | None = None
    """Its text, at most 400 characters; null for the root, and for deleted, set-aside or withheld memories."""
    created_at: str | None = None
    set_aside: bool | None = None
    """True: its source is set aside."""
    source_erased: bool | None = None
    """True: a turn that it was drawn from has lost its words for good; it stays."""


class OriginTree(Result):
    """Origins of a memory: nodes that each name their parent."""

    memory: str
    nodes: list[OriginNode]
    nodes_left_out: int | None = None


class ScoreTerm(Result):
    """One part of both scores."""

    term: str
    """Its name, as `explain.score` of a search has it."""
    first: float | None
    """Its part of the first one's score; null if that is not ranked."""
    second: float | None
    difference: float | None
    """`first` less `second`; null where one of the two is not ranked."""


class Absent(Result):
    """Why a memory is not among the results."""

    why: str
    """`withheld` by the mode, `no_match`, or `too_weak`: it matches, but is not among the best that are ranked."""
    reason: str | None
    """Why the mode withholds it."""
    shown_by: str | None
    """The mode, or the command, that shows it."""


class RankedMemory(Result):
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


class RankRule(Result):
    """A rule that acts in addition to what matches."""

    rule: str
    """`current_first` (it replaced `others`, so it stands above them), `corrected` (by `others`; the question asks
    for what still holds of it), `for_a_time` (until then it stands above `others`, or it holds again and they
    are over), `associated` (activation reached it)."""
    of: str
    others: list[str]


class QuestionExpansion(Result):
    """How else a language model puts the question."""

    status: Literal["asked", "kept", "nothing", "private", "busy", "timeout", "failed"]
    """`asked` now, or `kept` from within ten minutes; `nothing`: no term of use. Else the question was searched as it is: `private`
    (it holds a secret, an address or the like), `busy` (four questions are with the model), `timeout`, `failed`."""
    terms: list[str]
    """The other wordings that were searched, at most three."""
    model: str
    """Name of the model."""


class RankComparison(Result):
    """Why one memory ranks above another for a question, or below it."""

    query: str
    order: str
    """`above`, `below`, or `neither` where neither is a result: of the first to the second."""
    tied: bool
    """Whether both scores are equal: then what was made later stands above."""
    sentence: str
    language: str
    """Language of the sentence: `en` or `zh`."""
    first: RankedMemory
    second: RankedMemory
    difference: float | None
    """Difference of the scores; the differences of the terms add up to it."""
    terms: list[ScoreTerm]
    """The most decisive first."""
    rules: list[RankRule]
    mode: str
    ranking: str
    search_mode: str
    meaning: str | None
    """Why meaning was not compared, where it was asked for and failed."""
    expansion: QuestionExpansion | None = None
    """Null if no model rewords the query."""


class Why(BasisTold, ToldBeside, Place):
    """Why a memory weighs what it weighs."""

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
    """How far to trust it, as of a card."""
    created_at: datetime
    last_activated_at: datetime
    next: str | None = None
    """The next page of changes, as `cursor`; `history` takes it too."""
    order: str = "oldest"
    aside: AsideTold | None = None
    """The source by whose setting aside the memory is withheld."""
    above: RankComparison | None = None
    """Its rank and that of the memory named by `above`, for a question; null if none was named."""
    limited: bool = False
    """Whether `changes` and `provenance` are empty because the key reads below sensitivity 2."""


class Provenance(LinesTold, Placed):
    """Origins of a memory: nodes that each name their parent."""

    id: str
    provenance: OriginTree


class Listed(BasisListed, Card):
    """One memory of a list."""

    weight: float
    tier: str
    source: str
    sensitivity: int
    tags: list[str]
    """Its producer's own; none of a secret."""
    context: ContextTold
    updated_at: datetime
    """When it was made or last revised."""
    deleted_at: datetime | None
    waiting: list[str]
    """Ids of the events that would change it, and wait for a person."""


class SpansTold(Result):
    """The requested times as understood, in RFC 3339 and the owner's time zone."""

    since: str | None = None
    """Created at this instant or later."""
    until: str | None = None
    """Created before this instant."""
    updated_since: str | None = None
    """Made or revised at this instant or later."""
    updated_until: str | None = None
    """Made or revised before this instant."""


class Listing(SpansTold, Place):
    """A page of memories."""

    memories: list[Listed]
    total: int
    """Memories that the mode shows and all filters match."""
    offset: int
    sort: str
    order: str
    withheld: list[Withheld]
    """Memories of the owner that the mode withholds, whatever the filters."""
    mode: str


class ValueCount(Result):
    """How many memories have one value."""

    value: str
    count: int


class FacetCounts(Result):
    """Counts by the values of one filter, as if that filter were not set."""

    counts: list[ValueCount]
    """Every value of a closed list, in its order; of kinds and tags the 50 of the most memories."""
    left_out: int
    """Other values that some memory has."""


class Counts(SpansTold, Place):
    """How many memories a list has, by the values of its filters."""

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
    """Number of matching memories that each law shows in normal mode."""


class SourceAside(AsideTold):
    """A source that is set aside, and what that withholds."""

    memories: int
    """Withheld by it; what several withhold counts for the first of them."""


class SourcesAside(Placed):
    """What is set aside now."""

    owner: str
    sources: list[SourceAside]
    """The newest first."""
    total: int
    most: int
    """How many different ones an owner may ever have set aside."""
    as_of: str | None
    known_by: str | None = None
    """The requested moment of recording (`known`)."""


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


class SourcesNamed(LinesTold, Placed):
    """Sources of an owner, the latest first, then by name."""

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
    """Number of events with a URI that is withheld, because memories based on it are secret, deleted or purged."""
    hint: str | None
    """That nothing of the owner is recorded."""


class SomeMemories(Result):
    """Memories, the first hundred by id."""

    total: int
    ids: list[str]


class SourceSaid(Placed):
    """Memories that setting a source aside withholds, or bringing it back shows again, and effects on memories of others."""

    owner: str
    session: str | None
    principal: str | None
    of_actor: str | None
    memories: int
    """Number of memories of the source, which are withheld while it is set aside."""
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


class Reported(Placed):
    """Result of reporting a digest."""

    owner: str
    uri: str
    digest: str
    withheld: list[str]
    """Memories that rest on another digest: normal mode withholds them from here on."""
    back: list[str]
    """Memories that rest on this one and were withheld for another."""
    left: int
    """How many more there are: report again."""
    newer: int
    """Number of memories with newer information, which the report does not change."""
    changes: list[Change]


class InboxItem(Result):
    """One thing that waits for a person."""

    item: str
    """Id for the answer: of the waiting event, or of the proposed memory."""
    kind: str
    """`negation`, `revision`, `merge`, `deletion`: what would be done to it; `reaffirmation`: it would hold again;
    `readmission`: the user said again what was rejected; `suggested_merge`, `suggested_link`: what might be
    done with two memories; or `proposal`."""
    memory_id: str
    about: list[str]
    """Ids of the two that a suggestion is about; none of anything else."""
    memory: str | None
    """Its current text; null for a readmission, because no memory has it now."""
    would_say: str | None
    """The text that would replace it; null if there is none, and for a proposal."""
    reason: str | None
    """The sender's reason."""
    reason_code: str | None = None
    """Which of the service's sentences `reason` is; null where it is somebody's own."""
    reason_values: dict[str, str] | None = None
    """Values of the placeholders in that sentence, by name."""
    actor: str
    principal: str | None
    """Principal that sent it, as the service knows it."""
    at: str
    position: str


class InboxPage(LinesTold, Placed):
    """Items that wait for a person, newest first."""

    owner: str
    items: list[InboxItem]
    total: int
    offset: int
    taken: int
    """Places taken of `most`: a merge takes one for each memory on which it waits, and what is withheld meanwhile
    (its source is set aside, its value rejected) keeps its place."""
    most: int
    """At most so many: what has to wait beyond it changes nothing, and its history says so."""


class Answered(Effects):
    """A person's answer and its effects."""

    item: str
    verdict: str
    """`accepted`, `edited` or `rejected`."""
    done: str
    """What was done, in words."""
    done_code: str
    """The same in one: `linked`, `merged`, `counts`, `holds_again`, `negated`, `revised`, `deleted`, `kept_again`,
    `stays`, `refused`, `dismissed` or `nothing`."""
