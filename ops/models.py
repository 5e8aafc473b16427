"""The language model that the settings name, made when it is first needed, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from api.extracting import Prices
from ops.settings import Settings
from projections.chat import Chat


class Model(NamedTuple):
    """How a model is made, and what its tokens cost where both prices are set."""

    chat: Callable[[], Chat] | None = None
    prices: Prices | None = None


NO_MODEL = Model()


def chat_of(settings: Settings) -> Callable[[], Chat] | None:
    """What makes the model of these settings, once; None where there is none. Making it raises BadSetting, and asks nothing yet."""
    name = settings.model
    if name is None:
        return None
    made: list[Chat] = []

    def make() -> Chat:
        from projections.model_chat import ModelChat  # noqa: PLC0415 - the client's library loads slowly

        if not made:
            made.append(
                ModelChat(
                    name,
                    url=settings.model_url,
                    key=settings.model_key.get_secret_value() if settings.model_key is not None else None,
                    output=settings.model_output,
                    timeout=settings.model_timeout,
                    requests_per_minute=settings.model_per_minute,
                )
            )
        return made[0]

    return make


def model_of(settings: Settings) -> Model:
    """The model of these settings, with its prices."""
    sent, received = settings.model_price_in, settings.model_price_out
    return Model(chat_of(settings), None if sent is None or received is None else Prices(sent, received))
