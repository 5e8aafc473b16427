"""What lay open beside the log goes with it: vectors, builds of before, kept views, and what Redis wrote into files."""

from __future__ import annotations

from pathlib import Path
from socket import socket

import pytest

from engramlog_server.consumers.encryption import rewrite_files
from engramlog_server.consumers.jobs.schedule import queue_name
from engramlog_server.events.partitions import STORE_KEY, LogKeys, partition_of
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.encryption import seal_plan
from engramlog_server.projections.embedding.vectors import VectorKeys
from engramlog_server.projections.redis.builds import BuildKeys, next_build
from tests.given.dumped import dump
from tests.integration.live import wait_until
from tests.integration.unsealed import PARTITIONS, WORD, Unsealed
from tests.servers import RedisServer, wheel_server


@pytest.fixture
def files(store: Unsealed) -> Path:
    """The folder of the store's Redis, which writes an append-only file from now on, and has a dump."""
    store.client.config_set("appendonly", "yes")
    wait_until(lambda: store.client.info("persistence")["aof_rewrite_in_progress"] == 0)
    store.client.save()
    return Path(store.client.config_get("dir")["dir"])


def holding(folder: Path) -> set[str]:
    """Names of the files that hold the word."""
    return {one.name for one in folder.rglob("*") if one.is_file() and WORD.encode() in one.read_bytes()}


def test_vectors_are_dropped_under_every_model_and_counted_beforehand(store: Unsealed) -> None:
    keys = VectorKeys(store.tags[partition_of("ada", PARTITIONS)])
    store.client.hset(keys.wholes("words/1", "ada"), b"n" * 16, f"{WORD} in numbers")
    store.client.hset(keys.pieces("words/1", "ada"), b"n" * 16, f"{WORD} in pieces")
    store.client.hset(keys.changes("words/1"), "ada", 1)
    opened = store.store
    assert seal_plan(opened)["vectors"] == 1
    opened.client.close()
    assert store.seal()["vectors"] == 1
    assert list(store.client.scan_iter("{*}:ve*")) == []
    assert store.words() == []


def test_no_build_of_before_is_left_whoever_it_names(store: Unsealed) -> None:
    """One that is on its way out, one that a killed rebuild left, and keys of an owner that neither of them names."""
    tag = store.tags[partition_of("ada", PARTITIONS)]
    live = store.client.hget(LogKeys(tag).meta, "live").decode()  # type: ignore[union-attr]
    retired, left = BuildKeys(tag, "v3.7"), BuildKeys(tag, next_build(live))
    store.client.hset(LogKeys(tag).meta, "old:v3.7", 1)
    for keys in (retired, left, BuildKeys(tag, "v2")):
        store.client.hset(keys.records("nobody"), "m1", f"the {WORD}")
    store.client.hset(left.checkpoint, mapping={"epoch": 1, "seq": 2})
    store.seal()
    assert store.words() == []
    names = {key.decode().split(":")[1] for key in store.client.scan_iter(f"{{{tag}}}:v*")}
    assert names == {store.client.hget(LogKeys(tag).meta, "live").decode()}  # type: ignore[union-attr]
    assert not store.client.hexists(LogKeys(tag).meta, "old:v3.7")


def test_an_append_only_file_and_a_dump_are_written_anew_and_hold_no_word(store: Unsealed, files: Path) -> None:
    store.client.set("kept", "another program's")
    assert holding(files)
    answer = store.seal()
    assert (answer["aof"], answer["dump"], answer["not_proven"]) == ("rewritten", "written", [])
    assert wait_until(lambda: not holding(files))
    assert store.client.get("kept") == b"another program's"


def test_sealing_that_was_killed_after_all_but_the_files_writes_them_when_run_again(
    store: Unsealed, files: Path
) -> None:
    store.kill("before files are rewritten")
    assert holding(files)
    assert store.seal()["aof"] == "rewritten"
    assert wait_until(lambda: not holding(files))


def test_a_redis_that_may_not_write_its_files_anew_is_told_as_not_proven(store: Unsealed, files: Path) -> None:
    store.client.acl_setuser(
        "few", enabled=True, nopass=True, keys=["*"], categories=["+@all"], commands=["-bgrewriteaof", "-config"]
    )
    try:
        with connect(f"unix://few:any@{store.server.url.removeprefix('unix://')}", timeout=10.0) as few:
            wire = open_wire(few)
            found = rewrite_files(wire)
            wire.close()
    finally:
        store.client.acl_deluser("few")
    assert found.aof not in ("rewritten", "off")
    assert any("run BGREWRITEAOF as a user who may" in one for one in found.not_proven)
    assert holding(files)


def test_a_replica_is_named_and_told_as_not_proven(tmp_path: Path) -> None:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    primary = RedisServer(wheel_server(), port=str(port), repl_diskless_sync_delay="0")
    replica = RedisServer(wheel_server())
    try:
        store = Unsealed(primary, tmp_path)
        with replica.client() as copy:
            copy.execute_command("REPLICAOF", "127.0.0.1", port)
            wait_until(lambda: copy.info("replication")["master_link_status"] == "up")
            assert WORD in str(dump(copy))
            answer = store.seal()
            assert len(answer["replicas"]) == 1
            assert any("writes its own files: run BGREWRITEAOF there" in one for one in answer["not_proven"])
            wait_until(lambda: copy.hexists(STORE_KEY, "sealed"))
            assert WORD not in str(dump(copy))
        store.client.close()
    finally:
        replica.stop()
        primary.stop()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_failed_jobs_quoted_goes_and_jobs_of_other_queues_stay(
    store: Unsealed, tmp_path: Path, elsewhere: bool
) -> None:
    identity, own = store.store.identity, RedisServer(wheel_server()) if elsewhere else None
    try:
        if own is not None:
            store.settings = store.settings.model_copy(update={"queue_url": own.url})
        with (own or store.server).client() as queue:
            for job, origin in (("ours", queue_name(identity.store_id)), ("theirs", "default")):
                queue.hset(f"rq:job:{job}", mapping={"origin": origin, "exc_info": WORD, "status": "failed"})
                queue.xadd(f"rq:results:{job}", {"exc_string": WORD})
            answer = store.seal()
            assert queue.hgetall("rq:job:ours") == {
                b"origin": queue_name(identity.store_id).encode(),
                b"status": b"failed",
            }
            assert not queue.exists("rq:results:ours")
            assert queue.hget("rq:job:theirs", "exc_info") == WORD.encode()
            assert queue.xlen("rq:results:theirs") == 1
        assert answer["not_proven"] == []
    finally:
        if own is not None:
            own.stop()
