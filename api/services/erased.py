"""What stays although a turn that it was drawn from has lost its words for good: it is told that its source was erased."""

from __future__ import annotations

from projections.redis.view import RedisViews
from projections.shapes import OriginTree
from projections.views.view import OwnerView


def tell_erased_sources(views: RedisViews, owner: str, view: OwnerView, told: OriginTree) -> None:
    """Mark the origins of which a source turn was erased, whatever time is asked about. Raises StoreError."""
    named = {
        node["id"]: [(turn, _session(view, node["id"])) for turn in node.get("source_turns") or ()]
        for node in told["nodes"]
    }
    gone = views.erased_turns.among(owner, (turn for turns in named.values() for turn in turns))
    for node in told["nodes"] if gone else ():
        if not gone.isdisjoint(named[node["id"]]):
            node["source_erased"] = True


def _session(view: OwnerView, memory_id: str) -> str | None:
    memory = view.get(memory_id)
    return None if memory is None else memory.session
