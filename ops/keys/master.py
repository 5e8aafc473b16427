"""Which master key the settings name."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from engramlog_server.events.encryption.seals import MasterKey
from engramlog_server.events.errors import BadSetting
from engramlog_server.ops.keys.master_file import NAME, KeyFile, lies_there
from engramlog_server.ops.keys.master_place import NONE, service_key
from engramlog_server.ops.settings import Settings


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
