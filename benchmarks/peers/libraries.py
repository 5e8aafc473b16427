"""The other libraries: SQLite's FTS5, tantivy and bm25s; mem0 and LangGraph's store; and `eventsourcing`.

The memories for agents use an embedder that needs no network.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from benchmarks.peers.peer import DIMENSIONS, RESULTS, PeerQuestion, Row, bytes_in, embed

_CUT = "Chinese in pairs of characters, cut for it beforehand"


class SqliteFts:
    """FTS5 in a file."""

    name = "SQLite FTS5"
    does = f"adds rows of a table in one transaction each time (WAL, synchronous NORMAL), finds by bm25; {_CUT}"
    kept = "files"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._base = sqlite3.connect(folder / "fts.db", isolation_level=None)
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=NORMAL")
        self._base.execute("CREATE VIRTUAL TABLE told USING fts5(key UNINDEXED, text, tokenize='porter unicode61')")

    def add(self, rows: Sequence[Row]) -> None:
        """One transaction."""
        self._base.execute("BEGIN")
        self._base.executemany("INSERT INTO told VALUES (?, ?)", [(row.key, row.cut) for row in rows])
        self._base.execute("COMMIT")

    def find(self, question: PeerQuestion) -> Sequence[str]:
        """Any of the words."""
        asked = " OR ".join(f'"{word}"' for word in question.cut.split())
        found = self._base.execute(f"SELECT key FROM told WHERE told MATCH ? ORDER BY rank LIMIT {RESULTS}", (asked,))  # noqa: S608 - a number of ours
        return [key for (key,) in found]

    def size(self) -> int:
        """Of the database, its log written back."""
        self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return bytes_in(self._folder)

    def close(self) -> None:
        """Close it."""
        self._base.close()


class Tantivy:
    """An index in a folder."""

    name = "tantivy"
    does = f"adds documents, one commit each time, one thread; finds by BM25 after English stemming; {_CUT}"
    kept = "files"

    def __init__(self, folder: Path) -> None:
        import tantivy  # noqa: PLC0415 - an extra

        self._tantivy, self._folder = tantivy, folder
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("key", stored=True, tokenizer_name="raw")
        schema.add_text_field("text", stored=True, tokenizer_name="en_stem")
        self._index = tantivy.Index(schema.build(), path=str(folder))
        self._writer = self._index.writer(num_threads=1)

    def add(self, rows: Sequence[Row]) -> None:
        """One commit, and readers see it."""
        for row in rows:
            self._writer.add_document(self._tantivy.Document(key=row.key, text=row.cut))
        self._writer.commit()
        self._index.reload()

    def find(self, question: PeerQuestion) -> Sequence[str]:
        """Any of the words."""
        searcher = self._index.searcher()
        asked = self._index.parse_query(question.cut.replace("'", " "), ["text"])
        return [str(searcher.doc(at)["key"][0]) for _, at in searcher.search(asked, RESULTS).hits]

    def size(self) -> int:
        """Of the folder."""
        return bytes_in(self._folder)

    def close(self) -> None:
        """Give up the writer's lock and threads."""
        self._writer.wait_merging_threads()


class Bm25s:
    """An index in memory, made at once."""

    name = "bm25s"
    does = (
        f"cannot add: the index is made of all rows at once, at the first question, and that is told as adding; {_CUT}"
    )
    kept = "files, saved"

    def __init__(self, folder: Path) -> None:
        import bm25s  # noqa: PLC0415 - an extra

        self._library, self._folder = bm25s, folder
        self._rows: list[Row] = []
        self._index: Any = None

    def add(self, rows: Sequence[Row]) -> None:
        """Keep them."""
        self._rows += rows

    def finish(self) -> None:
        """Make the index."""
        self._index = self._library.BM25()
        self._index.index(self._cut([row.cut for row in self._rows]), show_progress=False)

    def find(self, question: PeerQuestion) -> Sequence[str]:
        """Any of the words."""
        found, _ = self._index.retrieve(self._cut([question.cut]), k=min(RESULTS, len(self._rows)), show_progress=False)
        return [self._rows[int(at)].key for at in found[0]]

    def _cut(self, texts: Sequence[str]) -> Any:
        return self._library.tokenize(list(texts), stopwords="en", show_progress=False)

    def size(self) -> int:
        """Of the index as it is saved, without the texts."""
        self._index.save(str(self._folder / "index"))
        return bytes_in(self._folder)

    def close(self) -> None:
        """Nothing is open."""


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
