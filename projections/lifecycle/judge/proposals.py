"""What a model proposes for a piece of a conversation: what it is shown, what it may answer, and how each answer is judged. Pure.

`Talk` is the piece of a conversation that a model is asked about: the turns to be read, what was said around them, what is known.
Keys (`T1`, `M1`) replace ids, which a model would misspell. Secrets and deleted memories are never in it.

A model proposes, the code decides. What nobody said is not kept, and neither is what asks, supposes or is a secret. Only a
sentence that takes something back takes it back, and only one that asks to forget deletes, one memory at a time. What is known
already is a mention, and what may contradict a known memory is flagged with it. So a lying model can leave something out, or
reword what was said.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Literal, NamedTuple
from zoneinfo import ZoneInfo

import orjson
from msgspec import structs
from pydantic import BaseModel, ConfigDict, Field

from engramlog_server.events.catalogue import EventData, MemoryCreated, MemoryDeleted, MemoryNegated, MemoryReinforced
from engramlog_server.events.trust import INFERRED, lowest
from engramlog_server.events.vocabulary import Actor, Category, Trust
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.extraction.rules import questions, read_turn
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, StatedTriple
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.prompt_text import is_chinese, one_line
from engramlog_server.projections.language.sensitivity.level import at_most, detect_sensitivity
from engramlog_server.projections.language.similar import polarity, similarity
from engramlog_server.projections.language.text import kept_tokens
from engramlog_server.projections.lifecycle.decision import Decision, use_of
from engramlog_server.projections.lifecycle.extraction import mark
from engramlog_server.projections.lifecycle.judge.corrections import (
    NOTHING,
    Quotation,
    answers,
    asks_to_forget,
    ground_of,
    is_quoted,
    judge,
    said_of,
    says_reverse,
    shares_words,
    takes_back,
    unasserted,
    unsaid,
    unsaid_number,
    without_dates,
)
from engramlog_server.projections.lifecycle.judge.known import Candidates, KnownMemory, same_words
from engramlog_server.projections.lifecycle.judge.statements import (
    JOB,
    LASTING,
    MOST_REASON,
    Claim,
    JudgeRun,
    ReadTurn,
    Verdict,
)
from engramlog_server.projections.memory import working_memory
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.models.chat import Unfit
from engramlog_server.projections.views.view import OwnerView

MOST_OPERATIONS = 40
TRIES = 2
"""Answers that are sent back with what is wrong; of a later one the faulty operations are left out."""
TOLD_FAULTS = 10


class Triple(BaseModel):
    """Who, what, whom: `Alice`, `lives in`, `Berlin`."""

    model_config = ConfigDict(extra="ignore")

    subject: Annotated[str, Field(min_length=1, max_length=200)]
    predicate: Annotated[str, Field(min_length=1, max_length=200)]
    object: Annotated[str, Field(min_length=1, max_length=200)]
    negation: bool = False


class Operation(BaseModel):
    """One thing to do about one turn."""

    model_config = ConfigDict(extra="ignore")

    operation: Annotated[
        Literal["ADD", "UPDATE", "BOOST", "NEGATE", "DELETE", "SKIP"],
        Field(
            description="ADD something new; UPDATE a memory that is said more fully; BOOST one that is said again or was used;"
            " NEGATE one that no longer holds; DELETE one that is to be forgotten; SKIP what is no memory"
        ),
    ]
    turn: Annotated[str, Field(max_length=10, description="the id of the message that it follows from, such as T3")]
    quote: Annotated[
        str, Field(max_length=500, description="the words of that message that it follows from, literally")
    ]
    memory: Annotated[
        str | None,
        Field(max_length=10, description="the id of the memory that is meant, such as M1; not for ADD, SKIP"),
    ] = None
    content: Annotated[
        str | None,
        Field(
            max_length=500,
            description="for ADD and UPDATE the whole memory, about its speaker by name, understandable by itself; for NEGATE"
            " what holds instead, if anything",
        ),
    ] = None
    category: Category | None = None
    kind: Literal["fact", "user_preference", "plan", "decision", "agreement", "note"] = "fact"
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.7
    sensitivity: Annotated[
        int, Field(ge=0, le=3, description="2: addresses, telephone numbers; 3: passwords, keys")
    ] = 0
    keywords: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=5)] = []
    triple: Triple | None = None
    reason: Annotated[str, Field(max_length=300)] = ""


class Answer(BaseModel):
    """Everything that follows from the new messages, in their order; empty where nothing does."""

    model_config = ConfigDict(extra="ignore")

    operations: Annotated[list[Operation], Field(max_length=MOST_OPERATIONS)]


NAMES_A_MEMORY = frozenset({"UPDATE", "BOOST", "NEGATE", "DELETE"})
SAYS_SOMETHING = frozenset({"ADD", "UPDATE"})


def fault(one: Operation, talk: Talk) -> str | None:
    """What makes an operation unusable, in words for the model; None where it can be judged."""
    if one.operation == "SKIP":
        return None
    shown = talk.turn(one.turn)
    if shown is None:
        return f"there is no message {one.turn!r}; the ids are {', '.join(turn.key for turn in talk.shown)}"
    if not may_say(one, shown):
        return (
            f"{one.turn} cannot be the ground of {one.operation}: only a message that is new and said by a person can"
        )
    if not is_quoted(one.quote, shown.text):
        return f"quote: these words do not stand in {one.turn}; quote it literally"
    return _missing(one, talk)


def _missing(one: Operation, talk: Talk) -> str | None:
    """What an operation of its kind needs and this one has not."""
    if one.operation in NAMES_A_MEMORY and one.memory not in talk.known:
        return f"memory: there is none {one.memory!r}; the ids are {', '.join(talk.known) or 'none: use ADD'}"
    if one.operation in SAYS_SOMETHING and not (one.content or "").strip():
        return f"content: {one.operation} needs what is to be remembered"
    return "category: ADD needs one" if one.operation == "ADD" and one.category is None else None


def may_say(one: Operation, shown: Shown) -> bool:
    """Whether the message may be the ground: a person's new one, or for BOOST a reply that the memory was put before."""
    return shown.new or (one.operation == "BOOST" and bool(shown.injected))


