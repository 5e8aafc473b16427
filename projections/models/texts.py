"""What a language model is asked to write about memories, and what of its answers is taken. Pure but for the asking.

A model may leave out and shorten; it may not add. So an answer is checked against what was said: every number in it occurs there,
at least half of its words do, and it tells nothing sensitive. What is refused is asked for again with the reason.

A **summary** begins with our time, and is made without a model if no answer fits. A **pattern** is only proposed: a person accepts
it before it is told. It names the memories that it rests on by the keys under which they were shown; what names others or says the
reverse of one of them is refused too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from engramlog_server.projections.language.keywords import content_words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.prompt_text import cut, is_chinese, one_line
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.similar import opposite, wording
from engramlog_server.projections.memory.working_memory import SENSITIVE, Turn, stamped, tellable
from engramlog_server.projections.models.chat import Chat, ModelUsage, Unfit, prompt

MOST_CHARACTERS = 600
"""Of a summary, its time included."""
MOST_TOKENS = 300
"""Of one message in the question."""
GROUNDED = 0.5
"""Least share of a summary's words that were said."""
_STAMP = len("[2026-11-22 09:30] ")
_DIGITS = regex(r"\d+(?:[.,:]\d+)*")


class Summary(BaseModel):
    """What a conversation came to."""

    model_config = ConfigDict(extra="forbid")

    summary: str = Field(description="One to three sentences in the language of the conversation.")


def summary_by(chat: Chat, turns: Sequence[Turn], zone: str) -> tuple[str, ModelUsage]:
    """The episode of these messages in the model's words, with our time before it. Raises ModelFailed."""
    said = ((turn.name, cut(" ".join(tellable(turn.text)), MOST_TOKENS)) for turn in turns)
    told = [f"{one_line(name)}: {text}" for name, text in said if text]
    language = "zh" if is_chinese(" ".join(told)) else "en"
    answer, usage = chat.ask(prompt("summary", language), "\n".join(told), Summary, _checked(told))
    return stamped(turns, one_line(answer.summary), zone), usage


def _checked(told: Sequence[str]) -> Callable[[Summary], None]:
    def check(answer: Summary) -> None:
        found = fault_of_summary(one_line(answer.summary), told)
        if found is not None:
            raise Unfit(found)

    return check


def fault_of_summary(text: str, said: Sequence[str]) -> str | None:
    """Why a summary of what was said is not taken, in words for the model; None where it is."""
    own, strange = content_words(text), sorted(_numbers([text]) - _numbers(said))
    faults = (
        (not own, "the summary says nothing"),
        (len(text) > MOST_CHARACTERS - _STAMP, f"it has {len(text)} characters; allowed: {MOST_CHARACTERS - _STAMP}"),
        (text.startswith("["), "it begins with a bracket; the program puts the time before it: leave it out"),
        (detect_sensitivity(text) >= SENSITIVE, "it holds an address, a telephone number or a secret: leave it out"),
        (bool(strange), f"numbers in it that nobody said: {', '.join(strange[:5])}"),
        (
            len(own & frozenset[str]().union(*map(content_words, said))) < GROUNDED * len(own),
            "less than half of its words were said: use the words of the conversation",
        ),
    )
    return next((told for wrong, told in faults if wrong), None)


def _numbers(texts: Sequence[str]) -> set[str]:
    """Numbers as they are written, and as `projections.language.similar` writes them (three, 三: 3)."""
    return {
        found
        for text in texts
        for form in (text, " ".join(wording(text)))
        for whole in _DIGITS.findall(form)
        for found in (whole, *re.findall(r"\d+", whole))
    }


MOST_CLAIMS = 5
"""Patterns of one answer."""
MOST_LETTERS, LONGEST = 300, 300
"""Characters of a statement, and of each memory in the question."""
LEAST = 3
"""Memories, and days, that a claim must name."""


class ShownMemory(NamedTuple):
    """A memory as a model is shown it."""

    id: str
    day: str
    text: str


