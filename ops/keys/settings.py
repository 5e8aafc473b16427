"""Settings by which a store is encrypted, and what `ENGRAMLOG_SEALED_BY` names: a file, or a key in a key service."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, field_validator

from engramlog_server.ops.public_settings import is_safe

NONE = "none"
"""What the setting says where a new store of a folder is to lie open."""
SERVICE = "vault:"
"""What the setting begins with where a key service has the key."""
ALLOWED = (
    "the whole path of a file, or vault:https://HOST:8200/MOUNT/KEY (http:// on this machine alone), such as"
    " vault:https://vault.example.com:8200/transit/engramlog; or none: a new store lies open"
)
KEY_SERVERS = ("redis://", "rediss://", "unix://")
KEYS_ALLOWED = (
    "the whole path of a file, or the URL of a Redis that is not the log's, such as redis://keys.example.com:6379/0"
)
_ADDRESS = re.compile(r"(https?://[^/?#]+)/((?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]{1,100})")


class ServiceKey(NamedTuple):
    """A key in the transit engine of a Vault or OpenBao."""

    address: str
    """Scheme, host and port."""
    mount: str
    """Where the engine is mounted: mostly `transit`."""
    key: str

    def __str__(self) -> str:
        return f"{self.key} at {self.address}/{self.mount}"


def service_key(told: str) -> ServiceKey | None:
    """The key of a service that a setting names; None where it names none that could be asked."""
    found = _ADDRESS.fullmatch(told.removeprefix(SERVICE)) if told.startswith(SERVICE) else None
    if found is None or ".." in told or not is_safe(told.removeprefix(SERVICE)):
        return None
    return ServiceKey(found[1], found[2], found[3])


def fits(told: str) -> bool:
    """Whether the setting can be this."""
    if told.startswith(SERVICE):
        return service_key(told) is not None
    return told == NONE or Path(told).expanduser().is_absolute()


class SealingSettings(BaseModel):
    """What is set of it."""

    sealed_by: str | None = None
    """Master key of a sealed store: the absolute path of its file, or `vault:https://HOST:8200/MOUNT/KEY` of a key service.
    Unset: a file in the data folder. `none`: a new store is open."""
    vault_token_file: Path | None = None
    """Absolute path of the file (mode 0600) with the token for the key service; read again at each request."""
    keys: Annotated[str | None, Field(repr=False)] = None
    """Key store of a sealed store: the absolute path of a file on this host, or the URL of a Redis that is not the log's if several
    hosts use the store. Unset: a file in the data folder."""
    keys_backup: Path | None = None
    """Absolute path of a file outside the data folder that keeps a copy of the keys. Every erasure writes the file again.
    Unset: no copy."""

    @field_validator("sealed_by")
    @classmethod
    def _whole_key_path(cls, value: str | None) -> str | None:
        if value is not None and not fits(value):
            raise ValueError(ALLOWED)
        return value

    @field_validator("keys")
    @classmethod
    def _known_key_store(cls, value: str | None) -> str | None:
        if value is not None and not (Path(value).expanduser().is_absolute() or value.startswith(KEY_SERVERS)):
            raise ValueError(KEYS_ALLOWED)
        return value

    @field_validator("vault_token_file", "keys_backup")
    @classmethod
    def _whole_path_of_vault(cls, value: Path | None) -> Path | None:
        if value is not None and not value.expanduser().is_absolute():
            raise ValueError("the whole path of a file")
        return None if value is None else value.expanduser()
