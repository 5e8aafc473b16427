"""Whether the master key of a sealed store can be had: a key service may fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engramlog_server.events.alarms import KEYS_UNAVAILABLE, Alarms, ConditionAlarm
from engramlog_server.events.encryption.seals import Seals
from engramlog_server.ops.every import Every

LOOK_SECONDS: Final = 5.0
OPEN_STORE = "a master key is set, but this store is not encrypted: run `engramlog seal`"
"""Logged once for settings that seal nothing."""
Tell = Callable[..., None]


def watch_master_key(seals: Seals, alarms: Alarms, tell: Tell) -> Every:
    """Ask for the master key every few seconds in a thread, for a key service may be slow; an alarm while it cannot be had."""
    alarm = ConditionAlarm(alarms, KEYS_UNAVAILABLE)

    def check() -> None:
        seals.look()
        before, reason = alarm.reported, seals.standing().reason or None
        if not alarm.report(reason):
            return
        if reason is not None:
            tell("master key cannot be had", reason=reason, alarm=True)
        elif before:
            tell("master key can be had again")

    every = Every(LOOK_SECONDS, check, "master key", tell)
    if seals.is_on:
        return every.start()
    alarm.report(None)
    if seals.master is not None:
        tell("store lies open", what=OPEN_STORE, alarm=True)
    return every
