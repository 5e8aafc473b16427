"""What the verbs answer. Fields that this version does not know are kept (`model_extra`): shapes gain fields, never lose any."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any
from unicodedata import east_asian_width

from pydantic import BaseModel, ConfigDict, Field

_ESSENTIAL = ("memory", "content", "text", "block", "results", "memories", "id", "score", "weight", "created", "status")
"""Fields that the repr shows first."""
_WIDEST, _WIDEST_VALUE = 239, 90
"""Columns of a repr, three lines of a terminal, and of one value in it."""


class Result(BaseModel):
    """Anything the service tells."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    def __repr__(self) -> str:
        """The essential fields first, without empty ones, in at most three lines of 80 columns; `model_dump()` has all."""
        first = [name for name in _ESSENTIAL if name in type(self).model_fields]
        names = [*first, *(name for name in type(self).model_fields if name not in first)]
        shown, room = list[str](), _WIDEST - len(f"{type(self).__name__}(, ...)")
        for name in names:
            value = getattr(self, name)
            if value is None or value in ("", [], {}, ()):
                continue
            field = f"{name}={_short(value)}"
            room -= _columns(field) + 2
            if room < 0:
                shown.append("...")
                break
            shown.append(field)
        return f"{type(self).__name__}({', '.join(shown)})"

    __str__ = __repr__


def _short(value: object) -> str:
    """A value in at most `_WIDEST_VALUE` columns; of a list its length and what it begins with."""
    if isinstance(value, datetime):
        value = value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, list) and value:
        text = f"[{len(value)}: {value[0]!r}" + (", ...]" if len(value) > 1 else "]")
    else:
        text = repr(value)
    if _columns(text) <= _WIDEST_VALUE:
        return text
    kept = list[str]()
    room = _WIDEST_VALUE - 3
    for sign in text:
        room -= _columns(sign)
        if room < 0:
            break
        kept.append(sign)
    return f"{''.join(kept)}..."


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


class PossibleConflict(Result):
    """Another memory, with its text, that may contradict this one: nothing was overwritten, and which holds is to be asked."""

    id: str
    memory: str


class CorrectedBy(Result):
    """Something that a memory says and that no longer holds: since when, and what says what holds in its place."""

    of: str = ""
    was: str | None = None
    """None where it was deleted."""
    by: str | None = None
    now: str | None = None
    at: datetime


class ToldBeside(Result):
    """What may contradict a memory, what it says that no longer holds, and until when it says that it holds."""

    possible_conflicts: list[str] = []
    conflicting: list[PossibleConflict] = []
    corrected: list[CorrectedBy] = []
    until: datetime | None = None
    """The first instant at which it holds no longer, where it says so itself."""


class Card(ToldBeside):
    """What every answer tells of a memory."""

    id: str
    memory: str
    """Its text, as short as its level says; `[withheld: ...]` for a secret."""
    level: str
    category: str
    kind: str
    speaker: str | None = None
    source_turns: list[str] = []
    created_at: datetime
    last_activated_at: datetime
    mention_count: int
    is_negated: bool
    status: str
    trust: str | None = None
    """`asserted`, `inferred`, `imported`, `proposed`, `disputed` or `rejected`; None from a service of before."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    successor: str | None = None
    ground_changed: bool = False
    """Whether something that it rests on has another digest now; then normal mode withholds it."""
    long_ago: bool = False


class RestsOn(Result):
    """Something outside that a memory rests on."""

    uri: str | None = None
    """None of a secret memory."""
    digest: str
    reported: str | None = None
    """As it was last reported; None where nobody did."""
    changed: bool = False


class BasisTold(Result):
    """Why a memory is kept, and what it rests on."""

    because: str | None = None
    grounds: list[RestsOn] = []
    metadata: dict[str, str | int | float | bool] = {}


class Withheld(Result):
    """How many memories the mode withheld for one reason, and which mode shows them."""

    reason: str
    count: int
    shown_by: str
    ids: list[str] = []


class Lagging(Result):
    """The position that an answer was computed at, or that was written."""

    position: str
    behind: int = 0
    """How far the owner's own head lies beyond `position`: at most so many of its events are not in the answer."""
    quarantined: dict[str, Any] | None = None
    """Where an event of the owner cannot be folded: answers are as of the last one before it, and what was written waits."""


