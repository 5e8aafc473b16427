"""Meanings: embedders beside the stored vectors, which together say how near a question is to what an owner's view holds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from time import monotonic

import numpy as np

from engramlog_server.events.errors import BadSetting, EmbedderFailed, StoreFull
from engramlog_server.events.text import AUTO, MINILM, NONE, STORE, USE
from engramlog_server.projections.embedding.choosing import EmbedderChosen, Embedders, LettersIndex
from engramlog_server.projections.embedding.idle import fixed_messages, nearness, usual
from engramlog_server.projections.embedding.likeness import Likeness
from engramlog_server.projections.embedding.meaning import (
    NO_SECRET,
    EmbeddedQuestion,
    JoinedPieces,
    KnownVectors,
    Sense,
    Vectors,
    embedded_text,
)
from engramlog_server.projections.index.meaning_index import MeaningIndex
from engramlog_server.projections.language.contradiction.change import Alike
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.question import MeantQuestion, ViewHeld
from engramlog_server.projections.redis.vectors import RedisVectors
from engramlog_server.projections.shapes import Coverage
from engramlog_server.projections.views.view import OwnerView

REST_SECONDS, MOST_REST_SECONDS = 10.0, 60.0
"""How long an embedder that did not answer is left alone, twice as long each time: searches by words need not wait for it."""
MOST_AT_A_QUESTION = 200
"""Texts without vectors that a question embeds itself: about 0.2 s of CPU."""
AT_ONCE = 16
"""Texts embedded at once after a write: a question waits for the model no longer than about 20 ms."""
MOST_OWNERS = 4_096
"""Owners of whom is remembered which embedder their last question wanted."""


class _Rest:
    """How an embedder fared that questions were given to. Safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._failed: EmbedderFailed | None = None
        self._until, self._rest = 0.0, REST_SECONDS
        self._trying = False

    def refuse(self) -> None:
        """Raise what it failed with, while it rests or while another question tries it."""
        with self._lock:
            if self._failed is not None and (self._trying or monotonic() < self._until):
                raise EmbedderFailed(str(self._failed), **self._failed.context)
            self._trying = self._failed is not None

    def ended(self, error: EmbedderFailed | None) -> None:
        """A question has its vectors, or this error in their place."""
        with self._lock:
            self._trying = False
            if error is None:
                self._failed, self._until, self._rest = None, 0.0, REST_SECONDS
            elif error.context.get("down") is not False:
                now, self._failed = monotonic(), error
                if now >= self._until:  # of questions that waited for one load, and fail together, the first counts
                    self._until, self._rest = now + self._rest, min(2 * self._rest, MOST_REST_SECONDS)

    def left(self) -> None:
        """The question was left for another reason."""
        with self._lock:
            self._trying = False


