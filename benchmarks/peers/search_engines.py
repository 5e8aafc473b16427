"""Three text indexes: SQLite's FTS5, tantivy, bm25s."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.peer import RESULTS, PeerQuestion, Row, bytes_in

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