class Place(Lagging):
    """As of when an answer is, and the position it was computed at."""

    as_of: str | None = None
    known: str | None = None
    at: str | None = None


class Step(Result):
    """One step on the way to what is brought to mind."""

    from_: str = Field(alias="from")
    to: str
    link: str
    weight: float | None = None
    negation: bool | None = None


class Explanation(Result):
    """Why a result stands where it stands."""

    score: dict[str, float]
    """The parts of the score by name; they add up to it."""
    terms: dict[str, float]
    law: str
    factors: dict[str, float]
    weights: dict[str, float] | None = None
    """The most that each part adds, under `conversation`."""
    path: list[Step] | None = None
    """The way of the activation, under `associative`."""
    keywords: list[dict[str, Any]] | None = None
    """Which keyword matched which, and how, under `published`."""
    replaces: list[str] | None = None
    """Matching memories that this one replaced."""
    tags: list[str] | None = None
    """Context tags, where the search asked for some."""
    asked_by: list[str] | None = None
    """Of a question of several parts those that it answers best."""


class Hit(Card):
    """One search result."""

    score: float
    relevance: float
    """0 to 1, comparable between answers and rankings."""
    weight: float
    explain: Explanation


class Associated(Card):
    """A memory that the hits bring to mind."""

    activation: float
    weight: float
    path: list[Step]


class TimeNamed(Result):
    """A time that the question names."""

    text: str
    from_: datetime = Field(alias="from")
    to: datetime
    """Not included."""


class Understood(Result):
    """What was read in the question."""

    times: list[TimeNamed]
    speakers: list[str]
    since: datetime | None = None
    """From when on was searched, where `since` is told."""
    until: datetime | None = None
    """Before when, where `until` is told."""
    parts: list[str] | None = None
    """The parts of the question, where each has a share of the first ten results."""


class Expanded(Result):
    """What was looked for beside the question's own keywords."""

    original: list[str]
    synonyms: dict[str, dict[str, float]]
    """By keyword: its synonyms with their similarity."""
    related: dict[str, dict[str, float]]
    """Synonyms of these: told, never matched."""


class ComparedMeaning(Result):
    """How far the meaning of texts was compared."""

    model: str | None = None
    embedded: int | None = None
    """Memories that have vectors of the model."""
    of: int | None = None
    """Memories that hold text."""
    failed: str | None = None
    """Why the embedder could not be asked: the answer goes by words."""


class Found(Place):
    """The answer to a search."""

    results: list[Hit]
    associated: list[Associated] = []
    total: int
    next: str | None = None
    """The cursor of the next page."""
    search_mode: str
    mode: str
    withheld: list[Withheld] = []
    offset: int = 0
    """How many results stood on the pages before."""
    understood: Understood | None = None
    expanded: Expanded | None = None
    meaning: ComparedMeaning | None = None
    """None where meaning was not compared."""


class ContextLine(Result):
    """One line of a context block."""

    kind: str
    """What the id names: `memory`, `turn`, or `tool` (a tool result, by position)."""
    id: str
    note: str
    text: str
    """As recorded; the block may hold less of it."""
    closeness: float | None = None
    handle: str | None = None
    """Short name of a memory or turn; every verb accepts it."""
    asked_by: list[str] | None = None
    """Of a question of several parts those that it answers best."""


class ContextParts(Result):
    """A context block's parts, in their order."""

    time: str
    instructions: list[ContextLine] = []
    core: list[ContextLine]
    profile: list[ContextLine] = []
    """What the user said about themselves."""
    remembered: list[ContextLine]
    earlier: list[ContextLine] = []
    retrieved: list[ContextLine]
    tools: list[ContextLine]
    unconfirmed: list[ContextLine] = []
    """Related texts that give orders and are not from the user."""


class ContextSearch(Result):
    """One search that was made for a context block."""

    query: str
    found: int
    """Memories close enough that may stand in a prompt."""
    withheld: dict[str, int]
    """Further matches that normal mode does not show, by reason."""
    parts: list[str] = []
    """The parts of the question that had a share each; none where it asks for one thing."""


class ContextSizes(Result):
    """What the two parts take beside the whole conversation, in tokens as estimated."""

    stable: int
    turn: int
    conversation: int
    """All turns with this owner that stand, as a prompt without memory would hold them."""
    left_out: dict[str, int] = {}
    """Lasting memories that may not stand in the profile, by reason."""


