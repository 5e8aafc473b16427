"""Master keys in a file: made, rotated and dropped while the store is used; missing, wrong and unusable ones are refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from engramlog_server.events.errors import KeyUnavailable
from engramlog_server.events.keys import Wrapped
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.keys.master import (
    AT_ONCE,
    REPLACE,
    KeyFile,
    KeyFileUnusable,
    make_key_file,
    read_key_file,
    rewrap,
    rotate_key_file,
    wraps_of,
)
from tests.acceptance.helpers.cli import Cli
from tests.given.dumped import dump
from tests.given.key_service import TOKEN, FakeKeyService, token_file
from tests.given.key_stores import shared_keys
from tests.integration.live import live_store, wait_until
from tests.integration.ops.test_up import Up
from tests.patience import PATIENCE
from tests.servers import RedisServer


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A file with one master key."""
    file = tmp_path / "master-key"
    assert make_key_file(file)
    return file


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    redis_server: RedisServer,
    key: Path,
) -> Cli:
    """Commands at a sealed store in a Redis of one's own."""
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_server.url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    return Cli(monkeypatch, capfd)


@contextmanager
def running(folder: Path) -> Iterator[Up]:
    up = Up(folder)
    try:
        yield up
    finally:
        up.process.terminate()
        up.process.wait(PATIENCE)


def aged(file: Path) -> None:
    """As if the last key had been put there an hour ago."""
    long_ago = file.stat().st_mtime - 3_600
    os.utime(file, (long_ago, long_ago))


def test_a_new_file_is_of_this_user_alone_and_nothing_is_written_over(cli: Cli, tmp_path: Path, key: Path) -> None:
    made = cli.json("master-key", "--new", str(tmp_path / "another"))
    assert made == {"file": str(tmp_path / "another"), "key": read_key_file(tmp_path / "another").name}
    assert (tmp_path / "another").stat().st_mode & 0o777 == 0o600
    before = key.read_bytes()
    assert "which exists" in cli("master-key", "--new", str(key), code=2).err
    assert key.read_bytes() == before
    assert "Keep a copy" in cli("master-key", "--new", str(tmp_path / "third")).out
    for nowhere in (tmp_path / "none" / "key", key / "below"):
        told = cli.json("master-key", "--new", str(nowhere), code=2)
        assert f"file: got '{nowhere}'; allowed: a new name in a writable folder" in told["message"]
        assert not nowhere.exists()
    assert not (tmp_path / "none").exists()


def test_a_key_is_rotated_lines_are_wrapped_anew_and_the_old_one_goes_once_nothing_needs_it(
    cli: Cli, key: Path
) -> None:
    for owner in ("ada", "bob"):
        cli("add", owner, f"{owner} likes coffee")
    old = read_key_file(key).name
    told = cli.json("master-key", "--rotate")
    assert (told["before"], told["key"]) == (old, read_key_file(key).name)
    cli("add", "eve", "eve likes tea")
    shown = {one["key"]: one for one in cli.json("master-key")["keys"]}
    assert (shown[old]["owners"], shown[old]["wraps"], shown[old]["needed"]) == (2, False, True)
    assert (shown[told["key"]]["owners"], shown[told["key"]]["wraps"]) == (1, True)
    aged(key)
    assert "3 lines need this key still" in cli("master-key", "--drop", old, code=2).err
    assert cli.json("master-key", "--rewrap") == {"rewrapped": 3, "current": 4, "unopened": 0, "named": [], "why": None}
    assert cli.json("master-key", "--rewrap")["rewrapped"] == 0
    assert cli.json("master-key")["droppable"] == [old]
    assert "allowed: an old key of the file" in cli("master-key", "--drop", told["key"], code=2).err
    assert cli.json("master-key", "--drop", old)["dropped"] == old
    assert read_key_file(key).names == [told["key"]]
    assert "ada likes coffee" in cli("search", "ada", "coffee").out


def test_a_key_that_was_replaced_just_now_stays_a_minute(cli: Cli, key: Path) -> None:
    cli("add", "ada", "ada likes coffee")
    old = read_key_file(key).name
    cli("master-key", "--rotate")
    cli("master-key", "--rewrap")
    assert "can be dropped 60 s after that" in cli("master-key", "--drop", old, code=2).err
    assert old in read_key_file(key).names


