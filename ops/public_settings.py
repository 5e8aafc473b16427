"""Settings by which the service is open to others; as they are unset it is this machine's alone."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError, ValidatorFunctionWrapHandler, field_validator

from engramlog_server.events.text import is_loopback, place_of

MOST_PORT = 65_535
MOST = 64
"""Of proxies, and of names of the service."""
Network = IPv4Network | IPv6Network


def asked_name(told: str) -> tuple[str, int | None] | None:
    """A host, with a port where one is written; None for what is neither."""
    found = place_of(f"https://{told}")
    if found is None:
        return None
    bare = told.endswith("]") or ":" not in told.rpartition("]")[2]
    return found.host, None if bare else found.port


class Place(NamedTuple):
    """Where a port listens."""

    host: str
    port: int


def read_place(value: object) -> object:
    """The place that `PORT` or `HOST:PORT` names: loopback if no host is given. Raises ValueError."""
    if not isinstance(value, str):
        return value
    host, _, port = value.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) <= MOST_PORT) or value.startswith(":"):
        raise ValueError(f"a port from 0 to {MOST_PORT}, or host:port such as 0.0.0.0:9464")
    return Place(host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port))


class BeyondSettings(BaseModel):
    """What is set of it."""

    tls_cert_file: Path | None = None
    """Absolute path of the certificate for callers from other hosts: PEM, the certificate first, then the chain."""
    tls_key_file: Path | None = None
    """Absolute path of the certificate's key: PEM without a password, readable by this user, root or a group only."""
    trusted_proxies: tuple[Network, ...] = ()
    """Addresses and networks of the proxy that does TLS, separated by spaces, at most 64. The port answers no other caller."""
    public_names: tuple[str, ...] = ()
    """Names of the service for callers from other hosts, `host` or `host:port`, at most 64. Unset: the names in the
    certificate."""
    operate: Place | None = None
    """Port, or host:port, of the operators' routes while the API is open to other hosts. Unset: only the socket in the data
    folder."""

    @field_validator("operate", mode="before")
    @classmethod
    def _operating_place(cls, value: object) -> object:
        return read_place(value)

    @field_validator("trusted_proxies", mode="wrap")
    @classmethod
    def _networks(cls, value: object, handler: ValidatorFunctionWrapHandler) -> tuple[Network, ...]:
        told = _several(value)
        found: tuple[Network, ...] = ()
        try:
            found = handler(told)
        except ValidationError:
            """Told below, in the words of all."""
        if told and (not found or any(one.prefixlen == 0 for one in found)):
            raise ValueError(
                "addresses and networks such as 127.0.0.1 or 10.0.7.0/24, with white space between them; not all"
            )
        return found

    @field_validator("public_names", mode="before")
    @classmethod
    def _hosts(cls, value: object) -> object:
        told = _several(value)
        if isinstance(told, tuple) and any(asked_name(str(one)) is None for one in told):
            raise ValueError(
                "hosts such as memory.example.org, with a port where that is neither 443 nor the service's own"
            )
        return told

    @field_validator("tls_cert_file", "tls_key_file")
    @classmethod
    def _whole_path_of_tls(cls, value: Path | None) -> Path | None:
        if value is not None and not value.expanduser().is_absolute():
            raise ValueError("the whole path of a file")
        return None if value is None else value.expanduser()


def _several(value: object) -> object:
    several = tuple(value.split()) if isinstance(value, str) else value
    if isinstance(several, tuple | list) and len(several) > MOST:
        raise ValueError(f"at most {MOST}, with white space between them")
    return several


ALLOWED = "an address that begins with https:// (http:// on this machine alone), of at most 1,000 characters"
MOST_URL = 1_000


def is_safe(url: str) -> bool:
    """Whether an address may be asked: https, or http of this machine; nothing but a host, a port and a path in it."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or parts.fragment or "#" in url or len(url) > MOST_URL:
        return False
    if not (url.isascii() and url.isprintable() and " " not in url):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