class Checked:
    """Sends a faulty answer back twice; then what is usable of it is used. One for each question."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._seen = 0

    def __call__(self, answer: Answer) -> None:
        """Raises Unfit with what is wrong, twice at most."""
        self._seen += 1
        faults = [
            f"operations[{at}] ({one.operation}): {wrong}"
            for at, one in enumerate(answer.operations)
            if (wrong := fault(one, self._talk)) is not None
        ]
        if faults and self._seen <= TRIES:
            raise Unfit("\n".join(faults[:TOLD_FAULTS]))


_PASSING = regex(
    r"\b(?:today|tonight|tomorrow|right now|at the moment|currently|this (?:morning|afternoon|evening|week(?:end)?|month))\b"
    "|今[天晚早]|明天|现在|目前|此刻|这(?:几天|周|个星期|个?月|段时间)|最近"
)


def stated(one: Operation, source: ReadTurn) -> ExtractedStatement:
    """An operation as what is stated. What passes is no lasting category, whatever the model calls it."""
    content = " ".join((one.content or one.quote).split())
    keywords = tuple(dict.fromkeys(word for word in (one_line(word).casefold() for word in one.keywords) if word))
    return ExtractedStatement(
        content=content,
        category=_category(one.category or "fact", content),
        kind=one.kind,
        polarity=polarity(content),
        asserted=True,
        confidence=round(one.confidence, 3),
        span=(0, len(source.turn.text)),
        keywords=keywords,
        triple=_triple(one, content),
    )


def grounded(
    one: Operation, claim: Claim, shown: Shown, talk: Talk, known: KnownMemory | None
) -> tuple[Quotation, str | None]:
    """What an operation rests on, and what speaks against it. Of a reply nothing is read: it is no ground of a memory."""
    if max(detect_sensitivity(claim.content), detect_sensitivity(one.reason), one.sensitivity) >= SECRET:
        return NOTHING, "a secret"
    if not shown.new:
        return NOTHING, None
    ground = ground_of(claim.turn.text, one.quote, claim.content)
    if ground is None:
        return NOTHING, f"quote: in {one.turn} these words stand in what is quoted or shared there"
    if one.operation in ("DELETE", "BOOST"):  # what is said again is what is known
        allowed = one.operation == "BOOST" or asks_to_forget(ground)
        return ground, None if allowed else f"{one.turn} asks for nothing to be forgotten"
    if one.content is None:
        return ground, unasserted(ground, claim.content if known is None else known.content)
    return ground, unasserted(ground, claim.content) or _made_up(one, claim, shown, talk, known, ground)


def _made_up(
    one: Operation, claim: Claim, shown: Shown, talk: Talk, known: KnownMemory | None, ground: Quotation
) -> str | None:
    """What of a content nobody said, or how the turn says the reverse."""
    before, place, turn = "" if known is None else known.content, talk.shown.index(shown), claim.turn
    people = [other.text for other in talk.shown if other.role != "assistant"]
    if place and answers(shown.text) == polarity(claim.content):
        people.append(talk.shown[place - 1].text)
    number = unsaid_number(claim.content, " ".join([*people, before]), turn.day)
    if number is not None:
        return f"nobody said {number}"
    plain, named = without_dates(claim.content, turn.day), [other.text for other in talk.shown]
    wrong = unsaid(plain, shown.text, people, turn.name, known=before, named=named)
    if wrong is None and one.operation != "NEGATE" and says_reverse(ground, claim.content):
        return f"{one.turn} says the reverse"
    return wrong


def _category(category: Category, content: str) -> Category:
    if category not in LASTING or _PASSING.search(content) is None:
        return category
    return "short_term_preference" if category == "stable_preference" else "temporary"


def _triple(one: Operation, content: str) -> StatedTriple | None:
    """The proposed triple, where it says what the content says: no other words, and denied where that is."""
    triple = one.triple
    if triple is None:
        return None
    subject, predicate, thing = (one_line(part) for part in (triple.subject, triple.predicate, triple.object))
    words = set(kept_tokens(f"{subject} {predicate} {thing}"))
    if not (subject and predicate and thing) or not words <= set(kept_tokens(content)) | {"user"}:
        return None
    denied = polarity(content) < 0
    return StatedTriple(subject, predicate, thing, triple.negation) if triple.negation == denied else None


MOST_TURNS = 10
"""Turns that are read at once."""
MOST_CHARACTERS = 6_000
"""Of the texts of the turns that are read at once."""
MOST_OF_A_TEXT = 2_000
BEFORE = 6
"""Messages before the first of them that are shown."""
AROUND = 500
"""Turns, tool results and injections before and after them among which what belongs to them is looked for."""
MOST_KNOWN = 20
"""Memories that are shown."""
KNOWN_A_TURN = 6


class Shown(NamedTuple):
    """A message as the model sees it."""

    key: str
    turn_id: str
    role: str
    """user, other or assistant."""
    who: str
    day: str
    text: str
    new: bool
    """Whether it is to be read; the others are shown for what they say about it."""
    injected: frozenset[str] = frozenset()
    """Of an assistant's message: the memories that were put into the prompt that it answered."""


