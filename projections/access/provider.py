"""Tokens of a company's own identity provider (OpenID Connect, RFC 9068), and the keys that sign them (JWKS, RFC 7517). Pure.

What counts is who signed, for whom (`iss`, `aud`), until when (`exp`) and who it is (`sub`). What he may do is in this store:
the grants of the principal `oidc/SUB`. If a claim of scopes is named, `engramlog:VERB` in it narrows them further.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from msgspec.structs import replace

from engramlog_server.events.text import INVISIBLE
from engramlog_server.projections.access.caller import VERBS, AccessBook, Caller, Layer
from engramlog_server.projections.access.keys import KIND, TokenRefused

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
    """One key; None if it cannot sign by an accepted algorithm."""
    key_id, operations = entry.get("kid"), entry.get("key_ops")
    if not isinstance(key_id, str) or not 1 <= len(key_id) <= MOST_KEY_ID or entry.get("use", "sig") != "sig":
        return None
    if entry.get("kty") not in ("RSA", "EC", "OKP") or "d" in entry:
        return None
    if operations is not None and not (isinstance(operations, list) and "verify" in operations):
        return None
    try:
        public = jwt.PyJWK(dict(entry)).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    may = _algorithms(public)
    named = entry.get("alg")
    algorithms = may if named is None else may.intersection([named] if isinstance(named, str) else [])
    return ProviderKey(public, algorithms) if algorithms else None


def _algorithms(public: object) -> frozenset[str]:
    if isinstance(public, RSAPublicKey):
        return frozenset({"RS256", "PS256"}) if public.key_size in RSA_BITS else frozenset()
    if isinstance(public, EllipticCurvePublicKey):
        return frozenset({"ES256"}) if isinstance(public.curve, SECP256R1) else frozenset()
    return frozenset({"EdDSA"}) if isinstance(public, Ed25519PublicKey) else frozenset()


OF_PROVIDER = "oidc/"
"""The beginning of an identity provider's principals; no key is made under such a name."""
SCOPE = "engramlog:"
ALGORITHMS = frozenset({"RS256", "PS256", "ES256", "EdDSA"})
MOST_LETTERS = 16_384
"""Of a token."""
MOST_SUBJECT, MOST_CLIENT = 255, 128
MOST_AUDIENCES, MOST_SCOPES = 64, 256
MOST_PRINCIPAL = 64
LEEWAY_SECONDS = 10
"""By which the provider's clock may differ from the store's."""
LONGEST_SECONDS = 366 * 86_400
_KINDS = frozenset({"jwt", "at+jwt", "application/at+jwt"})


class ProviderRules(NamedTuple):
    """Which tokens are taken."""

    issuer: str
    audience: str
    """Whom a token must be for: this service, by the name that the provider knows."""
    scope_claim: str | None = None
    """The claim whose scopes narrow what a token may; None: none does."""


class Signed(NamedTuple):
    """Key and algorithm in a token's header. Nothing is verified by that."""

    key_id: str
    algorithm: str


class Claims(NamedTuple):
    """The claims of a token with a valid signature."""

    subject: str
    ends: int
    """Seconds since 1970."""
    client: str | None
    """Which program it was given to."""
    scopes: frozenset[str] | None
    """Verbs; None where no claim narrows."""


def signed_by(shown: str) -> Signed | None:
    """Key and algorithm in a token's header; None if it is no token of an identity provider."""
    if len(shown) > MOST_LETTERS or shown.count(".") != 2:
        return None
    try:
        header = jwt.get_unverified_header(shown)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        return None
    key_id, algorithm, kind = header.get("kid"), header.get("alg"), header.get("typ", "JWT")
    if not isinstance(key_id, str) or not 1 <= len(key_id) <= MOST_KEY_ID or "crit" in header:
        return None
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        return None
    if not isinstance(kind, str) or kind == KIND or kind.lower() not in _KINDS:
        return None
    return Signed(key_id, algorithm)


