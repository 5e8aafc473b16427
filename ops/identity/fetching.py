"""What an identity provider tells at an address, within bounds."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from ops.identity.addresses import is_safe
from ops.sealing.exchanging import NotAnswered, exchanged
from projections.access.provider_keys import ProviderKey, keys_in

SECONDS = 5.0
"""For one address, from the connection to the last byte."""
MOST_BYTES = 1 << 20
DISCOVERY = "/.well-known/openid-configuration"


class NotTold(Exception):
    """The provider could not be asked, or did not tell what it should; the text says which."""


def keys_at(issuer: str, seconds: float = SECONDS) -> Mapping[str, ProviderKey]:
    """The keys of a provider; found by discovery where their address is not given. Raises NotTold."""
    where = _discovered(issuer, seconds)
    document = fetched(where, seconds)
    try:
        return keys_in(document)
    except ValueError as error:
        raise NotTold(f"{_shown(where)}: {error}") from None


def fetched(url: str, seconds: float = SECONDS) -> bytes:
    """What lies at an address. Raises NotTold for anything but 200 and at most `MOST_BYTES`, in time."""
    if not is_safe(url):
        raise NotTold("an address that is neither https nor http of this machine")
    try:
        status, document = exchanged(url, seconds=seconds, most=MOST_BYTES, headers={"Accept": "application/json"})
    except NotAnswered as error:
        raise NotTold(f"{_shown(url)}: {error}") from None
    if status != 200:
        raise NotTold(f"{_shown(url)}: answered {status}")
    return document


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
