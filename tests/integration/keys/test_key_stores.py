"""The key store: both kinds do the same, what is deleted is in no file, and the wrong one is refused by name."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from engramlog_server.consumers.jobs.run import remove_unused
from engramlog_server.events.cipher import BODY_MARK
from engramlog_server.events.errors import KeyUnavailable, StoreMismatch, StoreUnavailable
from engramlog_server.events.keys import (
    POOL_SECONDS,
    SALTS_BYTES,
    KeyStore,
    Wiped,
    has_words,
    new_name,
    read_wiped,
)
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import ServerWire
from engramlog_server.ops.clock import this_second
from engramlog_server.ops.erasure.fence_list import FenceList
from engramlog_server.ops.erasure.machine import carry_out, readmit_owner
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.erasure.residue import Probes, _Search
from engramlog_server.ops.erasure.watch import ErasedWatch
from engramlog_server.ops.keys import store as key_store
from engramlog_server.ops.keys.master import make_key_file
from engramlog_server.ops.keys.store import FileKeyStore, RedisKeyStore
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from tests.integration.erasure.erased import ADA, Erasing
from tests.integration.erasure.words.erased_words import ErasingWords
from tests.servers import RedisServer, wheel_server

STORE = "store"
SYNCED = {"appendonly": "yes", "appendfsync": "always"}


@contextmanager
def key_server() -> Iterator[RedisServer]:
    """A second Redis that syncs every write."""
    server = RedisServer(wheel_server(), **SYNCED)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(params=["file", "server"])
def keys(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KeyStore]:
    if request.param == "file":
        yield FileKeyStore(tmp_path / "keys.db", make=True)
        return
    with key_server() as server:
        yield RedisKeyStore(server.url, STORE, make=True)


def test_both_kinds_keep_replace_and_delete_keys_by_name(keys: KeyStore) -> None:
    one, two, three = new_name(1), new_name(1), new_name(1)
    keys.put({one: b"one", two: b"two"})
    assert keys.read([one, two, three]) == {one: b"one", two: b"two"}
    assert keys.replace({one: (b"one", b"another"), two: (b"not this", b"lost"), three: (b"", b"lost")}) == 1
    assert dict(keys.every()) == {one: b"another", two: b"two"}
    assert keys.delete([two, three]) == 1
    assert keys.delete([two]) == 0
    assert dict(keys.every()) == {one: b"another"}
    assert keys.read([]) == {}


def test_both_kinds_give_salts_once_wipe_their_words_and_delete_them(keys: KeyStore) -> None:
    taken = keys.take(5) + keys.take(300)
    assert len({number for number, _ in taken}) == 305
    assert {len(value) for _, value in taken} == {SALTS_BYTES}
    (one, salts), (two, _), (three, _) = taken[:3]
    assert keys.salts([one, three, 7]) == {one: salts, three: taken[2][1]}
    by = Wiped("01a226a1-bb58-7714-9ca9-086ea69d893f", 3, 99)
    assert keys.wipe({one: by, 7: by}) == 1
    assert keys.wipe({one: by}) == 0
    assert list(keys.wiped()) == [(one, by)]
    left = keys.salts([one])[one]
    assert (left[:16], read_wiped(left), has_words(left)) == (salts[:16], by, False)
    assert keys.delete_salts([two, 7]) == 1
    assert keys.salts([two]) == {}
    keys.put_salts({two: salts, one: left})
    assert keys.salts([two]) == {two: salts}
    assert {number for number, _ in taken} <= set(keys.salt_ids(1 << 53))
    assert two not in set(keys.salt_ids(two))


def test_a_salt_that_was_deleted_is_in_no_file(tmp_path: Path) -> None:
    keys = FileKeyStore(tmp_path / "keys.db", make=True)
    taken = keys.take(400)
    by = Wiped("01a226a1-bb58-7714-9ca9-086ea69d893f", 0, 1)
    keys.wipe({number: by for number, _ in taken[:200]})
    keys.delete_salts([number for number, _ in taken[200:300]])
    files = [path.read_bytes() for path in tmp_path.iterdir()]
    gone = [value[16:] for _, value in taken[:300]] + [value[:16] for _, value in taken[200:300]]
    assert [one for one in gone if any(one in raw for raw in files)] == []
    assert all(any(value in raw for raw in files) for _, value in taken[300:])


def test_a_clock_that_was_put_back_reserves_no_block_for_each_append(
    keys: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = [this_second() + 10 * 365 * 86_400]
    monkeypatch.setattr(key_store, "this_second", lambda: at[0])
    assert isinstance(keys, FileKeyStore | RedisKeyStore)
    monkeypatch.setattr(keys._pool, "_second", lambda: at[0])
    keys.take(1)
    at[0] -= 10 * 365 * 86_400
    for _ in range(20):
        keys.take(1)
    reserved = len(list(keys.salt_ids(1 << 53)))
    assert reserved < 100
    at[0] += POOL_SECONDS
    keys.take(1)
    assert len(list(keys.salt_ids(1 << 53))) > reserved, "an old block is left to the job"


def test_old_salts_that_no_entry_has_and_keys_of_refused_appends_are_removed_and_no_others(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    store = Erasing(redis_server, tmp_path)
    with store.wire() as wire:
        used = [one.seq for one in store.events(ADA)]
        keys, tags = wire.seals.keys, store.identity.tags
        keys.take(10)
        used_names = {name for name, _ in keys.every()}
        wire.seals.lines({"refused": bytes(32)})  # as an append does before its script, which then refuses it
        assert len({name for name, _ in keys.every()} - used_names) == 1
        assert remove_unused(wire, tags) == 0, "they are new"
        assert remove_unused(wire, tags, lambda: True, after_seconds=-60) == 0, "it was told to stop"
        with store.opened() as opened:
            opened.alarms.raised("receipt_lost", "0", "an older log was put back")
            assert remove_unused(wire, tags, after_seconds=-60) == 0, "the newer log needs them, once it is back"
            opened.alarms.drop("receipt_lost")
        assert remove_unused(wire, tags, after_seconds=-60) >= 11
        assert remove_unused(wire, tags, after_seconds=-60) == 0
        assert {name for name, _ in keys.every()} == used_names
    assert [one.seq for one in store.events(ADA) if one.body[:1] == b"{"] == used
    assert store.differences() == []


def test_a_deleted_key_is_in_no_file_though_another_process_had_it_open(tmp_path: Path) -> None:
    keys, other = (FileKeyStore(tmp_path / "keys.db", make=True) for _ in range(2))
    names = [new_name(1) for _ in range(500)]
    lines = [b"secret-%04d-" % number * 6 for number in range(500)]
    keys.put(dict(zip(names, lines, strict=True)))
    assert other.read(names[:1])
    keys.replace({names[0]: (lines[0], b"wrapped anew")})
    keys.delete(names[1:400])
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    found = [(name, at) for name, raw in files.items() for at in range(400) if lines[at] in raw]
    assert found == []
    assert any(lines[450] in raw for raw in files.values()), "the search finds what is there"
    assert other.read(names) == {names[0]: b"wrapped anew"} | dict(zip(names[400:], lines[400:], strict=True))


def test_a_deleted_key_is_in_no_file_of_the_second_redis() -> None:
    with key_server() as server:
        keys, name = RedisKeyStore(server.url, STORE, make=True), new_name(1)
        keys.put({name: b"a-key-that-goes" * 4})
        with server.client() as client:
            folder = Path(client.config_get("dir")["dir"])
        assert _holding(folder, b"a-key-that-goes")
        assert keys.delete([name]) == 1
        assert _holding(folder, b"a-key-that-goes") == []


def test_what_one_process_deletes_while_another_writes_the_files_is_in_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other clears what is unwritten of its own deletions alone, not of those that are yet to come."""
    with key_server() as running:
        keys, other = (RedisKeyStore(running.url, STORE, make=True) for _ in range(2))
        one, two = new_name(1), new_name(1)
        keys.put({one: b"a-key-that-goes" * 4, two: b"another-that-goes" * 4})
        folder = Path(running.client().config_get("dir")["dir"])
        between = iter([two])

        def slow(sent: Callable[..., Any]) -> Callable[..., Any]:
            def send(wire: ServerWire, *given: Any) -> Any:
                if any(one == part or (isinstance(part, list) and one in part) for part in given):
                    for name in between:
                        other.delete([name])
                return sent(wire, *given)

            return send

        monkeypatch.setattr(ServerWire, "call", slow(ServerWire.call))
        monkeypatch.setattr(ServerWire, "run", slow(ServerWire.run))
        assert keys.delete([one]) == 1
        assert next(between, None) is None, "the other deleted in the middle"
        assert _holding(folder, b"a-key-that-goes") == []
        assert _holding(folder, b"another-that-goes") == []


