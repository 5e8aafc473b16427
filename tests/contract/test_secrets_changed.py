"""A secret that no append made is refused by name: nothing is keyed by it, nothing is written, and no error comes from within."""

from __future__ import annotations

import pytest
import redis

from engramlog_server.events.errors import StoreMismatch
from engramlog_server.events.partitions import LogKeys, spread_tags
from engramlog_server.events.redis.log import RedisEventLog
from tests.given.samples import mention, owner_in
from tests.rows import each_row
from tests.servers import fake_client

PARTITIONS = 4
TAGS = spread_tags(PARTITIONS)
HERE, BESIDE = owner_in(1, PARTITIONS), owner_in(1, PARTITIONS, nth=1)
CHANGED = [b"", b"x", bytes(31), bytes(33), bytes(65)]


def log_with(client: redis.Redis, secret: bytes) -> RedisEventLog:
    """A log that has appended for an owner, whose secret was changed behind its back."""
    log = RedisEventLog(client, TAGS)
    log.append([mention(1, HERE)])
    client.hset(LogKeys(TAGS[1]).secrets, HERE, secret)
    return log


@each_row("secret", CHANGED)
@each_row("knows", [True, False])
def test_an_append_under_a_secret_that_no_append_made_is_refused_by_name(secret: bytes, knows: bool) -> None:
    client = fake_client()
    log = log_with(client, secret)
    with pytest.raises(StoreMismatch, match=f"secret of owner '{HERE}' has {len(secret)} bytes, 32 are allowed"):
        (log if knows else RedisEventLog(client, TAGS)).append([mention(2, HERE)])
    assert log.head(1) == 1


@each_row("secret", CHANGED)
def test_other_owners_of_the_partition_append_as_before(secret: bytes) -> None:
    log = log_with(fake_client(), secret)
    assert [one.status for one in log.append([mention(3, BESIDE)])] == ["appended"]


def test_once_the_right_secret_is_back_the_same_process_appends_and_knows_what_it_appended() -> None:
    client = fake_client()
    log = RedisEventLog(client, TAGS)
    log.append([mention(1, HERE)])
    right = client.hget(LogKeys(TAGS[1]).secrets, HERE)
    client.hset(LogKeys(TAGS[1]).secrets, HERE, b"x")
    with pytest.raises(StoreMismatch):
        log.append([mention(2, HERE)])
    client.hset(LogKeys(TAGS[1]).secrets, HERE, right)
    assert [one.status for one in log.append([mention(1, HERE), mention(2, HERE)])] == ["already_appended", "appended"]
