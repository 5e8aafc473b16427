"""Tools that search memories, read one, say what is known and why, and give the block that an agent needs before its answer.

A hint says what to try next if little was found or something was withheld; it quotes no recorded text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from engramlog_server.api.choices import BUDGET, MOST_BUDGET
from engramlog_server.api.mcp.connection import UNSAID, Behind, Connection, Position, Session, ToolAnswer, shaped
from engramlog_server.api.operations.definition import OWNERS
from engramlog_server.api.operations.reading import SEARCH
from engramlog_server.api.operations.reports import CONTEXT
from engramlog_server.api.work import Work, takes
from engramlog_server.events.errors import refused
from engramlog_server.events.text import many
from engramlog_server.projections.choices import AGED
from engramlog_server.projections.prompt.block import LEAST_BUDGET, PARTS
from engramlog_server.projections.shapes import Change, Found, Hit, ToldBeside, Why, Withheld

if TYPE_CHECKING:
    from engramlog_server.api.snapshots import Snapshot

LEAST_RELEVANCE = 0.6
"""What seed 001 (section 3.1.2) asks for unless told. Here it marks and does not cut: of questions about conversations only
one in seven has any memory that reaches it, and with the cut the right one is among the first five in 7 of 100, not 79."""
UNTOLD = ("sensitive", "deleted", "rejected")
"""What no agent is told how to see."""


def search_hint(found: Found, least: float | None, less_relevant: Callable[[], Found]) -> str | None:
    """What to make of an answer, and what else there is; `less_relevant` asks again without a least relevance."""
    hint = None
    if least is None:
        hint = _marked(found["results"])
    elif not found["results"] and least > 0:
        hint = _below(less_relevant(), least)
    told = [one for one in (hint, *_left_out(found["withheld"])) if one is not None]
    return "; ".join(told) or None


def _left_out(withheld: Sequence[Withheld]) -> list[str]:
    """How much is withheld that could be seen, and by which argument."""
    aged = sum(one["count"] for one in withheld if one["reason"] in AGED)
    past = sum(one["count"] for one in withheld if one["reason"] not in (*AGED, *UNTOLD))
    told = [f"{aged} more are old and match less: include_faded=true shows them"] if aged else []
    return told + ([f"{past} more do not hold as they were said: mode=review shows them, marked"] if past else [])


def _marked(results: Sequence[Hit]) -> str | None:
    """That none of what is shown is surely meant, where that is so."""
    best = max((one["relevance"] for one in results), default=1.0)
    if best >= LEAST_RELEVANCE:
        return None
    return f"none reaches a relevance of {LEAST_RELEVANCE:g} (the best {best:.2f}): leads, to be checked before you rely on them"


def _below(below: Found, least: float) -> str | None:
    """What there is under the least relevance asked for, which nothing reaches; None where there is nothing."""
    if not below["results"]:
        return None
    best = int(max(one["relevance"] for one in below["results"]) * 100) / 100
    rest = many(below["total"], "memory is", "memories are")
    return f"nothing reaches {least:g}; {rest} less relevant: ask for at most {best:.2f}, or for none"


Terms = dict[str, Any]
"""How to search, as `Reader.search` takes it."""
PREVIEW = 200
"""Characters of a memory's text in a search result (seed 001, section 3.1.2)."""
GIST = 80
"""Characters of the gist of a memory that has no summary."""
MOST_RESULTS = 20
MOST_CHANGES = 100
Query = Annotated[str, Field(description="In the user's own words, any language.")]
IncludeFaded = Annotated[
    bool | None,
    Field(description="Include memories hidden only by age. Default: true."),
]
Owners = Annotated[list[str] | None, Field(description=OWNERS.description)]
MemoryId = Annotated[str, Field(description="Or a handle of a block.")]
TimeRange = Annotated[
    list[str] | None,
    Field(
        min_length=2,
        max_length=2,
        description='Created from, to: ["last week", ""] or ["2026-05-01", "2026-06-01"]; "" is open.',
    ),
]
_METADATA = (
    "category",
    "level",
    "status",
    "trust",
    "weight",
    "source_turns",
    "speaker",
    "last_activated_at",
    "mention_count",
)
_TOLD_IF_THERE = ("owner", "valid_from", "valid_to", "successor", "long_ago")


