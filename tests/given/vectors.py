"""A live store with an embedder beside it, for tests of vectors and of searching by meaning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engramlog_server.api.services.reading import Reader
from engramlog_server.consumers.jobs.embedding import EmbeddingJob
from engramlog_server.events.envelope import prepare
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.events.validation import make_event
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.embedding.meaning import Embedder, Sense, content_key
from engramlog_server.projections.ranking.question import MeantQuestion
from engramlog_server.projections.redis.vectors import Meanings, RedisVectors
from engramlog_server.projections.redis.view import RedisViews
from tests.doubles.embedding import WordEmbedder
from tests.given.events import Told, moment
from tests.integration.live import Live, wait_until


class Vectors:
    """A live store with what embeds it."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.views = RedisViews(live.client, live.identity.tags)
        self.vectors = RedisVectors(WirePool(live.client), live.identity.tags)
        self.embedder = WordEmbedder()
        self.meanings = self.meanings_by(self.embedder)
        self.job = self.job_by(self.embedder)
        self.reader = Reader(live.log, self.views, None, self.meanings)

    def meanings_by(self, embedder: Embedder) -> Meanings:
        return Meanings(Embedders.alone(lambda: embedder), self.vectors)

    def job_by(self, embedder: Embedder | None) -> EmbeddingJob:
        return EmbeddingJob(self.vectors, None if embedder is None else Embedders.alone(lambda: embedder))

    def tell(self, owner: str, *events: Told) -> None:
        """Append these events and have them folded."""
        now = self.live.log.now()
        made = [
            make_event(t.data, owner=owner, occurred_at=moment(t.day), actor=t.actor, now=now, **t.extra)
            for t in events
        ]
        self.live.append(*(prepare(event) for event in made))
        wait_until(self.live.folded)

    def sensed(self, owner: str, query: str, meanings: Meanings | None = None) -> tuple[Sense, list[str]]:
        """The question's sense, and the ids of the rows."""
        with self.views.view(owner) as (view, _):
            by = meanings or self.meanings
            sense = by.sense(view, owner, MeantQuestion(query, alone=True))
            assert sense is not None
            copied = replace(sense, wholes=sense.wholes.copy(), known=sense.known.copy())
            return copied, [memory.id for memory in view.columns]

    def named(self, *texts: str, owner: str = "ada") -> set[bytes]:
        """The names under which vectors of these texts are kept."""
        (secret,) = self.live.log.secrets_of([owner]).values()
        return {content_key(secret, text) for text in texts}

    def known(self, owner: str, meanings: Meanings | None = None) -> set[str]:
        """Ids of the memories that have a vector."""
        sense, ids = self.sensed(owner, "any", meanings)
        return {memory_id for memory_id, known in zip(ids, sense.known, strict=True) if known}

    def nearest(self, owner: str, query: str) -> str:
        sense, ids = self.sensed(owner, query)
        return ids[int(np.argmax(sense.wholes @ sense.question.whole))]

    def fields(self, owner: str) -> set[bytes]:
        """Every field of every hash of vectors of this owner, under whatever model."""
        keys = list(self.live.client.scan_iter(match="*:ve[cp]:*", count=1_000))
        mine = [key for key in keys if key.endswith(f":{owner}".encode())]
        return {field for key in mine for field in self.live.client.hkeys(key)}
