"""What the view of a moment costs anew and out of the present, beside the present taken from its kept form."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

from events.redis.log import RedisEventLog
from ops.bench.search import OWNER
from ops.bench.search_memories import NOW
from projections.fold.owner import OwnerHistory, fold_owner
from projections.ranking.recall import search
from projections.redis.view import RedisViews
from projections.views.kept_view import kept_view, packed_view
from projections.views.packed import packed, unpacked
from projections.views.query import ViewQuery
from projections.views.view import OwnerView

_PIECE = 500
_ROUNDS = 5


def measure(views: RedisViews, log: RedisEventLog) -> dict[str, Any]:
    """Medians in milliseconds: the present from its bytes, and a moment half of the events ago, made and searched in both ways."""
    with views.view(OWNER) as (view, _):
        block = b"".join(packed(packed_view(view.taken())))
        kept = kept_view(unpacked(memoryview(bytearray(block))))
        hidden = [view.as_folded(view.columns.memories[row]) for row in kept.hidden]
        state, history = view.state, _halfway(views, log)
    told: dict[str, list[float]] = {"present_from_kept": [], "past_anew": [], "past_from_present": []}
    for _ in range(_ROUNDS):
        present = _timed(told, "present_from_kept", lambda: _present(state, block, hidden))
        for name, of in (("past_anew", None), ("past_from_present", present)):
            _timed(told, name, lambda of=of: _asked(history, of))  # type: ignore[misc]
    return {f"{name}_cpu_milliseconds": round(median(taken) * 1e3, 1) for name, taken in told.items()}


def _present(state: Any, block: bytes, hidden: list[Any]) -> OwnerView:
    return OwnerView.of_kept(OWNER, state, kept_view(unpacked(memoryview(bytearray(block)))), hidden)


def _asked(history: OwnerHistory, present: OwnerView | None) -> None:
    past = OwnerView.of_history(OWNER, history, present=present)
    search(ViewQuery(past, NOW, "review"), "coffee", 10)


def _halfway(views: RedisViews, log: RedisEventLog) -> OwnerHistory:
    seqs = views.changelogs.seqs(OWNER)
    half = seqs[: len(seqs) // 2]
    stored = (one for at in range(0, len(half), _PIECE) for one in views.stored(OWNER, half[at : at + _PIECE]))
    return fold_owner(stored, secret=log.secrets_of([OWNER]).get(OWNER, b""))


def _timed(told: dict[str, list[float]], name: str, run: Callable[[], Any]) -> Any:
    start = process_time()
    found = run()
    told[name].append(process_time() - start)
    return found
