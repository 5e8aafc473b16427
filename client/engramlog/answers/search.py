"""Searches and blocks for prompts: results with their reasons, what was withheld, synonyms, and the prompts of earlier answers."""

from __future__ import annotations

from datetime import datetime

from engramlog.answers.base import LinesTold, Place, Placed, Result
from engramlog.answers.changes import Change
from engramlog.answers.memories import Card, QuestionExpansion, Withheld


class Step(Result):
    """One step on the way to what is brought to mind: an edge between memories, or a triple between entities."""

    from_: str
    to: str
    link: str
    weight: float | None = None
    negation: bool | None = None


class KeywordMatched(Result):
    """Which keyword of the question matched which of the memory."""

    asked: str
    keyword: str
    weight: float
    source: str
    match: str
    adds: float
    similarity: float | None = None


class Explanation(Result):
    """Why a result stands where it stands."""

    score: dict[str, float]
    """The parts of the score by name; they add up to it."""
    weights: dict[str, float] | None = None
    """The most that each part adds, under `conversation`: part = weight x value in [0, 1]."""
    terms: dict[str, float]
    """Each matching term's share of the text score."""
    law: str
    factors: dict[str, float]
    path: list[Step] | None = None
    """The way of the activation, under `associative`."""
    keywords: list[KeywordMatched] | None = None
    """Which keyword matched which, and how, under `published`."""
    replaces: list[str] | None = None
    """Matching memories that this one replaced."""
    tags: list[str] | None = None
    """Context tags, where the search asked for some."""
    asked_by: list[str] | None = None
    """The parts of the question, or the other words for it, that brought it among the first ten."""


class Hit(Card):
    """One search result."""

    score: float
    relevance: float
    """Section 11's relevance, 0 to 1: comparable between answers and rankings."""
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
    from_: datetime
    to: datetime
    """Not included."""


class Understood(Result):
    """Whom and what times the question names, under `conversation`."""

    times: list[TimeNamed]
    speakers: list[str]
    since: datetime | None = None
    """Start of the searched span, if `since` is given."""
    until: datetime | None = None
    """End of the searched span, if `until` is given."""
    parts: list[str] | None = None
    """The parts of the question that have a share each of the first ten results, where it has several: what it
    asks besides, one for each thing that it compares, or the name for a role."""
    expansion: QuestionExpansion | None = None
    """Null if no model is set to reword questions, or this question asks for none."""


class Expanded(Result):
    """Words added to a question."""

    original: list[str]
    """The question's keywords."""
    synonyms: dict[str, dict[str, float]]
    """By keyword: its synonyms with their similarity."""
    related: dict[str, dict[str, float]]
    """Synonyms of these, listed but never matched."""


class MeaningCompared(Result):
    """How much could be compared by meaning."""

    model: str | None = None
    embedded: int | None = None
    """Memories that have vectors of the model."""
    of: int | None = None
    """Memories that hold text."""
    failed: str | None = None
    """Why the embedder could not be asked: the answer goes by words."""


class FoundOf(Placed):
    """What a search of several owners found with one of them."""

    owner: str
    total: int
    withheld: list[Withheld]


class Found(Place):
    """The answer to a search."""

    results: list[Hit]
    associated: list[Associated] = []
    """Only where `associations` asked for it."""
    total: int
    """How many results there are on all pages."""
    search_mode: str
    understood: Understood
    expanded: Expanded
    meaning: MeaningCompared | None
    """Null where meaning was not compared: in keyword mode, and without an embedder."""
    withheld: list[Withheld]
    offset: int
    """How many of them stood on the pages before."""
    next: str | None
    """The cursor of the next page; null on the last."""
    mode: str
    owners: list[FoundOf] = []
    """Each owner's part, if several were asked: `total` and `withheld` above are sums, everything else is the first owner's."""


class SynonymPair(Result):
    """Two words that mean the same to an owner, or, at 0, that do not."""

    word: str
    """Case-folded; the smaller of the two words."""
    synonym: str
    similarity: float


class WordExpansion(Result):
    """Forms by which a word is searched."""

    original: str
    synonyms: dict[str, float]
    """With their similarity, the owner's own before the known ones."""
    related: dict[str, float]
    """Synonyms of synonyms, with the product; listed but never matched."""


class SynonymsKnown(Placed):
    """An owner's own synonyms."""

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
    """Built-in synonyms of the word."""
    expansion: WordExpansion | None
    as_of: str | None
    known_by: str | None = None
    """The requested moment of recording (`known`)."""


class SynonymSaid(Placed):
    """Result of defining a synonym; the entry says `ignored` and the reason if nothing changed."""

    owner: str
    word: str
    synonym: str
    similarity: float
    changes: list[Change]


class ContextLine(Result):
    """One line of a block."""

    kind: str
    """Kind of the id: memory, turn or tool (a tool result, by position)."""
    id: str
    note: str
    """When a memory was made and who said it; who said a message; the tool."""
    text: str
    """As recorded, on one line; the block may hold less of it."""
    closeness: float | None = None
    """How close a retrieved memory is to the turn, 0 to 1."""
    handle: str | None = None
    """Short name of a memory or turn; every verb accepts it."""
    asked_by: list[str] | None = None
    """The parts of the question, or other words for it, that it answers best."""


