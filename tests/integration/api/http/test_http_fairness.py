"""Nobody keeps the others waiting: heavy questions of one owner beside light ones of another, over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPConnection
from threading import Event as Flag
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from engramlog_server.api.admission import AdmissionLimits, LaneLimits
from engramlog_server.api.http.serve import serve
from engramlog_server.api.services import writing
from engramlog_server.api.work import Work, current_check
from engramlog_server.events.log import marked
from engramlog_server.events.redis.log import RedisEventLog
from tests.given.http import SHOWN, HttpStore, app_of, client_of, created, http_store
from tests.integration.live import wait_until

SMALL = AdmissionLimits(light=LaneLimits(4, 2, 4, 2), append=LaneLimits(4, 2, 4, 2), heavy=LaneLimits(2, 1, 8, 4))
REPLAYS = 60
PATIENT = 60.0
"""Seconds after which a test that waits for a fact fails."""
REPLAY = "/v1/owners/alice/replay"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """Alice and bob, each with a memory."""
    with http_store(tmp_path_factory.mktemp("fair")) as opened:
        opened.told("alice", created("coffee"))
        opened.told("bob", created("tea", owner="bob"))
        yield opened


@pytest.fixture
def client(store: HttpStore) -> Iterator[TestClient]:
    """A client of a service that carries little, and of which some questions are made up here."""
    with client_of(app_of(store.application, admission=SMALL), shaped=False) as opened:
        yield opened


class Held:
    """Calls that are held until they are released."""

    def __init__(self) -> None:
        self.begun = Flag()
        self.release = Flag()
        self.most = 0
        self._running = 0

    def __call__(self, *_args: Any, **_asked: Any) -> dict[str, Any]:
        self._running += 1
        self.most = max(self.most, self._running)
        self.begun.set()
        assert self.release.wait(PATIENT)
        self._running -= 1
        return {}


@pytest.fixture
def held(store: HttpStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """Replays take as long as the test likes."""
    one = Held()
    monkeypatch.setattr(store.application.replayer, "replay", one)
    yield one
    one.release.set()


def test_sixty_replays_of_one_owner_keep_nobody_else_waiting(client: TestClient, held: Held) -> None:
    with ThreadPoolExecutor(REPLAYS) as crowd:
        asked: list[Future[Response]] = [crowd.submit(client.post, REPLAY, json={}) for _ in range(REPLAYS)]
        assert held.begun.wait(PATIENT)
        assert client.get("/v1/owners/bob/memories/tea").status_code == 200
        assert client.get("/v1/owners/alice/memories/coffee").status_code == 200
        assert client.get("/ready").status_code == 200
        allowed = SMALL.heavy.of_owner + SMALL.heavy.waiting_of_owner
        refused = [one.result(PATIENT) for one in asked if _refused(one, asked, REPLAYS - allowed)]
        held.release.set()
        answers = [one.result(PATIENT) for one in asked]
    assert held.most == 1
    assert sorted(answer.status_code for answer in answers) == [200] * allowed + [429] * (REPLAYS - allowed)
    for answer in refused:
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.headers["content-type"] == "application/problem+json"
        told = answer.json()
        assert (told["error"], told["work"], told["owner"]) == ("TooManyRequests", "heavy", "alice")


def _refused(one: Future[Response], asked: list[Future[Response]], count: int) -> bool:
    """Whether this one was sent away; waits until so many were."""
    end = Flag()
    while sum(other.done() for other in asked) < count:
        assert not end.wait(0.005)
    return one.done()


def test_another_owner_s_heavy_question_runs_beside_one_that_takes_long(client: TestClient, held: Held) -> None:
    with ThreadPoolExecutor(1) as crowd:
        first = crowd.submit(client.post, REPLAY, json={})
        assert held.begun.wait(PATIENT)
        assert client.get("/v1/owners/bob/compare").status_code == 200
        held.release.set()
        assert first.result(PATIENT).status_code == 200


def test_refusals_and_what_is_in_hand_are_metrics_by_class(client: TestClient, held: Held) -> None:
    with ThreadPoolExecutor(REPLAYS) as crowd:
        asked = [crowd.submit(client.post, REPLAY, json={}) for _ in range(REPLAYS)]
        assert held.begun.wait(PATIENT)
        refused = REPLAYS - SMALL.heavy.of_owner - SMALL.heavy.waiting_of_owner
        _refused(asked[0], asked, refused)
        told = client.get("/metrics").text
        held.release.set()
    assert f'engramlog_refused_questions_total{{work="heavy"}} {refused:.1f}' in told
    assert 'engramlog_refused_questions_total{work="light"} 0.0' in told
    assert 'engramlog_questions{state="running",work="heavy"} 1.0' in told
    assert f'engramlog_questions{{state="waiting",work="heavy"}} {SMALL.heavy.waiting_of_owner:.1f}' in told


def test_appends_of_one_key_leave_threads_to_the_others(
    client: TestClient, store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, append = Held(), RedisEventLog.append

    def slowly(log: RedisEventLog, events: Any, **told: Any) -> Any:
        if "carol" in str(events):
            held()
        return append(log, events, **told)

    def shown(name: str) -> dict[str, str]:
        made = store.application.keys.issue(name, grants=[{"verbs": ["produce"], "owners": ["*"]}])
        return {"authorization": f"Bearer {made['key']}"}

    busy, calm = shown("busy"), shown("calm")
    monkeypatch.setattr(RedisEventLog, "append", slowly)
    with ThreadPoolExecutor(REPLAYS) as crowd:
        asked = [
            crowd.submit(client.post, "/v1/events", json=[created(f"c{number}", owner="carol")], headers=busy)
            for number in range(REPLAYS)
        ]
        assert held.begun.wait(PATIENT)
        answer = client.post("/v1/events", json=[created("green", owner="bob")], headers=calm)
        assert answer.status_code == 200
        _refused(asked[0], asked, REPLAYS - SMALL.append.of_owner - SMALL.append.waiting_of_owner)
        held.release.set()
        statuses = [one.result(PATIENT).status_code for one in asked]
    assert held.most <= SMALL.append.of_owner
    assert set(statuses) == {200, 429}


@pytest.mark.parametrize("ends", ["the client leaves", "the deadline"])
def test_an_append_ends_before_anything_is_written(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """Its events are looked at one by one, and nobody waits for the rest."""
    owner, begun, seen, release = f"dora-{len(ends)}", Flag(), list[str](), Flag()

    def slowly(event: Any, marker: Any) -> Any:
        if event.owner == owner:
            seen.append(event.event_id)
            begun.set()
            release.wait(PATIENT if ends == "the client leaves" else 0.1)
        return marked(event, marker)

    monkeypatch.setattr(writing, "marked", slowly)
    seconds = PATIENT if ends == "the client leaves" else 0.05
    app = app_of(store.application, admission=SMALL._replace(heavy_seconds=seconds))
    lane, sent = app.state.admission.lanes[Work.APPEND], [created(f"d{number}", owner=owner) for number in range(9)]
    if ends == "the deadline":
        with client_of(app, shaped=False) as client:
            answer = client.post("/v1/events", json=sent)
        assert (answer.status_code, answer.json()["error"]) == (504, "DeadlineExceeded")
        assert "send fewer events at a time" in answer.json()["detail"]
    else:
        server = serve(app, "127.0.0.1", 0)
        try:
            connection = HTTPConnection(server.host, server.port)
            shown = {**SHOWN, "content-type": "application/json", "engramlog-request": "1"}
            connection.request("POST", "/v1/events", body=json.dumps(sent), headers=shown)
            assert begun.wait(PATIENT)
            connection.close()
            wait_until(lambda: any(one._over is not None for one in app.state.admission._in_hand))
            assert lane.running == 1
            release.set()
            wait_until(lambda: lane.running == 0)
        finally:
            server.stop()
    assert len(seen) < len(sent)
    assert store.application.log.owner_head(owner) == 0


def test_light_questions_of_one_owner_leave_threads_to_the_others(
    client: TestClient, store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, stats = Held(), store.application.operator.stats
    monkeypatch.setattr(
        store.application.operator, "stats", lambda owner, **at: held() if owner == "alice" else stats(owner, **at)
    )
    with ThreadPoolExecutor(REPLAYS) as crowd:
        asked = [crowd.submit(client.get, "/v1/owners/alice/stats") for _ in range(REPLAYS)]
        assert held.begun.wait(PATIENT)
        assert client.get("/v1/owners/bob/stats").status_code == 200
        _refused(asked[0], asked, REPLAYS - SMALL.light.of_owner - SMALL.light.waiting_of_owner)
        held.release.set()
        statuses = [one.result(PATIENT).status_code for one in asked]
    assert held.most <= SMALL.light.of_owner
    assert set(statuses) == {200, 429}


def test_an_export_holds_its_place_until_it_is_taken_and_no_longer(store: HttpStore) -> None:
    app = app_of(store.application, admission=SMALL._replace(stream=LaneLimits(1, 1, 0, 0)))
    lane = app.state.admission.lanes[Work.STREAM]
    headers = [(name.encode(), value.encode()) for name, value in {**SHOWN, "host": "127.0.0.1"}.items()]
    scope = {
        "type": "http", "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 50_000), "method": "GET",
        "path": "/v1/owners/bob/export", "raw_path": b"/v1/owners/bob/export", "query_string": b"", "headers": headers,
    }  # fmt: skip

    async def story() -> None:
        taking, taken = asyncio.Event(), asyncio.Event()
        statuses: list[int] = []

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()  # no body, and nobody goes
            return {}

        async def slowly(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            elif message.get("body"):
                assert statuses == [200], message["body"]
                taking.set()
                await taken.wait()

        async def quickly(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        first = asyncio.create_task(app(dict(scope), receive, slowly))
        await taking.wait()
        assert lane.running == 1
        await app(dict(scope), receive, quickly)
        assert statuses == [200, 429]
        taken.set()
        await first
        assert lane.running == 0
        await app(dict(scope), receive, quickly)
        assert (statuses[-1], lane.running) == (200, 0)

    async def whole() -> None:
        async with asyncio.timeout(PATIENT):
            await story()

    asyncio.run(whole())


def endless(begun: Flag) -> Any:
    """A replay that ends at a check alone."""

    def replay(*_args: Any, **_asked: Any) -> None:
        step, check = 0, current_check()
        while True:
            step += 1
            begun.set()
            check(step, 1_000_000)

    return replay


def test_a_heavy_question_over_http_is_stopped_at_its_deadline(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.application.replayer, "replay", endless(Flag()))
    with client_of(app_of(store.application, admission=SMALL._replace(heavy_seconds=0.05))) as client:
        answer = client.post(REPLAY, json={})
        assert (answer.status_code, answer.json()["error"]) == (504, "DeadlineExceeded")
        assert 0 < answer.json()["done"] < answer.json()["total"]
        assert client.get("/v1/owners/alice/compare").status_code in (200, 504)


def test_a_client_that_goes_away_ends_its_question(store: HttpStore, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = Flag()
    monkeypatch.setattr(store.application.replayer, "replay", endless(begun))
    app = app_of(store.application, admission=SMALL._replace(heavy_seconds=PATIENT))
    lane = app.state.admission.lanes[Work.HEAVY]
    server = serve(app, "127.0.0.1", 0)
    try:
        connection = HTTPConnection(server.host, server.port)
        shown = {**SHOWN, "content-type": "application/json", "engramlog-request": "1"}
        connection.request("POST", REPLAY, body="{}", headers=shown)
        assert begun.wait(PATIENT)
        assert lane.running == 1
        connection.close()
        ended = Flag()
        for _ in range(int(PATIENT / 0.01)):
            if lane.running == 0:
                break
            ended.wait(0.01)
        assert lane.running == 0
    finally:
        server.stop()
