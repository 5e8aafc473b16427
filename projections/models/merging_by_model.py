"""Merges by a language model: what it is shown, and what of its answers may be followed. Pure but for the asking.

A likeness of vectors brings statements together; the model says which of them say the same, and what they say as one. What it does
not name stays apart. A summary that adds a number, says little of their words or the reverse of one of them is refused, and asked
for again with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from engramlog_server.projections.language.prompt_text import is_chinese, one_line
from engramlog_server.projections.models.chat import Chat, ModelUsage, Unfit, prompt
from engramlog_server.projections.models.patterns_by_model import MOST_SHOWN, Claim, ShownMemory, fault_of_words


class SaidAlike(BaseModel):
    """Memories that say the same, and what they say."""

    model_config = ConfigDict(extra="forbid")

    same: Annotated[list[str], Field(description="Keys of two memories or more that say exactly the same.")]
    summary: str = Field(description="One sentence that says what each of them says.")


class SaidAlikes(BaseModel):
    """Groups of memories that say the same; empty where all differ."""

    model_config = ConfigDict(extra="forbid")

    groups: list[SaidAlike]


def said_alike(chat: Chat, shown: Sequence[ShownMemory]) -> tuple[list[Claim], ModelUsage]:
    """Which of these memories say the same, and in which words, as a model says. Raises ModelFailed."""
    keyed = {f"M{number}": one for number, one in enumerate(shown, 1)}
    told = [{"key": key, "text": one_line(one.text)[:MOST_SHOWN]} for key, one in keyed.items()]
    language = "zh" if is_chinese(" ".join(one.text for one in shown)) else "en"

    def check(answer: SaidAlikes) -> None:
        taken = set[str]()
        for number, one in enumerate(answer.groups, 1):
            if (wrong := _fault(one, keyed, taken)) is not None:
                raise Unfit(f"group {number}: {wrong}")
            taken.update(one.same)

    question = json.dumps({"memories": told}, ensure_ascii=False)
    answer, usage = chat.ask(prompt("merge", language), question, SaidAlikes, check)
    return [Claim(one_line(one.summary), tuple(keyed[key].id for key in one.same)) for one in answer.groups], usage


def _fault(group: SaidAlike, keyed: dict[str, ShownMemory], taken: set[str]) -> str | None:
    """Why a group may not be followed, in words for the model; None where it may."""
    for key in group.same:
        if key not in keyed:
            return f"no memory is called {key[:20]!r}"
        if key in taken or group.same.count(key) > 1:
            return f"{key} is named twice"
    if len(group.same) < 2:
        return f"it names {len(group.same)} memories; at least 2 are needed"
    return fault_of_words(one_line(group.summary), [keyed[key].text for key in group.same])
