"""The context block: instructions, profile, conversation, related memories and tool results, within a budget of tokens.

If the caller puts the block into a prompt, its memories are recorded as injected: an auditor can ask later which answers used a
memory (`api.services.answers`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Unpack, cast

from engramlog_server.api.checks import (
    MAX_QUERY,
    LineTerms,
    caller_in_hand,
    check_id_of,
    check_owner,
    check_query,
    lines_answer,
    telling_in_hand,
)
from engramlog_server.api.choices import BUDGET, MOST_BUDGET
from engramlog_server.api.services.accesses import AccessRecorder, BlockRequest, Read
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.snapshots import Past, Snapshot
from engramlog_server.api.work import current_check
from engramlog_server.events.errors import AccessDenied, InputError, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.choices import WORKING_MESSAGES
from engramlog_server.projections.index.conversation_index import TalkTokens
from engramlog_server.projections.language.prompt_text import TokenCount, estimated_tokens, is_chinese
from engramlog_server.projections.memory.record import SECRET, Asides, check_trust, handle_of
from engramlog_server.projections.memory.working_memory import Conversation, Said, Turn, conversation, set_aside_among
from engramlog_server.projections.prompt.block import LEAST_BUDGET, PARTS, TITLES, Block, Line
from engramlog_server.projections.prompt.gathering import (
    RELATED,
    AskedTurn,
    Close,
    Handed,
    MessageRead,
    Related,
    TwoParts,
    Wanted,
    always,
    decided,
    in_two,
    material,
    named_in,
    query_of,
    read_message,
    recipe,
    related,
    rules_of,
    stable_part,
    stable_room,
)
from engramlog_server.projections.prompt.lines import IDLE, Rules, is_withheld, sensitivity_allowed
from engramlog_server.projections.ranking.rankings import closenesses
from engramlog_server.projections.redis.said import Recent, recent, recent_among
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.shapes import (
    ContextBlock,
    ContextLine,
    ContextParts,
    ContextSearch,
    ContextSizes,
    Hit,
    QuestionExpansion,
    Recorded,
)
from engramlog_server.projections.views.view import OwnerView


def context_wanted(
    text: str,
    budget: int,
    threshold: float,
    messages: int,
    sensitive: bool,
    language: str | None,
    trust: str | None,
    stable_budget: int | None,
    related: str,
    project: str | None,
) -> Wanted:
    """What was asked for, checked. Raises InputError."""
    try:
        check_query(text)
    except InputError as error:
        raise refused("text", error.context["got"], f"some text in UTF-8 of at most {MAX_QUERY:,} characters") from None
    check_room(budget, threshold)
    if not 0 <= messages <= WORKING_MESSAGES:
        raise refused("messages", messages, f"a whole number from 0 to {WORKING_MESSAGES}")
    if language is not None and language not in TITLES:
        raise refused("language", language, ", ".join(TITLES))
    titles = language or ("zh" if is_chinese(text) else "en")
    asked = next((way for way in RELATED if way == related), None)
    if asked is None:
        raise refused("related", related, ", ".join(RELATED))
    if stable_budget is not None and not 0 <= stable_budget <= budget - LEAST_BUDGET:
        most = budget - LEAST_BUDGET
        allowed = f"a whole number of tokens from 0 to {most}: the budget without {LEAST_BUDGET} for the turn part"
        raise refused("stable_budget", stable_budget, allowed)
    if project is not None and not 1 <= len(project) <= MOST_NAME:
        raise refused("project", project, f"a name of 1 to {MOST_NAME} characters")
    room = stable_room(budget, stable_budget)
    return Wanted(budget, messages, sensitive, titles, threshold, check_trust(trust), room, language, asked, project)


def check_room(budget: int, threshold: float) -> None:
    """How much a block may hold, and how close it must be. Raises InputError."""
    if not LEAST_BUDGET <= budget <= MOST_BUDGET:
        raise refused("budget", budget, f"a whole number of tokens from {LEAST_BUDGET} to {MOST_BUDGET}")
    if not 0 <= threshold <= 1:
        raise refused("threshold", threshold, "a number from 0 to 1")


MOST_NAME = 200
"""Characters of a project's name, as events take it."""
CANDIDATES = 80
"""Results of a search that are looked at: some of them may not be in a prompt."""

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
        related: Related = "auto",
        threshold: float = 0.0,
        messages: int = WORKING_MESSAGES,
        sensitive: bool | None = None,
        language: str | None = None,
        trust: str | None = None,
        stable_budget: int | None = None,
        project: str | None = None,
        expand: bool = True,
        trace: bool = False,
        **times: Unpack[LineTerms],
    ) -> ContextBlock:
        """The block to put into a prompt before `text` is answered, and everything in it by id.

        The block has two parts: `stable`, the same bytes until one of its memories changes, and `turn`. `budget`: tokens of both;
        `stable_budget`: tokens of the first, at most half of the budget by default. `related`: search for related memories if the
        message needs them (auto), always, or never; `threshold`: the least closeness of a related memory, 0 to 1. `messages`: how
        many of this conversation, 0 if the agent holds them. `sensitive`: also texts of sensitivity 2; by default if the caller may
        read them. `trust`: the least trust of a memory, except in this conversation. `project`: where it is said; its memories are
        related as if the message named it. `expand`: let a model that is set to reword questions do so.
        `trace`: the block goes into a prompt, so record its memories as injected, once for a turn. By default nothing is recorded.
        A block about the past records nothing.
        A block about the past is the block of then, without what was deleted or became more sensitive since.
        Raises InputError with the field, AccessDenied if the caller asks for texts that they may not read.
        """
        check_owner(owner)
        if sensitive:
            _check_sensitivity()
        wanted = context_wanted(
            text,
            budget,
            threshold,
            messages,
            _reads_sensitive(sensitive),
            language,
            trust,
            stable_budget,
            related,
            project,
        )
        for field, value in (("session", session), ("turn_id", turn_id)):
            if value is not None:
                check_id_of(field, value)
        self._reader.await_turns(owner)
        with self._reader.snapshot(owner, **times) as snapshot:  # waits until `after` is folded: the log is read next
            past, now = snapshot.past, snapshot.now
            names = named_in(snapshot.view) if related == "auto" else frozenset[str]()
            asides = snapshot.view.state.asides
            rules = rules_of(snapshot.view, wanted, None if past is None else snapshot.present)
        lines = LineTerms(as_of=times.get("as_of"), known=times.get("known"))
        request = TalkAsked(owner, text, session, turn_id)
        said = read_talk(self._views, self._log.partitions, request, past)
        before = turns_before(said, request, asides, rules, now)
        message = read_message(text, before, names)
        message = self._decided(owner, message, wanted, lines)
        found = (
            None
            if message.need == "no"
            else self._searched(owner, query_of(message, before), wanted, lines, expand=expand)
        )
        for tried in range(1, TRIES + 1):
            with self._reader.snapshot(owner, **lines) as snapshot:
                if past is None and said.applied != snapshot.view.state.applied and tried < TRIES:
                    said = read_talk(self._views, self._log.partitions, request, past)
                    continue  # folded meanwhile: the conversation and the memories would be of two instants
                made = made_of(snapshot, said, found, request, message, wanted, self._count)
                break
        block, talk, halves = made.block, made.talk, made.halves
        if not trace or past is not None:
            recorded: Recorded = {"status": "off"}
        else:
            recorded = self._recorded(made, found, request, wanted, trust)
            for line in made.block.parts["retrieved"] if recorded["status"] == "appended" else ():
                if line.relevance is not None:
                    self.on_injected(line.relevance)
        return {
            "owner": owner,
            "block": block.text,
            "stable": halves.stable.block.text,
            "turn": halves.turn.text,
            "sizes": made.sizes,
            "tokens": block.tokens,
            "budget": budget,
            "language": wanted.language,
            "session": talk.session,
            "turn_id": talk.turn_id,
            "parts": with_parts(parts_answer(made.time, block), found),
            "injected": block.memories,
            "recorded": recorded,
            "searches": [] if found is None else [found.told(len(made.close))],
            "dropped": block.dropped,
            "left_out": made.left_out,
            "read_back": "all" if said.whole else "part",
            "others": [],
            **lines_answer(times),
            **snapshot.place,
        }

    def _decided(self, owner: str, message: MessageRead, wanted: Wanted, lines: LineTerms) -> MessageRead:
        """The message with the decision whether it needs memory."""
        asked = wanted.related == "auto" and message.need == "unsure"
        return decided(message, wanted.related, self._reader.stands_out(owner, message.ask, **lines) if asked else None)

    def _searched(self, owner: str, query: str, wanted: Wanted, lines: LineTerms, *, expand: bool) -> SearchedQuery:
        """The search for related memories; it records no access."""
        answer = self._reader.search(
            owner,
            query[-MAX_QUERY:],
            limit=CANDIDATES,
            trace=False,
            reasons=False,
            include_faded=True,
            expand=expand,
            proposals=True,
            most_sensitive=sensitivity_allowed(wanted.sensitive),
            **lines,
        )
        return SearchedQuery(
            query,
            answer["results"],
            {one["reason"]: one["count"] for one in answer["withheld"]},
            answer["understood"].get("parts") or [],
            answer["understood"].get("expansion"),
        )

    def _recorded(
        self, made: MadeBlock, found: SearchedQuery | None, request: TalkAsked, wanted: Wanted, trust: str | None
    ) -> Recorded:
        """Record what is new in the block for this turn: asked again, nothing is."""
        block, talk, text = made.block, made.talk, request.text
        fresh = [one for one in block.memories if one not in talk.injected]
        if not fresh:
            return {"status": "already" if block.memories else "nothing"}
        profile = [line.id for line in block.parts.get("profile", [])]
        retrieved = {line.id for line in block.parts["retrieved"]} & set(fresh)
        first = [] if found is None else [hit["id"] for hit in found.results[:3] if hit["id"] in retrieved]
        place = ("turn", talk.turn_id) if talk.turn_id else ("text", talk.session or "", str(talk.last_seq))
        handed = Handed(block.text, block.tokens, made.now, made.upto, made.close, made.halves.stable)
        receipt = self._accesses.inject(
            request.owner,
            [one for one in fresh if one not in profile],
            beside=[one for one in fresh if one in profile],
            key=place,
            asked=None if talk.turn_id else BlockRequest(text, talk.last_seq),
            together=first if len(first) > 1 else (),
            turn_id=talk.turn_id,
            session_id=talk.session,
            read=Read(made.position),
            made=partial(recipe, handed, text, wanted, trust),
        )
        if receipt is None or receipt.position is None:
            return {"status": "lost"}
        return {"status": "appended" if receipt.status == "appended" else "already", "position": receipt.position}


