"""What a store costs, as it was measured: the figures that plans and simulations reckon with, each with how it was come by."""

from __future__ import annotations

import msgspec


class CostFigure(msgspec.Struct, frozen=True):
    """One figure: what it is, in which unit, and the run that it was measured in."""

    value: float
    unit: str
    how: str


_MILLION = "release 0.2.0, one Redis 6.2, 1,001,000 events of 5,020 owners, open contents"

STREAM_BYTES = CostFigure(422, "bytes of Redis an event", _MILLION)
CHANGES_BYTES = CostFigure(95, "bytes of Redis an event", _MILLION)
RECORDS_BYTES = CostFigure(85, "bytes of Redis an event", _MILLION)
DEDUPE_BYTES = CostFigure(37, "bytes of Redis an event", _MILLION)
AOF_BYTES = CostFigure(457, "bytes of disk an event", _MILLION)
LOADING_SECONDS = CostFigure(45, "seconds to ready for a million events", _MILLION)
DOOR_CPU = CostFigure(14, "us of a producer's or service's CPU an event", _MILLION)
REDIS_CPU = CostFigure(27, "us of Redis's main thread an event, appended and folded", _MILLION)
FOLD_CPU = CostFigure(41, "us of a fold worker's CPU an event", _MILLION)
HANDOVER_SECONDS = CostFigure(0.7, "seconds from SIGTERM of a worker until another folds", _MILLION)
REPLACED_SECONDS = CostFigure(3.3, "seconds from kill -9 of a worker until another folds", _MILLION)
FAILOVER_SECONDS = CostFigure(
    5.9, "seconds at most that appends waited for a failover", "make chaos-cluster, 3 + 3 nodes"
)
