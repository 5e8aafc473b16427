"""Context for a prompt: working memory, core, what may matter, tool context, in a block of so many tokens.

What was injected is recorded, so that one can ask later which answers used a memory (`api.services.uses`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Unpack

from api.choices import BUDGET
from api.requests.checks import MAX_QUERY, check_id_of, check_limit, check_owner, check_query
from api.requests.pasts import Past
from api.requests.snapshots import Snapshot
from api.requests.timelines import LineTerms, told_lines
from api.services.accesses import AccessRecorder, BlockRequest, Read
from api.services.reading import Reader
from events.errors import InputError, refused
from events.log import EventLog
from events.partitions import parse_position
from projections.choices import MOST_SEARCHES, THRESHOLD, WORKING_MESSAGES
from projections.language.prompt_text import TokenCount, estimated_tokens, is_chinese
from projections.memory.deletion_view import forgotten_turns
from projections.memory.record import Memory
from projections.memory.trust import check_trust
from projections.memory.working_memory import Conversation, conversation, set_aside_among
from projections.prompt.block import LEAST_BUDGET, TITLES, Block, Line, Material, build
from projections.prompt.instructions import standing_instructions
from projections.prompt.lines import (
    Rules,
    StandingLines,
    holding_line,
    is_earlier,
    keeping_order,
    memory_line,
    message_lines,
    said_already,
    sensitivity_allowed,
    standing_memories,
    time_line,
    tool_lines,
    why_not,
    withdrawn,
)
from projections.ranking.proactive import MOST_RESULTS, closenesses, searches
from projections.redis.said import Recent, recent, recent_among
from projections.redis.view import RedisViews
from projections.shapes import ContextBlock, ContextLine, Recorded, Result
from projections.views.corrected import corrections_in, seen_at

MOST_BUDGET = 100_000
CANDIDATES = 20
"""Results of a search that are looked at: some of them may not stand in a prompt."""


class SearchedQuery(NamedTuple):
    """What one search found, best first."""

    query: str
    results: list[Result]
    withheld: dict[str, int]
    """How many further matches normal mode keeps back, by reason."""


class Wanted(NamedTuple):
    """How a block is wanted, checked."""

    budget: int
    messages: int
    sensitive: bool
    language: str
    threshold: float
    trust: int
    """How far a memory must be trusted, as records have it."""


class Contexts:
    """Builds context blocks of one store's owners. Safe for threads.

    `count`: tokens of a text, where a model's own tokenizer is at hand; estimated otherwise.
    """

    def __init__(
        self,
        log: EventLog,
        views: RedisViews,
        reader: Reader,
        accesses: AccessRecorder,
        count: TokenCount = estimated_tokens,
    ) -> None:
        self._log = log
        self._views = views
        self._reader = reader
        self._accesses = accesses
        self._count = count
        self.on_injected: Callable[[float], None] = lambda _closeness: None
        """Told how close each memory is that a search brought into a block which is recorded as injected."""

    def context(
        self,
        owner: str,
        text: str,
        *,
        session: str | None = None,
        turn_id: str | None = None,
        budget: int = BUDGET,
        proactive: bool = True,
        threshold: float = THRESHOLD,
        searches: int = MOST_SEARCHES,
        messages: int = WORKING_MESSAGES,
        sensitive: bool = False,
        language: str | None = None,
        include_faded: bool | None = None,
        trust: str | None = None,
        trace: bool = True,
        inspect: bool = False,
        **times: Unpack[LineTerms],
    ) -> ContextBlock:
        """The block to put into a prompt before `text` is answered, and everything in it by id.

        `messages`: how many of working memory, 0 where the agent has them anyway. `sensitive`: also texts of sensitivity 2.
        `trace`: record the memories as injected, once for a turn; of the past nothing is, for no model is handed that block.
        `inspect`: somebody only looks at the block: that is recorded instead, and no memory gains by it.
        `trust`: nothing that is trusted less stands in it, but for what was said in this conversation.
        `include_faded`: as a search has it; what is long ago stands below what is fresh, and says so.
        A block about the past is the one of then, but for what was deleted since or is held to be more sensitive today.
        Raises InputError naming the field.
        """
        check_owner(owner)
        wanted = _checked(text, budget, threshold, searches, messages, sensitive, language, check_trust(trust))
        for field, value in (("session", session), ("turn_id", turn_id)):
            if value is not None:
                check_id_of(field, value)
        with self._reader.snapshot(owner, **times) as snapshot:  # waits until `after` is folded: the log is read next
            past, asides = snapshot.past, snapshot.view.state.asides
        said = self._recent(owner, past, text, session, turn_id)
        gone = {one.seq for one in set_aside_among(said.said, asides)}
        talk = conversation([one for one in said.said if one.seq not in gone], text, session, turn_id)
        lines = LineTerms(as_of=times.get("as_of"), known=times.get("known"))
        found = self._searched(owner, text, searches, include_faded, lines) if proactive else []
        with self._reader.snapshot(owner, **lines) as snapshot:
            rules = _rules(snapshot, wanted)
            material, left_out, close = _gathered(snapshot, talk, found, text, wanted, rules)
        if gone:
            left_out["said by a source that is set aside"] = len(gone)
        block = build(material, budget, wanted.language, self._count)
        read = Read(snapshot.position)
        if not trace or past is not None:
            recorded: Recorded = {"status": "off"}
        elif inspect:
            self._accesses.record(owner, block.memories, via="inspection", query=text, read=read)
            recorded = {"status": "inspected"}
        else:
            recorded = self._recorded(owner, block, talk, found, text, read)
            for line in block.parts["retrieved"] if recorded["status"] == "appended" else ():
                if line.relevance is not None:
                    self.on_injected(line.relevance)
        return {
            "owner": owner,
            "block": block.text,
            "tokens": block.tokens,
            "budget": budget,
            "language": wanted.language,
            "session": talk.session,
            "turn_id": talk.turn_id,
            "parts": {
                "time": material.time,
                "core": _told(block.parts["core"]),
                "instructions": _told(block.parts["instructions"]),
                "remembered": _told(block.parts["remembered"]),
                "retrieved": _told(block.parts["retrieved"]),
                "tools": _told(block.parts["tools"]),
            },
            "injected": block.memories,
            "recorded": recorded,
            "searches": [
                {"query": one.query, "found": close[at], "withheld": one.withheld} for at, one in enumerate(found)
            ],
            "dropped": block.dropped,
            "left_out": dict(left_out),
            "read_back": "all" if said.whole else "part",
            **told_lines(times),
            **snapshot.place,
        }

    def _recent(self, owner: str, past: Past | None, text: str, session: str | None, turn_id: str | None) -> Recent:
        def enough(said: list[Any]) -> bool:
            talk = conversation(said, text, session, turn_id)
            return len(talk.messages) >= WORKING_MESSAGES and (turn_id is None or talk.current is not None)

        if past is not None:
            return recent_among(self._views, owner, past.seqs, past.silent(), enough)
        return recent(self._views, owner, self._log.partitions, enough)

    def _searched(
        self, owner: str, text: str, most: int, include_faded: bool | None, lines: LineTerms
    ) -> list[SearchedQuery]:
        """One search for each query; leaves no trace of its own."""
        answers = {
            query: self._reader.search(
                owner, query, limit=CANDIDATES, trace=False, reasons=False, include_faded=include_faded, **lines
            )
            for query in searches(text, most)
        }
        return [
            SearchedQuery(query, answer["results"], {one["reason"]: one["count"] for one in answer["withheld"]})
            for query, answer in answers.items()
        ]

    def _recorded(
        self, owner: str, block: Block, talk: Conversation, found: list[SearchedQuery], text: str, read: Read
    ) -> Recorded:
        """Record what is new in the block for this turn: asked again, nothing is."""
        fresh = [one for one in block.memories if one not in talk.injected]
        if not fresh:
            return {"status": "already" if block.memories else "nothing"}
        retrieved = {line.id for line in block.parts["retrieved"]} & set(fresh)
        first = ([hit["id"] for hit in one.results[:3] if hit["id"] in retrieved] for one in found)
        place = ("turn", talk.turn_id) if talk.turn_id else ("text", talk.session or "", str(talk.last_seq))
        receipt = self._accesses.inject(
            owner,
            fresh,
            key=place,
            asked=None if talk.turn_id else BlockRequest(text, talk.last_seq),
            together=next((hits for hits in first if len(hits) > 1), ()),
            turn_id=talk.turn_id,
            session_id=talk.session,
            read=read,
        )
        if receipt is None or receipt.position is None:
            return {"status": "lost"}
        return {"status": "appended" if receipt.status == "appended" else "already", "position": receipt.position}


def _checked(
    text: str,
    budget: int,
    threshold: float,
    most_searches: int,
    messages: int,
    sensitive: bool,
    language: str | None,
    trust: int,
) -> Wanted:
    try:
        check_query(text)
    except InputError as error:
        raise refused("text", error.context["got"], f"some text in UTF-8 of at most {MAX_QUERY:,} characters") from None
    if not LEAST_BUDGET <= budget <= MOST_BUDGET:
        raise refused("budget", budget, f"a whole number of tokens from {LEAST_BUDGET} to {MOST_BUDGET}")
    if not 0 <= threshold <= 1:
        raise refused("threshold", threshold, "a number from 0 to 1")
    if not 0 <= messages <= WORKING_MESSAGES:
        raise refused("messages", messages, f"a whole number from 0 to {WORKING_MESSAGES}")
    if language is not None and language not in TITLES:
        raise refused("language", language, ", ".join(TITLES))
    check_limit(most_searches, 10, "searches")
    return Wanted(budget, messages, sensitive, language or ("zh" if is_chinese(text) else "en"), threshold, trust)


def _rules(snapshot: Snapshot, wanted: Wanted) -> Rules:
    """What its lines go by; about the past also what is known today of what may be told."""
    columns, most = snapshot.view.columns, sensitivity_allowed(wanted.sensitive)
    forgotten, since = forgotten_turns(columns), dict[str, str]()
    if snapshot.past is not None:
        forgotten |= forgotten_turns(snapshot.present.columns)
        since = withdrawn(snapshot.present.columns, most)
    zone = snapshot.view.parameters.time_zone
    return Rules(zone, wanted.language, most, forgotten, partial(corrections_in, snapshot.view), since, wanted.trust)


def _gathered(
    snapshot: Snapshot, talk: Conversation, found: list[SearchedQuery], text: str, wanted: Wanted, rules: Rules
) -> tuple[Material, Counter[str], list[int]]:
    """What the block may hold, why some of what was found may not stand in it, and how much of each search is close enough."""
    view = snapshot.view
    seen = seen_at(view, snapshot.now, "normal")
    standing, asked = standing_memories(view.columns, seen, talk, rules), standing_instructions(view.columns, rules)
    standing.left_out.update(asked.left_out)
    retrieved, close = _retrieved(snapshot, talk, found, text, wanted, rules, standing, asked.shown)
    episodes = [memory_line(one, one.content, rules) for one in standing.episodes if not said_already(one, talk, text)]
    messages = message_lines(talk.messages[-wanted.messages :] if wanted.messages else (), rules, snapshot.now)
    partition = parse_position(snapshot.position)[0]
    tools, hidden = tool_lines(talk, text, partition, rules)
    if hidden:
        standing.left_out["tool result"] += hidden
    material = Material(
        time_line(snapshot.now, rules.zone, rules.language),
        [holding_line(one, rules) for one in standing.core],
        [*episodes, *messages],
        retrieved,
        tools,
        {"remembered": keeping_order(len(episodes), len(messages))},
        is_earlier(talk, standing.episodes, snapshot.now),
        [holding_line(one, rules) for one in asked.shown],
    )
    return material, standing.left_out, close


def _retrieved(
    snapshot: Snapshot,
    talk: Conversation,
    found: list[SearchedQuery],
    text: str,
    wanted: Wanted,
    rules: Rules,
    standing: StandingLines,
    asked: list[Memory],
) -> tuple[list[Line], list[int]]:
    """The closest of what the searches found, at most five, closest first; what is long ago below what is fresh."""
    close: dict[str, tuple[float, Result]] = {}
    counts = []
    elsewhere = {one.id for one in (*standing.core, *standing.episodes, *asked)}
    for search in found:
        passed = 0
        for result, value in zip(search.results, closenesses(snapshot.view, search.query, search.results), strict=True):
            memory = snapshot.view.get(result["id"])
            if value < wanted.threshold or memory is None or said_already(memory, talk, text):
                continue
            if (reason := why_not(memory, rules)) is not None:
                standing.left_out[reason] += 1
                continue
            passed += 1
            if memory.id not in elsewhere and value > (close[memory.id][0] if memory.id in close else 0.0):
                close[memory.id] = (value, result)
        counts.append(passed)
    best = sorted(close.items(), key=lambda one: (-one[1][0], one[0]))[:MOST_RESULTS]
    lines = []
    for memory_id, (value, shown) in best:
        memory = snapshot.view.get(memory_id)
        assert memory is not None
        old = shown.get("long_ago", False)
        lines.append(memory_line(memory, shown["memory"], rules, round(value, 6), long_ago=bool(old)))
    return sorted(lines, key=lambda line: line.long_ago), counts


def _told(lines: list[Line]) -> list[ContextLine]:
    told: list[ContextLine] = []
    for line in lines:
        one: ContextLine = {"kind": line.kind, "id": line.id, "note": line.note, "text": line.text}
        if line.relevance is not None:
            one["closeness"] = line.relevance
        if line.long_ago:
            one["long_ago"] = True
        told.append(one)
    return told