class ContextBlock(Lagging):
    """What to put into a prompt, and everything in it by id."""

    block: str
    stable: str = ""
    """Instructions, what always holds, the profile: the same bytes until one of its memories changes."""
    turn: str = ""
    """The time, and what belongs to this turn. `block` is both parts."""
    sizes: ContextSizes | None = None
    tokens: int
    budget: int
    language: str
    session: str | None = None
    turn_id: str | None = None
    parts: ContextParts
    injected: list[str]
    """Ids of the memories in the block."""
    recorded: dict[str, Any]
    """`status`: `appended`, `already`, `nothing`, `off` or `lost`; the `position` where the log was asked."""
    dropped: dict[str, int]
    """Lines for which there was no room, by part."""
    left_out: dict[str, int]
    """What may not stand in a prompt, by reason."""
    as_of: str | None = None
    known: str | None = None
    owner: str = ""
    searches: list[ContextSearch] = []
    read_back: str = "all"
    """`all`: the whole of what was said was read; `part`: the newest events of the owner."""


class ContextTold(Result):
    """What was going on when a memory was made: its producer's word, else derived from its time and its words."""

    tags: list[str] = []
    emotion: float | None = None
    """From -1 to 1; 0 where nothing tells, None of a secret whose producer told none."""


class Listed(BasisTold, Card):
    """One memory of a list."""

    weight: float
    tier: str = ""
    source: str = ""
    sensitivity: int = 0
    tags: list[str] = []
    """Its producer's own; none of a secret."""
    context: ContextTold | None = None
    updated_at: datetime | None = None
    """When it was made or last revised."""
    deleted_at: datetime | None = None
    waiting: list[str] = []
    """Ids of the events that would change it, and wait for a person."""


class Listing(Place):
    """Memories in an order: newest activation first unless another was asked for."""

    memories: list[Listed]
    total: int
    """How many the mode shows and all filters match."""
    offset: int
    sort: str = "activated"
    order: str = "descending"
    since: str | None = None
    """Of the filters on times, as they were understood: created at this instant or later; the others likewise."""
    until: str | None = None
    updated_since: str | None = None
    updated_until: str | None = None
    withheld: list[Withheld] = []
    """What the mode withholds of the owner, whatever the filters."""
    mode: str


class ExtractedKeyword(Result):
    """A keyword of a memory."""

    word: str
    weight: float
    """From 0.3 to 1."""
    source: str
    """`user_tag`, `llm` (both given), or `system`: found in its text."""


class InPattern(Result):
    """A pattern, or a memory that is evidence of one."""

    id: str
    memory: str | None
    """What it says, at most 400 characters; None where it does not stand."""
    status: str
    created_at: datetime
    """When it was said; of a pattern when the newest of its evidence was."""


class Detail(BasisTold, Card, Place):
    """Everything about one memory."""

    content: str
    summary: str | None = None
    weight: float
    tier: str
    ground: str | None = None
    """Why one of tier core or system stands in every prompt: `operator`, `review`, or None where it does not."""
    source: str
    waiting: list[str] = []
    """Events by lower sources that would change it and wait for a person, by their ids."""
    confidence: float
    importance: float
    keywords: list[str] = []
    tags: list[str] = []
    emotion: float | None = None
    project: str | None = None
    task: str | None = None
    sensitivity: int = 0
    """0 public, 1 general, 2 sensitive, 3 secret: its text is withheld unless asked for with `reveal`."""
    verified: bool = False
    version: int
    updated_at: datetime
    corrects: str | None = None
    merged_from: list[str] = []
    merged_into: str | None = None
    deleted_at: datetime | None = None
    purged_at: datetime | None = None
    revealed: str | None = None
    """Where it is recorded that its text was shown; only of what was asked for with `reveal`."""
    context: ContextTold = ContextTold()
    recorded_level: str = ""
    extracted_keywords: list[ExtractedKeyword] = []
    """At most five, the given ones first; none of a secret memory."""
    modalities: list[str] = []
    versions: list[dict[str, Any]] = []
    last_mentioned_at: datetime | None = None
    last_accessed_at: datetime | None = None
    access_count: int = 0
    correction_history: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    evidence: list[InPattern] | None = None
    """The memories that it was made of, the oldest first; only of a pattern."""
    patterns: list[InPattern] | None = None
    """Patterns of which it is evidence, where there are any, at most 20."""


