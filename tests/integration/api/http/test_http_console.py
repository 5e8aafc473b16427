"""The console as it is served: its files and no others, to whoever asks; its sessions to who shows a code, once."""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.callers import IDLE_SECONDS, MOST_OPEN, MOST_REFUSED, Sessions
from engramlog_server.api.http.document import CONSOLE_HEADERS, MARKER, MEDIA_TYPES, console_files
from engramlog_server.api.http.serve import Server, serve
from engramlog_server.ops.token import TokenFile, make_token, rotate_token
from tests.given.http import BASE, SHOWN, TOKEN, HttpStore, app_of, created, http_store
from tests.patience import PATIENCE
from tests.rows import each_row

FOLDER = Path(str(files("api").joinpath("console")))
SESSION, CODES = "/v1/console/session", "/v1/console/codes"
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """One owner with a secret."""
    with http_store(tmp_path_factory.mktemp("console")) as opened:
        opened.told("alice", created("coffee"), created("secret", "the password is hunter2-Xq9!", sensitivity=3))
        yield opened


@pytest.fixture
def client(store: HttpStore) -> Iterator[TestClient]:
    """A browser that was given nothing."""
    with TestClient(app_of(store.application), base_url=BASE, follow_redirects=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(store: HttpStore) -> Iterator[Server]:
    """The same on a port."""
    served = serve(app_of(store.application), "127.0.0.1", 0)
    try:
        yield served
    finally:
        served.stop()


def code_of(client: TestClient) -> str:
    answer = client.post(CODES, headers=SHOWN | JSON)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["code"])


def session_of(client: TestClient) -> dict[str, str]:
    """The header of a new session."""
    answer = client.post(SESSION, json={"code": code_of(client)})
    assert answer.status_code == 200, answer.text
    return {"authorization": f"Bearer {answer.json()['token']}"}


def raw(server: Server, head: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
    """What the server answers to bytes as they are."""
    with socket.create_connection((server.host, server.port), timeout=PATIENCE) as line:
        line.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
        answer = http.client.HTTPResponse(line, method=head.split(" ", 1)[0])
        answer.begin()
        return answer.status, {name.lower(): told for name, told in answer.getheaders()}, answer.read()


def test_every_file_of_the_folder_is_served_with_its_media_type(client: TestClient) -> None:
    there = {str(one.relative_to(FOLDER)) for one in FOLDER.rglob("*") if one.is_file()}
    assert set(console_files()) == there
    for path in there - {"index.html"}:
        answer = client.get(f"/console/{path}")
        assert (answer.status_code, answer.content) == (200, (FOLDER / path).read_bytes())
        kind = answer.headers["content-type"]
        assert kind == (MEDIA_TYPES[".txt"] if "license" in path.lower() else MEDIA_TYPES[Path(path).suffix])


def test_the_page_is_at_the_root_and_names_every_module_so_that_none_waits_for_another(client: TestClient) -> None:
    answer = client.get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    links = re.findall(r'<link rel="modulepreload" href="/console/([^"]+)">', answer.text)
    assert links == sorted(path for path in console_files() if path.endswith(".js"))
    assert (MARKER in (FOLDER / "index.html").read_text(), MARKER in answer.text) == (True, False)
    for path in re.findall(r'(?:href|src)="([^"]+)"', answer.text):
        assert client.get(path).status_code == 200, path
    assert client.get("/console/index.html").status_code == 404


def test_every_file_has_the_headers_that_keep_it_to_itself(client: TestClient) -> None:
    for path in ["/", *(f"/console/{one}" for one in console_files() if one != "index.html")]:
        answer = client.get(path)
        assert CONSOLE_HEADERS.items() <= dict(answer.headers).items()
        policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["content-security-policy"].split(";"))
        assert policy == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "img-src": "'self' blob: data:",
            "font-src": "'self'",
            "connect-src": "'self'",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
            "require-trusted-types-for": "'script'",
            "trusted-types": "engramlog-svg",
        }
        told = ("cache-control", "x-content-type-options", "x-frame-options", "referrer-policy")
        assert [answer.headers[name] for name in told] == ["no-cache", "nosniff", "DENY", "no-referrer"]
        both = ("cross-origin-opener-policy", "cross-origin-resource-policy")
        assert [answer.headers[name] for name in both] == ["same-origin"] * 2


