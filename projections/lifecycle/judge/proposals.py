"""What a model may answer when asked what turns mean for what is known (seed 003, its operations), and what is wrong with it.

Then what of it states something, and what speaks against it, whatever the model says. Pure.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from engramlog_server.events.vocabulary import Category
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, StatedTriple
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.polarity import polarity
from engramlog_server.projections.language.prompt_text import one_line
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.text import kept_tokens
from engramlog_server.projections.lifecycle.judge.grounds import (
    NOTHING,
    Quotation,
    answers,
    asks_to_forget,
    ground_of,
    is_quoted,
    says_reverse,
    unasserted,
    unsaid,
    unsaid_number,
    without_dates,
)
from engramlog_server.projections.lifecycle.judge.judging import LASTING, Claim, ReadTurn
from engramlog_server.projections.lifecycle.judge.known import KnownMemory
from engramlog_server.projections.lifecycle.judge.talk import Shown, Talk
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.models.chat import Unfit

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