def read_claims(shown: str, key: ProviderKey, rules: ProviderRules, audiences: Collection[str], now: int) -> Claims:
    """The claims of a token that this key signed, for one of these audiences. `now`: seconds since 1970. Raises TokenRefused."""
    try:
        said = jwt.decode(
            shown,
            key.public,
            algorithms=sorted(key.algorithms),
            options={
                "require": ["iss", "aud", "exp", "sub"], "verify_exp": False, "verify_iat": False, "verify_nbf": False,
                "verify_aud": False, "verify_iss": False, "verify_sub": False, "verify_jti": False,
            },
        )  # fmt: skip
    except jwt.MissingRequiredClaimError:
        raise TokenRefused("a token without iss, aud, exp or sub") from None
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise TokenRefused("a token that the key it names did not sign") from None
    if said["iss"] != rules.issuer:
        raise TokenRefused("a token of another issuer")
    if not audiences_in(said["aud"]).intersection(audiences):
        raise TokenRefused("a token that is for another service (aud)")
    ends = _instant(said, "exp")
    if now >= ends + LEEWAY_SECONDS:
        raise TokenRefused("a token that is over")
    if ends - now > LONGEST_SECONDS:
        raise TokenRefused("a token that ends in more than 366 days")
    if any(_instant(said, name) > now + LEEWAY_SECONDS for name in ("nbf", "iat") if said.get(name) is not None):
        raise TokenRefused("a token that does not hold yet")
    subject = said["sub"]
    if not isinstance(subject, str) or not 1 <= len(subject) <= MOST_SUBJECT or not subject.isprintable():
        raise TokenRefused(f"a token whose sub is not 1 to {MOST_SUBJECT} printable characters")
    return Claims(subject, ends, _client(said), _scopes(said, rules.scope_claim))


def audiences_in(said: object) -> frozenset[str]:
    """The audiences in a token, as they are compared."""
    told = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    return frozenset(canonical(one) for one in told[:MOST_AUDIENCES] if isinstance(one, str) and one)


def canonical(audience: str) -> str:
    """An audience as it is compared: of an address scheme and host in small letters, no last `/`, no port of the scheme's own."""
    scheme, found, rest = audience.partition("://")
    if not found or scheme.lower() not in ("http", "https"):
        return audience
    host, slash, path = rest.partition("/")
    port = ":443" if scheme.lower() == "https" else ":80"
    return f"{scheme.lower()}://{host.lower().removesuffix(port)}{slash}{path}".removesuffix("/")


def caller_of_claims(book: AccessBook, claims: Claims) -> Caller:
    """The caller of a token with these claims, with the grants of its principal in this store."""
    name = principal_of(claims.subject)
    granted = book.grants.get(name, ())
    layers = (granted,) if claims.scopes is None else (granted, _narrowed(granted, claims.scopes))
    return Caller(name, layers, None, claims.client or "", claims.ends * 1_000_000)


def principal_of(subject: str) -> str:
    """The principal of a subject: `oidc/` and the subject; no two subjects have the same.

    What no name of a principal may have in it is told by its number between slashes (`auth0|5f7` is `oidc/auth0/7c/5f7`), a `/`
    too; what is too long then is told by its SHA-256.
    """
    told = OF_PROVIDER + "".join(
        one if one in "_.@-" or (one.isalnum() and not INVISIBLE.search(one)) else f"/{ord(one):x}/" for one in subject
    )
    return told if len(told) <= MOST_PRINCIPAL else f"{OF_PROVIDER}sha256/{sha256(subject.encode()).hexdigest()[:48]}"


def _narrowed(granted: Layer, scopes: frozenset[str]) -> Layer:
    kept = ((one, tuple(verb for verb in one.verbs if verb in scopes)) for one in granted)
    return tuple(replace(one, verbs=verbs) for one, verbs in kept if verbs)


def _scopes(said: Mapping[str, Any], claim: str | None) -> frozenset[str] | None:
    """The verbs that a token is narrowed to; none where the claim is missing or no list of words."""
    if claim is None:
        return None
    told = said.get(claim)
    words = told.split(" ") if isinstance(told, str) else told if isinstance(told, list) else []
    verbs = {one.removeprefix(SCOPE) for one in words[:MOST_SCOPES] if isinstance(one, str) and one.startswith(SCOPE)}
    return frozenset(verbs.intersection(VERBS))


def _client(said: Mapping[str, Any]) -> str | None:
    told = said.get("client_id") or said.get("azp")
    fits = isinstance(told, str) and 1 <= len(told) <= MOST_CLIENT and told.isprintable()
    return str(told) if fits else None


def _instant(said: Mapping[str, Any], name: str) -> int:
    value = said[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e11:
        raise TokenRefused(f"a token whose {name} is no number of seconds since 1970")
    return int(value)
