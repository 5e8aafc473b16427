"""A store filled for one benchmark: events appended and folded, ready to be asked."""

from __future__ import annotations

from collections.abc import Sequence

from consumers.fold.worker import FoldWorker
from events.envelope import Prepared
from ops.bench.fold import GIVE_UP_SECONDS, fill
from ops.bench.server import BenchServer


def filled(server: BenchServer, ready: Sequence[Prepared]) -> tuple[str, ...]:
    """A new store with these events, all folded; its tags."""
    tags, heads = fill(server, ready)
    worker = FoldWorker(server.client, tags, "bench")
    done = worker.drain(heads, GIVE_UP_SECONDS)
    worker.hand_over()
    assert done, "the fold did not finish"
    return tags
