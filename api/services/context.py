"""Context for a prompt: working memory, core, what may matter, tool context, in a block of so many tokens.

What was injected is recorded, so that one can ask later which answers used a memory (`api.services.uses`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Unpack

from api.choices import BUDGET
from api.requests.checks import MAX_QUERY, check_id_of, check_limit, check_owner, check_query
from api.requests.snapshots import Snapshot
from api.requests.talking import TalkAsked, read_talk
from api.requests.timelines import LineTerms, told_lines
from api.services.accesses import AccessRecorder, BlockRequest, Read
from api.services.reading import Reader
from events.errors import InputError, refused
from events.log import EventLog
from events.partitions import position_text
from projections.choices import MOST_SEARCHES, THRESHOLD, WORKING_MESSAGES
from projections.language.prompt_text import TokenCount, estimated_tokens, is_chinese
from projections.memory.trust import check_trust
from projections.memory.working_memory import Conversation, set_aside_among
from projections.prompt.block import LEAST_BUDGET, TITLES, Block, Line, build
from projections.prompt.gathering import (
    AskedTurn,
    Close,
    Valued,
    Wanted,
    always,
    material,
    rules_of,
)
from projections.prompt.recipe import Handed, Searching, recipe
from projections.prompt.whole import brought_up
from projections.ranking.proactive import closenesses, searches
from projections.redis.said import Recent
from projections.redis.view import RedisViews
from projections.shapes import ContextBlock, ContextLine, ContextParts, Recorded, Result
from projections.views.view import OwnerView

MOST_BUDGET = 100_000
CANDIDATES = 20
"""Results of a search that are looked at: some of them may not stand in a prompt."""


TRIES = 3
"""How often what was said is read anew where events were folded between it and the memories."""


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
        whole: bool | None = None,
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

        `whole`: fill the block with what answers a question, whatever the threshold; or (false) with the five closest at most.
        `messages`: how many of working memory, 0 where the agent has them anyway. `sensitive`: also texts of sensitivity 2.
        `trace`: record the memories as injected, once for a turn; of the past nothing is, for no model is handed that block.
        `inspect`: somebody only looks at the block: that is recorded instead, and no memory gains by it.
        `trust`: nothing that is trusted less stands in it, but for what was said in this conversation.
        `include_faded`: as a search has it; what is long ago stands below what is fresh, and says so.
        A block about the past is the one of then, but for what was deleted since or is held to be more sensitive today.
        Raises InputError naming the field.
        """
        check_owner(owner)
        wanted = _checked(
            text, budget, threshold, searches, messages, sensitive, language, check_trust(trust)
        )._replace(whole=whole)
        for field, value in (("session", session), ("turn_id", turn_id)):
            if value is not None:
                check_id_of(field, value)
        with self._reader.snapshot(owner, **times) as snapshot:  # waits until `after` is folded: the log is read next
            past = snapshot.past
        lines = LineTerms(as_of=times.get("as_of"), known=times.get("known"))
        found = self._searched(owner, text, searches, include_faded, lines) if proactive else []
        request = TalkAsked(owner, text, session, turn_id)
        for tried in range(1, TRIES + 1):
            said = read_talk(self._views, self._log.partitions, request, past)
            with self._reader.snapshot(owner, **lines) as snapshot:
                if past is None and said.applied != snapshot.view.state.applied and tried < TRIES:
                    continue  # folded meanwhile: the conversation and the memories would be of two instants
                made = _made(snapshot, said, found, request, wanted, self._count)
                break
        block, talk = made.block, made.talk
        if not trace or past is not None:
            recorded: Recorded = {"status": "off"}
        elif inspect:
            self._accesses.record(owner, block.memories, via="inspection", query=text, read=Read(snapshot.position))
            recorded = {"status": "inspected"}
        else:
            recorded = self._recorded(
                made, found, request, wanted, Searching(proactive, searches, include_faded, trust)
            )
            for line in made.block.parts["retrieved"] if recorded["status"] == "appended" else ():
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
            "parts": with_parts(told_parts(made.time, block), found),
            "injected": block.memories,
            "recorded": recorded,
            "searches": [
                {"query": one.query, "found": made.close_enough[at], "withheld": one.withheld, "parts": one.parts}
                for at, one in enumerate(found)
            ],
            "dropped": block.dropped,
            "left_out": made.left_out,
            "read_back": "all" if said.whole else "part",
            **told_lines(times),
            **snapshot.place,
        }

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
            SearchedQuery(
                query,
                answer["results"],
                {one["reason"]: one["count"] for one in answer["withheld"]},
                answer["understood"].get("parts") or [],
            )
            for query, answer in answers.items()
        ]

    def _recorded(
        self, made: MadeBlock, found: list[SearchedQuery], request: TalkAsked, wanted: Wanted, searching: Searching
    ) -> Recorded:
        """Record what is new in the block for this turn: asked again, nothing is."""
        block, talk, text = made.block, made.talk, request.text
        fresh = [one for one in block.memories if one not in talk.injected]
        if not fresh:
            return {"status": "already" if block.memories else "nothing"}
        retrieved = {line.id for line in block.parts["retrieved"]} & set(fresh)
        first = ([hit["id"] for hit in one.results[:3] if hit["id"] in retrieved] for one in found)
        place = ("turn", talk.turn_id) if talk.turn_id else ("text", talk.session or "", str(talk.last_seq))
        handed = Handed(block.text, block.tokens, made.now, made.upto, made.close)
        receipt = self._accesses.inject(
            request.owner,
            fresh,
            key=place,
            asked=None if talk.turn_id else BlockRequest(text, talk.last_seq),
            together=next((hits for hits in first if len(hits) > 1), ()),
            turn_id=talk.turn_id,
            session_id=talk.session,
            read=Read(made.position),
            made=partial(recipe, handed, text, wanted, searching),
        )
        if receipt is None or receipt.position is None:
            return {"status": "lost"}
        return {"status": "appended" if receipt.status == "appended" else "already", "position": receipt.position}


