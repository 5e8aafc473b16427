"""A check that runs again and again: when it is due, whatever it raises, until it is stopped."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest

from engramlog_server.events.alarms import ConditionAlarm
from engramlog_server.ops.clock import Every
from tests.given.alarms import KeptAlarms
from tests.patience import PATIENCE


def test_a_loop_calls_a_check_only_when_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = [100.0], list[float]()
    monkeypatch.setattr("engramlog_server.ops.clock.monotonic", lambda: now[0])
    every = Every(5.0, lambda: calls.append(now[0]))
    for now[0] in (100.0, 104.9, 105.0, 112.0, 116.9):
        every.tend()
    assert calls == [100.0, 105.0, 112.0]
    calls.clear()
    later = Every(5.0, lambda: calls.append(now[0]), at_once=False)
    later.tend()
    assert calls == []


def test_an_error_is_logged_once_and_the_calls_go_on_until_the_end() -> None:
    often, ended, facts, count = Event(), Event(), list[dict[str, Any]](), [0]

    def check() -> None:
        count[0] += 1
        if count[0] == 3:
            often.set()
        raise ValueError("no")

    every = Every(0.0, check, "test", lambda fact, **told: facts.append({"fact": fact, **told}), at_end=ended.set)
    every.start()
    assert often.wait(PATIENCE)
    assert every.stop(PATIENCE)
    assert ended.is_set()
    assert [(one["fact"], one["check"], one["alarm"]) for one in facts] == [("check failed", "test", True)]
    assert "ValueError" in facts[0]["reason"]


def test_a_condition_is_an_alarm_once_it_lasts_and_only_its_changes_are_sent() -> None:
    now, alarms = [0.0], KeptAlarms()
    alarms.raised("jobs_wait", "", "of a process before")
    alarm = ConditionAlarm(alarms, "jobs_wait", patient_seconds=5.0, clock=lambda: now[0])
    assert alarm.report(None)
    assert not alarms.standing, "what an earlier process left is cleared"
    rows = [(0.0, "away", False), (4.9, "away", False), (5.0, "away", True), (6.0, "away", False), (7.0, "full", True)]
    assert [alarm.report(trouble) for now[0], trouble, _ in rows] == [changed for *_, changed in rows]
    assert alarms.standing == {("jobs_wait", ""): "full"}
    assert alarm.report(None)
    assert not alarms.standing
