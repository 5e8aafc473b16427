"""What is asked of an identity provider over a real socket: within bounds, from where the settings say and nowhere else."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler

import pytest

from engramlog_server.ops.identity_provider import MOST_BYTES, NotTold, fetched, keys_at
from tests.given.access.provider import FakeProvider, fake_provider, jwk, key_set


def test_keys_are_found_by_discovery() -> None:
    with fake_provider() as provider:
        assert set(keys_at(provider.issuer)) == {"OKP-0"}
        assert provider.asked == ["/.well-known/openid-configuration", "/keys"]


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"issuer": "https://evil.example", "jwks_uri": "x"},
        {"issuer": "ISSUER"},
        {"issuer": "ISSUER", "jwks_uri": 7},
    ],
)
def test_a_discovery_of_another_issuer_is_not_followed(document: object) -> None:
    with fake_provider() as provider:
        told = json.dumps(document).replace("ISSUER", provider.issuer)
        provider.sends("/.well-known/openid-configuration", told.encode())
        with pytest.raises(NotTold, match="another issuer"):
            keys_at(provider.issuer)


@pytest.mark.parametrize(
    "leads", ["http://evil.example/k", "file:///etc/passwd", "https://u:p@evil.example", "ftp://x/y", "//x"]
)
def test_keys_are_fetched_by_https_alone_but_for_this_machine(leads: str) -> None:
    with fake_provider() as provider:
        provider.says("/.well-known/openid-configuration", {"issuer": provider.issuer, "jwks_uri": leads})
        with pytest.raises(NotTold, match="neither https nor http of this machine"):
            keys_at(provider.issuer)


def test_no_redirect_is_followed() -> None:
    with fake_provider() as provider:
        provider.sends("/there", key_set(jwk("OKP", 1)))
        provider.sends("/keys", b"", 302, location=f"{provider.issuer}/there")
        with pytest.raises(NotTold, match="answered 302"):
            keys_at(provider.issuer)
        assert "/there" not in provider.asked


def test_a_set_of_ten_megabytes_is_not_read_whether_or_not_it_says_so() -> None:
    with fake_provider() as provider:
        sent = list[int]()
        provider.sends("/keys", b" " * 10_000_000)
        with pytest.raises(NotTold, match=f"more than {MOST_BYTES:,} bytes"):
            keys_at(provider.issuer)

        def endless(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.end_headers()
            while not provider.ended.is_set():
                handler.wfile.write(b" " * 65_536)
                sent.append(65_536)

        provider.answers["/keys"] = endless
        with pytest.raises(NotTold, match=f"more than {MOST_BYTES:,} bytes"):
            keys_at(provider.issuer)
        assert sum(sent) < 10_000_000


@pytest.mark.parametrize("part", ["head", "body"])
def test_an_answer_that_comes_byte_by_byte_is_cut_off(part: str) -> None:
    with fake_provider() as provider:
        _drips(provider, part)
        with pytest.raises(NotTold, match=r"no whole answer in time|breaks off"):
            fetched(f"{provider.issuer}/keys", seconds=0.3)


def _drips(provider: FakeProvider, part: str) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if part == "body":
            handler.send_response(200)
            handler.send_header("content-length", "100000")
            handler.end_headers()
        while not provider.ended.wait(0.02):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    provider.answers["/keys"] = answer


def test_what_breaks_off_is_no_set_and_who_is_not_there_is_told() -> None:
    with fake_provider() as provider:
        provider.sends("/keys", key_set(jwk("OKP")), **{"content-length": "100000"})
        with pytest.raises(NotTold):
            fetched(f"{provider.issuer}/keys", seconds=0.5)
        provider.sends("/keys", b"no keys")
        with pytest.raises(NotTold, match="no JSON"):
            keys_at(provider.issuer)
        gone = provider.issuer
    with pytest.raises(NotTold, match=gone):
        keys_at(gone)
