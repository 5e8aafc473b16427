"""What a process had a receipt for is asked for by the next one, also where the first was killed before heads were kept."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from uuid import UUID

import pytest
import redis

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.redis.durability import NewestReceipt
from engramlog_server.ops.kept.receipts import ReceiptFile
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.chaos.cast import Server
from tests.integration.live import wait_until
from tests.integration.ops.test_up import EVENT, get, post, running
from tests.patience import PATIENCE
from tests.servers import RedisServer

STORE = "5f0c7d0e-8f0c-4f47-8b7f-3a1e5c1d2a90"


def kept(seq: int) -> NewestReceipt:
    """A receipt for the event of this number."""
    return NewestReceipt(seq, UUID(int=seq).bytes)


# The file


def test_of_each_partition_the_highest_receipt_stays_whoever_writes_last(tmp_path: Path) -> None:
    path = tmp_path / "data" / "receipts.json"
    one, other = ReceiptFile(path, STORE), ReceiptFile(path, STORE)
    one.merge({0: kept(9), 1: kept(2)}, {})
    other.merge({0: kept(4), 3: kept(1)}, {})
    assert one.read() == other.read() == {0: kept(9), 1: kept(2), 3: kept(1)}
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_a_receipt_that_was_let_go_leaves_unless_another_process_has_one_that_holds(tmp_path: Path) -> None:
    file = ReceiptFile(tmp_path / "receipts.json", STORE)
    file.merge({0: kept(9), 1: kept(9)}, {})
    file.merge({0: kept(4)}, {0: kept(9), 1: kept(8)})
    assert file.read() == {0: kept(4), 1: kept(9)}


def test_processes_that_write_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "receipts.json"

    def write(partition: int) -> None:
        file = ReceiptFile(path, STORE)
        for seq in range(1, 30):
            file.merge({partition: kept(seq)}, {})

    threads = [Thread(target=write, args=(partition,)) for partition in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ReceiptFile(path, STORE).read() == {partition: kept(29) for partition in range(4)}


def test_of_another_store_nothing_is_taken_and_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "receipts.json"
    ReceiptFile(path, "another").merge({0: kept(9)}, {})
    assert ReceiptFile(path, STORE).read() == {}
    for broken in (b"{", b'{"store":"x","kept":{"0":[1,"no id"]}}', b"\xff"):
        path.write_bytes(broken)
        with pytest.raises(StoreUnavailable, match="cannot be read"):
            ReceiptFile(path, STORE).read()
    ReceiptFile(path, STORE).merge({1: kept(1)}, {})
    assert ReceiptFile(path, STORE).read() == {1: kept(1)}


def test_its_size_is_bounded_by_the_number_of_partitions(tmp_path: Path) -> None:
    file = ReceiptFile(tmp_path / "receipts.json", STORE)
    for round_ in (1, 2):
        file.merge({partition: kept(round_ << 50) for partition in range(1_024)}, {})
    assert file.path.stat().st_size < 80 * 1_024


# Commands, one process each


class Restored:
    """A Redis that can be set back to what it was: a restored copy."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._keys: dict[bytes, Any] = {key: client.dump(key) for key in client.scan_iter()}

    def back(self) -> None:
        """All that was written since is gone."""
        with self._client.pipeline(transaction=True) as at_once:
            at_once.flushall()
            for key, value in self._keys.items():
                at_once.restore(key, 0, value)
            at_once.execute()


