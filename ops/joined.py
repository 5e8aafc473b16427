"""The application on an open store: `api.application`, with the services that stand on jobs and on the store's own parts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from api.application import Application, joined
from api.choices import MODEL, RULES
from events.redis.wire import Wire, connect
from ops.catch_up import FoldCatchUp, Tell, workers_of
from ops.models import NO_MODEL, Model
from ops.store import OpenStore, silent

if TYPE_CHECKING:
    from api.services.accesses import AccessRecorder
    from api.services.auditing.supervision import DiskRoom, Supervision
    from api.services.cleaning import Cleaner
    from api.services.episodes import Episodes
    from api.services.extracting import Extractor
    from api.services.store.embedding import Embeddings
    from api.services.store.operating import Operator
    from api.services.store.owners import Owners
    from consumers.jobs.lifecycle import LifecycleJobs
    from projections.redis.meanings import Meanings

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
    ) -> None:
        super().__init__(store.log, store.views, catch_up, meanings)
        self.recovery = store.embedded.recovery if store.embedded else None
        self.mended = store.mended
        self._store = store
        self._tell = tell
        self._queue_url = queue_url
        self._model = model

    def cache_counts(self) -> dict[tuple[str, str], int]:
        """See `Application.cache_counts`; of questions' vectors too, where one embeds."""
        from projections.embedding.embedder import CachingEmbedder

        embedder = None if self._meanings is None else self._meanings.made
        asked = embedder.asked if isinstance(embedder, CachingEmbedder) else {}
        return super().cache_counts() | {("question", found): count for found, count in asked.items()}

    @joined
    def accesses(self) -> AccessRecorder:
        from api.services.accesses import AccessRecorder

        alarms = self._store.alarms
        return AccessRecorder(
            self.log, self._tell, lambda many, why: alarms.raised("accesses_lost", "", why, times=many)
        )

    @joined
    def operator(self) -> Operator:
        from api.services.auditing.statistics import OwnerStatistics
        from api.services.store.operating import Operator
        from consumers.jobs.leader import lifecycle_status

        store = self._store
        queue = connect(self._queue_url, timeout=QUEUE_SECONDS) if self._queue_url else store.client
        return Operator(
            self._wire,
            store.identity,
            store.log,
            OwnerStatistics(self.views, self.reader, self._meanings),
            self.writer,
            workers_of,
            partial(lifecycle_status, queue, store.identity.store_id, len(store.identity.tags)),
            store.alarms,
            let_go=store.log.let_go,
            accesses=self.accesses.figures,
        )

    @joined
    def supervision(self) -> Supervision:
        from api.services.auditing.supervision import Supervision

        embedded = self._store.embedded
        return Supervision(self._wire, None if embedded is None else partial(_disk_of, embedded.folder))

    @joined
    def owners(self) -> Owners:
        from api.services.store.owners import Owners

        return Owners(self._wire, self._store.identity.tags)

    @joined
    def cleaner(self) -> Cleaner:
        from api.services.cleaning import Cleaner
        from consumers.jobs.embedding import EmbeddingJob
        from ops.reviewers import lifecycle_of

        store = self._store
        return Cleaner(
            lifecycle_of(self._model, self._lifecycle, self._tell),
            partial(owners_of_all, store),
            store.log,
            self.reader,
            self._catch_up,
            EmbeddingJob(store.vectors, None, self._tell).carry_out,
            store.views.passing,
        )

    @joined
    def embeddings(self) -> Embeddings:
        from api.services.store.embedding import Embeddings
        from consumers.jobs.embedding import EmbeddingJob

        store, meanings = self._store, self._meanings
        job = None if meanings is None else EmbeddingJob(store.vectors, lambda: meanings.embedder, self._tell)
        return Embeddings(job, meanings, partial(owners_of_all, store), store.log, self.reader, self._catch_up)

    @joined
    def episodes(self) -> Episodes:
        from api.services.episodes import Episodes
        from consumers.jobs.episodes import EpisodeJob

        job = EpisodeJob(self.log, self.views, self._catch_up, chat=self._model.summariser)
        return Episodes(job, self.log, self._catch_up)

    @joined
    def extractor(self) -> Extractor:
        from api.services.extracting import Extractor
        from consumers.jobs.extraction import ExtractionJob

        ways = {RULES: ExtractionJob(self.views, self._lifecycle)}
        if self._model.chat is not None:
            ways[MODEL] = ExtractionJob(self.views, self._lifecycle, self._model.chat)
        return Extractor(ways, self.log, self.reader, self._catch_up, self._model.prices)

    @joined
    def _lifecycle(self) -> LifecycleJobs:
        from consumers.jobs.lifecycle import LifecycleJobs

        return LifecycleJobs(self.log, self.views, self._catch_up)

    def _wire(self) -> Wire:
        return Wire(self._store.client)


def _disk_of(folder: Path) -> DiskRoom:
    """How the disk of a data folder stands. Raises OSError where the folder is gone."""
    from api.services.auditing.supervision import DiskRoom
    from ops.embedded.disk import look

    disk = look(folder)
    return DiskRoom(disk.free, disk.total, disk.wanted)


def owners_of_all(store: OpenStore) -> list[str]:
    """Every owner of a store, by partition."""
    from consumers.jobs.lifecycle import owners_of

    wire = store.wire()
    try:
        return [owner for tag in store.identity.tags for owner in owners_of(wire, tag)]
    finally:
        wire.close()
