"""Vectors for memories that have none. This job appends no events: vectors follow from what is folded."""

from __future__ import annotations

from time import monotonic

from engramlog_server.consumers.jobs.embedding import EmbeddingJob
from engramlog_server.consumers.jobs.opened import GivenUp, OpenedStore, Walked, model_stopped
from engramlog_server.events.errors import BadSetting, EmbedderFailed, StoreFull

EMBED = "embed"
EMBED_SECONDS = 240.0
"""After so long the rest is left to the next job: a sweep must not wait for a whole import's vectors."""


def run(opened: OpenedStore, partition: int) -> Walked:
    """Vectors for the owners that changed. An embedder that fails rests for a minute."""
    served, until = opened.served, monotonic() + EMBED_SECONDS
    embedder = served.embedder
    if embedder is not None and embedder.rests:
        return Walked(0, 0, 0)
    job = EmbeddingJob(opened.vectors, None if embedder is None else embedder(), served.tell)
    try:
        done = job.walk(partition, stop=lambda: served.stop.is_set() or monotonic() > until)
    except (EmbedderFailed, BadSetting, StoreFull) as error:
        model_stopped(served, embedder, "embedding", error.message)
        return Walked(0, 0, 1)
    if served.stop.is_set():
        raise GivenUp
    return Walked(done["owners"], done["embedded"] + done["dropped"], done["failed"])
