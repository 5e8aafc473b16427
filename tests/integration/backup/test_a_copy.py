"""A restored store says what it is, and does not pass for the original until somebody has it take its place."""

from __future__ import annotations

import json
import signal
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from engramlog_server.events.errors import ReceiptLost
from engramlog_server.events.partitions import RESTORED, LogKeys, partition_of
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.ops.backup.folder import open_backup
from engramlog_server.ops.backup.restore import restore_backup, take_store_over
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.projections.redis.create import take_over
from tests.acceptance.helpers.cli import event
from tests.integration.backup.depot import EVENTS, Depot, prepared
from tests.integration.live import wait_until
from tests.integration.ops.test_up import get, post, running
from tests.patience import PATIENCE
from tests.servers import RedisServer

COPY = "restored from a backup and is not the original"


def keep_beside(depot: Depot) -> None:
    """The store's own files are lost, and what is kept beside it stays."""
    for one in depot.data.iterdir():
        if not one.name.startswith(("heads", "receipts", "rejections", "erasures")):
            if one.is_dir():
                for inner in one.iterdir():
                    inner.unlink()
                one.rmdir()
            else:
                one.unlink()


def test_it_answers_and_takes_nothing_by_any_command(depot: Depot) -> None:
    answers, made = depot.answers(), depot.make()
    depot.on("new")
    depot.restore(made)
    assert depot.answers() == answers
    assert depot.cli.json("search", "ada", "key word", "--mode", "review")["results"]
    for words in (["add", "ada", "x"], ["add", "somebody-new", "x"], ["delete", "ada", "m0"], ["mention", "ada", "m0"]):
        assert COPY in depot.cli(*words, code=1).err, words
    assert depot.answers() == answers
    assert depot.alarms() == {"store_restored"}
    status = depot.cli.json("status")
    assert status["restored"]["events"] == EVENTS
    assert status["events"] == EVENTS
    told = depot.cli.json("backup", "make", str(depot.folder / "more"), code=1)
    assert "no backup is made of a copy" in told["message"]
    if depot.sealed:
        keys = depot.keys.read_bytes()
        assert "no keys are saved of a copy" in depot.cli.json("backup", "keys", code=1)["message"]
        assert COPY in depot.cli.json("erase", "ada", "--yes", code=1)["message"]
        assert depot.keys.read_bytes() == keys
        assert depot.answers() == answers
    depot.cli.json("backup", "take-over", "--reason", "the machine burnt", "--yes")
    assert depot.alarms(code=0) == set()
    assert depot.cli.json("status")["restored"]["reason"] == "the machine burnt"
    depot.say(range(100, 103))
    assert depot.cli.json("verify")["ok"]
    assert depot.cli.json("backup", "take-over", "--yes")["done"] is True
    assert depot.cli.json("backup", "make", str(depot.folder / "more"))["events"] == EVENTS + 3
    depot.on("third")
    if depot.sealed:
        depot.on("new")
        depot.cli.json("backup", "keys")
        depot.on("third")
    depot.restore(depot.folder / "more")
    assert depot.cli.json("status")["restored"]["events"] == EVENTS + 3


def test_a_client_of_the_original_appends_nothing_to_the_copy_that_stands_in_its_place(
    lying_open: Depot, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_server.url)
    lying_open.say(range(EVENTS))
    made = lying_open.make()
    settings = load_settings()
    with open_the_store(settings) as original:
        tags = original.identity.tags
        lost, other = (next(f"o{n}" for n in range(99) if partition_of(f"o{n}", 2) == part) for part in (0, 1))
        (receipt,) = original.log.append([prepared(1, lost)])
        assert receipt.written
        for_all = redis_server.client()
        for_all.flushall()
        restore_backup(settings, open_backup(made), None, alone=True)
        (refused,) = original.log.append([prepared(2, lost)])
        assert refused.status == "failed"
        assert COPY in str(refused.error)
        (refused,) = original.log.append([prepared(3, other)])
        assert COPY in str(refused.error)
        with closing(original.wire()) as wire:
            heads = [int(wire.call("HGET", LogKeys(tag).meta, "head") or 0) for tag in tags]
        assert sum(heads) == EVENTS
        for_all.close()
    with open_the_store(settings) as taken:
        told = take_store_over(taken, settings, None)
        assert told["receipts"] == [receipt.position]
    # Whoever had the receipt and lives on is told, and appends nothing there until an operator has looked on its machine.
    with closing(redis_server.client()) as client, closing(RedisEventLog(client, tags)) as theirs:
        theirs.remember(original.log.kept_receipts())
        with pytest.raises(ReceiptLost, match="came back with another history"):
            theirs.append([prepared(4, lost)])
        assert theirs.append([prepared(3, other)])[0].written
    with open_the_store(settings) as ours:
        assert ours.log.append([prepared(5, lost)])[0].written


