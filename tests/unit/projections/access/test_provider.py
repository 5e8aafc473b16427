"""Tokens of a company's own identity provider: who is taken at his word, and who is not."""

from __future__ import annotations

import base64
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from engramlog_server.events.catalogue import PRINCIPAL_RULE, Grant, Principal
from engramlog_server.projections.access.caller import AccessBook
from engramlog_server.projections.access.keys import TokenRefused
from engramlog_server.projections.access.provider import (
    MOST_KEYS,
    MOST_LETTERS,
    Claims,
    ProviderRules,
    caller_of_claims,
    canonical,
    keys_in,
    principal_of,
    read_claims,
    signed_by,
)
from tests.given.access.provider import AUDIENCE, ISSUER, KINDS, NOW, RULES, jwk, key_set, private_key, token
from tests.rows import each_row

SUBJECTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=255)
_PRINCIPAL: TypeAdapter[str] = TypeAdapter(Principal)


def read(
    shown: str, kind: str = "OKP", number: int = 0, *, rules: ProviderRules = RULES, now: int = NOW, **key: Any
) -> Claims:
    """What a token says, if it is signed by a key of this set."""
    keys = keys_in(key_set(jwk(kind, number, **key)))
    return read_claims(shown, keys[f"{kind}-{number}"], rules, {canonical(AUDIENCE)}, now)


@each_row(("kind", "algorithm"), [(kind, one) for kind, all_of in KINDS.items() for one in all_of])
def test_a_token_of_each_kind_of_key_is_read(kind: str, algorithm: str) -> None:
    shown = token(kind, algorithm=algorithm, client_id="chat")
    signed = signed_by(shown)
    assert signed is not None
    assert signed == (f"{kind}-0", algorithm)
    assert read(shown, kind) == Claims("mei", NOW + 600, "chat", None)


@each_row(
    ("claims", "why"),
    [
        ({"aud": "https://elsewhere.example"}, "another service"),
        ({"aud": ["https://elsewhere.example", 7]}, "another service"), ({"aud": {"a": AUDIENCE}}, "another service"),
        ({"aud": None}, "without iss, aud, exp or sub"), ({"iss": "https://login.example.evil"}, "another issuer"),
        ({"iss": ISSUER + "/"}, "another issuer"), ({"exp": NOW - 11}, "is over"),
        ({"exp": None}, "without iss, aud, exp or sub"), ({"exp": True}, "no number"), ({"exp": "9999999999"}, "no number"),
        ({"exp": 9_999_999_999}, "366 days"), ({"nbf": NOW + 11}, "does not hold yet"),
        ({"iat": NOW + 11}, "does not hold yet"), ({"sub": None}, "without iss, aud, exp or sub"),
        ({"sub": ""}, "sub is not"), ({"sub": "a" * 256}, "sub is not"), ({"sub": "a\nb"}, "sub is not"),
    ],
)  # fmt: skip
def test_a_token_that_is_for_others_over_or_of_nobody_is_refused(claims: dict[str, Any], why: str) -> None:
    with pytest.raises(TokenRefused, match=why):
        read(token(**claims))


@each_row("claims", [{"exp": NOW - 9}, {"nbf": NOW + 9}, {"nbf": None, "iat": None}, {"exp": NOW + 0.5}])
def test_clocks_may_differ_a_little_and_what_providers_leave_out_is_not_asked_for(claims: dict[str, Any]) -> None:
    assert read(token(**claims)).subject == "mei"


@each_row("aud", [AUDIENCE + "/", "HTTPS://Memory.Example:443", ["x", AUDIENCE]])
def test_an_audience_is_compared_as_an_address(aud: Any) -> None:
    assert read(token(aud=aud)).subject == "mei"


def test_a_public_key_is_no_secret_that_could_sign() -> None:
    """Algorithm confusion: HS256 with what everybody can read."""
    for public in (
        private_key("RSA").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        json.dumps(jwk("RSA")).encode(),
    ):
        head, body = _part({"alg": "HS256", "kid": "RSA-0", "typ": "JWT"}), token("RSA").split(".")[1]
        secret = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(
            f"{head}.{body}".encode(), public
        )
        shown = f"{head}.{body}.{base64.urlsafe_b64encode(secret).rstrip(b'=').decode()}"
        assert signed_by(shown) is None
        with pytest.raises(TokenRefused, match="did not sign"):
            read(shown, "RSA")


@each_row(
    "header",
    [
        {"alg": "none"}, {"alg": "HS256"}, {"alg": "RS384"}, {"alg": None}, {"alg": ["EdDSA"]}, {"kid": None}, {"kid": 7},
        {"kid": ""}, {"kid": "k" * 257}, {"typ": "egl+jwt"}, {"typ": "logout+jwt"}, {"typ": 1}, {"crit": ["exp"]},
    ],
)  # fmt: skip
def test_a_header_of_another_kind_is_no_token_of_a_provider(header: dict[str, Any]) -> None:
    told = {"alg": "EdDSA", "kid": "OKP-0", "typ": "JWT"} | header
    assert signed_by(f"{_part(told)}.{token().split('.', 1)[1]}") is None