class Change(Result):
    """One change-log entry: what one event did to one memory. Never holds content."""

    position: str
    event_id: str
    time: datetime
    event: str
    memory: str | None = None
    decision: str
    """`create`, `reinforce`, `negate`, ... or `ignored`, with the reason."""
    reason: str
    reason_code: str | None = None
    """Which of the service's sentences `reason` is; None where it is somebody's own words."""
    reason_values: dict[str, str] | None = None
    """What stands in its places, by their names."""
    law: str
    old_weight: float | None = None
    new_weight: float | None = None
    delta: float | None = None
    weighed_at: datetime | None = None
    """At which instant the weights are, where the memory had met a later event."""
    factors: dict[str, float] | None = None
    fields: list[str] = []
    actor: str | None = None
    """`user`, `assistant`, `judge`, `system` or `operator`: who caused it; told by `history` and `why`, as what follows."""
    correlation_id: str | None = None
    recorded_at: datetime | None = None
    """When the log took it in; None of what an older release appended, as `principal`."""
    principal: str | None = None
    """Who brought it, as the service says."""
    late_by: float | None = None
    """Seconds, where it was recorded more than five minutes after `time`."""
    said_reason: str | None = None
    """Why, in the words of whoever did it; `reason` is what became of it."""
    because: str | None = None
    """Why the memory is kept, as a creation or revision tells."""
    version: int | None = None
    """Of the memory's text."""
    content_hash: str | None = None


class Effects(Lagging):
    """What a verb did: written at `position`, folded, and read back from the change log."""

    owner: str
    event_ids: list[str]
    """Of the events that the verb appended. Empty where the owner is `quarantined` and the service made them (`edit`, `mention`,
    `reinforce`, `negate`, `set_sensitivity`, `unmerge`): it tells them by what they changed. `position` is that of the last."""
    changes: list[Change] = []
    id: str | None = None
    replaced_by: str | None = None
    into: str | None = None
    sources: list[str] = []
    dry_run: bool = False
    """Nothing was written: `changes` is what it would do at `position`, and `event_ids` is empty."""

    @property
    def ignored(self) -> list[Change]:
        """What changed nothing, each with its reason."""
        return [change for change in self.changes if change.decision == "ignored"]


class Edited(Effects):
    """What an edit did."""

    revised: bool = True
    """False: it said so already, and nothing was written."""
    version: int | None = None
    """Of its text."""


class StatementsLeft(Result):
    """Statements drawn from a turn that are told at a lower level than it is."""

    count: int
    ids: list[str]
    """The first 20."""


class LevelSet(Effects):
    """What setting a sensitivity did."""

    statements: StatementsLeft | None = None
    """Of a turn: what does not become as sensitive with it."""


class Held(Result):
    """How well a memory is held, as each law reads it at one instant."""

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
    next_review_at: datetime
    interval_days: float
    scheduler: str


class Reinforced(Effects):
    """What putting a memory to use did."""

    outcome: str
    from_memory: str | None = None
    turn_id: str | None = None
    at: datetime
    """The instant of both readings."""
    before: Held
    after: Held | None = None
    """None where the owner is quarantined and the event waits."""
    remarks: list[str] = []
    """What it did not do, and why."""


class Reported(Result):
    """What a report of a digest did to the memories that rest on it."""

    owner: str
    uri: str
    digest: str
    withheld: list[str] = []
    back: list[str] = []
    left: int = 0
    newer: int = 0
    """Of how many something newer is known already."""
    position: str
    behind: int = 0
    changes: list[Change] = []
    quarantined: dict[str, Any] | None = None
    """Where an event of the owner cannot be folded: what was written waits behind it."""


class Skipped(Result):
    """A memory that was left as it was, or that another takes with it, and why."""

    id: str
    reason: str
    reason_code: str | None = None
    """Which of the service's sentences `reason` is; None where it is somebody's own words."""
    reason_values: dict[str, str] | None = None
    """What stands in its places, by their names."""