def test_what_a_browser_has_already_is_not_sent_again(client: TestClient) -> None:
    for path in ["/", *(f"/console/{one}" for one in console_files() if one != "index.html")]:
        etag = client.get(path).headers["etag"]
        assert re.fullmatch('"[0-9a-f]{32}"', etag)
        for told in (etag, f"W/{etag}", f'"x", {etag}', "*"):
            answer = client.get(path, headers={"if-none-match": told})
            assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)
            assert CONSOLE_HEADERS.items() <= dict(answer.headers).items()
        assert client.get(path, headers={"if-none-match": f'"{"0" * 32}"'}).status_code == 200
    etags = [one.etag for one in console_files().values()]
    assert len(set(etags)) == len({one.body for one in console_files().values()})


PLACES = (
    "/console/", "/console", "/console//", "/console/nothing.js", "/console/../console_files.py",
    "/console/../http/guard.py", "/console/%2e%2e/http/guard.py", "/console/..%2fhttp%2fguard.py",
    "/console/%2e%2e%2fhttp%2fguard.py", "/console/core/../../http/guard.py", "/console/./index.html",
    "/console//etc/passwd", "/console/%2fetc%2fpasswd", "/console/file:///etc/passwd", "/console/..\\http\\guard.py",
    "/console/%5c..%5chttp", "/console/app.css%00", "/console/app.css%00.js", "/console/app.css/", "/console/APP.CSS",
    "/console/app%2ecss", "/console/core", "/console/index.html", "/console/%E5%92%96", "/console/" + "a" * 5_000,
    "/console/__init__.py",
)  # fmt: skip


@each_row("place", PLACES, ids=lambda place: place[:40])
@each_row("shown", [{}, SHOWN], ids=["stranger", "known"])
def test_nothing_but_the_files_of_the_folder_is_ever_told(server: Server, place: str, shown: dict[str, str]) -> None:
    lines = "".join(f"\n{name}: {value}" for name, value in shown.items())
    status, _, body = raw(server, f"GET {place} HTTP/1.1\nhost: 127.0.0.1:{server.port}{lines}")
    assert status == (401 if place == "/console" and not shown else 404)
    assert [word for word in (b"import ", b"root:", b"<html") if word in body] == []


def test_a_nul_in_an_address_is_refused(server: Server) -> None:
    status, _, body = raw(server, f"GET /console/app.css\0 HTTP/1.1\nhost: 127.0.0.1:{server.port}")
    assert (status in (400, 404), b"max-width" in body) == (True, False)


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v1/nothing", "/v1/console", "/v1/console/", "/nothing", "//", "/index.html"]
)
def test_what_there_is_not_is_never_answered_by_the_page(client: TestClient, path: str) -> None:
    for headers, status in (({}, 401), (SHOWN, 404)):
        answer = client.request("GET", BASE + path, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_only_reading_is_open(client: TestClient) -> None:
    for path in ("/", *(f"/console/{one}" for one in console_files())):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            assert client.request(method, path, headers=JSON).status_code == 401
            assert client.request(method, path, headers=JSON | SHOWN).status_code in (404, 405)


GONE_TO = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none"])
def test_whatever_leads_to_the_page_is_let_through(client: TestClient, site: str) -> None:
    assert client.get("/", headers=GONE_TO | {"sec-fetch-site": site}).status_code == 200
    assert client.get("/?utm=mail", headers=GONE_TO | {"sec-fetch-site": site}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "more"),
    [
        ("HEAD", "/", {}),
        ("GET", "/", {"sec-fetch-dest": "iframe"}),
        ("GET", "/", {"sec-fetch-dest": "embed"}),
        ("GET", "/", {"sec-fetch-dest": "empty"}),
        ("GET", "/", {"sec-fetch-mode": "no-cors"}),
        ("GET", "/", {"sec-fetch-mode": "cors"}),
        ("GET", "/", {"origin": "null"}),
        ("GET", "/", {"origin": "http://127.0.0.1:3000"}),
        ("GET", "/docs", {}),
        ("GET", "/console/app.css", {}),
        ("GET", "/console/index.html", {}),
        ("GET", "//", {}),
        ("GET", "/v1/status", {}),
        ("POST", SESSION, {}),
    ],
)
def test_nothing_else_of_another_page_is(client: TestClient, method: str, path: str, more: dict[str, str]) -> None:
    headers = {**GONE_TO, "sec-fetch-site": "cross-site", **JSON, **more}
    content = b'{"code": "x"}' if method == "POST" else None
    assert client.request(method, BASE + path, headers=headers, content=content).status_code == 403