class Result(TypedDict):
    """A memory that was found."""

    id: str
    summary: str
    content_preview: str
    memory_type: str
    relevance_score: float
    score: float
    created_at: str
    keywords: list[str]
    metadata: dict[str, Any]


class Results(TypedDict):
    """What a search found."""

    behind: Behind
    total_found: int
    results: list[Result]
    search_strategy_used: str
    expanded_keywords: list[str] | None
    withheld: dict[str, int]
    hint: Annotated[str | None, "What to try next."]


class ContextualResults(Results):
    """The same, with the situation that was asked for."""

    context_tags: list[str]
    emotional_filter: str | None


class MemoryDetail(TypedDict):
    """Everything about one memory."""

    id: str
    behind: Behind
    content: str
    summary: str | None
    category: str
    status: str
    created_at: str
    updated_at: str
    tags: list[str]
    source_turns: list[str]
    memory_type: str
    score: float
    keywords: list[str]
    metadata: dict[str, Any]
    reasons: dict[str, Any] | None


class Conflict(TypedDict):
    """A line that may contradict what is told."""

    id: str
    memory: str


class SearchTools:
    """Searching and reading."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def search_memories(
        self,
        query: Query,
        search_mode: Annotated[
            Literal["hybrid", "keyword", "semantic"],
            Field(description="keyword: exact words; semantic: meaning; hybrid: both."),
        ] = "hybrid",
        keywords: Annotated[list[str] | None, Field(description="Any of these words.")] = None,
        memory_types: Annotated[
            list[str] | None,
            Field(description="user_preference, command_output, episode, note ..."),
        ] = None,
        time_range: TimeRange = None,
        limit: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = 5,
        min_relevance_score: Annotated[
            float | None,
            Field(ge=0, le=1),
        ] = None,
        include_faded: IncludeFaded = None,
        mode: Annotated[
            Literal["normal", "review"], Field(description="review: also what no longer holds.")
        ] = "normal",
        owners: Owners = None,
    ) -> Results:
        """Search this user's past conversations: if the user refers to something earlier ("as before", "the plan from last time"),
        if their preferences or history matter, or if a reference is unclear. What no longer holds is left out, or
        `corrected` in a message's metadata; what is old is marked `long_ago`.
        """
        terms: Terms = {
            "search_mode": search_mode,
            "keywords": keywords or (),
            "kinds": memory_types or (),
            "include_faded": include_faded,
            "mode": mode,
            **_times(time_range),
        }
        with self._connection.session() as session:
            return _search(session, query, limit, min_relevance_score, terms, owners)

    def memory_contextual_search(
        self,
        query: Query,
        context_tags: Annotated[
            list[str] | None,
            Field(
                description="Any of: late_night, weekend, work_hours, debugging, testing, api_design, data_model, calm."
            ),
        ] = None,
        emotional_filter: Annotated[
            Literal["positive", "negative", "urgent"] | None, Field(description="The mood it was said in.")
        ] = None,
        time_range: Annotated[
            list[str] | None, Field(min_length=2, max_length=2, description="As in search_memories.")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = 10,
        include_faded: bool | None = None,
        owners: Annotated[list[str] | None, Field(description="As in search_memories.")] = None,
    ) -> ContextualResults:
        """Search by the situation in which something was said: "the bug we chased late at night", "what worked last time"."""
        terms = {"tags": context_tags or (), "feeling": emotional_filter, "include_faded": include_faded}
        with self._connection.session() as session:
            found = _search(session, query, limit, 0.0, terms | _times(time_range), owners)
        return {**found, "context_tags": context_tags or [], "emotional_filter": emotional_filter}

    def get_memory_detail(
        self,
        memory_id: MemoryId,
        reasons: Annotated[bool, Field(description="Also its weight, changes and sources.")] = False,
    ) -> MemoryDetail:
        """Everything about one memory: its whole text, versions, corrections, associations. With reasons for "how do you know
        that?". Secrets stay withheld.
        """
        with self._connection.session() as session:
            reader, owner, named = session.application.reader, session.owner, session.named(memory_id)
            told = reader.get(owner, named, trace=not reasons)
            why = reader.why(owner, named, limit=MOST_CHANGES, order="newest") if reasons else None
        again = ("id", "content", "memory", "summary", "category", "status", "created_at", "updated_at", "tags")
        apart = {*again, "behind", "kind", "keywords", "extracted_keywords", "weight", "source_turns"}
        apart |= {"as_of", "known", "at"}
        answer: MemoryDetail = shaped(
            MemoryDetail,
            {
                **told,
                "keywords": [one["word"] for one in told["extracted_keywords"]],
                "metadata": {name: value for name, value in told.items() if name not in apart} | _flags(told),
                "reasons": None if why is None else _reasons(why),
            },
            memory_type="kind",
            score="weight",
        )
        return answer


def _reasons(why: Why) -> ToolAnswer:
    return {
        "law": why["law"],
        "factors": why["factors"],
        "weights_by_law": why["laws"],
        "changes": [logged(one) for one in reversed(why["changes"])],
        "provenance": why["provenance"]["nodes"],
    }


def logged(change: Change) -> ToolAnswer:
    """A change-log entry as an agent needs it; `id` is null where it is about the owner, such as a chosen profile."""
    entry: Mapping[str, Any] = change
    names = ("time", "event", "decision", "reason", "old_weight", "new_weight", "position")
    told = {"id": change["memory"]} | {name: entry[name] for name in names}
    return told | {name: entry.get(name) for name in ("actor", "said_reason", "late_by")}


def _times(time_range: list[str] | None) -> dict[str, str | None]:
    if time_range is None:
        return {}
    if len(time_range) != 2:
        raise refused("time_range", time_range, 'two texts, from and to; "" for an open end')
    return {"since": time_range[0] or None, "until": time_range[1] or None}


def _search(
    session: Session, query: str, limit: int, least: float | None, terms: Terms, owners: Sequence[str] | None
) -> Results:
    if not 1 <= limit <= MOST_RESULTS:
        raise refused("limit", limit, f"a whole number from 1 to {MOST_RESULTS}")
    terms = {"reasons": False, **terms}
    ask = partial(session.ask, SEARCH, owners, query=query, limit=limit, **terms)
    found: Found = ask(min_relevance=least or 0.0)
    again = partial(ask, trace=False)
    withheld = Counter[str]()
    for left in found["withheld"]:
        withheld[left["reason"]] += left["count"]
    alike = [one for known in found["expanded"]["synonyms"].values() for one in known]
    return {
        "behind": found["behind"],
        "total_found": found["total"],
        "results": _told(session, found["results"]),
        "search_strategy_used": _strategy(found),
        "expanded_keywords": list(dict.fromkeys(alike)) or None,
        "withheld": dict(withheld),
        "hint": search_hint(found, least, again),
    }


def _strategy(found: Found) -> str:
    """How it was searched, and whether meaning could be compared."""
    meaning = found["meaning"]
    if meaning is None or "failed" in meaning:
        return f"{found['search_mode']}: words" + ("" if meaning is None else f" alone, since {meaning['failed']}")
    how = "meaning" if found["search_mode"] == "semantic" else "words and meaning"
    return f"{found['search_mode']}: {how} ({meaning['model']}, {meaning['embedded']} of {meaning['of']} embedded)"


def _told(session: Session, results: list[Hit]) -> list[Result]:
    """Results with what only the record tells: a summary and keywords, none of them of a secret."""
    answer: list[Result] = []
    for owner, hits in groupby(results, lambda hit: str(hit.get("owner", session.owner))):
        with session.application.reader.snapshot(owner) as snapshot:
            answer += [_result(snapshot, hit) for hit in hits]
    return answer


def _result(snapshot: Snapshot, one: Hit) -> Result:
    card: Mapping[str, object] = one
    row = snapshot.view.columns.row(one["id"])
    keywords = () if row is None else snapshot.view.keywords(row)
    memory = snapshot.view.get(one["id"])
    shown = memory is not None and memory.content == one["memory"]
    metadata = {name: card[name] for name in (*_METADATA, *_TOLD_IF_THERE) if name in card} | _flags(one)
    summary = memory.summary if shown and memory is not None else None
    told = {
        **card,
        "summary": summary or clipped(one["memory"], GIST),
        "content_preview": one["memory"][:PREVIEW],
        "keywords": [keyword.word for keyword in keywords],
        "metadata": metadata,
    }
    result: Result = shaped(Result, told, memory_type="kind", relevance_score="relevance")
    return result


def clipped(text: str, most: int) -> str:
    """The first characters of a text, with a sign where there is more."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def conflicting(told: Mapping[str, Any]) -> list[Conflict]:
    """The other lines that may contradict what is told, as tools tell them."""
    return [{"id": one["id"], "memory": one["memory"]} for one in told.get("conflicting") or ()]


