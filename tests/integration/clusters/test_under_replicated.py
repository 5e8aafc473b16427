"""Where fewer replicas have what is told than the operator asks for, every face says so: written, and not proved."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engramlog import Memory, Retry, UnderReplicated
from engramlog_server.api.cli.main import run
from engramlog_server.api.http.serve import serve
from engramlog_server.events.errors import UnderReplicated as Unproved
from engramlog_server.events.partitions import partition_of
from engramlog_server.ops.kept.heads import HeadKeeper
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.redis.create import live_heads
from tests.given.http import QUICK, SHOWN, HttpStore, app_of, created, http_store, mentioned
from tests.integration.live import wait_until
from tests.servers import RedisServer, wheel_server

ONCE = Retry(tries=1)
VERBS: dict[str, Callable[[Memory], Any]] = {
    "add": lambda memory: memory.add("I drink milk", key="k"),
    "turns": lambda memory: memory.add([{"role": "user", "content": "I drink milk"}], key="k"),
    "update": lambda memory: memory.update("coffee", "I drink a lot of coffee", key="k"),
    "negate": lambda memory: memory.negate("coffee", correction="I drink cocoa", key="k"),
    "confirm": lambda memory: memory.confirm("coffee", key="k"),
    "reinforce": lambda memory: memory.reinforce("coffee", key="k"),
    "merge": lambda memory: memory.merge(["coffee", "tea"], key="k"),
    "delete": lambda memory: memory.delete("coffee", key="k"),
}


@dataclass
class Primary:
    """A store on a primary that is asked for one replica, which comes when a test says so."""

    http: HttpStore
    server: RedisServer
    replica: RedisServer
    port: int

    def follow(self) -> None:
        """Link the replica."""
        with self.replica.client() as copy:
            copy.execute_command("REPLICAOF", "127.0.0.1", self.port)
            wait_until(lambda: copy.info("replication")["master_link_status"] == "up")

    def leave(self) -> None:
        """Let the primary have no replica."""
        with self.replica.client() as copy, self.server.client() as client:
            copy.execute_command("REPLICAOF", "NO", "ONE")
            wait_until(lambda: client.info("replication")["connected_slaves"] == 0)

    def events(self, owner: str) -> int:
        """How many events of the owner's partition are in the log."""
        log = self.http.store.log
        return log.head(partition_of(owner, log.partitions))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Primary]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
    server = RedisServer(wheel_server(), port=str(port), repl_diskless_sync_delay="0")
    replica = RedisServer(wheel_server())
    try:
        folder = tmp_path_factory.mktemp("store")
        with http_store(folder, redis_url=server.url, min_replicas=1) as http:
            yield Primary(http, server, replica, port)
    finally:
        replica.stop()
        server.stop()


@pytest.fixture
def primary(running: Primary) -> Primary:
    """Without a replica."""
    running.leave()
    return running


def test_a_head_is_kept_once_a_replica_has_it(primary: Primary, tmp_path: Path) -> None:
    store = primary.http.store
    primary.http.client.post("/v1/events", json=[created("juice", "I drink juice", owner="heads")])
    partition = partition_of("heads", store.identity.partitions)
    keeper = HeadKeeper(store, Settings(data=tmp_path, min_replicas=1), sinks=False)
    wait_until(lambda: live_heads(store.wire(), store.identity.tags)[partition].seq == primary.events("heads"))
    assert keeper.look() == []
    assert keeper.file.read().newest(partition) is None
    primary.follow()
    assert keeper.look() == []
    kept = keeper.file.read().newest(partition)
    assert kept is not None
    assert kept.seq == primary.events("heads")
    keeper.close()


def test_a_primary_that_lacks_replicas_is_an_alarm_until_one_follows(primary: Primary) -> None:
    def ready() -> tuple[int, list[str]]:
        answer = primary.http.client.get("/ready")
        return answer.status_code, [one["name"] for one in answer.json()["alarms"]]

    assert ready() == (503, ["replicas_lacking"])
    refused = primary.http.client.post("/v1/events", json=[created("cocoa", "I drink cocoa", owner="alarm")])
    assert "they are in the log and can be read" in refused.json()["detail"]
    assert len(primary.http.client.get("/v1/owners/alarm/memories").json()["memories"]) == 1
    primary.follow()
    wait_until(lambda: ready() == (200, []))