def test_what_is_too_long_or_no_token_at_all_is_none() -> None:
    for shown in ("", "a.b.c", "..", "a" * 100, f"{token()}.x", token(padding="x" * MOST_LETTERS)):
        assert signed_by(shown) is None


def test_a_key_that_a_token_brings_itself_is_not_believed() -> None:
    shown = token(number=1, header={"kid": "OKP-0", "jwk": jwk("OKP", 1), "jku": "https://evil.example/keys"})
    with pytest.raises(TokenRefused, match="did not sign"):
        read(shown)


def test_an_algorithm_that_the_key_is_not_for_is_refused() -> None:
    with pytest.raises(TokenRefused, match="did not sign"):
        read(token("RSA", algorithm="PS256"), "RSA", alg="RS256")


def test_a_set_gives_what_can_be_used_and_passes_over_the_rest() -> None:
    weak = generate_private_key(65_537, 1_024)
    algorithm: Any = jwt.algorithms.RSAAlgorithm
    others: list[dict[str, Any]] = [
        jwk("OKP", 2, use="enc"), jwk("OKP", 3, kid=None), jwk("OKP", 4, alg="ES256"), jwk("EC", 5, alg="ES384"),
        jwk("OKP", 6, d="AAAA"), {"kty": "oct", "k": "AAAA", "kid": "s"}, jwk("OKP", 7, key_ops=["sign"]),
        jwk("EC", 8, x="AAAA"), {"kty": "RSA", "kid": "r"}, {"kty": ["RSA"], "kid": "q"} | {"kty": "RSA"},
        {**algorithm.to_jwk(weak.public_key(), as_dict=True), "kid": "weak"},
    ]  # fmt: skip
    assert set(keys_in(key_set(jwk("OKP"), *others, jwk("RSA")))) == {"OKP-0", "RSA-0"}
    twice = keys_in(key_set(jwk("OKP"), jwk("OKP", 9, kid="OKP-0")))
    assert read_claims(token(), twice["OKP-0"], RULES, {AUDIENCE}, NOW).subject == "mei"


@each_row(
    "document",
    [b"", b"[]", b"{}", b'{"keys": {}}', b'{"keys": []}', key_set(*[{"kid": "a"}] * (MOST_KEYS + 1)), b"\xff"],
)
def test_what_is_no_set_of_keys_is_told_as_such(document: bytes) -> None:
    with pytest.raises(ValueError, match="no "):
        keys_in(document)


@given(st.lists(SUBJECTS, min_size=2, max_size=2, unique=True))
def test_no_two_subjects_are_one_principal_and_each_is_a_name_that_a_principal_may_have(subjects: list[str]) -> None:
    one, other = (principal_of(subject) for subject in subjects)
    assert one != other
    assert _PRINCIPAL.validate_python(one) == one, PRINCIPAL_RULE


@each_row(
    ("subject", "principal"),
    [
        ("mei@example.com", "oidc/mei@example.com"), ("auth0|5f7", "oidc/auth0/7c/5f7"), ("a/7c/b", "oidc/a/2f/7c/2f/b"),
        ("客服", "oidc/客服"), ("-x", "oidc/-x"),
    ],
)  # fmt: skip
def test_a_subject_is_told_as_its_administrator_can_write_it(subject: str, principal: str) -> None:
    assert principal_of(subject) == principal


GRANTS = (Grant(verbs=("read", "produce"), owners=("alice",)), Grant(verbs=("admin",), owners=("*",)))


@each_row(
    ("claims", "may"),
    [
        ({"scope": "openid engramlog:read"}, {"read"}), ({"scope": ["engramlog:produce", 7]}, {"produce"}),
        ({"scope": "engramlog:read engramlog:delete engramlog:*"}, {"read"}), ({"scope": "read"}, set()), ({}, set()),
        ({"scope": {"engramlog:read": 1}}, set()),
    ],
)  # fmt: skip
def test_scopes_only_ever_narrow_what_was_granted(claims: dict[str, Any], may: set[str]) -> None:
    book = AccessBook(grants={"oidc/mei": GRANTS})
    said = read(token(**claims), rules=RULES._replace(scope_claim="scope"))
    caller = caller_of_claims(book, said)
    assert {verb for verb in ("read", "produce", "delete") if caller.may(verb, "alice")} == may
    assert not caller.may("read", "bob")
    assert not caller.may("admin", None)
    assert not caller.is_unlimited


def test_without_a_claim_of_scopes_the_grants_are_all_and_without_grants_nothing_is_allowed() -> None:
    said = read(token(scope="engramlog:read"))
    assert caller_of_claims(AccessBook(grants={"oidc/mei": GRANTS}), said).may("admin", None)
    stranger = caller_of_claims(AccessBook(grants={"mei": GRANTS}), said)
    assert (stranger.name, stranger.may_anything("alice"), stranger.is_unlimited) == ("oidc/mei", False, False)


def _part(told: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).rstrip(b"=").decode()