def _flags(told: ToldBeside) -> dict[str, object]:
    names = {"was": "was", "now": "now", "id": "by", "at": "at"}
    gone = [{name: one[field] for name, field in names.items()} for one in map(dict, told.get("corrected") or ())]
    found = {"possible_conflicts": conflicting(told), "corrected": gone, "until": told.get("until")}
    return {name: lines for name, lines in found.items() if lines}


Topic = Annotated[str, Field(description="In any language.")]


class Evidence(TypedDict):
    """A memory that an assessment rests on."""

    id: str
    score: float
    snippet: str
    confidence: float
    updated_at: str


class Assessed(TypedDict):
    """How sure the memories make of a topic."""

    topic: str
    confidence: str
    score: float
    message: str
    suggestions: list[str]
    evidence: list[Evidence]
    stats: Annotated[dict[str, Any], UNSAID]
    behind: Behind


class Node(TypedDict):
    """A memory on a map."""

    id: str
    label: str
    memory_type: str
    score: float
    depth: int
    cluster: int | None


Edge = TypedDict("Edge", {"from": str, "to": str, "weight": float, "link": str, "keywords": list[str]})
"""Why two memories are joined."""


class Cluster(TypedDict):
    """Memories that belong together."""

    cluster: int
    label: str
    members: list[str]