class Meanings:
    """Questions and vectors, each owner's under the model that counts for it. Safe for threads; a view's lock is its caller's.

    An embedder is made at first need: what never asks for a meaning does not load a model, nor does a question of an owner who has
    no vectors yet.
    """

    def __init__(self, embedders: Embedders, vectors: RedisVectors) -> None:
        self.embedders = embedders
        self.vectors = vectors
        self.alike: Alike = Likeness(embedders.bilingual)
        """What the judge asks about the few statements that may be meant."""
        self._lock = Lock()
        self._rests: dict[str, _Rest] = {}
        self._fixed_of: dict[str, Vectors] = {}
        self._wanted: OrderedDict[str, EmbedderChosen] = OrderedDict()
        self._counted: OrderedDict[str, EmbedderChosen] = OrderedDict()
        """What counted for an owner at the last question, also where there were no vectors to compare with."""

    def chosen(self, view: OwnerView) -> EmbedderChosen:
        """Which embedder counts for a view's owner, as of the view."""
        return self.embedders.chosen(view.parameters.embedder, lambda: view.index(LettersIndex).of_other_letters)

    def unused(self, parameter: str) -> str:
        """Why this process will not use the embedder that an owner's parameter names; empty where it will, or it names none."""
        if parameter in (STORE, NONE):
            return ""
        if parameter == AUTO:
            lacks = USE in self.embedders.lacking()
            return f"of auto this process lacks {USE}: its owners are searched by words" if lacks else ""
        try:
            self.embedders.get(self.embedders.chosen(parameter, lambda: False))
        except BadSetting as error:
            return error.message
        return ""

    def question(self, text: str, chosen: EmbedderChosen) -> EmbeddedQuestion:
        """A question's vectors. Raises EmbedderFailed, and BadSetting where this process lacks the embedder.

        After a failure that was not the question's own an embedder rests, and everybody is refused at once; then one question tries
        it while the others are still refused.
        """
        embedder = self.embedders.get(chosen)
        with self._lock:
            rest = self._rests.setdefault(chosen.name, _Rest())
        rest.refuse()
        try:
            asked = embedder.question(text)
        except EmbedderFailed as error:
            rest.ended(error)
            raise
        except BaseException:
            rest.left()
            raise
        rest.ended(None)
        return asked

    def ask(self, owner: str, question: MeantQuestion, parameter: Callable[[], str], view: ViewHeld) -> None:
        """Ask for a question's vectors before any view is held, where it is known under which model, or that is to be loaded."""
        if not question.compares or question.hidden is not None:
            return
        chosen = self._foreseen(owner, parameter) or self._to_load(owner, question, view)
        if chosen is not None:
            self._ask(question, chosen)

    def _foreseen(self, owner: str, parameter: Callable[[], str]) -> EmbedderChosen | None:
        """What the owner's last question wanted; of what may be an endpoint, where it counts for the owner: no view waits for one.

        An endpoint is given no question of an owner who chose something else, so his parameter is read first.
        """
        with self._lock:
            last = self._wanted.get(owner)
            if last is not None:
                self._wanted.move_to_end(owner)
        name, by = self.embedders.plan.base
        if by == "store" or ":" not in name:
            return last
        if parameter() in (STORE, name):
            return EmbedderChosen(name, name, by)
        return None if last is not None and last.name == name else last

    def _to_load(self, owner: str, question: MeantQuestion, view: ViewHeld) -> EmbedderChosen | None:
        """What counts for an owner, where it is a model that is not loaded yet: that takes a second, and no view waits for it."""
        waiting = self.embedders.to_load()
        with self._lock:
            last = None if question.past else self._counted.get(owner)
        if last is not None:
            waiting = {name: one for name, one in waiting.items() if name == last.name}
        if not waiting or not any(self.vectors.had(owner, [one.model for one in waiting.values()])):
            return None
        with view() as held:
            chosen = self.chosen(held)
            if chosen.name not in waiting or not (question.alone or self._level(held, owner, chosen, None).known.any()):
                return None
        return chosen

    def _ask(self, question: MeantQuestion, chosen: EmbedderChosen) -> EmbeddedQuestion | str:
        """The question's vectors under an embedder, or why there are none; asked for once."""
        kept = question.embedded
        if chosen.name not in kept:
            try:
                kept[chosen.name] = self.question(question.text, chosen)
            except (EmbedderFailed, BadSetting) as error:
                if question.alone:
                    raise
                kept[chosen.name] = str(error)
        return kept[chosen.name]

    def sense(self, view: OwnerView, owner: str, question: MeantQuestion) -> Sense | None:
        """The question beside the vectors of the view's rows, for as long as the view's lock is held.

        One round trip where nothing changed. None where words alone count, or nothing is to be compared, which the question then
        tells. Raises StoreError, and EmbedderFailed or BadSetting where meaning alone was asked for.
        """
        chosen, question.told = self.chosen(view), None
        self._remember(self._counted, owner, chosen)
        if chosen.name == NONE or not question.compares:
            return None
        if question.hidden is not None:
            question.told = {"failed": question.hidden}
            return None
        try:
            index = self._level(view, owner, chosen, None)
        except BadSetting as error:
            if question.alone:
                raise
            question.told = {"failed": error.message}
            return None
        if not question.past:
            self._embed_missing(view, owner, chosen, index)
        if not (index.known.any() or question.alone):
            question.told = {"model": index.model, "embedded": 0, "of": index.wanted}
            return None
        asked = self._ask(question, chosen)
        self._remember(self._wanted, owner, chosen)
        if isinstance(asked, str):
            question.told = {"failed": asked}
            return None
        if index.dimensions != asked.whole.size:
            index = self._level(view, owner, chosen, asked.whole.size)
        return self._sensed(index, owner, asked)

    def _embed_missing(self, view: OwnerView, owner: str, chosen: EmbedderChosen, index: MeaningIndex) -> None:
        """Embed the texts that came since the last run of the job, if they are few and the model is in this process.

        So a question finds by meaning what was written just before it. The vectors are stored too, unless the store is full.
        Without a secret of the owner no vector can be named, and words alone find.
        """
        if not 0 < index.lacks <= MOST_AT_A_QUESTION or not _embeds_at_once(chosen, index):
            return
        missing = _missing_texts(view, index)
        try:
            found = dict(zip(missing, self.embedders.get(chosen).texts(list(missing.values())), strict=True))
        except EmbedderFailed:
            return  # the job tries text by text, and reports the one that fails
        index.take({key: one.whole for key, one in found.items()})
        with suppress(StoreFull):
            self.vectors.put(owner, index.model, found)

    def embed_newest(self, owner: str, view: ViewHeld, most: int) -> int:
        """Embed and store the newest texts of an owner that have no vector, at most so many; how many there were.

        No view is held while the model computes. Texts that went meanwhile keep no vector. An endpoint is left to the job.
        Raises BadSetting, EmbedderFailed, StoreFull and StoreError; what was stored stays.
        """
        with view() as held:
            chosen = self.chosen(held)
            if chosen.name == NONE or ":" in chosen.name:
                return 0
            index = self._level(held, owner, chosen, None)
            if not _embeds_at_once(chosen, index):
                return 0
            missing, model = list(_missing_texts(held, index).items())[-most:], index.model
        for start in range(0, len(missing), AT_ONCE):
            some = missing[start : start + AT_ONCE]
            made = self.embedders.get(chosen).texts([text for _, text in some])
            found = {key: one for (key, _), one in zip(some, made, strict=True)}
            self.vectors.put(owner, model, found)
            with view() as held:
                index = self._level(held, owner, chosen, None)
                gone = [key for key in found if not index.wants(key)]
            if gone:
                self.vectors.drop(owner, model, gone)
        return len(missing)

    def stands_out(self, view: OwnerView, owner: str, text: str) -> float | None:
        """How far a text stands above idle ones (`projections.embedding.idle`); None if nothing is compared.

        One question is embedded; what idle messages reach is kept with the vectors until a tenth more of these are known.
        """
        chosen = self.chosen(view)
        if chosen.name == NONE:
            return None
        try:
            index = self._level(view, owner, chosen, None)
            self._embed_missing(view, owner, chosen, index)
            known = int(index.known.sum())
            if not known:
                return None
            fixed = self._fixed(chosen)
            asked = self.question(text, chosen).whole
        except (BadSetting, EmbedderFailed):
            return None
        if asked.size != index.dimensions:
            return None
        wholes = index.wholes[index.known]
        if index.idle is None or known > 1.1 * index.idle[0] or known < 0.9 * index.idle[0]:
            index.idle = (known, usual(wholes, fixed))
        return nearness(wholes, fixed, index.idle[1], asked)

    def _fixed(self, chosen: EmbedderChosen) -> Vectors:
        """Vectors of the fixed messages under an embedder, shape (messages, d); embedded once."""
        with self._lock:
            found = self._fixed_of.get(chosen.name)
        if found is None:
            found = np.stack([one.whole for one in self.embedders.get(chosen).texts(fixed_messages())])
            with self._lock:
                self._fixed_of[chosen.name] = found
        return found

    def _sensed(self, index: MeaningIndex, owner: str, question: EmbeddedQuestion) -> Sense:
        model, dimensions = index.model, question.pieces.shape[1]

        def pieces(rows: Rows) -> JoinedPieces:
            there = index.known[rows].tolist()
            keys = [index.key(row) if has else b"" for row, has in zip(rows.tolist(), there, strict=True)]
            return self.vectors.pieces(owner, model, keys, dimensions)

        return Sense(model, question, index.wholes, index.known, pieces, index.wanted)

    def _remember(self, kept: OrderedDict[str, EmbedderChosen], owner: str, chosen: EmbedderChosen) -> None:
        with self._lock:
            kept[owner] = chosen
            kept.move_to_end(owner)
            while len(kept) > MOST_OWNERS:
                kept.popitem(last=False)

    def known_vectors(self, view: OwnerView, owner: str) -> KnownVectors | None:
        """The vectors of the view's rows, for as long as the view's lock is held; None where the embedder cannot be made.

        Nothing is embedded for it, and what MiniLM cannot read counts as having none. Raises StoreError.
        """
        chosen = self.chosen(view)
        if chosen.name == NONE:
            return None
        try:
            index = self._level(view, owner, chosen, None)
        except (BadSetting, EmbedderFailed):
            return None
        known = index.known
        if chosen.name != MINILM:
            return KnownVectors(index.wholes, known, None, index.model)
        latin = view.index(LettersIndex).latin(known.size)
        return KnownVectors(index.wholes, known & latin, known & ~latin, index.model)

    def coverage(self, view: OwnerView, owner: str) -> Coverage:
        """How many of the view's rows have a vector: model, embedded, of (rows with text), share (1 of none), and who chose it.

        Where the embedder cannot be made, `failed` tells why, and no model is named.
        """
        chosen = self.chosen(view)
        failed = ""
        if chosen.name != NONE:
            try:
                index = self._level(view, owner, chosen, None)
            except (BadSetting, EmbedderFailed) as error:
                failed = error.message
            else:
                return _coverage(index.model, int(index.known.sum()), index.wanted, chosen)
        told = _coverage(None, 0, _texts(view), chosen)
        if failed:
            told["failed"] = failed
        return told

    def _level(self, view: OwnerView, owner: str, chosen: EmbedderChosen, dimensions: int | None) -> MeaningIndex:
        """The view's index under the embedder's model, level with what is stored. Raises BadSetting where it cannot be made."""
        model = self.embedders.get(chosen).model
        level, index = self.vectors.changes(owner, model), view.known_meaning(model)
        if (
            index is None or index.level != level
        ):  # a secret that was lost or came back shows in the vectors named by it
            index = view.meaning(model, self.vectors.secret(owner))
        if dimensions is not None:
            index.fit(dimensions)
        wanted = index.to_ask(level)
        found = self.vectors.wholes(owner, model, wanted, index.dimensions or None) if wanted else {}
        index.answered(level, wanted, found)
        return index


def _embeds_at_once(chosen: EmbedderChosen, index: MeaningIndex) -> bool:
    """Whether texts are embedded outside the job: by a model of this process, and the owner has a secret to name vectors."""
    return ":" not in chosen.name and index.secret != NO_SECRET


def _missing_texts(view: OwnerView, index: MeaningIndex) -> dict[bytes, str]:
    """Texts without a vector, by content key, in the order of rows."""
    return {key: embedded_text(view.columns.memories[index.first_row(key)]) for key in index.missing()}


def _texts(view: OwnerView) -> int:
    return sum(1 for memory in view.columns if embedded_text(memory))


def _coverage(model: str | None, embedded: int, of: int, chosen: EmbedderChosen) -> Coverage:
    share = round(embedded / of, 4) if of else 1.0
    return {
        "model": model,
        "embedded": embedded,
        "of": of,
        "share": share,
        "chosen": chosen.said,
        "chosen_by": chosen.by,
    }
