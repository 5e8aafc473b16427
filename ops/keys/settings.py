"""Settings by which a store is sealed; as they are unset it lies open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, field_validator

from engramlog_server.ops.keys.master_place import ALLOWED, fits

KEY_SERVERS = ("redis://", "rediss://", "unix://")
KEYS_ALLOWED = (
    "the whole path of a file, or the URL of a Redis that is not the log's, such as redis://keys.example.com:6379/0"
)


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
