"""Other words for a question, by a language model: what it is asked, and what of its answer is taken. Pure but for the asking."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict, Field

from projections.language.asking.expansions import cleaned
from projections.language.asking.parts import LONGEST
from projections.language.prompt_text import is_chinese, one_line
from projections.models.chat import Chat
from projections.models.prompt_files import prompt


class OtherWords(BaseModel):
    """Other words for a question; empty where there are none."""

    model_config = ConfigDict(extra="ignore")

    terms: list[str] = Field(description="At most three short rewordings or groups of key words, the best first.")


def sent_of(query: str) -> str:
    """What of a question a model is shown: of a longer one its last 1,000 characters, on one line."""
    return one_line(query.strip()[-LONGEST:])


def other_words(chat: Chat, sent: str) -> tuple[str, ...]:
    """Terms by which a question may be widened, cleaned. Raises ModelFailed where the model gives none that can be read."""
    question = json.dumps({"question": sent}, ensure_ascii=False)
    answer, _ = chat.ask(prompt("expand", "zh" if is_chinese(sent) else "en"), question, OtherWords)
    return cleaned(answer.terms, sent)