@pytest.mark.parametrize("trouble", ["missing", "another", "gone", "link", "others", "cut off", "empty", "folder"])
def test_what_cannot_open_the_store_is_refused_and_named_and_nothing_is_read_or_written(
    cli: Cli, key: Path, tmp_path: Path, trouble: str, monkeypatch: pytest.MonkeyPatch, redis_server: RedisServer
) -> None:
    cli("add", "ada", "ada likes coffee")
    before = dump(redis_server.client())
    whole = key.read_text()
    if trouble == "missing":
        monkeypatch.delenv("ENGRAMLOG_SEALED_BY")
    elif trouble == "another":
        key.unlink()
        make_key_file(key)
    elif trouble == "gone":
        key.unlink()
    elif trouble == "link":
        key.rename(tmp_path / "elsewhere")
        key.symlink_to(tmp_path / "elsewhere")
    elif trouble == "others":
        key.chmod(0o640)
    elif trouble == "cut off":
        key.write_text(whole[:-10])
    elif trouble == "empty":
        key.write_text("")
    else:
        key.unlink()
        key.mkdir(mode=0o700)
    for words in (
        ["search", "ada", "coffee"],
        ["add", "ada", "ada likes tea"],
        ["add", "new", "new likes tea"],
        ["status"],
    ):
        assert "ENGRAMLOG_SEALED_BY" in cli(*words, code=1).err
    assert dump(redis_server.client()) == before


