"""A key that is revoked while something of it is under way; and a log that answers nobody."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from threading import Event as Flag
from typing import Any

import pytest

from tests.given.access import everybody as given
from tests.given.http import SHOWN, HttpStore, http_store
from tests.integration.live import wait_until
from tests.patience import PATIENCE

OWNER = "own"
PATH = f"/v1/owners/{OWNER}"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("meanwhile")) as opened:
        opened.told(OWNER, *given.history_of(OWNER))
        yield opened


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


def get(http: HttpStore, key: str, path: str, **query: Any) -> Any:
    return http.client.get(path, params=query, headers={"authorization": f"Bearer {key}"})


def revoked(http: HttpStore, _principal: str, key: str) -> None:
    http.application.keys.revoke(key.split("_")[1])


def test_what_was_let_in_is_answered_and_the_next_is_not(
    http: HttpStore, beside: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, at_work, goes_on = given.issued(http, "at-work", "replay", owners=[OWNER]), Flag(), Flag()
    replayer = type(http.application.replayer)
    replay = replayer.replay

    @wraps(replay)
    def slow(*args: Any, **told: Any) -> Any:
        at_work.set()
        assert goes_on.wait(PATIENCE)
        return replay(*args, **told)

    monkeypatch.setattr(replayer, "replay", slow)
    headers = {"authorization": f"Bearer {key}"}
    told = {"parameters": {"user_factor": 1.3}}
    asked = beside.submit(http.client.post, f"{PATH}/replay", json=told, headers=headers)
    assert at_work.wait(PATIENCE)
    revoked(http, "at-work", key)
    assert http.client.post(f"{PATH}/replay", json=told, headers=headers).status_code == 401
    goes_on.set()
    assert asked.result(PATIENCE).status_code == 200


def test_a_log_that_answers_nobody_admits_nobody_with_a_key_and_comes_back_by_itself(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with http_store(tmp_path_factory.mktemp("stopped")) as http:
        http.told(OWNER, *given.history_of(OWNER))
        key = given.issued(http, "reads", "read", owners=[OWNER])
        server = int(http.store.client.info("server")["process_id"])
        assert server != os.getpid()
        assert get(http, key, "/v1/me").status_code == 200
        os.kill(server, signal.SIGSTOP)
        try:
            refused = [get(http, key, path) for path in ("/v1/me", f"{PATH}/memories")]
            by_folder = http.client.get("/v1/me", headers=SHOWN)
        finally:
            os.kill(server, signal.SIGCONT)
        assert [one.status_code for one in refused] == [503, 503], [one.text for one in refused]
        assert all("retry-after" in one.headers and "coffee" not in one.text for one in refused)
        assert by_folder.status_code == 200, "who has the folder's token is known without the log"
        wait_until(lambda: get(http, key, f"{PATH}/memories").status_code == 200)
