"""The embedding job: adds missing vectors, and removes those that no memory needs any more.

It writes vectors and its own marks, appends no event, and decides nothing. A vector hangs on a content and a model alone, so
whatever is there is never computed again: after a crash, on a rebuild, on a replay. Vectors of contents that were revised
away, purged or made secret go first, under every model, and without asking the embedder for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from engramlog_server.consumers.jobs.owner_texts import (
    OwnerTexts,
    Text,
    live_build,
    read_texts,
    rejections_text,
    version_text,
)
from engramlog_server.events.alarms import Tell, silent
from engramlog_server.events.errors import BadSetting, EmbedderFailed, EngramlogError, StoreError
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.secrets import usable_secret
from engramlog_server.events.redis.wire import Argument, Wire
from engramlog_server.events.text import AUTO, NONE, USE
from engramlog_server.projections.embedding.choosing import EmbedderChosen, Embedders
from engramlog_server.projections.embedding.meaning import Embedded, Embedder, content_key, embedded_text
from engramlog_server.projections.embedding.vectors import VectorKeys
from engramlog_server.projections.fold.owner import parameters_of
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.redis.builds import BuildKeys, cipher_of, version_of
from engramlog_server.projections.redis.store import read_owner, read_record
from engramlog_server.projections.redis.vectors import RedisVectors

PROBE = "a"
"""A text that shows how many dimensions a model's vectors have."""
BATCH = 64
"""Texts embedded and stored at once; a kill loses at most these."""
PAGE = 500
MOST_CHANGED = 1_000
"""Up to so many memories that changed since the last run, only they are checked."""
NO_MODEL = ""
"""In marks: a walk that only removes vectors."""
_PROBE = "a"
"""A text that every embedder can embed: one that fails on it is down."""
_TAB = "\t"
"""Separates the parts of a mark; no name contains it."""
_PARTS = 6
"""Of what a mark says of an owner beside its version; fewer in a mark of before 0.3."""
Progress = Callable[[int, int], None]
Stop = Callable[[], bool]


