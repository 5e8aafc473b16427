"""A language model of which every question is counted, whatever becomes of it. Pure: who counts is handed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.models.chat import Chat, ModelUsage, fits

T = TypeVar("T")
FOR_EXTRACTION, FOR_REVIEW, FOR_SUMMARIES, FOR_PATTERNS = "extract", "review", "summarise", "patterns"
"""What models are asked for."""


class ModelAsked(NamedTuple):
    """One question to a model, and what it took."""

    model: str
    use: str
    usage: ModelUsage
    failed: bool
    """Without an answer that could be used."""


NoteAsked = Callable[[ModelAsked], None]


class CountedChat:
    """A Chat whose questions are told to `note`. Safe for threads if both are."""

    def __init__(self, chat: Chat, use: str, note: NoteAsked) -> None:
        self._chat = chat
        self._use = use
        self._note = note

    @property
    def model(self) -> str:
        """The other's."""
        return self._chat.model

    def ask(self, system: str, prompt: str, answer: type[T], check: Callable[[T], None] = fits) -> tuple[T, ModelUsage]:
        """The other's answer. Raises ModelFailed."""
        try:
            found, usage = self._chat.ask(system, prompt, answer, check)
        except ModelFailed as error:
            self._note(ModelAsked(self.model, self._use, ModelUsage(*error.usage), failed=True))
            raise
        self._note(ModelAsked(self.model, self._use, usage, failed=False))
        return found, usage
