"""The master key of a store: which one the settings name, and whether it can be had, because a key service may fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from engramlog_server.events.alarms import KEYS_UNAVAILABLE, Alarms, ConditionAlarm
from engramlog_server.events.encryption.seals import MasterKey, Seals
from engramlog_server.events.errors import BadSetting
from engramlog_server.ops.every import Every
from engramlog_server.ops.keys.master_file import NAME, KeyFile, lies_there
from engramlog_server.ops.keys.settings import NONE, service_key
from engramlog_server.ops.settings import Settings

LOOK_SECONDS: Final = 5.0
OPEN_STORE = "a master key is set, but this store is not encrypted: run `engramlog seal`"
"""Logged once for settings that seal nothing."""
Tell = Callable[..., None]


def master_of(settings: Settings, folder: Path | None = None) -> MasterKey | None:
    """The master key that is set; else the one that lies in the `folder` of an embedded store; None where there is none."""
    if settings.sealed_by is not None and (place := service_key(settings.sealed_by)) is not None:
        from engramlog_server.ops.keys.vault import VaultKey  # noqa: PLC0415 - who has a file asks no service

        return VaultKey(place, partial(_token, settings))
    path = key_in(folder, settings)
    return None if path is None else KeyFile(path)


def key_in(folder: Path | None, settings: Settings) -> Path | None:
    """The file of the master key: the one that is set, else the one in the folder of an embedded store, where there is one; None
    where a key service has the key."""
    if settings.sealed_by is not None:
        elsewhere = settings.sealed_by == NONE or service_key(settings.sealed_by) is not None
        return None if elsewhere else Path(settings.sealed_by).expanduser()
    return folder / NAME if folder is not None and lies_there(folder / NAME) else None


def _token(settings: Settings) -> str:
    """The token for the key service. Raises BadSetting if there is none."""
    from engramlog_server.ops.keys.vault import TOKEN_FILE, token_in  # noqa: PLC0415 - as above

    if settings.vault_token_file is None:
        raise BadSetting(
            f"{TOKEN_FILE}: got nothing; allowed: a file with a token that may encrypt and decrypt by the key of"
            " ENGRAMLOG_SEALED_BY",
            setting=TOKEN_FILE,
        )
    return token_in(settings.vault_token_file)


def watch_master_key(seals: Seals, alarms: Alarms, tell: Tell) -> Every:
    """Ask for the master key every few seconds in a thread, for a key service may be slow; an alarm while it cannot be had."""
    alarm = ConditionAlarm(alarms, KEYS_UNAVAILABLE)

    def check() -> None:
        seals.look()
        before, reason = alarm.reported, seals.standing().reason or None
        if not alarm.report(reason):
            return
        if reason is not None:
            tell("master key unavailable", reason=reason, alarm=True)
        elif before:
            tell("master key reached")

    every = Every(LOOK_SECONDS, check, "master key", tell)
    if seals.is_on:
        return every.start()
    alarm.report(None)
    if seals.master is not None:
        tell("store not encrypted", what=OPEN_STORE, alarm=True)
    return every
