"""A store of 0.2.0 in a real Redis, and upgrades of it that can be killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from consumers.verify.store import verify_store
from consumers.verify.store_and_log import verify_partition
from events.envelope import Prepared, Stored, prepare_body
from events.redis.log import RedisEventLog, entries
from events.redis.wire import Wire
from ops.bringing.frame import OldStore
from ops.bringing.upgrade import carry_out
from ops.settings import Settings
from projections.redis.create import read_identity
from tests.release_0_2_0 import let_go, pinned, restore
from tests.servers import RedisServer

STREAMS = [f"{{{tag}}}:ev" for tag in ("e0", "e2", "e3")]
BRIEF_MS = 50


class _Killed(BaseException):
    """Ends an upgrade where it stands: nothing is handed over."""


class Brought:
    """The pinned store of 0.2.0 in a real Redis, and upgrades of it."""

    def __init__(self, server: RedisServer, data: Path) -> None:
        self.server, self.client = server, server.client()
        self.settings = Settings(redis_url=server.url, data=data)
        self.told = pinned()["told"]
        let_go(self.client)
        restore(self.client, pinned()["keys"])

    @property
    def store(self) -> OldStore:
        """As `old_store` gives it."""
        wire = Wire(self.client)
        identity = read_identity(wire)
        wire.close()
        assert identity is not None
        return OldStore(self.client, identity, None, self.settings)

    @property
    def tags(self) -> tuple[str, ...]:
        """Of the partitions."""
        return self.store.identity.tags

    def upgrade(self, **options: Any) -> dict[str, Any]:
        """Bring it over; the test's own connections are nobody's."""
        return carry_out(self.store, **{"alone": True, "seconds": 0.0, "lease_ms": BRIEF_MS} | options)

    def kill(self, point: str, passes: int = 1) -> None:
        """Begin, and end as SIGKILL would at the n-th pass of a point."""
        left = passes

        def probe(at: str) -> None:
            nonlocal left
            left -= at == point
            if not left:
                raise _Killed

        with pytest.raises(_Killed):
            self.upgrade(probe=probe)

    def differences(self) -> list[dict[str, Any]]:
        """What `engramlog verify` would tell."""
        wire = Wire(self.client)
        verdicts = [verify_partition(self.client, number, tag) for number, tag in enumerate(self.tags)]
        verdicts.append(verify_store(wire))
        wire.close()
        return [one for verdict in verdicts for one in verdict.differences]

    def entries(self) -> dict[str, Any]:
        """Every entry as Redis has it."""
        return {name: self.client.xrange(name) for name in STREAMS}

    def events(self) -> list[Stored]:
        """Every event of the log."""
        wire = Wire(self.client)
        found = [one for name in STREAMS for one in entries(wire.call("XRANGE", name, "-", "+"))]
        wire.close()
        return found

    def log(self) -> RedisEventLog:
        """The log as a producer of this release has it."""
        return RedisEventLog(self.client, self.tags)


def again(one: Stored, owner: str | None = None, body: bytes | None = None) -> Prepared:
    """A stored event as its producer sends it once more."""
    name, _, version = one.kind.partition(".")
    return prepare_body(str(UUID(bytes=one.raw_id)), name, int(version), owner or one.owner, body or one.body)
