"""The language model that the settings name, made when it is first needed, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from engramlog_server.events.errors import ModelFailed
from engramlog_server.ops.settings import Settings

if TYPE_CHECKING:
    from engramlog_server.projections.models.chat import Chat, NoteAsked
    from engramlog_server.projections.models.model_chat import ModelChat
    from engramlog_server.projections.shapes import ChatSet


class LazyModel:
    """A model that is made at first need, and kept until it is closed. Safe for threads."""

    def __init__(self, make: Callable[[], ModelChat]) -> None:
        self._make = make
        self._made: ModelChat | None = None
        self._closed = False
        self._lock = Lock()

    def __call__(self) -> ModelChat:
        """The model. Raises BadSetting where the settings cannot be used, ModelFailed once it is closed; asks nothing yet."""
        with self._lock:
            if self._closed:
                raise ModelFailed("no model is asked any more: the process ends", down=True)
            if self._made is None:
                self._made = self._make()
            return self._made

    def close(self) -> None:
        """Close its connections for good: nothing is asked afterwards."""
        with self._lock:
            self._closed, made = True, self._made
        if made is not None:
            made.end()


class Model(NamedTuple):
    """How a model is made, and whether it reviews."""

    chat: LazyModel | None = None
    reviewer: str = "rule"
    """As people are told: rule, or model and which."""
    summariser: LazyModel | None = None
    """The same model, where it is to write episodes."""
    finder: LazyModel | None = None
    """The same model, where it is to look for patterns too."""
    chat_set: ChatSet | None = None
    """What the settings say of it, without keys."""
    embedder_host: str | None = None
    """Host and port of the endpoint for embeddings, where the settings name one."""

    def close(self) -> None:
        """Close its connections."""
        if self.chat is not None:
            self.chat.close()


NO_MODEL = Model()


def counted(chat: LazyModel, use: str, note: NoteAsked) -> Callable[[], Chat]:
    """The same model, every question of which is counted for a use."""

    def make() -> Chat:
        from engramlog_server.projections.models.chat import CountedChat  # noqa: PLC0415 - as the model itself: where one is asked

        return CountedChat(chat(), use, note)

    return make


def chat_of(settings: Settings) -> LazyModel | None:
    """What makes the model of these settings; None where there is none."""
    name = settings.model
    if name is None:
        return None

    def make() -> ModelChat:
        from engramlog_server.projections.models.model_chat import ModelChat  # noqa: PLC0415 - the client's library loads slowly

        return ModelChat(
            name,
            url=settings.model_url,
            key=settings.model_key.get_secret_value() if settings.model_key is not None else None,
            output=settings.model_output,
        )

    return LazyModel(make)


def model_of(settings: Settings) -> Model:
    """The model of these settings."""
    reviewer = f"model {settings.model}" if settings.reviewer == "model" else "rule"
    chat, sets = chat_of(settings), (_chat_set(settings), _embedder_host(settings))
    summariser, finder = (chat if way == "model" else None for way in (settings.summaries, settings.reviewer))
    return Model(chat, reviewer, summariser, finder, *sets)


def _chat_set(settings: Settings) -> ChatSet | None:
    if settings.model is None:
        return None
    return {
        "model": settings.model,
        "host": _host(settings.model_url) or "api.openai.com",
        "extraction": settings.extraction,
        "reviewer": settings.reviewer,
        "summaries": settings.summaries,
    }


def _embedder_host(settings: Settings) -> str | None:
    asked = (settings.embedder or "").startswith("openai:")
    return (_host(settings.embedder_url) or "api.openai.com") if asked else None


def _host(url: str | None) -> str | None:
    """Host and port of an address, and nothing else of it."""
    if url is None:
        return None
    parts = urlsplit(url)
    return f"{parts.hostname or ''}:{parts.port}" if parts.port else parts.hostname
