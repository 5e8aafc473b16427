"""What `ENGRAMLOG_SEALED_BY` names: the file of the master key, or a key in a key service. Loads nothing of the network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from engramlog_server.ops.public_settings import is_safe

NONE = "none"
"""What the setting says where a new store of a folder is to lie open."""
SERVICE = "vault:"
"""What the setting begins with where a key service has the key."""
ALLOWED = (
    "the whole path of a file, or vault:https://HOST:8200/MOUNT/KEY (http:// on this machine alone), such as"
    " vault:https://vault.example.com:8200/transit/engramlog; or none: a new store lies open"
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
