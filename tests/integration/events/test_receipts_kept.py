"""A Redis of one's own comes back with another history: whoever had receipts notices, alarms, and appends nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.errors import ReceiptLost, StoreUnavailable
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.durability import RECEIPT_LOST
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import WirePool
from tests.chaos.cast import wait_until
from tests.chaos.stage import Stage, staged, with_replica
from tests.given.samples import mention, owner_in
from tests.integration.live import live_store
from tests.servers import MISSING_NAMED, RedisServer, server_named


@pytest.fixture(params=["valkey", "redis-7", "redis-8"])
def stage(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Stage]:
    binary = server_named(request.param)
    if binary is None:
        pytest.skip(MISSING_NAMED[request.param])
    with staged(tmp_path, binary=binary) as stage:
        yield stage


class Producer:
    """A process that appends, with the alarms of the store."""

    def __init__(self, stage: Stage) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.alarms = RedisAlarms(
            WirePool(stage.client), "a-producer", lambda fact, **facts: self.told.append((fact, facts))
        )
        self.log = RedisEventLog(stage.client, stage.tags, alarms=self.alarms)

    def append(self, number: int) -> list[AppendReceipt]:
        """Append one event, connecting anew where the connection broke."""
        found: list[AppendReceipt] = []

        def appended() -> bool:
            try:
                found[:] = self.log.append([mention(number, "ada")])
            except StoreUnavailable:
                return False
            return True

        wait_until(appended, "Redis answers an append")
        return found

    def standing(self) -> list[tuple[str, str]]:
        """Names and subjects of the alarms that stand."""
        return [(alarm.name, alarm.subject) for alarm in self.alarms.standing()]

    def close(self) -> None:
        """Close its connections."""
        self.log.close()
        self.alarms.close()


@pytest.fixture
def producer(stage: Stage) -> Iterator[Producer]:
    with closing(Producer(stage)) as one:
        yield one


def lost_tail(stage: Stage, producer: Producer) -> None:
    """The producer had a receipt for its second event, `fsynced`; Redis comes back with the first alone."""
    producer.append(1)
    size = stage.server.size()
    (receipt,) = producer.append(2)
    assert (receipt.position, receipt.fsynced) == ("0:2", True)
    stage.server.come_back_shorter(size)
    stage.wire.close()


def test_an_acknowledged_event_that_is_gone_is_an_alarm_and_nothing_is_appended_after_it(
    stage: Stage, producer: Producer
) -> None:
    lost_tail(stage, producer)
    with pytest.raises(ReceiptLost, match="acknowledged at 0:2, and it is not there"):
        producer.append(3)
    assert producer.standing() == [(RECEIPT_LOST, "0")]
    assert stage.wire.call("XLEN", f"{{{stage.tags[0]}}}:ev") == 1


def test_another_event_in_its_place_is_noticed_although_the_log_is_as_long_again(
    stage: Stage, producer: Producer
) -> None:
    lost_tail(stage, producer)
    with closing(Producer(stage)) as other:
        other.append(10)
        (receipt,) = other.append(11)
        assert receipt.position == "0:3", "who had no receipt appends to the history that is there"
        with pytest.raises(ReceiptLost, match=r"acknowledged at 0:2, and event .* is there"):
            producer.append(3)
        assert other.standing() == [(RECEIPT_LOST, "0")]
        assert other.append(12)[0].written


def test_an_operator_lets_it_go_on_and_the_events_that_were_lost_can_be_sent_again(
    stage: Stage, producer: Producer
) -> None:
    lost_tail(stage, producer)
    for _ in range(2):
        with pytest.raises(ReceiptLost, match="--clear receipt_lost 0"):
            producer.append(3)
    assert producer.alarms.drop(RECEIPT_LOST, "0")
    assert [producer.append(number)[0].position for number in (2, 3)] == ["0:2", "0:3"]
    assert producer.standing() == []


def test_an_alarm_that_could_not_be_written_at_first_is_acknowledged_once_too(
    stage: Stage, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost_tail(stage, producer)
    with monkeypatch.context() as away:
        away.setattr(producer.alarms, "raised", lambda *_told: None)
        with pytest.raises(ReceiptLost):
            producer.append(3)
        assert producer.standing() == []
    with pytest.raises(ReceiptLost):
        producer.append(3)
    assert producer.alarms.drop(RECEIPT_LOST, "0")
    assert producer.append(3)[0].position == "0:2"


def test_a_restart_without_loss_goes_on_without_a_word(stage: Stage, producer: Producer) -> None:
    producer.append(1)
    for number in (2, 3):
        stage.server.kill()
        stage.server.start()
        assert producer.append(number)[0].position == f"0:{number}"
    assert producer.standing() == []
    assert producer.told == []


def test_data_that_go_back_under_a_connection_that_lives_are_noticed_before_anything_is_written(tmp_path: Path) -> None:
    with with_replica(tmp_path) as (stage, flip), closing(Producer(stage)) as producer:
        producer.append(1)
        stage.wire.call("SET", "a later write", 1)
        assert stage.wire.call("WAIT", 1, 20_000) == 1, "the replica has the first event"
        flip.cut()
        producer.append(2)
        flip.there_and_back()
        receipts = producer.append(3)
        assert [(one.status, one.position) for one in receipts] == [("failed", None)]
        assert stage.wire.call("XLEN", f"{{{stage.tags[0]}}}:ev") == 1
        assert producer.standing() == [(RECEIPT_LOST, "0")]
        with pytest.raises(ReceiptLost):
            producer.append(3)


def test_partitions_that_kept_what_they_acknowledged_go_on(redis_server: RedisServer) -> None:
    here, there = owner_in(0, 2), owner_in(1, 2)
    with live_store(redis_server.url, partitions=2) as store:
        store.log.append([mention(1, here), mention(2, there)])
        tag = store.identity.tags[0]
        store.client.delete(f"{{{tag}}}:ev", f"{{{tag}}}:meta")
        store.log.close()
        receipts = store.log.append([mention(3, here), mention(4, there)])
        assert [one.status for one in receipts] == ["failed", "appended"]
        assert "an operator has looked" in (receipts[0].error or "")


def test_an_operator_s_word_counts_for_a_partition_that_was_not_appended_to_meanwhile(stage: Stage) -> None:
    here, there = owner_in(0, 2), owner_in(1, 2)
    tags = [*stage.tags, "another"]
    with closing(RedisAlarms(WirePool(stage.client), "a-producer", lambda _fact, **_facts: None)) as alarms:
        log = RedisEventLog(stage.client, tags, alarms=alarms)
        log.append([mention(1, here), mention(2, there)])
        for tag in tags:
            stage.client.delete(f"{{{tag}}}:ev", f"{{{tag}}}:meta")
        log.close()
        with pytest.raises(ReceiptLost):
            log.append([mention(3, here)])
        assert all(alarms.drop(RECEIPT_LOST, subject) for subject in "01")
        assert [one.status for one in log.append([mention(4, there), mention(3, here)])] == ["appended"] * 2
        assert alarms.standing() == []
        log.close()


def test_what_was_only_sent_again_is_a_receipt_too(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.log.append([mention(1), mention(2)])
        other = RedisEventLog(store.client, store.identity.tags)
        assert [one.status for one in other.append([mention(1), mention(2)])] == ["already_appended"] * 2
        store.client.execute_command("XTRIM", f"{{{store.identity.tags[0]}}}:ev", "MAXLEN", "0")
        other.close()
        with pytest.raises(ReceiptLost, match="0:2"):
            other.append([mention(3)])