class SearchedQuery(NamedTuple):
    """What one search found, best first."""

    query: str
    results: list[Result]
    withheld: dict[str, int]
    """How many further matches normal mode keeps back, by reason."""
    parts: list[str]
    """The parts of it that had a share each."""

    def valued(self, view: OwnerView) -> Valued:
        """The same with how close each is to the turn."""
        return Valued(self.results, closenesses(view, self.query, self.results))


class MadeBlock(NamedTuple):
    """A block with what it was made of."""

    block: Block
    talk: Conversation
    time: str
    close: list[Close]
    close_enough: list[int]
    """How much of each search was close enough."""
    left_out: dict[str, int]
    now: int
    position: str
    upto: str
    """The position of the owner's newest event that it was made of."""


def _made(
    snapshot: Snapshot,
    said: Recent,
    found: list[SearchedQuery],
    request: TalkAsked,
    wanted: Wanted,
    count: TokenCount,
) -> MadeBlock:
    """The block of a snapshot and of what was said."""
    view, now = snapshot.view, snapshot.now
    gone = {one.seq for one in set_aside_among(said.said, view.state.asides)}
    talk = request.talk([one for one in said.said if one.seq not in gone])
    rules = rules_of(view, wanted, None if snapshot.past is None else snapshot.present)
    asked, holds = AskedTurn(request.text, talk), always(view, now, talk, rules)
    valued = [one.valued(view) for one in found]
    close, close_enough = brought_up(view, now, valued, asked, wanted, rules, holds)
    held = material(view, now, snapshot.partition, asked, wanted.messages, rules, holds, close)
    left_out = dict(holds.left_out)
    if gone:
        left_out["said by a source that is set aside"] = len(gone)
    upto = position_text(snapshot.partition, view.state.seq)
    block = build(held, wanted.budget, wanted.language, count)
    return MadeBlock(block, talk, held.time, close, close_enough, left_out, now, snapshot.position, upto)


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


def with_parts(told: ContextParts, found: list[SearchedQuery]) -> ContextParts:
    """The same, each memory that was brought up with the parts of the question that it answers."""
    asked = {one["id"]: one["explain"].get("asked_by") for search in found[:1] for one in search.results}
    for line in told["retrieved"]:
        if (parts := asked.get(line["id"])) is not None:
            line["asked_by"] = parts
    return told


def told_parts(time: str, block: Block) -> ContextParts:
    """Everything in a block by id, part by part."""
    return {
        "time": time,
        "core": _told(block.parts["core"]),
        "instructions": _told(block.parts["instructions"]),
        "remembered": _told(block.parts["remembered"]),
        "retrieved": _told(block.parts["retrieved"]),
        "tools": _told(block.parts["tools"]),
    }


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
