"""Ways around a check that a reviewer found: each is shut, and stays so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.given.http import HttpStore, created, event, http_store

SECRET = "the password is swordfish-7Kq!"
HEALTH = "I was diagnosed with depression in 2019"
USES = ["produce", "read", "correct", "delete", "review"]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("around") / "data") as opened:
        opened.told("alice", created("pin", SECRET), created("ill", HEALTH), created("tea", "I drink tea"))
        yield opened


def shown(http: HttpStore, name: str, *grants: dict[str, Any]) -> dict[str, str]:
    key = http.application.keys.issue(name, grants=[{"owners": ["alice"]} | one for one in grants])["key"]
    return {"authorization": f"Bearer {key}"}


def text(http: HttpStore, by: dict[str, str], name: str) -> str:
    return str(http.client.get(f"/v1/owners/alice/memories/{name}", headers=by).text)


def lowered(http: HttpStore, by: dict[str, str], name: str, level: int = 0) -> int:
    body = {"level": level, "reason": "to see it"}
    return http.client.post(f"/v1/owners/alice/memories/{name}/sensitivity", json=body, headers=by).status_code


def test_who_may_not_reveal_does_not_lower_a_secret_to_read_it(http: HttpStore) -> None:
    by = shown(http, "corrector", {"verbs": USES})
    assert lowered(http, by, "pin") == 403
    raw = event("SensitivitySet", memory_id="pin", level=0, reason="to see it")
    assert http.client.post("/v1/events", json=[raw], headers=by).status_code == 403
    assert "swordfish" not in text(http, by, "pin")


def test_who_is_told_less_does_not_lower_what_he_is_not_told(http: HttpStore) -> None:
    by = shown(http, "nurse", {"verbs": ["read"], "sensitivity": 1}, {"verbs": ["correct"]})
    assert lowered(http, by, "ill") == 403
    assert "depression" not in text(http, by, "ill")


def test_a_level_is_raised_by_whoever_corrects_and_lowered_by_whoever_is_told_it(http: HttpStore) -> None:
    by = shown(http, "editor", {"verbs": USES})
    assert [lowered(http, by, "tea", level) for level in (2, 1)] == [200, 200]
    raw = event("SensitivitySet", memory_id="tea", level=3, reason="mine alone")
    assert http.client.post("/v1/events", json=[raw], headers=by).status_code == 200


def test_an_admin_renews_his_own_key_and_makes_none_in_the_name_of_the_store(http: HttpStore) -> None:
    by = shown(http, "boss", {"verbs": ["admin"], "owners": ["*"]})
    answer = http.client.post("/v1/keys", json={"principal": "boss"}, headers=by)
    assert answer.status_code == 200, answer.text
    own = http.application.log.principal
    for path in ("/v1/keys", "/v1/grants"):
        body: dict[str, Any] = {"principal": own} | ({"grants": []} if path == "/v1/grants" else {})
        refused = http.client.post(path, json=body, headers=by)
        assert (refused.status_code, refused.json()["field"]) == (422, "principal")


def test_an_export_of_everything_is_an_auditors(http: HttpStore) -> None:
    http.told("alice", created("gone", "I keep a hedgehog named Zuleika"), event("MemoryDeleted", memory_id="gone"))
    path = "/v1/owners/alice/export"
    by = shown(http, "reader", {"verbs": USES})
    assert http.client.get(path, headers=by).status_code == 200
    assert http.client.get(path, params={"everything": True}, headers=by).status_code == 403
    assert http.client.post(path, json={"everything": True}, headers=by).status_code == 403
    modes = ["normal", "review", "debug"]
    auditor = shown(http, "auditor", {"verbs": ["read", "audit"], "modes": modes})
    assert http.client.get(path, params={"everything": True}, headers=auditor).status_code == 200
