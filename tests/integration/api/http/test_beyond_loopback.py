"""Beyond loopback: by TLS or a declared proxy, with keys alone, by the names of the service; operating stands apart."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx2
import pytest

from engramlog_server.api.http.serve import (
    Certificate,
    ConnectionLimits,
    Listener,
    Listening,
    Server,
    operating_paths,
    serve,
)
from engramlog_server.ops.clock import now
from tests.given.access.certificates import NOW, Pair, certificate
from tests.given.http import SHOWN, TOKEN, HttpStore, app_of, created, http_store
from tests.patience import PATIENCE
from tests.rows import each_row

NAMES = frozenset({("memory.example.org", None), ("127.0.0.1", None)})
PROXY = {"x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9", "host": "memory.example.org"}
HELLO = b"GET /health HTTP/1.1\r\nhost: memory.example.org\r\nconnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("beyond") / "data") as opened:
        opened.told("alice", created("coffee"))
        yield opened


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def key(store: HttpStore) -> dict[str, str]:
    """What a key that may do everything but reveal shows."""
    verbs = ["produce", "read", "correct", "delete", "review", "debug", "replay", "audit", "operate", "admin"]
    told = store.application.keys.issue("support", grants=[{"verbs": verbs, "owners": ["*"]}])
    return {"authorization": f"Bearer {told['key']}"}


class Served:
    """A service that is open to others, on all addresses, and its socket for operating."""

    def __init__(self, server: Server, folder: Path, refused: list[tuple[str, str]], app: Any) -> None:
        self.server = server
        self.operate = folder
        self.refused = refused
        self.app = app
        self.place = ("127.0.0.1", server.port)

    def counted(self, reason: str) -> float:
        """How many requests were refused for a reason, as the metrics tell."""
        return float(self.app.state.parts.metrics.refused_requests.labels(reason)._value.get())


@contextmanager
def served(store: HttpStore, folder: Path, listener: Listener, **limits: Any) -> Iterator[Served]:
    refused: list[tuple[str, str]] = []
    app = app_of(store.application, on_refused=lambda reason, address: refused.append((reason, address)))
    path = folder / "o.sock"
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as operating:
        operating.bind(str(path))
        server = serve(
            app,
            "0.0.0.0",
            0,
            listener=listener,
            beside=[Listening(operating, Listener(direct=True))],
            limits=ConnectionLimits(**limits),
        )
        try:
            yield Served(server, path, refused, app)
        finally:
            server.stop(PATIENCE)


@pytest.fixture
def secured(store: HttpStore, pair: Pair, tmp_path: Path) -> Iterator[Served]:
    listener = Listener(public=True, operates=False, names=NAMES, certificate=Certificate(*pair, now))
    with served(store, tmp_path, listener) as found:
        yield found


@pytest.fixture
def proxied(store: HttpStore, tmp_path: Path) -> Iterator[Served]:
    listener = Listener(public=True, operates=False, names=NAMES, proxies=(ip_network("127.0.0.1/32"),))
    with served(store, tmp_path, listener) as found:
        yield found


def client_by_tls(found: Served, pair: Pair) -> httpx2.Client:
    authority = ssl.create_default_context(cafile=str(pair.chain))
    return httpx2.Client(
        base_url=f"https://127.0.0.1:{found.server.port}", verify=authority, trust_env=False, timeout=PATIENCE
    )


def client_in_clear(found: Served) -> httpx2.Client:
    return httpx2.Client(base_url=f"http://127.0.0.1:{found.server.port}", trust_env=False, timeout=PATIENCE)


def client_of_operators(found: Served) -> httpx2.Client:
    transport = httpx2.HTTPTransport(uds=str(found.operate), trust_env=False)
    return httpx2.Client(base_url="http://localhost", transport=transport, trust_env=False, timeout=PATIENCE)


def raw(found: Served, sent: bytes, secure: Pair | None = None) -> bytes:
    """All that is answered to these bytes; nothing where the connection was cut."""
    with ExitStack() as open_:
        line = open_.enter_context(socket.create_connection(found.place, PATIENCE))
        if secure is not None:
            authority = ssl.create_default_context(cafile=str(secure.chain))
            line = open_.enter_context(authority.wrap_socket(line, server_hostname="memory.example.org"))
        pieces = []
        try:
            line.sendall(sent)
            while piece := line.recv(65_536):
                pieces.append(piece)
        except ConnectionError:
            pass
        return b"".join(pieces)


def test_a_key_is_answered_over_tls_by_a_name_of_the_service(secured: Served, pair: Pair, key: dict[str, str]) -> None:
    with client_by_tls(secured, pair) as client:
        answer = client.get("/v1/owners/alice/memories", headers=key)
        named = client.get("/v1/me", headers={**key, "host": "memory.example.org"})
        on_its_port = client.get("/v1/me", headers={**key, "host": f"memory.example.org:{secured.server.port}"})
    assert [one["id"] for one in answer.json()["memories"]] == ["coffee"]
    assert named.json()["principal"] == on_its_port.json()["principal"] == "support"
    assert secured.server.url == f"https://0.0.0.0:{secured.server.port}"


def test_the_token_of_the_folder_and_its_sessions_open_nothing_from_elsewhere_and_all_of_it_at_the_socket(
    secured: Served, pair: Pair
) -> None:
    sessions = secured.app.state.sessions
    code = sessions.code(sessions.in_force())
    session = {"authorization": f"Bearer {sessions.redeem(code.code).token}"}
    with client_by_tls(secured, pair) as client, client_of_operators(secured) as operator:
        for shown in (SHOWN, session):
            refusal = client.get("/v1/owners/alice/memories", headers=shown)
            assert (refusal.status_code, refusal.json()["error"]) == (401, "Unauthorized")
            assert "a key of this store" in refusal.json()["detail"]
            assert TOKEN not in refusal.text
            assert operator.get("/v1/owners/alice/memories", headers=shown).status_code == 200
    assert secured.counted("stranger") == 2
    assert secured.refused == [("stranger", "127.0.0.1")] * 2


@pytest.mark.parametrize("path", operating_paths())
def test_operating_is_answered_at_the_socket_alone_whoever_asks(
    secured: Served, pair: Pair, key: dict[str, str], path: str
) -> None:
    asked = path.replace("{owner}", "alice").replace("{partition}", "0")
    with client_by_tls(secured, pair) as client, client_of_operators(secured) as operator:
        for method in ("GET", "POST", "HEAD", "PUT"):
            for shown in (key, SHOWN, {}):
                answer = client.request(method, asked, headers={**shown, "engramlog-request": "1"})
                assert answer.status_code == 403, (method, asked, answer.text)
        assert "api.sock" in client.get(asked, headers=key).json()["detail"]
        told = operator.get(asked, headers=SHOWN)
        assert told.status_code != 403, told.text
    assert secured.counted("operating") == 13


def test_every_route_about_the_store_as_a_whole_is_operating() -> None:
    assert set(operating_paths()) == {
        *("/metrics", "/v1/command", "/v1/status", "/v1/stats", "/v1/alarms", "/v1/alarms/clear"),
        *("/v1/dead", "/v1/dead/{owner}", "/v1/dead/{owner}/retry", "/v1/dead/{owner}/discard"),
        *("/v1/heads", "/v1/heads/check", "/v1/jobs", "/v1/capacity", "/v1/models"),
        *("/v1/access", "/v1/keys", "/v1/keys/revoke", "/v1/grants", "/v1/reads"),
        *("/v1/partitions/{partition}/events", "/v1/console/codes", "/v1/console/codes/state"),
    }


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/%73tatus", "/v1//status", "//v1/status", "/v1/status/", "/V1/status", "/v1/./status", "/v1/x/../status"),
        *("http://127.0.0.1/v1/status", "https://memory.example.org/v1/status", "/v1/status%00", "/v1/status;x"),
    ],
)
def test_no_other_spelling_of_a_path_gets_at_operating(
    secured: Served, pair: Pair, key: dict[str, str], path: str
) -> None:
    sent = f"GET {path} HTTP/1.1\r\nhost: memory.example.org\r\nconnection: close\r\n"
    sent += f"authorization: {key['authorization']}\r\n\r\n"
    assert raw(secured, sent.encode(), pair).partition(b"\r\n")[0].split()[1] in (b"403", b"404", b"400")


@pytest.mark.parametrize(
    "hosts",
    [
        ["evil.example"],
        ["localhost"],
        ["memory.example.org."],
        ["memory.example.org:1"],
        ["memory.example.org@evil.example"],
        ["memory.example.org", "memory.example.org"],
        ["memory.example.org", "evil.example"],
        ["memory.example.org:0443"],
        ["xn--mmory-bva.example.org"],
        [""],
        [],
    ],
)
def test_another_host_is_misdirected_on_open_paths_too(secured: Served, pair: Pair, hosts: list[str]) -> None:
    lines = "".join(f"host: {one}\r\n" for one in hosts)
    told = raw(secured, f"GET /health HTTP/1.1\r\n{lines}x-forwarded-host: memory.example.org\r\n\r\n".encode(), pair)
    assert told.split(b" ")[1] in (b"421", b"400")


@pytest.mark.parametrize(
    "told",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://memory.example.org"},
        {"origin": "null"},
        {"origin": "https://memory.example.org:8443"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_another_page_is_refused(secured: Served, pair: Pair, key: dict[str, str], told: dict[str, str]) -> None:
    with client_by_tls(secured, pair) as client:
        answer = client.get("/v1/me", headers={**key, "host": "memory.example.org", **told})
        own = client.get(
            "/v1/me", headers={**key, "host": "memory.example.org", "origin": "https://memory.example.org"}
        )
    assert (answer.status_code, own.status_code) == (403, 200)


def test_http_in_clear_on_the_port_of_tls_gets_nothing(secured: Served) -> None:
    assert raw(secured, HELLO) == b""


def _hello(version: bytes) -> bytes:
    """The first words of a client that speaks nothing newer than a version of TLS."""
    ciphers = b"\xc0\x2b\xc0\x09\xc0\x0a\xc0\x13\xc0\x14\x00\x2f"
    groups, points = b"\x00\x0a\x00\x04\x00\x02\x00\x17", b"\x00\x0b\x00\x02\x01\x00"
    extensions = groups + points + b"\x00\x0d\x00\x04\x00\x02\x04\x03"
    body = version + bytes(range(32)) + b"\0" + len(ciphers).to_bytes(2) + ciphers + b"\x01\0"
    body += len(extensions).to_bytes(2) + extensions
    hello = b"\x01" + len(body).to_bytes(3) + body
    return b"\x16\x03\x01" + len(hello).to_bytes(2) + hello


def test_tls_older_than_1_2_is_refused_and_1_2_is_taken(secured: Served, pair: Pair) -> None:
    assert Certificate(*pair, now).context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert raw(secured, _hello(b"\x03\x02")) == b""  # TLS 1.1, which a library of clients may have no more
    with socket.create_connection(secured.place, PATIENCE) as line:
        line.sendall(_hello(b"\x03\x03"))  # the same words of TLS 1.2 begin a handshake
        assert line.recv(1) == b"\x16"
    fit = ssl.create_default_context(cafile=str(pair.chain))
    fit.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        socket.create_connection(secured.place, PATIENCE) as line,
        fit.wrap_socket(line, server_hostname="memory.example.org") as spoken,
    ):
        assert spoken.version() == "TLSv1.2"
        spoken.sendall(HELLO)
        assert spoken.recv(12) == b"HTTP/1.1 200"


def test_a_stalled_handshake_is_a_connection_with_an_end(store: HttpStore, pair: Pair, tmp_path: Path) -> None:
    listener = Listener(public=True, operates=False, names=NAMES, certificate=Certificate(*pair, now))
    with served(store, tmp_path, listener, header_seconds=0.2) as found:
        with socket.create_connection(found.place, PATIENCE) as stalled:
            stalled.sendall(b"\x16\x03\x01")  # the beginning of a hello, and nothing more
            stalled.settimeout(PATIENCE)
            assert stalled.recv(1) == b""


def test_whoever_fills_the_open_port_leaves_operators_places_of_their_own(store: HttpStore, tmp_path: Path) -> None:
    listener = Listener(public=True, operates=False, names=NAMES, proxies=(ip_network("127.0.0.1/32"),))
    with (
        served(store, tmp_path, listener, most=8) as found,
        client_of_operators(found) as operator,
        ExitStack() as idle,
    ):
        assert operator.get("/v1/status", headers=SHOWN).status_code == 200
        lines = [idle.enter_context(socket.create_connection(found.place, PATIENCE)) for _ in range(12)]
        assert [line.recv(1) for line in lines[:4]] == [b""] * 4
        assert operator.get("/v1/status", headers=SHOWN).status_code == 200


def test_a_request_that_comes_with_the_end_of_the_handshake_is_answered(
    secured: Served, pair: Pair, key: dict[str, str]
) -> None:
    """What a client sends at once may arrive in one piece with the last of the handshake."""
    sent = f"GET /v1/me HTTP/1.1\r\nhost: memory.example.org\r\nauthorization: {key['authorization']}\r\n"
    for _ in range(20):
        told = raw(secured, f"{sent}connection: close\r\n\r\n".encode(), pair)
        assert told.startswith(b"HTTP/1.1 200 ")
        assert json.loads(told.partition(b"\r\n\r\n")[2])["principal"] == "support"


def test_a_renewed_certificate_is_taken_without_a_restart(store: HttpStore, tmp_path: Path) -> None:
    first = certificate(tmp_path, ends=NOW + timedelta(days=2))
    used = Certificate(*first, now)
    with served(store, tmp_path, Listener(public=True, operates=False, names=NAMES, certificate=used)) as found:
        other = certificate(tmp_path / "new", ends=NOW + timedelta(days=60))
        for new, old in zip(other, first, strict=True):
            new.replace(old)
        assert used.renewed()
        assert not used.renewed()
        with client_by_tls(found, first) as client:
            assert client.get("/health", headers={"host": "memory.example.org"}).status_code == 200
        assert used.ends.date() == (NOW + timedelta(days=60)).date()


def test_a_request_through_the_declared_proxy_is_answered_by_its_name_with_a_key(
    proxied: Served, key: dict[str, str]
) -> None:
    with client_in_clear(proxied) as client:
        answer = client.get("/v1/owners/alice/memories", headers={**PROXY, **key})
        token = client.get("/v1/owners/alice/memories", headers={**PROXY, **SHOWN})
        page = client.get("/v1/me", headers={**PROXY, **key, "origin": "https://memory.example.org"})
    assert (answer.status_code, token.status_code, page.status_code) == (200, 401, 200)
    assert proxied.refused == [("stranger", "203.0.113.9")]


@pytest.mark.parametrize(
    "proto", [[], ["http"], ["https", "https"], ["https", "http"], ["https,https"], ["https, http"], [""], ["httpsx"]]
)
@pytest.mark.parametrize("path", ["/health", "/ready", "/", "/docs", "/v1/me"])
def test_what_the_proxy_was_not_asked_by_tls_is_misdirected_on_open_paths_too(
    proxied: Served, key: dict[str, str], path: str, proto: list[str]
) -> None:
    headers = [("host", "memory.example.org"), *key.items(), *(("x-forwarded-proto", one) for one in proto)]
    with client_in_clear(proxied) as client:
        answer = client.get(path, headers=headers)
    assert answer.status_code == 421
    assert "X-Forwarded-Proto" in answer.json()["detail"]


@each_row("path", ["/health", "/ready", "/", "/docs", "/console/app.js", "/v1/openapi.json", "/v1/me"])
def test_whoever_does_not_come_through_the_proxy_is_refused_whatever_he_says(
    store: HttpStore, tmp_path: Path, key: dict[str, str], path: str
) -> None:
    listener = Listener(public=True, operates=False, names=NAMES, proxies=(ip_network("198.51.100.0/24"),))
    lies = {"x-forwarded-for": "198.51.100.7", "x-real-ip": "198.51.100.7", "forwarded": "for=198.51.100.7"}
    with served(store, tmp_path, listener) as found, client_in_clear(found) as client:
        answer = client.get(path, headers={**PROXY, **key, **lies})
    assert answer.status_code == 403
    assert found.refused == [("way", "127.0.0.1")]  # nobody is believed where he says to come from


def test_the_socket_for_operating_takes_nothing_that_was_passed_on(proxied: Served) -> None:
    with client_of_operators(proxied) as operator:
        for name in ("x-forwarded-for", "x-forwarded-proto", "forwarded", "x-real-ip", "via", "x-forwarded-host"):
            assert operator.get("/v1/status", headers={**SHOWN, name: "x"}).status_code == 403
        assert operator.get("/v1/status", headers=SHOWN).status_code == 200


def test_a_loopback_service_is_as_it_was_whatever_was_passed_on(store: HttpStore) -> None:
    server = serve(app_of(store.application), "127.0.0.1", 0)
    try:
        with httpx2.Client(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
            told = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "http"}
            assert client.get("/v1/status", headers={**SHOWN, **told}).status_code == 200
            assert client.get("/v1/status", headers={**SHOWN, "host": "memory.example.org"}).status_code == 421
    finally:
        server.stop(PATIENCE)


def test_a_revoked_key_opens_nothing_more_from_the_next_request_on(
    secured: Served, store: HttpStore, pair: Pair
) -> None:
    made = store.application.keys.issue("brief", grants=[{"verbs": ["read"], "owners": ["alice"]}])
    shown = {"authorization": f"Bearer {made['key']}"}
    with client_by_tls(secured, pair) as client:
        assert client.get("/v1/owners/alice/memories", headers=shown).status_code == 200
        store.application.keys.revoke(made["key_id"])
        refusal = client.get("/v1/owners/alice/memories", headers=shown)
    assert refusal.status_code == 401
    assert "revoked" in refusal.json()["detail"]
