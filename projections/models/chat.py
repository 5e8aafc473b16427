"""Asking a language model for a typed answer: what callers rely on, whoever answers. Pure; `model_chat` does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

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
