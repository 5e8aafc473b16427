"""Here Redis 8 is asked too: what was acknowledged outlives faults, on every server."""

from __future__ import annotations

from tests.with_redis_8 import redis_client, redis_server

__all__ = ["redis_client", "redis_server"]
