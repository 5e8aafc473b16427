"""Vectors of an evaluation, in memory; or in a file of one's own, so that a further run need not compute them again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from events.errors import refused
from projections.embedding.letters import LettersIndex
from projections.embedding.meaning import (
    NO_SECRET,
    EmbeddedQuestion,
    Embedder,
    JoinedPieces,
    KnownVectors,
    Sense,
    Vectors,
    content_key,
    embedded_text,
)
from projections.embedding.vectors import pack, unpack_pieces, unpack_whole
from projections.memory.columns import Rows
from projections.views.view import OwnerView

BATCH = 64
"""Texts embedded at once."""
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (model TEXT, key BLOB, whole BLOB, pieces BLOB, PRIMARY KEY (model, key))"
_ADD = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)"
_FIND = "SELECT whole, pieces FROM vectors WHERE model = ? AND key = ?"
Progress = Callable[[int, int], None]


class KeptVectors:
    """Packed vectors by content, in an SQLite file or in memory. Packed as a store packs them, so that figures are its own."""

    def __init__(self, database: sqlite3.Connection, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self.model = embedder.model
        self.question = lru_cache(maxsize=8)(embedder.question)

    def fill(self, views: Iterable[OwnerView], on_progress: Progress) -> None:
        """Embed what has no vectors yet. What was done stays where a run is ended."""
        texts = {
            content_key(NO_SECRET, text): text
            for view in views
            for memory in view.columns
            if (text := embedded_text(memory))
        }
        missing = [key for key in texts if self._found(key) is None]
        done = 0
        # Texts of like length together: a batch takes as long as its longest.
        for keys in _batched(sorted(missing, key=lambda key: len(texts[key])), BATCH):
            made = self._embedder.texts([texts[key] for key in keys])
            rows = [(self._embedder.model, key, *pack(one)) for key, one in zip(keys, made, strict=True)]
            with self._database:
                self._database.executemany(_ADD, rows)
            done += len(keys)
            on_progress(done, len(missing))

    def asked(self, view: OwnerView, owner: str, text: str) -> Sense:
        """A question beside the vectors of the view's rows."""
        return self.sense(view, owner, self.question(text))

    def sense(self, view: OwnerView, _owner: str, question: EmbeddedQuestion) -> Sense:
        """The question beside the vectors of the view's rows."""
        index = view.meaning(self._embedder.model, NO_SECRET)
        index.fit(question.whole.size)
        if missing := index.missing():
            index.take({key: unpack_whole(found[0]) for key in missing if (found := self._found(key)) is not None})

        def pieces(rows: Rows) -> JoinedPieces:
            found = [self._pieces(index.key(row), question) for row in rows.tolist()]
            return JoinedPieces.of(found, question.pieces.shape[1])

        return Sense(self._embedder.model, question, index.wholes, index.known, pieces, index.wanted)

    def known_vectors(self, view: OwnerView, _owner: str) -> KnownVectors:
        """The vectors of the view's rows, as far as some text was compared with them before."""
        index = view.meaning(self._embedder.model, NO_SECRET)
        return KnownVectors(index.wholes, index.known)

    def _pieces(self, key: bytes, question: EmbeddedQuestion) -> Vectors:
        found = self._found(key) if key else None
        return unpack_pieces(found[1]) if found is not None and found[1] else question.pieces[:0]

    def _found(self, key: bytes) -> tuple[bytes, bytes] | None:
        found: tuple[bytes, bytes] | None = self._database.execute(_FIND, (self._embedder.model, key)).fetchone()
        return found


class VectorsByLetters:
    """The same by two models: a conversation's under the one that `auto` takes for an owner with its letters."""

    def __init__(self, latin: KeptVectors, other: KeptVectors) -> None:
        self._latin, self._other = latin, other
        self._used = set[str]()

    @property
    def model(self) -> str:
        """Those that were needed."""
        return ", ".join(sorted(self._used)) or self._latin.model

    def fill(self, views: Iterable[OwnerView], on_progress: Progress) -> None:
        """As `KeptVectors` does, the conversations of one model after those of the other."""
        known = list(views)
        for kept in (self._latin, self._other):
            if mine := [view for view in known if self._of(view) is kept]:
                self._used.add(kept.model)
                kept.fill(mine, on_progress)

    def asked(self, view: OwnerView, owner: str, text: str) -> Sense:
        """A question beside the vectors of the view's rows, under the view's model."""
        return self._of(view).asked(view, owner, text)

    def _of(self, view: OwnerView) -> KeptVectors:
        return self._other if view.index(LettersIndex).of_other_letters else self._latin


EvaluationVectors = KeptVectors | VectorsByLetters


@contextmanager
def kept_vectors(embedder: Embedder, path: Path | None) -> Iterator[KeptVectors]:
    """Vectors in a file, or in memory where none is told. Raises InputError where the file cannot be used."""
    with _database(path) as database:
        yield KeptVectors(database, embedder)


@contextmanager
def vectors_by_letters(latin: Embedder, other: Embedder, path: Path | None) -> Iterator[VectorsByLetters]:
    """The same by two models."""
    with _database(path) as database:
        yield VectorsByLetters(KeptVectors(database, latin), KeptVectors(database, other))


@contextmanager
def _database(path: Path | None) -> Iterator[sqlite3.Connection]:
    try:
        database = sqlite3.connect(":memory:" if path is None else path)
        database.execute(_TABLE)
    except sqlite3.Error as error:
        raise refused("vectors", str(path), f"a file that eval wrote, or one that can be made ({error})") from None
    try:
        yield database
    finally:
        database.close()


def _batched(keys: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