def test_a_service_on_it_is_not_ready_runs_no_job_and_begins_once_it_is_taken_over(
    lying_open: Depot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENGRAMLOG_PARTITIONS", "16")
    lying_open.on("wide")
    lying_open.say(range(EVENTS))
    made = lying_open.make()
    lying_open.on("new")
    lying_open.restore(made)
    sink = tmp_path / "sink.jsonl"
    monkeypatch.setenv("ENGRAMLOG_HEAD_SINKS", str(sink))
    with running(lying_open.data) as up:
        url = up.ready()
        with pytest.raises(HTTPError) as not_ready:
            urlopen(Request(f"{url}/ready"), timeout=PATIENCE)
        assert not_ready.value.code == 503
        assert "store_restored" in not_ready.value.read().decode()
        assert get(up, "/v1/owners/ada/search?query=key&mode=review")["results"]
        status = get(up, "/v1/status")
        assert status["restored"]["taken_over"] is None
        assert status["lifecycle"]["last_tick"] is None
        body = [event(500, "ada", content="a new thing")]
        with pytest.raises(HTTPError) as refused:
            post(up, body)
        assert refused.value.code == 503
        assert COPY in refused.value.read().decode()
        assert not up.facts("job worker processes resumed")
        kept = lying_open.data / "heads.jsonl"
        wait_until(lambda: kept.exists() and kept.read_bytes())
        assert not sink.exists(), "heads of a copy go to nobody who holds those of the original"
        assert up.run("backup", "restore", str(made), "--yes", expect=1)["error"] == "InUse"
        up.run("backup", "take-over", "--yes")
        wait_until(lambda: get(up, "/v1/status")["lifecycle"]["last_tick"])
        assert post(up, body)["receipts"][0]["status"] == "appended"
        assert json.load(urlopen(Request(f"{url}/ready"), timeout=PATIENCE))
        assert get(up, "/v1/status")["restored"]["taken_over"]
        assert {one["name"] for one in get(up, "/v1/alarms")["alarms"]} == set()
        wait_until(lambda: sink.exists() and sink.read_bytes())
        up.process.send_signal(signal.SIGTERM)
        up.process.wait(PATIENCE)


def test_what_the_original_said_since_is_given_up_by_name_and_told_for_good(depot: Depot) -> None:
    made = depot.make()
    depot.say(range(100, 106))
    depot.cli.json("verify", "--heads", "--keep")
    keep_beside(depot)
    depot.restore(made)
    told = depot.cli.json("verify", code=1)["differences"]
    beyond = [one for one in told if one["what"] == "the log does not meet a kept head"]
    assert beyond
    assert all("the original went on without this store" in one["restored"] for one in beyond)
    plan = depot.cli.json("backup", "take-over", code=2)["plan"]
    assert plan["done"] is False
    assert plan["heads"]
    assert depot.alarms() == {"store_restored"}
    given_up = depot.cli.json("backup", "take-over", "--reason", "burnt", "--yes")
    assert given_up["heads"] == plan["heads"]
    assert {one.partition(":")[0] for one in given_up["receipts"]} == {one.partition(":")[0] for one in plan["heads"]}
    depot.say(range(200, 206))
    verified = depot.cli.json("verify")
    assert len(verified["accepted"]) == len(plan["heads"])
    assert all("restored from backup" in one["reason"] and "burnt" in one["reason"] for one in verified["accepted"])
    assert depot.alarms(code=0) == set()


def test_one_that_was_never_restored_is_not_taken_over(depot: Depot) -> None:
    assert "was not restored" in depot.cli.json("backup", "take-over", "--yes", code=1)["message"]
    told = depot.cli.json("backup", "take-over", "--reason", "a\nb", "--yes", code=2)
    assert "reason" in told["message"]


def test_a_take_over_that_is_killed_is_done_by_the_next(lying_open: Depot) -> None:
    made = lying_open.make()
    lying_open.on("new")
    lying_open.restore(made)
    with open_the_store(load_settings()) as store:
        wire = store.wire()
        wire.call("HDEL", LogKeys(store.identity.tags[0]).meta, RESTORED)  # and dies
        wire.close()
    assert lying_open.alarms() == {"store_restored"}
    assert lying_open.cli.json("backup", "take-over", "--yes")["done"] is True
    lying_open.say(range(100, 106))
    with open_the_store(load_settings()) as store:
        wire = store.wire()
        restored = store.identity.restored
        assert restored is not None
        assert take_over(wire, store.identity.tags, restored, "2026-11-27T00:00:00Z", None).taken_over
        wire.close()
