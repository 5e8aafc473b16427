"""Vectors in Redis, by owner, model and content, and the embedders that compare a question with them.

A content is named by a hash under its owner's secret. Vectors are derived: whatever is lost is computed again, and nothing else.
Reading forgives: bytes that cannot be unpacked count as missing, so that a search answers with the words it has, and the next run
of the job computes them again. In a sealed store each vector is sealed under its owner's secret, because a vector tells much of
the words that it was made of.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

import numpy as np

from engramlog_server.events.cipher import NotOpened, ValueCipher
from engramlog_server.events.errors import BadSetting, EmbedderFailed, KeyUnavailable, StoreFull, StoreMismatch
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.log import ACCESS_FULL, memory_share
from engramlog_server.events.redis.secrets import read_cipher, usable_secret
from engramlog_server.events.redis.wire import Argument, Wire, WirePool, as_store_error
from engramlog_server.events.text import AUTO, MINILM, NONE, STORE, USE
from engramlog_server.projections.embedding.choosing import EmbedderChosen, Embedders, LettersIndex
from engramlog_server.projections.embedding.encoders import Likeness
from engramlog_server.projections.embedding.meaning import (
    NO_SECRET,
    Embedded,
    EmbeddedQuestion,
    JoinedPieces,
    KnownVectors,
    Sense,
    Vectors,
    embedded_text,
    fixed_messages,
    nearness,
    usual,
)
from engramlog_server.projections.embedding.vectors import (
    VectorKeys,
    dimensions_of,
    is_whole,
    pack,
    unpack_all_pieces,
    unpack_whole,
)
from engramlog_server.projections.index.meaning_index import MeaningIndex
from engramlog_server.projections.language.contradiction.change import Alike
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.question import MeantQuestion, ViewHeld
from engramlog_server.projections.redis.builds import PIECES, VECTOR, vector_place
from engramlog_server.projections.shapes import Coverage
from engramlog_server.projections.views.view import OwnerView

PAGE = 500
"""Vectors named in one command."""
PIECES_PAGE = 10
"""The same of pieces, which may take 98 KB each at 384 dimensions."""
DROPPED_PAGE = 50
AT_ONCE_BYTES = 1 << 20
"""About how much is written at once: a millisecond of Redis's time."""
PIECES_BYTES = 64 << 20
"""How many bytes of packed pieces a process keeps; the least recently asked leave first."""
_T = TypeVar("_T")


