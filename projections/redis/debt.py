"""What folding still has to do, read in two round trips whatever its size: events, about how large, of how many new owners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.admission import Debt
from engramlog_server.events.redis.wire import Argument, Wire
from engramlog_server.projections.fold.builds import FIRST_BUILD, BuildKeys

MOST_SAMPLED = 32
"""Partitions of which unfolded events are weighed: those that lag most."""
_PLACES = (1, 3, 5)
"""Sixths of a lag at which an event is weighed."""
_BODY = 7
"""Where the body stands among the names and values of an entry, in both formats."""


class FoldDebt:
    """Reads the debt of a store's live builds. Holds nothing, so it is safe for threads."""

    def __init__(self, tags: Sequence[str]) -> None:
        self._tags = list(tags)

    def __call__(self, wire: Wire, node: str = "") -> Debt:
        """The debt now, of what lies on one node of a Cluster where one is named; nothing where Redis refuses to tell.

        Raises StoreUnavailable where it does not answer.
        """
        tags = self._tags if not node else [one for one in self._tags if wire.node_of(LogKeys(one).meta) == node]
        metas = wire.pipeline([["HMGET", LogKeys(tag).meta, "head", "live"] for tag in tags]) if tags else []
        commands: list[list[Argument]] = []
        for tag, meta in zip(tags, metas, strict=True):
            live = meta[1] if isinstance(meta, list) and meta[1] else FIRST_BUILD.encode()
            keys = BuildKeys(tag, live.decode())
            commands += [["HGET", keys.checkpoint, "seq"], ["HLEN", keys.log.heads], ["HLEN", keys.owners]]
        answers = iter(wire.pipeline(commands) if commands else ())
        lags: list[tuple[int, int, str]] = []
        new_owners = 0
        for tag, meta, at, heads, owners in zip(tags, metas, answers, answers, answers, strict=True):
            if any(isinstance(told, Exception) for told in (meta, at, heads, owners)):
                return Debt()
            lag = int(meta[0] or 0) - int(at or 0)
            if lag > 0:
                lags.append((lag, int(at or 0), tag))
                new_owners += max(heads - owners, 0)
        events = sum(lag for lag, _, _ in lags)
        return Debt(events, int(events * self._mean_body(wire, lags)), new_owners)

    def _mean_body(self, wire: Wire, lags: Sequence[tuple[int, int, str]]) -> float:
        """Mean bytes of the bodies that wait, by a few of each partition."""
        chosen = sorted(lags, reverse=True)[:MOST_SAMPLED]
        commands: list[list[Argument]] = []
        for lag, at, tag in chosen:
            seqs = sorted({at + 1 + lag * place // 6 for place in _PLACES})
            commands += [["XRANGE", LogKeys(tag).stream, f"{seq}-0", "+", "COUNT", 1] for seq in seqs]
        found: list[int] = []
        answers: list[Any] = wire.pipeline(commands) if commands else []
        for answer in answers:
            found += [len(held[_BODY]) for _, held in answer if len(held) > _BODY] if isinstance(answer, list) else []
        return sum(found) / len(found) if found else 0.0
