"""No key takes more than its share; whoever shows the folder's token is not counted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from engramlog_server.api.admission import Rates
from tests.given.http import QUICK, HttpStore, app_of, client_of, created, http_store

PATH = "/v1/owners/alice/memories"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("paced") / "data") as store:
        store.told("alice", created("coffee", "I drink coffee"))
        yield store


@pytest.fixture
def key(http: HttpStore) -> dict[str, str]:
    grants = [{"verbs": ["read", "produce"], "owners": ["*"]}]
    made = http.application.keys.issue(f"p{http.application.access_follower.book().number}", grants=grants)
    return {"authorization": f"Bearer {made['key']}"}


def served(http: HttpStore, rates: Rates) -> TestClient:
    return client_of(app_of(http.application, limits=QUICK, rates=rates))


def test_too_many_requests_are_refused_with_when_to_come_again(http: HttpStore, key: dict[str, str]) -> None:
    client = served(http, Rates(requests=0.8))
    answers = [client.get(PATH, headers=key) for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 429, 429], "a quarter about one owner"
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert answers[-1].json()["field"] == "requests"
    assert client.get("/v1/owners/bob/memories", headers=key).status_code == 200, "another owner has a quarter too"
    assert [client.get(PATH).status_code for _ in range(20)] == [200] * 20
    text = client.get("/metrics").text
    assert 'engramlog_limited_requests_total{what="requests"} 2.0' in text


def test_bytes_that_come_and_go_are_counted(http: HttpStore, key: dict[str, str]) -> None:
    client = served(http, Rates(bytes=100))
    body = [created("big", "I say " + "much " * 400)]
    assert client.post("/v1/events", json=body, headers=key).status_code == 200
    refused = client.post("/v1/events", json=body, headers=key)
    assert (refused.status_code, refused.json()["field"]) == (429, "bytes")


def test_what_a_question_took_is_waited_for(http: HttpStore, key: dict[str, str]) -> None:
    client = served(http, Rates(cpu=1e-6))
    assert client.get(PATH, headers=key).status_code == 200
    refused = client.get(PATH, headers=key)
    assert (refused.status_code, refused.json()["field"]) == (429, "CPU seconds")
    assert int(refused.headers["retry-after"]) == 60
