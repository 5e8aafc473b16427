"""A language model that says what a test tells it to, asked as the real one is: an unfit answer is asked for again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.models.chat import ModelUsage, Unfit, fits

T = TypeVar("T")
Says = Callable[[dict[str, Any]], dict[str, Any]]
TRIES = 3
KEEP = {"action": "KEEP", "reason": "it may matter"}


def keeps(_asked: dict[str, Any]) -> dict[str, Any]:
    """An honest and careful model."""
    return KEEP


class ScriptedChat:
    """Gives what `says` makes of the JSON in the prompt. Keeps every prompt, and every refusal that it was told."""

    model = "scripted-1"

    def __init__(self, says: Says = keeps) -> None:
        self.says = says
        self.prompts: list[str] = []
        self.systems: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self.refusals: list[str] = []

    def ask(self, system: str, prompt: str, answer: type[T], check: Callable[[T], None] = fits) -> tuple[T, ModelUsage]:
        """See `projections.models.chat.Chat`."""
        asked = json.loads(prompt[prompt.index("{") :])
        self.systems.append(system)
        self.prompts.append(prompt)
        self.asked.append(asked)
        for number in range(1, TRIES + 1):
            given = answer(**self.says(asked))
            try:
                check(given)
            except Unfit as unfit:
                self.refusals.append(str(unfit))
                continue
            return given, ModelUsage(number, 100 * number, 10 * number)
        raise ModelFailed("no answer that can be used", down=False, usage=(TRIES, 100 * TRIES, 10 * TRIES))

    def close(self) -> None:
        """Nothing is open."""

    end = close
