"""The language model that the settings name, made when it is first needed."""

from __future__ import annotations

from collections.abc import Callable

from ops.settings import Settings
from projections.chat import Chat


def chat_of(settings: Settings) -> Callable[[], Chat] | None:
    """What makes the model of these settings; None where there is none. Making it raises BadSetting, and asks nothing yet."""
    name = settings.model
    if name is None:
        return None

    def make() -> Chat:
        from projections.model_chat import ModelChat  # noqa: PLC0415 - the client's library loads slowly

        return ModelChat(
            name,
            url=settings.model_url,
            key=settings.model_key.get_secret_value() if settings.model_key is not None else None,
            output=settings.model_output,
            timeout=settings.model_timeout,
            requests_per_minute=settings.model_per_minute,
        )

    return make
