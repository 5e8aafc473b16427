"""Models as the settings name them and what asking them took, and the job queue. Reads only.

`consumers` reads the queue, and `ops` passes that in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engramlog_server.api.requests.checks import check_limit
from engramlog_server.api.shapes import ChatSet, EmbedderSet, JobBoard, ModelsUsed, TokensUsed
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.redis.clock import redis_micros
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.projections.redis.model_uses import UseCounted, last_days, read_uses


class JobQueue:
    """Tells the jobs of one store. Safe for threads if `board` is."""

    def __init__(self, board: Callable[[], JobBoard]) -> None:
        self._board = board

    def jobs(self) -> JobBoard:
        """Every kind of job with how it last went, and the jobs that run, wait or failed, at most 200. Reads only."""
        return self._board()


DAYS, MOST_DAYS = 30, 366


class ModelsNamed(NamedTuple):
    """The models of the settings."""

    chat: ChatSet | None = None
    embedder: EmbedderSet | None = None


class ModelUses:
    """Tells what models took. Safe for threads."""

    def __init__(self, wires: WirePool, named: Callable[[], ModelsNamed], lost: Callable[[], int]) -> None:
        """`named`: the models, and how the embedder was asked in this process; `lost`: questions that it could not count."""
        self._wires = wires
        self._named = named
        self._lost = lost

    def models(self, *, days: int = DAYS) -> ModelsUsed:
        """Each model and use since counting began, and by day over the last `days` (1 to 366). Raises InputError, StoreError."""
        check_limit(days, MOST_DAYS, "days")
        with self._wires.wire() as wire:
            now = from_micros(redis_micros(wire))
            in_all, by_day = read_uses(wire, last_days(now, days))
        named = self._named()
        return {
            "at": utc_text(now),
            "since": min((one.first for one in in_all if one.first), default=None),
            "chat": named.chat,
            "embedder": named.embedder,
            "used": [{**_told(one), "first": one.first, "last": one.last} for one in in_all],
            "days": [{**_told(one), "day": day} for day, found in by_day.items() for one in found],
            "lost": self._lost(),
        }


def _told(one: UseCounted) -> TokensUsed:
    counts = one.counts
    return {
        "model": one.model,
        "use": one.use,
        "asked": counts["asked"],
        "failed": counts["failed"],
        "requests": counts["requests"],
        "input_tokens": counts["input_tokens"],
        "output_tokens": counts["output_tokens"],
    }
