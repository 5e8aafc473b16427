"""The models of a process by its settings: the language model and its price, and embedders beside what the store was made with.

Each is made when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from engramlog_server.events.errors import EngramlogError, ModelFailed
from engramlog_server.events.text import AUTO, BUILT_IN, MINILM, NONE, USE
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.embedding.choosing import EmbedderChosen, EmbedderPlan, Embedders, is_loaded, load_now
from engramlog_server.projections.embedding.meaning import Embedder
from engramlog_server.projections.redis.vectors import Meanings
from engramlog_server.projections.shapes import EmbedderStanding

if TYPE_CHECKING:
    from engramlog_server.ops.clock import Tell
    from engramlog_server.ops.store import OpenStore
    from engramlog_server.projections.models.chat import Chat, ModelChat, NoteAsked
    from engramlog_server.projections.shapes import ChatSet


REWORDING: dict[str, Any] = {"timeout": 10.0, "tries": 1, "asked_again": 0, "max_tokens": 512}
"""Bounds of a request for other words. Its answer is kept also if the question waits no more."""


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
    rewording: LazyModel | None = None
    """The same model, where it is to reword questions: one short request each, for which somebody waits."""
    chat_set: ChatSet | None = None
    """What the settings say of it, without keys."""
    embedder_host: str | None = None
    """Host and port of the endpoint for embeddings, where the settings name one."""

    def close(self) -> None:
        """Close its connections."""
        for chat in (self.chat, self.rewording):
            if chat is not None:
                chat.close()


NO_MODEL = Model()


def counted(chat: LazyModel, use: str, note: NoteAsked) -> Callable[[], Chat]:
    """The same model, every question of which is counted for a use."""

    def make() -> Chat:
        from engramlog_server.projections.models.chat import CountedChat  # noqa: PLC0415 - as the model itself: where one is asked

        return CountedChat(chat(), use, note)

    return make


def chat_of(settings: Settings, **bounds: Any) -> LazyModel | None:
    """What makes the model of these settings, within these bounds of a `ModelChat`; None where there is none."""
    name = settings.model
    if name is None:
        return None

    def make() -> ModelChat:
        from engramlog_server.projections.models.chat import ModelChat  # noqa: PLC0415 - the client's library loads slowly

        return ModelChat(
            name,
            url=settings.model_url,
            key=settings.model_key.get_secret_value() if settings.model_key is not None else None,
            output=settings.model_output,
            **bounds,
        )

    return LazyModel(make)


def model_of(settings: Settings) -> Model:
    """The model of these settings."""
    reviewer = f"model {settings.model}" if settings.reviewer == "model" else "rule"
    chat, sets = chat_of(settings), (_chat_set(settings), _embedder_host(settings))
    summariser, finder = (chat if way == "model" else None for way in (settings.summaries, settings.reviewer))
    rewording = chat_of(settings, **REWORDING) if settings.expansion == "model" else None
    return Model(chat, reviewer, summariser, finder, rewording, *sets)


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


EMBED_MINUTES, SELDOM_MINUTES = 1, 5
"""Minutes between two looks of the embedding job; and where only what owners chose for themselves is embedded."""


def maker_of(settings: Settings) -> Callable[[str], Embedder]:
    """What makes an embedder by its name, at the address and with the key of these settings."""

    def make(name: str) -> Embedder:
        from engramlog_server.projections.embedding.embedder import embedder_named  # noqa: PLC0415 - models and clients load slowly

        key = settings.embedder_key.get_secret_value() if settings.embedder_key is not None else None
        made = embedder_named(name, url=settings.embedder_url, key=key)
        assert made is not None, "`none` is handled before"
        return made

    return make


def embedders_of(settings: Settings, default: str) -> Embedders | None:
    """The embedders of these settings on a store with this default; None where they allow none."""
    return (
        None if settings.embedder == NONE else Embedders(maker_of(settings), EmbedderPlan(settings.embedder, default))
    )


def embed_minutes(embedders: Embedders | None) -> int | None:
    """How often the embedding job looks; None: never."""
    if embedders is None:
        return None
    return EMBED_MINUTES if embedders.plan.embeds else SELDOM_MINUTES


def meanings_of(settings: Settings, store: OpenStore) -> Meanings | None:
    """Them beside the store's vectors; None where these settings allow none."""
    made = embedders_of(settings, store.identity.embedder)
    return None if made is None else Meanings(made, store.vectors)


def load_in_background(meanings: Meanings, tell: Tell) -> Thread:
    """Load the built-in models that count for owners who chose nothing, and of which the store has vectors; each is told.

    Where a question comes first it waits for its model, which is loaded once. The thread ends with the process.
    """
    thread = Thread(target=_load, args=(meanings, tell), name="embedder", daemon=True)
    thread.start()
    return thread


def _load(meanings: Meanings, tell: Tell) -> None:
    name, _ = meanings.embedders.plan.base
    wanted = (MINILM, USE) if name == AUTO else (name,)
    try:
        waiting = {one: there for one, there in meanings.embedders.to_load().items() if one in wanted}
        had = meanings.vectors.models() if waiting else []
    except Exception as error:  # noqa: BLE001 - the thread's end: nobody else would hear of it
        tell("embedder not loaded", reason=_why(error), alarm=True)
        return
    for embedder in waiting.values():
        if embedder.model not in had:
            continue
        try:
            load_now(embedder)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next may load
            tell("embedder not loaded", model=embedder.model, reason=_why(error), alarm=True)
        else:
            tell("embedder loaded", model=embedder.model)


def _why(error: Exception) -> str:
    """What a failure is told as; of one that is not Engramlog's own the kind alone: its message may quote anything."""
    return error.message if isinstance(error, EngramlogError) else type(error).__name__


def chosen_at_start(embedders: Embedders) -> dict[str, Any]:
    """What compares meanings for owners who chose nothing, where that stands, the model where it is one, and what is missing of it.

    Raises BadSetting where the settings name one that is not there; of what a store names, or of `auto`, a process may lack it.
    """
    name, by = embedders.plan.base
    missing = missing_of(embedders)
    if missing:
        return {"embedder": name, "by": by, "missing": ", ".join(missing), "alarm": True}
    if name == AUTO:
        return {"embedder": name, "by": by}
    return {"embedder": name, "by": by, "model": embedders.get(EmbedderChosen(name, name, by)).model}


def standing_of(embedders: Embedders) -> EmbedderStanding | None:
    """What compares meanings for owners who chose nothing, and what of it is there and loaded; None where nothing does."""
    if not embedders.plan.embeds:
        return None
    name, by = embedders.plan.base
    loaded = sorted(one.model for one in embedders.made.values() if is_loaded(one))
    return {"name": name, "chosen_by": by, "missing": missing_of(embedders), "loaded": loaded}


def missing_of(embedders: Embedders) -> list[str]:
    """What this process lacks, or may not use, of what counts for owners who chose nothing."""
    name, _ = embedders.plan.base
    wanted = (USE,) if name == AUTO else () if name in (NONE, embedders.plan.setting) else (name,)
    lacking = {*embedders.lacking(), *(one for one in wanted if one not in BUILT_IN)} if wanted else set()
    return [one for one in wanted if one in lacking]
