"""Settings by which a store is sealed; as they are unset it lies open."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, field_validator

from ops.sealing.place import ALLOWED, fits


class SealingSettings(BaseModel):
    """What is set of it."""

    sealed_by: str | None = None
    """What the store is sealed by: the whole path of the file with the master key, or vault:ADDRESS/MOUNT/KEY of a key service; an
    embedded store's own lies in its folder."""
    vault_token_file: Path | None = None
    """The file with the token for the key service, read again at each request."""
    seals_backup: Path | None = None
    """The file in which the seals of the store are kept apart from it; every erasure writes it anew. None is kept when unset."""

    @field_validator("sealed_by")
    @classmethod
    def _whole_key_path(cls, value: str | None) -> str | None:
        if value is not None and not fits(value):
            raise ValueError(ALLOWED)
        return value

    @field_validator("vault_token_file", "seals_backup")
    @classmethod
    def _whole_path_of_vault(cls, value: Path | None) -> Path | None:
        if value is not None and not value.expanduser().is_absolute():
            raise ValueError("the whole path of a file")
        return None if value is None else value.expanduser()