@pytest.fixture
def cli(
    redis_server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    for name, value in {"REDIS_URL": redis_server.url, "DATA": str(tmp_path / "data"), "PARTITIONS": "2"}.items():
        monkeypatch.setenv(f"ENGRAMLOG_{name}", value)
    return Cli(monkeypatch, capsys)


def add(cli: Cli, number: int, code: int = 0) -> Any:
    return cli("append", "-", stdin=lines([event(number)]), code=code)


def test_what_a_command_had_acknowledged_and_is_gone_is_refused_by_the_next_one_until_somebody_has_looked(
    cli: Cli, redis_server: RedisServer
) -> None:
    with redis_server.client() as client:
        add(cli, 1)
        copy = Restored(client)
        add(cli, 2)
        copy.back()
    assert "was acknowledged at" in add(cli, 3, code=1).err
    (alarm,) = [one for one in cli.json("alarms", code=1)["alarms"] if one["name"] == "receipt_lost"]
    found = cli.json("verify", code=1)
    assert add(cli, 3, code=1)
    assert cli.json("alarms", "--clear", "receipt_lost", alarm["subject"])["cleared"]
    assert add(cli, 3)
    assert add(cli, 2)
    told = [one for one in found["differences"] if one["what"] == "an event that was acknowledged is not in the log"]
    assert [(one["position"], one["event_id"]) for one in told] == [(f"{alarm['subject']}:2", event(2)["event_id"])]
    assert [one["name"] for one in cli.json("alarms", code=1)["alarms"]] == ["log_changed"], "the kept heads tell too"


def test_an_unreadable_file_of_receipts_is_an_alarm_stops_nothing_and_is_made_anew(cli: Cli, tmp_path: Path) -> None:
    add(cli, 1)
    (file,) = (tmp_path / "data").glob("receipts-*.json")
    file.write_bytes(b"no file of receipts")
    alarms = cli.json("alarms")["alarms"]
    assert "a file of kept receipts that cannot be read" in {
        one["what"] for one in cli.json("verify", code=1)["differences"]
    }
    add(cli, 2)
    after = cli.json("alarms")["alarms"]
    assert [one["name"] for one in alarms] == ["receipts_not_kept"]
    assert str(file).startswith(alarms[0]["subject"].removesuffix("…"))
    assert after == []
    assert cli.json("verify")["receipts"] == 1


def test_a_command_that_appended_keeps_the_heads_too_and_one_that_only_read_writes_nothing(
    cli: Cli, tmp_path: Path
) -> None:
    add(cli, 1)
    (file,) = (tmp_path / "data").glob("heads-*.jsonl")
    first = file.read_bytes()
    cli("status")
    assert file.read_bytes() == first
    add(cli, 2)
    told = [json.loads(line) for line in file.read_bytes().splitlines()]
    assert [[head[1] for head in one["heads"]] for one in told] == [[1], [2]]
    assert cli.json("verify")["heads"]["compared"] == 2


# A service that is killed


def test_what_a_killed_up_had_acknowledged_since_the_last_kept_heads_is_told_by_the_next_before_anybody_appends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_JOB_WORKERS", "0")
    server, folder = Server(tmp_path), tmp_path / "data"
    later = {**EVENT, "event_id": EVENT["event_id"][:-1] + "2", "data": EVENT["data"] | {"memory_id": "m2"}}
    try:
        server.start()
        with running(folder, redis_url=server.url) as up:
            post(up, [EVENT])
            size = server.size()
            partition, seq = map(int, post(up, [later])["receipts"][0]["position"].split(":"))
            (store,) = [fact["store"] for fact in up.facts("redis started")]
            file = ReceiptFile(folder / f"receipts-{store}.json", store)
            wait_until(lambda: file.read().get(partition) == NewestReceipt(seq, UUID(later["event_id"]).bytes))
            os.kill(up.process.pid, signal.SIGKILL)
            up.process.wait(PATIENCE)
            wait_until(up.gone)
        server.come_back_shorter(size)
        with running(folder, redis_url=server.url) as again:
            again.ready()
            told = wait_until(
                lambda: [one for one in get(again, "/v1/alarms")["alarms"] if one["name"] == "receipt_lost"]
            )
            with pytest.raises(HTTPError) as refused:
                post(again, [later])
            again.run("alarms", "--clear", "receipt_lost", str(partition))
            receipt = post(again, [later])["receipts"][0]
    finally:
        server.close()
    assert f"event {later['event_id']} was acknowledged at {partition}:{seq}" in told[0]["text"]
    assert json.load(refused.value)["error"] == "ReceiptLost"
    assert (receipt["status"], receipt["position"]) == ("appended", f"{partition}:{seq}")