@dataclass(slots=True)
class EmbeddingRun:
    """The result of a run for one owner."""

    owner: str
    model: str | None
    """The owner's model; None for word search only."""
    embedded: int = 0
    """Contents that got a vector."""
    dropped: int = 0
    """Removed vectors, of all models."""
    already: int = 0
    """Contents that had a vector."""
    left: int = 0
    """Contents without a vector: the run stopped before them, or they failed."""
    failed: list[dict[str, str]] = field(default_factory=list)
    """Memories whose content the embedder refuses, with the reason."""
    chosen: str | None = None
    """The owner's setting: `auto` or an embedder's name; None if vectors are only removed."""
    chosen_by: str | None = None
    """Where that is set: owner, setting or store."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {name: getattr(self, name) for name in self.__slots__}


def never() -> bool:
    """Never stop."""
    return False


class _Owner(NamedTuple):
    """An owner whose version changed since the last walk."""

    name: str
    version: str
    since: int | None
    """Applied events of the version last seen; None if this build has none."""
    chose: str
    """What counted for it then, as `_named` tells it."""
    embedder: str
    """Its parameter of that name."""
    rejections: str
    """As `rejections_text` tells what it rejected."""

    @property
    def hidden(self) -> tuple[int, str]:
        """How many of its memories were withheld for others then, and what was rejected."""
        parts = self.chose.split(_TAB)
        return (int(parts[3]), parts[4]) if len(parts) == _PARTS else (0, "")


class EmbeddingJob:
    """Keeps the vectors of a store up to date with its records. Safe for threads, and for several processes at once.

    `embedders` are asked when a text is to be embedded; None: vectors are only taken away.
    """

    def __init__(self, vectors: RedisVectors, embedders: Embedders | None, tell: Tell = silent) -> None:
        self._wires, self._tags = vectors.wires, vectors.tags
        self._vectors = vectors
        self._embedders = embedders
        self._tell = tell

    def carry_out(
        self, owner: str, *, on_progress: Progress = lambda _done, _total: None, stop: Stop = never
    ) -> EmbeddingRun:
        """Everything about one owner, under the model that counts for it; stored after each batch: whoever is killed goes on there.

        Raises EmbedderFailed where the embedder is down, BadSetting where this process lacks it, both with its name (`embedder`);
        StoreFull from 75 % of maxmemory on, StoreError, and DamagedState where the owner's secret was lost; what was done stays.
        """
        return self._carry_out(owner, on_progress, stop, {})

    def _carry_out(
        self, owner: str, on_progress: Progress, stop: Stop, down: Mapping[str, EngramlogError]
    ) -> EmbeddingRun:
        """`down`: embedders that failed just now, with what they raised: raised again before they are asked."""
        done = EmbeddingRun(owner, None)
        if self._embedders is None and not self._vectors.models_of(owner):
            return done
        there = self._stored(owner)  # before contents are read: later ones are another run's work
        known = self._read(owner)
        self._tidy(owner, known, there, done)
        if self._embedders is None:
            self._note(owner, NO_MODEL, f"{known.version}{_TAB}{_named('', '', known, None)}")
            return done
        chosen = self._embedders.chosen(known.embedder, lambda: known.of_other_letters)
        done.chosen, done.chosen_by = chosen.said, chosen.by
        if chosen.name != NONE:
            try:
                if chosen.name in down:
                    raise down[chosen.name]
                self._fill(owner, self._embedders.get(chosen), known, there, done, on_progress, stop)
            except (EmbedderFailed, BadSetting) as error:
                error.context["embedder"] = chosen.name
                raise
        if done.left == len(done.failed):
            self._note(owner, self._mark, f"{known.version}{_TAB}{_named(chosen.said, chosen.name, known, done.model)}")
        return done

    def _fill(
        self,
        owner: str,
        embedder: Embedder,
        known: OwnerTexts,
        there: dict[str, dict[bytes, int]],
        done: EmbeddingRun,
        on_progress: Progress,
        stop: Stop,
    ) -> None:
        """Embed contents without a vector of the owner's model."""
        known.refuse_nameless(owner)
        done.model, stored = embedder.model, there.get(embedder.model, {})
        # A model that gives other sizes than it did is another model under the same name.
        size = embedder.question(PROBE).whole.size if stored else 0
        missing = [key for key in known.texts if not size or stored.get(key) != size]
        done.already, done.left = len(known.texts) - len(missing), len(missing)
        self._embed_all(owner, embedder, [(key, known.texts[key]) for key in missing], done, on_progress, stop)
        if done.embedded and self._token(owner) != known.token:
            there = self._stored(owner)
            self._tidy(owner, self._read(owner), there, done)  # memories purged meanwhile were embedded too

    @property
    def _mark(self) -> str:
        """Under which name walks are noted: by what counts for owners who chose nothing, and what this process lacks."""
        return NO_MODEL if self._embedders is None else mark_of(self._embedders)

    def _stored(self, owner: str) -> dict[str, dict[bytes, int]]:
        """The stored vectors, by model and key: dimensions, or 0 if unreadable."""
        return {model: self._vectors.stored(owner, model) for model in self._vectors.models_of(owner)}

    def _tidy(self, owner: str, known: OwnerTexts, there: dict[str, dict[bytes, int]], done: EmbeddingRun) -> None:
        """Remove vectors of every model that no memory needs."""
        for model, stored in there.items():
            gone = stored.keys() - known.texts.keys()
            if gone:
                done.dropped += self._vectors.drop(owner, model, gone)

    def _embed_all(
        self,
        owner: str,
        embedder: Embedder,
        missing: Sequence[tuple[bytes, Text]],
        done: EmbeddingRun,
        on_progress: Progress,
        stop: Stop,
    ) -> None:
        waiting = iter(missing)
        while not stop() and (batch := list(islice(waiting, BATCH))):
            try:
                vectors = self._embed(owner, embedder, batch, done)
                self._put(owner, embedder.model, vectors)
            except EngramlogError as error:
                error.message += (
                    f"; {done.embedded:,} texts of owner {owner} embedded before stay, {done.left:,} are left"
                )
                error.args = (error.message,)
                error.context |= {"owner": owner, "embedded": done.embedded, "left": done.left}
                raise
            done.embedded += len(vectors)
            done.left -= len(vectors)
            on_progress(done.embedded + len(done.failed), len(missing))

    def _put(self, owner: str, model: str, vectors: dict[bytes, Embedded]) -> None:
        try:
            self._vectors.put(owner, model, vectors)
        except ValueError as error:
            raise EmbedderFailed(f"the embedder {model} gave what are no vectors: {error}", model=model) from error

    def _embed(
        self, owner: str, embedder: Embedder, batch: Sequence[tuple[bytes, Text]], done: EmbeddingRun
    ) -> dict[bytes, Embedded]:
        """The batch's vectors. A batch that fails is halved until the failing text is alone, and left out."""
        try:
            vectors = embedder.texts([text.text for _, text in batch])
            return {key: one for (key, _), one in zip(batch, vectors, strict=True)}
        except EmbedderFailed as error:
            embedder.texts([_PROBE])  # raises where it is the embedder that fails, and not a text
            if len(batch) > 1:
                half = len(batch) // 2
                first = self._embed(owner, embedder, batch[:half], done)
                return first | self._embed(owner, embedder, batch[half:], done)
            memory_id = batch[0][1].memory_id
            done.failed.append({"id": memory_id, "message": error.message})
            # Not its message, which may hold the text; that of a failed probe holds none.
            self._tell("text skipped", alarm=True, owner=owner, memory=memory_id, reason=type(error).__name__)
            return {}

    def _read(self, owner: str) -> OwnerTexts:
        with self._wires.wire() as wire:
            return read_texts(wire, self._tags[partition_of(owner, len(self._tags))], owner)

    def _token(self, owner: str) -> bytes | None:
        tag = self._tags[partition_of(owner, len(self._tags))]
        with self._wires.wire() as wire:
            token: bytes | None = wire.call("HGET", live_build(wire, tag).owners, owner)
            return token

    def _note(self, owner: str, model: str, version: str) -> None:
        with self._wires.wire() as wire:
            wire.call("HSET", self._vectors.keys_of(owner).seen(model), owner, version)

    def walk(self, partition: int, *, stop: Stop = never) -> dict[str, int]:
        """Every owner of a partition that changed since the last walk: owners looked at, embedded, dropped, failed.

        One round trip where nothing was folded since. An owner's trouble is told, and does not stop the others; the next walk
        looks again. Raises EmbedderFailed where an embedder is down, after the owners of others, and StoreError.
        """
        mark = self._mark
        tag, counts = self._tags[partition], {"owners": 0, "embedded": 0, "dropped": 0, "failed": 0}
        with self._wires.wire() as wire:
            keys = live_build(wire, tag)
            at = walked_to(wire, keys)
            if wire.call("HGET", VectorKeys(tag).models, mark) == at.encode():
                return counts
            changed = list(self._changed(wire, keys, mark))
        down: dict[str, EngramlogError] = {}
        for one in changed:
            if stop():
                return counts
            try:
                counts["owners"] += 1
                self._walk_owner(one, mark, counts, stop, down)
            except StoreError:
                raise
            except EmbedderFailed as error:
                down[str(error.context.get("embedder"))] = error
            except EngramlogError as error:
                counts["failed"] += 1
                reason = f"{type(error).__name__}: {error.message}"
                self._tell("owner skipped", alarm=True, owner=one.name, reason=reason)
        if down:
            raise next(iter(down.values()))
        if not counts["failed"] and not stop():
            with self._wires.wire() as wire:
                # A mark of a model that no owner was looked at under is what `verify` refuses.
                if wire.call("EXISTS", VectorKeys(tag).seen(mark)):
                    wire.call("HSET", VectorKeys(tag).models, mark, at)
        return counts

    def _walk_owner(
        self, one: _Owner, mark: str, counts: dict[str, int], stop: Stop, down: Mapping[str, EngramlogError]
    ) -> None:
        if down and self._likely(one).name in down and not self._vectors.models_of(one.name):
            return  # there is nothing to take away either
        if not self._concerned(one):
            self._note(one.name, mark, one.version + (_TAB + one.chose if one.chose else ""))
            return
        try:
            done = self._carry_out(one.name, lambda _done, _total: None, stop, down)
        except BadSetting as error:
            if self._embedders is None or self._embedders.plan.setting == error.context.get("embedder"):
                raise
            self._tell("owner not embedded", alarm=True, owner=one.name, reason=error.message)
            if self._embedders.plan.embeds:  # what this process lacks another may have, whose walks have another name
                self._note(one.name, mark, one.version)
            else:
                counts["failed"] += 1
            return
        counts["embedded"] += done.embedded
        counts["dropped"] += done.dropped

    def _changed(self, wire: Wire, keys: BuildKeys, mark: str) -> Iterator[_Owner]:
        """Owners whose version changed since the last walk of this name."""
        seen, cursor = VectorKeys(keys.tag).seen(mark), b"0"
        while True:
            cursor, page = wire.call("HSCAN", keys.owners, cursor, "COUNT", PAGE)
            if page:
                versions = wire.call("HMGET", seen, *page[::2])
                for name, raw, noted in zip(page[::2], page[1::2], versions, strict=True):
                    state = read_owner(keys, name.decode(), raw)
                    version, (last, _, chose) = version_text(keys, state), (noted or b"").decode().partition(_TAB)
                    if version != last:
                        of_this_build = last.startswith(f"{version_of(keys.build)}/")
                        since = int(last.partition("/")[2]) if of_this_build else None
                        embedder = parameters_of(state.settings).embedder
                        rejected = rejections_text(state.rejections)
                        yield _Owner(name.decode(), version, since, chose, embedder, rejected)
            if cursor == b"0":
                return

    def _likely(self, one: _Owner) -> EmbedderChosen:
        """What counts for an owner, where its letters are as they were."""
        assert self._embedders is not None, "without embedders nothing counts"
        return self._embedders.chosen(one.embedder, lambda: USE in one.chose.split(_TAB)[:2])

    def _model_then(self, one: _Owner) -> str | None:
        """The model that counted for an owner when it was last seen, where it still counts as far as settings tell; else None."""
        if self._embedders is None:
            return NO_MODEL
        chosen = self._likely(one)
        if one.chose.split(_TAB)[:2] != [chosen.said, chosen.name]:
            return None
        try:
            return NO_MODEL if chosen.name == NONE else self._embedders.get(chosen).model
        except BadSetting:
            return None

    def _concerned(self, one: _Owner) -> bool:
        """Whether changes since a version may need or lose a vector: most are accesses and mentions."""
        owner, since = one.name, one.since
        models, model = self._vectors.models_of(owner), self._model_then(one)
        if model is None or since is None or not (model or models):
            return model is None or bool(model or models)
        withheld, rejected = one.hidden
        tag = self._tags[partition_of(owner, len(self._tags))]
        with self._wires.wire() as wire:
            keys = live_build(wire, tag)
            changed: list[Argument] = [
                "ZRANGEBYSCORE",
                keys.changes(owner),
                f"({since}",
                "+inf",
                "LIMIT",
                0,
                MOST_CHANGED,
            ]
            counted: list[Argument] = ["HLEN", keys.records(owner)]
            ids, records = wire.answers([changed, counted])
            secret, cipher = usable_secret(wire, keys.log, owner), cipher_of(wire, keys, owner)
            # Letters move by what wants or loses a vector, and by a further memory whose text has one.
            letters = one.chose.startswith(AUTO + _TAB) and one.chose.split(_TAB)[2] != str(records)
            # Which words are hidden by what is rejected, or are no more, no record tells.
            if len(ids) == MOST_CHANGED or not secret or letters or rejected != one.rejections:
                return True
            raws = wire.call("HMGET", keys.records(owner), *ids) if ids else []
            memories = [
                read_record(keys, owner, name.decode(), raw, cipher) for name, raw in zip(ids, raws, strict=True) if raw
            ]
        if any(map(_hides_words, memories)) and models:
            return True
        wanted = [content_key(secret, text) for memory in memories if (text := embedded_text(memory))] if model else []
        shown = bool(withheld and model) and any(map(_may_show_words, memories))
        if shown or self._vectors.has(owner, model, wanted) != set(wanted):
            return True
        old = [content_key(secret, text) for memory in memories for text in _given_up(memory)]
        return any(self._vectors.has(owner, one, old) for one in models)


