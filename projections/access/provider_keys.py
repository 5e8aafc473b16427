"""The public keys that an identity provider tells (JWKS, RFC 7517), as far as they are used here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

MOST_KEYS = 100
MOST_KEY_ID = 256
RSA_BITS = range(2_048, 8_193)
PublicKey = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey


class ProviderKey(NamedTuple):
    """A public key, and by which algorithms alone it may have signed."""

    public: PublicKey
    algorithms: frozenset[str]


def keys_in(document: bytes) -> dict[str, ProviderKey]:
    """The keys of a set by their ids. What is no key for signatures, is private, weak or of another kind is passed over.

    Raises ValueError for what is no set, and for one without a key that can be used.
    """
    try:
        told = orjson.loads(document)
    except orjson.JSONDecodeError:
        raise ValueError("no JSON") from None
    entries = told.get("keys") if isinstance(told, dict) else None
    if not isinstance(entries, list) or len(entries) > MOST_KEYS:
        raise ValueError(f"no set of at most {MOST_KEYS} keys")
    found = dict[str, ProviderKey]()
    for entry in entries:
        read = _read(entry) if isinstance(entry, dict) else None
        if read is not None:
            found.setdefault(entry["kid"], read)
    if not found:
        raise ValueError("no key that can be used")
    return found


def _read(entry: Mapping[str, Any]) -> ProviderKey | None:
    """One key; None where it is none for signatures by an algorithm that is taken."""
    key_id, operations = entry.get("kid"), entry.get("key_ops")
    if not isinstance(key_id, str) or not 1 <= len(key_id) <= MOST_KEY_ID or entry.get("use", "sig") != "sig":
        return None
    if entry.get("kty") not in ("RSA", "EC", "OKP") or "d" in entry:
        return None
    if operations is not None and not (isinstance(operations, list) and "verify" in operations):
        return None
    try:
        public = _public(entry)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    may = _algorithms(public)
    named = entry.get("alg")
    algorithms = may if named is None else may.intersection([named] if isinstance(named, str) else [])
    return ProviderKey(public, algorithms) if algorithms and public is not None else None


def _public(entry: Mapping[str, Any]) -> PublicKey | None:
    algorithm: Any = {
        "RSA": jwt.algorithms.RSAAlgorithm,
        "EC": jwt.algorithms.ECAlgorithm,
        "OKP": jwt.algorithms.OKPAlgorithm,
    }[entry["kty"]]
    found = algorithm.from_jwk(dict(entry))
    return found if isinstance(found, RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey) else None


def _algorithms(public: PublicKey | None) -> frozenset[str]:
    if isinstance(public, RSAPublicKey):
        return frozenset({"RS256", "PS256"}) if public.key_size in RSA_BITS else frozenset()
    if isinstance(public, EllipticCurvePublicKey):
        return frozenset({"ES256"}) if isinstance(public.curve, SECP256R1) else frozenset()
    return frozenset({"EdDSA"}) if public is not None else frozenset()
