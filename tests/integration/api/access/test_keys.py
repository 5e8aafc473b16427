"""Keys and grants over HTTP and in the service: made, narrowed, revoked, told; and each event under the key's name."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread
from typing import Any

import pytest

from engramlog_server.events.errors import AccessDenied, EngramlogError, InputError
from engramlog_server.events.partitions import ACCESS, READS, access_id
from engramlog_server.projections.access.keys import make_token
from tests.given.http import HttpStore, created, http_store
from tests.patience import PATIENCE
from tests.rows import each_row

Json = dict[str, Any]
ALL = {"verbs": ["read", "produce"], "owners": ["alice", "team/*"]}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("access") / "data") as store:
        store.told("alice", created("coffee", "I drink coffee"))
        store.told("bob", created("tea", "I drink tea", owner="bob"))
        yield store


def shown(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def made(http: HttpStore, principal: str, *grants: Json, **more: Any) -> str:
    as_user = {"actors": ["user", "assistant"], "trust": "asserted"}
    told = [as_user | one for one in grants]
    answer = http.client.post("/v1/keys", json={"principal": principal, "grants": told, **more})
    assert answer.status_code == 200, answer.text
    key: str = answer.json()["key"]
    return key


def status(http: HttpStore, key: str, path: str = "/v1/owners/alice/memories") -> int:
    return http.client.get(path, headers=shown(key)).status_code


def test_a_key_opens_what_its_grants_say_and_nothing_else(http: HttpStore) -> None:
    key = made(http, "first", ALL)
    assert status(http, key) == 200
    assert status(http, key, "/v1/owners/bob/memories") == 403
    assert status(http, key, "/v1/owners/alice/memories?mode=debug") == 403
    assert status(http, key, "/v1/status") == 403
    assert status(http, key, "/metrics") == 403
    assert http.client.get("/v1/owners", headers=shown(key)).json()["owners"][0]["owner"] == "alice"
    assert http.client.get("/v1/owners", headers=shown(key)).json()["matching"] == 1


def test_a_key_speaks_as_the_user_only_where_its_grant_says_so(http: HttpStore) -> None:
    grant = {"verbs": ["produce", "correct", "read"], "owners": ["alice"]}
    made = http.client.post("/v1/keys", json={"principal": "agent", "grants": [grant]}).json()
    assert [(one["actors"], one["trust"]) for one in made["grants"]] == [(["assistant"], "inferred")]
    path, by = "/v1/owners/alice/memories", shown(made["key"])
    assert http.client.post(path, json={"content": "I sail", "actor": "user"}, headers=by).status_code == 403
    assert http.client.post("/v1/events", json=[created("sails") | {"actor": "user"}], headers=by).status_code == 403
    assert http.client.post(path, json={"content": "I sail", "actor": "assistant"}, headers=by).status_code == 200
    again = http.client.post("/v1/grants", json={"principal": "agent", "grants": [grant | {"actors": ["user"]}]}).json()
    assert [(one["actors"], one["trust"]) for one in again["grants"]] == [(["user"], "inferred")]


def test_what_a_key_brings_has_its_principals_name(http: HttpStore) -> None:
    key = made(http, "客服/甲", ALL)
    event = created("run", "I run on Mondays")
    assert http.client.post("/v1/events", json=[event], headers=shown(key)).status_code == 200
    added = http.client.post("/v1/owners/alice/memories", json={"content": "I swim"}, headers=shown(key))
    assert added.status_code == 200
    events = http.client.get("/v1/owners/alice/events?order=newest").json()["events"]
    said = {one["type"]: one["principal"] for one in events if one["principal"] == "客服/甲"}
    assert said == {"MemoryCreated": "客服/甲"}
    found = http.client.get("/v1/owners/alice/search?query=swim", headers=shown(key))
    assert found.status_code == 200
    http.application.accesses.flush()
    assert {"MemoriesAccessed"} <= {
        one["type"]
        for one in http.client.get("/v1/owners/alice/events?order=newest").json()["events"]
        if one["principal"] == "客服/甲"
    }


def test_events_of_another_are_refused_whole(http: HttpStore) -> None:
    key = made(http, "whole", ALL)
    mine, theirs = created("mine", "I sing"), created("theirs", "I sing", owner="bob")
    answer = http.client.post("/v1/events", json=[mine, theirs], headers=shown(key))
    assert answer.status_code == 403
    assert theirs["event_id"] in answer.json()["detail"]
    assert http.client.get("/v1/owners/alice/memories/mine").status_code == 404, "nothing of it is written"


def test_no_more_is_said_by_an_event_than_by_a_verb(http: HttpStore) -> None:
    key = made(http, "produces", ALL)
    event = {
        "event_id": "018f3c1e-7b2a-7000-8000-00000000d001",
        "type": "MemoryDeleted",
        "owner": "alice",
        "occurred_at": "2026-01-06T08:00:00Z",
        "actor": "user",
        "data": {"memory_id": "coffee", "reason": "user_delete"},
    }
    answer = http.client.post("/v1/events", json=[event], headers=shown(key))
    assert answer.status_code in (403, 422)
    assert http.client.post("/v1/owners/alice/memories/coffee/delete", json={}, headers=shown(key)).status_code == 403
    assert http.client.get("/v1/owners/alice/memories/coffee").json()["status"] == "live"


def test_revoked_means_at_once_for_the_key_and_its_tokens(http: HttpStore) -> None:
    key = made(http, "gone", ALL)
    now = int(datetime.now(UTC).timestamp())
    token = make_token(key, [{"verbs": ["read"], "owners": ["*"]}], now=now, seconds=600, subject="ann")
    assert status(http, token) == 200
    assert status(http, token, "/v1/owners/bob/memories") == 403
    assert http.client.post("/v1/keys/revoke", json={"key_id": key[4:12], "reason": "lost"}).json()["revoked"] is True
    assert status(http, token) == 401
    refused = http.client.get("/v1/owners/alice/memories", headers=shown(key))
    assert refused.status_code == 401
    assert "was revoked" in refused.json()["detail"]
    told = [one for one in http.client.get("/v1/reads").json()["reads"] if one["principal"] == "gone"]
    assert {(one["what"], one["call"], one["whose"]) for one in told} >= {("denied", "a key that is over", None)}
    again = http.client.post("/v1/keys/revoke", json={"key_id": key[4:12]}).json()
    assert (again["revoked"], again["position"]) == (False, None)


def test_grants_that_change_hold_from_the_next_request_on(http: HttpStore) -> None:
    key = made(http, "changes", ALL)
    told = http.client.post(
        "/v1/grants", json={"principal": "changes", "grants": [{"verbs": ["read"], "owners": ["bob"]}]}
    )
    assert told.status_code == 200
    assert status(http, key) == 403
    assert status(http, key, "/v1/owners/bob/memories") == 200
    same = http.client.post("/v1/grants", json={"principal": "changes", "grants": told.json()["grants"]})
    assert same.json()["position"] is None, "it is so already"
    assert http.client.post("/v1/grants", json={"principal": "changes", "grants": []}).status_code == 200
    assert status(http, key, "/v1/owners/bob/memories") == 403


def test_two_keys_of_a_principal_live_at_once(http: HttpStore) -> None:
    first = made(http, "turns", ALL)
    second = made(http, "turns", ALL)
    refused = http.client.post("/v1/keys", json={"principal": "turns"})
    assert refused.status_code == 422
    assert first[4:12] in refused.json()["allowed"]
    http.client.post("/v1/keys/revoke", json={"key_id": first[4:12]})
    assert status(http, second) == 200
    assert http.client.post("/v1/keys", json={"principal": "turns"}).status_code == 200


@each_row(
    ("told", "field"),
    [
        ({"principal": ""}, "principal"),
        ({"principal": "local"}, "principal"),
        ({"principal": "job:extract"}, "principal"),
        ({"principal": "a b"}, "principal"),
        ({"principal": "x", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"principal": "x", "expires_at": "soon"}, "expires_at"),
        ({"principal": "x", "grants": [{"verbs": ["fly"], "owners": ["*"]}]}, "grants[0].verbs"),
        ({"principal": "x", "grants": [{"verbs": [], "owners": ["*"]}]}, "grants[0].verbs"),
        ({"principal": "x", "grants": [{"verbs": ["read"], "owners": [":access"]}]}, "grants[0].owners"),
        ({"principal": "x", "grants": [{"verbs": ["admin"], "owners": ["alice"]}]}, "grants[0].owners"),
        ({"principal": "x", "grants": [ALL | {"modes": ["all"]}]}, "grants[0].modes"),
        ({"principal": "x", "grants": [ALL | {"sensitivity": 4}]}, "grants[0].sensitivity"),
        ({"principal": "x", "grants": [ALL | {"super": True}]}, "grants"),
        ({"principal": "x", "grants": [ALL] * 33}, "grants"),
    ],
)
def test_what_cannot_be_is_refused_by_field_and_nothing_is_said(http: HttpStore, told: Json, field: str) -> None:
    before = len(http.client.get("/v1/access").json()["events"])
    answer = http.client.post("/v1/keys", json=told)
    assert answer.status_code == 422, answer.text
    assert answer.json()["field"].startswith(field)
    assert len(http.client.get("/v1/access").json()["events"]) == before


def test_an_admins_key_makes_keys_and_a_token_of_it_makes_none(http: HttpStore) -> None:
    admin = made(http, "root", {"verbs": ["admin"], "owners": ["*"]})
    told = http.client.post("/v1/keys", json={"principal": "hired", "grants": [ALL]}, headers=shown(admin))
    assert told.status_code == 200
    events = http.client.get("/v1/access?principal=hired").json()["events"]
    assert {one["by"] for one in events} == {"root"}
    now = int(datetime.now(UTC).timestamp())
    token = make_token(admin, [{"verbs": ["admin"], "owners": ["*"]}], now=now, seconds=600)
    refused = http.client.post("/v1/keys", json={"principal": "lasting"}, headers=shown(token))
    assert refused.status_code == 403
    assert "would outlive it" in refused.json()["detail"]
    assert http.client.get("/v1/access", headers=shown(token)).status_code == 200
    reads = made(http, "reads-only", ALL)
    for path, body in (("/v1/keys", {"principal": "x"}), ("/v1/grants", {"principal": "x", "grants": []})):
        assert http.client.post(path, json=body, headers=shown(reads)).status_code == 403


def test_who_asks_is_told_what_he_may(http: HttpStore) -> None:
    ends = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    key = made(http, "asks", ALL, expires_at=ends)
    me = http.client.get("/v1/me", headers=shown(key)).json()
    assert (me["principal"], me["key"], me["unlimited"], me["expires_at"]) == ("asks", key[4:12], False, ends)
    assert me["grants"][0]["owners"] == ALL["owners"]
    assert http.client.get("/v1/me").json()["unlimited"] is True


def test_who_could_do_what_then_is_told(http: HttpStore) -> None:
    made(http, "then", ALL)
    at = http.client.get("/v1/access?principal=then").json()["events"][-1]["recorded_at"]
    http.client.post("/v1/grants", json={"principal": "then", "grants": []})
    now = http.client.get("/v1/access?principal=then").json()["principals"][0]
    then = http.client.get(f"/v1/access?principal=then&as_of={at}").json()["principals"][0]
    assert (now["grants"], len(then["grants"])) == ([], 1)


def test_two_who_say_something_at_once_are_both_heard(http: HttpStore) -> None:
    keys, start, failed = http.application.keys, Barrier(6), list[Exception]()

    def say(number: int) -> None:
        try:
            start.wait(PATIENCE)
            keys.grant(f"at-once-{number}", grants=[ALL])
        except Exception as error:
            failed.append(error)

    threads = [Thread(target=say, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(PATIENCE)
    assert failed == []
    book = http.application.access_follower.book()
    assert {f"at-once-{number}" for number in range(6)} <= set(book.grants)


def test_nobody_outside_says_anything_of_access(http: HttpStore) -> None:
    number = http.application.access_follower.book().number + 1
    event = {
        "event_id": access_id(number),
        "type": "GrantsSet",
        "owner": ACCESS,
        "occurred_at": "2026-01-06T08:00:00Z",
        "actor": "user",
        "data": {"number": number, "principal": "me", "grants": [{"verbs": ["admin"], "owners": ["*"]}]},
    }
    for owner in (ACCESS, READS, "alice", ":mine"):
        answer = http.client.post("/v1/events", json=[event | {"owner": owner}])
        assert answer.status_code == 422, owner
    memory = created("m", "I am the store", owner=ACCESS)
    assert http.client.post("/v1/events", json=[memory]).status_code == 422
    assert "me" not in http.application.access_follower.book().grants


def test_a_service_that_is_in_no_table_is_for_nobody_with_a_key(http: HttpStore) -> None:
    key = made(http, "curious", ALL | {"verbs": ["read", "produce", "correct", "delete", "audit", "replay"]})
    book = http.application.access_follower.book()
    from engramlog_server.projections.access.keys import recognised

    caller = recognised(book, key, http.application.log.now()).caller
    assert caller is not None
    confined = http.application.for_(caller)
    for name in ("log", "views", "joining", "operator_", "__dict__x", "supervision"):
        with pytest.raises(AttributeError):
            getattr(confined, name)
    with pytest.raises(AccessDenied):
        _ = confined.reader.stored
    with pytest.raises(AccessDenied):
        _ = confined.writer.append_all
    assert confined.reader.list("alice")["total"] >= 1
    with pytest.raises(AccessDenied):
        confined.reader.list("bob")
    with pytest.raises((InputError, EngramlogError)):
        confined.reader.list("")


def test_what_is_refused_again_and_again_is_told_once_in_a_while(http: HttpStore) -> None:
    key = made(http, "knocks", ALL)
    for _ in range(30):
        assert status(http, key, "/v1/owners/bob/memories") == 403
    told = [one for one in http.client.get("/v1/reads?limit=1000").json()["reads"] if one["principal"] == "knocks"]
    assert len(told) <= 3, "a minute stands between two of a kind"
    assert {(one["what"], one["call"], one["whose"]) for one in told} == {("denied", "reader.list", "bob")}
    http.application.reads.flush()
    told = [one for one in http.client.get("/v1/reads?limit=1000").json()["reads"] if one["principal"] == "knocks"]
    assert sum(one["times"] for one in told) == 30


def test_the_feed_is_for_whoever_is_told_all_but_secrets(http: HttpStore) -> None:
    key = made(http, "little", {"verbs": ["read"], "owners": ["alice"], "sensitivity": 1})
    refused = http.client.get("/v1/owners/alice/feed", headers=shown(key))
    assert refused.status_code == 403
    assert "up to sensitivity 2" in refused.json()["detail"]
    assert status(http, key) == 200
