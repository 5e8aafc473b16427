"""A partition that does not move while events wait is told, and told no more once it moves."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.ops.processes.up import STILL_LOOK_SECONDS, STILL_SECONDS, Standstill
from tests.given.alarms import KeptAlarms

SUBJECT = ("partition_stands_still", "partition 0")


class Store:
    """What `status` says."""

    def __init__(self) -> None:
        self.head = self.checkpoint = 0
        self.away = False

    def status(self) -> dict[str, Any]:
        if self.away:
            raise StoreUnavailable("away")
        lag = self.head - self.checkpoint
        return {"partitions": [{"partition": 0, "checkpoint": self.checkpoint, "lag": lag, "holder": None}]}


def looked(store: Store, alarms: KeptAlarms, *moves: tuple[float, int, int]) -> list[bool]:
    """At each of (second, head, checkpoint): whether the alarm stands after a look."""
    standstill, found = Standstill(store.status, alarms), []
    for second, head, checkpoint in moves:
        store.head, store.checkpoint = head, checkpoint
        standstill.look(second)
        found.append(SUBJECT in alarms.standing)
    return found


def test_a_partition_that_stands_still_is_told_until_it_moves() -> None:
    moves = [(0, 5, 2), (20, 6, 2), (STILL_SECONDS, 6, 2), (40, 6, 3), (50, 6, 6)]
    assert looked(Store(), KeptAlarms(), *moves) == [False, False, True, False, False]


def test_a_partition_that_moves_however_slowly_is_not_told() -> None:
    assert not any(looked(Store(), KeptAlarms(), *((n * 25, 100, n) for n in range(10))))


def test_a_partition_without_events_to_fold_may_stand() -> None:
    assert not any(looked(Store(), KeptAlarms(), *((n * 25, 7, 7) for n in range(10))))


def test_an_alarm_that_a_killed_process_left_is_cleared_where_all_is_folded() -> None:
    alarms = KeptAlarms()
    alarms.raised(*SUBJECT)
    assert looked(Store(), alarms, (0, 7, 7)) == [False]


def test_a_store_that_does_not_answer_is_not_taken_for_one_that_stands_still() -> None:
    store, alarms = Store(), KeptAlarms()
    standstill = Standstill(store.status, alarms)
    store.head = 5
    standstill.look(0)
    store.away = True
    standstill.look(STILL_LOOK_SECONDS)
    store.away = False
    standstill.look(STILL_SECONDS + STILL_LOOK_SECONDS)
    assert not alarms.standing