def _reads_sensitive(asked: bool | None) -> bool:
    """Whether texts of sensitivity 2 are shown: as asked, by default if the caller may read them."""
    telling = telling_in_hand()
    return bool(asked) or (
        asked is None and (telling is None or not telling.by_sensitivity or telling.most >= SECRET - 1)
    )


def _check_sensitivity() -> None:
    """Raises AccessDenied where the caller in hand is told no sensitive texts."""
    telling = telling_in_hand()
    if telling is not None and telling.by_sensitivity:
        raise AccessDenied(
            f"access: got sensitive true; allowed for this key: false, because it may read up to sensitivity {telling.most}",
            field="sensitive",
            principal=caller_in_hand().name,
        )


class TalkAsked(NamedTuple):
    """A turn, as far as it is known."""

    owner: str
    text: str
    session: str | None
    turn_id: str | None

    def talk(self, said: Sequence[Said]) -> Conversation:
        """The conversation that it stands in."""
        return conversation(said, self.text, self.session, self.turn_id)

    def is_covered_by(self, said: Sequence[Said]) -> bool:
        """Whether these tell all that its block tells of the conversation."""
        talk = self.talk(said)
        return len(talk.messages) >= WORKING_MESSAGES and (self.turn_id is None or talk.current is not None)


def read_talk(views: RedisViews, partitions: int, asked: TalkAsked, past: Past | None) -> Recent:
    """What was said, back from the newest, at present or in a past."""
    if past is not None:
        return recent_among(views, asked.owner, past.seqs, past.silent(), asked.is_covered_by)
    return recent(views, asked.owner, partitions, asked.is_covered_by)


