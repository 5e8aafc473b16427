"""The embedder that the settings name, made when it is first needed, and the vectors beside it."""

from __future__ import annotations

from collections.abc import Callable

from ops.settings import Settings
from ops.store import OpenStore
from projections.embedding.meaning import Embedder
from projections.redis.meanings import Meanings


def embedder_of(settings: Settings) -> Callable[[], Embedder] | None:
    """What makes the embedder of these settings; None where there is none."""
    if settings.embedder == "none":
        return None

    def make() -> Embedder:
        from projections.embedding.embedder import embedder_named  # noqa: PLC0415 - models and clients load slowly

        key = settings.embedder_key.get_secret_value() if settings.embedder_key is not None else None
        made = embedder_named(settings.embedder, url=settings.embedder_url, key=key)
        assert made is not None, "none was told apart before"
        return made

    return make


def meanings_of(settings: Settings, store: OpenStore) -> Meanings | None:
    """The embedder of these settings beside the store's vectors; None where there is no embedder."""
    made = embedder_of(settings)
    return None if made is None else Meanings(made, store.vectors)
