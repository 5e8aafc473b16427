"""What a model proposes, taken apart: what of it states something, and what speaks against it, whatever the model says. Pure."""

from __future__ import annotations

from engramlog_server.events.vocabulary import Category
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, StatedTriple
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.polarity import polarity
from engramlog_server.projections.language.prompt_text import one_line
from engramlog_server.projections.language.sensitivity.text_level import detect_sensitivity
from engramlog_server.projections.language.text import kept_tokens
from engramlog_server.projections.lifecycle.judge.grounds import answers, unsaid
from engramlog_server.projections.lifecycle.judge.grounds_numbers import unsaid_number, without_dates
from engramlog_server.projections.lifecycle.judge.grounds_turn import (
    NOTHING,
    Quotation,
    asks_to_forget,
    ground_of,
    says_reverse,
    unasserted,
)
from engramlog_server.projections.lifecycle.judge.judging import LASTING, Claim, ReadTurn
from engramlog_server.projections.lifecycle.judge.known import KnownMemory
from engramlog_server.projections.lifecycle.judge.proposals import Operation
from engramlog_server.projections.lifecycle.judge.talk import Shown, Talk
from engramlog_server.projections.memory.record import SECRET

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