class Graph(TypedDict):
    """What is known around a topic."""

    topic: str | None
    nodes: list[Node]
    edges: list[Edge]
    clusters: list[Cluster]
    truncated: bool
    behind: Behind


class DueMemory(TypedDict):
    """A memory to confirm."""

    id: str
    memory: str
    memory_type: str
    score: float
    importance: float
    due_at: str
    days_overdue: float


class Due(TypedDict):
    """What to confirm, the most pressing first."""

    memories: list[DueMemory]
    due: int
    below_min_importance: int
    next_due_at: str | None
    behind: Behind


class KnowTools:
    """Assessments, maps, reviews."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def memory_assess_knowledge(self, topic: Topic) -> Assessed:
        """How sure the memories make you of a topic, before you rely on them: confidence, evidence, and what to do if unsure."""
        with self._connection.session() as asked:
            told: Mapping[str, Any] = asked.application.knower.assess(asked.owner, topic)
        evidence = [shaped(Evidence, one, score="relevance") for one in told["evidence"]]
        answer: Assessed = shaped(Assessed, {**told, "evidence": evidence})
        return answer

    @takes(Work.HEAVY)
    def memory_knowledge_map(
        self,
        topic: Annotated[
            str | None,
            Field(description="Default: the strongest of all that is known."),
        ] = None,
        depth: Annotated[int, Field(ge=1, le=4)] = 2,
        min_score: Annotated[float, Field(ge=0, le=1)] = 0.3,
        limit: Annotated[int, Field(ge=1, le=200)] = 36,
    ) -> Graph:
        """What is known around a topic, or of everything, as a graph: memories, why they are joined, and clusters of them."""
        with self._connection.session() as asked:
            told: Mapping[str, Any] = asked.application.knower.map(
                asked.owner, topic, depth=depth, least=min_score, limit=limit
            )
        edges = [
            {**one, "keywords": [word for reason in one["reasons"] for word in reason["keywords"]]}
            for one in told["edges"]
        ]
        parts = {
            "nodes": [shaped(Node, one, memory_type="kind", score="weight") for one in told["nodes"]],
            "edges": [shaped(Edge, one) for one in edges],
            "clusters": [shaped(Cluster, one, cluster="id") for one in told["clusters"]],
        }
        graph: Graph = shaped(Graph, {**told, **parts})
        return graph

    def memory_review_due(
        self,
        min_importance: Annotated[float, Field(ge=0, le=1)] = 0.5,
        memory_type: str | None = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Due:
        """Memories worth confirming with the user before they fade, most pressing first."""
        with self._connection.session() as asked:
            told = asked.application.living.review(
                asked.owner, min_importance=min_importance, limit=limit, kind=memory_type
            )
        memories = [shaped(DueMemory, one, memory_type="kind", score="priority") for one in told["memories"]]
        due: Due = shaped(Due, {**told, "memories": memories}, below_min_importance="left_out")
        return due


_ID_DIGITS = 16


class OtherPart(TypedDict):
    """Another owner's part of a block."""

    owner: str
    injected: list[str]
    recorded: str


