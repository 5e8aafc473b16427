"""Asking a language model for a typed answer: what callers rely on, whoever answers, the prompts, and counting."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, Protocol, TypeVar

from engramlog_server.events.errors import ModelFailed

T = TypeVar("T")


class ModelUsage(NamedTuple):
    """What asking took, refused answers and repeated requests included."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def plus(self, other: ModelUsage) -> ModelUsage:
        """Both together."""
        return ModelUsage(*(a + b for a, b in zip(self, other, strict=True)))


class Unfit(ValueError):
    """What is wrong with an answer, in words for the model, which is asked again with them."""


def fits(_answer: object) -> None:
    """Every answer of the right shape will do."""


class Chat(Protocol):
    """A model that answers one question at a time. Safe for threads."""

    @property
    def model(self) -> str:
        """Its name, as events tell who decided."""

    def ask(self, system: str, prompt: str, answer: type[T], check: Callable[[T], None] = fits) -> tuple[T, ModelUsage]:
        """An answer of the type (a pydantic model), after `check` raised no Unfit on it. Raises ModelFailed."""


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


Language = Literal["en", "zh"]


@cache
def prompt(name: str, language: Language) -> str:
    """The text of `projections/models/prompts/NAME.LANGUAGE.md`. Raises FileNotFoundError where there is none."""
    return (
        files("engramlog_server.projections.models")
        .joinpath("prompts", f"{name}.{language}.md")
        .read_text("utf-8")
        .strip()
    )