class SearchedQuery(NamedTuple):
    """What one search found, best first."""

    query: str
    results: list[Hit]
    withheld: dict[str, int]
    """How many further matches normal mode keeps back, by reason."""
    parts: list[str]
    """The parts of it that had a share each."""
    expansion: QuestionExpansion | None = None
    """What became of asking a model for other words."""

    def told(self, close_enough: int) -> ContextSearch:
        """As an answer tells it."""
        return {
            "query": self.query,
            "found": close_enough,
            "withheld": self.withheld,
            "parts": self.parts,
            "expansion": self.expansion,
        }


class MadeBlock(NamedTuple):
    """A block with what it was made of."""

    block: Block
    """The whole: both halves, one after the other."""
    halves: TwoParts
    talk: Conversation
    time: str
    close: list[Close]
    left_out: dict[str, int]
    conversation: int
    """Tokens of everything that was said."""
    now: int
    position: str
    upto: str
    """The position of the owner's newest event that it was made of."""

    @property
    def sizes(self) -> ContextSizes:
        """Tokens of the two halves, and of the whole conversation."""
        stable, turn = self.halves.stable, self.halves.turn
        return {
            "stable": stable.block.tokens,
            "turn": turn.tokens,
            "conversation": self.conversation,
            "left_out": stable.left_out,
        }


