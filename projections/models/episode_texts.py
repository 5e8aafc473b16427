"""Summaries by a language model: what it is asked, and what of its answers is taken. Pure but for the asking.

A model may leave out and shorten; it may not add. So its answer is checked against what was said: every number in it occurs
there, at least half of its words do, and it tells nothing sensitive. The time at its beginning is ours. What is refused is
asked for again with the reason, and then told without a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from engramlog_server.projections.language.keywords import content_words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.polarity import wording
from engramlog_server.projections.language.prompt_text import cut, is_chinese, one_line
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
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
        found = fault(one_line(answer.summary), told)
        if found is not None:
            raise Unfit(found)

    return check


def fault(text: str, said: Sequence[str]) -> str | None:
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
    """Numbers as they are written, and as `projections.language.polarity` writes them (three, 三: 3)."""
    return {
        found
        for text in texts
        for form in (text, " ".join(wording(text)))
        for whole in _DIGITS.findall(form)
        for found in (whole, *re.findall(r"\d+", whole))
    }
