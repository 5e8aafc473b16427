"""The application on an open store: `api.application`, with the services that stand on jobs and on the store's own parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from engramlog_server.api.application import Application, joined
from engramlog_server.api.choices import MODEL, RULES
from engramlog_server.consumers.fold.presence import LEASE_MS, known_workers
from engramlog_server.events.redis.append import TAKES_NOTHING
from engramlog_server.events.redis.client import connect
from engramlog_server.events.redis.wire import Wire, WirePool, open_wire
from engramlog_server.ops.after_write import OFF, EmbeddingQueue, TurnReading
from engramlog_server.ops.catch_up import FoldCatchUp, Tell
from engramlog_server.ops.clock import now
from engramlog_server.ops.models import NO_MODEL, Model, counted
from engramlog_server.ops.store import OpenStore, silent

if TYPE_CHECKING:
    from engramlog_server.api.services.accesses import AccessRecorder
    from engramlog_server.api.services.capacity import (
        Capacities,
        DiskRoom,
        JobQueue,
        ModelsNamed,
        ModelUses,
        Supervision,
    )
    from engramlog_server.api.services.heads import Heads
    from engramlog_server.api.services.jobs import Cleaner, Embeddings, Episodes, Extractor
    from engramlog_server.api.services.operating import Operator, Owners
    from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
    from engramlog_server.events.heads import HeadBook
    from engramlog_server.projections.models.chat import Chat, ModelAsked
    from engramlog_server.projections.redis.meanings import Meanings
    from engramlog_server.projections.redis.model_uses import ModelLedger
    from engramlog_server.projections.shapes import EmbedderSet, EmbedderStanding, JobBoard, Schedule
    from engramlog_server.projections.views.view import OwnerView


QUEUE_SECONDS = 2.0
"""How long `status` waits for a queue on another Redis."""


class JoinedApplication(Application):
    """The application on an open store. Without a model rules read and review."""

    _catch_up: FoldCatchUp
    _meanings: Meanings | None

    def __init__(
        self,
        store: OpenStore,
        catch_up: FoldCatchUp,
        tell: Tell = silent,
        *,
        queue_url: str | None = None,
        meanings: Meanings | None = None,
        model: Model = NO_MODEL,
        kept_heads: Callable[[], HeadBook] | None = None,
        extraction: str = OFF,
        embeds_writes: bool = False,
    ) -> None:
        """`kept_heads` reads the heads that are kept beside this process, where any are. `extraction`: what extracts statements
        from new turns: rules, model or off. `embeds_writes`: embed single writes right after them, in a process that stays."""
        super().__init__(store.log, store.views, catch_up, meanings)
        self.recovery = store.embedded.recovery if store.embedded else None
        self.mended = store.mended
        self._store = store
        self._tell = tell
        self._queue_url = queue_url
        self._model = model
        self._kept_heads = kept_heads
        self._turn_reading = None if extraction == OFF else TurnReading(self, extraction, tell)
        self._embedding_queue = (
            None if meanings is None or not embeds_writes else EmbeddingQueue(meanings, self._view_of, tell)
        )

    @contextmanager
    def _view_of(self, owner: str) -> Iterator[OwnerView]:
        with self.views.view(owner) as (view, _):
            yield view

    def texts_written(self, owner: str, texts: int) -> None:
        """Have the texts of a single write embedded soon, after the write is acknowledged."""
        if self._embedding_queue is not None:
            self._embedding_queue.put(owner, texts)

    def turns_written(self, owner: str) -> None:
        """Have the turns extracted soon, after the write is acknowledged."""
        if self._turn_reading is not None:
            self._turn_reading.written(owner)

    def await_turns(self, owner: str) -> None:
        """See `Application.await_turns`."""
        if self._turn_reading is not None:
            self._turn_reading.wait(owner)

    def settle(self) -> None:
        """See `Application.settle`; first the turns that were written are extracted."""
        if self._turn_reading is not None:
            self._turn_reading.close()
        super().settle()

    def close(self) -> None:
        """See `Application.close`."""
        if self._turn_reading is not None:
            self._turn_reading.close()
        if self._embedding_queue is not None:
            self._embedding_queue.close()
        super().close()

    def cache_counts(self) -> dict[tuple[str, str], int]:
        """See `Application.cache_counts`; of questions' vectors too, where one embeds."""
        return super().cache_counts() | {("question", found): count for found, count in self._questions().items()}

    def _questions(self) -> dict[str, int]:
        """How often questions' vectors were asked for in this process, by where they came from; under all models."""
        made = {} if self._meanings is None else self._meanings.embedders.made
        if not made:
            return {}
        from engramlog_server.projections.embedding.embedder import CachingEmbedder

        counts = Counter[str]()
        for embedder in made.values():
            counts.update(embedder.asked if isinstance(embedder, CachingEmbedder) else {})
        return dict(counts)

    @joined
    def accesses(self) -> AccessRecorder:
        from engramlog_server.api.services.accesses import AccessRecorder

        return AccessRecorder(self.log, self._tell, self._tell_lost)

    def _tell_lost(self, many: int, why: str) -> None:
        """An alarm about accesses that were not recorded; none of a restored copy, which says so itself, and is nobody's yet."""
        if TAKES_NOTHING not in why:
            self._store.alarms.raised("accesses_lost", "", why, times=many)

    @joined
    def operator(self) -> Operator:
        from engramlog_server.api.services.operating import Operator
        from engramlog_server.api.services.statistics import OwnerStatistics

        store = self._store
        return Operator(
            store.wires,
            store.identity,
            store.log,
            OwnerStatistics(self.views, self.reader, self._meanings),
            self.writer,
            partial(known_workers, lease_ms=LEASE_MS),
            self._schedule,
            store.alarms,
            let_go=store.log.let_go,
            on_head=store.views.on_head,
            min_replicas=store.log.least_replicas,
            accesses=self.accesses.figures,
            embedder=self._embedder_standing,
            sealing=store.client.seals.standing,
        )

    def _schedule(self) -> Schedule:
        from engramlog_server.consumers.jobs.status import lifecycle_status

        identity = self._store.identity
        with self._queue.wire() as wire:
            return cast("Schedule", lifecycle_status(wire, identity.store_id, identity.partitions))

    def _board(self) -> JobBoard:
        from engramlog_server.consumers.jobs.status import job_board

        identity = self._store.identity
        with self._queue.wire() as wire:
            return cast("JobBoard", job_board(wire, identity.store_id, identity.partitions))

    @joined
    def supervision(self) -> Supervision:
        from engramlog_server.api.services.capacity import Supervision

        embedded = self._store.embedded
        return Supervision(self._wire, None if embedded is None else partial(_disk_of, embedded.folder))

    @joined
    def _queue(self) -> WirePool:
        """Connections to the queue of jobs."""
        return WirePool(connect(self._queue_url, timeout=QUEUE_SECONDS)) if self._queue_url else self._store.wires

    @joined
    def heads(self) -> Heads:
        from engramlog_server.api.services.heads import Heads

        return Heads(self._store.wires, self._store.identity, self._kept_heads)

    @joined
    def job_queue(self) -> JobQueue:
        from engramlog_server.api.services.capacity import JobQueue

        return JobQueue(self._board)

    @joined
    def capacities(self) -> Capacities:
        from engramlog_server.api.services.capacity import Capacities

        return Capacities(self._store.wires, self._store.identity.tags, self.supervision.kept)

    @joined
    def model_uses(self) -> ModelUses:
        from engramlog_server.api.services.capacity import ModelUses

        return ModelUses(self._store.wires, self._models_named, lambda: self._ledger.lost)

    @joined
    def _ledger(self) -> ModelLedger:
        from engramlog_server.projections.redis.model_uses import ModelLedger

        return ModelLedger(self._store.wires, now)

    def _note_asked(self, asked: ModelAsked) -> None:
        self._ledger.note(asked)

    def _models_named(self) -> ModelsNamed:
        from engramlog_server.api.services.capacity import ModelsNamed

        return ModelsNamed(self._model.chat_set, self._embedder_set())

    def _embedder_standing(self) -> EmbedderStanding | None:
        """What of it is there in this process, and loaded."""
        from engramlog_server.ops.embedders import standing_of

        return None if self._meanings is None else standing_of(self._meanings.embedders)

    def _embedder_set(self) -> EmbedderSet | None:
        """What compares meanings for owners who chose nothing, and how it was asked in this process."""
        from engramlog_server.ops.embedders import standing_of

        embedders = None if self._meanings is None else self._meanings.embedders
        standing = None if embedders is None else standing_of(embedders)
        if standing is None:
            return None
        asked, name = self._questions(), standing["name"]
        return {
            "name": name,
            "chosen_by": standing["chosen_by"],
            "host": self._model.embedder_host if name.startswith("openai:") else None,
            "missing": standing["missing"],
            "loaded": bool(standing["loaded"]),
            "questions_computed": asked.get("computed", 0),
            "questions_remembered": asked.get("memory", 0),
        }

    def _chat(self, use: str) -> Callable[[], Chat] | None:
        """The model of the settings, where there is one; what asking it takes is counted for this use."""
        chat = self._model.chat
        return None if chat is None else counted(chat, use, self._ledger.note)

    @joined
    def owners(self) -> Owners:
        from engramlog_server.api.services.operating import Owners

        return Owners(self._store.wires, self._store.identity.tags)

    @joined
    def cleaner(self) -> Cleaner:
        from engramlog_server.api.services.jobs import Cleaner
        from engramlog_server.consumers.jobs.abstracting import AbstractionJob
        from engramlog_server.consumers.jobs.embedding import EmbeddingJob
        from engramlog_server.consumers.jobs.lifecycle import RULE
        from engramlog_server.consumers.jobs.reviewing import ReviewJob
        from engramlog_server.projections.lifecycle.reviewing_by_model import ModelReviewer
        from engramlog_server.projections.models.chat import FOR_PATTERNS, FOR_REVIEW

        store, model = self._store, self._model
        chat, finder = self._chat(FOR_REVIEW), None if model.finder is None else self._chat(FOR_PATTERNS)
        lifecycle: LifecycleJobs | ReviewJob = self._lifecycle
        if chat is not None and model.reviewer != RULE:
            lifecycle = ReviewJob(self._lifecycle, lambda: ModelReviewer(chat()), model.reviewer, self._tell)
        return Cleaner(
            lifecycle if finder is None else AbstractionJob(lifecycle, self._lifecycle, finder),
            partial(owners_of_all, store),
            store.log,
            self.reader,
            self._catch_up,
            EmbeddingJob(store.vectors, None, self._tell).carry_out,
            store.views.passing,
        )

    @joined
    def embeddings(self) -> Embeddings:
        from engramlog_server.api.services.jobs import Embeddings
        from engramlog_server.consumers.jobs.embedding import EmbeddingJob

        store, meanings = self._store, self._meanings
        job = None if meanings is None else EmbeddingJob(store.vectors, meanings.embedders, self._tell)
        return Embeddings(job, meanings, partial(owners_of_all, store), store.log, self._catch_up)

    @joined
    def episodes(self) -> Episodes:
        from engramlog_server.api.services.jobs import Episodes
        from engramlog_server.consumers.jobs.episodes import EpisodeJob
        from engramlog_server.projections.models.chat import FOR_SUMMARIES

        chat = None if self._model.summariser is None else self._chat(FOR_SUMMARIES)
        job = EpisodeJob(self.log, self.views, self._catch_up, chat=chat)
        return Episodes(job, self.log, self._catch_up)

    @joined
    def extractor(self) -> Extractor:
        from engramlog_server.api.services.jobs import Extractor
        from engramlog_server.consumers.jobs.extraction import ExtractionJob
        from engramlog_server.projections.models.chat import FOR_EXTRACTION

        ways = {RULES: ExtractionJob(self.views, self._lifecycle)}
        if (chat := self._chat(FOR_EXTRACTION)) is not None:
            ways[MODEL] = ExtractionJob(self.views, self._lifecycle, chat)
        return Extractor(ways, self.log, self.reader, self._catch_up)

    @joined
    def _lifecycle(self) -> LifecycleJobs:
        from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs

        return LifecycleJobs(self.log, self.views, self._catch_up, self._meanings)

    def _wire(self) -> Wire:
        return open_wire(self._store.client)


def _disk_of(folder: Path) -> DiskRoom:
    """How the disk of a data folder stands. Raises OSError where the folder is gone."""
    from engramlog_server.api.services.capacity import DiskRoom
    from engramlog_server.ops.embedded.disk import look

    disk = look(folder)
    return DiskRoom(disk.free, disk.total, disk.wanted, disk.reserve)


def owners_of_all(store: OpenStore) -> list[str]:
    """Every owner of a store, by partition."""
    from engramlog_server.consumers.jobs.lifecycle import owners_of

    with closing(store.wire()) as wire:
        return [owner for tag in store.identity.tags for owner in owners_of(wire, tag)]