def test_a_stranger_s_name_of_this_machine_does_not_open_the_page(client: TestClient) -> None:
    for host in ("evil.example:8733", "127.0.0.1:1", "127.0.0.1.nip.io:8733"):
        assert client.get("/", headers=GONE_TO | {"host": host}).status_code == 421


def test_a_code_becomes_a_session_once_and_the_session_asks_everything(client: TestClient) -> None:
    code = code_of(client)
    assert client.post(f"{CODES}/state", json={"code": code}, headers=SHOWN).json() == {"state": "waits"}
    told = client.post(SESSION, json={"code": code}).json()
    assert (told["token"][:5], told["ends_in"], told["idle_seconds"]) == ("egs1_", 604_800, 43_200)
    shown = {"authorization": f"Bearer {told['token']}"}
    assert client.get("/v1/owners/alice/memories/coffee", headers=shown).json()["content"] == "I drink coffee"
    assert client.post(f"{CODES}/state", json={"code": code}, headers=shown).json() == {"state": "used"}
    again = client.post(SESSION, json={"code": code})
    assert (again.status_code, again.json()["reason"], code in again.text) == (403, "used", False)
    assert client.get("/v1/status", headers=shown).status_code == 200


def test_a_session_is_ended_by_itself_and_says_so_then(client: TestClient) -> None:
    shown = session_of(client)
    assert client.post("/v1/console/session/end", headers=SHOWN | JSON).json() == {"ended": False}
    assert client.post("/v1/console/session/end", headers=shown | JSON).json() == {"ended": True}
    answer = client.get("/v1/status", headers=shown)
    assert (answer.status_code, "engramlog console" in answer.json()["detail"]) == (401, True)
    assert client.post("/v1/console/session/end", headers=shown | JSON).status_code == 401


def test_what_a_page_asks_by_itself_is_answered_and_does_not_keep_its_session(store: HttpStore) -> None:
    now = [0.0]
    sessions = Sessions(lambda: b"", clock=lambda: now[0])
    with TestClient(app_of(store.application, sessions=sessions), base_url=BASE) as client:
        session = session_of(client)
        now[0] = IDLE_SECONDS - 1.0
        alone = session | {"engramlog-unattended": "1"}
        assert client.get("/v1/owners/alice/profile", headers=alone).status_code == 200
        now[0] += 1
        assert client.get("/v1/owners/alice/profile", headers=session).status_code == 401


def test_open_sessions_and_refused_codes_are_counted_and_none_is_told(client: TestClient) -> None:
    shown = session_of(client)
    session_of(client)
    client.post(SESSION, json={"code": "egc1_wrong"})
    told = client.get("/metrics", headers=SHOWN).text
    assert "engramlog_console_sessions 2.0" in told
    assert 'engramlog_console_codes_refused_total{reason="unknown"} 1.0' in told
    assert "egs1_" not in told
    client.post("/v1/console/session/end", headers=shown | JSON)
    assert "engramlog_console_sessions 1.0" in client.get("/metrics", headers=SHOWN).text


