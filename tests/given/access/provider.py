"""An identity provider of the tests: keys, tokens, and a server on this machine that tells its keys as a script says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as ec_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as rsa_key

from engramlog_server.projections.access.provider import ProviderRules

AUDIENCE = "https://memory.example"
ISSUER = "https://login.example"
NOW = 1_800_000_000
RULES = ProviderRules(ISSUER, AUDIENCE)
KINDS = {"RSA": ("RS256", "PS256"), "EC": ("ES256",), "OKP": ("EdDSA",)}


@cache
def private_key(kind: str, number: int = 0) -> Any:
    """A private key of a kind; the same for the same number."""
    if kind == "RSA":
        return rsa_key(65_537, 2_048)
    return ec_key(SECP256R1()) if kind == "EC" else Ed25519PrivateKey.generate()


def jwk(kind: str, number: int = 0, **more: Any) -> dict[str, Any]:
    """Its public half as a set has it."""
    algorithm: Any = {
        "RSA": jwt.algorithms.RSAAlgorithm,
        "EC": jwt.algorithms.ECAlgorithm,
        "OKP": jwt.algorithms.OKPAlgorithm,
    }[kind]
    told: dict[str, Any] = algorithm.to_jwk(private_key(kind, number).public_key(), as_dict=True)
    return {**told, "kid": f"{kind}-{number}", "use": "sig"} | more


def key_set(*keys: dict[str, Any]) -> bytes:
    """A set of these keys."""
    return json.dumps({"keys": [*keys]}).encode()


def token(
    kind: str = "OKP",
    number: int = 0,
    *,
    algorithm: str | None = None,
    key: Any = None,
    header: dict[str, Any] | None = None,
    now: int = NOW,
    **claims: Any,
) -> str:
    """A token; a claim of None is left out."""
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "mei", "iat": now, "nbf": now, "exp": now + 600} | claims
    return jwt.encode(
        {name: value for name, value in said.items() if value is not None},
        private_key(kind, number) if key is None else key,
        algorithm=algorithm or KINDS[kind][0],
        headers={"kid": f"{kind}-{number}"} | (header or {}),
    )


class FakeProvider:
    """Answers by a script, and counts what it was asked."""

    def __init__(self, address: str, ended: Event) -> None:
        self.issuer = address
        self.ended = ended
        self.asked: list[str] = []
        self.answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        self.tells(jwk("OKP"))
        self.says("/.well-known/openid-configuration", {"issuer": address, "jwks_uri": f"{address}/keys"})

    def tells(self, *keys: dict[str, Any]) -> None:
        """From here on these are its keys."""
        self.sends("/keys", key_set(*keys))

    def says(self, path: str, document: Any) -> None:
        """From here on this lies there."""
        self.sends(path, json.dumps(document).encode())

    def sends(self, path: str, body: bytes, status: int = 200, **headers: str) -> None:
        """From here on a path is answered so."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in ({"content-length": str(len(body))} | headers).items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(body)

        self.answers[path] = answer


@contextmanager
def fake_provider() -> Iterator[FakeProvider]:
    """A provider on a free port of this machine."""
    ended = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.asked.append(self.path)
            answer = provider.answers.get(self.path)
            try:
                if answer is None:
                    self.send_error(404)
                else:
                    answer(self)
            except OSError:  # whoever asked has had enough
                self.close_connection = True

        def log_message(self, *_told: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider = FakeProvider(f"http://127.0.0.1:{server.server_address[1]}", ended)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield provider
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