class Talk(NamedTuple):
    """What one question to a model is about."""

    unread: tuple[ReadTurn, ...]
    shown: tuple[Shown, ...]
    known: dict[str, KnownMemory]
    """By key."""
    language: str
    """en or zh, by the turns to be read."""

    def turn(self, key: str) -> Shown | None:
        """The message of that key."""
        return next((one for one in self.shown if one.key == key), None)

    def read_turn(self, turn_id: str) -> ReadTurn | None:
        """The turn to be read of that id."""
        return next((one for one in self.unread if one.turn.turn_id == turn_id), None)

    def as_json(self) -> str:
        """The data of the question; every text is one line."""
        memories = [
            {"id": key, "says": one_line(known.content)[:MOST_OF_A_TEXT]}
            | ({"taken_back": True} if known.negated else {})
            for key, known in self.known.items()
        ]
        talk = [
            {"id": one.key, "who": one.who, "role": one.role, "day": one.day, "new": one.new, "text": one.text}
            | ({"used": used} if (used := self._used(one)) else {})
            for one in self.shown
        ]
        return orjson.dumps({"memories": memories, "talk": talk}).decode()

    def _used(self, message: Shown) -> list[str]:
        return [key for key, known in self.known.items() if known.id in message.injected]


def next_unread(turns: Iterable[ReadTurn], most: int = MOST_TURNS) -> tuple[ReadTurn, ...]:
    """The first unread turns that are read at once: of one session, at most `most`, not too long together."""
    found: list[ReadTurn] = []
    length = 0
    for one in turns:
        if not one.unread:
            continue
        length += min(len(one.turn.text), MOST_OF_A_TEXT)
        if found and (one.session != found[0].session or len(found) >= most or length > MOST_CHARACTERS):
            break
        found.append(one)
    return tuple(found)


