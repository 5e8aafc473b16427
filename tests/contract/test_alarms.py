"""Alarms in a real Redis, of every version at hand: kept, counted, bounded, cleared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.alarms import MOST_SUBJECT, MOST_TEXT
from engramlog_server.events.partitions import ALARMS_KEY
from engramlog_server.events.redis.alarms import MOST_ALARMS, RedisAlarms
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import WirePool
from tests.servers import RedisServer

Facts = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def facts() -> Facts:
    return []


@pytest.fixture
def wires(redis_server: RedisServer) -> WirePool:
    return WirePool(connect(redis_server.url))


@pytest.fixture
def alarms(wires: WirePool, facts: Facts) -> RedisAlarms:
    return RedisAlarms(wires, "host-1", lambda fact, **context: facts.append((fact, context)))


def test_an_alarm_stands_with_what_happened_and_who_raised_it(alarms: RedisAlarms) -> None:
    alarms.raised("state_damaged", "partition 3", "the record of tea cannot be read")
    (alarm,) = alarms.standing()
    told = (alarm.name, alarm.severity, alarm.subject, alarm.text, alarm.count, alarm.by)
    assert told == ("state_damaged", "stopped", "partition 3", "the record of tea cannot be read", 1, "host-1")


def test_an_alarm_raised_again_is_counted_and_told_once(alarms: RedisAlarms, facts: Facts) -> None:
    for _ in range(10):
        alarms.raised("state_damaged", "partition 3", "it cannot be read")
    (alarm,) = alarms.standing()
    assert (alarm.count, len(facts), alarm.first <= alarm.last) == (10, 1, True)


def test_processes_share_an_alarm_and_either_clears_it(alarms: RedisAlarms, wires: WirePool, facts: Facts) -> None:
    other = RedisAlarms(wires, "host-2", lambda fact, **context: facts.append((fact, context)))
    alarms.raised("state_damaged", "partition 3", "first")
    other.raised("state_damaged", "partition 3", "second")
    (alarm,) = alarms.standing()
    other.cleared("state_damaged", "partition 3")
    assert (alarm.count, alarm.by, alarm.text, alarms.standing()) == (2, "host-2", "second", [])


def test_an_operator_clears_one_subject_or_all_of_a_name(alarms: RedisAlarms) -> None:
    for number in range(3):
        alarms.raised("state_damaged", f"partition {number}", "x")
    alarms.raised("log_rolled_back", "partition 0", "x")
    assert alarms.drop("state_damaged", "partition 1")
    left = {alarm.subject for alarm in alarms.standing() if alarm.name == "state_damaged"}
    assert alarms.drop("state_damaged")
    assert (left, [alarm.name for alarm in alarms.standing()]) == ({"partition 0", "partition 2"}, ["log_rolled_back"])


def test_who_acknowledges_an_alarm_leaves_a_line_with_name_subject_how_many_and_his_face(
    alarms: RedisAlarms, facts: Facts
) -> None:
    for number in range(3):
        alarms.raised("state_damaged", f"partition {number}", "x")
    facts.clear()
    assert alarms.acknowledged("state_damaged", "partition 1", "command") == 1
    assert alarms.acknowledged("state_damaged", None, "http") == 2
    assert alarms.acknowledged("state_damaged", "par\ntition", "http") == 0
    assert facts == [
        ("alarm acknowledged", {"name": "state_damaged", "subject": subject, "count": count, "face": face})
        for subject, count, face in (("partition 1", 1, "command"), ("all", 2, "http"), ("par tition", 0, "http"))
    ]


def test_however_many_subjects_there_are_the_store_keeps_a_bounded_number(alarms: RedisAlarms, wires: WirePool) -> None:
    for number in range(MOST_ALARMS + 50):
        alarms.raised("state_damaged", f"subject {number}", "x")
    with wires.wire() as wire:
        kept = wire.call("HLEN", ALARMS_KEY)
    rest = next(alarm for alarm in alarms.standing() if alarm.subject == "")
    assert (kept, rest.count) == (MOST_ALARMS + 1, 50)


def test_texts_are_one_bounded_line_whatever_they_hold(alarms: RedisAlarms) -> None:
    alarms.raised("state_damaged", "a\nb\x1b[31m" + "c" * 300, "x\r\ny" * 1_000)
    (alarm,) = alarms.standing()
    assert alarm.subject.isprintable()
    assert alarm.text.isprintable()
    assert (len(alarm.subject), len(alarm.text)) == (MOST_SUBJECT, MOST_TEXT)


def test_an_alarm_that_somebody_damaged_hides_no_other(alarms: RedisAlarms, wires: WirePool) -> None:
    alarms.raised("state_damaged", "partition 3", "x")
    with wires.wire() as wire:
        wire.call("HSET", ALARMS_KEY, "state_damaged|partition 4", b"\xff")
    assert [alarm.subject for alarm in alarms.standing()] == ["partition 3"]
    alarms.raised("state_damaged", "partition 4", "x")
    assert {alarm.subject for alarm in alarms.standing()} == {"partition 3", "partition 4"}


def test_where_redis_does_not_answer_an_alarm_is_told_at_once_and_kept_later(facts: Facts) -> None:
    nowhere = RedisAlarms(
        WirePool(connect("unix:///nonexistent/redis.sock", timeout=1.0)),
        "host-1",
        lambda fact, **context: facts.append((fact, context)),
    )
    nowhere.raised("state_damaged", "partition 3", "x")
    nowhere.cleared("state_damaged", "partition 3")
    assert [fact for fact, _ in facts] == ["alarm raised", "alarm cleared"]


def test_what_was_raised_while_redis_was_away_is_kept_when_it_answers_again(
    redis_server: RedisServer, facts: Facts, tmp_path: Path
) -> None:
    socket = tmp_path / "redis.sock"
    wires = WirePool(connect(f"unix://{socket}", timeout=1.0))
    alarms = RedisAlarms(wires, "host-1", lambda fact, **context: facts.append((fact, context)))
    alarms.raised("state_damaged", "partition 3", "x")
    socket.symlink_to(redis_server.url.removeprefix("unix://"))
    (alarm,) = alarms.standing()
    assert (alarm.subject, alarm.count) == ("partition 3", 1)
