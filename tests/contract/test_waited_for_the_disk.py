"""`fsynced` where an append waits for the disk (WAITAOF, Redis 7.2), and where the server cannot: what its settings promise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis

from engramlog_server.events.partitions import spread_tags
from engramlog_server.events.redis.durability import UNPROVED, Promise, Proof
from engramlog_server.events.redis.log import RedisEventLog
from tests.conftest import EVERY_SERVER
from tests.given.samples import mention, owner_in
from tests.rows import each_row
from tests.servers import RedisServer, Servers

PARTITIONS = 4
TAGS = spread_tags(PARTITIONS)
WAITING = Proof(disk=True, timeout_ms=10_000)
EVERY_SECOND = {"appendonly": "yes", "appendfsync": "everysec"}


@pytest.fixture(params=EVERY_SERVER)
def server(request: pytest.FixtureRequest, redis_servers: Servers) -> RedisServer:
    """An empty real server."""
    return redis_servers.get(request.param)


@contextmanager
def log_of(client: redis.Redis, proof: Proof, **settings: str) -> Iterator[RedisEventLog]:
    """A log on a server with these settings."""
    for name, value in settings.items():
        client.config_set(name.replace("_", "-"), value)
    log = RedisEventLog(client, TAGS, proof=proof)
    yield log
    log.close()


def waits(server: RedisServer) -> bool:
    """Whether a server can wait for its disk."""
    return server.version >= (7, 2)


def test_what_was_waited_for_is_on_disk_and_else_as_the_settings_say(server: RedisServer) -> None:
    with server.client() as client:
        with log_of(client, UNPROVED, **EVERY_SECOND) as log:
            assert log.append([mention(1)])[0].fsynced is False
        with log_of(client, WAITING) as log:
            assert [one.fsynced for one in log.append([mention(2), mention(3, owner_in(2, PARTITIONS))])] == [
                waits(server)
            ] * 2
            (known,) = log.append([mention(1)])
            assert (known.status, known.fsynced) == ("already_appended", waits(server))
        with log_of(client, WAITING, appendfsync="always") as log:
            assert log.append([mention(4)])[0].fsynced is True
        with log_of(client, WAITING, appendonly="no") as log:
            assert log.append([mention(5)])[0].fsynced is False


@pytest.mark.parametrize(
    "lacking", [{"aof_load_truncated": "yes"}, {"maxmemory_policy": "allkeys-lru"}], ids=lambda one: next(iter(one))
)
def test_what_the_next_start_or_a_full_memory_may_drop_does_not_stay_for_being_on_disk(
    server: RedisServer, lacking: dict[str, str]
) -> None:
    with server.client() as client, log_of(client, WAITING, **EVERY_SECOND, **lacking) as log:
        assert log.append([mention(1)])[0].fsynced is False


def test_a_refused_part_proves_nothing_of_what_it_names(server: RedisServer) -> None:
    with server.client() as client, log_of(client, UNPROVED, **EVERY_SECOND) as plain:
        plain.append([mention(1), mention(2)])
        with log_of(client, WAITING) as log:
            told = log.append([mention(1), mention(2, memory_id="other")])
        assert [one.status for one in told] == ["already_appended", "conflict"]
        assert told[0].fsynced is False


@each_row(
    ("kept", "once_synced", "on_disk", "told"),
    [
        (True, True, None, True), (True, True, False, True), (False, True, None, False), (False, True, True, True),
        (False, True, False, False), (False, False, True, False), (None, None, None, None), (None, None, True, True),
        (None, None, False, False),
    ],
)  # fmt: skip
def test_what_is_promised_and_what_was_waited_for_are_told_as_one(
    kept: bool | None, once_synced: bool | None, on_disk: bool | None, told: bool | None
) -> None:
    assert Promise(kept, once_synced).told(on_disk) is told
