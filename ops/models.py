"""The language model that the settings name, made when it is first needed, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from events.errors import BadSetting, ModelFailed
from ops.settings import Settings

if TYPE_CHECKING:
    from ops.catch_up import Tell
    from projections.models.chat import Chat
    from projections.models.counted import NoteAsked
    from projections.models.expander import Expander, ExpansionBounds
    from projections.models.model_chat import ModelChat
    from projections.shapes import ChatSet


MOST_TOKENS = 1_024
"""Of an answer for which somebody waits; models that reason need some of it before they answer."""

EXPANSION_SECONDS = 2.0
"""How long a question waits for other words; then it is answered without."""
EXPANSIONS_PER_MINUTE = 20
"""Questions a minute in one process; one owner's have half of them while others ask too."""


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

    def load(self, tell: Tell) -> Thread:
        """Make it and load its client beside, so that whoever asks first does not wait. Settings that do not do are told."""

        def load() -> None:
            try:
                self().load()
            except BadSetting as error:
                tell("questions cannot be expanded", reason=error.message, alarm=True)
            except ModelFailed:
                return  # closed before it was loaded

        thread = Thread(target=load, name="engramlog-model-load", daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        """Close its connections for good: nothing is asked afterwards."""
        with self._lock:
            self._closed, made = True, self._made
        if made is not None:
            made.end()


class OtherWordsModel(NamedTuple):
    """The model as questions are put in other words by it: one request each, for which somebody waits."""

    name: str
    chat: LazyModel
    bounds: ExpansionBounds
    stays: bool = True
    """Whether its client is loaded before it is asked, as in a process that answers more than one command."""

    def expander(self, note: NoteAsked, tell: Tell) -> Expander:
        """What asks it within the bounds."""
        from projections.models.counted import FOR_EXPANSION  # noqa: PLC0415 - as the model itself: where one is asked
        from projections.models.expander import Expander  # noqa: PLC0415

        return Expander(self.name, counted(self.chat, FOR_EXPANSION, note), self.bounds, tell, stays=self.stays)


class Model(NamedTuple):
    """How a model is made, and whether it reviews."""

    chat: LazyModel | None = None
    reviewer: str = "rule"
    """As people are told: rule, or model and which."""
    summariser: LazyModel | None = None
    """The same model, where it is to write episodes."""
    finder: LazyModel | None = None
    """The same model, where it is to look for patterns too."""
    other_words: OtherWordsModel | None = None
    """The same model, where it is to put questions in other words."""
    chat_set: ChatSet | None = None
    """What the settings say of it, without keys."""
    embedder_host: str | None = None
    """Host and port of the endpoint for embeddings, where the settings name one."""

    def load(self, tell: Tell) -> Thread | None:
        """Load, beside, what somebody will wait for; None where nobody will."""
        return None if self.other_words is None else self.other_words.chat.load(tell)

    def close(self) -> None:
        """Close its connections."""
        for chat in (self.chat, None if self.other_words is None else self.other_words.chat):
            if chat is not None:
                chat.close()


NO_MODEL = Model()


def counted(chat: LazyModel, use: str, note: NoteAsked) -> Callable[[], Chat]:
    """The same model, every question of which is counted for a use."""

    def make() -> Chat:
        from projections.models.counted import CountedChat  # noqa: PLC0415 - as the model itself: where one is asked

        return CountedChat(chat(), use, note)

    return make


def chat_of(settings: Settings) -> LazyModel | None:
    """What makes the model of these settings; None where there is none."""
    return _lazy(settings)


def _lazy(settings: Settings, **bounds: Any) -> LazyModel | None:
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
            **bounds,
        )

    return LazyModel(make)


def _other_words(settings: Settings, *, stays: bool) -> OtherWordsModel | None:
    """What puts questions in other words; None where these settings do not say so."""
    if settings.expansion != "model" or settings.model is None:
        return None
    from projections.models.expander import PATIENCE, ExpansionBounds  # noqa: PLC0415 - where one is asked

    chat = _lazy(
        settings,
        timeout=PATIENCE * EXPANSION_SECONDS,
        tries=1,
        asked_again=0,
        max_tokens=MOST_TOKENS,
    )
    assert chat is not None, "a model is named"
    return OtherWordsModel(settings.model, chat, ExpansionBounds(EXPANSION_SECONDS, EXPANSIONS_PER_MINUTE), stays)


def model_of(settings: Settings, *, stays: bool = True) -> Model:
    """The model of these settings. `stays`: the process answers more than one command."""
    reviewer = f"model {settings.model}" if settings.reviewer == "model" else "rule"
    chat, sets = chat_of(settings), (_chat_set(settings), _embedder_host(settings))
    summariser, finder = (chat if way == "model" else None for way in (settings.summaries, settings.reviewer))
    return Model(chat, reviewer, summariser, finder, _other_words(settings, stays=stays), *sets)


def _chat_set(settings: Settings) -> ChatSet | None:
    if settings.model is None:
        return None
    return {
        "model": settings.model,
        "host": _host(settings.model_url) or "api.openai.com",
        "extraction": settings.extraction,
        "reviewer": settings.reviewer,
        "summaries": settings.summaries,
        "expansion": settings.expansion,
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