class Killed(Exception):
    """Ends a run before it sees to the files."""


def _killed(*_given: object, **_named: object) -> None:
    raise Killed


def test_what_a_killed_run_deleted_leaves_the_files_with_the_next_run(
    keys: KeyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, (salt, value) = new_name(1), keys.take(1)[0]
    keys.put({name: b"a-key-that-goes" * 4})
    by = {salt: Wiped("01a226a1-bb58-7714-9ca9-086ea69d893f", 0, 1)}
    folder = tmp_path
    if isinstance(keys, RedisKeyStore):
        (folder,) = map(Path, map(os.fsdecode, keys._client.config_get("dir").values()))
    sees_to_files = (key_store, "rewrite_files") if isinstance(keys, RedisKeyStore) else (keys, "_truncate")
    with monkeypatch.context() as run:
        run.setattr(*sees_to_files, _killed)
        with pytest.raises(Killed):
            keys.delete([name])
        with pytest.raises(Killed):
            keys.wipe(by)
    assert _holding(folder, b"a-key-that-goes")
    assert keys.delete([name]) == 0
    assert _holding(folder, b"a-key-that-goes") == []
    if isinstance(keys, RedisKeyStore):
        keys.put_salts({salt: value})
        with monkeypatch.context() as run:
            run.setattr(*sees_to_files, _killed)
            with pytest.raises(Killed):
                keys.wipe(by)
        assert _holding(folder, value)
    assert keys.wipe({}) == 0, "a run that goes on finds no words any more"
    assert _holding(folder, value[SALTS_BYTES // 2 :]) == []


def _holding(folder: Path, word: bytes) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and word in path.read_bytes()]


_ENDS = """
import sys
from pathlib import Path
from engramlog_server.ops.keys.store import FileKeyStore
keys = FileKeyStore(Path(sys.argv[1]), make=False)
print(len(keys.salts([int(one) for one in sys.argv[2:]])))
keys.close()
"""


def _process_that_ends(file: Path, ids: list[int]) -> int:
    """How many salts another process finds, which opens the key store and closes it."""
    told = subprocess.run(
        [sys.executable, "-c", _ENDS, str(file), *map(str, ids)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return int(told.stdout)


def test_salts_outlive_a_second_opening_and_a_search_of_the_files_when_another_process_ends(tmp_path: Path) -> None:
    file = tmp_path / "keys.db"
    keys = FileKeyStore(file, make=True)
    first = keys.take(4)
    again = FileKeyStore(file, make=False)
    search = _Search(Probes([("salt", first[0][1])]), 0.0)
    search.keys_files(file)
    search.folders(Settings(data=tmp_path, redis_url=None))
    assert search.found == {(f"{file}-wal", "", "salt"): 1}
    assert _process_that_ends(file, [number for number, _ in first]) == 4
    more = keys.take(600)
    assert _process_that_ends(file, [number for number, _ in more]) == 600
    keys.close()
    again.close()
    assert _process_that_ends(file, [number for number, _ in more]) == 600


def test_threads_use_one_key_store_at_once(tmp_path: Path) -> None:
    keys, names = FileKeyStore(tmp_path / "keys.db", make=True), [new_name(1) for _ in range(40)]

    def put(some: list[bytes]) -> None:
        for name in some:
            keys.put({name: name})

    threads = [Thread(target=put, args=(names[at::4],)) for at in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert keys.read(names) == {name: name for name in names}


def test_what_cannot_be_a_key_store_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(StoreMismatch, match=r"there is no .*keys\.db"):
        FileKeyStore(tmp_path / "keys.db", make=False)
    FileKeyStore(tmp_path / "keys.db", make=True).close()
    (tmp_path / "keys.db").chmod(0o644)
    with pytest.raises(StoreMismatch, match="could be read by others"):
        FileKeyStore(tmp_path / "keys.db", make=True)
    (tmp_path / "other").write_bytes(b"no database at all" * 100)
    (tmp_path / "other").chmod(0o600)
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        FileKeyStore(tmp_path / "other", make=True)
    (tmp_path / "link").symlink_to(tmp_path / "keys.db")
    with pytest.raises(StoreMismatch, match="is a link"):
        FileKeyStore(tmp_path / "link", make=True)
    with pytest.raises(StoreMismatch, match="cannot be read"):
        FileKeyStore(tmp_path / ("long" * 100), make=True)


def test_a_redis_that_does_not_sync_or_has_no_keys_is_refused_by_name(redis_server: RedisServer) -> None:
    with pytest.raises(StoreMismatch, match="appendfsync always"):
        RedisKeyStore(redis_server.url, STORE, make=True)
    with key_server() as server, pytest.raises(StoreMismatch, match=f"has no engramlog-keys:{STORE}"):
        RedisKeyStore(server.url, STORE, make=False)


def test_the_redis_of_the_log_is_no_key_store(tmp_path: Path) -> None:
    with key_server() as server:
        settings = Settings(redis_url=server.url, data=tmp_path, sealed_by=_master(tmp_path), keys=server.url)
        with pytest.raises(StoreMismatch, match="got the Redis that holds the log"), open_the_store(settings):
            pass
        with server.client() as client:
            assert client.exists("engramlog:store") == 0


def test_several_hosts_share_a_second_redis_and_are_refused_without_it(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    master = _master(tmp_path)
    with key_server() as server:
        here, there = (
            Settings(redis_url=redis_server.url, data=tmp_path / host, sealed_by=master, keys=server.url)
            for host in "ab"
        )
        with open_the_store(here) as store:
            line = store.client.seals.lines({"mei": bytes(32)})["mei"]
        with open_the_store(there) as store:
            assert store.client.seals.secrets({"mei": line}) == {"mei": bytes(32)}
        for lacking in (None, str(tmp_path / "own.db")):
            alone = there.model_copy(update={"keys": lacking})
            with pytest.raises(StoreMismatch, match="ENGRAMLOG_KEYS"), open_the_store(alone):
                pass
        FileKeyStore(tmp_path / "own.db", make=True).close()
        with (
            pytest.raises(StoreMismatch, match="in another key store than"),
            open_the_store(there.model_copy(update={"keys": str(tmp_path / "own.db")})),
        ):
            pass


def test_each_host_completes_its_list_of_erasures_by_the_key_store_that_they_share(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    with key_server() as server:
        store = ErasingWords(redis_server, tmp_path, keys=server.url)
        with redis_server.client() as client:
            before = {key: client.dump(key) for key in client.scan_iter()}
        there, later = (store.settings.model_copy(update={"data": tmp_path / host}) for host in ("there", "later"))
        with open_the_store(there) as other:
            watch = ErasedWatch(other, there)
            watch.look()
            assert store.erase_words("pet").verified
            assert store.erase(store.far).verified
            watch.look()
        whole = store.fences.read_all()
        assert {(one.what, one.step) for one in whole} >= {("owner", "ended"), ("words", "ended")}
        assert FenceList.of(there, store.identity.store_id).read_all() == whole
        with redis_server.client() as client:  # an older copy of Redis, on a host that has no list yet
            client.flushdb()
            for key, value in before.items():
                client.restore(key, 0, value)
        with open_the_store(later):
            assert store.is_fenced(store.far)
        assert FenceList.of(later, store.identity.store_id).read_all() == whole


def test_a_shared_list_of_erasures_that_cannot_be_read_is_not_passed_over(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    with key_server() as server:
        store = Erasing(redis_server, tmp_path, memories=0, keys=server.url)
        with server.client() as client:
            client.sadd(f"engramlog-keys:{store.identity.store_id}:e", b"no line")
        with pytest.raises(StoreUnavailable, match="the list of erasures in the key store"), store.opened():
            pass


def _master(folder: Path) -> str:
    make_key_file(folder / "master")
    return str(folder / "master")


def test_an_old_key_store_that_is_put_back_opens_no_erased_owner(redis_server: RedisServer, tmp_path: Path) -> None:
    """Also after the owner came back under a new key, and though Redis and the list are of now."""
    store = Erasing(redis_server, tmp_path)
    (file,) = store.settings.data.glob("keys-*.db")
    old = dict(FileKeyStore(file, make=False).every())
    with store.opened() as opened:
        assert carry_out(opened, store.settings, ErasurePlan(ADA, (), "objection")).verified
    for readmitted in (False, True):
        if readmitted:
            with store.opened() as opened:
                readmit_owner(opened, store.settings, ADA)
        now = dict(FileKeyStore(file, make=False).every())
        FileKeyStore(file, make=False).put(old | now)
        (erased,) = old.keys() - now.keys()
        with store.opened() as opened:
            assert opened.client.seals.keys.read([erased]) == {}
            assert dict(opened.client.seals.keys.every()) == now
        assert readmitted or store.is_silent()


def test_with_an_older_copy_of_redis_an_erased_owner_has_no_key(redis_server: RedisServer, tmp_path: Path) -> None:
    """Whatever becomes of the list: the line of before names a key that is nowhere."""
    store = Erasing(redis_server, tmp_path)
    with redis_server.client() as client:
        before = {key: client.dump(key) for key in client.scan_iter()}
    assert store.erase().verified
    with redis_server.client() as client:
        client.flushdb()
        for key, value in before.items():
            client.restore(key, 0, value)
    store.fences.path.unlink()
    with store.wire() as wire:
        line = wire.call("HGET", LogKeys(store.tag()).secrets, ADA)
        assert isinstance(wire.seals.ciphers({ADA: line})[ADA], KeyUnavailable)
    assert all(one.body[:1] == BODY_MARK for one in store.events(ADA))


def test_an_older_copy_of_the_key_store_is_told_by_an_alarm_that_goes_with_the_newer_one(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    store = Erasing(redis_server, tmp_path)
    with store.wire() as wire:
        path = Path(wire.seals.keys.place)
    older = path.read_bytes()
    assert "keys_older" not in store.alarms()
    with store.live() as live:
        for number in range(600):  # beyond the block of salts that is in the older copy
            live.append(live.created(ADA, f"n{number}", "said later"))
    newer = path.read_bytes()
    path.write_bytes(older)
    with store.opened() as opened:
        (told,) = [one for one in opened.alarms.standing() if one.name == "keys_older"]
    assert "rejections" in told.text
    with store.live() as live:
        live.append(live.created(ADA, "newest", "said with the older one"))
    assert "keys_older" in store.alarms(), "the newest entry opens, and those before do not"
    (tmp_path / "newer.db").write_bytes(newer)
    (tmp_path / "newer.db").chmod(0o600)
    brought = FileKeyStore(tmp_path / "newer.db", make=False)
    with store.wire() as wire:
        wire.seals.keys.put_salts(brought.salts(list(brought.salt_ids(1 << 53))))
    assert "keys_older" not in store.alarms()
    store.erase()
    assert "keys_older" not in store.alarms(), "what was erased lacks no key"
