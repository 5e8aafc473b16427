"""Other words for a question, by a language model: what it is asked, and what of its answer is taken. Pure but for the asking."""

from __future__ import annotations

import json
from typing import NewType

from pydantic import BaseModel, ConfigDict, Field

from projections.language.asking.expansions import cleaned
from projections.language.asking.parts import LONGEST
from projections.language.prompt_text import is_chinese, one_line
from projections.language.sensitivity.text_level import SENSITIVE, detect_sensitivity
from projections.models.chat import Chat
from projections.models.prompt_files import prompt

Sendable = NewType("Sendable", str)
"""What a model may be shown of a question: made by `sendable` alone, which looks first."""


class OtherWords(BaseModel):
    """Other words for a question; empty where there are none."""

    model_config = ConfigDict(extra="ignore")

    terms: list[str] = Field(description="At most three short rewordings or groups of key words, the best first.")


def sendable(query: str) -> Sendable | None:
    """What of a question a model is shown: of a longer one its last 1,000 characters, on one line. None where it may not go.

    It may not where the question, as it is, on one line, or with its lines joined, or what would be sent, holds a secret, an
    address or the like: lines hide from the rules what stands side by side once they are joined.
    """
    sent = one_line(query.strip()[-LONGEST:])
    forms = dict.fromkeys((sent, query, one_line(query), "".join(query.splitlines())))
    return None if any(detect_sensitivity(form) >= SENSITIVE for form in forms) else Sendable(sent)


def other_words(chat: Chat, sent: Sendable) -> tuple[str, ...]:
    """Terms by which a question may be widened, cleaned. Raises ModelFailed where the model gives none that can be read."""
    question = json.dumps({"question": sent}, ensure_ascii=False)
    answer, _ = chat.ask(prompt("expand", "zh" if is_chinese(sent) else "en"), question, OtherWords)
    return cleaned(answer.terms, sent)
