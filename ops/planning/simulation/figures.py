"""Costs that the simulation reckons with beside those of a plan, each with how it was measured.

They were fitted to real runs of one worker (16, 48 and 256 partitions, none to 2,100 events a second) and of idle ones, on two
cores that others used too (load 8 to 28).
"""

from __future__ import annotations

from ops.planning.measured import CostFigure

_ONE = "costs, one Redis 7.0.15, appendfsync always, 16 and 256 partitions, 300 to 2,100 events a second"
_MANY = "costs, three nodes of Redis 7.0.15, 48 partitions, idle to 1,500 events a second"
_IDLE = "idle, one Redis 7.0.15, 1,024 partitions, 1 to 8 workers without events"

ROUND_CPU = CostFigure(300, "us of a worker's CPU a round", _ONE)
STREAM_CPU = CostFigure(0.5, "us of a worker's CPU a stream and round, one server", _ONE)
STREAM_CPU_OF_MANY = CostFigure(25, "us of a worker's CPU a stream and round, several servers", _MANY)
COMMIT_CPU = CostFigure(130, "us of a worker's CPU a commit", _ONE)
EVENT_CPU = CostFigure(50, "us of a worker's CPU an event", _ONE)
APPEND_REDIS = CostFigure(14, "us of Redis an event appended", _ONE)
FOLD_REDIS = CostFigure(18, "us of Redis an event folded", _ONE)
CALL_REDIS = CostFigure(60, "us of Redis an append of a partition's events, or a commit, beside its events", _ONE)
COMMAND_REDIS = CostFigure(2.5, "us of Redis a small read among many", _IDLE)
LEASE_REDIS = CostFigure(18, "us of Redis a script that renews a lease or looks at a log", _IDLE)
READ_REDIS = CostFigure(1.5, "us of Redis a stream of an XREAD, one server", _IDLE)
READ_REDIS_OF_MANY = CostFigure(12, "us of Redis a stream that is looked at by itself", _MANY)
APPEND_BYTES = CostFigure(560, "bytes to and from a primary an event appended", _ONE)
FOLD_BYTES = CostFigure(1_150, "bytes to and from a primary an event folded", _ONE)
ELECTION_LEAST = CostFigure(
    1.4, "seconds at least beside cluster-node-timeout", "docs/faults.md, a primary killed: 2.5 to 3.6 s at 1 s"
)
ELECTION_MOST = CostFigure(
    2.6, "seconds at most beside cluster-node-timeout", "docs/faults.md, a primary killed: 2.5 to 3.6 s at 1 s"
)
MIGRATE_SECONDS = CostFigure(
    0.0095, "seconds a megabyte of a stream that MIGRATE moves", "docs/cluster.md: 251 MB in 2.4 s"
)
