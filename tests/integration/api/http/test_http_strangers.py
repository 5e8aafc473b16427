"""What nobody may do who does not show the token, or whose request a page of somebody else makes: tried on every route."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.callers import OPEN_PATHS, is_open
from tests.given.http import BASE, SHOWN, TOKEN, HttpStore, app_of, created, http_store
from tests.rows import each_row

HELD = {"owner": "alice", "memory_id": "coffee", "turn_id": "t1", "partition": "0"}
WORDS = ("alice", "coffee", "hunter2")
"""What no stranger may see: an owner, an id, a text."""
FORMS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json-patch+json", "")
"""What a page can send without being asked first, and what looks like JSON."""


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """One owner with a memory and a secret."""
    with http_store(tmp_path_factory.mktemp("strangers")) as opened:
        opened.told("alice", created("coffee"), created("secret", "the password is hunter2-Xq9!", sensitivity=3))
        yield opened


@pytest.fixture(scope="module")
def stranger(http: HttpStore) -> Iterator[TestClient]:
    """A client that shows nothing."""
    with TestClient(app_of(http.application), base_url=BASE, follow_redirects=False) as client:
        yield client


def routes(http: HttpStore) -> list[tuple[str, str]]:
    """Every method and path of the document that is served, with an owner and a memory that there are."""
    document: dict[str, Any] = http.client.get("/v1/openapi.json").json()
    found = [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]
    assert len(found) > 50
    return [(method, re.sub(r"\{(\w+)\}", lambda name: HELD[name[1]], path)) for method, path in found]


def closed(http: HttpStore) -> list[tuple[str, str]]:
    """Those that ask for the token."""
    return [(method, path) for method, path in routes(http) if not is_open(method, path)]


def log_of(http: HttpStore) -> Any:
    """Everything that was ever changed of the owner, and how far the log is."""
    return http.application.reader.history("alice"), [http.application.log.head(number) for number in range(4)]


def test_a_token_in_the_address_opens_nothing(http: HttpStore, stranger: TestClient) -> None:
    for method, path in closed(http):
        for name in ("token", "access_token", "authorization", "bearer"):
            answer = stranger.request(method, f"{path}?{name}={TOKEN}", json={} if method == "POST" else None)
            assert answer.status_code == 401, (method, path, name)


def test_two_tokens_are_none(stranger: TestClient) -> None:
    answer = stranger.get("/v1/status", headers=[("authorization", "Bearer x"), ("authorization", f"Bearer {TOKEN}")])
    assert answer.status_code == 401


@each_row("path", sorted(OPEN_PATHS))
def test_what_is_open_tells_nothing_of_anybody_and_only_to_who_reads(
    http: HttpStore, stranger: TestClient, path: str
) -> None:
    answer = stranger.get(path)
    assert (answer.status_code, answer.headers["x-content-type-options"]) == (200, "nosniff")
    told = stranger.get(path).text if path.startswith("/v1") or path == "/docs" else answer.text
    assert [word for word in ("hunter2",) if word in told] == []
    if path in ("/health", "/ready"):
        assert [word for word in WORDS if word in told] == []
    assert {stranger.request(method, path).status_code for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS")} == {
        401
    }


@each_row(
    "path", ["/health/", "//health", "/Health", "/%68ealth", "/health/../v1/status", "/docs/x", "/health;/v1/status"]
)
def test_nothing_beside_an_open_path_is_open(stranger: TestClient, path: str) -> None:
    assert stranger.request("GET", f"{BASE}{path}").status_code in (401, 404)
    assert "partitions" not in stranger.request("GET", f"{BASE}{path}").text or path == "/health/../v1/status"


def test_a_path_that_there_is_not_and_one_that_there_is_are_refused_alike(stranger: TestClient) -> None:
    answers = [stranger.get(path) for path in ("/v1/owners/alice/stats", "/v1/owners/nobody/stats", "/nothing")]
    assert len({(one.status_code, one.text) for one in answers}) == 1


@each_row("origin", ["http://127.0.0.1:3000", "http://localhost:8733", "null", "http://[::1", "https://a.b"])
def test_no_other_page_reaches_a_route_even_with_the_token(http: HttpStore, stranger: TestClient, origin: str) -> None:
    before = log_of(http)
    for method, path in routes(http):
        answer = stranger.request(
            method, path, headers=SHOWN | {"origin": origin}, json={} if method == "POST" else None
        )
        assert answer.status_code == 403, (method, path)
        assert "access-control-allow-origin" not in answer.headers
    assert log_of(http) == before


@each_row("kind", FORMS)
def test_nothing_that_a_page_can_send_unasked_changes_anything_even_with_the_token(
    http: HttpStore, stranger: TestClient, kind: str
) -> None:
    before = log_of(http)
    for method, path in closed(http):
        if method == "GET":
            continue
        for body in (b"", b"{}", b'{"actor": "user"}'):
            headers = SHOWN | ({"content-type": kind} if kind else {})
            answer = stranger.request(method, path, headers=headers, content=body)
            assert answer.status_code == 415, (method, path, body)
    assert log_of(http) == before


def test_where_nobody_said_who_is_admitted_nobody_is(http: HttpStore) -> None:
    with TestClient(create_app(http.application), base_url=BASE) as client:
        assert [client.get(path, headers=SHOWN).status_code for path in ("/v1/status", "/health")] == [401, 200]
