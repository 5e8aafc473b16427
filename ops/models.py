"""The language model that the settings name, made when it is first needed, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from ops.settings import Settings

if TYPE_CHECKING:
    from api.services.extracting import Prices
    from projections.models.model_chat import ModelChat


class LazyModel:
    """A model that is made at first need, and kept until it is closed. Safe for threads."""

    def __init__(self, make: Callable[[], ModelChat]) -> None:
        self._make = make
        self._made: ModelChat | None = None
        self._lock = Lock()

    def __call__(self) -> ModelChat:
        """The model. Raises BadSetting where the settings cannot be used; asks nothing yet."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def close(self) -> None:
        """Close its connections; the next use opens new ones."""
        with self._lock:
            made = self._made
        if made is not None:
            made.close()


class Model(NamedTuple):
    """How a model is made, what its tokens cost where both prices are set, and whether it reviews."""

    chat: LazyModel | None = None
    prices: Prices | None = None
    reviewer: str = "rule"
    """As people are told: rule, or model and which."""
    summariser: LazyModel | None = None
    """The same model, where it is to write episodes."""
    finder: LazyModel | None = None
    """The same model, where it is to look for patterns too."""

    def close(self) -> None:
        """Close its connections."""
        if self.chat is not None:
            self.chat.close()


NO_MODEL = Model()


def chat_of(settings: Settings) -> LazyModel | None:
    """What makes the model of these settings; None where there is none."""
    name = settings.model
    if name is None:
        return None

    def make() -> ModelChat:
        from projections.models.model_chat import ModelChat  # noqa: PLC0415 - the client's library loads slowly

        return ModelChat(
            name,
            url=settings.model_url,
            key=settings.model_key.get_secret_value() if settings.model_key is not None else None,
            output=settings.model_output,
            timeout=settings.model_timeout,
            requests_per_minute=settings.model_per_minute,
        )

    return LazyModel(make)


def model_of(settings: Settings) -> Model:
    """The model of these settings, with its prices."""
    reviewer = f"model {settings.model}" if settings.reviewer == "model" else "rule"
    sent, received, chat = settings.model_price_in, settings.model_price_out, chat_of(settings)
    summariser, finder = (chat if way == "model" else None for way in (settings.summaries, settings.patterns))
    return Model(chat, _prices(sent, received), reviewer, summariser, finder)


def _prices(sent: float | None, received: float | None) -> Prices | None:
    if sent is None or received is None:
        return None
    from api.services.extracting import Prices  # noqa: PLC0415 - a command that asks no model needs none of its service

    return Prices(sent, received)