def turns_before(said: Recent, request: TalkAsked, asides: Asides, rules: Rules, now: int) -> list[str]:
    """The texts of a conversation that goes on, oldest first, without those that a block withholds: answers repeat a query."""
    gone = {one.seq for one in set_aside_among(said.said, asides)}
    messages = request.talk([one for one in said.said if one.seq not in gone]).messages
    return [turn.text for turn in messages if now - turn.at <= IDLE and not is_withheld(turn, rules)]


def made_of(
    snapshot: Snapshot,
    said: Recent,
    found: SearchedQuery | None,
    request: TalkAsked,
    message: MessageRead,
    wanted: Wanted,
    count: TokenCount,
) -> MadeBlock:
    """The block of a snapshot and of what was said."""
    view, now = snapshot.view, snapshot.now
    gone = {one.seq for one in set_aside_among(said.said, view.state.asides)}
    talk = request.talk([one for one in said.said if one.seq not in gone])
    rules = rules_of(view, wanted, None if snapshot.past is None else snapshot.present)
    asked, holds = AskedTurn(request.text, talk, message, wanted), always(view, now, talk, rules)
    stable = stable_part(view, now, holds, rules, wanted, count, check=current_check())
    holds = stable.holds
    close: list[Close] = []
    if found is not None:
        closeness = closenesses(view, found.query, found.results)
        close = related(view, now, found.results, closeness, asked, rules, holds)
    held = material(view, now, snapshot.partition, asked, rules, holds, close)
    left_out = dict(holds.left_out)
    if gone:
        left_out["said by a source that is set aside"] = len(gone)
    upto = position_text(snapshot.partition, view.state.seq)
    halves = in_two(stable, held, wanted, count)
    whole = _whole_conversation(view, said, gone)
    return MadeBlock(halves.whole, halves, talk, held.time, close, left_out, whole, now, snapshot.position, upto)


def _whole_conversation(view: OwnerView, said: Recent, gone: set[int]) -> int:
    """Tokens of every turn that is a memory, and of the newest ones that are none."""
    turns = (one for one in said.said if isinstance(one, Turn) and one.seq not in gone)
    bare = sum(estimated_tokens(one.text) for one in turns if view.columns.row(one.turn_id) is None)
    return view.index(TalkTokens, current_check()).total + bare


def with_parts(told: ContextParts, found: SearchedQuery | None) -> ContextParts:
    """The same, each related memory with the parts of the question that it answers."""
    asked = {} if found is None else {one["id"]: one["explain"].get("asked_by") for one in found.results}
    for line in told["retrieved"]:
        if (parts := asked.get(line["id"])) is not None:
            line["asked_by"] = parts
    return told


def parts_answer(time: str, block: Block) -> ContextParts:
    """Everything in a block by id, part by part."""
    return cast("ContextParts", {"time": time, **{name: _told(block.parts[name]) for name in PARTS}})


def _told(lines: list[Line]) -> list[ContextLine]:
    told: list[ContextLine] = []
    for line in lines:
        one: ContextLine = {"kind": line.kind, "id": line.id, "note": line.note, "text": line.text}
        if line.kind != "tool":
            one["handle"] = handle_of(line.id)
        if line.relevance is not None:
            one["closeness"] = line.relevance
        told.append(one)
    return told