def _hides_words(memory: Memory) -> bool:
    """Whether an account that has words of it may have to lose its vector; which accounts have, no record tells."""
    taken = memory.deleted_at is not None and memory.deletion == "user_delete"
    return taken or memory.purged_at is not None or memory.sensitivity >= SECRET


def _may_show_words(memory: Memory) -> bool:
    """Whether an account that has words of it may be told again, if they were hidden."""
    judged = memory.restored_at is not None or memory.sensitivity_set_at is not None
    return judged or bool(memory.user_mentions or memory.versions)


def _given_up(memory: Memory) -> list[str]:
    """Contents that a record held once, and may be the reason for a vector that nobody needs."""
    return [version.content for version in memory.versions] + ([memory.content] if memory.sensitivity >= SECRET else [])


def mark_of(embedders: Embedders) -> str:
    """Under which name walks by these embedders are noted. No model is called so: it begins with a colon."""
    lacking = embedders.lacking() if embedders.plan.embeds else []
    return f":{embedders.plan.base[0]}" + (f" without {', '.join(lacking)}" if lacking else "")


def walked_to(wire: Wire, keys: BuildKeys) -> str:
    """How far a partition is folded, as recorded by a walk over all of it."""
    return f"{keys.build}/{int(wire.call('HGET', keys.checkpoint, 'seq') or 0)}"


def _named(said: str, name: str, known: OwnerTexts, model: str | None) -> str:
    """What counts for an owner with these memories, as a mark holds it."""
    hidden = str(known.withheld), known.rejections
    return _TAB.join((said, name, str(known.records), *hidden, model or NO_MODEL))