def said_around(
    said: Sequence[working_memory.Said], places: Mapping[str, int], unread: Sequence[ReadTurn]
) -> Sequence[working_memory.Said]:
    """The part of what was said, in log order, in which some turns and what belongs to them lie: not all of a large owner's.

    `places`: where each turn stands in `said`.
    """
    at = [places[one.turn.turn_id] for one in unread if one.turn.turn_id in places]
    at = at or [bisect_left(said, unread[0].seq, key=attrgetter("seq"))]
    return said[max(min(at) - AROUND, 0) : max(at) + AROUND]


def talk_about(
    unread: tuple[ReadTurn, ...],
    said: Sequence[working_memory.Said],
    shelf: Candidates,
    forgotten: frozenset[str],
    zone: str,
) -> Talk:
    """The question about some turns. `said`: what was said around them, in log order; it may lack them, or all."""
    around = _around(unread, said, forgotten)
    injected = _injections(said)
    places = {one.turn_id: one.seq for one in said if isinstance(one, working_memory.Turn)}
    messages = sorted([*around, *(_as_message(one, places) for one in unread)], key=lambda one: one.seq)
    new = {one.turn.turn_id for one in unread}
    known = _known(unread, messages, injected, shelf)
    shown = []
    for number, one in enumerate(messages, 1):
        texts = one_line(one.text)[:MOST_OF_A_TEXT]
        used = injected.get(one.turn_id, frozenset()) if one.role == "assistant" else frozenset()
        role = "user" if one.turn_id in new else one.role
        day = datetime.fromtimestamp(one.at // 1_000_000, ZoneInfo(zone)).date().isoformat()
        shown.append(Shown(f"T{number}", one.turn_id, role, one_line(one.name), day, texts, one.turn_id in new, used))
    language = "zh" if is_chinese(" ".join(one.turn.text for one in unread)) else "en"
    return Talk(unread, tuple(shown), {f"M{n}": one for n, one in enumerate(known, 1)}, language)


def still_standing(talk: Talk, unread: Collection[str], forgotten: Collection[str]) -> Talk:
    """What is left of a talk of which turns were deleted, forgotten or read meanwhile: nothing rests on those any more."""
    return talk._replace(
        unread=tuple(one for one in talk.unread if one.turn.turn_id in unread),
        shown=tuple(one for one in talk.shown if one.turn_id in unread or not (one.new or one.turn_id in forgotten)),
    )


def _around(
    unread: Sequence[ReadTurn], said: Sequence[working_memory.Said], forgotten: frozenset[str]
) -> list[working_memory.Turn]:
    """Messages of the session before, between and right after the turns, without what must not be shown."""
    new, session = {one.turn.turn_id for one in unread}, unread[0].session
    there = [one for one in said if isinstance(one, working_memory.Turn) and one.turn_id in new]
    first = min((one.seq for one in there), default=unread[0].seq)
    last = max((one.seq for one in there), default=unread[-1].seq)
    spoken = [
        one
        for one in said
        if isinstance(one, working_memory.Turn) and one.role in working_memory.SPEAKING and one.session == session
    ]
    before = [one for one in spoken if one.seq < first][-BEFORE:]
    between = [one for one in spoken if first <= one.seq <= last]
    after = [one for one in spoken if one.seq > last and one.role == "assistant"][:1]
    return [
        one
        for one in (*before, *between, *after)
        if one.turn_id not in new and one.turn_id not in forgotten and at_most(SECRET - 1, one.text, one.level)
    ]


def _as_message(source: ReadTurn, places: Mapping[str, int]) -> working_memory.Turn:
    """A turn to be read as the message that it was, at the place at which it was recorded."""
    turn = source.turn
    seq = places.get(turn.turn_id, source.seq)
    return working_memory.Turn(
        seq, "", turn.turn_id, turn.role, turn.speaker, turn.text, None, source.session, source.said_at
    )


def _injections(said: Sequence[working_memory.Said]) -> dict[str, frozenset[str]]:
    """Id of an assistant's message -> the memories that were put into the prompt that it answers."""
    asked: dict[str, frozenset[str]] = {}
    found: dict[str, frozenset[str]] = {}
    latest: dict[str | None, str] = {}
    for one in said:
        if isinstance(one, working_memory.Injection) and one.turn_id is not None:
            asked[one.turn_id] = asked.get(one.turn_id, frozenset()) | set(one.ids)
        elif isinstance(one, working_memory.Turn) and one.role in working_memory.ASKING:
            latest[one.session] = one.turn_id
        elif isinstance(one, working_memory.Turn) and one.role == "assistant":
            found[one.turn_id] = asked.get(one.reply_to or latest.get(one.session, ""), frozenset())
    return found


def _known(
    unread: Sequence[ReadTurn],
    messages: Sequence[working_memory.Turn],
    injected: dict[str, frozenset[str]],
    shelf: Candidates,
) -> list[KnownMemory]:
    """The memories that the turns may be about, and those that replies may have used."""
    used = [memory_id for message in messages for memory_id in sorted(injected.get(message.turn_id, ()))]
    known = [memory for memory_id in used if (memory := shelf.get(memory_id)) is not None]
    for one in unread:
        known += shelf.by_meaning(one.turn.text, one.turn.speaker, KNOWN_A_TURN)
    return list({memory.id: memory for memory in known}.values())[:MOST_KNOWN]


MOST_DELETED = 1
"""Memories that one turn may have deleted."""
MOST_NEGATED = 3
"""Memories that one turn may take back."""
LOOKED_BACK = 300
"""Turns whose questions are looked at for one that is asked again."""
SAID_AGAIN = 0.5
"""Of a memory's words that a turn must have to say it again."""
SENSITIVE = 2
FIRM = frozenset({"core", "system"})
"""Tiers that no model deletes."""


def judge_proposed(talk: Talk, answer: Answer, turns: Sequence[ReadTurn], view: OwnerView, by: str) -> list[Verdict]:
    """A verdict on every operation, in their order, then on questions that were asked again and again. Pure.

    `turns`: all turns of the owner, of which those that the talk is about are judged. `by`: the model's name.
    """
    judging = Proposing(view, talk, by)
    about = {one.turn.turn_id for one in talk.unread}
    asking = [one for one in turns if one.turn.turn_id in about or one.seq < talk.unread[0].seq][-LOOKED_BACK:]
    for one in asking:
        for question in questions(one.turn):
            judging.ask(one._replace(unread=one.turn.turn_id in about), question)
    for operation in answer.operations:
        judging.propose(operation)
    return judging.verdicts


def by_rules(talk: Talk, view: OwnerView) -> list[Verdict]:
    """What rules make of the turns, where a model has no usable answer for them."""
    told = ((one, read_turn(one.turn)) for one in talk.unread)
    read = [one._replace(statements=reading.statements, taken=reading.taken) for one, reading in told]
    return judge(read, view, 0)


def read_by_model(
    talk: Talk,
    verdicts: Sequence[Verdict],
    by: str,
    now: int,
    took: Sequence[int],
    *,
    prompt: str,
    after: int,
    ruled: bool = False,
) -> list[Decision]:
    """The verdicts' events, and the mark that the talk's turns are read. `took`: requests, input and output tokens.

    `after`: see `mark`. `ruled`: the model had no usable answer, and the verdicts are by rules.
    """
    requests, sent, received = took
    told = {"requests": requests, "input_tokens": sent, "output_tokens": received, "prompt": prompt}
    ids = tuple(one.turn.turn_id for one in talk.unread) if ruled else ()
    decided = [decision for verdict in verdicts for decision in verdict.decisions]
    return [*decided, mark(talk.unread, by, now, after=after, by_rules=ids, **told)]


_SAYING = frozenset({"ADD", "UPDATE", "NEGATE", "BOOST"})
"""Operations that say something, or say it again."""


class Proposing(JudgeRun):
    """One answer of a model, carried out on what is known."""

    def __init__(self, view: OwnerView, talk: Talk, by: str) -> None:
        super().__init__(view)
        self._talk = talk
        self._by = by
        self._undone = Counter[tuple[str, str]]()
        """How much was taken back or deleted, by turn and operation."""
        self._ground = NOTHING
        """What the operation under way quotes."""
        self._sensitivity = 0

    def propose(self, one: Operation) -> None:
        """One operation; a verdict SKIP tells why nothing follows from it."""
        shown = self._talk.turn(one.turn)
        wrong = fault(one, self._talk)
        source = self._source(shown, one)
        if source is None or shown is None:
            return
        claim, self._sensitivity = Claim(source, stated(one, source)), one.sensitivity
        known = self._known(one)
        if wrong is None and one.operation != "SKIP":
            self._ground, wrong = grounded(one, claim, shown, self._talk, known)
        if wrong is None and one.operation in _SAYING and self._refuses(claim):
            return
        if one.operation == "SKIP" or wrong is not None:
            self._record("SKIP", claim, None, wrong or self._reason(one) or "no memory")
            return
        if one.operation == "ADD":
            self._propose_new(claim)
        elif known is None:
            self._record("SKIP", claim, None, "the memory is there no more")
        elif one.operation == "UPDATE":
            self._propose_update(one, claim, known)
        elif one.operation == "NEGATE":
            self._propose_negation(one, claim, known)
        elif one.operation == "DELETE":
            self._delete(one, claim, known)
        elif shown.new:
            self._boost(claim, known, one.turn)
        else:
            self._use(shown, claim, known)

    def _source(self, shown: Shown | None, one: Operation) -> ReadTurn | None:
        """The turn that an operation is about; of a reply the one that it answers; the last one if it names none."""
        source = None if shown is None else self._talk.read_turn(shown.turn_id)
        if source is None and shown is not None and one.operation == "BOOST":
            asked = [turn for turn in self._talk.shown[: self._talk.shown.index(shown)] if turn.new]
            source = self._talk.read_turn(asked[-1].turn_id) if asked else None
        return source

    def _known(self, one: Operation) -> KnownMemory | None:
        """The memory that is meant, as it is known by now."""
        shown = self._talk.known.get(one.memory or "") if one.operation in NAMES_A_MEMORY else None
        return None if shown is None else self._shelf.get(shown.id)

    def _reason(self, one: Operation) -> str:
        told = one_line(one.reason)[:200]
        return f"{self._by}: {told}" if told else ""

    def _propose_new(self, claim: Claim) -> None:
        """A new memory, unless it is known: then it is said again, and what may contradict it is flagged."""
        memory_id, known_of_turn = self._id(claim), self._shelf.contents_of(claim.turn.turn_id)
        if self._view.get(memory_id) is not None or any(same_words(claim.content, one) for one in known_of_turn):
            self._record("SKIP", claim, memory_id, "known from this turn")
            return
        if self._said_before_taken_back(claim):
            return
        near = self._shelf.near(claim.content, claim.turn.speaker)
        for alike, known in near:
            if alike >= self._least and not known.negates(claim.statement) and same_words(claim.content, known.content):
                self._again(claim, known, alike)
                return
        if not self._flag_contradicted(claim, near):
            self._add(claim, f"new, by {self._by}")

    def _propose_update(self, one: Operation, claim: Claim, known: KnownMemory) -> None:
        """A fuller version, where it says all of the old one and more; else it stands beside the memory."""
        relation = compare(claim.content, known.content).kind
        if relation == "refines" and not known.negates(claim.statement):
            self._update(claim, known, similarity(claim.content, known.content))
        elif relation == "same" and not known.negates(claim.statement):
            self._boost(claim, known, one.turn)
        else:
            self._propose_new(claim)

    def _propose_negation(self, one: Operation, claim: Claim, known: KnownMemory) -> None:
        if known.negated or known.comes_from(claim.turn.turn_id):
            self._record("SKIP", claim, known.id, "taken back already" if known.negated else "known from this turn")
            return
        if one.content and compare(claim.content, known.content).kind == "same":
            self._boost(claim, known, one.turn)
            return
        reason = self._reason(one) or "taken back"
        taken = takes_back(self._ground, known.content) or (
            one.content is not None and compare(claim.content, known.content).sure
        )
        if taken and self._undone[one.turn, "NEGATE"] >= MOST_NEGATED:
            self._record("SKIP", claim, known.id, "too much would be taken back at once")
        elif one.content and taken:
            self._undone[one.turn, "NEGATE"] += 1
            self._negate(claim, [known], reason)
        elif one.content and shares_words(known.content, claim.content, claim.turn.name):
            self._flag(claim, known, f"{one.turn} takes nothing back for certain")
        elif one.content:
            self._propose_new(claim)
        elif not taken:
            self._record("SKIP", claim, known.id, f"{one.turn} takes nothing back of it")
        elif self._is_later(known, claim):
            self._record("SKIP", claim, known.id, "it was said later")
        else:
            self._undone[one.turn, "NEGATE"] += 1
            data = MemoryNegated(memory_id=known.id, reason=reason[:MOST_REASON], turn_id=claim.turn.turn_id)
            self._shelf.negate(known)
            decisions = [self._decision("negate", (known.id,), claim, reason, data)]
            self._record("NEGATE", claim, None, reason, decisions, known.id)

    def _boost(self, claim: Claim, known: KnownMemory, key: str) -> None:
        """Said again: most of its words are, and nothing of it is taken back."""
        ground = self._ground
        if said_of(known.content, ground.around, claim.turn.name) < SAID_AGAIN:
            self._record("SKIP", claim, known.id, f"{key} does not say it again")
        elif unasserted(ground, known.content, any_question=True) is not None or says_reverse(ground, known.content):
            self._record("SKIP", claim, known.id, f"{key} does not assert it")
        else:
            self._again(claim, known, min(1.0, similarity(ground.sentence, known.content)))

    def _delete(self, one: Operation, claim: Claim, known: KnownMemory) -> None:
        memory, reason = self._view.get(known.id), self._reason(one) or "asked to forget it"
        if memory is None or memory.verified or memory.tier in FIRM or memory.sensitivity >= SENSITIVE:
            self._record("SKIP", claim, known.id, "only its owner deletes it")
        elif not shares_words(known.content, self._ground.sentence, claim.turn.name):
            self._record("SKIP", claim, known.id, "the turn is about something else")
        elif self._is_later(known, claim):
            self._record("SKIP", claim, known.id, "it was said later")
        elif self._undone[one.turn, "DELETE"] >= MOST_DELETED:
            self._record("SKIP", claim, known.id, "too much would be taken back at once")
        else:
            self._undone[one.turn, "DELETE"] += 1
            data = MemoryDeleted(memory_id=known.id, reason=reason[:MOST_REASON])
            decision = self._decision("delete", (known.id,), claim, reason, data)
            self._shelf.drop(known)
            self._record("DELETE", claim, known.id, reason, [decision])

    def _created(self, claim: Claim, corrects: str | None = None, turns: tuple[str, ...] = ()) -> list[Decision]:
        """As rules do; the model may hold a memory for more sensitive than rules see, never for less."""
        decisions = super()._created(claim, corrects, turns)
        made = decisions[0].data
        if isinstance(made, MemoryCreated) and self._sensitivity > detect_sensitivity(claim.content):
            decisions[0] = decisions[0]._replace(data=structs.replace(made, sensitivity=self._sensitivity))
        return decisions

    def _may_change(self, claim: Claim, known: KnownMemory, *, trust: Trust | None = None) -> bool:
        """What a model makes of a turn is never the user's own word."""
        return super()._may_change(claim, known, trust=lowest(INFERRED, trust or claim.source.trust))

    def _decision(
        self, action: str, ids: tuple[str, ...], claim: Claim, reason: str, data: EventData, actor: Actor = "judge"
    ) -> Decision:
        """As rules do, and which model proposed it."""
        return super()._decision(action, ids, claim, reason, data, actor)._replace(model=self._by)

    def _use(self, shown: Shown, claim: Claim, known: KnownMemory) -> None:
        """A reply was shaped by a memory that was put before it."""
        if known.id not in shown.injected:
            self._record("SKIP", claim, known.id, "it was not put into the prompt of that reply")
            return
        if not shares_words(known.content, claim.content, claim.turn.name, besides=claim.turn.text):
            self._record("SKIP", claim, known.id, "the reply says nothing of it that was not asked")
            return
        data = MemoryReinforced(memory_id=known.id, outcome="used")
        decision = Decision(
            JOB,
            "use",
            (known.id, shown.turn_id),
            claim.source.said_at,
            claim.source.seq,
            "it shaped a reply",
            data,
            claim.source.said_at,
            "judge",
            once=use_of(known.id, shown.turn_id),
            model=self._by,
        )
        self._record("BOOST", claim, known.id, "it shaped a reply", [decision])