class Removed(Effects):
    """What became of the wish to delete one memory."""

    deleted: list[str]
    """The memory; empty where it was left as it was, and `skipped` says why."""
    skipped: list[Skipped] = []
    also: list[Skipped] = []
    """Made of it, and gone with it."""
    left_alone: list[Skipped] = []
    """Made of it, and still there."""
    still_said_in: list[str] = []
    """Turns that stand and say it; `with_sources` retracts them."""
    hidden_with: list[str] = []
    """What was merged into it: hidden with it, and there again once it is restored."""
    rejected: list[str] = []
    """Itself, where what it says is rejected too: told again, it becomes no memory."""
    dry_run: bool = False
    waiting: list[str] = []
    """Written, but parked behind an event of the owner that cannot be folded."""
    restorable_until: datetime | None = None
    error: dict[str, Any] | None = None
    """What stopped it half-way."""


class Restored(Effects):
    """What restoring a memory did."""

    also: list[Skipped] = []
    """What came back with it."""
    not_restored: list[Skipped] = []
    """What went with it and stays deleted."""


class Added(Effects):
    """What was added: `ids` of memories and `turns` of a conversation, in order; `id` where it is one memory."""

    created: bool = True
    """False: it was there already, under the same key or in a memory that says it."""
    mentioned: str | None = None
    """The memory that said the same already: this was a mention of it, and `id` is that one."""
    ended: list[PossibleConflict] = []
    """Memories that hold no longer by this."""
    waiting: list[PossibleConflict] = []
    """What the user himself said that it would end: that, and it, wait for a person (`inbox`)."""
    ended_by: list[PossibleConflict] = []
    """A memory that was said later and says that this changed: this one holds no longer."""
    conflicting: list[PossibleConflict] = []
    """Memories that it may contradict: both are flagged, and nothing was overwritten."""
    ids: list[str]
    """Memories, in order."""
    turns: list[str] = []
    """Turns that were recorded, in order."""


class Receipt(Result):
    """What became of one event."""

    event_id: str
    status: str
    """`appended`, `already_appended`, `conflict`, `head_mismatch`, `not_written` or `failed`."""
    position: str | None = None
    """Where it is, or what stands in its way."""
    fsynced: bool | None = None
    """Whether it was on disk before the answer; None where that cannot be known."""
    replicas: int = 0
    error: str | None = None
    occurred_at: str | None = None
    """Of a conflict: when the owner's event that has the id occurred."""
    rejected: str | None = None
    """Where a person rejected what it says: it is in the log, and changes nothing."""
    mentioned: str | None = None
    """The memory that says the same, where it was judged and none was made."""
    ended: list[PossibleConflict] = []
    """Memories that it ended, where it was judged."""
    waiting: list[PossibleConflict] = []
    """The user's own words that it would end, where it was judged: that waits for a person."""
    ended_by: list[PossibleConflict] = []
    """A memory that was said later and says that this changed: this one holds no longer."""
    conflicting: list[PossibleConflict] = []
    """Memories that it may contradict, where it was judged."""


class Appended(Result):
    """What became of events that were appended as they are."""

    appended: int
    already_appended: int
    not_written: int
    receipts: list[Receipt]
    """One per event, in their order."""


class AsideTold(Result):
    """A source that is set aside: a session, a principal, an actor, or what is several of these at once."""

    session: str | None
    principal: str | None
    of_actor: str | None
    since: datetime
    set_aside_at: str
    """Position of the event that did."""
    by_actor: str | None = None
    """Who set it aside."""
    by_principal: str | None = None
    reason: str


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
    next: str | None = None
    """Always None: all pages were read."""
    provenance: dict[str, Any]
    mention_count: int
    is_negated: bool
    level: str
    status: str
    trust: str | None = None
    order: str = "oldest"
    created_at: datetime | None = None
    last_activated_at: datetime | None = None
    aside: AsideTold | None = None
    """The source by whose setting aside the memory is withheld."""


class History(Lagging):
    """The change log of a memory or of an owner, and the head of the owner's hash chain."""

    as_of: str | None = None
    known: str | None = None
    owner: str
    id: str | None = None
    changes: list[Change]
    chain: str
    next: str | None = None
    """Cursor of a next page; the client reads all of them."""
    order: str = "oldest"
    law: str = "weighted"
    """In whose numbers the changes are told."""
    profile: str = "weighted"
    """The owner's law at that time."""
    aside: AsideTold | None = None
    """Of a memory: the source by whose setting aside it is withheld."""


