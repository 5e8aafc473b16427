"""What an origin names: a scheme, a host and a port; and whether a host is this machine alone. Pure."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import NamedTuple

_PORTS = {"http": 80, "https": 443}
_PLACE = re.compile(
    r"(https?)://([a-z0-9._-]+|\[[0-9a-f:.]*:[0-9a-f:.]*\])(?::([1-9][0-9]{0,4}))?", re.IGNORECASE | re.ASCII
)
"""A scheme, a host and a port as they are spelled, and nothing else: no zero before a port, no zone, nothing behind it."""


class Origin(NamedTuple):
    """A scheme, a host and a port."""

    scheme: str
    host: str
    port: int


def place_of(address: str) -> Origin | None:
    """What an origin names: nothing but scheme, host and port; None for `null` and whatever is spelled otherwise."""
    found = _PLACE.fullmatch(address)
    if found is None:
        return None
    scheme, host = found[1].lower(), found[2].lower().strip("[]")
    return Origin(scheme, host, _PORTS[scheme] if found[3] is None else int(found[3]))


def is_loopback(host: str) -> bool:
    """Whether a host name, without its port, is this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
