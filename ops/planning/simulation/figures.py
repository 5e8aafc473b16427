"""Costs that the simulation reckons with beside those of a plan, each with how it was measured."""

from __future__ import annotations

from ops.planning.measured import CostFigure

_RUNS = "tests/simulated, Redis 7.0.15, 2 cores"
ROUND_CPU = CostFigure(120, "us of a worker's CPU a round", _RUNS)
STREAM_CPU = CostFigure(0.5, "us of a worker's CPU a stream and round, one server", _RUNS)
STREAM_CPU_OF_MANY = CostFigure(25, "us of a worker's CPU a stream and round, several servers", _RUNS)
COMMIT_CPU = CostFigure(150, "us of a worker's CPU a commit", _RUNS)
EVENT_CPU = CostFigure(60, "us of a worker's CPU an event", _RUNS)
APPEND_REDIS = CostFigure(12, "us of Redis an event appended", _RUNS)
FOLD_REDIS = CostFigure(15, "us of Redis an event folded", _RUNS)
COMMAND_REDIS = CostFigure(3, "us of Redis a small read among many", _RUNS)
LEASE_REDIS = CostFigure(20, "us of Redis a script that renews a lease or looks at a log", _RUNS)
READ_REDIS = CostFigure(4, "us of Redis a stream that is read", _RUNS)
APPEND_BYTES = CostFigure(800, "bytes to and from a primary an event appended", _RUNS)
FOLD_BYTES = CostFigure(1_200, "bytes to and from a primary an event folded", _RUNS)
ELECTION_LEAST = CostFigure(1.0, "seconds at least beside cluster-node-timeout", _RUNS)
ELECTION_MOST = CostFigure(2.5, "seconds at most beside cluster-node-timeout", _RUNS)
MIGRATE_SECONDS = CostFigure(0.0095, "seconds a megabyte of a stream that MIGRATE moves", "docs/cluster.md, Moving slots: 251 MB in 2.4 s")