def test_a_rewrap_that_was_cut_off_is_gone_on_with_and_what_others_write_meanwhile_stays(
    redis_server: RedisServer, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = [f"owner-{number}" for number in range(AT_ONCE + 50)]
    with live_store(redis_server.url, partitions=2, master=KeyFile(key)) as store:
        store.append(*(store.created(owner, f"m-{owner}") for owner in owners))
        rotate_key_file(key)
        wire, tags = open_wire(store.client), store.identity.tags
        master = KeyFile(key)
        client = connect(redis_server.url, master=master, keys=shared_keys)
        client.seals.begin(store.identity.store_id, store.identity.sealed, store.identity.keys)

        def cut(done: int, _total: int) -> None:
            if done:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            rewrap(wire, tags, client.seals, cut)
        half = wraps_of(wire, tags, master).owners
        assert 0 < half[master.ring.name] < len(owners)
        assert half.total() == len(owners)
        done = rewrap(wire, tags, client.seals)
        assert (done.rewrapped, done.current) == (len(owners) - half[master.ring.name] + 1, len(owners) + 1)
        assert wraps_of(wire, tags, master).owners == {master.ring.name: len(owners)}

        rotate_key_file(key)
        tag = store.tag_of("owner-1")
        line = store.client.hget(LogKeys(tag).secrets, "owner-1")
        assert line is not None
        assert wire.run(REPLACE, [LogKeys(tag).secrets], ["owner-1", b"another", b"mine"]) == 0
        assert store.client.hget(LogKeys(tag).secrets, "owner-1") == line, "only where it stands as it was read"


def test_a_line_that_does_not_open_stays_and_is_named(redis_server: RedisServer, key: Path) -> None:
    with live_store(redis_server.url, partitions=1, master=KeyFile(key)) as store:
        store.append(store.created("ada", "a1"), store.created("bob", "b1"))
        secrets = LogKeys(store.identity.tags[0]).secrets
        line = store.client.hget(secrets, "ada")
        assert line is not None
        keys = store.client.seals.keys
        held = keys.read([line])[line]
        keys.put({line: held[:-1] + bytes([held[-1] ^ 1])})
        rotate_key_file(key)
        done = rewrap(open_wire(store.client), store.identity.tags, store.client.seals)
        assert (done.rewrapped, done.unopened, done.named) == (2, 1, ["ada"])
        assert "does not open" in done.why


def test_a_running_process_wraps_by_the_key_that_lies_there_now(key: Path) -> None:
    master = KeyFile(key)
    (before,) = master.wrap([(b"ada", b"a" * 32)])
    other = KeyFile(key)
    made = rotate_key_file(key)
    (after,) = master.wrap([(b"ada", b"a" * 32)])
    assert (master.wrapped_by(after), master.is_current(before), master.is_current(after)) == (made, False, True)
    assert other.unwrap([Wrapped(b"ada", before), Wrapped(b"ada", after)]) == [b"a" * 32] * 2


def test_a_file_that_was_replaced_by_another_store_s_wraps_nothing_new_while_a_process_runs(
    redis_server: RedisServer, key: Path
) -> None:
    with live_store(redis_server.url, partitions=1, master=KeyFile(key)) as store:
        store.append(store.created("ada", "a1"))
        kept = key.read_bytes()
        key.unlink()
        make_key_file(key)
        with pytest.raises(KeyUnavailable, match="not the one that this store is sealed under"):
            store.log.append([store.created("new", "n1")])
        store.append(store.created("ada", "a2"))
        assert store.client.hkeys(LogKeys(store.identity.tags[0]).secrets) == [b"ada"]
        key.write_bytes(kept)
        store.append(store.created("new", "n1"))
        assert store.log.head(0) == 3


def test_a_rotation_that_fails_leaves_the_file_as_it_was(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(KeyFileUnusable, match="No space left"):
        rotate_key_file(key)
    assert key.read_bytes() == before
    assert [one.name for one in key.parent.iterdir()] == [key.name]


def test_up_goes_on_through_rotate_rewrap_and_drop(tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    with running(tmp_path / "data") as up:
        url = up.ready()
        up.run("add", "ada", "ada likes coffee")
        old = read_key_file(key).name
        with httpx2.Client(base_url=url, headers=up.shown(), trust_env=False, timeout=PATIENCE) as client:
            assert client.get("/v1/status").json()["sealing"]["on"]
            up.run("master-key", "--rotate")
            up.run("add", "bob", "bob likes tea")
            assert up.run("master-key", "--rewrap")["current"] == up.run("master-key", "--rewrap")["current"]
            aged(key)
            assert up.run("master-key", "--drop", old)["dropped"] == old
            up.run("add", "eve", "eve likes milk")
            up.run("add", "ada", "ada likes sugar")
            for owner, word in (("ada", "coffee"), ("ada", "sugar"), ("bob", "tea"), ("eve", "milk")):
                found = client.get(f"/v1/owners/{owner}/search", params={"query": word}).json()
                assert word in str(found)
            told = client.get("/v1/status").json()["sealing"]
            assert (told["reachable"], told["owners_locked"]) == (True, 0)
            assert told["key"].startswith(read_key_file(key).name)


def test_up_answers_what_needs_no_key_while_the_service_is_away_tells_it_and_comes_back(
    tmp_path: Path, service: FakeKeyService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", service.setting)
    monkeypatch.setenv("ENGRAMLOG_VAULT_TOKEN_FILE", token_file(tmp_path))
    with running(tmp_path / "data") as up:
        up.ready()
        up.run("add", "ada", "ada likes coffee")
    service.says(503)
    with running(tmp_path / "data") as up:
        url = up.ready()
        with httpx2.Client(base_url=url, headers=up.shown(), trust_env=False, timeout=PATIENCE) as client:
            told = client.get("/v1/status").json()["sealing"]
            assert (told["on"], told["reachable"], told["owners_locked"]) == (True, False, 0)
            refused = client.get("/v1/owners/ada/search", params={"query": "coffee"})
            assert (refused.status_code, refused.json()["error"]) == (503, "KeyUnavailable")
            assert int(refused.headers["retry-after"]) >= 1
            wait_until(lambda: "keys_unavailable" in client.get("/ready").text)
            assert client.get("/ready").status_code == 200
            assert "engramlog_master_key_reachable 0.0" in client.get("/metrics").text
            assert up.facts("master key unavailable")
            service.answers()
            wait_until(lambda: "keys_unavailable" not in client.get("/ready").text)
            assert up.facts("master key reached")
            assert "coffee" in client.get("/v1/owners/ada/search", params={"query": "coffee"}).text
        assert TOKEN not in up.log.read_text()


def test_settings_for_a_store_that_lies_open_are_told(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", "none")
    with running(tmp_path / "data") as up:
        up.ready()
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    with running(tmp_path / "data") as up:
        up.ready()
        told = up.run("status")
        assert (told["sealed"], told["sealing"]["on"], told["sealing"]["reachable"]) == (False, False, None)
        assert "this store lies open: `engramlog seal` brings it over" in told["notice"]
        assert len(up.facts("store not encrypted")) == 1