class Block(TypedDict):
    """A block, and what stands in it."""

    block: str
    stable: str | None
    stable_id: str
    turn: str
    parts: Annotated[dict[str, Any], "The parts of the block, in order."]
    injected: list[str]
    recorded: str
    sizes: Annotated[dict[str, Any], UNSAID]
    tokens: int
    budget: int
    session: str | None
    turn_id: str | None
    dropped: dict[str, Any]
    left_out: dict[str, Any]
    others: list[OtherPart]
    position: Position
    behind: Behind


class ContextTools:
    """Context for a turn."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def memory_context(
        self,
        text: Annotated[str, Field(description="What the user just said.")],
        session: Annotated[str | None, Field(description="The conversation's id; default: the newest.")] = None,
        turn_id: Annotated[
            str | None,
            Field(description="Id of what was said, from add_turns."),
        ] = None,
        budget: Annotated[int, Field(ge=LEAST_BUDGET, le=MOST_BUDGET)] = BUDGET,
        related: Annotated[
            Literal["auto", "always", "never"], Field(description="Related memories; auto: if needed.")
        ] = "auto",
        trace: Annotated[bool, Field(description="You answer with it: record its memories as used.")] = False,
        stable_id: Annotated[str, Field(description="For two parts: new, or the stable_id you have.")] = "",
        owners: Annotated[list[str] | None, Field(description="As in search_memories.")] = None,
    ) -> Block:
        """What to know before you answer: the time, what holds, standing instructions, the conversation, what may matter.

        Call it once, as a turn begins. Nothing is recorded without trace.
        """
        with self._connection.session() as asked:
            terms = {"session": session, "turn_id": turn_id, "budget": budget, "related": related, "trace": trace}
            told: Mapping[str, Any] = asked.ask(CONTEXT, owners, text=text, **terms)
        split, stable = stable_id != "", told["stable"]
        now = sha256(stable.encode()).hexdigest()[:_ID_DIGITS]
        parts = {
            part: [
                {"kind": one["kind"], "id": one["id"], "closeness": one.get("closeness")} for one in told["parts"][part]
            ]
            for part in PARTS
        }
        changed = {
            "block": "" if split else told["block"],
            "stable": None if now == stable_id else stable,
            "stable_id": now,
            "parts": parts,
            "recorded": told["recorded"]["status"],
            "others": [shaped(OtherPart, {**one, "recorded": one["recorded"]["status"]}) for one in told["others"]],
        }
        answer: Block = shaped(Block, {**told, **changed})
        return answer