class RedisVectors:
    """The vectors of a store. Safe for threads."""

    def __init__(self, wires: WirePool, tags: Sequence[str], *, most_bytes: int = PIECES_BYTES) -> None:
        self.wires = wires
        self.tags = list(tags)
        self._most = most_bytes
        self._kept: OrderedDict[tuple[str, str, bytes], bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = Lock()

    def close(self) -> None:
        """Close idle connections."""
        self.wires.close()

    def keys_of(self, owner: str) -> VectorKeys:
        """The keys of an owner's partition."""
        return VectorKeys(self.tags[partition_of(owner, len(self.tags))])

    def changes(self, owner: str, model: str) -> int:
        """How often the owner's vectors were changed: the same number means the same vectors. One round trip."""
        with self.wires.wire() as wire:
            return int(wire.call("HGET", self.keys_of(owner).changes(model), owner) or 0)

    def had(self, owner: str, models: Sequence[str]) -> list[bool]:
        """Of each model, whether the owner has, or had, vectors under it. One round trip."""
        keys = self.keys_of(owner)
        with self.wires.wire() as wire:
            return [
                bool(there)
                for there in _checked(wire.pipeline([["HEXISTS", keys.changes(one), owner] for one in models]))
            ]

    def secret(self, owner: str) -> bytes:
        """The secret that names the owner's vectors; `NO_SECRET` where the store has none, or what stands there is none."""
        with self.wires.wire() as wire:
            try:
                return usable_secret(wire, LogKeys(self.keys_of(owner).tag), owner) or NO_SECRET
            except KeyUnavailable:
                return NO_SECRET

    def _cipher(self, wire: Wire, owner: str) -> ValueCipher | None:
        """What seals and opens the owner's vectors; None where the store lies open, or what stands in place of a secret is none.

        One round trip in a sealed store, and none in an open one. Raises KeyUnavailable.
        """
        try:
            return read_cipher(wire, LogKeys(self.keys_of(owner).tag), owner)
        except StoreMismatch:
            return None

    def wholes(
        self, owner: str, model: str, keys: Sequence[bytes], dimensions: int | None = None
    ) -> dict[bytes, Vectors]:
        """Whole vectors by content key, those that there are, of so many dimensions where told."""
        name, found = self.keys_of(owner).wholes(model, owner), dict[bytes, Vectors]()
        with self.wires.wire() as wire:
            cipher = self._cipher(wire, owner) if keys else None
            for page in _slices(keys, PAGE):
                for key, stored in zip(page, wire.call("HMGET", name, *page), strict=True):
                    raw = _opened(cipher, vector_place(VECTOR, owner, model, key), stored)
                    if is_whole(raw, dimensions):
                        found[key] = unpack_whole(raw)
        return found

    def pieces(self, owner: str, model: str, keys: Sequence[bytes], dimensions: int) -> JoinedPieces:
        """Pieces of so many dimensions in the order of content keys, none of an empty key; the latest asked for are kept."""
        raws = self._packed_pieces(owner, model, [key for key in keys if key]) | {b"": b""}
        return unpack_all_pieces([raws[key] for key in keys], dimensions)

    def _packed_pieces(self, owner: str, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Packed, by content key; empty where there are none, or none that opens."""
        raws, wanted = dict[bytes, bytes](), list[bytes]()
        with self._lock:
            for key in dict.fromkeys(keys):
                kept = self._kept.get((owner, model, key))
                if kept is None:
                    wanted.append(key)
                else:
                    self._kept.move_to_end((owner, model, key))
                    raws[key] = kept
        if wanted:
            name = self.keys_of(owner).pieces(model, owner)
            with self.wires.wire() as wire:
                cipher = self._cipher(wire, owner)
                for some in _slices(_slices(wanted, PIECES_PAGE), PIECES_PAGE):  # as many pages down the line at once
                    for page, answer in zip(
                        some, _checked(wire.pipeline([["HMGET", name, *p] for p in some])), strict=True
                    ):
                        for key, stored in zip(page, answer, strict=True):
                            raws[key] = _opened(cipher, vector_place(PIECES, owner, model, key), stored)
            self._keep(owner, model, {key: raws[key] for key in wanted})
        return raws

    def _keep(self, owner: str, model: str, raws: Mapping[bytes, bytes]) -> None:
        with self._lock:
            for key, raw in raws.items():
                if raw:  # none yet, perhaps: to be asked for again
                    self._forget((owner, model, key))
                    self._kept[owner, model, key] = raw
                    self._kept_bytes += len(raw)
            while self._kept_bytes > self._most:
                self._forget(next(iter(self._kept)))

    def _forget(self, name: tuple[str, str, bytes]) -> None:
        self._kept_bytes -= len(self._kept.pop(name, b""))

    def put(self, owner: str, model: str, embedded: Mapping[bytes, Embedded]) -> None:
        """Store vectors, whole ones and their pieces at once, some at a time.

        Raises StoreFull from 75 % of maxmemory on: the rest belongs to events, folds and operators. Raises KeyUnavailable where the
        store is sealed and the owner's key cannot be had: none is written open there.
        """
        keys, packed = self.keys_of(owner), [(key, *pack(one)) for key, one in embedded.items()]
        with self.wires.wire() as wire:
            _refuse_when_full(wire)
            cipher = self._cipher(wire, owner)
            if cipher is not None:
                packed = [_sealed(cipher, owner, model, *one) for one in packed]
            elif wire.seals.is_on:
                raise KeyUnavailable(
                    f"owner {owner} has no secret under which its vectors could be sealed", passes=False
                )
            for some in _bounded(packed):
                pieces = [part for key, _, raw in some if raw for part in (key, raw)]
                commands: list[list[Argument]] = [
                    ["HSET", keys.wholes(model, owner), *(part for key, raw, _ in some for part in (key, raw))],
                    ["HINCRBY", keys.changes(model), owner, 1],
                    ["HSETNX", keys.models, model, 0],
                ]
                if pieces:
                    commands.append(["HSET", keys.pieces(model, owner), *pieces])
                _together(wire, *commands)

    def drop(self, owner: str, model: str, gone: Iterable[bytes]) -> int:
        """Take vectors away, with what this process keeps of them; how many whole ones there were."""
        keys, dropped = self.keys_of(owner), 0
        with self.wires.wire() as wire:
            for page in _slices(gone, DROPPED_PAGE):
                answers = _together(
                    wire,
                    ["HDEL", keys.wholes(model, owner), *page],
                    ["HDEL", keys.pieces(model, owner), *page],
                    ["HINCRBY", keys.changes(model), owner, 1],
                )
                dropped += int(answers[0])
                with self._lock:
                    for key in page:
                        self._forget((owner, model, key))
        return dropped

    def stored(self, owner: str, model: str) -> dict[bytes, int]:
        """Every content key that has a whole vector, or bytes in its place: its dimensions, 0 where it cannot be unpacked."""
        name = self.keys_of(owner).wholes(model, owner)
        with self.wires.wire() as wire:
            cipher = self._cipher(wire, owner)
            return {
                key: dimensions_of(_opened(cipher, vector_place(VECTOR, owner, model, key), raw))
                for key, raw in _scanned(wire, name)
            }

    def has(self, owner: str, model: str, keys: Sequence[bytes]) -> set[bytes]:
        """Which of these content keys have a whole vector; none is read."""
        name, found = self.keys_of(owner).wholes(model, owner), set[bytes]()
        with self.wires.wire() as wire:
            for page in _slices(keys, PAGE):
                answers = _checked(wire.pipeline([["HEXISTS", name, key] for key in page]))
                found.update(key for key, there in zip(page, answers, strict=True) if there)
        return found

    def count(self, owner: str, model: str) -> int:
        """How many contents of an owner have a vector."""
        with self.wires.wire() as wire:
            return int(wire.call("HLEN", self.keys_of(owner).wholes(model, owner)))

    def models(self) -> list[str]:
        """Every model that has, or had, vectors in this store."""
        found: set[str] = set()
        with self.wires.wire() as wire:
            for tag in self.tags:
                found.update(name.decode() for name in wire.call("HKEYS", VectorKeys(tag).models))
        return sorted(found - {""})

    def models_of(self, owner: str) -> list[str]:
        """The models under which this owner has, or had, vectors."""
        keys = self.keys_of(owner)
        with self.wires.wire() as wire:
            names = sorted(name.decode() for name in wire.call("HKEYS", keys.models) if name)
            commands: list[list[Argument]] = [["HEXISTS", keys.changes(name), owner] for name in names]
            answers = _checked(wire.pipeline(commands)) if names else []
        return [name for name, there in zip(names, answers, strict=True) if there]


def _sealed(
    cipher: ValueCipher, owner: str, model: str, key: bytes, whole: bytes, pieces: bytes
) -> tuple[bytes, bytes, bytes]:
    sealed = cipher.seal(vector_place(VECTOR, owner, model, key), whole)
    return key, sealed, cipher.seal(vector_place(PIECES, owner, model, key), pieces) if pieces else b""


def _opened(cipher: ValueCipher | None, where: bytes, stored: bytes | None) -> bytes:
    """Packed bytes; empty where there are none, or none that opens: they count as missing."""
    if not stored or cipher is None:
        return stored or b""
    try:
        return cipher.open(where, stored)
    except NotOpened:
        return b""


def _refuse_when_full(wire: Wire) -> None:
    share = memory_share(wire)
    if share is not None and share >= ACCESS_FULL:
        raise StoreFull(
            f"Redis uses {share:.0%} of its maxmemory; vectors are stored up to {ACCESS_FULL:.0%}, so that events and folds go"
            " on: raise maxmemory or free memory, then embed again; what was embedded stays",
            retry_after=5,
        )


def _together(wire: Wire, *commands: list[Argument]) -> list[Any]:
    """All of these commands or none, and their answers."""
    answers = _checked(wire.pipeline([["MULTI"], *commands, ["EXEC"]]))
    return _checked(answers[-1])


def _checked(answers: list[Any]) -> list[Any]:
    for answer in answers:
        if isinstance(answer, Exception):
            raise as_store_error(answer)
    return answers


def _scanned(wire: Wire, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Fields and values of a hash, in pages; one that is there all the while comes at least once."""
    cursor = b"0"
    while True:
        cursor, page = wire.call("HSCAN", name, cursor, "COUNT", PAGE)
        yield from zip(page[::2], page[1::2], strict=True)
        if cursor == b"0":
            return


def _bounded(packed: Iterable[tuple[bytes, bytes, bytes]]) -> Iterator[list[tuple[bytes, bytes, bytes]]]:
    """In parts that may be written at once."""
    part: list[tuple[bytes, bytes, bytes]] = []
    size = 0
    for key, whole, pieces in packed:
        if part and (size + len(whole) + len(pieces) > AT_ONCE_BYTES or len(part) == PAGE):
            yield part
            part, size = [], 0
        part.append((key, whole, pieces))
        size += len(whole) + len(pieces)
    if part:
        yield part


def _slices(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    waiting = iter(items)
    while page := list(islice(waiting, size)):
        yield page


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
