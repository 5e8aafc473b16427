"""Settings by which a store is sealed; as they are unset it lies open."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, SecretStr, field_validator

from ops.sealing.place import ALLOWED, fits


class SealingSettings(BaseModel):
    """What is set of it."""

    sealed_by: str | None = None
    """What the store is sealed by: the whole path of the file with the master key, or vault:ADDRESS/MOUNT/KEY of a key service; an
    embedded store's own lies in its folder."""
    vault_token: SecretStr | None = None
    """What is shown to the key service; never printed or logged."""
    vault_token_file: Path | None = None
    """A file that it lies in instead, looked at anew each time."""
    vault_namespace: str | None = None
    """Of the key service, where it has any."""
    vault_ca_file: Path | None = None
    """By which certificates the key service is trusted, in PEM; those of the system when unset."""
    seals_backup: Path | None = None
    """The file in which the seals of the store are kept apart from it; every erasure writes it anew. None is kept when unset."""

    @field_validator("sealed_by")
    @classmethod
    def _whole_key_path(cls, value: str | None) -> str | None:
        if value is not None and not fits(value):
            raise ValueError(ALLOWED)
        return value

    @field_validator("vault_token")
    @classmethod
    def _fits_a_header(cls, value: SecretStr | None) -> SecretStr | None:
        told = "" if value is None else value.get_secret_value()
        if not (len(told) <= 4_096 and told.isascii() and told.isprintable() and " " not in told):
            raise ValueError("1 to 4,096 printable ASCII characters without a space")
        return value

    @field_validator("vault_token_file", "vault_ca_file", "seals_backup")
    @classmethod
    def _whole_path_of_vault(cls, value: Path | None) -> Path | None:
        if value is not None and not value.expanduser().is_absolute():
            raise ValueError("the whole path of a file")
        return None if value is None else value.expanduser()

    @field_validator("vault_namespace")
    @classmethod
    def _fits_a_path(cls, value: str | None) -> str | None:
        if value is not None and not (
            value.isascii() and value.isprintable() and " " not in value and len(value) <= 250
        ):
            raise ValueError("printable ASCII characters without a space, at most 250")
        return value
