"""Two memories for agents, mem0 and LangGraph's store, with an embedder that needs no network; and the `eventsourcing` library."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from benchmarks.peers.peer import DIMENSIONS, RESULTS, PeerQuestion, Row, bytes_in, embed

OWNER = "ann"
_EMBEDDER = "with counted words in place of a model's vectors"


class Mem0:
    """mem0 on qdrant in a folder."""

    name = "mem0"
    does = (
        f"adds each text as it is (infer=False: no language model is asked), {_EMBEDDER}, qdrant in its process;"
        " finds by vector, every one compared"
    )
    kept = "files"

    def __init__(self, folder: Path) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "home"))
        from mem0 import Memory  # noqa: PLC0415 - an extra

        logging.getLogger("mem0").setLevel(logging.CRITICAL)
        vectors = {"path": str(folder / "vectors"), "collection_name": "told", "embedding_model_dims": DIMENSIONS}
        unused = {"provider": "openai", "config": {"api_key": "none"}}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": vectors | {"on_disk": True}},
                "embedder": unused,
                "llm": unused,
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Embedder()
        self._folder = folder

    def add(self, rows: Sequence[Row]) -> None:
        """One by one: mem0 has no batch."""
        for row in rows:
            told = [{"role": "user", "content": row.text}]
            self._memory.add(told, user_id=OWNER, infer=False, metadata={"key": row.key})

    def find(self, question: PeerQuestion) -> Sequence[str]:
        """The nearest."""
        found = self._memory.search(question.words, filters={"user_id": OWNER}, top_k=RESULTS, threshold=0.0)
        return [str(one["metadata"]["key"]) for one in found["results"]]

    def size(self) -> int:
        """Of the folder."""
        return bytes_in(self._folder)

    def close(self) -> None:
        """Close qdrant."""
        self._memory.vector_store.client.close()


class _Embedder:
    """What mem0 asks of an embedder."""

    class config:  # noqa: N801 - mem0's name
        """Its settings, as far as they are read."""

        embedding_dims = DIMENSIONS

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One vector."""
        del memory_action
        return embed([text])[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        """A vector each."""
        del memory_action
        return embed(texts)


class LangGraphStore:
    """The store that LangGraph has in memory."""

    name = "LangGraph's store"
    does = f"adds items in one batch each time, {_EMBEDDER}, in memory only; finds by vector"
    kept = "nothing: it is in memory only"

    def __init__(self, folder: Path) -> None:
        from langgraph.store.base import PutOp  # noqa: PLC0415 - an extra
        from langgraph.store.memory import InMemoryStore  # noqa: PLC0415

        del folder
        self._put: Any = PutOp
        self._store = InMemoryStore(index={"dims": DIMENSIONS, "embed": embed, "fields": ["text"]})

    def add(self, rows: Sequence[Row]) -> None:
        """One batch."""
        self._store.batch([self._put((OWNER,), row.key, {"text": row.text}) for row in rows])

    def find(self, question: PeerQuestion) -> Sequence[str]:
        """The nearest."""
        return [one.key for one in self._store.search((OWNER,), query=question.words, limit=RESULTS)]

    def size(self) -> int:
        """0: it is in memory only."""
        return 0

    def close(self) -> None:
        """Nothing is open."""


class Eventsourcing:
    """The `eventsourcing` library on SQLite: an aggregate an owner, an event a text."""

    name = "eventsourcing"
    does = "adds an event a text to one aggregate, saved each time, SQLite; cannot search: the aggregate is read back whole"
    kept = "files"

    def __init__(self, folder: Path) -> None:
        from eventsourcing.application import Application  # noqa: PLC0415 - an extra

        from benchmarks.peers.aggregate import Owner  # noqa: PLC0415

        self._folder = folder
        settings = {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(folder / "events.db")}
        self._application: Any = Application(env=settings)
        self._owner: Any = Owner(name=OWNER)
        self._application.save(self._owner)

    def add(self, rows: Sequence[Row]) -> None:
        """Saved once."""
        for row in rows:
            self._owner.told(key=row.key, text=row.text)
        self._application.save(self._owner)

    def find(self, question: PeerQuestion) -> Sequence[str]:
        """Every text, of the aggregate read back."""
        del question
        return list(self._application.repository.get(uuid5(NAMESPACE_URL, OWNER)).texts)

    def size(self) -> int:
        """Of the folder."""
        return bytes_in(self._folder)

    def close(self) -> None:
        """Close the database."""
        self._application.close()