class ContextParts(Result):
    """A block's parts, in their order."""

    time: str
    instructions: list[ContextLine]
    """Standing instructions from the user, newest first."""
    core: list[ContextLine]
    """Memories of tiers system and core with a ground."""
    profile: list[ContextLine]
    """Statements of the user about themselves."""
    remembered: list[ContextLine]
    """This conversation so far."""
    earlier: list[ContextLine]
    """An earlier conversation that the message continues or names."""
    retrieved: list[ContextLine]
    """Related memories, in the order of the search."""
    tools: list[ContextLine]
    """Tool results of the last turn."""
    unconfirmed: list[ContextLine]
    """Related texts that give orders and are not from the user, or wait in the inbox."""


class ContextSearch(Result):
    """A search that was made unasked."""

    query: str
    found: int
    """Memories close enough to the message that may be in a prompt."""
    withheld: dict[str, int]
    """Further matches that normal mode does not show, by reason."""
    parts: list[str]
    """The parts of the question that had a share each; none where it asks for one thing."""
    expansion: QuestionExpansion | None = None
    """Null if no model is set to reword questions, or this question asks for none."""


class ContextSizes(Result):
    """Estimated tokens of the two parts, next to those of the whole conversation."""

    stable: int
    turn: int
    conversation: int
    """All turns of this owner, as a prompt without memory would contain them."""
    left_out: dict[str, int]
    """Number of lasting memories that are kept out of the profile, by reason."""


class Recorded(Result):
    """Whether what was injected is in the log."""

    status: str
    """appended, already, nothing (no memory in the block), off (no trace asked for), or lost."""
    position: str | None = None


class PartSizes(Result):
    """Estimated tokens of the two parts of a block."""

    stable: int
    turn: int


class BlockOf(Placed):
    """What a block for several owners holds of another owner."""

    owner: str
    tokens: int
    parts: ContextParts
    injected: list[str]
    recorded: Recorded
    sizes: PartSizes | None = None
    """Tokens of this owner in each part of the joint block, with the owner's name; 0 if the part has nothing of the owner."""


class ContextBlock(LinesTold, Placed):
    """Block for a prompt, and its contents by id."""

    owner: str
    block: str
    stable: str
    """Instructions, what always holds, the profile: the same bytes until one of its memories changes."""
    turn: str
    """The time, and what belongs to this turn. `block` is both parts."""
    sizes: ContextSizes
    """Tokens of each part, those of other owners not counted."""
    tokens: int
    budget: int
    language: str
    session: str | None
    turn_id: str | None
    parts: ContextParts
    injected: list[str]
    """Ids of the memories in the block."""
    recorded: Recorded
    """`status`: `appended`, `already`, `nothing`, `off` or `lost`; the `position` where the log was asked."""
    searches: list[ContextSearch]
    dropped: dict[str, int]
    """Lines for which there was no room, by part."""
    left_out: dict[str, int]
    """Number of memories that are kept out of prompts, by reason."""
    read_back: str
    """all: the whole conversation was read; part: only the owner's newest events."""
    others: list[BlockOf] = []
    """The parts of other owners (`owners`), in their order: `block` has them under their names, `tokens` counts them too."""


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


class MemoryUses(LinesTold, Placed):
    """Which answers used a memory, the newest first."""

    owner: str
    id: str
    memory: str
    status: str
    uses: list[Use]
    total: int
    offset: int


class AnsweredTurn(Result):
    """A turn for which memories were put into a prompt."""

    id: str
    """What `answers OWNER ID` takes: the turn's id, or the position of the newest injection."""
    turn_id: str | None
    """Null if the caller named no turn, and no later message equals the text."""
    session: str | None
    injected_at: str | None
    """When something was first injected for it."""
    positions: list[str]
    """Positions of the newest ten injections."""
    principal: str | None
    """Principal that requested the newest block."""
    memories: int
    """How many different memories were injected."""
    turn: TurnSaid | None
    """The turn, as far as it may be shown; null if it was not recorded."""
    recorded_twice: bool
    """Whether several turns were recorded under this id: this is the newest."""
    replies: list[TurnSaid]
    """At most 20."""
    linked_by: str | None
    """reply_to: the replies name the turn; order: what the assistant said next in the session."""


class AnsweredTurns(LinesTold, Placed):
    """The turns for which memories were injected, the newest first."""

    owner: str
    answers: list[AnsweredTurn]
    total: int
    offset: int
    session: str | None
    since: str | None
    until: str | None


class WithheldFromBlock(Result):
    """Something that was in a block and is not shown today."""

    kind: str
    """memory, turn or tool."""
    id: str
    reason: str
    """deleted, purged, sensitive, secret, or unknown."""


class BlockAsItWas(Result):
    """A block made again, and whether it is the one that was handed out."""

    text: str
    """The block made again, without what is hidden today; empty if it cannot be made."""
    stable: str | None = None
    """The part that stays the same from turn to turn, if there are two."""
    turn: str | None = None
    """The part of this turn, if there are two."""
    tokens: int
    tokens_then: int | None
    """Tokens of the block; null for injections from before they were recorded."""
    as_it_was: bool | None
    """true: equal to the original block, by its digest; false: it differs; null: unknown."""
    why: str
    why_code: str | None = None
    """Which of the service's sentences `why` is."""
    withheld: list[WithheldFromBlock]


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
    """Tokens allowed for the stable part; null if there is one block."""


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
    """An injected memory: as it was then, and its state today."""

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
    """Changes since then: negated, revised, corrected, more sensitive, merged, deleted, purged, set_aside ..."""


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


class AnsweredInFull(AnsweredTurn, LinesTold, Placed):
    """Injections of one turn, with each block as it was."""

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