class ClaimedPattern(BaseModel):
    """Something general, and what it rests on."""

    model_config = ConfigDict(extra="forbid")

    statement: str = Field(description="One sentence that says what is general.")
    evidence: Annotated[list[str], Field(description="Keys of at least three memories.")]


class ClaimedPatterns(BaseModel):
    """What several memories have in common; empty where they have nothing."""

    model_config = ConfigDict(extra="forbid")

    patterns: list[ClaimedPattern]


class Claim(NamedTuple):
    """A claim that may be proposed, with the ids of its evidence."""

    statement: str
    evidence: tuple[str, ...]


def claims_by(chat: Chat, shown: Sequence[ShownMemory]) -> tuple[list[Claim], ModelUsage]:
    """What a model says that these memories have in common. Raises ModelFailed."""
    keyed = {f"M{number}": one for number, one in enumerate(shown, 1)}
    told = [{"key": key, "day": one.day, "text": one_line(one.text)[:LONGEST]} for key, one in keyed.items()]
    language = "zh" if is_chinese(" ".join(one.text for one in shown)) else "en"
    question = json.dumps({"memories": told}, ensure_ascii=False)

    def check(answer: ClaimedPatterns) -> None:
        if len(answer.patterns) > MOST_CLAIMS:
            raise Unfit(f"{len(answer.patterns)} patterns; allowed: {MOST_CLAIMS}")
        for number, one in enumerate(answer.patterns, 1):
            if (wrong := fault_of_claim(one, keyed)) is not None:
                raise Unfit(f"pattern {number}: {wrong}")

    answer, usage = chat.ask(prompt("patterns", language), question, ClaimedPatterns, check)
    found = [
        Claim(one_line(one.statement), tuple(keyed[key].id for key in dict.fromkeys(one.evidence)))
        for one in answer.patterns
    ]
    return found, usage


def fault_of_claim(claim: ClaimedPattern, keyed: dict[str, ShownMemory]) -> str | None:
    """Why a claim may not be proposed, in words for the model; None where it may."""
    named = list(dict.fromkeys(claim.evidence))
    unknown = [key for key in named if key not in keyed]
    if unknown:
        return f"no memory is called {unknown[0][:20]!r}"
    return _fault(one_line(claim.statement), [keyed[key] for key in named])


def _fault(text: str, pieces: Sequence[ShownMemory]) -> str | None:
    said, own, days = [one.text for one in pieces], content_words(text), {one.day for one in pieces}
    if len(pieces) < LEAST:
        return f"it names {len(pieces)} memories; at least {LEAST} are needed"
    if len(days) < LEAST:
        return f"its memories are of {len(days)} days; at least {LEAST} are needed"
    if (wrong := fault_of_words(text, said)) is not None:
        return wrong
    return (
        "it names a memory with which it shares no word"
        if any(own.isdisjoint(content_words(one)) for one in said)
        else None
    )


def fault_of_words(text: str, said: Sequence[str]) -> str | None:
    """Why a model's words may not stand for what these memories say, in words for the model; None where they may."""
    own = content_words(text)
    strange = sorted(_numbers_said(text) - {number for one in said for number in _numbers_said(one)})
    faults: tuple[tuple[bool, Callable[[], str]], ...] = (
        (not own, lambda: "it says nothing"),
        (len(text) > MOST_LETTERS, lambda: f"it has {len(text)} characters; allowed: {MOST_LETTERS}"),
        (detect_sensitivity(text) >= SENSITIVE, lambda: "it holds an address, a telephone number or a secret"),
        (bool(strange), lambda: f"numbers in it that nobody said: {', '.join(strange[:5])}"),
        (
            len(own & frozenset[str]().union(*map(content_words, said))) < GROUNDED * len(own),
            lambda: "less than half of its words are in the memories that it names",
        ),
        (any(opposite(text, one) for one in said), lambda: "it says the reverse of a memory that it names"),
    )
    return next((told() for wrong, told in faults if wrong), None)


def _numbers_said(text: str) -> set[str]:
    return {number for form in (text, " ".join(wording(text))) for number in re.findall(r"\d+", form)}
