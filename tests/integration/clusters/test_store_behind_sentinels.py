"""A store behind Sentinels: its URL names them, and leads to whoever is the primary, also once another took its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from events.errors import ReceiptLost, StoreUnavailable
from events.log import AppendReceipt
from events.partitions import partition_of
from events.redis.log import RedisEventLog
from events.redis.wire import Wire, connect
from tests.chaos.cast import wait_until
from tests.given.clusters.sentinels import NAME, GivenSentinels
from tests.given.http import HttpStore, created, http_store
from tests.given.samples import mention
from tests.servers import wheel_server

SETTINGS = {"redis_timeout": 2.0, "min_replicas": 1}


@pytest.fixture
def locked() -> Iterator[GivenSentinels]:
    """The servers have one password, the Sentinels another."""
    with GivenSentinels(
        wheel_server(), replicas=1, sentinels=2, password="of-the-servers", sentinel_password="of-the-sentinels"
    ) as given:
        yield given


def appended(store: HttpStore, number: int) -> bool:
    """Whether one more event is in the log and proved; what is told as not done, or not known, is sent again."""
    answer = store.client.post("/v1/events", json=[created(f"m-{number}", f"I drink tea {number}")])
    assert answer.status_code in (200, 503), answer.text
    return answer.status_code == 200


def test_append_and_fold_go_on_by_the_same_url_once_the_primary_is_killed(
    redis_sentinels: GivenSentinels, tmp_path: Path
) -> None:
    with http_store(tmp_path, redis_url=redis_sentinels.url, **SETTINGS) as store:
        assert appended(store, 0)
        before = [one["name"] for one in store.client.get("/v1/status").json()["nodes"]]
        killed = redis_sentinels.primary()
        assert before == [killed.address]
        redis_sentinels.kill(killed)
        wait_until(lambda: appended(store, 1), "an event is appended to the new primary")
        new = redis_sentinels.await_failover(killed)
        (node,) = store.client.get("/v1/status").json()["nodes"]
        assert (node["name"], node["role"], node["reachable"]) == (new.address, "primary", True)
        told = store.client.get("/v1/owners/alice/memories?limit=10").json()
        wait_until(lambda: not store.client.get("/v1/status").json()["lag"], "all is folded")
        told = store.client.get("/v1/owners/alice/memories?limit=10").json()
        assert {one["id"] for one in told["memories"]} == {"m-0", "m-1"}
        assert store.client.get("/v1/alarms").json()["alarms"] == []


def test_a_receipt_that_the_new_primary_does_not_hold_is_told_as_lost(redis_sentinels: GivenSentinels) -> None:
    client = connect(redis_sentinels.url, timeout=2.0)
    with closing(client), closing(RedisEventLog(client, ["t0"])) as log:
        primary = redis_sentinels.primary()
        assert log.append([mention(0)])[0].written
        for replica in redis_sentinels.replicas():
            wait_until(lambda one=replica: one.ask("XLEN", "{t0}:ev") == 1, f"{replica} has it")  # type: ignore[misc]
            replica.ask("CONFIG SET", "masterauth", "no such password")
            replica.ask("CLIENT KILL", "TYPE", "master")
        wait_until(lambda: primary.info("replication")["connected_slaves"] == 0, "no replica is linked")
        (told,) = log.append([mention(1)])
        assert (told.written, told.replicas) == (True, 0)
        redis_sentinels.kill(primary)
        redis_sentinels.await_failover(primary)
        with pytest.raises(ReceiptLost, match="came back with another history"):
            wait_until(lambda: answered(log, 2), "the log answers")
        assert log.head(partition_of("ann", 1)) == 1


def test_servers_and_sentinels_each_have_a_password_of_their_own(locked: GivenSentinels) -> None:
    with closing(connect(locked.url, timeout=2.0)) as client:
        wire = Wire(client)
        assert wire.call("PING") == b"PONG"
        assert wire.peer == locked.primary().address
        wire.close()
    let_in = locked.url.replace("?sentinel_password=of-the-sentinels", "")
    with closing(connect(let_in, timeout=2.0)) as client, pytest.raises(StoreUnavailable) as refused:
        Wire(client).connect()
    assert "of-the" not in str(refused.value)


def test_one_sentinel_that_answers_is_enough(redis_sentinels: GivenSentinels) -> None:
    gone, hung, _ = redis_sentinels.sentinels
    redis_sentinels.kill(gone)
    redis_sentinels.pause(hung)
    with closing(connect(redis_sentinels.url, timeout=10.0)) as client:
        wire = Wire(client)
        assert wire.call("PING") == b"PONG"
        wire.close()


def test_a_name_that_no_sentinel_knows_is_told(redis_sentinels: GivenSentinels) -> None:
    unknown = redis_sentinels.url.replace(f"/{NAME}", "/another")
    with closing(connect(unknown, timeout=2.0)) as client, pytest.raises(StoreUnavailable, match="another"):
        Wire(client).connect()


def answered(log: RedisEventLog, number: int) -> list[AppendReceipt]:
    """What is told of one more event; nothing while there is no primary. Raises ReceiptLost."""
    try:
        return log.append([mention(number)])
    except StoreUnavailable as error:
        assert not isinstance(error, ReceiptLost)
        return []
