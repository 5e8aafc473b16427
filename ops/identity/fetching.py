"""What an identity provider tells at an address, within bounds: of time, of size, no redirect followed, no proxy asked."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from threading import Timer
from time import monotonic
from urllib.parse import urlsplit

import orjson

from ops.identity.addresses import is_safe
from projections.access.provider_keys import ProviderKey, keys_in

SECONDS = 5.0
"""For one address, from the connection to the last byte."""
MOST_BYTES = 1 << 20
DISCOVERY = "/.well-known/openid-configuration"


class NotTold(Exception):
    """The provider could not be asked, or did not tell what it should; the text says which."""


def keys_at(issuer: str, jwks_url: str | None, seconds: float = SECONDS) -> Mapping[str, ProviderKey]:
    """The keys of a provider; found by discovery where their address is not given. Raises NotTold."""
    where = jwks_url or _discovered(issuer, seconds)
    document = fetched(where, seconds)
    try:
        return keys_in(document)
    except ValueError as error:
        raise NotTold(f"{_shown(where)}: {error}") from None


def fetched(url: str, seconds: float = SECONDS) -> bytes:
    """What lies at an address. Raises NotTold for anything but 200 and at most `MOST_BYTES`, in time."""
    if not is_safe(url):
        raise NotTold("an address that is neither https nor http of this machine")
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port, began = parts.port or (443 if secure else 80), monotonic()
    try:
        connected = socket.create_connection((host, port), seconds)
    except OSError as error:
        raise NotTold(f"{_shown(url)}: {error.strerror or type(error).__name__}") from None
    # A server that sends a byte now and then would keep every single wait short: the whole is bounded from outside.
    ends = Timer(max(seconds - (monotonic() - began), 0.01), _cut, [connected])
    ends.daemon = True
    ends.start()
    try:
        reached = ssl.create_default_context().wrap_socket(connected, server_hostname=host) if secure else connected
        with reached:
            return _asked(reached, host, port, parts.path + (f"?{parts.query}" if parts.query else ""), parts.netloc)
    except NotTold as error:
        raise NotTold(f"{_shown(url)}: {error}") from None
    except (OSError, HTTPException, ValueError) as error:
        late = monotonic() - began >= seconds
        raise NotTold(f"{_shown(url)}: {'no whole answer in time' if late else type(error).__name__}") from None
    finally:
        ends.cancel()
        connected.close()


def _asked(reached: socket.socket, host: str, port: int, path: str, named: str) -> bytes:
    connection = HTTPConnection(host, port)
    connection.sock = reached
    connection.request("GET", path or "/", headers={"Host": named, "Accept": "application/json", "Connection": "close"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise NotTold(f"answered {answer.status}")
    if (answer.length or 0) > MOST_BYTES:
        raise NotTold(f"more than {MOST_BYTES:,} bytes")
    document = answer.read(MOST_BYTES + 1)
    if len(document) > MOST_BYTES:
        raise NotTold(f"more than {MOST_BYTES:,} bytes")
    if answer.length:
        raise NotTold("an answer that breaks off")
    return document


def _cut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _discovered(issuer: str, seconds: float) -> str:
    """The address of an issuer's keys, as it tells itself (OpenID Connect Discovery). Raises NotTold."""
    where = issuer.removesuffix("/") + DISCOVERY
    try:
        told = orjson.loads(fetched(where, seconds))
    except orjson.JSONDecodeError:
        raise NotTold(f"{_shown(where)}: no JSON") from None
    if not isinstance(told, dict) or told.get("issuer") != issuer or not isinstance(told.get("jwks_uri"), str):
        raise NotTold(f"{_shown(where)}: another issuer than {_shown(issuer)}, or no jwks_uri")
    return str(told["jwks_uri"])


def _shown(url: str) -> str:
    """An address without what may be secret in it."""
    return url.partition("?")[0][:200]
