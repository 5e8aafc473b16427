"""Patterns by a language model: what it is shown, and what of its answers may be proposed. Pure but for the asking.

A model proposes, and a person decides: nothing that it says here is ever told before somebody accepted it. Each claim names the
memories that it rests on by the keys under which they were shown; what names others, adds numbers, says too little of their words
or the reverse of one of them is refused, and asked for again with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from engramlog_server.projections.language.keywords import content_words
from engramlog_server.projections.language.polarity import opposite, wording
from engramlog_server.projections.language.prompt_text import is_chinese, one_line
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.models.chat import Chat, ModelUsage, Unfit, prompt

MOST_CLAIMS = 5
"""Patterns of one answer."""
MOST_LETTERS, LONGEST = 300, 300
"""Characters of a statement, and of each memory in the question."""
LEAST = 3
"""Memories, and days, that a claim must name."""
GROUNDED = 0.5
"""Least share of a statement's words that the memories named have."""
SENSITIVE = 2


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
            if (wrong := fault(one, keyed)) is not None:
                raise Unfit(f"pattern {number}: {wrong}")

    answer, usage = chat.ask(prompt("patterns", language), question, ClaimedPatterns, check)
    found = [
        Claim(one_line(one.statement), tuple(keyed[key].id for key in dict.fromkeys(one.evidence)))
        for one in answer.patterns
    ]
    return found, usage


def fault(claim: ClaimedPattern, keyed: dict[str, ShownMemory]) -> str | None:
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
    strange = sorted(_numbers(text) - {number for one in said for number in _numbers(one)})
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


def _numbers(text: str) -> set[str]:
    return {number for form in (text, " ".join(wording(text))) for number in re.findall(r"\d+", form)}
