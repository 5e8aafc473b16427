"""The keys of an identity provider as a process holds them: how often it asks, how long they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engramlog_server.events.alarms import ConditionAlarm
from engramlog_server.events.errors import IdentityUnavailable
from engramlog_server.ops.identity_provider import (
    AGAIN_SECONDS,
    ALARM,
    FRESH_SECONDS,
    HELD_SECONDS,
    RETRY_SECONDS,
    NotTold,
    ProviderKeys,
    look_for_keys,
)
from engramlog_server.projections.access.provider import keys_in
from tests.given.access.provider import RULES, jwk, key_set


class Scene:
    """A provider whose clock and network a test moves; looks are made at once."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0
        self.kinds: list[int] | None = [0]
        self.told: list[str] = []
        self.waiting: list[Callable[[], None]] = []
        self.at_once = True
        self.keys = ProviderKeys(
            RULES, self.fetch, lambda fact, **_facts: self.told.append(fact), clock=lambda: self.now, beside=self.beside
        )

    def fetch(self) -> Any:
        self.asked += 1
        if self.kinds is None:
            raise NotTold("http://127.0.0.1/keys: answered 500")
        return keys_in(key_set(*(jwk("OKP", one) for one in self.kinds)))

    def beside(self, work: Callable[[], None]) -> None:
        work() if self.at_once else self.waiting.append(work)


def test_keys_are_asked_for_once_and_anew_in_the_background_after_five_minutes() -> None:
    scene = Scene()
    assert scene.keys.known("OKP-0") is None
    assert scene.keys.found("OKP-0") is not None
    scene.now = FRESH_SECONDS - 1
    assert scene.keys.known("OKP-0") is not None
    assert scene.asked == 1
    scene.now, scene.kinds = FRESH_SECONDS, [1]
    assert scene.keys.known("OKP-0") is not None, "it does not wait for the look that it begins"
    assert scene.asked == 2
    assert scene.keys.known("OKP-0") is None, "what was taken out of the set opens nothing"
    assert scene.keys.known("OKP-1") is not None


def test_a_key_that_came_in_since_is_found_at_once_and_who_invents_ids_makes_nobody_ask() -> None:
    scene = Scene()
    scene.keys.look()
    scene.now, scene.kinds = AGAIN_SECONDS, [0, 1]
    assert scene.keys.found("OKP-1") is not None
    for number in range(1_000):
        scene.now += 0.02
        assert scene.keys.known(f"invented-{number}") is None
        assert scene.keys.found(f"invented-{number}") is None
    assert scene.asked == 2
    assert scene.keys.found("OKP-0") is not None


def test_while_a_look_is_in_hand_nobody_begins_another_and_known_keys_do_not_wait() -> None:
    scene = Scene()
    scene.keys.look()
    scene.at_once, scene.now = False, FRESH_SECONDS
    assert scene.keys.known("OKP-0") is not None
    assert scene.keys.known("OKP-0") is not None
    assert len(scene.waiting) == 1


def test_known_keys_hold_for_an_hour_where_nobody_answers_and_then_nobody_is_admitted() -> None:
    scene = Scene()
    scene.keys.look()
    scene.kinds = None
    scene.now = HELD_SECONDS - 1
    assert scene.keys.known("OKP-0") is not None
    with pytest.raises(IdentityUnavailable):  # it may be a key that came in since
        scene.keys.found("OKP-1")
    scene.now = HELD_SECONDS
    assert scene.keys.known("OKP-0") is None
    with pytest.raises(IdentityUnavailable, match="cannot be had"):
        scene.keys.found("OKP-0")
    scene.now, scene.kinds = HELD_SECONDS + RETRY_SECONDS, [0]
    assert scene.keys.found("OKP-0") is not None
    assert scene.told == ["identity provider not reached", "identity provider reached"]


def test_a_provider_that_never_answered_is_asked_seldom() -> None:
    scene = Scene()
    scene.kinds = None
    for _ in range(100):
        scene.now += RETRY_SECONDS / 50
        with pytest.raises(IdentityUnavailable):
            scene.keys.found("OKP-0")
    assert scene.asked <= 3


def test_an_error_that_nobody_foresaw_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    monkeypatch.setattr(scene.keys, "_fetch", lambda: 1 // 0)
    with pytest.raises(IdentityUnavailable):
        scene.keys.found("OKP-0")
    assert "ZeroDivisionError" in str(scene.keys.trouble())


class Kept:
    """Alarms as they were raised and cleared."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, ...]] = []

    def raised(self, kind: str, subject: str, what: str) -> None:
        self.lines.append(("raised", kind, what))

    def cleared(self, kind: str, subject: str = "") -> None:
        self.lines.append(("cleared", kind))


def test_an_alarm_stands_while_the_keys_cannot_be_asked_for_and_ends_by_itself() -> None:
    scene, alarms = Scene(), Kept()
    alarm = ConditionAlarm(alarms, ALARM)  # type: ignore[arg-type]
    scene.kinds = None
    look_for_keys(scene.keys, alarm)
    look_for_keys(scene.keys, alarm)
    scene.now, scene.kinds = AGAIN_SECONDS, [0]
    look_for_keys(scene.keys, alarm)
    assert alarms.lines == [
        ("raised", "identity_unreachable", "http://127.0.0.1/keys: answered 500; and no key is known any more"),
        ("cleared", "identity_unreachable"),
    ]
    look_for_keys(None, ConditionAlarm(alarms, ALARM))  # type: ignore[arg-type]
    assert alarms.lines[-1] == ("cleared", "identity_unreachable"), "what an earlier process left is cleared"