class Deleted(Lagging):
    """What became of the wish to delete all memories of an owner."""

    owner: str
    deleted: list[str]
    skipped: list[Skipped]
    """Core and system memories are left alone."""
    waiting: list[str] = []
    """Written, but parked behind an event of the owner that cannot be folded."""
    restorable_until: datetime | None = None
    """Until then `restore` brings them back."""
    also: list[Skipped] = []
    """Made of them, and gone with them."""
    left_alone: list[Skipped] = []
    """Made of them, and still there."""
    still_said_in: list[str] = []
    """Turns that stand and say it."""
    hidden_with: list[str] = []
    """What was merged into it: hidden with it, and there again once it is restored."""
    rejected: list[str] = []
    """Those of which what they say is rejected too."""
    dry_run: bool = False
    error: dict[str, Any] | None = None
    """What stopped it half-way."""


class ChatsImported(Result):
    """What an import of chats did, and what stayed out."""

    owner: str
    shape: str
    conversations: int
    left_out: dict[str, int]
    """Messages that are no turns, by reason: system, tool, hidden, other, too_long, abandoned; and each attachment."""
    turns: int
    skipped: int
    """Messages without any text."""
    too_long: int = 0
    """Turns over 64 KiB that were left out."""
    cut: int = 0
    """Turns over 64 KiB of which the beginning was kept."""
    appended: int
    """Events: of each turn one, and one for its memory."""
    already_appended: int
    conflicts: list[dict[str, Any]]
    """Turns that are there with another text, by `conversation` and `message`, or by `line`; they stay as they were."""
    newest_turn: datetime | None = None
    last_position: str | None = None
    quarantined: dict[str, Any] | None = None
    ignored_fields: dict[str, int] = {}
    """Fields of lines that no turn has a place for, with how many turns had them."""
    failed: list[dict[str, Any]] | None = None
    """What was not written, with why: send it again."""


class Decided(Result):
    """Something that extraction appended."""

    action: str
    ids: list[str]
    reason: str
    event: str
    job: str = ""
    due_at: datetime | None = None
    """When it fell due: the same whenever it is run."""


class Statement(Result):
    """What one statement of a turn becomes."""

    operation: str
    """ADD, UPDATE, BOOST, NEGATE, FLAG or SKIP."""
    reason: str
    turn_id: str
    memory_id: str | None = None
    content: str
    category: str
    kind: str
    asserted: bool
    confidence: float
    other: str | None = None
    """The memory that it negates, or may contradict."""
    polarity: Any = None
    keywords: list[str] = []
    triple: dict[str, Any] | None = None
    span: list[int] = []
    """Where in the turn it stands, in characters."""


class Extracted(Result):
    """What the unread turns became, or would become."""

    owner: str
    dry_run: bool
    counts: dict[str, int]
    decisions: list[Decided] = []
    """What was appended; none with `dry_run`."""
    statements: list[Statement] = []
    """With `dry_run`: every statement, with why."""
    appended: int = 0
    position: str | None = None
    behind: int = 0
    """How far the owner's own head lies beyond `position`: at most so many of its events are not in the answer."""
    by: str
    """`rules`, or the model's name."""
    read: int = 0
    """Turns that were read."""
    left: int = 0
    """Turns that are still to be read."""
    by_rules: list[str] = []
    """Turns that the model had no usable answer for, so that rules read them."""
    refused: dict[str, str] = {}
    """Turns whose operations were all refused, with the last reason."""
    usage: dict[str, int] = {}
    """What asking the model took: requests, input_tokens, output_tokens."""
    trouble: str | None = None
    """Why the model was asked no more."""
    quarantined: dict[str, Any] | None = None

    def and_then(self, later: Extracted) -> Extracted:
        """This and a later part of the same extraction in one."""
        both = {
            "counts": dict(Counter(self.counts) + Counter(later.counts)),
            "usage": dict(Counter(self.usage) + Counter(later.usage)),
            "decisions": [*self.decisions, *later.decisions],
            "by_rules": [*self.by_rules, *later.by_rules],
            "refused": self.refused | later.refused,
            "appended": self.appended + later.appended,
            "read": self.read + later.read,
        }
        return later.model_copy(update=both)
