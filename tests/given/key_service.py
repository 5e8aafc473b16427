"""A key service of the tests: a server on this machine that answers as OpenBao's transit engine does, or as a script says.

Its answers were recorded from OpenBao 2.7.2; `tests/integration/encryption/test_vault.py` asks OpenBao too if `bao` is on PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.integration.live import wait_until

TOKEN = "root-token-of-a-test-0123456789"
MOUNT, KEY = "transit", "engramlog"
NO_BAO = "no bao on PATH"
Answer = tuple[int, Any]


class KeyService(Protocol):
    """What a test does to a key service, a scripted one or a real one."""

    address: str

    @property
    def setting(self) -> str:
        """What ENGRAMLOG_SEALED_BY names it by."""
        ...

    def rotate(self) -> None:
        """From here on another version wraps."""
        ...

    def refuse_before(self, version: int) -> None:
        """From here on older versions open nothing."""
        ...

    def destroy(self) -> None:
        """The key is gone for good."""
        ...


class FakeKeyService:
    """Wraps and unwraps under keys of its own; counts what it was asked."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.setting = f"vault:{address}/{MOUNT}/{KEY}"
        self.token = TOKEN
        self.keys: list[bytes] = [os.urandom(32)]
        self.least = 1
        self.asked: list[tuple[str, int]] = []
        """Each request: what for, and how many items."""
        self.headers: dict[str, str] = {}
        """Of the last request."""
        self.instead: Callable[[BaseHTTPRequestHandler], None] | None = None
        """Answers in its place, where set."""
        self.ended = Event()

    def rotate(self) -> None:
        """See `KeyService.rotate`."""
        self.keys.append(os.urandom(32))

    def refuse_before(self, version: int) -> None:
        """See `KeyService.refuse_before`."""
        self.least = version

    def destroy(self) -> None:
        """See `KeyService.destroy`."""
        self.keys = []

    def says(self, status: int, document: Any = None, **headers: str) -> None:
        """From here on every request is answered so."""
        self.instead = lambda handler: _send(handler, status, document, headers)

    def hangs(self) -> None:
        """From here on no request is answered."""
        self.instead = lambda _handler: _wait(self.ended)

    def answers(self) -> None:
        """From here on it does what it is there for."""
        self.instead = None

    def answer(self, path: str, headers: Any, body: bytes) -> Answer:
        """What OpenBao answers."""
        self.headers = dict(headers.items())
        items = json.loads(body)["batch_input"]
        what = path.split("/")[3]
        self.asked.append((what, len(items)))
        if headers.get("X-Vault-Token") != self.token:
            return 403, {"errors": ["permission denied"]}
        if path not in (f"/v1/{MOUNT}/{one}/{KEY}" for one in ("encrypt", "decrypt")):
            return 404, {"errors": [f'no handler for route "{path[4:]}". route entry not found.']}
        if not self.keys:
            return 400, {"errors": ["encryption key not found"]}
        results = [self._encrypted(one) if what == "encrypt" else self._decrypted(one) for one in items]
        failed = any("error" in one for one in results)
        return (400 if failed else 200), {"data": {"batch_results": results}, "warnings": None}

    def _encrypted(self, item: dict[str, str]) -> dict[str, Any]:
        nonce, version = os.urandom(12), len(self.keys)
        raw = nonce + AESGCM(self.keys[-1]).encrypt(
            nonce, b64decode(item["plaintext"]), b64decode(item["associated_data"])
        )
        return {"ciphertext": f"vault:v{version}:{b64encode(raw).decode()}", "key_version": version, "reference": ""}

    def _decrypted(self, item: dict[str, str]) -> dict[str, str]:
        _, version, text = item["ciphertext"].split(":")
        number, raw = int(version[1:]), b64decode(text)
        if number > len(self.keys):
            return {"plaintext": "", "error": "invalid ciphertext: version is too new", "reference": ""}
        if number < self.least:
            too_old = "ciphertext or signature version is disallowed by policy (too old)"
            return {"plaintext": "", "error": too_old, "reference": ""}
        try:
            plain = AESGCM(self.keys[number - 1]).decrypt(raw[:12], raw[12:], b64decode(item["associated_data"]))
        except InvalidTag:
            return {"plaintext": "", "error": "cipher: message authentication failed", "reference": ""}
        return {"plaintext": b64encode(plain).decode(), "reference": ""}


@contextmanager
def fake_key_service() -> Iterator[FakeKeyService]:
    """A key service on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            try:
                if service.instead is not None:
                    service.asked.append(("instead", 0))
                    service.instead(self)
                else:
                    _send(self, *service.answer(self.path, self.headers, body), {})
            except OSError:  # whoever asked has had enough
                self.close_connection = True

        def log_message(self, *_told: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service = FakeKeyService(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield service
    finally:
        service.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


class OpenBao:
    """The real one, in its development mode: nothing of it is kept."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.setting = f"vault:{address}/{MOUNT}/{KEY}"

    def rotate(self) -> None:
        """See `KeyService.rotate`."""
        self.ask(f"{MOUNT}/keys/{KEY}/rotate", {})

    def refuse_before(self, version: int) -> None:
        """See `KeyService.refuse_before`."""
        self.ask(f"{MOUNT}/keys/{KEY}/config", {"min_decryption_version": version})

    def destroy(self) -> None:
        """See `KeyService.destroy`."""
        self.ask(f"{MOUNT}/keys/{KEY}/config", {"deletion_allowed": True})
        self.ask(f"{MOUNT}/keys/{KEY}", None, "DELETE")

    def ask(self, path: str, body: Any, method: str = "POST") -> None:
        """One request of an operator."""
        raw = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{self.address}/v1/{path}", raw, {"X-Vault-Token": TOKEN}, method=method)) as answer:
            answer.read()

    def is_up(self) -> bool:
        """Whether it answers and is unsealed."""
        try:
            with urlopen(f"{self.address}/v1/sys/health") as answer:
                return bool(answer.status == 200)
        except (HTTPError, OSError):
            return False


@contextmanager
def open_bao(folder: Path) -> Iterator[OpenBao]:
    """OpenBao on a free port of this machine, with a key; `shutil.which("bao")` must find it."""
    bao = shutil.which("bao")
    assert bao is not None, NO_BAO
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["server", "-dev", f"-dev-root-token-id={TOKEN}", f"-dev-listen-address=127.0.0.1:{port}"]
    with (folder / "bao.log").open("wb") as log:
        process = subprocess.Popen(
            [bao, *words, "-dev-no-store-token"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder
        )
    try:
        found = OpenBao(f"http://127.0.0.1:{port}")
        wait_until(found.is_up)
        found.ask(f"sys/mounts/{MOUNT}", {"type": "transit"})
        found.ask(f"{MOUNT}/keys/{KEY}", {})
        yield found
    finally:
        process.kill()
        process.wait()


def token_file(folder: Path) -> str:
    """A file with the token of these services, as ENGRAMLOG_VAULT_TOKEN_FILE names one."""
    file = folder / "vault-token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    return str(file)


def _send(handler: BaseHTTPRequestHandler, status: int, document: Any, headers: dict[str, str]) -> None:
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    handler.send_response(status)
    for name, value in ({"content-length": str(len(raw))} | headers).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(raw)


def _wait(ended: Event) -> None:
    ended.wait()
