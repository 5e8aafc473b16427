"""Which workers there are, and how many partitions are each one's share. `engramlog:workers` is touched by no partition script."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import msgspec

from engramlog_server.events.alarms import Tell, silent
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.partitions import WORKERS_KEY
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.fold.owner import PROJECTION_VERSION

LEASE_MS = 3_000
"""How long a lease of a partition, and an entry among the workers, lasts without renewal."""
RATE_BEATS = 11
"""Signs of life over which a worker tells how fast it folds: of about ten seconds."""
TELL_SECONDS = 60.0
"""How often it is told at most that nobody could be told."""
FORGET_AFTER = 20
"""Presence entries older than this many lease times are removed by whoever sees them."""


def fair_share(workers: Sequence[str], me: str, partitions: int) -> int:
    """How many of `partitions` are mine when they are spread as evenly as can be over the workers, by rank."""
    ranked = sorted({*workers, me})
    share, rest = divmod(partitions, len(ranked))
    return share + (ranked.index(me) < rest)


class Presence:
    """This worker's entry among the workers of a store."""

    def __init__(
        self,
        wire: Wire,
        worker_id: str,
        lease_ms: int,
        facts: Mapping[str, Any],
        tell: Tell = silent,
        *,
        version: int = PROJECTION_VERSION,
    ) -> None:
        """`version`: of the builds that it folds; only workers of the same share partitions out among them."""
        self._wire = wire
        self._worker_id = worker_id
        self._lease_ms = lease_ms
        self._facts = dict(facts)
        self._version = version
        self._beats: deque[tuple[int, int]] = deque(maxlen=RATE_BEATS)
        """Times and how many were folded by then."""
        self._tell = tell
        self._quiet_until = 0.0
        self._living: list[str] = []
        """Who lived when that was last told."""

    def company(self, partitions: Sequence[int], folded: int) -> tuple[int | None, list[str]]:
        """Say that this worker lives, as `beat` does; gives the time by the clock of the list's server, and who shares with it.

        On a Cluster the list lies on one node: while that is lost there is no time, and those who lived before are told, so that
        partitions stay spread as they were.
        """
        try:
            now_ms = redis_ms(self._wire, WORKERS_KEY)
            self._living = self.beat(now_ms, partitions, folded)
        except StoreUnavailable as error:
            if not self._wire.many:
                raise
            if monotonic() >= self._quiet_until:
                self._quiet_until = monotonic() + TELL_SECONDS
                self._tell("workers not notified", reason=error.message)
            return None, self._living
        return now_ms, self._living

    def beat(self, now_ms: int, partitions: Sequence[int], folded: int) -> list[str]:
        """Say that this worker lives and what it holds; gives the ids of all that live and fold builds of the same version.

        One of another version takes nothing of what this one can fold, so nothing is left for it.
        """
        self._beats.append((now_ms, folded))
        mine = {
            **self._facts,
            "beat_ms": now_ms,
            "partitions": list(partitions),
            "folded": folded,
            "rate": self._rate(),
            "version": self._version,
        }
        _, answer = self._wire.answers(
            [["HSET", WORKERS_KEY, self._worker_id, msgspec.json.encode(mine)], ["HGETALL", WORKERS_KEY]]
        )
        known = parse_workers(answer)
        gone = [name for name, facts in known.items() if _since(facts, now_ms) > FORGET_AFTER * self._lease_ms]
        if gone:
            self._wire.call("HDEL", WORKERS_KEY, *gone)
        living = {name: facts for name, facts in known.items() if _since(facts, now_ms) <= self._lease_ms}
        return [name for name, facts in living.items() if facts.get("version", self._version) == self._version]

    def _rate(self) -> float | None:
        """Events folded a second over the last beats; None of a worker that has just begun, and where the clock went back."""
        (first, before), (last, folded) = self._beats[0], self._beats[-1]
        return round((folded - before) * 1_000 / (last - first), 1) if last - first >= 1_000 else None

    def leave(self) -> None:
        """Remove this worker's entry."""
        self._wire.call("HDEL", WORKERS_KEY, self._worker_id)


def parse_workers(answer: Sequence[bytes]) -> dict[str, dict[str, Any]]:
    """The workers' entries by id, from HGETALL's flat reply."""
    return {name.decode(): msgspec.json.decode(raw) for name, raw in zip(answer[::2], answer[1::2], strict=True)}


def live_workers(wire: Wire, now_ms: int, lease_ms: int) -> dict[str, dict[str, Any]]:
    """The workers that beat within the last lease time."""
    return known_workers(wire, now_ms, lease_ms)[0]


def known_workers(
    wire: Wire, now_ms: int, lease_ms: int
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """The workers that beat within the last lease time; and those that ended without a word, or hang, until they are forgotten."""
    known = parse_workers(wire.call("HGETALL", WORKERS_KEY))
    live = {name: facts for name, facts in known.items() if _since(facts, now_ms) <= lease_ms}
    return live, {name: facts for name, facts in known.items() if name not in live}


def _since(facts: Mapping[str, Any], now_ms: int) -> int:
    """Milliseconds between a worker's last sign of life and now, either way: the clock may have gone back since."""
    return abs(now_ms - int(facts["beat_ms"]))
