"""The search at the end of an erasure: it finds what is planted in Redis and in files, and never tells a word of it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engramlog_server.consumers import encryption
from engramlog_server.ops.erasure.residue import CHUNK, NOT_KNOWN, Probes, Residue, _Search, probes_of, residue_of
from tests.integration.erasure.erased import ADA, WORD, Erasing
from tests.servers import RedisServer, wheel_server

PIECE = f"the {WORD} 0 of {ADA} sings".encode()


@pytest.fixture
def store(redis_server: RedisServer, tmp_path: Path) -> Erasing:
    return Erasing(redis_server, tmp_path)


def probes(store: Erasing) -> Probes:
    with store.wire() as wire:
        return probes_of(wire, store.tag(), ADA)


def searched(store: Erasing, what: Probes) -> Residue:
    with store.opened() as opened:
        return residue_of(opened, store.settings, what)


def found(residue: Residue) -> set[tuple[str, str]]:
    return {(one.place or Path(one.where).name, one.what) for one in residue.findings}


def test_the_certificate_says_that_nothing_is_left_and_what_was_searched(store: Erasing) -> None:
    residue = store.erase().residue
    assert residue is not None
    assert (residue.exit_code, residue.findings, residue.not_reached) == (0, [], [])
    assert residue.probes > 10
    assert residue.keys > 10
    assert residue.files > 0


def test_a_store_of_before_is_full_of_what_is_searched_for(store: Erasing) -> None:
    """Its silence afterwards tells something."""
    with store.server.client() as client:
        client.save()
    residue = searched(store, probes(store))
    assert residue.exit_code == 1
    assert {what for _, what in found(residue)} >= {"key", "salt"}
    assert {one.what for one in residue.findings if "/" in one.where} >= {"key", "salt"}


def test_a_redis_of_the_queue_that_keeps_files_writes_them_again_too(store: Erasing) -> None:
    """It has files of before the erasure, which Redis packed: nobody could say that no word is in them."""
    queue = RedisServer(wheel_server(), appendonly="yes")
    store.settings = store.settings.model_copy(update={"queue_url": queue.url})
    try:
        with queue.client() as client:
            client.set("rq:job:another", b"another program's")
            client.save()
            done = store.erase()
            assert client.get("rq:job:another") == b"another program's"
    finally:
        queue.stop()
    assert (done.not_proven, done.residue and done.residue.not_reached) == ([], [])


def test_a_redis_of_the_queue_that_cannot_be_reached_is_told(store: Erasing, tmp_path: Path) -> None:
    store.settings = store.settings.model_copy(update={"queue_url": f"unix://{tmp_path}/nobody"})
    done = store.erase()
    assert [one for one in done.not_proven if "ENGRAMLOG_QUEUE_URL" in one] == done.not_proven != []
    assert done.residue is not None
    assert done.residue.exit_code == 3


PLANTED: dict[str, Callable[[Any], object]] = {
    "a string": lambda client: client.set("x", b"before " + PIECE),
    "a long string": lambda client: client.set("x", bytes(CHUNK - 9) + PIECE + bytes(CHUNK)),
    "a field": lambda client: client.hset("x", PIECE, b"1"),
    "a value": lambda client: client.hset("x", b"1", PIECE),
    "an item": lambda client: client.rpush("x", *[b"-"] * 900, PIECE),
    "a member": lambda client: client.sadd("x", PIECE),
    "a sorted member": lambda client: client.zadd("x", {PIECE: 1}),
    "an entry": lambda client: client.xadd("x", {b"f": PIECE}),
    "packed": lambda client: client.set("x", zlib.compress(PIECE * 3)),
    "in JSON": lambda client: client.set("x", json.dumps({"said": PIECE.decode()}).encode()),
}


def test_a_word_in_a_value_of_every_type_is_found_and_never_told(store: Erasing) -> None:
    what, missed = probes(store), list[str]()
    store.erase()
    for name, plant in PLANTED.items():
        with store.server.client() as client:
            client.delete("x")
            plant(client)
        residue = searched(store, what)
        missed += [name] * (residue.exit_code != 1 or not {("x", "word")} <= found(residue))
        assert WORD not in msgspec.json.encode(residue).decode()
    assert missed == []


def test_a_word_in_the_name_of_a_key_is_told_by_a_hash(store: Erasing) -> None:
    what = probes(store)
    with store.server.client() as client:
        client.set(PIECE, b"1")
    residue = searched(store, what)
    assert WORD not in msgspec.json.encode(residue).decode()
    assert any(one.place.startswith("sha256:") for one in residue.findings)


def test_a_word_in_a_file_is_found_across_the_pieces_in_which_it_is_read(store: Erasing) -> None:
    what = probes(store)
    store.erase()
    folder = store.settings.data / "below"
    folder.mkdir(parents=True)
    (folder / "log").write_bytes(bytes(CHUNK - 9) + PIECE + bytes(100))
    (folder / "link").symlink_to(folder / "log")
    assert found(searched(store, what)) == {("log", "word")}


def test_a_dump_of_before_is_named_and_the_one_of_redis_is_a_picture_of_the_values(store: Erasing) -> None:
    what = probes(store)
    with store.server.client() as client:
        client.set("x", PIECE * 40)  # packed by LZF
        client.save()
        dump = Path(client.config_get("dir")["dir"], client.config_get("dbfilename")["dbfilename"])
        store.settings.data.mkdir(parents=True, exist_ok=True)
        (store.settings.data / "copy").write_bytes(dump.read_bytes())
        client.delete("x")
    done = store.erase()
    assert done.residue is not None
    assert done.dump == "written"
    with store.opened() as opened:
        residue = residue_of(opened, store.settings, what, datetime.fromisoformat(done.began_at).timestamp())
    assert {one.where for one in residue.findings} <= {f"{store.settings.data}/copy"}, "LZF leaves what it meets first"
    assert [f"{store.settings.data}/copy could not be searched" in one for one in residue.not_reached] == [True]


def test_a_file_that_cannot_be_searched_is_named_and_is_no_proof(store: Erasing) -> None:
    what = probes(store)
    store.erase()
    store.settings.data.mkdir(parents=True, exist_ok=True)
    (store.settings.data / "copy").write_bytes(b"REDIS0009" + bytes(50))
    residue = searched(store, what)
    assert residue.exit_code == 3
    assert [f"{store.settings.data}/copy could not be searched" in one for one in residue.not_reached] == [True]


def test_a_run_that_goes_on_with_an_erasure_cannot_know_the_words_and_says_so(store: Erasing) -> None:
    store.kill("after the fence")
    residue = store.erase().residue
    assert residue is not None
    assert (residue.exit_code, residue.probes, residue.not_reached) == (3, 0, [NOT_KNOWN])


def test_what_another_owner_says_too_is_no_probe(store: Erasing) -> None:
    with store.live() as live:
        for owner in (ADA, *store.neighbours_of(ADA)):
            live.append(live.created(owner, "same", "everybody says the weather is nice today"))
    store.fold()
    what = probes(store)
    assert not what.hits(b"everybody says the weather is nice today")
    assert what.hits(PIECE)


def test_a_file_that_redis_renames_meanwhile_is_listed_again_and_one_that_is_gone_has_no_words(
    store: Erasing, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, listings = _Search(probes(store), 0.0), list[int]()
    assert not search.file(store.settings.data / "gone")
    assert search.not_reached == []
    search_file = _Search.file

    def renamed(self: _Search, path: Path, *, of_redis: bool = False) -> bool:
        listings.append(len(listings))
        return len(listings) > 1 and search_file(self, path, of_redis=of_redis)

    monkeypatch.setattr(_Search, "file", renamed)
    with store.opened() as opened:
        (folder,) = map(Path, opened.client.config_get("dir").values())
        (written := folder / "temp-1.rdb").write_bytes(b"what it writes")
        search.server("redis", opened.client)
        written.unlink()
    assert len(listings) > 1
    assert search.not_reached == []


def test_old_append_only_files_are_waited_for_and_named_if_they_stay(
    store: Erasing, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, waits = {(1, Path("old.incr.aof"))}, list[str]()
    listings = [old, old, old, set[tuple[int, Path]]()]
    monkeypatch.setattr(encryption, "_append_only_files", lambda _wire: listings.pop(0))
    with store.wire() as wire:
        assert encryption._left(wire, old, waits.append) is None
        assert len(waits) == 3
        monkeypatch.setattr(encryption, "_append_only_files", lambda _wire: old)
        monkeypatch.setattr(encryption, "GONE_SECONDS", 0.0)
        assert encryption._left(wire, old, waits.append) == Path("old.incr.aof")
