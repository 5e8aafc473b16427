"""Whether each server can do what an append is to wait for."""

from __future__ import annotations

from api.services.auditing.supervision import info
from ops.doctor.deciding import redis as decide
from ops.doctor.finding import CheckFinding
from ops.doctor.reaching import ReachedStore


def look_at_waiting(reached: ReachedStore) -> list[CheckFinding]:
    """Where appends are to wait for the disk (ENGRAMLOG_WAIT_FSYNC), whether every server can tell. Raises StoreError."""
    if not reached.settings.wait_fsync:
        return []
    wire = reached.wire()
    try:
        versions = [info(one, "server").get("redis_version", "") for _, one in wire.servers()]
    finally:
        wire.close()
    return [decide.waiting(versions)]