def test_codes_are_for_who_shows_the_token(client: TestClient) -> None:
    for headers in ({}, {"authorization": f"Bearer {TOKEN}x"}, {"authorization": "Bearer egs1_x"}):
        for path in (CODES, f"{CODES}/state", "/v1/console/session/end"):
            assert client.post(path, headers=headers | JSON, content=b'{"code": "x"}').status_code == 401


def test_what_a_stranger_may_send_is_short_tells_its_length_and_is_json(server: Server) -> None:
    host = f"POST {SESSION} HTTP/1.1\nhost: 127.0.0.1:{server.port}"
    code = b'{"code": "egc1_x"}'
    length = f"\ncontent-length: {len(code)}"
    kind = "\ncontent-type: application/json"
    chunked = b"12\r\n" + code + b"\r\n0\r\n\r\n"
    long = MOST_OPEN + 1
    assert raw(server, f"{host}{kind}{length}", code)[0] == 403
    assert raw(server, f"{host}{kind}\ntransfer-encoding: chunked", chunked)[0] == 411
    assert raw(server, f"{host}{kind}")[0] == 411
    assert raw(server, f"{host}{kind}\ncontent-length: {long}", b" " * long)[0] == 413
    assert raw(server, f"{host}{kind}\ncontent-length: {10**18}")[0] == 413
    assert raw(server, f"{host}{kind}\ncontent-length: 0")[0] == 422
    assert raw(server, f"{host}{length}", code)[0] == 415
    assert raw(server, f"{host}\ncontent-type: text/plain{length}", code)[0] == 415
    assert raw(server, f"{host}{kind}\ncontent-encoding: gzip{length}", code)[0] == 415
    assert raw(server, f"{host}{kind}\norigin: http://127.0.0.1:3000{length}", code)[0] == 403
    spaces = code + b" " * (MOST_OPEN - len(code))
    assert raw(server, f"{host}{kind}\ncontent-length: {MOST_OPEN}", spaces)[0] == 403


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b'"egc1_x"', b"{}", b'{"code": 1}', b'{"code": null}', b'{"code": ["x"]}', b'{"code": "x", "y": 1}',
     b'{"code": "x", "code": "y"}', b'{"code": "' + b"x" * 201 + b'"}', b"\xff", b"[" * 15],
)  # fmt: skip
def test_anything_else_than_a_code_is_refused_and_uses_nothing(client: TestClient, body: bytes) -> None:
    answer = client.post(SESSION, content=body, headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_many_wrong_codes_are_429_and_a_right_one_still_opens(client: TestClient) -> None:
    code = code_of(client)
    told = [client.post(SESSION, json={"code": f"egc1_{number}"}) for number in range(MOST_REFUSED + 2)]
    assert [one.status_code for one in told[:MOST_REFUSED]] == [403] * MOST_REFUSED
    assert (told[-1].status_code, told[-1].headers["retry-after"]) == (429, "3")
    assert client.post(SESSION, json={"code": code}).status_code == 200


def test_a_new_token_ends_sessions_and_codes_at_once(store: HttpStore, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    admits = TokenFile(tmp_path)
    app = create_app(store.application, admits=admits, sessions=Sessions(admits.in_force, page=BASE))
    with TestClient(app, base_url=BASE) as client:
        token = {"authorization": f"Bearer {make_token(tmp_path)}"} | JSON
        told = client.post(CODES, headers=token).json()
        assert told["page"] == BASE
        made = client.post(SESSION, json={"code": told["code"]}).json()["token"]
        shown = {"authorization": f"Bearer {made}"}
        waiting = client.post(CODES, headers=token).json()["code"]
        assert client.get("/v1/status", headers=shown).status_code == 200
        rotate_token(tmp_path)
        assert client.get("/v1/status", headers=shown).status_code == 401
        assert client.post(CODES, headers=token).status_code == 401
        assert client.post(SESSION, json={"code": waiting}).json()["reason"] == "over"