def test_it_is_refused_as_not_proved_and_the_same_request_proves_it_once_a_replica_is_there(primary: Primary) -> None:
    told = [created("tea", "I drink tea", owner="http"), mentioned("tea", owner="http")]
    client, before = primary.http.client, primary.events("http")
    for status in ("appended", "already_appended"):
        answer = client.post("/v1/events", json=told)
        problem = answer.json()
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert (problem["error"], problem["code"]) == ("UnderReplicated", "under_replicated")
        assert problem["type"] == "urn:engramlog:problem:UnderReplicated"
        assert [(one["event_id"], one["status"], one["replicas"]) for one in problem["receipts"]] == [
            (one["event_id"], status, 0) for one in told
        ]
        assert answer.headers["retry-after"] == "1"
        assert "ENGRAMLOG_MIN_REPLICAS" in problem["detail"]
        assert primary.events("http") == before + 2
    primary.follow()
    answer = client.post("/v1/events", json=told)
    assert answer.status_code == 200, answer.text
    assert [(one["status"], one["replicas"]) for one in answer.json()["receipts"]] == [("already_appended", 1)] * 2
    assert primary.events("http") == before + 2
    counted = client.get("/metrics").text
    assert 'engramlog_append_events_total{status="already_appended"}' in counted


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_tells_it_and_made_again_under_its_key_proves_what_is_there(primary: Primary, verb: str) -> None:
    owner = f"verb-{verb}"
    primary.follow()
    served = serve(app_of(primary.http.application, limits=QUICK), "127.0.0.1", 0)
    try:
        with Memory(
            served.url, owner=owner, retry=ONCE, token=SHOWN["authorization"].removeprefix("Bearer ")
        ) as memory:
            memory.add("I drink coffee", memory_id="coffee")
            memory.add("I drink tea", memory_id="tea")
            primary.leave()
            before = primary.events(owner)
            for _ in range(2):
                with pytest.raises(UnderReplicated) as refused:
                    VERBS[verb](memory)
                assert refused.value.receipts
                assert {one["replicas"] for one in refused.value.receipts} == {0}
                assert {one["status"] for one in refused.value.receipts} <= {"appended", "already_appended"}
            written = primary.events(owner)
            assert written > before
            primary.follow()
            done = VERBS[verb](memory)
            assert primary.events(owner) == written
            assert done.event_ids
    finally:
        served.stop()


def test_a_command_ends_with_one_and_says_so(primary: Primary, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(json.dumps(created("tea", "I drink tea", owner="command")) + "\n")
    for _ in range(2):
        code, printed, _errors = command(primary, "append", str(file), "--json")
        answer = json.loads(printed)
        assert code == 1
        assert (answer["error"]["error"], answer["error"]["code"]) == ("UnderReplicated", "under_replicated")
        assert answer["error"]["receipts"][0]["replicas"] == 0
    code, _, told = command(primary, "negate", "command", "tea", "--json")
    assert code == 1
    assert "under_replicated" in told
    primary.follow()
    code, printed, _errors = command(primary, "append", str(file), "--json")
    assert (code, json.loads(printed)["already_appended"]) == (0, 1)


def test_what_was_shown_is_recorded_though_it_is_not_proved(primary: Primary) -> None:
    accesses = primary.http.application.accesses
    log = primary.http.store.log
    with pytest.raises(Unproved):
        primary.http.application.writer.append([json.dumps(created("tea", "I drink tea", owner="shown"))])
    before = accesses.figures()
    position = f"{partition_of('shown', log.partitions)}:{primary.events('shown')}"
    primary.http.application.reader.list("shown", after=position)
    assert primary.http.client.get("/v1/owners/shown/search?query=tea").json()["results"]
    receipts = accesses.flush()
    assert [one.status for one in receipts] == ["appended"]
    after = accesses.figures()
    assert (after["recorded"] - before["recorded"], after["dropped"]) == (1, before["dropped"])


def command(primary: Primary, *words: str) -> tuple[int, str, str]:
    """Its exit code, what it prints, and its errors."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(lambda: nullcontext(primary.http.application), [*words])
    out.flush()
    return code, out.buffer.getvalue().decode(), err.getvalue()  # type: ignore[attr-defined]


def test_a_key_that_is_not_proved_is_shown_to_nobody_and_revoked(primary: Primary) -> None:
    keys = primary.http.application.keys
    with pytest.raises(Unproved, match=r"The key \w+ was shown to nobody, and is revoked") as caught:
        keys.issue("unproved", days=1)
    told = next(one for one in keys.access()["principals"] if one["principal"] == "unproved")
    assert [one["state"] for one in told["keys"]] == ["revoked"]
    assert told["keys"][0]["key_id"] in caught.value.message
    primary.follow()
    assert keys.issue("unproved", days=1)["key_id"] != told["keys"][0]["key_id"]
