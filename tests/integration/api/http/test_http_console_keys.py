"""Whoever holds a key signs in at the console: the session is that caller, and ends with what it was opened with."""

from __future__ import annotations

from collections.abc import Iterator
from time import time
from typing import Any

import pytest
from fastapi.testclient import TestClient

from engramlog_server.api.http.callers import MOST_REFUSED
from engramlog_server.projections.access.keys import make_key, make_token
from tests.given.http import BASE, SHOWN, HttpStore, app_of, created, http_store

SESSION, CODES = "/v1/console/session", "/v1/console/codes"
JSON = {"content-type": "application/json"}
ALICE = "/v1/owners/alice/memories"
READS = [{"verbs": ["read"], "owners": ["alice"]}]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("keys")) as opened:
        opened.told("alice", created("coffee"))
        opened.told("bob", created("tea", "I drink tea", owner="bob"))
        yield opened


@pytest.fixture
def client(store: HttpStore) -> Iterator[TestClient]:
    """A browser that was given nothing."""
    with TestClient(app_of(store.application), base_url=BASE) as opened:
        yield opened


def key_of(store: HttpStore, name: str, grants: Any = READS, **told: Any) -> Any:
    return store.application.keys.issue(name, grants=grants, **told)


def signed_in(client: TestClient, shown: str) -> dict[str, str]:
    answer = client.post(SESSION, json={"key": shown})
    assert answer.status_code == 200, answer.text
    assert shown not in answer.text
    return {"authorization": f"Bearer {answer.json()['token']}"}


def test_a_session_of_a_key_is_the_key_s_own_caller(store: HttpStore, client: TestClient) -> None:
    made = key_of(store, "reader-1")
    session = signed_in(client, made["key"])
    me = client.get("/v1/me", headers=session).json()
    assert (me["principal"], me["key"], me["unlimited"]) == ("reader-1", made["key_id"], False)
    assert [client.get(path, headers=session).status_code for path in (ALICE, "/v1/owners/bob/memories")] == [200, 403]
    assert client.get("/v1/status", headers=session).status_code == 403
    denied = client.get(f"{ALICE}?mode=debug", headers=session).json()
    assert [denied[name] for name in ("error", "verb", "owner", "mode")] == ["AccessDenied", "read", "alice", "debug"]


def test_what_the_key_may_holds_at_the_next_request(store: HttpStore, client: TestClient) -> None:
    session = signed_in(client, key_of(store, "reader-2")["key"])
    assert client.get(ALICE, headers=session).status_code == 200
    store.application.keys.grant("reader-2", grants=[{"verbs": ["read"], "owners": ["bob"]}])
    assert client.get(ALICE, headers=session).status_code == 403
    assert client.get("/v1/owners/bob/memories", headers=session).status_code == 200


def test_a_session_ends_with_its_key_and_says_why(store: HttpStore, client: TestClient) -> None:
    made = key_of(store, "reader-3")
    session = signed_in(client, made["key"])
    store.application.keys.revoke(made["key_id"])
    answer = client.get(ALICE, headers=session)
    assert (answer.status_code, answer.json()["reason"]) == (401, "revoked")
    assert made["key_id"] in answer.json()["detail"]
    refused = client.post(SESSION, json={"key": made["key"]})
    assert (refused.status_code, refused.json()["reason"]) == (403, "revoked")


def test_a_token_made_of_a_key_signs_in_too_and_stays_as_narrow(
    store: HttpStore, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = key_of(store, "agent-1", [{"verbs": ["read"], "owners": ["*"]}])
    began = int(time())
    token = make_token(made["key"], READS, now=began, seconds=600, subject="alice@example.org")
    session = signed_in(client, token)
    me = client.get("/v1/me", headers=session).json()
    assert (me["principal"], me["token"], len(me["narrowed_to"])) == ("agent-1", "alice@example.org", 1)
    assert [client.get(path, headers=session).status_code for path in (ALICE, "/v1/owners/bob/memories")] == [200, 403]
    store.application.keys.grant("agent-1", grants=[{"verbs": ["read"], "owners": ["bob"]}])
    assert client.get(ALICE, headers=session).status_code == 403
    callers = client.app.state.callers  # type: ignore[attr-defined]
    with monkeypatch.context() as later:
        later.setattr(callers, "_clock", lambda: (began + 601) * 1_000_000)
        assert client.get("/v1/me", headers=session).json()["reason"] == "over"
    store.application.keys.revoke(made["key_id"])
    assert client.get("/v1/me", headers=session).json()["reason"] == "revoked"


def test_what_is_no_key_of_this_store_is_told_alike_whatever_is_wrong_with_it(
    store: HttpStore, client: TestClient
) -> None:
    made = key_of(store, "reader-5")
    other = make_key(lambda size: b"\x07" * size).text
    revoked = key_of(store, "reader-6")
    store.application.keys.revoke(revoked["key_id"])
    forged = make_token(other, READS, now=int(time()), seconds=60)
    same_id = [f"egl_{one['key_id']}{other[12:]}" for one in (made, revoked)]
    told = [
        client.post(SESSION, json={"key": shown})
        for shown in ("", "x", other, forged, made["key"][:-1], *same_id, SHOWN["authorization"][7:])
    ]
    assert {(one.status_code, one.json()["reason"], one.json()["detail"]) for one in told} == {
        (403, "unknown", "key: got none of this store; allowed: a key of this store that lives, or a token made of one")
    }


def test_many_wrong_keys_are_429_and_a_right_one_still_opens(store: HttpStore, client: TestClient) -> None:
    made = key_of(store, "reader-7")
    told = [client.post(SESSION, json={"key": f"egl_{number}"}) for number in range(MOST_REFUSED + 2)]
    assert [one.status_code for one in told[:MOST_REFUSED]] == [403] * MOST_REFUSED
    assert (told[-1].status_code, told[-1].json()["reason"]) == (429, "limited")
    assert client.get(ALICE, headers=signed_in(client, made["key"])).status_code == 200


@pytest.mark.parametrize("body", [{"key": None}, {"key": 1}, {"key": "x", "code": "y"}, {"key": "x" * 8_193}, {}])
def test_a_code_or_a_key_and_not_both(client: TestClient, body: Any) -> None:
    assert client.post(SESSION, json=body).status_code == 422


def test_a_key_and_its_session_make_no_codes_and_a_session_can_end_itself(store: HttpStore, client: TestClient) -> None:
    made = key_of(store, "reader-8", [{"verbs": ["admin", "operate"], "owners": ["*"]}])
    session = signed_in(client, made["key"])
    for shown in (session, {"authorization": f"Bearer {made['key']}"}):
        answer = client.post(CODES, headers=shown | JSON)
        assert (answer.status_code, "code" in answer.json()) == (403, False)
    assert "engramlog_console_sessions 1.0" in client.get("/metrics", headers=SHOWN).text
    assert client.post("/v1/console/session/end", headers=session | JSON).json() == {"ended": True}
    assert client.get("/v1/me", headers=session).status_code == 401


def test_what_a_session_of_a_key_says_stands_under_its_principal(store: HttpStore, client: TestClient) -> None:
    made = key_of(store, "writer-1", [{"verbs": ["produce", "read"], "owners": ["carol"]}])
    session = signed_in(client, made["key"])
    answer = client.post("/v1/owners/carol/memories", json={"content": "I swim"}, headers=session)
    assert answer.status_code == 200, answer.text
    events = client.get("/v1/owners/carol/events", headers=SHOWN).json()["events"]
    assert {one["principal"] for one in events} == {"writer-1"}
